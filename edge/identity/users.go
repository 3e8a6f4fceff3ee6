package identity

import (
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
)

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
		if _, ok := c.Principal.Grant(m.Org.ID); ok { // as far as this session has proven it
			v.Organizations = append(v.Organizations, api.MyRole{ID: strconv.FormatInt(m.Org.ID, 10), Name: m.Org.Name, Role: m.Role})
		}
	}
	return v, nil
}
