package edge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// agentMax is how much of a User-Agent is kept, in bytes.
const agentMax = 200

func (d *Desk) register(c *route.Call, in *api.Register) (*api.Session, error) {
	hash, err := d.hash(c.Context, in.Password)
	if err != nil {
		return nil, err
	}
	name := in.OrganizationName
	if name == "" {
		if name = strings.TrimSpace(in.FirstName + " " + in.LastName); name == "" {
			name, _, _ = strings.Cut(in.Email, "@")
		}
	}
	u, err := d.Accounts.Register(c.Context, accounts.Registration{
		Email: route.NormalEmail(in.Email), PasswordHash: hash, FirstName: in.FirstName, LastName: in.LastName,
		Phone: in.Phone, Organization: name,
	})
	if errors.Is(err, accounts.ErrEmailTaken) {
		return nil, &engine.Refusal{Code: engine.EmailTaken}
	}
	if err != nil {
		return nil, err
	}
	d.notify(c.Context, mailqueue.Mail{Template: mailqueue.EmailConfirmation, To: u.Email})
	return d.openSession(c, u, byPassword(c, u))
}

func (d *Desk) login(c *route.Call, in *api.Login) (*api.SignIn, error) {
	if err := d.Hasher.Full(); err != nil {
		return nil, err
	}
	email := route.NormalEmail(in.Email)
	u, err := d.Accounts.UserByEmail(c.Context, email)
	if err != nil {
		return nil, err
	}
	hash := d.noHash(email) // an unknown address takes as long as a known one
	if u != nil && u.PasswordHash != "" {
		hash = u.PasswordHash
	}
	same, err := d.matches(c.Context, hash, in.Password)
	if err != nil {
		return nil, err
	}
	if u == nil || u.PasswordHash == "" || !same {
		return nil, wrongPassword
	}
	return d.signIn(c, u, byPassword(c, u))
}

var wrongPassword = &engine.Refusal{Code: engine.Unauthorized, Message: "The e-mail or the password is wrong."}

// byPassword is the sign-in of a user whose password has been matched.
func byPassword(c *route.Call, u *accounts.User) accounts.SignIn {
	in := signInOf(c, u.ID)
	in.PasswordHash = u.PasswordHash
	return in
}

func signInOf(c *route.Call, user int64) accounts.SignIn {
	return accounts.SignIn{User: user, ClientAddress: c.Client.String(), UserAgent: agentOf(c)}
}

// agentOf is the User-Agent as a table can keep it.
func agentOf(c *route.Call) string {
	agent := strings.ToValidUTF8(strings.ReplaceAll(c.UserAgent, "\x00", ""), "")
	return strings.ToValidUTF8(agent[:min(len(agent), agentMax)], "") // the cut may have split a letter
}

// signIn opens a session for somebody who has proven to be a user, or asks for
// the second factor.
func (d *Desk) signIn(c *route.Call, u *accounts.User, in accounts.SignIn) (*api.SignIn, error) {
	if u.TwoFactor {
		return d.challenge(c, u, in)
	}
	s, err := d.openSession(c, u, in)
	if err != nil {
		return nil, err
	}
	return &api.SignIn{User: &s.User, AccessToken: s.AccessToken, RefreshToken: s.RefreshToken, ExpiresIn: s.ExpiresIn}, nil
}

func (d *Desk) openSession(c *route.Call, u *accounts.User, in accounts.SignIn) (*api.Session, error) {
	id, err := d.Accounts.OpenSession(c.Context, in)
	if errors.Is(err, accounts.ErrPasswordChanged) {
		return nil, wrongPassword
	}
	if err != nil {
		return nil, err
	}
	return d.sessionOf(c, u, id)
}

// sessionOf is the answer that brings a new session.
func (d *Desk) sessionOf(c *route.Call, u *accounts.User, id uuid.UUID) (*api.Session, error) {
	t, err := d.tokens(c, u.ID, id, accounts.FirstGeneration)
	if err != nil {
		return nil, err
	}
	member, err := d.Accounts.Memberships(c.Context, u.ID)
	if err != nil {
		return nil, err
	}
	return &api.Session{User: userView(u, member), AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, ExpiresIn: t.ExpiresIn}, nil
}

// tokens are a session's, of a generation.
func (d *Desk) tokens(c *route.Call, user int64, session uuid.UUID, generation uint32) (*api.Tokens, error) {
	access, err := d.signAccess(c.Context, user, session.String(), c.Now)
	if err != nil {
		return nil, err
	}
	return &api.Tokens{AccessToken: access, RefreshToken: d.Secrets.RefreshToken(session, generation), ExpiresIn: int(accessLife / time.Second)}, nil
}

func (d *Desk) refresh(c *route.Call, in *api.Refresh) (*api.Tokens, error) {
	over := &engine.Refusal{Code: engine.Unauthorized, Message: "The refresh token is not valid, or no longer."}
	id, generation, ok := d.Secrets.ParseRefresh(in.RefreshToken)
	if !ok {
		return nil, over
	}
	user, next, err := d.Accounts.Refresh(c.Context, id, generation, c.Client.String(), agentOf(c))
	if errors.Is(err, accounts.ErrSessionOver) {
		d.changed(sessionSubject(id))
		return nil, over
	}
	if err != nil {
		return nil, err
	}
	return d.tokens(c, user, id, next)
}

// logout ends the session of a refresh token of any generation, or, without one, the
// session of the request's access token. A token that is none has no session to end,
// which is what was asked for.
func (d *Desk) logout(c *route.Call, in *api.Logout) (*api.LoggedOut, error) {
	id, _, ok := d.Secrets.ParseRefresh(in.RefreshToken)
	if in.RefreshToken == "" && c.Principal.Session != "" {
		var err error
		if id, err = uuid.Parse(c.Principal.Session); err != nil {
			return nil, err
		}
		ok = true
	}
	if ok {
		if err := d.Accounts.Revoke(c.Context, id); err != nil {
			return nil, err
		}
		d.changed(sessionSubject(id))
	}
	return &api.LoggedOut{LoggedOut: true}, nil
}

func (d *Desk) logoutAll(c *route.Call, _ *route.None) (*api.LoggedOut, error) {
	if err := d.Accounts.SignOut(c.Context, c.Principal.User); err != nil {
		return nil, err
	}
	d.changed(route.UserSubject(c.Principal.User))
	return &api.LoggedOut{LoggedOut: true}, nil
}

// The subjects of changes (accounts.Change).
func sessionSubject(id uuid.UUID) string { return "session/" + id.String() }

func (d *Desk) sessions(c *route.Call, _ *route.None) (*api.Sessions, error) {
	all, err := d.Accounts.Sessions(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	out := &api.Sessions{Items: make([]api.OpenSession, 0, len(all))}
	for _, s := range all {
		out.Items = append(out.Items, api.OpenSession{
			ID: s.ID.String(), Current: s.ID.String() == c.Principal.Session, ClientAddress: s.ClientAddress, UserAgent: optional(s.UserAgent),
			CreatedAt: s.CreatedAt.UTC(), LastUsedAt: s.LastUsedAt.UTC(), ExpiresAt: s.ExpiresAt.UTC(),
		})
	}
	return out, nil
}

// EnsureAdmin makes the administrator of the platform that the configuration
// names.
func (d *Desk) EnsureAdmin(ctx context.Context, email, password string) error {
	hash, err := d.hash(ctx, password)
	if err != nil {
		return fmt.Errorf("platform administrator: %w", err)
	}
	return d.Accounts.EnsureAdmin(ctx, route.NormalEmail(email), hash)
}

func userView(u *accounts.User, member []accounts.Membership) api.User {
	v := api.User{
		ID: u.PublicID, Email: u.Email, FirstName: u.FirstName, LastName: u.LastName,
		Phone: optional(u.Phone), Organizations: []api.Organization{}, CreatedAt: u.CreatedAt.UTC(),
	}
	for _, m := range member {
		v.Organizations = append(v.Organizations, api.Organization{
			ID: strconv.FormatInt(m.Org.ID, 10), PublicID: m.Org.PublicID, Name: m.Org.Name, Slug: m.Org.Slug, Role: m.Role,
		})
	}
	return v
}
