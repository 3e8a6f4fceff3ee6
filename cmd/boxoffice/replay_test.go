package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
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

// TestReplayScope: the same key of another principal is another request; that of a
// caller without credentials is the same from any address, if the body is; and the
// same request many times at once is one.
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
	} {
		first := o.send(o.body, headers...)
		require.Equal(t, 201, first.status, first.body)
		require.False(t, seen[first.body], "an order of its own")
		seen[first.body] = true
		require.Equal(t, first.body, o.send(o.body, headers...).body)
	}
	o.same("after the others")
	for _, address := range []string{"192.0.2.7", "2001:db8::7"} {
		again := o.send(o.body, "X-Forwarded-For", address)
		require.Equal(t, o.first.body, again.body, "a phone that has changed its network")
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		other := o.send(encode(t, orderBody("eve@example.org", ids[0], 1)), "X-Forwarded-For", address)
		require.Equal(t, 409, other.status, "a stranger who knows the key alone learns nothing: %s", other.body)
		require.Contains(t, other.body, "IDEMPOTENCY_KEY_REUSED")
	}

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

// TestReplayFromTheReleaseBefore sends repeats of what the release before carried out,
// which derived ids from a plain hash with the client's address in it.
func TestReplayFromTheReleaseBefore(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(object{}, typeBody(0, 100))
	former := func(method, path, key string) [sha256.Size]byte {
		return sha256.Sum256([]byte("test\x00guest/127.0.0.1\x00" + method + "\x00" + path + "\x00" + key + "\x00"))
	}
	kind, err := engine.ParseID(ids[0])
	require.NoError(t, err)
	key, body := uuid.NewString(), encode(t, orderBody("ada@example.org", ids[0], 1))
	scope, print := former("POST", "/api/v1/orders", key), sha256.Sum256([]byte(body))
	day := uint64(time.Now().Unix() / (24 * 3600))
	binary.BigEndian.PutUint64(scope[2:10], binary.BigEndian.Uint64(scope[2:10])^day*0x9e3779b97f4a7c15)
	old := engine.NewID(kind.Event(), scope[:10])
	_, err = s.cluster.Ask(t.Context(), engine.EventRef(kind.Event()), event.Place{
		Order: old, Fingerprint: binary.BigEndian.Uint64(print[:8]), Email: "ada@example.org",
		Lines: []event.OrderLine{{Type: kind.Number(), Quantity: 1}},
	})
	require.NoError(t, err)
	send := func(body string) reply {
		return s.raw("POST", "/orders", "application/json", body, "Idempotency-Key", key)
	}
	got := send(body)
	require.Equal(t, 201, got.status, got.body)
	require.Contains(t, got.body, old.String(), "the order that there is")
	require.Equal(t, "true", got.header.Get("Idempotency-Replayed"))
	require.Equal(t, 409, send(encode(t, orderBody("eve@example.org", ids[0], 1))).status)

	t.Log("an answer that was stored")
	key, body = uuid.NewString(), encode(t, object{"email": "owner@example.org", "password": "correct horse"})
	scope = former("POST", "/api/v1/auth/register", key)
	h := sha256.New()
	for _, part := range []string{"/api/v1/auth/register", body} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	answer := s.secrets.Seal("reply/"+key, scope[:], append(binary.BigEndian.AppendUint16(nil, 201), `{"first":true}`...))
	_, err = s.pool.Exec(t.Context(), `INSERT INTO idempotency (scope, fingerprint, holder, lease_until, answer)
		VALUES ($1, $2, 'before', now(), $3)`, scope[:], h.Sum(nil), answer)
	require.NoError(t, err)
	register := func(body string) reply {
		return s.raw("POST", "/auth/register", "application/json", body, "Idempotency-Key", key)
	}
	require.Equal(t, `{"first":true}`, register(body).body)
	require.Equal(t, 409, register(encode(t, object{"email": "eve@example.org", "password": "correct horse"})).status)
}

// TestRepeatAfterALostNode has the node die after it has carried a request out and
// before it has stored the answer: the repeat makes nothing more.
func TestRepeatAfterALostNode(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	for _, lost := range []string{
		`UPDATE idempotency SET answer = NULL, lease_until = now() - interval '1 second'`, // killed
		`DELETE FROM idempotency`, // it answered 503, which is not stored
	} {
		dead := func() {
			_, err := s.pool.Exec(t.Context(), lost)
			require.NoError(t, err)
		}
		count := func(path string) int {
			return len(s.own("GET", path, nil).is(200, "").data("items").([]any))
		}
		before, key := count("/organizer/events"), uuid.NewString()
		event := eventBody()
		made := s.keyed("POST", "/organizer/events", key, event)
		require.Equal(t, 201, made.status, made.body)
		dead()
		require.Equal(t, made.body, s.keyed("POST", "/organizer/events", key, event).body)
		require.Equal(t, before+1, count("/organizer/events"))
		dead()
		other := s.keyed("POST", "/organizer/events", key, with(event, object{"title": "Another"}))
		require.NotEqual(t, made.body, other.body, "another request, whatever its key: %s", other.body)

		eventID := s.draft(nil)
		path := "/organizer/events/" + eventID + "/tickets"
		ticketType := typeBody(10, 10) // once: its times are the moment's
		made = s.keyed("POST", path, key, ticketType)
		require.Equal(t, 201, made.status, made.body)
		dead()
		require.Equal(t, made.body, s.keyed("POST", path, key, ticketType).body)
		require.Len(t, s.own("GET", "/events/"+eventID+"/tickets", nil).is(200, "").data("items"), 1)
	}
}

// TestScansAreRepeated: a scan's key has its first verdict, admitted or denied, for
// the same body alone; and nothing is counted twice.
func TestScansAreRepeated(t *testing.T) {
	t.Parallel()
	s := open(t)
	eventID, order := s.tickets(nil, 2)
	scan := func(key, code string) reply {
		t.Helper()
		body := object{"eventId": eventID, "qrData": code, "gateName": "North", "deviceId": "d-" + key}
		return s.keyed("POST", "/checkin/scan", key, body)
	}
	gates := func() string {
		return encode(t, s.own("GET", "/checkin/event/"+eventID+"/stats", nil).is(200, "").body["data"])
	}
	one, two := order.str("tickets.0.shortCode"), order.str("tickets.1.shortCode")
	admitted, used, foreign := uuid.NewString(), uuid.NewString(), uuid.NewString()
	first := scan(admitted, one)
	require.Contains(t, first.body, `"status":"success"`)
	duplicate := scan(used, one)
	require.Contains(t, duplicate.body, "denied_duplicate")
	wrong := scan(foreign, "222222")
	require.Contains(t, wrong.body, "denied_wrong_event")
	before := gates()
	repeats := func() {
		t.Helper()
		for _, r := range []struct {
			key, code string
			first     reply
		}{{admitted, one, first}, {used, one, duplicate}, {foreign, "222222", wrong}} {
			again := scan(r.key, r.code)
			require.Equal(t, r.first.body, again.body)
			require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
			other := scan(r.key, two)
			require.Equal(t, 409, other.status, "the key of another scan: %s", other.body)
			require.Contains(t, other.body, "IDEMPOTENCY_KEY_REUSED")
		}
	}
	repeats()
	require.Equal(t, before, gates(), "nothing is counted twice")
	s.restart()
	repeats()
	require.Contains(t, scan(uuid.NewString(), two).body, `"status":"success"`, "the other ticket was never admitted")
}

// TestSeatHoldsAreRepeated: each of the shoppers' writes has its first answer under
// its key, also when seats have changed hands since, and for the same body alone.
func TestSeatHoldsAreRepeated(t *testing.T) {
	t.Parallel()
	h := seated(t)
	send := func(method, path, key string, body object) reply {
		t.Helper()
		return h.raw(method, h.path+path, "application/json", encode(t, body), "Idempotency-Key", key)
	}
	var seats []string
	for _, seat := range h.call("GET", h.path+"seatmap", nil).is(200, "").data("seats").([]any) {
		seats = append(seats, seat.(object)["id"].(string))
	}
	hold, failed, best, release := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	writes := []struct {
		method, path, key string
		body              object
		first             reply
	}{
		{"POST", "seats/hold", hold, object{"holder": "holder-ada", "seatIds": seats[:2]}, reply{}},
		{"POST", "seats/hold", failed, object{"holder": "holder-bob", "seatIds": seats[:1]}, reply{}}, // it takes no seat
		{"POST", "seats/best-available", best, object{"holder": "holder-cyd", "quantity": 3}, reply{}},
		{"DELETE", "seats/hold", release, object{"holder": "holder-ada"}, reply{}},
	}
	for i := range writes {
		w := &writes[i]
		w.first = send(w.method, w.path, w.key, w.body)
		require.Equal(t, 200, w.first.status, w.first.body)
		require.Empty(t, w.first.header.Get("Idempotency-Replayed"))
	}
	require.Contains(t, writes[1].first.body, "taken")
	states := func() string { return encode(t, h.call("GET", h.path+"seats", nil).is(200, "").body["data"]) }
	before := states()
	repeats := func() {
		t.Helper()
		for _, w := range writes {
			again := send(w.method, w.path, w.key, w.body)
			require.Equal(t, w.first.body, again.body, w.path)
			require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), w.path)
			other := send(w.method, w.path, w.key, with(w.body, object{"holder": "holder-eve"}))
			require.Equal(t, 409, other.status, other.body)
			require.Contains(t, other.body, "IDEMPOTENCY_KEY_REUSED")
		}
		require.Equal(t, before, states(), "ada has given her seats back, and a repeat does not take them again")
	}
	repeats()
	h.restart()
	repeats()

	t.Log("many at once are one")
	key, got := uuid.NewString(), make([]reply, 12)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			got[i] = send("POST", "seats/best-available", key, object{"holder": "holder-dan", "quantity": 2})
		})
	}
	wg.Wait()
	for _, r := range got {
		require.Equal(t, 200, r.status, r.body)
		require.Equal(t, got[0].body, r.body)
	}
}
