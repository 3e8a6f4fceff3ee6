package api

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// repeated is an order whose request is sent again and again.
type repeated struct {
	*nodetest.Shop
	t         *testing.T
	key, body string
	first     nodetest.Reply
	id, token string
}

func repeat(s *nodetest.Shop, t *testing.T, body nodetest.Object) *repeated {
	t.Helper()
	r := &repeated{Shop: s, t: t, key: uuid.NewString(), body: nodetest.Encode(t, body)}
	r.first = r.send(r.body)
	require.Equal(t, 201, r.first.Status, r.first.Body)
	require.Empty(t, r.first.Header.Get("Idempotency-Replayed"))
	var o struct {
		Data struct{ ID, AccessToken string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.first.Body), &o))
	r.id, r.token = o.Data.ID, o.Data.AccessToken
	return r
}

func (r *repeated) send(body string, headers ...string) nodetest.Reply {
	r.t.Helper()
	return r.Raw("POST", "/orders", "application/json", body, append(headers, "Idempotency-Key", r.key)...)
}

// same sends the request once more: the answer is the first, byte for byte.
func (r *repeated) same(after string) {
	r.t.Helper()
	again := r.send(r.body)
	require.Equal(r.t, 201, again.Status, after)
	require.Equal(r.t, r.first.Body, again.Body, after)
	require.Equal(r.t, "true", again.Header.Get("Idempotency-Replayed"), after)
	require.NotEqual(r.t, r.first.Header.Get("X-Request-Id"), again.Header.Get("X-Request-Id"))
	require.Equal(r.t, 409, r.send(r.body+" ").Status, "another body, %s", after)
}

func TestReplayedPending(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	eventID, ids := s.Sell(nodetest.Object{"orderWindowMinutes": 5}, nodetest.TypeBody(25, 100))
	body := nodetest.With(nodetest.OrderBody("ada@example.org", ids[0], 2), nodetest.Object{"guestName": "Ada"})
	o := repeat(s, t, body)
	require.Contains(t, o.first.Body, `"status":"pending"`)
	o.same("at once")
	s.Own("PUT", "/organizer/events/"+eventID, nodetest.Object{"title": "Saturday Night", "orderWindowMinutes": 60, "absorbFees": true}).Is(200, "")
	o.same("after the event has changed")
	url := s.Checkout(o.id, o.token)
	o.same("after an attempt to pay, which extends the window")
	s.Settle(url, "success")
	require.Equal(t, "completed", s.Verify(o.id, o.token).Is(200, "").Str("status"))
	o.same("after payment")
	s.Closed(o.id)
	o.same("when only the read model has the record")
	s.Restart()
	o.same("after a restart")

	gone := repeat(s, t, body)
	s.Call("POST", "/orders/"+gone.id+"/cancel", nodetest.Object{"token": gone.token}).Is(200, "")
	gone.same("after its end")
	s.Closed(gone.id)
	gone.same("long after its end")

	unsettled := repeat(s, t, body)
	s.Restart()
	unsettled.same("after a restart, pending")
}

func TestReplayedExpiredAndRefunded(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	eventID, ids := s.Sell(nodetest.Object{}, nodetest.TypeBody(25, 2))
	s.Window(eventID, 300*time.Millisecond)
	unpaid := repeat(s, t, nodetest.OrderBody("ada@example.org", ids[0], 1))
	s.Closed(unpaid.id)
	require.Equal(t, "expired", s.Order(unpaid.id, unpaid.token).Str("status"))
	unpaid.same("after expiry, and never paid")
	s.Window(eventID, 3*time.Second)
	o := repeat(s, t, nodetest.OrderBody("ada@example.org", ids[0], 2))
	url := s.ShortCheckout(o.id, o.token)
	reference := s.Order(o.id, o.token).Str("payments.0.reference")
	s.Becomes("expired", s.Status(o.id, o.token))
	o.same("after expiry")
	s.Window(eventID, time.Hour)
	s.Becomes("2", func() string { return s.Available(eventID, 0) })
	s.Place("bob@example.org", ids[0], 2)
	s.Settle(url, "success")
	s.Verify(o.id, o.token).Is(200, "")
	s.Refunded(nodetest.Refund{ID: o.id, Token: o.token, Reference: reference, Amount: 5250, Status: "refunded"})
	o.same("after its money came late and went back")
	s.Restart()
	o.same("after a restart")
}

func TestReplayedFree(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	eventID, ids := s.Sell(nodetest.Object{}, nodetest.TypeBody(0, 100))
	o := repeat(s, t, nodetest.OrderBody("ada@example.org", ids[0], 2))
	require.Contains(t, o.first.Body, `"status":"completed"`)
	require.Contains(t, o.first.Body, `"qr":"v2.`)
	o.same("at once")
	require.Equal(t, "success", s.Scan(eventID, s.Order(o.id, o.token).Str("tickets.0.qr"), "gate").Str("status"))
	o.same("after check-in")
	s.Closed(o.id)
	o.same("when only the read model has the record")
	s.Restart()
	o.same("after a restart")
}

// TestReplayScope: the same key of another principal is another request; that of a
// caller without credentials is the same from any address, if the body is; and the
// same request many times at once is one.
func TestReplayScope(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.TrustedProxies = []string{"127.0.0.1"} })
	_, ids := s.Sell(nodetest.Object{}, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"maxPerCustomer": 100}))
	o := repeat(s, t, nodetest.OrderBody("ada@example.org", ids[0], 1))
	buyer := s.Buyer("ada@example.org")
	seen := map[string]bool{o.first.Body: true}
	for _, headers := range [][]string{
		s.Bearer(), buyer.Bearer(),
		{"Authorization", "Bearer " + s.Key(nil).Str("secret")},
	} {
		first := o.send(o.body, headers...)
		require.Equal(t, 201, first.Status, first.Body)
		require.False(t, seen[first.Body], "an order of its own")
		seen[first.Body] = true
		require.Equal(t, first.Body, o.send(o.body, headers...).Body)
	}
	o.same("after the others")
	for _, address := range []string{"192.0.2.7", "2001:db8::7"} {
		again := o.send(o.body, "X-Forwarded-For", address)
		require.Equal(t, o.first.Body, again.Body, "a phone that has changed its network")
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		other := o.send(nodetest.Encode(t, nodetest.OrderBody("eve@example.org", ids[0], 1)), "X-Forwarded-For", address)
		require.Equal(t, 409, other.Status, "a stranger who knows the key alone learns nothing: %s", other.Body)
		require.Contains(t, other.Body, "IDEMPOTENCY_KEY_REUSED")
	}

	key := uuid.NewString()
	got := make([]nodetest.Reply, 12)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = s.Raw("POST", "/orders", "application/json", o.body, "Idempotency-Key", key) })
	}
	wg.Wait()
	for _, r := range got {
		require.Equal(t, 201, r.Status, r.Body)
		require.Equal(t, got[0].Body, r.Body)
	}
}

// TestRepeatAfterALostNode has the node die after it has carried a request out and
// before it has stored the answer: the repeat makes nothing more.
func TestRepeatAfterALostNode(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	for _, lost := range []string{
		`UPDATE idempotency SET answer = NULL, lease_until = now() - interval '1 second'`, // killed
		`DELETE FROM idempotency`, // it answered 503, which is not stored
	} {
		dead := func() {
			_, err := s.Pool().Exec(t.Context(), lost)
			require.NoError(t, err)
		}
		count := func(path string) int {
			return len(s.Own("GET", path, nil).Is(200, "").Data("items").([]any))
		}
		before, key := count("/organizer/events"), uuid.NewString()
		event := nodetest.EventBody()
		made := keyed(s, "POST", "/organizer/events", key, event)
		require.Equal(t, 201, made.Status, made.Body)
		dead()
		require.Equal(t, made.Body, keyed(s, "POST", "/organizer/events", key, event).Body)
		require.Equal(t, before+1, count("/organizer/events"))
		dead()
		other := keyed(s, "POST", "/organizer/events", key, nodetest.With(event, nodetest.Object{"title": "Another"}))
		require.NotEqual(t, made.Body, other.Body, "another request, whatever its key: %s", other.Body)

		eventID := s.Draft(nil)
		path := "/organizer/events/" + eventID + "/tickets"
		ticketType := nodetest.TypeBody(10, 10) // once: its times are the moment's
		made = keyed(s, "POST", path, key, ticketType)
		require.Equal(t, 201, made.Status, made.Body)
		dead()
		require.Equal(t, made.Body, keyed(s, "POST", path, key, ticketType).Body)
		require.Len(t, s.Own("GET", "/events/"+eventID+"/tickets", nil).Is(200, "").Data("items"), 1)
	}
}

// TestScansAreRepeated: a scan's key has its first verdict, admitted or denied, for
// the same body alone; and nothing is counted twice.
func TestScansAreRepeated(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	eventID, order := s.FreeTickets(nil, 2)
	scan := func(key, code string) nodetest.Reply {
		t.Helper()
		body := nodetest.Object{"eventId": eventID, "qrData": code, "gateName": "North", "deviceId": "d-" + key}
		return keyed(s, "POST", "/checkin/scan", key, body)
	}
	gates := func() string {
		return nodetest.Encode(t, s.Own("GET", "/checkin/event/"+eventID+"/stats", nil).Is(200, "").Body["data"])
	}
	one, two := order.Str("tickets.0.shortCode"), order.Str("tickets.1.shortCode")
	admitted, used, foreign := uuid.NewString(), uuid.NewString(), uuid.NewString()
	first := scan(admitted, one)
	require.Contains(t, first.Body, `"status":"success"`)
	duplicate := scan(used, one)
	require.Contains(t, duplicate.Body, "denied_duplicate")
	wrong := scan(foreign, "222222")
	require.Contains(t, wrong.Body, "denied_wrong_event")
	before := gates()
	repeats := func() {
		t.Helper()
		for _, r := range []struct {
			key, code string
			first     nodetest.Reply
		}{{admitted, one, first}, {used, one, duplicate}, {foreign, "222222", wrong}} {
			again := scan(r.key, r.code)
			require.Equal(t, r.first.Body, again.Body)
			require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
			other := scan(r.key, two)
			require.Equal(t, 409, other.Status, "the key of another scan: %s", other.Body)
			require.Contains(t, other.Body, "IDEMPOTENCY_KEY_REUSED")
		}
	}
	repeats()
	require.Equal(t, before, gates(), "nothing is counted twice")
	s.Restart()
	repeats()
	require.Contains(t, scan(uuid.NewString(), two).Body, `"status":"success"`, "the other ticket was never admitted")
}

// TestSeatHoldsAreRepeated: each of the shoppers' writes has its first answer under
// its key, also when seats have changed hands since, and for the same body alone.
func TestSeatHoldsAreRepeated(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	send := func(method, path, key string, body nodetest.Object) nodetest.Reply {
		t.Helper()
		return h.Raw(method, h.Path+path, "application/json", nodetest.Encode(t, body), "Idempotency-Key", key)
	}
	var seats []string
	for _, seat := range h.Call("GET", h.Path+"seatmap", nil).Is(200, "").Data("seats").([]any) {
		seats = append(seats, seat.(nodetest.Object)["id"].(string))
	}
	hold, failed, best, release := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	writes := []struct {
		method, path, key string
		body              nodetest.Object
		first             nodetest.Reply
	}{
		{"POST", "seats/hold", hold, nodetest.Object{"holder": "holder-ada", "seatIds": seats[:2]}, nodetest.Reply{}},
		{"POST", "seats/hold", failed, nodetest.Object{"holder": "holder-bob", "seatIds": seats[:1]}, nodetest.Reply{}}, // it takes no seat
		{"POST", "seats/best-available", best, nodetest.Object{"holder": "holder-cyd", "quantity": 3}, nodetest.Reply{}},
		{"DELETE", "seats/hold", release, nodetest.Object{"holder": "holder-ada"}, nodetest.Reply{}},
	}
	for i := range writes {
		w := &writes[i]
		w.first = send(w.method, w.path, w.key, w.body)
		require.Equal(t, 200, w.first.Status, w.first.Body)
		require.Empty(t, w.first.Header.Get("Idempotency-Replayed"))
	}
	require.Contains(t, writes[1].first.Body, "taken")
	states := func() string { return nodetest.Encode(t, h.Call("GET", h.Path+"seats", nil).Is(200, "").Body["data"]) }
	before := states()
	repeats := func() {
		t.Helper()
		for _, w := range writes {
			again := send(w.method, w.path, w.key, w.body)
			require.Equal(t, w.first.Body, again.Body, w.path)
			require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"), w.path)
			other := send(w.method, w.path, w.key, nodetest.With(w.body, nodetest.Object{"holder": "holder-eve"}))
			require.Equal(t, 409, other.Status, other.Body)
			require.Contains(t, other.Body, "IDEMPOTENCY_KEY_REUSED")
		}
		require.Equal(t, before, states(), "ada has given her seats back, and a repeat does not take them again")
	}
	repeats()
	h.Restart()
	repeats()

	t.Log("many at once are one")
	key, got := uuid.NewString(), make([]nodetest.Reply, 12)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			got[i] = send("POST", "seats/best-available", key, nodetest.Object{"holder": "holder-dan", "quantity": 2})
		})
	}
	wg.Wait()
	for _, r := range got {
		require.Equal(t, 200, r.Status, r.Body)
		require.Equal(t, got[0].Body, r.Body)
	}
}
