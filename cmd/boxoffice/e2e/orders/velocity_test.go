package orders

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// buy places an order of one ticket from an address.
func buy(s *nodetest.Shop, email, ticketType, address string, headers ...string) nodetest.Reply {
	s.T.Helper()
	return s.Raw("POST", "/orders", "application/json", nodetest.Encode(s.T, nodetest.OrderBody(email, ticketType, 1)), append(headers, "X-Forwarded-For", address)...)
}

// tooFast checks a refusal by a velocity rule.
func tooFast(r nodetest.Reply, t testing.TB, rule string, limit, window int) {
	t.Helper()
	require.Equal(t, 429, r.Status, r.Body)
	var got struct {
		Error struct {
			Code    string
			Details struct {
				Rule                                    string
				Limit, WindowSeconds, RetryAfterSeconds int
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.Body), &got))
	d := got.Error.Details
	require.Equal(t, "VELOCITY_LIMIT_EXCEEDED", got.Error.Code)
	require.Equal(t, []any{rule, limit, window}, []any{d.Rule, d.Limit, d.WindowSeconds})
	require.Positive(t, d.RetryAfterSeconds)
	if rule == "seat_holds" {
		window += 120 // a seat counts for the rest of its two minutes besides
	}
	require.LessOrEqual(t, d.RetryAfterSeconds, window)
	require.Equal(t, strconv.Itoa(d.RetryAfterSeconds), r.Header.Get("Retry-After"))
}

func TestOrdersPerBuyer(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	_, ids := s.Sell(nodetest.Object{"velocity": nodetest.Object{"ordersPerBuyer": 2}}, nodetest.TypeBody(0, 100))
	key := uuid.NewString()
	first := buy(s, "ann@example.org", ids[0], "192.0.2.1", "Idempotency-Key", key).Is(t, 201)
	buy(s, "Ann@Example.org", ids[0], "192.0.2.2").Is(t, 201)
	for _, email := range []string{"ann@example.org", "ANN@example.org"} {
		tooFast(buy(s, email, ids[0], "192.0.2.3"), t, "orders_per_buyer", 2, 600)
	}
	require.Equal(t, first.Body, buy(s, "ann@example.org", ids[0], "192.0.2.1", "Idempotency-Key", key).Is(t, 201).Body, "a repeat is no order")
	buy(s, "bob@example.org", ids[0], "192.0.2.1").Is(t, 201)

	t.Log("who sells for the organization is no buyer, and another organization's member is one")
	buy(s, "ann@example.org", ids[0], "192.0.2.1", s.Bearer()...).Is(t, 201)
	secret := s.Key(nil).Str("secret")
	buy(s, "ann@example.org", ids[0], "192.0.2.1", "Authorization", "Bearer "+secret).Is(t, 201)
	other := s.Register("other@example.org")
	tooFast(buy(s, "ann@example.org", ids[0], "192.0.2.1", other.Bearer()...), t, "orders_per_buyer", 2, 600)

	t.Log("another event counts for itself")
	_, others := s.Sell(nodetest.Object{"velocity": nodetest.Object{"ordersPerBuyer": 1}}, nodetest.TypeBody(0, 100))
	buy(s, "ann@example.org", others[0], "192.0.2.1").Is(t, 201)

	t.Log("a restart is no fresh start")
	s.Restart()
	tooFast(buy(s, "ann@example.org", ids[0], "192.0.2.3"), t, "orders_per_buyer", 2, 600)
}

func TestOrdersPerAddress(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	_, ids := s.Sell(nodetest.Object{"velocity": nodetest.Object{"ordersPerAddress": 2}}, nodetest.TypeBody(0, 100))
	for i, address := range []string{"192.0.2.1", "192.0.2.1", "2001:db8:1:2::1", "2001:db8:1:2:ffff::7", "2001:db8:1:3::1", "192.0.2.2"} {
		buy(s, fmt.Sprintf("buyer%d@example.org", i), ids[0], address).Is(t, 201)
	}
	tooFast(buy(s, "more@example.org", ids[0], "192.0.2.1"), t, "orders_per_address", 2, 600)
	tooFast(buy(s, "more@example.org", ids[0], "2001:db8:1:2:3::1"), t, "orders_per_address", 2, 600)
	tooFast(buy(s, "more@example.org", ids[0], "198.51.100.9, 192.0.2.1"), t, "orders_per_address", 2, 600)
}

func TestOpenOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	event, ids := s.Sell(nodetest.Object{"velocity": nodetest.Object{"openOrdersPerBuyer": 1}, "orderWindowMinutes": 7}, nodetest.TypeBody(25, 100))
	id, token := s.Place("ann@example.org", ids[0], 1)
	tooFast(buy(s, "ann@example.org", ids[0], "192.0.2.1"), t, "open_orders_per_buyer", 1, 7*60)
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	id, token = s.Place("ann@example.org", ids[0], 1)
	tooFast(buy(s, "ann@example.org", ids[0], "192.0.2.1"), t, "open_orders_per_buyer", 1, 7*60)
	s.Settle(s.Checkout(id, token), "success")
	require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))
	s.Place("ann@example.org", ids[0], 1)
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"velocity": nodetest.Object{"openOrdersPerBuyer": 2}}).Is(200, "")
	s.Place("ann@example.org", ids[0], 1)
	tooFast(buy(s, "ann@example.org", ids[0], "192.0.2.1"), t, "open_orders_per_buyer", 2, 7*60)
}

func TestPresaleTries(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	_, ids := s.Sell(nodetest.Object{}, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"presaleCode": "FANS2030"}))
	try := func(email, address string, code any) nodetest.Reply {
		body := nodetest.With(nodetest.OrderBody(email, ids[0], 1), nodetest.Object{"presaleCode": code})
		return s.Raw("POST", "/orders", "application/json", nodetest.Encode(t, body), "X-Forwarded-For", address)
	}
	for range 5 {
		try("ann@example.org", "192.0.2.1", nodetest.Absent).Is(t, 403)
	}
	for i := range 3 {
		require.Contains(t, try("ann@example.org", fmt.Sprintf("192.0.2.%d", i), "WRONG"+strconv.Itoa(i)).Is(t, 403).Body, "PRESALE_CODE_REQUIRED")
	}
	tooFast(try("ann@example.org", "192.0.2.9", "WRONG"), t, "presale_tries", 3, 60)
	tooFast(try("ann@example.org", "192.0.2.9", "FANS2030"), t, "presale_tries", 3, 60)
	try("bob@example.org", "192.0.2.2", "FANS2030").Is(t, 201)
	for i := range 2 { // one came from there before
		try(fmt.Sprintf("buyer%d@example.org", i), "192.0.2.2", "WRONG").Is(t, 403)
	}
	tooFast(try("eve@example.org", "192.0.2.2", "FANS2030"), t, "presale_tries", 3, 60)
}

func TestPaymentAttempts(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	_, ids := s.Sell(nodetest.Object{}, nodetest.TypeBody(25, 100))
	id, token := s.Place("ann@example.org", ids[0], 1)
	pay := func() nodetest.Reply {
		return s.Raw("POST", "/orders/"+id+"/pay", "application/json", nodetest.Encode(t, nodetest.Object{"provider": "paystack", "token": token}))
	}
	for range 3 {
		first := pay().Is(t, 200)
		require.Equal(t, first.Body, pay().Is(t, 200).Body, "the open attempt is shown again")
		var at struct {
			Data struct{ AuthorizationURL string }
		}
		require.NoError(t, json.Unmarshal([]byte(first.Body), &at))
		s.Settle(at.Data.AuthorizationURL, "failed")
		s.Verify(id, token).Is(200, "")
	}
	tooFast(pay(), t, "payment_attempts", 3, 600)
}

// TestVelocityField makes sure that limits are the organization's to set and to
// see.
func TestVelocityField(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	for _, c := range []struct {
		value any
		code  string
	}{{0, "minimum"}, {-1, "minimum"}, {1_000_001, "maximum"}, {"x", "type"}, {1.5, "type"}} {
		s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"velocity": nodetest.Object{"presaleTries": c.value}})).Invalid("velocity.presaleTries", c.code)
	}
	s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"velocity": 3})).Invalid("velocity", "type")
	none := nodetest.Object{"ordersPerBuyer": nil, "ordersPerAddress": nil, "openOrdersPerBuyer": nil, "presaleTries": nil, "paymentAttempts": nil}
	event, _ := s.Sell(nodetest.Object{}, nodetest.TypeBody(25, 100))
	change := func(velocity any, want nodetest.Object) {
		t.Helper()
		got := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"velocity": velocity}).Is(200, "")
		require.JSONEq(t, nodetest.Encode(t, want), nodetest.Encode(t, got.Data("velocity")))
		require.JSONEq(t, nodetest.Encode(t, want), nodetest.Encode(t, s.Own("GET", "/organizer/events", nil).Is(200, "").Data("items.0.velocity")))
	}
	change(nodetest.Object{}, none)
	change(nodetest.Object{"ordersPerBuyer": 1, "paymentAttempts": 1_000_000}, nodetest.With(none, nodetest.Object{"ordersPerBuyer": 1, "paymentAttempts": 1_000_000}))
	change(nodetest.Object{"ordersPerBuyer": nil, "presaleTries": 7}, nodetest.With(none, nodetest.Object{"presaleTries": 7, "paymentAttempts": 1_000_000}))
	change(nil, none)
	change(nodetest.Object{"ordersPerBuyer": 1}, nodetest.With(none, nodetest.Object{"ordersPerBuyer": 1}))
	slug := s.Own("GET", "/organizer/events", nil).Str("items.0.slug")
	page := s.Raw("GET", "/events/"+slug, "", "").Is(t, 200)
	require.NotContains(t, page.Body, "velocity")

	t.Log("the deployment's scale multiplies")
	ids := s.Own("GET", "/events/"+event+"/tickets", nil).Str("items.0.id")
	for range 4 {
		s.Place("ann@example.org", ids, 1)
	}
}
