package main

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// The world of the security suite: two organizations that have the same things,
// the people around them, and what they prove themselves with.

// tenant is an organization with one thing of every kind.
type tenant struct {
	*shop      // its owner
	orgID      string
	ownerID    string
	eventID    string // on sale
	number     string // the same event
	slug       string // the same event
	draftID    string // an event that the public does not see
	draftSlug  string
	paid, free string // ticket types of the event on sale
	draftType  string
	orderID    string // of a paid type, not paid
	orderToken string
	venueID    string // a map that is published
	keyID      string // an API key that may do everything
	secret     string // the same key
	webhookID  string // an endpoint that nobody listens at
	deliveryID string // a test that was sent there
}

// newTenant makes an organization of its owner, who is registered.
func newTenant(s *shop) *tenant {
	s.t.Helper()
	me := s.own("GET", "/users/me", nil).is(200, "")
	o := &tenant{shop: s, orgID: me.str("organizations.0.id"), ownerID: me.str("id")}
	wide := with(typeBody(5, -1), object{"maxPerOrder": 1000, "maxPerCustomer": 1000})
	event, types := s.onSale(wide, with(wide, object{"price": 0}))
	o.eventID, o.paid, o.free = event, types[0], types[1]
	draft := s.own("POST", "/organizer/events", eventBody()).is(201, "")
	o.draftID, o.draftSlug = draft.str("id"), draft.str("slug")
	o.draftType = s.own("POST", "/organizer/events/"+o.draftID+"/tickets", wide).is(201, "").str("id")
	onSale := s.own("GET", "/organizer/events", nil).is(200, "")
	o.slug, o.number = onSale.str("items.1.slug"), onSale.str("items.1.numericId")
	require.Equal(s.t, o.eventID, onSale.str("items.1.id"))
	o.orderID, o.orderToken = s.place("buyer@example.org", o.paid, 1)
	o.venueID = s.own("POST", venuesPath, houseBody()).is(201, "").str("id")
	s.own("POST", venuesPath+"/"+o.venueID+"/publish", nil).is(200, "")
	key := s.key(nil)
	o.keyID, o.secret = key.str("id"), key.str("secret")
	o.webhookID = s.webhook()
	o.deliveryID = s.sent(o.webhookID)
	return o
}

// The addresses of the world's people, whose password is "correct horse".
const (
	rootEmail     = "root@example.org"
	strangerEmail = "stranger@example.org"
)

// world is the first organization, whose things the suite asks for, and
// everybody else.
type world struct {
	*tenant
	stranger *tenant
	root     *shop         // the platform's administrator
	count    *atomic.Int64 // makes names new
}

// openWorld makes a world on a node of its own.
func openWorld(t testing.TB, changes ...func(*config)) *world {
	t.Helper()
	s := open(t, append(changes, func(c *config) { c.AdminEmail, c.AdminPassword = rootEmail, "correct horse" })...)
	s.own("GET", "/users/me", nil).is(200, "")
	root := s.call("POST", "/auth/login", object{"email": rootEmail, "password": "correct horse"}).is(200, "").str("accessToken")
	return &world{tenant: newTenant(s), stranger: newTenant(s.register(strangerEmail)), root: s.as(root), count: new(atomic.Int64)}
}

// in is the world for a subtest.
func (w *world) in(t testing.TB) *world {
	c, o, s := *w, *w.tenant, *w.shop
	s.t = t
	o.shop, c.tenant = &s, &o
	return &c
}

// name is one that nobody has yet.
func (w *world) name() string { return fmt.Sprintf("n%d", w.count.Add(1)) }

func (w *world) email() string { return w.name() + "@example.org" }

// loginKey puts a login code for an address where the node keeps it, as if it
// had been mailed.
func (w *world) loginKey(email string) (code string) {
	w.t.Helper()
	code = "135790"
	_, err := w.pool.Exec(w.t.Context(), `DELETE FROM login_codes WHERE email = $1`, email) // or it would have to wait
	require.NoError(w.t, err)
	_, err = w.areas.Identity.Accounts.RequestCode(w.t.Context(), email, "Grace Hopper", w.secrets.LoginCode(email, code))
	require.NoError(w.t, err)
	return code
}

// person signs somebody in who has proven to own an address.
func (w *world) person(email string) answer {
	w.t.Helper()
	return w.exchange(email, w.loginKey(email)).is(200, "")
}

// guest is somebody new, signed in.
func (w *world) guest() *shop { return w.as(w.person(w.email()).str("accessToken")) }

// resetToken is what a password may be set with for somebody who is registered.
func (w *world) resetToken(email string) string {
	w.t.Helper()
	token := "reset-" + w.name()
	u, err := w.areas.Identity.Accounts.RequestReset(w.t.Context(), email, sha256.Sum256([]byte(token)), time.Now())
	require.NoError(w.t, err)
	require.NotNil(w.t, u)
	return token
}

// confirmationToken is what somebody who is registered confirms the address with.
func (w *world) confirmationToken(email string) string {
	w.t.Helper()
	w.mailed() // the registration's own letter would make a token after this one
	_, err := w.pool.Exec(w.t.Context(), `DELETE FROM email_confirmations WHERE usr = (SELECT id FROM users WHERE email = $1)`, email)
	require.NoError(w.t, err)
	token := "confirm-" + w.name()
	u, err := w.areas.Identity.Accounts.RequestConfirmation(w.t.Context(), email, sha256.Sum256([]byte(token)), time.Now())
	require.NoError(w.t, err)
	require.NotNil(w.t, u)
	return token
}

// staff invites somebody new in a role and signs them in.
func (w *world) staff(role string) (id string, own *shop) {
	w.t.Helper()
	email := w.email()
	id = w.invite(email, role)
	return id, w.as(w.person(email).str("accessToken"))
}

// holder is somebody with a credential that is in order.
type holder struct {
	name   string
	auth   string // Authorization header
	kinds  route.Auth
	scopes route.Scopes // in their organization
	ours   bool         // which is the one whose things are asked for
}

func bearer(token string) string { return "Bearer " + token }

// holders are everybody whose credential is in order, whatever it lets them do.
func (w *world) holders() []holder {
	w.t.Helper()
	const member = route.User | route.Member
	manager, everything := route.AllScopes|route.Manage, route.AllScopes
	_, admin := w.staff(route.RoleAdmin)
	_, staff := w.staff(route.RoleMember)
	gone, removed := w.staff(route.RoleAdmin)
	w.own("DELETE", w.members()+"/"+gone, nil).is(200, "")
	all := []holder{
		{"owner", bearer(w.token), member, manager, true},
		{"admin", bearer(admin.token), member, manager, true},
		{"member", bearer(staff.token), member, route.RoleScopes(route.RoleMember), true},
		{"removed member", bearer(removed.token), route.User, 0, false},
		{"buyer", bearer(w.guest().token), route.User, 0, false},
		{"platform admin", bearer(w.root.token), route.User | route.Admin, 0, false},
		{"another's owner", bearer(w.stranger.token), member, manager, false},
		{"another's key", bearer(w.stranger.secret), route.Key, everything, false},
		{"key", bearer(w.secret), route.Key, everything, true},
		{"key without scopes", bearer(w.key(object{"scopes": []string{}}).str("secret")), route.Key, 0, true},
	}
	made := map[route.Scopes]bool{}
	add := func(name string, scopes route.Scopes) {
		if !made[scopes] {
			made[scopes] = true
			secret := w.key(object{"name": name, "scopes": scopes.Names()}).str("secret")
			all = append(all, holder{name, bearer(secret), route.Key, scopes, true})
		}
	}
	for _, op := range w.areas.Routes() {
		if !op.Auth.Has(route.Key) {
			continue
		}
		add(fmt.Sprintf("key of %v alone", op.Scope.Names()), op.Scope)
		for bit := route.Scopes(1); bit < route.Manage; bit <<= 1 {
			if op.Scope&bit != 0 {
				add(fmt.Sprintf("key of all but %v", bit.Names()), route.AllScopes&^bit)
			}
		}
	}
	return all
}

// deadKeys are API keys that prove nothing, or nothing any more, by what became of
// them. Each had all scopes.
func (w *world) deadKeys() map[string]string {
	w.t.Helper()
	path := w.keys()
	made := func(become func(path string)) string {
		a := w.key(nil)
		become(path + "/" + a.str("id"))
		return bearer(a.str("secret"))
	}
	s := w.secret
	return map[string]string{
		"paused key":  made(func(path string) { w.own("PUT", path, object{"status": "paused"}).is(200, "") }),
		"revoked key": made(func(path string) { w.own("PUT", path, object{"status": "revoked"}).is(200, "") }),
		"deleted key": made(func(path string) { w.own("DELETE", path, nil).is(200, "") }),
		"rotated key": made(func(path string) { w.own("POST", path+"/rotate", nil).is(200, "") }),
		"expired key": made(func(path string) {
			w.own("PUT", path, object{"expiresAt": stamp(time.Hour)}).is(200, "")
			_, err := w.pool.Exec(w.t.Context(), `UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE expires_at IS NOT NULL`)
			require.NoError(w.t, err)
		}),
		"key with another secret":   bearer(s[:16] + s[17:] + s[16:17]),
		"key with another's secret": bearer(s[:16] + w.stranger.secret[16:]),
		"key of lower case":         bearer("vt_test_" + s[8:16] + "a" + s[17:]),
		"key cut short":             bearer(s[:len(s)-1]),
		"key with more":             bearer(s + "0"),
		"public half of a key":      bearer(s[:16]),
		"key of no environment":     bearer("vt_" + s[8:]),
	}
}
