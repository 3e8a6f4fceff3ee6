package people

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

func organizerQueue(event string) string { return "/organizer/events/" + event + "/queue" }

func publicQueue(event string) string { return "/public/events/" + event + "/queue" }

// TestNobodyIsBoundByStrangers goes through the rules that count an e-mail address. Whatever a
// caller without a proof does with an address changes nothing of what its owner may do, nor lifts
// what the owner has decided. The cap of mails to an address has its own test: TestOwnShare of
// persistence/mailqueue; unsubscriptions are below.
func TestNobodyIsBoundByStrangers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale, c.TrustedProxies = 1, []string{"127.0.0.1"} })
	tight := nodetest.Open(t, func(c *node.Config) { c.LimitsScale, c.TrustedProxies = 0.05, []string{"127.0.0.1"} })
	_, few := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"maxPerCustomer": 2}))
	_, paid := s.OnSale(nodetest.TypeBody(25, 100))
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "ONCE", "maxUsesPerCustomer": 1})).Is(201, "")
	full, _, _ := s.FullHouse(0, 1)
	once := func(address string) nodetest.Object {
		return nodetest.With(nodetest.OrderBody(address, paid[0], 1), nodetest.Object{"promoCode": "ONCE"})
	}
	signIn := func(address, network string) *nodetest.Shop { // each owner from a network of their own: a network asks for few codes
		began, from := time.Now(), []string{"X-Forwarded-For", network}
		s.Call("POST", "/auth/token/request", nodetest.Object{"email": address}, from...).Is(200, "")
		code := nodetest.SixDigits.FindString(s.Mail(t, address, "login_code", began).Text)
		return s.As(s.Call("POST", "/auth/token/exchange", nodetest.Object{"email": address, "code": code}, from...).Is(200, "").Str("accessToken"))
	}
	for i, rule := range []struct {
		name     string
		stranger func(address string)
		owner    func(own *nodetest.Shop, address string)
	}{
		{"tickets of one customer", func(address string) {
			s.Call("POST", "/orders", nodetest.OrderBody(address, few[0], 2)).Is(201, "")
			s.Call("POST", "/orders", nodetest.OrderBody(address, few[0], 1)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER") // strangers bind each other
		}, func(own *nodetest.Shop, address string) {
			own.Own("POST", "/orders", nodetest.OrderBody(address, few[0], 2)).Is(201, "")
			own.Own("POST", "/orders", nodetest.OrderBody(address, few[0], 1)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER")
		}},
		{"unpaid orders at a time", func(address string) {
			for range 5 {
				s.Call("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "")
			}
			s.Call("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(429, "VELOCITY_LIMIT_EXCEEDED")
		}, func(own *nodetest.Shop, address string) {
			id := own.Own("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "").Str("id")
			own.Own("POST", "/orders/"+id+"/cancel", nodetest.Object{}).Is(200, "")
		}},
		{"uses of a promo code", func(address string) {
			s.Call("POST", "/orders", once(address)).Is(201, "")
			s.Call("POST", "/orders", once(address)).Is(409, "PROMO_CODE_INVALID")
		}, func(own *nodetest.Shop, address string) {
			own.Own("POST", "/orders", once(address)).Is(201, "")
			own.Own("POST", "/orders", once(address)).Is(409, "PROMO_CODE_INVALID")
		}},
		{"erasure", func(address string) {
			s.Call("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "")
		}, func(own *nodetest.Shop, address string) {
			id := own.Own("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "").Str("id")
			own.Own("DELETE", "/users/me", nil).Refused(409, "CONFLICT", nodetest.Object{"reason": "OPEN_ORDERS"})
			own.Own("POST", "/orders/"+id+"/cancel", nodetest.Object{}).Is(200, "")
			own.Own("DELETE", "/users/me", nil).Is(200, "")
		}},
		{"login codes", func(address string) {
			ask := nodetest.Object{"email": address}
			began := time.Now()
			mine := s.Call("POST", "/auth/token/request", ask, "X-Forwarded-For", "198.51.100.7").Is(200, "").Str("nonce")
			own := nodetest.SixDigits.FindString(s.Mail(t, address, "login_code", began).Text)
			for range 2 { // a stranger's newer code, and a guess at it
				later(s, address, time.Minute)
				s.Call("POST", "/auth/token/request", ask).Is(200, "")
				reason(s.Exchange(address, nodetest.Other(own)), "CODE_INVALID")
			}
			s.Call("POST", "/auth/token/request", ask).Is(429, "RATE_LIMITED")
			s.Call("POST", "/auth/token/request", ask, "X-Forwarded-For", "198.51.100.8").Is(200, "") // the owner elsewhere
			body := nodetest.Object{"email": address, "code": own, "nonce": mine}
			s.Call("POST", "/auth/token/exchange", body).Is(200, "")
			reason(s.Call("POST", "/auth/token/exchange", body), "CODE_EXPIRED")
		}, func(*nodetest.Shop, string) {}},
		{"passwords", func(address string) {
			guess := func(from int) int {
				return tight.Call("POST", "/auth/login", nodetest.Object{"email": address, "password": "a stranger's guess"}, "X-Forwarded-For", "192.0.2."+strconv.Itoa(from)).Status
			}
			n := 0
			for n < 200 && guess(n) != 429 { // more than a twentieth of 200 where guessing takes long enough to be allowed some more
				n++
			}
			require.GreaterOrEqual(t, n, 10)
			require.Less(t, n, 200)
		}, func(_ *nodetest.Shop, address string) {
			began := time.Now()
			nonce := tight.Call("POST", "/auth/token/request", nodetest.Object{"email": address}, "X-Forwarded-For", "198.51.100.1").Is(200, "").Str("nonce")
			code := nodetest.SixDigits.FindString(tight.Mail(t, address, "login_code", began).Text)
			session := tight.Call("POST", "/auth/token/exchange", nodetest.Object{"email": address, "code": code, "nonce": nonce}, "X-Forwarded-For", "198.51.100.2").Is(200, "").Str("accessToken")
			tight.Call("POST", "/auth/password/forgot", nodetest.Object{"email": address}, "X-Forwarded-For", "198.51.100.3").Is(200, "")
			tight.Call("POST", "/auth/login", nodetest.Object{"email": address, "password": "mistyped"}, "X-Forwarded-For", "198.51.100.4", "Authorization", "Bearer "+session).Is(401, "UNAUTHORIZED")
			tight.Call("POST", "/auth/login", nodetest.Object{"email": "other" + address, "password": "mistyped"}, "X-Forwarded-For", "198.51.100.5", "Authorization", "Bearer "+session).Is(401, "UNAUTHORIZED")
		}},
		{"place on a waitlist", func(address string) {
			s.Call("POST", nodetest.WaitlistPath(full), nodetest.WaitlistBody(address, nodetest.Object{"quantity": 10})).Is(201, "")
		}, func(own *nodetest.Shop, address string) {
			require.Empty(t, s.WaitlistEntries(full))
			a := own.Own("POST", nodetest.WaitlistPath(full), nodetest.WaitlistBody(address, nodetest.Object{"quantity": 1})).Is(201, "")
			require.Equal(t, []any{"waiting", 1.0}, []any{a.Data("status"), a.Data("quantity")})
			asked := s.Call("POST", nodetest.WaitlistPath(full), nodetest.WaitlistBody(address, nodetest.Object{"quantity": 10})).Is(201, "")
			require.Equal(t, "unconfirmed", asked.Str("status"))
			require.Equal(t, map[string]string{address: "waiting"}, s.WaitlistEntries(full))
		}},
	} {
		t.Log(rule.name)
		address := "ada" + rule.name[:2] + "@example.org"
		own := signIn(address, "203.0.113."+strconv.Itoa(i+1))
		rule.stranger(address)
		rule.owner(own, address)
	}
}

// TestStrangersLiftNoUnsubscription: whoever has unsubscribed is asked once in 30 days, by whatever
// row, and nothing but the address's own link lets it be mailed again.
func TestStrangersLiftNoUnsubscription(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	full, _, _ := s.FullHouse(0, 1)
	const address = "ada@example.org"
	followed(s, s.Org(), address)
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO mail_suppressions (email, org, reason) SELECT email, org, 'unsubscribe' FROM org_followers WHERE email = $1`, address)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE org_followers SET following = false WHERE email = $1`, address)
	require.NoError(t, err)
	room, _ := s.OnSale(nodetest.TypeBody(0, 10))
	s.Own("PUT", organizerQueue(room), nodetest.Object{"enabled": true, "mode": "arrival"}).Is(200, "")
	for range 3 {
		s.Call("POST", publicQueue(room), nodetest.Object{"email": address}).Is(201, "")
		s.Call("POST", "/community/orgs/"+s.Org()+"/follow", nodetest.Object{"email": address}).Is(200, "")
		s.Call("POST", nodetest.WaitlistPath(full), nodetest.WaitlistBody(address, nil)).Is(201, "")
	}
	s.Mailed()
	require.Equal(t, 2, mails(s, address, "following")+mails(s, address, "waitlist_confirm")+mails(s, address, "queue_place"), "the first, and one in 30 days")
	var still bool
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM mail_suppressions WHERE email = $1) AND NOT bool_or(following) FROM org_followers WHERE email = $1`, address).Scan(&still))
	require.True(t, still)
}
