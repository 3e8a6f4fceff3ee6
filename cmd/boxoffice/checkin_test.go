package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
)

// tickets sells a number of free tickets and returns the order that has them.
func (s *shop) tickets(changes object, quantity int) (event string, order answer) {
	s.t.Helper()
	event, ids := s.sell(changes, with(typeBody(0, 1000), object{"maxPerOrder": 1000, "maxPerCustomer": 1000}))
	body := orderBody("ada@example.org", ids[0], quantity)
	body["guestName"] = "Ada"
	return event, s.call("POST", "/orders", body).is(201, "")
}

func (s *shop) scan(event, code, device string, headers ...string) answer {
	s.t.Helper()
	body := object{"eventId": event, "qrData": code, "gateName": "North", "deviceId": device}
	return s.call("POST", "/checkin/scan", body, append(headers, s.bearer()...)...)
}

func TestScanFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, order := s.tickets(nil, 1)
	body := object{"eventId": event, "qrData": "222222"}
	for _, c := range []struct {
		changes    object
		path, code string
	}{
		{object{"qrData": absent}, "qrData", "required"},
		{object{"qrData": text(5)}, "qrData", "min_length"},
		{object{"qrData": text(201)}, "qrData", "max_length"},
		{object{"qrData": 123456}, "qrData", "type"},
		{object{"eventId": absent}, "eventId", "required"},
		{object{"eventId": text(41)}, "eventId", "max_length"},
		{object{"gateName": text(101)}, "gateName", "max_length"},
		{object{"deviceId": text(101)}, "deviceId", "max_length"},
		{object{"method": "eyes"}, "method", "enum"},
		{object{"geoLat": 90.1}, "geoLat", "maximum"},
		{object{"geoLat": -90.1}, "geoLat", "minimum"},
		{object{"geoLng": 180.1}, "geoLng", "maximum"},
		{object{"geoLng": "x"}, "geoLng", "type"},
	} {
		s.own("POST", "/checkin/scan", with(body, c.changes)).invalid(c.path, c.code)
	}
	for _, changes := range []object{
		{"method": "qr_scan"},
		{"method": "barcode"},
		{"method": "manual"},
		{"method": "nfc"},
		{"geoLat": 90, "geoLng": -180},
		{"geoLat": nil, "gateName": nil, "deviceId": nil},
		{"gateName": text(100), "deviceId": text(100)},
		{"qrData": text(200)},
		{"eventId": fmt.Sprint(number(t, event))},
	} {
		require.Equal(t, "denied_wrong_event", s.own("POST", "/checkin/scan", with(body, changes)).is(200, "").str("status"))
	}
	s.own("POST", "/checkin/scan", with(body, object{"eventId": "x"})).is(404, "EVENT_NOT_FOUND")
	a := s.own("POST", "/checkin/scan", with(body, object{"qrData": order.str("tickets.0.qr")})).is(200, "")
	keys := words("status deniedReason ticketCode holderName idCheck checkedInAt firstGate")
	require.Equal(t, keys, a.keys(""))
	require.Equal(t, "success", a.str("status"))
	require.Nil(t, a.data("deniedReason"))
	require.Equal(t, order.str("tickets.0.code"), a.str("ticketCode"))
	require.Equal(t, "Ada", a.str("holderName"))
	require.Equal(t, false, a.data("idCheck"))
	at, err := time.Parse(time.RFC3339, a.str("checkedInAt"))
	require.NoError(t, err)
	require.InDelta(t, 0, time.Since(at), float64(time.Minute))
	a = s.own("POST", "/checkin/scan", with(body, object{"qrData": order.str("tickets.0.qr")})).is(200, "")
	require.Equal(t, "denied_duplicate", a.str("status"))
	require.NotEmpty(t, a.data("deniedReason"))
	require.Equal(t, keys, a.keys(""))
	require.Nil(t, a.data("ticketCode"), "of a success only")
	require.Equal(t, at.Format(time.RFC3339Nano), a.str("checkedInAt"), "of the first admission")
}

func TestScanVerdicts(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, order := s.tickets(nil, 12)
	other, others := s.tickets(nil, 1)
	ticket := func(i int, key string) string { return order.str(fmt.Sprintf("tickets.%d.%s", i, key)) }
	codes := s.secrets.Event(number(t, event))
	serial, ok := codes.FromShort(ticket(6, "shortCode"))
	require.True(t, ok)
	qr := func(step int) string {
		text, _ := codes.QR(serial, secrets.Version, time.Now().Add(time.Duration(30*step)*time.Second))
		return text
	}
	forged := []byte(ticket(7, "qr"))
	forged[len(forged)-1] ^= 1
	for i, c := range []struct{ event, code, want string }{
		{event, ticket(0, "qr"), "success"},
		{event, ticket(0, "qr"), "denied_duplicate"},
		{event, ticket(0, "shortCode"), "denied_duplicate"},
		{event, ticket(0, "code"), "denied_wrong_event"},
		{event, ticket(1, "shortCode"), "success"},
		{event, ticket(1, "qr"), "denied_duplicate"},
		{event, ticket(2, "code"), "denied_wrong_event"},
		{event, strings.ToLower(ticket(3, "code")), "denied_wrong_event"},
		{event, strings.ToLower(ticket(4, "shortCode")), "success"},
		{event, "  " + ticket(5, "shortCode") + "  ", "success"},
		{event, qr(-3), "denied_expired"},
		{event, qr(-100), "denied_expired"},
		{event, qr(+3), "denied_expired"},
		{event, qr(0), "success"},
		{event, qr(-3), "denied_expired"},
		{event, others.str("tickets.0.qr"), "denied_wrong_event"},
		{event, others.str("tickets.0.code"), "denied_wrong_event"},
		{other, ticket(7, "qr"), "denied_wrong_event"},
		{event, string(forged), "denied_wrong_event"},
		{event, ticket(7, "id"), "denied_wrong_event"},
		{event, "O0O0O0", "denied_wrong_event"},
		{event, "v1.....", "denied_wrong_event"},
		{event, strings.Repeat("💥", 6), "denied_wrong_event"},
		{event, "' OR 1=1 --", "denied_wrong_event"},
		{event, ticket(7, "code") + "A", "denied_wrong_event"},
		{event, "999999", "denied_wrong_event"},
	} {
		a := s.scan(c.event, c.code, fmt.Sprintf("device-%d", i)).is(200, "")
		require.Equal(t, c.want, a.str("status"), "%d: %s", i, c.code)
		require.Equal(t, c.want == "success", a.data("deniedReason") == nil)
	}

	t.Log("a scan that is sent again answers the first result")
	first := s.scan(event, ticket(8, "qr"), "gate-1").is(200, "")
	again := s.scan(event, ticket(8, "shortCode"), "gate-1").is(200, "")
	require.Equal(t, first.body, again.body, "the same device within 2 s")
	require.Equal(t, "denied_duplicate", s.scan(event, ticket(8, "qr"), "gate-2").str("status"))
	key := uuid.NewString()
	first = s.scan(event, ticket(9, "qr"), "gate-1", "Idempotency-Key", key).is(200, "")
	require.Equal(t, "success", first.str("status"))
	require.Equal(t, first.body, s.scan(event, ticket(9, "qr"), "gate-1", "Idempotency-Key", key).body)
	s.scan(event, ticket(9, "qr"), "gate-3", "Idempotency-Key", key).is(409, "IDEMPOTENCY_KEY_REUSED")
	require.Equal(t, "denied_duplicate", s.scan(event, ticket(9, "qr"), "gate-3", "Idempotency-Key", uuid.NewString()).str("status"))
	s.scan(event, ticket(9, "qr"), "gate-3", "Idempotency-Key", "x").invalid("Idempotency-Key", "format")

	t.Log("an order shows who has come in")
	shown := s.order(order.str("id"), order.str("accessToken"))
	s.becomes("checked_in North", func() string {
		shown = s.order(order.str("id"), order.str("accessToken"))
		return shown.str("tickets.9.status") + " " + shown.str("tickets.9.gateName")
	})
	require.Equal(t, "checked_in", shown.str("tickets.8.status"))
	require.NotNil(t, shown.data("tickets.8.checkedInAt"))
	require.Equal(t, "issued", shown.str("tickets.10.status"))

	t.Log("unpublished events admit, ended and cancelled ones do not")
	s.own("POST", "/organizer/events/"+event+"/unpublish", nil).is(200, "")
	require.Equal(t, "success", s.scan(event, ticket(10, "qr"), "gate-1").str("status"))
	s.own("DELETE", "/organizer/events/"+event, nil).is(200, "")
	for _, i := range []int{10, 11} {
		require.Equal(t, "denied_cancelled", s.scan(event, ticket(i, "qr"), "gate-9").str("status"))
	}
	for _, status := range []string{"in_progress", "completed"} {
		s.own("PUT", "/organizer/events/"+other+"/status", object{"status": status}).is(200, "")
	}
	require.Equal(t, "denied_expired", s.scan(other, others.str("tickets.0.qr"), "gate-1").str("status"))
}

// One credential may be on many devices. Each has the tier's limit to itself, and may guess
// door codes as often as docs/rules.md (Gates) allows.
func TestScanLimits(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	event, order := s.tickets(nil, 3)
	ticket := func(i int, key string) string { return order.str(fmt.Sprintf("tickets.%d.%s", i, key)) }
	for range 15 {
		s.scan(event, ticket(0, "shortCode"), "busy").is(200, "")
	}
	for range 10 {
		require.Equal(t, "denied_wrong_event", s.scan(event, "222222", "thief").is(200, "").str("status"))
	}
	for _, code := range []string{"222223", ticket(1, "shortCode")} {
		s.scan(event, code, "thief").is(429, "RATE_LIMITED")
	}
	require.Equal(t, "success", s.scan(event, ticket(1, "qr"), "thief").is(200, "").str("status"), "no door code")
	require.Equal(t, "success", s.scan(event, ticket(2, "shortCode"), "other").is(200, "").str("status"))

	t.Log("another device each time is no way around the limit")
	guessed := 10
	for s.scan(event, "222222", fmt.Sprint("thief-", guessed)).status != 429 {
		require.Less(t, guessed, 120)
		guessed++
	}
	require.GreaterOrEqual(t, guessed, 60)

	scanned := 0
	for s.scan(event, ticket(0, "qr"), "busy").status != 429 {
		require.Less(t, scanned, 1000)
		scanned++
	}
	require.GreaterOrEqual(t, scanned, 120-15)
	s.scan(event, ticket(0, "qr"), "").is(200, "")
}

func TestGateStats(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, order := s.tickets(object{"capacity": 32, "branding": object{"requireIdCheck": true}}, 8)
	stats := func() answer { return s.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "") }
	a := stats()
	require.Equal(t, words("eventId ticketsIssued checkedIn scanned denied remaining capacityPercent entryRatePerMinute gates"), a.keys(""))
	require.Equal(t, "8 0 0 0 8 0", fmt.Sprint(a.data("ticketsIssued"), " ", a.data("checkedIn"), " ", a.data("scanned"), " ", a.data("denied"), " ", a.data("remaining"), " ", a.data("capacityPercent")))
	scan := func(i int, gate any, device string) answer {
		return s.own("POST", "/checkin/scan", with(object{"eventId": event, "qrData": order.str(fmt.Sprintf("tickets.%d.qr", i)), "deviceId": device}, object{"gateName": gate})).is(200, "")
	}
	require.Equal(t, true, scan(0, "North", "n").data("idCheck"))
	scan(1, "North", "n")
	scan(2, "South", "s")
	scan(0, "South", "s")
	scan(0, "North", "n") // the first, sent again: not counted
	scan(3, absent, "x")
	s.scan(event, "garbage", "n")
	a = stats()
	require.Equal(t, "8 4 6 2 4 12.5", fmt.Sprint(a.data("ticketsIssued"), " ", a.data("checkedIn"), " ", a.data("scanned"), " ", a.data("denied"), " ", a.data("remaining"), " ", a.data("capacityPercent")))
	gates := map[string]object{}
	for _, g := range a.data("gates").([]any) {
		gates[g.(object)["gate"].(string)] = g.(object)
	}
	for name, want := range map[string]string{"North": "3 2 1", "South": "2 1 1", "": "1 1 0"} {
		g := gates[name]
		require.Equal(t, want, fmt.Sprint(g["scanned"], " ", g["admitted"], " ", g["denied"]), name)
	}
	require.Equal(t, event, a.str("eventId"))
	require.Equal(t, a.body["data"], s.own("GET", "/checkin/event/"+fmt.Sprint(number(t, event))+"/stats", nil).body["data"])

	t.Log("without a capacity, of the tickets issued")
	s.own("PUT", "/organizer/events/"+event, object{"capacity": nil}).is(200, "")
	require.Equal(t, "50", stats().str("capacityPercent"))
	empty := s.draft(nil)
	require.Equal(t, "0", s.own("GET", "/checkin/event/"+empty+"/stats", nil).is(200, "").str("capacityPercent"))
}

// TestTwoGates has gates scan the same tickets at the same time.
func TestTwoGates(t *testing.T) {
	t.Parallel()
	s := open(t)
	const tickets, gates = 20, 6
	event, order := s.tickets(nil, tickets)
	var mu sync.Mutex
	admitted := map[int]int{}
	var wg sync.WaitGroup
	for gate := range gates {
		wg.Go(func() {
			for i := range tickets {
				code := order.str(fmt.Sprintf("tickets.%d.%s", i, []string{"qr", "shortCode", "code"}[gate%3]))
				if s.scan(event, code, fmt.Sprintf("gate-%d", gate)).is(200, "").str("status") == "success" {
					mu.Lock()
					admitted[i]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, admitted, tickets)
	for i, n := range admitted {
		require.Equal(t, 1, n, "ticket %d", i)
	}
	a := s.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "")
	require.Equal(t, fmt.Sprint(tickets), a.str("checkedIn"))
	require.Equal(t, fmt.Sprint(tickets*(gates-1)), a.str("denied"))
}
