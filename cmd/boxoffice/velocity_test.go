package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// guarded is a shop behind a proxy, with limits as they are by default.
func guarded(t *testing.T) *shop {
	t.Helper()
	return open(t, func(c *config) { c.LimitsScale, c.TrustedProxies = 1, []string{"127.0.0.1"} })
}

// buy places an order of one ticket from an address.
func (s *shop) buy(email, ticketType, address string, headers ...string) reply {
	s.t.Helper()
	return s.raw("POST", "/orders", "application/json", encode(s.t, orderBody(email, ticketType, 1)), append(headers, "X-Forwarded-For", address)...)
}

// tooFast checks a refusal by a velocity rule.
func (r reply) tooFast(t testing.TB, rule string, limit, window int) {
	t.Helper()
	require.Equal(t, 429, r.status, r.body)
	var got struct {
		Error struct {
			Code    string
			Details struct {
				Rule                                    string
				Limit, WindowSeconds, RetryAfterSeconds int
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.body), &got))
	d := got.Error.Details
	require.Equal(t, "VELOCITY_LIMIT_EXCEEDED", got.Error.Code)
	require.Equal(t, []any{rule, limit, window}, []any{d.Rule, d.Limit, d.WindowSeconds})
	require.Positive(t, d.RetryAfterSeconds)
	if rule == "seat_holds" {
		window += 120 // a seat counts for the rest of its two minutes besides
	}
	require.LessOrEqual(t, d.RetryAfterSeconds, window)
	require.Equal(t, strconv.Itoa(d.RetryAfterSeconds), r.header.Get("Retry-After"))
}

func (r reply) is(t testing.TB, status int) reply {
	t.Helper()
	require.Equal(t, status, r.status, r.body)
	return r
}

func TestOrdersPerBuyer(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	_, ids := s.sell(object{"velocity": object{"ordersPerBuyer": 2}}, typeBody(0, 100))
	key := uuid.NewString()
	first := s.buy("ann@example.org", ids[0], "192.0.2.1", "Idempotency-Key", key).is(t, 201)
	s.buy("Ann@Example.org", ids[0], "192.0.2.2").is(t, 201)
	for _, email := range []string{"ann@example.org", "ANN@example.org"} {
		s.buy(email, ids[0], "192.0.2.3").tooFast(t, "orders_per_buyer", 2, 600)
	}
	require.Equal(t, first.body, s.buy("ann@example.org", ids[0], "192.0.2.1", "Idempotency-Key", key).is(t, 201).body, "a repeat is no order")
	s.buy("bob@example.org", ids[0], "192.0.2.1").is(t, 201)

	t.Log("who sells for the organization is no buyer, and another organization's member is one")
	s.buy("ann@example.org", ids[0], "192.0.2.1", s.bearer()...).is(t, 201)
	secret := s.key(nil).str("secret")
	s.buy("ann@example.org", ids[0], "192.0.2.1", "Authorization", "Bearer "+secret).is(t, 201)
	other := s.register("other@example.org")
	s.buy("ann@example.org", ids[0], "192.0.2.1", other.bearer()...).tooFast(t, "orders_per_buyer", 2, 600)

	t.Log("another event counts for itself")
	_, others := s.sell(object{"velocity": object{"ordersPerBuyer": 1}}, typeBody(0, 100))
	s.buy("ann@example.org", others[0], "192.0.2.1").is(t, 201)

	t.Log("a restart is no fresh start")
	s.restart()
	s.buy("ann@example.org", ids[0], "192.0.2.3").tooFast(t, "orders_per_buyer", 2, 600)
}

func TestOrdersPerAddress(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	_, ids := s.sell(object{"velocity": object{"ordersPerAddress": 2}}, typeBody(0, 100))
	for i, address := range []string{"192.0.2.1", "192.0.2.1", "2001:db8:1:2::1", "2001:db8:1:2:ffff::7", "2001:db8:1:3::1", "192.0.2.2"} {
		s.buy(fmt.Sprintf("buyer%d@example.org", i), ids[0], address).is(t, 201)
	}
	s.buy("more@example.org", ids[0], "192.0.2.1").tooFast(t, "orders_per_address", 2, 600)
	s.buy("more@example.org", ids[0], "2001:db8:1:2:3::1").tooFast(t, "orders_per_address", 2, 600)
	s.buy("more@example.org", ids[0], "198.51.100.9, 192.0.2.1").tooFast(t, "orders_per_address", 2, 600)
}

func TestOpenOrders(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	event, ids := s.sell(object{"velocity": object{"openOrdersPerBuyer": 1}, "orderWindowMinutes": 7}, typeBody(25, 100))
	id, token := s.place("ann@example.org", ids[0], 1)
	s.buy("ann@example.org", ids[0], "192.0.2.1").tooFast(t, "open_orders_per_buyer", 1, 7*60)
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
	id, token = s.place("ann@example.org", ids[0], 1)
	s.buy("ann@example.org", ids[0], "192.0.2.1").tooFast(t, "open_orders_per_buyer", 1, 7*60)
	s.settle(s.checkout(id, token), "success")
	require.Equal(t, "completed", s.verify(id, token).is(200, "").str("status"))
	s.place("ann@example.org", ids[0], 1)
	s.own("PUT", "/organizer/events/"+event, object{"velocity": object{"openOrdersPerBuyer": 2}}).is(200, "")
	s.place("ann@example.org", ids[0], 1)
	s.buy("ann@example.org", ids[0], "192.0.2.1").tooFast(t, "open_orders_per_buyer", 2, 7*60)
}

func TestPresaleTries(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	_, ids := s.sell(object{}, with(typeBody(0, 100), object{"presaleCode": "FANS2030"}))
	try := func(email, address string, code any) reply {
		body := with(orderBody(email, ids[0], 1), object{"presaleCode": code})
		return s.raw("POST", "/orders", "application/json", encode(t, body), "X-Forwarded-For", address)
	}
	for range 5 {
		try("ann@example.org", "192.0.2.1", absent).is(t, 403)
	}
	for i := range 3 {
		require.Contains(t, try("ann@example.org", fmt.Sprintf("192.0.2.%d", i), "WRONG"+strconv.Itoa(i)).is(t, 403).body, "PRESALE_CODE_REQUIRED")
	}
	try("ann@example.org", "192.0.2.9", "WRONG").tooFast(t, "presale_tries", 3, 60)
	try("ann@example.org", "192.0.2.9", "FANS2030").tooFast(t, "presale_tries", 3, 60)
	try("bob@example.org", "192.0.2.2", "FANS2030").is(t, 201)
	for i := range 2 { // one came from there before
		try(fmt.Sprintf("buyer%d@example.org", i), "192.0.2.2", "WRONG").is(t, 403)
	}
	try("eve@example.org", "192.0.2.2", "FANS2030").tooFast(t, "presale_tries", 3, 60)
}

func TestPaymentAttempts(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	_, ids := s.sell(object{}, typeBody(25, 100))
	id, token := s.place("ann@example.org", ids[0], 1)
	pay := func() reply {
		return s.raw("POST", "/orders/"+id+"/pay", "application/json", encode(t, object{"provider": "paystack", "token": token}))
	}
	for range 3 {
		first := pay().is(t, 200)
		require.Equal(t, first.body, pay().is(t, 200).body, "the open attempt is shown again")
		var at struct {
			Data struct{ AuthorizationURL string }
		}
		require.NoError(t, json.Unmarshal([]byte(first.body), &at))
		s.settle(at.Data.AuthorizationURL, "failed")
		s.verify(id, token).is(200, "")
	}
	pay().tooFast(t, "payment_attempts", 3, 600)
}

// TestVelocityField makes sure that limits are the organization's to set and to
// see.
func TestVelocityField(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, c := range []struct {
		value any
		code  string
	}{{0, "minimum"}, {-1, "minimum"}, {1_000_001, "maximum"}, {"x", "type"}, {1.5, "type"}} {
		s.own("POST", "/organizer/events", with(eventBody(), object{"velocity": object{"presaleTries": c.value}})).invalid("velocity.presaleTries", c.code)
	}
	s.own("POST", "/organizer/events", with(eventBody(), object{"velocity": 3})).invalid("velocity", "type")
	none := object{"ordersPerBuyer": nil, "ordersPerAddress": nil, "openOrdersPerBuyer": nil, "presaleTries": nil, "paymentAttempts": nil}
	event, _ := s.sell(object{}, typeBody(25, 100))
	change := func(velocity any, want object) {
		t.Helper()
		got := s.own("PUT", "/organizer/events/"+event, object{"velocity": velocity}).is(200, "")
		require.JSONEq(t, encode(t, want), encode(t, got.data("velocity")))
		require.JSONEq(t, encode(t, want), encode(t, s.own("GET", "/organizer/events", nil).is(200, "").data("items.0.velocity")))
	}
	change(object{}, none)
	change(object{"ordersPerBuyer": 1, "paymentAttempts": 1_000_000}, with(none, object{"ordersPerBuyer": 1, "paymentAttempts": 1_000_000}))
	change(object{"ordersPerBuyer": nil, "presaleTries": 7}, with(none, object{"presaleTries": 7, "paymentAttempts": 1_000_000}))
	change(nil, none)
	change(object{"ordersPerBuyer": 1}, with(none, object{"ordersPerBuyer": 1}))
	slug := s.own("GET", "/organizer/events", nil).str("items.0.slug")
	page := s.raw("GET", "/events/"+slug, "", "").is(t, 200)
	require.NotContains(t, page.body, "velocity")

	t.Log("the deployment's scale multiplies")
	ids := s.own("GET", "/events/"+event+"/tickets", nil).str("items.0.id")
	for range 4 {
		s.place("ann@example.org", ids, 1)
	}
}
