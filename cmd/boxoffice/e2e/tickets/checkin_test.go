package tickets

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
)

func TestScanFields(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 1)
	body := nodetest.Object{"eventId": event, "qrData": "222222"}
	for _, c := range []struct {
		changes    nodetest.Object
		path, code string
	}{
		{nodetest.Object{"qrData": nodetest.Absent}, "qrData", "required"},
		{nodetest.Object{"qrData": ""}, "qrData", "min_length"},
		{nodetest.Object{"qrData": 123456}, "qrData", "type"},
		{nodetest.Object{"eventId": nodetest.Absent}, "eventId", "required"},
		{nodetest.Object{"eventId": nodetest.Text(41)}, "eventId", "max_length"},
		{nodetest.Object{"gateName": nodetest.Text(101)}, "gateName", "max_length"},
		{nodetest.Object{"deviceId": nodetest.Text(101)}, "deviceId", "max_length"},
		{nodetest.Object{"method": "eyes"}, "method", "enum"},
		{nodetest.Object{"geoLat": 90.1}, "geoLat", "maximum"},
		{nodetest.Object{"geoLat": -90.1}, "geoLat", "minimum"},
		{nodetest.Object{"geoLng": 180.1}, "geoLng", "maximum"},
		{nodetest.Object{"geoLng": "x"}, "geoLng", "type"},
	} {
		s.Own("POST", "/checkin/scan", nodetest.With(body, c.changes)).Invalid(c.path, c.code)
	}
	for _, changes := range []nodetest.Object{
		{"method": "qr_scan"},
		{"method": "barcode"},
		{"method": "manual"},
		{"method": "nfc"},
		{"geoLat": 90, "geoLng": -180},
		{"geoLat": nil, "gateName": nil, "deviceId": nil},
		{"gateName": nodetest.Text(100), "deviceId": nodetest.Text(100)},
		{"qrData": nodetest.Text(512)},
		{"qrData": "x"},
		{"eventId": fmt.Sprint(nodetest.Number(t, event))},
	} {
		require.Equal(t, "denied_wrong_event", s.Own("POST", "/checkin/scan", nodetest.With(body, changes)).Is(200, "").Str("status"))
	}
	s.Own("POST", "/checkin/scan", nodetest.With(body, nodetest.Object{"eventId": "x"})).Is(404, "EVENT_NOT_FOUND")
	a := s.Own("POST", "/checkin/scan", nodetest.With(body, nodetest.Object{"qrData": order.Str("tickets.0.qr")})).Is(200, "")
	keys := nodetest.Words("status deniedReason ticketCode holderName idCheck checkedInAt firstGate")
	require.Equal(t, keys, a.Keys(""))
	require.Equal(t, "success", a.Str("status"))
	require.Nil(t, a.Data("deniedReason"))
	require.Equal(t, order.Str("tickets.0.code"), a.Str("ticketCode"))
	require.Equal(t, "Ada", a.Str("holderName"))
	require.Equal(t, false, a.Data("idCheck"))
	at, err := time.Parse(time.RFC3339, a.Str("checkedInAt"))
	require.NoError(t, err)
	require.InDelta(t, 0, time.Since(at), float64(time.Minute))
	a = s.Own("POST", "/checkin/scan", nodetest.With(body, nodetest.Object{"qrData": order.Str("tickets.0.qr")})).Is(200, "")
	require.Equal(t, "denied_duplicate", a.Str("status"))
	require.NotEmpty(t, a.Data("deniedReason"))
	require.Equal(t, keys, a.Keys(""))
	require.Nil(t, a.Data("ticketCode"), "of a success only")
	require.Equal(t, at.Format(time.RFC3339Nano), a.Str("checkedInAt"), "of the first admission")
}

func TestScanVerdicts(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 12)
	other, others := s.FreeTickets(nil, 1)
	ticket := func(i int, key string) string { return order.Str(fmt.Sprintf("tickets.%d.%s", i, key)) }
	codes := s.Secrets().Event(nodetest.Number(t, event))
	serial, _, ok := codes.FromShort(ticket(6, "shortCode"))
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
		{event, others.Str("tickets.0.qr"), "denied_wrong_event"},
		{event, others.Str("tickets.0.code"), "denied_wrong_event"},
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
		a := s.Scan(c.event, c.code, fmt.Sprintf("device-%d", i)).Is(200, "")
		require.Equal(t, c.want, a.Str("status"), "%d: %s", i, c.code)
		require.Equal(t, c.want == "success", a.Data("deniedReason") == nil)
	}

	t.Log("a scan that is sent again answers the first result")
	first := s.Scan(event, ticket(8, "qr"), "gate-1").Is(200, "")
	again := s.Scan(event, ticket(8, "shortCode"), "gate-1").Is(200, "")
	require.Equal(t, first.Body, again.Body, "the same device within 2 s")
	require.Equal(t, "denied_duplicate", s.Scan(event, ticket(8, "qr"), "gate-2").Str("status"))
	key := uuid.NewString()
	first = s.Scan(event, ticket(9, "qr"), "gate-1", "Idempotency-Key", key).Is(200, "")
	require.Equal(t, "success", first.Str("status"))
	require.Equal(t, first.Body, s.Scan(event, ticket(9, "qr"), "gate-1", "Idempotency-Key", key).Body)
	s.Scan(event, ticket(9, "qr"), "gate-3", "Idempotency-Key", key).Is(409, "IDEMPOTENCY_KEY_REUSED")
	require.Equal(t, "denied_duplicate", s.Scan(event, ticket(9, "qr"), "gate-3", "Idempotency-Key", uuid.NewString()).Str("status"))
	s.Scan(event, ticket(9, "qr"), "gate-3", "Idempotency-Key", "x").Invalid("Idempotency-Key", "format")

	t.Log("an order shows who has come in")
	shown := s.Order(order.Str("id"), order.Str("accessToken"))
	s.Becomes("checked_in North", func() string {
		shown = s.Order(order.Str("id"), order.Str("accessToken"))
		return shown.Str("tickets.9.status") + " " + shown.Str("tickets.9.gateName")
	})
	require.Equal(t, "checked_in", shown.Str("tickets.8.status"))
	require.NotNil(t, shown.Data("tickets.8.checkedInAt"))
	require.Equal(t, "issued", shown.Str("tickets.10.status"))

	t.Log("unpublished events admit, ended and cancelled ones do not")
	s.Own("POST", "/organizer/events/"+event+"/unpublish", nil).Is(200, "")
	require.Equal(t, "success", s.Scan(event, ticket(10, "qr"), "gate-1").Str("status"))
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	for _, i := range []int{10, 11} {
		require.Equal(t, "denied_cancelled", s.Scan(event, ticket(i, "qr"), "gate-9").Str("status"))
	}
	for _, status := range []string{"in_progress", "completed"} {
		s.Own("PUT", "/organizer/events/"+other+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	require.Equal(t, "denied_expired", s.Scan(other, others.Str("tickets.0.qr"), "gate-1").Str("status"))
}

// One credential may be on many devices. Each has the tier's limit to itself, and may guess
// door codes as often as docs/rules.md (Gates) allows.
func TestScanLimits(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	event, order := s.FreeTickets(nil, 3)
	ticket := func(i int, key string) string { return order.Str(fmt.Sprintf("tickets.%d.%s", i, key)) }
	for range 15 {
		s.Scan(event, ticket(0, "shortCode"), "busy").Is(200, "")
	}
	for range 10 {
		require.Equal(t, "denied_wrong_event", s.Scan(event, "222222", "thief").Is(200, "").Str("status"))
	}
	for _, code := range []string{"222223", ticket(1, "shortCode")} {
		s.Scan(event, code, "thief").Is(429, "RATE_LIMITED")
	}
	require.Equal(t, "success", s.Scan(event, ticket(1, "qr"), "thief").Is(200, "").Str("status"), "no door code")
	require.Equal(t, "success", s.Scan(event, ticket(2, "shortCode"), "other").Is(200, "").Str("status"))

	t.Log("another device each time is no way around the limit")
	guessed := 10
	for s.Scan(event, "222222", fmt.Sprint("thief-", guessed)).Status != 429 {
		require.Less(t, guessed, 120)
		guessed++
	}
	require.GreaterOrEqual(t, guessed, 60)

	scanned := 0
	for s.Scan(event, ticket(0, "qr"), "busy").Status != 429 {
		require.Less(t, scanned, 1000)
		scanned++
	}
	require.GreaterOrEqual(t, scanned, 120-15)
	s.Scan(event, ticket(0, "qr"), "").Is(200, "")
}

func TestGateStats(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nodetest.Object{"capacity": 32, "branding": nodetest.Object{"requireIdCheck": true}}, 8)
	stats := func() nodetest.Answer { return s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "") }
	a := stats()
	require.Equal(t, nodetest.Words("eventId ticketsIssued checkedIn scanned denied remaining capacityPercent entryRatePerMinute gates"), a.Keys(""))
	require.Equal(t, "8 0 0 0 8 0", fmt.Sprint(a.Data("ticketsIssued"), " ", a.Data("checkedIn"), " ", a.Data("scanned"), " ", a.Data("denied"), " ", a.Data("remaining"), " ", a.Data("capacityPercent")))
	scan := func(i int, gate any, device string) nodetest.Answer {
		return s.Own("POST", "/checkin/scan", nodetest.With(nodetest.Object{"eventId": event, "qrData": order.Str(fmt.Sprintf("tickets.%d.qr", i)), "deviceId": device}, nodetest.Object{"gateName": gate})).Is(200, "")
	}
	require.Equal(t, true, scan(0, "North", "n").Data("idCheck"))
	scan(1, "North", "n")
	scan(2, "South", "s")
	scan(0, "South", "s")
	scan(0, "North", "n") // the first, sent again: not counted
	scan(3, nodetest.Absent, "x")
	s.Scan(event, "garbage", "n")
	a = stats()
	require.Equal(t, "8 4 6 2 4 12.5", fmt.Sprint(a.Data("ticketsIssued"), " ", a.Data("checkedIn"), " ", a.Data("scanned"), " ", a.Data("denied"), " ", a.Data("remaining"), " ", a.Data("capacityPercent")))
	gates := map[string]nodetest.Object{}
	for _, g := range a.Data("gates").([]any) {
		gates[g.(nodetest.Object)["gate"].(string)] = g.(nodetest.Object)
	}
	for name, want := range map[string]string{"North": "3 2 1", "South": "2 1 1", "": "1 1 0"} {
		g := gates[name]
		require.Equal(t, want, fmt.Sprint(g["scanned"], " ", g["admitted"], " ", g["denied"]), name)
	}
	require.Equal(t, event, a.Str("eventId"))
	require.Equal(t, a.Body["data"], s.Own("GET", "/checkin/event/"+fmt.Sprint(nodetest.Number(t, event))+"/stats", nil).Body["data"])

	t.Log("nobody is to come yet with a ticket that was refunded, and an admission taken back is")
	s.Own("POST", "/organizer/orders/"+order.Str("id")+"/refund", nodetest.Object{"reason": "rain", "ticketIds": []string{order.Str("tickets.4.id"), order.Str("tickets.5.id")}}).Is(200, "")
	remain := func() string {
		a := stats()
		return a.Str("ticketsIssued") + " " + a.Str("checkedIn") + " " + a.Str("remaining")
	}
	require.Equal(t, "8 4 2", remain())
	s.Own("POST", "/checkin/event/"+event+"/undo", nodetest.Object{"ticketCode": order.Str("tickets.3.code")}).Is(200, "")
	require.Equal(t, "8 3 3", remain())
	s.Scan(event, order.Str("tickets.3.qr"), "y")
	require.Equal(t, "8 4 2", remain())

	t.Log("without a capacity, of the tickets issued")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"capacity": nil}).Is(200, "")
	require.Equal(t, "50", stats().Str("capacityPercent"))
	empty := s.Draft(nil)
	require.Equal(t, "0", s.Own("GET", "/checkin/event/"+empty+"/stats", nil).Is(200, "").Str("capacityPercent"))
}

// TestTwoGates has gates scan the same tickets at the same time.
func TestTwoGates(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const count, gates = 20, 6
	event, order := s.FreeTickets(nil, count)
	var mu sync.Mutex
	admitted := map[int]int{}
	var wg sync.WaitGroup
	for gate := range gates {
		wg.Go(func() {
			for i := range count {
				code := order.Str(fmt.Sprintf("tickets.%d.%s", i, []string{"qr", "shortCode", "code"}[gate%3]))
				if s.Scan(event, code, fmt.Sprintf("gate-%d", gate)).Is(200, "").Str("status") == "success" {
					mu.Lock()
					admitted[i]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, admitted, count)
	for i, n := range admitted {
		require.Equal(t, 1, n, "ticket %d", i)
	}
	a := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, fmt.Sprint(count), a.Str("checkedIn"))
	require.Equal(t, fmt.Sprint(count*(gates-1)), a.Str("denied"))
}
