package main

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// repeated is an order whose request is sent again and again.
type repeated struct {
	*shop
	t         *testing.T
	key, body string
	first     reply
	id, token string
}

func (s *shop) repeat(t *testing.T, body object) *repeated {
	t.Helper()
	r := &repeated{shop: s, t: t, key: uuid.NewString(), body: encode(t, body)}
	r.first = r.send(r.body)
	require.Equal(t, 201, r.first.status, r.first.body)
	require.Empty(t, r.first.header.Get("Idempotency-Replayed"))
	var o struct {
		Data struct{ ID, AccessToken string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.first.body), &o))
	r.id, r.token = o.Data.ID, o.Data.AccessToken
	return r
}

func (r *repeated) send(body string, headers ...string) reply {
	r.t.Helper()
	return r.raw("POST", "/orders", "application/json", body, append(headers, "Idempotency-Key", r.key)...)
}

// same sends the request once more: the answer is the first, byte for byte.
func (r *repeated) same(after string) {
	r.t.Helper()
	again := r.send(r.body)
	require.Equal(r.t, 201, again.status, after)
	require.Equal(r.t, r.first.body, again.body, after)
	require.Equal(r.t, "true", again.header.Get("Idempotency-Replayed"), after)
	require.NotEqual(r.t, r.first.header.Get("X-Request-Id"), again.header.Get("X-Request-Id"))
	require.Equal(r.t, 409, r.send(r.body+" ").status, "another body, %s", after)
}

func TestReplayedPending(t *testing.T) {
	t.Parallel()
	s := open(t)
	eventID, ids := s.sell(object{"orderWindowMinutes": 5}, typeBody(25, 100))
	body := with(orderBody("ada@example.org", ids[0], 2), object{"guestName": "Ada"})
	o := s.repeat(t, body)
	require.Contains(t, o.first.body, `"status":"pending"`)
	o.same("at once")
	s.own("PUT", "/organizer/events/"+eventID, object{"title": "Saturday Night", "orderWindowMinutes": 60, "absorbFees": true}).is(200, "")
	o.same("after the event has changed")
	url := s.checkout(o.id, o.token)
	o.same("after an attempt to pay, which extends the window")
	s.settle(url, "success")
	require.Equal(t, "completed", s.verify(o.id, o.token).is(200, "").str("status"))
	o.same("after payment")
	s.closed(o.id)
	o.same("when only the read model has the record")
	s.restart()
	o.same("after a restart")

	gone := s.repeat(t, body)
	s.call("POST", "/orders/"+gone.id+"/cancel", object{"token": gone.token}).is(200, "")
	gone.same("after its end")
	s.closed(gone.id)
	gone.same("long after its end")

	unsettled := s.repeat(t, body)
	s.restart()
	unsettled.same("after a restart, pending")
}

func TestReplayedExpiredAndRefunded(t *testing.T) {
	t.Parallel()
	s := open(t)
	eventID, ids := s.sell(object{}, typeBody(25, 2))
	s.window(eventID, 300*time.Millisecond)
	unpaid := s.repeat(t, orderBody("ada@example.org", ids[0], 1))
	s.closed(unpaid.id)
	require.Equal(t, "expired", s.order(unpaid.id, unpaid.token).str("status"))
	unpaid.same("after expiry, and never paid")
	o := s.repeat(t, orderBody("ada@example.org", ids[0], 2))
	url := s.shortWindow(o.id, o.token)
	reference := s.order(o.id, o.token).str("payments.0.reference")
	s.becomes("expired", s.status(o.id, o.token))
	o.same("after expiry")
	s.window(eventID, time.Hour)
	s.becomes("2", func() string { return s.available(eventID, 0) })
	s.place("bob@example.org", ids[0], 2)
	s.settle(url, "success")
	s.verify(o.id, o.token).is(200, "")
	s.refunded(back{o.id, o.token, reference, 5250, "refunded"})
	o.same("after its money came late and went back")
	s.restart()
	o.same("after a restart")
}

func TestReplayedFree(t *testing.T) {
	t.Parallel()
	s := open(t)
	eventID, ids := s.sell(object{}, typeBody(0, 100))
	o := s.repeat(t, orderBody("ada@example.org", ids[0], 2))
	require.Contains(t, o.first.body, `"status":"completed"`)
	require.Contains(t, o.first.body, `"qr":"v1.`)
	o.same("at once")
	require.Equal(t, "success", s.scan(eventID, s.order(o.id, o.token).str("tickets.0.qr"), "gate").str("status"))
	o.same("after check-in")
	s.closed(o.id)
	o.same("when only the read model has the record")
	s.restart()
	o.same("after a restart")
}

// TestReplayScope: the same key of another principal or address is another
// request, and the same request many times at once is one.
func TestReplayScope(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *config) { c.TrustedProxies = []string{"127.0.0.1"} })
	_, ids := s.sell(object{}, with(typeBody(0, 100), object{"maxPerCustomer": 100}))
	o := s.repeat(t, orderBody("ada@example.org", ids[0], 1))
	buyer := s.buyer("ada@example.org")
	seen := map[string]bool{o.first.body: true}
	for _, headers := range [][]string{
		s.bearer(), buyer.bearer(),
		{"Authorization", "Bearer " + s.key(nil).str("secret")},
		{"X-Forwarded-For", "192.0.2.7"},
		{"X-Forwarded-For", "2001:db8::7"},
	} {
		first := o.send(o.body, headers...)
		require.Equal(t, 201, first.status, first.body)
		require.False(t, seen[first.body], "an order of its own")
		seen[first.body] = true
		require.Equal(t, first.body, o.send(o.body, headers...).body)
	}
	o.same("after the others")

	key := uuid.NewString()
	got := make([]reply, 12)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = s.raw("POST", "/orders", "application/json", o.body, "Idempotency-Key", key) })
	}
	wg.Wait()
	for _, r := range got {
		require.Equal(t, 201, r.status, r.body)
		require.Equal(t, got[0].body, r.body)
	}
}
