package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// agentMax is the most bytes of a User-Agent that are kept. The text is only shown in the list of sessions.
const agentMax = 200

// register makes an account and an organization that it owns, and signs the person in. Registering does not
// prove that the mailbox is the person's: a mail asks the owner of the mailbox to confirm that.
func (h *Handlers) register(c *route.Call, in *api.Register) (*api.Session, error) {
	// The password is hashed before the store is called, so that no transaction is open during the slow hash.
	hash, err := h.hash(c.Context, in.Password)
	if err != nil {
		return nil, err
	}
	// An organization needs a name. If the request gives none, the organization gets the person's
	// name, or else the part of the address before the @.
	name := in.OrganizationName
	if name == "" {
		if name = strings.TrimSpace(in.FirstName + " " + in.LastName); name == "" {
			name, _, _ = strings.Cut(in.Email, "@")
		}
	}
	u, err := h.Accounts.Register(c.Context, accounts.Registration{
		Email: order.NormalEmail(in.Email), PasswordHash: hash, FirstName: in.FirstName, LastName: in.LastName,
		Phone: in.Phone, Organization: name,
	})
	if errors.Is(err, accounts.ErrEmailTaken) {
		return nil, &engine.Refusal{Code: engine.EmailTaken}
	}
	if err != nil {
		return nil, err
	}
	// The account exists by now. A mail that cannot be queued must not fail the registration: the
	// person can ask for another.
	h.notify(c.Context, mailqueue.Mail{Template: mailqueue.EmailConfirmation, Language: letters.PreferredLanguage(c), To: u.Email})
	return h.openSession(c, u, byPassword(c, u))
}

// login signs a user in by address and password. An unknown address, an account without a password
// and a wrong password get the same answer after the same time, so that nobody learns which
// addresses have accounts.
func (h *Handlers) login(c *route.Call, in *api.Login) (*api.SignIn, error) {
	// A node that is computing too many hashes refuses before it asks the database.
	if err := h.Hasher.Full(); err != nil {
		return nil, err
	}
	email := order.NormalEmail(in.Email)
	u, err := h.Accounts.UserByEmail(c.Context, email)
	if err != nil {
		return nil, err
	}
	// The hash of an unknown address is made up, so that the comparison takes as long as for a known address.
	hash := h.noHash(email)
	if u != nil && u.PasswordHash != "" {
		hash = u.PasswordHash
	}
	same, err := h.matches(c.Context, hash, in.Password)
	if err != nil {
		return nil, err
	}
	// The other conditions are checked only after the comparison, so that every path has taken the time of one
	// hash.
	if u == nil || u.PasswordHash == "" || !same {
		return nil, wrongPassword
	}
	return h.signIn(c, u, byPassword(c, u))
}

// wrongPassword is the answer to each reason for which a password signs nobody in, so that nobody learns which
// addresses have accounts.
var wrongPassword = &engine.Refusal{Code: engine.Unauthorized, Message: "The e-mail or the password is wrong."}

// byPassword makes the sign-in of a user whose password has matched.
func byPassword(c *route.Call, u *accounts.User) accounts.SignIn {
	in := signInOf(c, u.ID)
	in.PasswordHash = u.PasswordHash // the store opens no session if the password has changed since
	return in
}

// signInOf makes the sign-in of a user. It notes the client's address and browser, by which people
// recognize their sessions in the list.
func signInOf(c *route.Call, user int64) accounts.SignIn {
	return accounts.SignIn{User: user, ClientAddress: c.Client.String(), UserAgent: agentOf(c)}
}

// agentOf returns the User-Agent in a form that Postgres can store as text: without zero bytes,
// valid UTF-8 and at most agentMax bytes long.
func agentOf(c *route.Call) string {
	agent := strings.ToValidUTF8(strings.ReplaceAll(c.UserAgent, "\x00", ""), "")
	return strings.ToValidUTF8(agent[:min(len(agent), agentMax)], "") // the cut may have split a character
}

// signIn continues after somebody has proven to be a user by a password or a mailed code. It opens
// a session, or asks for the second factor if the account has one.
func (h *Handlers) signIn(c *route.Call, u *accounts.User, in accounts.SignIn) (*api.SignIn, error) {
	if u.TwoFactor {
		return h.askFactor(c, u, in)
	}
	s, err := h.openSession(c, u, in)
	if err != nil {
		return nil, err
	}
	return &api.SignIn{User: &s.User, AccessToken: s.AccessToken, RefreshToken: s.RefreshToken, ExpiresIn: s.ExpiresIn}, nil
}

// openSession opens a session and answers with its tokens. If somebody changed the password after
// it matched, the store refuses, and the answer is the same as for a wrong password.
func (h *Handlers) openSession(c *route.Call, u *accounts.User, in accounts.SignIn) (*api.Session, error) {
	id, err := h.Accounts.OpenSession(c.Context, in)
	if errors.Is(err, accounts.ErrPasswordChanged) {
		return nil, wrongPassword
	}
	if err != nil {
		return nil, err
	}
	return h.sessionOf(c, u, id)
}

// sessionOf makes the answer for a session that was just opened: the user with all memberships, and
// the tokens of the session's first generation.
func (h *Handlers) sessionOf(c *route.Call, u *accounts.User, id uuid.UUID) (*api.Session, error) {
	t, err := h.tokens(c, u.ID, id, accounts.FirstGeneration)
	if err != nil {
		return nil, err
	}
	member, err := h.Accounts.Memberships(c.Context, u.ID)
	if err != nil {
		return nil, err
	}
	return &api.Session{User: userView(u, member), AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, ExpiresIn: t.ExpiresIn}, nil
}

// tokens makes the two tokens of a session. The access token is signed and valid for accessLife. The refresh
// token has the session's id and generation; a refresh raises the generation by one.
func (h *Handlers) tokens(c *route.Call, user int64, session uuid.UUID, generation uint32) (*api.Tokens, error) {
	access, err := h.signAccess(c.Context, user, session.String(), c.Now)
	if err != nil {
		return nil, err
	}
	return &api.Tokens{AccessToken: access, RefreshToken: h.Secrets.RefreshToken(session, generation), ExpiresIn: int(accessLife / time.Second)}, nil
}

// refresh exchanges a refresh token for the tokens of the session's next generation. If a used token comes
// again, a thief may have it, so the store ends the session, unless the client may just have missed the answer
// (accounts.Store.Refresh). This node then forgets at once that the session's access tokens were good.
func (h *Handlers) refresh(c *route.Call, in *api.Refresh) (*api.Tokens, error) {
	over := &engine.Refusal{Code: engine.Unauthorized, Message: "The refresh token is not valid, or no longer."}
	id, generation, ok := h.Secrets.ParseRefresh(in.RefreshToken)
	if !ok {
		return nil, over
	}
	user, next, err := h.Accounts.Refresh(c.Context, id, generation, c.Client.String(), agentOf(c))
	if errors.Is(err, accounts.ErrSessionOver) {
		h.forgetProofs(sessionSubject(id))
		return nil, over
	}
	if err != nil {
		return nil, err
	}
	return h.tokens(c, user, id, next)
}

// logout ends the session that a refresh token belongs to, also if the token is of an old generation. Without a
// refresh token it ends the session of the request's access token. An invalid token has no session to end.
// logout then succeeds all the same, because the client is signed out either way.
func (h *Handlers) logout(c *route.Call, in *api.Logout) (*api.LoggedOut, error) {
	id, _, ok := h.Secrets.ParseRefresh(in.RefreshToken)
	if in.RefreshToken == "" && c.Principal.Session != "" {
		var err error
		if id, err = uuid.Parse(c.Principal.Session); err != nil {
			return nil, err
		}
		ok = true
	}
	if ok {
		if err := h.Accounts.Revoke(c.Context, id); err != nil {
			return nil, err
		}
		h.forgetProofs(sessionSubject(id))
	}
	return &api.LoggedOut{LoggedOut: true}, nil
}

// logoutAll ends all sessions of the caller, also the one that the request comes from.
func (h *Handlers) logoutAll(c *route.Call, _ *route.None) (*api.LoggedOut, error) {
	if err := h.Accounts.SignOut(c.Context, c.Principal.User); err != nil {
		return nil, err
	}
	h.forgetProofs(route.UserSubject(c.Principal.User))
	return &api.LoggedOut{LoggedOut: true}, nil
}

// sessionSubject returns the name under which the tables note changes of a session
// (accounts.Change). A proof that rests on the session ends with such a change.
func sessionSubject(id uuid.UUID) string { return "session/" + id.String() }

// sessions lists the sessions that the caller has open, and marks the one that the request comes from.
func (h *Handlers) sessions(c *route.Call, _ *route.None) (*api.Sessions, error) {
	all, err := h.Accounts.Sessions(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	out := &api.Sessions{Items: make([]api.OpenSession, 0, len(all))}
	for _, s := range all {
		out.Items = append(out.Items, api.OpenSession{
			ID: s.ID.String(), Current: s.ID.String() == c.Principal.Session, ClientAddress: s.ClientAddress, UserAgent: view.Optional(s.UserAgent),
			CreatedAt: s.CreatedAt.UTC(), LastUsedAt: s.LastUsedAt.UTC(), ExpiresAt: s.ExpiresAt.UTC(),
		})
	}
	return out, nil
}

// EnsureAdmin gives the account with an address the rights of a platform administrator, and makes the account if
// there is none. An account that gets the rights also gets the password, and its sessions and second factor end. The
// program calls it at each start, with the configured address; it changes nothing once the account has the rights.
func (h *Handlers) EnsureAdmin(ctx context.Context, email, password string) error {
	hash, err := h.hash(ctx, password)
	if err != nil {
		return fmt.Errorf("platform administrator: %w", err)
	}
	return h.Accounts.EnsureAdmin(ctx, order.NormalEmail(email), hash)
}

// userView shows a user for the answer to a sign-in, with all the organizations that the user is a member of.
func userView(u *accounts.User, member []accounts.Membership) api.User {
	v := api.User{
		ID: u.PublicID, Email: u.Email, FirstName: u.FirstName, LastName: u.LastName, FullName: view.Optional(u.Name()),
		Phone: view.Optional(u.Phone), Locale: view.Optional(u.Locale), TwoFactor: u.TwoFactor, Organizations: []api.Organization{}, CreatedAt: u.CreatedAt.UTC(),
	}
	for _, m := range member {
		v.Organizations = append(v.Organizations, api.Organization{
			ID: strconv.FormatInt(m.Org.ID, 10), PublicID: m.Org.PublicID, Name: m.Org.Name, Slug: m.Org.Slug, Role: m.Role,
		})
	}
	return v
}
