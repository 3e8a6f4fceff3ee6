package identity

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// noMember also answers a request with an id that is no UUID, because such a member cannot exist.
var noMember = &engine.Refusal{Code: engine.NotFound, Message: "No such member."}

// getOrganization answers with an organization's profile and its balances.
func (h *Handlers) getOrganization(c *route.Call, in *api.OrganizationID) (*api.OrganizationPage, error) {
	org, err := route.FindOrganization(c, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := h.Accounts.Profile(c.Context, org)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, route.NoOrganization
	}
	wallets, err := h.ListBalances(c.Context, org)
	if err != nil {
		return nil, err
	}
	return &api.OrganizationPage{Organization: profileView(p), Wallets: wallets}, nil
}

// updateOrganization changes the fields of the profile that the request names. It first checks the
// files that the request names: they must be the organization's own, or a page would show another
// organization's picture.
func (h *Handlers) updateOrganization(c *route.Call, in *api.UpdateOrganization) (*api.OrganizationProfile, error) {
	org, err := route.FindOrganization(c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := h.CheckFiles(c, org, in); err != nil {
		return nil, err
	}
	// The store runs this function while it holds the row's lock, so that concurrent edits of different fields
	// are all kept.
	p, err := h.Accounts.EditProfile(c.Context, org, func(p *accounts.Profile) {
		in.Name.Into(&p.Name)
		in.Description.Into(&p.Description)
		in.Website.Into(&p.Website)
		in.ContactEmail.Into(&p.ContactEmail)
		in.ContactPhone.Into(&p.ContactPhone)
		in.LogoURL.Into(&p.LogoURL)
		// An object is replaced as a whole: a client that wants to keep one of its fields sends the field again.
		if in.SocialLinks.Set {
			p.SocialLinks = view.Object(in.SocialLinks.Value)
		}
		if in.PageTheme.Set {
			p.PageTheme = view.Object(in.PageTheme.Value)
		}
		if in.EmbedOrigins.Set {
			p.EmbedOrigins = withoutRepeats(in.EmbedOrigins.Value)
		}
	})
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, route.NoOrganization
	}
	return new(profileView(p)), nil
}

// withoutRepeats returns the origins sorted, each once. An empty result is an empty list and never
// nil, because the database column takes no null.
func withoutRepeats(origins []string) []string {
	all := append([]string{}, origins...)
	slices.Sort(all)
	return slices.Compact(all)
}

// profileView shows a profile to the organization's members. Buyers see fewer of these fields.
func profileView(p *accounts.Profile) api.OrganizationProfile {
	return api.OrganizationProfile{
		ID: strconv.FormatInt(p.ID, 10), PublicID: p.PublicID, Name: p.Name, Slug: p.Slug,
		Description: view.Optional(p.Description), Website: view.Optional(p.Website), ContactEmail: view.Optional(p.ContactEmail),
		ContactPhone: view.Optional(p.ContactPhone), LogoURL: view.Optional(p.LogoURL), Type: p.Type, Verified: p.Verified, Status: p.Status,
		SocialLinks: p.SocialLinks, PageTheme: p.PageTheme, EmbedOrigins: p.EmbedOrigins, CreatedAt: p.CreatedAt.UTC(),
	}
}

// listMembers returns a page of members in the order of their accounts' numbers. That order never changes, so
// the pages miss no member when another one joins in between.
func (h *Handlers) listMembers(c *route.Call, in *api.ListMembers) (*api.List[api.Member], error) {
	org, err := route.FindOrganization(c, in.ID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(after int64, limit int) ([]accounts.Member, error) {
		return h.Accounts.Members(c.Context, org, after, limit)
	}, func(m accounts.Member) int64 { return m.User }, func(m accounts.Member) api.Member { return *memberView(&m) })
}

// addMember makes a person a member of an organization at once and tells them by mail. An address
// without an account gets one; its owner signs in by a mailed code.
func (h *Handlers) addMember(c *route.Call, in *api.AddMember) (*api.Member, error) {
	org, err := route.FindOrganization(c, in.ID)
	if err != nil {
		return nil, err
	}
	// The mail shows the organization's name, so the name is read before anything changes.
	o, err := h.Accounts.Organization(c.Context, org)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, route.NoOrganization
	}
	m, err := h.Accounts.AddMember(c.Context, org, c.Principal.User, accounts.NewMember{
		Command: c.CommandID(), Email: order.NormalEmail(in.Email), Name: in.Name, Role: in.Role,
	})
	v, err := h.memberChanged(c, m, err)
	if err != nil {
		return nil, err
	}
	l := mailqueue.Mail{Template: mailqueue.Invitation, To: m.Email, Name: m.Name, Org: org, Organization: o.Name, Role: m.Role}
	// A member may join, leave and join again. The time of joining tells these memberships apart, so that each
	// of them gets one mail.
	l.Subject = fmt.Sprintf("%d/%d/%d", org, m.User, m.JoinedAt.UnixMicro()) // the same for a repeat, so a repeat queues no second mail
	if err := h.Mail.Add(c.Context, l); err != nil {
		return nil, err // a retry finds the member and queues the mail again
	}
	return v, nil
}

// updateMember gives a member another role. The store checks the caller's role: only an owner may make somebody
// an owner, or change an owner's role.
func (h *Handlers) updateMember(c *route.Call, in *api.UpdateMember) (*api.Member, error) {
	org, err := h.ownMember(c, &in.MemberID)
	if err != nil {
		return nil, err
	}
	m, err := h.Accounts.SetRole(c.Context, org, c.Principal.User, in.UserID, in.Role)
	return h.memberChanged(c, m, err)
}

// removeMember takes a person out of an organization and answers with the member as it was. The
// store refuses to remove an organization's last owner, because nobody could then manage it.
func (h *Handlers) removeMember(c *route.Call, in *api.MemberID) (*api.Member, error) {
	org, err := h.ownMember(c, in)
	if err != nil {
		return nil, err
	}
	m, err := h.Accounts.RemoveMember(c.Context, org, c.Principal.User, in.UserID)
	return h.memberChanged(c, m, err)
}

// ownMember reads a path that names a member and makes sure that the caller may manage the
// organization. It refuses a malformed id here, because Postgres would answer it with an error.
func (h *Handlers) ownMember(c *route.Call, in *api.MemberID) (int64, error) {
	org, err := route.FindOrganization(c, in.ID)
	if err == nil && !format.ValidUUID(in.UserID) {
		err = noMember
	}
	return org, err
}

// memberChanged finishes a change of a member that the store has made or refused, and makes the answer. A nil member
// means that there is no such member. This node checks the member's sessions again, so that the new role counts at
// once. memberChanged logs every change, because a membership gives access to money and somebody may ask later
// who granted it.
func (h *Handlers) memberChanged(c *route.Call, m *accounts.Member, err error) (*api.Member, error) {
	conflict := func(text string) error { return &engine.Refusal{Code: engine.Conflict, Message: text} }
	switch {
	case errors.Is(err, accounts.ErrMember):
		return nil, conflict("This person is a member already.")
	case errors.Is(err, accounts.ErrLastOwner):
		return nil, conflict("An organization keeps at least one owner; make somebody else an owner first.")
	case errors.Is(err, accounts.ErrNotOwner):
		return nil, &engine.Refusal{Code: engine.Forbidden, Message: "Only an owner makes, changes or removes an owner."}
	// The caller was an admin when the request was let in, and has lost that role by now.
	case errors.Is(err, accounts.ErrNotAdmin):
		return nil, &engine.Refusal{Code: engine.Forbidden}
	case err != nil:
		return nil, err
	case m == nil:
		return nil, noMember
	}
	// The proofs that this node has of the member's sessions (type proof) have the roles from before the change.
	h.forgetProofs(route.UserSubject(m.User))
	h.Log.LogAttrs(c.Context, slog.LevelInfo, "members changed", slog.String("operation", c.Op.ID), slog.Int64("actor", c.Principal.User),
		slog.Int64("user", m.User), slog.String("role", m.Role), slog.String("request_id", c.RequestID))
	return memberView(m), nil
}

func memberView(m *accounts.Member) *api.Member {
	return &api.Member{UserID: m.PublicID, Email: m.Email, FullName: view.Optional(m.Name), Role: m.Role, JoinedAt: m.JoinedAt.UTC()}
}
