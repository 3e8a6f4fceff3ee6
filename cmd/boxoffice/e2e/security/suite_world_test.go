package security

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/persistence/accounts"
)

// The world of the security suite: two organizations that have the same things,
// the people around them, and what they prove themselves with.

// tenant is an organization with one thing of every kind.
type tenant struct {
	*nodetest.Shop // its owner
	orgID          string
	ownerID        string
	eventID        string // on sale
	number         string // the same event
	slug           string // the same event
	draftID        string // an event that the public does not see
	draftSlug      string
	paid, free     string // ticket types of the event on sale
	draftType      string
	orderID        string // of a paid type, not paid
	orderToken     string
	venueID        string // a map that is published
	mediaID        string // a private file
	keyID          string // an API key that may do everything
	secret         string // the same key
	webhookID      string // an endpoint that nobody listens at
	deliveryID     string // a test that was sent there
	sessionID      string // of the event's schedule
	sectionID      string // of the event
	promoID        string // a promo code
	refundID       string // of an order that was free
}

// newTenant makes an organization of its owner, who is registered.
func newTenant(s *nodetest.Shop) *tenant {
	s.T.Helper()
	me := s.Own("GET", "/users/me", nil).Is(200, "")
	o := &tenant{Shop: s, orgID: me.Str("organizations.0.id"), ownerID: me.Str("id")}
	wide := nodetest.With(nodetest.TypeBody(5, -1), nodetest.Object{"maxPerOrder": 1000, "maxPerCustomer": 1000, "refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)})
	// The suite may take a quarter of an hour on a slow machine, and an order that expired would change what is compared.
	event, types := s.Sell(nodetest.Object{"orderWindowMinutes": 60}, wide, nodetest.With(wide, nodetest.Object{"price": 0}))
	o.eventID, o.paid, o.free = event, types[0], types[1]
	draft := s.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "")
	o.draftID, o.draftSlug = draft.Str("id"), draft.Str("slug")
	o.draftType = s.Own("POST", "/organizer/events/"+o.draftID+"/tickets", wide).Is(201, "").Str("id")
	onSale := s.Own("GET", "/organizer/events", nil).Is(200, "")
	o.slug, o.number = onSale.Str("items.1.slug"), onSale.Str("items.1.numericId")
	require.Equal(s.T, o.eventID, onSale.Str("items.1.id"))
	o.orderID, o.orderToken = s.Place("buyer@example.org", o.paid, 1)
	o.venueID = s.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Is(201, "").Str("id")
	s.Own("POST", nodetest.VenuesPath+"/"+o.venueID+"/publish", nil).Is(200, "")
	o.mediaID = numberOf(s.Upload("/media/upload-file", nodetest.Upload{Name: "book.txt", Type: "text/plain", Body: []byte("paid"), Fields: map[string]string{"private": "1"}}, s.Bearer()...))
	key := s.Key(nil)
	o.keyID, o.secret = key.Str("id"), key.Str("secret")
	o.webhookID = s.Webhook()
	o.deliveryID = s.Sent(o.webhookID)
	o.sessionID = s.Own("POST", "/organizer/events/"+event+"/schedule", sessionBody()).Is(201, "").Str("id")
	o.sectionID = s.Own("POST", "/organizer/events/"+event+"/sections", sectionBody()).Is(201, "").Str("id")
	o.promoID = s.Own("POST", "/organizer/promo-codes", nodetest.Object{
		"code": "SUMMER", "discountType": "flat", "discountValue": 1, "validFrom": "2020-01-01T00:00:00Z", "validUntil": "2031-06-20T00:00:00Z",
	}).Is(201, "").Str("id")
	free, _ := s.Place("free@example.org", o.free, 1)
	o.refundID = s.Own("POST", "/organizer/orders/"+free+"/refund", nodetest.Object{"reason": "r"}).Is(200, "").Str("id")
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
	root     *nodetest.Shop // the platform's administrator
	count    *atomic.Int64  // makes names new
	mailRoom *string        // event whose waiting room asks for an address; "" before the first use
}

// openWorld makes a world on a node of its own.
func openWorld(t testing.TB, changes ...func(*node.Config)) *world {
	t.Helper()
	s := nodetest.Open(t, append(changes, func(c *node.Config) {
		c.AdminEmail, c.AdminPassword = rootEmail, "correct horse"
		c.PaysimProviders = []string{"nowpayments", "flutterwave", "stripe", "mollie", "paypal", "transfer"}
	})...)
	s.Own("GET", "/users/me", nil).Is(200, "")
	root := s.Patient("POST", "/auth/login", nodetest.Object{"email": rootEmail, "password": "correct horse"}).Is(200, "").Str("accessToken")
	w := &world{tenant: newTenant(s), stranger: newTenant(s.Register(strangerEmail)), root: s.As(root), count: new(atomic.Int64), mailRoom: new(string)}
	for _, own := range []*nodetest.Shop{w.Shop, w.stranger.Shop, w.root} {
		own.Token = w.prolong(own.Token)
	}
	return w
}

// prolong returns a token of the same session that outlasts the suite. The access tokens of the service end after
// 15 minutes, and the refused attempts may take longer on a busy machine.
func (w *world) prolong(token string) string {
	w.T.Helper()
	return w.forgeOurs(nil, nodetest.With(nodetest.Object(nodetest.ClaimsOf(w.T, token)), nodetest.Object{"exp": time.Now().Add(3 * time.Hour).Unix()}))
}

// in is the world for a subtest.
func (w *world) in(t testing.TB) *world {
	c, o, s := *w, *w.tenant, *w.Shop
	s.T = t
	o.Shop, c.tenant = &s, &o
	return &c
}

// name is one that nobody has yet.
func (w *world) name() string { return fmt.Sprintf("n%d", w.count.Add(1)) }

func (w *world) email() string { return w.name() + "@example.org" }

// loginKey puts a login code for an address where the node keeps it, as if it
// had been mailed.
func (w *world) loginKey(email string) (code string) {
	w.T.Helper()
	code = "135790"
	_, err := w.Pool().Exec(w.T.Context(), `DELETE FROM open_codes WHERE email = $1`, email) // or it would have to wait
	require.NoError(w.T, err)
	_, err = w.Areas().Identity.Accounts.RequestCode(w.T.Context(), &accounts.Code{Email: email, Name: "Grace Hopper", MAC: w.Secrets().LoginCode(email, code), Nonce: sha256.Sum256([]byte(email))})
	require.NoError(w.T, err)
	return code
}

// person signs somebody in who has proven to own an address.
func (w *world) person(email string) nodetest.Answer {
	w.T.Helper()
	return w.Exchange(email, w.loginKey(email)).Is(200, "")
}

// guest is somebody new, signed in.
func (w *world) guest() *nodetest.Shop {
	return w.As(w.prolong(w.person(w.email()).Str("accessToken")))
}

// resetToken is what a password may be set with for somebody who is registered.
func (w *world) resetToken(email string) string {
	w.T.Helper()
	token := "reset-" + w.name()
	u, err := w.Areas().Identity.Accounts.RequestReset(w.T.Context(), email, sha256.Sum256([]byte(token)), time.Now())
	require.NoError(w.T, err)
	require.NotNil(w.T, u)
	return token
}

// confirmationToken is what somebody who is registered confirms the address with.
func (w *world) confirmationToken(email string) string {
	w.T.Helper()
	w.Mailed() // the registration's own letter would make a token after this one
	_, err := w.Pool().Exec(w.T.Context(), `DELETE FROM email_confirmations WHERE usr = (SELECT id FROM users WHERE email = $1)`, email)
	require.NoError(w.T, err)
	token := "confirm-" + w.name()
	u, err := w.Areas().Identity.Accounts.RequestConfirmation(w.T.Context(), email, sha256.Sum256([]byte(token)), time.Now())
	require.NoError(w.T, err)
	require.NotNil(w.T, u)
	return token
}

// staff invites somebody new in a role and signs them in.
func (w *world) staff(role string) (id string, own *nodetest.Shop) {
	w.T.Helper()
	email := w.email()
	id = w.Invite(email, role)
	return id, w.As(w.prolong(w.person(email).Str("accessToken")))
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
	w.T.Helper()
	const member = route.User | route.Member
	manager, everything := route.AllScopes|route.Manage, route.AllScopes
	_, admin := w.staff(route.RoleAdmin)
	_, staff := w.staff(route.RoleMember)
	gone, removed := w.staff(route.RoleAdmin)
	w.Own("DELETE", w.Members()+"/"+gone, nil).Is(200, "")
	all := []holder{
		{"owner", bearer(w.Token), member, manager, true},
		{"admin", bearer(admin.Token), member, manager, true},
		{"member", bearer(staff.Token), member, route.RoleScopes(route.RoleMember), true},
		{"removed member", bearer(removed.Token), route.User, 0, false},
		{"buyer", bearer(w.guest().Token), route.User, 0, false},
		{"platform admin", bearer(w.root.Token), route.User | route.Admin, 0, false},
		{"another's owner", bearer(w.stranger.Token), member, manager, false},
		{"another's key", bearer(w.stranger.secret), route.Key, everything, false},
		{"key", bearer(w.secret), route.Key, everything, true},
		{"key without scopes", bearer(w.Key(nodetest.Object{"scopes": []string{}}).Str("secret")), route.Key, 0, true},
	}
	made := map[route.Scopes]bool{}
	add := func(name string, scopes route.Scopes) {
		if !made[scopes] {
			made[scopes] = true
			secret := w.Key(nodetest.Object{"name": name, "scopes": scopes.Names()}).Str("secret")
			all = append(all, holder{name, bearer(secret), route.Key, scopes, true})
		}
	}
	for _, op := range w.Areas().Routes() {
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
	w.T.Helper()
	path := w.Keys()
	made := func(become func(path string)) string {
		a := w.Key(nil)
		become(path + "/" + a.Str("id"))
		return bearer(a.Str("secret"))
	}
	s := w.secret
	return map[string]string{
		"paused key":  made(func(path string) { w.Own("PUT", path, nodetest.Object{"status": "paused"}).Is(200, "") }),
		"revoked key": made(func(path string) { w.Own("PUT", path, nodetest.Object{"status": "revoked"}).Is(200, "") }),
		"deleted key": made(func(path string) { w.Own("DELETE", path, nil).Is(200, "") }),
		"rotated key": made(func(path string) { w.Own("POST", path+"/rotate", nil).Is(200, "") }),
		"expired key": made(func(path string) {
			w.Own("PUT", path, nodetest.Object{"expiresAt": nodetest.Stamp(time.Hour)}).Is(200, "")
			_, err := w.Pool().Exec(w.T.Context(), `UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE expires_at IS NOT NULL`)
			require.NoError(w.T, err)
		}),
		"key with another secret":     bearer(s[:16] + s[17:] + s[16:17]),
		"key with another's secret":   bearer(s[:16] + w.stranger.secret[16:]),
		"key with one letter changed": bearer(s[:16] + string(s[16]^1) + s[17:]),
		"key cut short":               bearer(s[:len(s)-1]),
		"key with more":               bearer(s + "0"),
		"public half of a key":        bearer(s[:16]),
		"key of no environment":       bearer("vt_" + s[8:]),
	}
}
