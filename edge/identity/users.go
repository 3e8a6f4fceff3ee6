package identity

import (
	"strconv"
	"strings"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
)

// me answers with the caller's own account. It lists only organizations that the session may act
// for.
func (h *Handlers) me(c *route.Call, _ *route.None) (*api.Me, error) {
	u, err := h.Accounts.User(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	member, err := h.Accounts.Memberships(c.Context, u.ID)
	if err != nil {
		return nil, err
	}
	v := &api.Me{
		ID: u.PublicID, Email: u.Email, FullName: view.Optional(u.Name()), Phone: view.Optional(u.Phone), Locale: view.Optional(u.Locale),
		TwoFactorEnabled: u.TwoFactor, Organizations: []api.MyRole{}, CreatedAt: u.CreatedAt.UTC(),
	}
	for _, m := range member {
		if _, ok := c.Principal.Grant(m.Org.ID); ok { // only organizations that this session may act for
			v.Organizations = append(v.Organizations, api.MyRole{ID: strconv.FormatInt(m.Org.ID, 10), Name: m.Org.Name, Role: m.Role})
		}
	}
	return v, nil
}

// updateMe changes the fields of the caller's own profile that the request names. The address and
// the password are changed by other requests, which prove them.
func (h *Handlers) updateMe(c *route.Call, in *api.UpdateMe) (*api.Me, error) {
	u, err := h.Accounts.User(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	if in.FullName.Set {
		// The request has one full name, the table two. The first word becomes the first name, and
		// all others become the last name.
		first, last, _ := strings.Cut(strings.TrimSpace(in.FullName.Value), " ")
		u.FirstName, u.LastName = first, strings.TrimSpace(last)
	}
	in.Phone.Into(&u.Phone)
	in.Locale.Into(&u.Locale)
	if err := h.Accounts.SetProfile(c.Context, u); err != nil {
		return nil, err
	}
	return h.me(c, nil)
}

// eraseMe closes the caller's account and erases what is known about the person. A caller with a second factor
// must show it, because this cannot be undone. The address must be proven, and Eraser.Erase may refuse.
func (h *Handlers) eraseMe(c *route.Call, in *api.EraseMe) (*api.Erased, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	u, err := h.Accounts.User(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	if u.TwoFactor {
		f, err := h.readFactor(c, u.ID, in.Code)
		if err == nil {
			// UseFactor uses the code up, so that it cannot be used for a second action.
			err = factorRefusal(h.Accounts.UseFactor(c.Context, u.ID, f))
		}
		if err != nil {
			return nil, err
		}
	}
	// The eraser refuses while there are paid tickets for what is still to come, open orders or refunds, or an
	// organization without another owner.
	done, err := h.Eraser.Erase(c.Context, u.ID, u.Email, c.Now)
	if err != nil {
		return nil, err
	}
	h.forgetProofs(route.UserSubject(u.ID))
	return &api.Erased{Erased: done}, nil
}
