package tickets

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestManualCheckIn types codes at a gate: the verdicts are those of a scan.
func TestManualCheckIn(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 5)
	other, others := s.FreeTickets(nil, 1)
	ticket := func(i int, key string) string { return order.Str(fmt.Sprintf("tickets.%d.%s", i, key)) }
	typed := func(event, code string, headers ...string) nodetest.Answer {
		body := nodetest.Object{"ticketCode": code, "gateName": "Desk", "deviceId": "desk-" + uuid.NewString()}
		return s.Call("POST", "/checkin/event/"+event+"/manual", body, append(headers, s.Bearer()...)...)
	}
	for _, c := range []struct{ event, code, want string }{
		{event, ticket(0, "code"), "success"},
		{event, ticket(0, "code"), "denied_duplicate"},
		{event, ticket(0, "shortCode"), "denied_duplicate"},
		{event, " " + strings.ToLower(ticket(1, "shortCode")) + " ", "success"},
		{event, strings.ToLower(ticket(2, "code")), "success"},
		{event, ticket(3, "qr"), "denied_wrong_event"},
		{event, others.Str("tickets.0.code"), "denied_wrong_event"},
		{event, "NOSUCHCODE", "denied_wrong_event"},
	} {
		if len(c.code) > 50 {
			typed(c.event, c.code).Invalid("ticketCode", "max_length")
			continue
		}
		a := typed(c.event, c.code).Is(200, "")
		require.Equal(t, c.want, a.Str("status"), c.code)
		require.Equal(t, c.want == "success", a.Data("deniedReason") == nil)
		require.Equal(t, nodetest.Words("status deniedReason ticketCode holderName idCheck checkedInAt firstGate"), a.Keys(""))
	}
	key := uuid.NewString()
	body := nodetest.Object{"ticketCode": ticket(3, "code"), "gateName": "Desk", "deviceId": "d"}
	keyed := func(changes nodetest.Object) nodetest.Answer {
		return s.Call("POST", "/checkin/event/"+event+"/manual", nodetest.With(body, changes), append([]string{"Idempotency-Key", key}, s.Bearer()...)...)
	}
	first := keyed(nil).Is(200, "")
	require.Equal(t, "success", first.Str("status"))
	require.Equal(t, first.Body, keyed(nil).Body)
	keyed(nodetest.Object{"gateName": "Other"}).Is(409, "IDEMPOTENCY_KEY_REUSED")

	path := "/checkin/event/" + event + "/manual"
	for _, c := range []struct {
		changes    nodetest.Object
		path, code string
	}{
		{nodetest.Object{"ticketCode": nodetest.Absent}, "ticketCode", "required"},
		{nodetest.Object{"ticketCode": ""}, "ticketCode", "min_length"},
		{nodetest.Object{"gateName": nodetest.Text(101)}, "gateName", "max_length"},
		{nodetest.Object{"deviceId": nodetest.Text(101)}, "deviceId", "max_length"},
	} {
		s.Own("POST", path, nodetest.With(body, c.changes)).Invalid(c.path, c.code)
	}
	s.Own("POST", "/checkin/event/x/manual", body).Is(404, "EVENT_NOT_FOUND")

	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	require.Equal(t, "denied_cancelled", typed(event, ticket(4, "code")).Str("status"))
	for _, status := range []string{"in_progress", "completed"} {
		s.Own("PUT", "/organizer/events/"+other+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	require.Equal(t, "denied_expired", typed(other, others.Str("tickets.0.shortCode")).Str("status"))
}

// TestUndoCheckIn takes admissions back, and reads a gate's counters.
func TestUndoCheckIn(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 2)
	undo := func(code string) nodetest.Answer {
		return s.Own("POST", "/checkin/event/"+event+"/undo", nodetest.Object{"ticketCode": code})
	}
	gate := func(name string) string {
		a := s.Own("GET", "/checkin/event/"+event+"/gate/"+name, nil).Is(200, "")
		return fmt.Sprint(a.Str("gate"), " ", a.Data("scanned"), " ", a.Data("admitted"), " ", a.Data("denied"))
	}
	shown := func() string {
		a := s.Order(order.Str("id"), order.Str("accessToken"))
		return fmt.Sprint(a.Str("tickets.0.status"), " ", a.Data("tickets.0.gateName"), " ", a.Data("tickets.0.checkedInAt") == nil)
	}
	code, qr := order.Str("tickets.0.code"), order.Str("tickets.0.qr")
	undo(code).Is(409, "NOT_CHECKED_IN")
	undo("NOSUCHCODE").Is(404, "TICKET_NOT_FOUND")
	undo("222222").Is(404, "TICKET_NOT_FOUND")
	undo("12345").Is(404, "TICKET_NOT_FOUND")
	undo("").Invalid("ticketCode", "min_length")

	require.Equal(t, "success", s.Scan(event, qr, "a").Str("status"))
	require.Equal(t, "denied_duplicate", s.Scan(event, qr, "b").Str("status"))
	require.Equal(t, "North 2 1 1", gate("North"))
	s.Becomes("checked_in North false", shown)
	a := undo(order.Str("tickets.0.shortCode")).Is(200, "")
	require.Equal(t, code+" issued", a.Str("ticketCode")+" "+a.Str("status"))
	require.Equal(t, "North 2 0 1", gate("North"))
	s.Becomes("issued <nil> true", shown)
	undo(code).Is(409, "NOT_CHECKED_IN")
	require.Equal(t, "success", s.Scan(event, qr, "b").Str("status"))
	require.Equal(t, "North 3 1 1", gate("North"))

	require.Equal(t, "Tor 1 / Süd 0 0 0", gate("Tor%201%20%2F%20S%C3%BCd"))
	s.Own("GET", "/checkin/event/"+event+"/gate/"+nodetest.Text(101), nil).Is(404, "NOT_FOUND")
	s.Own("GET", "/checkin/event/x/gate/North", nil).Is(404, "EVENT_NOT_FOUND")
}

// queue is a scan that a device has kept.
func queue(code, device string, ago time.Duration) nodetest.Object {
	return nodetest.Object{"ticketCode": code, "scannedAt": nodetest.Stamp(-ago), "gateName": "Gate " + device, "deviceId": device}
}

func sendBatch(s *nodetest.Shop, event string, scans ...nodetest.Object) nodetest.Answer {
	s.T.Helper()
	return s.Own("POST", "/checkin/batch", nodetest.Object{"eventId": event, "scans": scans})
}

// statuses are the verdicts of a batch.
func statuses(a nodetest.Answer) string {
	all := make([]string, len(a.Data("results").([]any)))
	for i := range all {
		all[i] = strings.TrimPrefix(a.Str(fmt.Sprintf("results.%d.status", i)), "denied_")
	}
	return strings.Join(all, " ")
}

func TestScanBatch(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	start := nodetest.Object{"startDate": nodetest.Stamp(time.Hour), "endDate": nodetest.Stamp(5000 * time.Hour)}
	event, order := s.FreeTickets(start, 9)
	other, others := s.FreeTickets(start, 2)
	ticket := func(i int, key string) string { return order.Str(fmt.Sprintf("tickets.%d.%s", i, key)) }
	swap := func(o nodetest.Object, member, value string) nodetest.Object {
		return nodetest.With(o, nodetest.Object{"ticketCode": nodetest.Absent, member: value})
	}
	first := queue(ticket(0, "code"), "a", time.Minute)
	scans := []nodetest.Object{
		first,
		queue(ticket(0, "code"), "b", time.Minute-10*time.Second),
		swap(queue("", "a", time.Minute), "shortCode", ticket(1, "shortCode")),
		swap(queue("", "b", 0), "qrData", ticket(2, "qr")),
		swap(queue("", "b", 10*time.Minute), "qrData", ticket(3, "qr")),
		queue("NOSUCHCODE", "b", 0),
		queue(others.Str("tickets.0.code"), "b", 0),
		first,
	}
	a := sendBatch(s, event, scans...).Is(200, "")
	require.Equal(t, "success duplicate success success expired wrong_event wrong_event success", statuses(a))
	require.Equal(t, nodetest.Words("index status deniedReason ticketCode holderName firstCheckedInAt firstGate"), a.Keys("results.0"))
	require.Equal(t, "Gate a", a.Str("results.1.firstGate"))
	require.Equal(t, a.Str("results.0.firstCheckedInAt"), a.Str("results.1.firstCheckedInAt"))
	for i := range scans {
		require.EqualValues(t, i, a.Data(fmt.Sprintf("results.%d.index", i)))
	}
	require.Equal(t, a.Data("results"), sendBatch(s, event, scans...).Is(200, "").Data("results"), "the same again")
	stats := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, "7 3 4", fmt.Sprint(stats.Data("scanned"), " ", stats.Data("checkedIn"), " ", stats.Data("denied")))

	t.Log("whoever was first at the event wins, whenever the others scanned")
	require.Equal(t, "success", s.Scan(event, ticket(4, "qr"), "online").Str("status"))
	a = sendBatch(s, event, queue(ticket(4, "code"), "c", time.Hour)).Is(200, "")
	require.Equal(t, "duplicate North", statuses(a)+" "+a.Str("results.0.firstGate"))

	t.Log("times are held between a day before the doors and five minutes from now")
	a = sendBatch(s, event, queue(ticket(5, "code"), "c", -time.Hour), queue(ticket(6, "code"), "c", 1000*time.Hour)).Is(200, "")
	require.Equal(t, "success success", statuses(a))
	at := func(i int) time.Time {
		at, err := time.Parse(time.RFC3339, a.Str(fmt.Sprintf("results.%d.firstCheckedInAt", i)))
		require.NoError(t, err)
		return at
	}
	require.WithinDuration(t, time.Now().Add(5*time.Minute), at(0), time.Minute)
	require.WithinDuration(t, time.Now().Add(-23*time.Hour), at(1), time.Minute)

	t.Log("a scan before the ticket was refunded admits, and admits once")
	paid, buyers := s.FreeTickets(nil, 1)
	before := queue(buyers.Str("tickets.0.code"), "c", time.Second)
	s.Own("POST", "/organizer/orders/"+buyers.Str("id")+"/refund", nodetest.Object{"reason": "kindness"}).Is(200, "")
	late := func(device string, ago time.Duration) nodetest.Object {
		return queue(buyers.Str("tickets.0.code"), device, ago)
	}
	require.Equal(t, "cancelled success duplicate", statuses(sendBatch(s, paid, late("e", -time.Minute), before, late("d", time.Second)).Is(200, "")))
	require.Equal(t, "success duplicate cancelled", statuses(sendBatch(s, paid, before, late("f", 2*time.Second), late("g", -time.Minute)).Is(200, "")))
	require.Equal(t, "denied_cancelled", s.Scan(paid, buyers.Str("tickets.0.qr"), "online").Str("status"))

	t.Log("a scan before the event was cancelled, or had ended, admits")
	before = queue(ticket(7, "code"), "c", time.Second)
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	require.Equal(t, "success cancelled", statuses(sendBatch(s, event, before, queue(ticket(8, "code"), "c", -time.Minute)).Is(200, "")))
	before = queue(others.Str("tickets.0.code"), "c", time.Second)
	for _, status := range []string{"in_progress", "completed"} {
		s.Own("PUT", "/organizer/events/"+other+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	require.Equal(t, "success expired", statuses(sendBatch(s, other, before, queue(others.Str("tickets.1.code"), "c", -time.Minute)).Is(200, "")))
}

func TestScanBatchFields(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, _ := s.FreeTickets(nil, 1)
	one := queue("NOSUCHCODE", "a", 0)
	for _, c := range []struct {
		changes    nodetest.Object
		path, code string
	}{
		{nodetest.Object{"ticketCode": nodetest.Absent}, "scans[0]", "required"},
		{nodetest.Object{"shortCode": "222222"}, "scans[0]", "required"},
		{nodetest.Object{"ticketCode": ""}, "scans[0].ticketCode", "min_length"},
		{nodetest.Object{"scannedAt": nodetest.Absent}, "scans[0].scannedAt", "required"},
		{nodetest.Object{"scannedAt": "2026-07-01T20:00:00"}, "scans[0].scannedAt", "type"},
		{nodetest.Object{"gateName": nodetest.Text(101)}, "scans[0].gateName", "max_length"},
		{nodetest.Object{"deviceId": nodetest.Text(101)}, "scans[0].deviceId", "max_length"},
	} {
		sendBatch(s, event, nodetest.With(one, c.changes)).Invalid(c.path, c.code)
	}
	sendBatch(s, event).Invalid("scans", "required")
	many := make([]nodetest.Object, 501)
	for i := range many {
		many[i] = one
	}
	sendBatch(s, event, many...).Invalid("scans", "max_items")
	require.Len(t, sendBatch(s, event, many[:500]...).Is(200, "").Data("results"), 500)
	sendBatch(s, "x", one).Is(404, "EVENT_NOT_FOUND")
}

// TestBatchLimits guesses door codes in a batch: those beyond a device's limit are not
// looked at, and right ones of others are.
func TestBatchLimits(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	event, order := s.FreeTickets(nil, 3)
	var scans []nodetest.Object
	for range 10 {
		scans = append(scans, queue("222222", "thief", time.Duration(len(scans))*time.Second))
	}
	scans = append(scans, queue(order.Str("tickets.0.shortCode"), "thief", 0), queue(order.Str("tickets.1.shortCode"), "other", 0), queue(order.Str("tickets.2.code"), "thief", 0))
	require.Equal(t, strings.Repeat("wrong_event ", 11)+"success success", statuses(sendBatch(s, event, scans...).Is(200, "")))
	s.Scan(event, "222222", "thief").Is(429, "RATE_LIMITED")
	require.Equal(t, "success", s.Scan(event, order.Str("tickets.0.shortCode"), "friend").Is(200, "").Str("status"))
}

func TestManifest(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, order := s.FreeTickets(nil, 3)
	path := "/checkin/event/" + event + "/manifest"
	a := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, nodetest.Words("eventId generatedAt cursor full salt offlineDoorCodes rotatingOnly tickets"), a.Keys(""))
	require.Equal(t, nodetest.Words("h s t v"), a.Keys("tickets.0"))
	require.Equal(t, true, a.Data("full"))
	require.Len(t, a.Data("tickets"), 3)
	hash := func(text string, size int) string {
		sum := sha256.Sum256([]byte(a.Str("salt") + "|" + text))
		return base64.RawURLEncoding.EncodeToString(sum[:size])
	}
	at := func(a nodetest.Answer, member string) string {
		hashes := map[string]string{}
		for _, row := range a.Data("tickets").([]any) {
			row := row.(nodetest.Object)
			hashes[row["h"].(string)] = fmt.Sprint(row[member])
		}
		pass := func(i string) string { return hash(strings.Split(order.Str("tickets."+i+".qr"), ".")[1], 16) }
		return fmt.Sprint(hashes[pass("0")], " ", hashes[pass("1")])
	}
	require.Equal(t, "i i", at(a, "s"))
	require.Equal(t, order.Str("tickets.0.ticketTypeId")+" "+order.Str("tickets.0.ticketTypeId"), at(a, "t"))

	t.Log("a delta has what changed")
	cursor := a.Str("cursor")
	delta := func() nodetest.Answer { return s.Own("GET", path+"?since="+cursor, nil).Is(200, "") }
	later := func() nodetest.Answer { return s.Own("GET", path+"?since="+a.Str("generatedAt"), nil).Is(200, "") }
	require.Empty(t, delta().Data("tickets"))
	require.Empty(t, later().Data("tickets"))
	require.Equal(t, "success", s.Scan(event, order.Str("tickets.0.qr"), "a").Str("status"))
	s.Becomes("c ", func() string { return at(delta(), "s") })
	require.Equal(t, "c ", at(later(), "s"))
	require.Equal(t, false, later().Data("full"))
	s.Own("POST", "/checkin/event/"+event+"/undo", nodetest.Object{"ticketCode": order.Str("tickets.0.code")}).Is(200, "")
	s.Becomes("i ", func() string { return at(delta(), "s") })
	require.Equal(t, false, delta().Data("full"))
	require.Equal(t, true, s.Own("GET", path+"?since=2020-01-01T00:00:00Z", nil).Is(200, "").Data("full"))
	require.Equal(t, true, s.Own("GET", path+"?since=other.1", nil).Is(200, "").Data("full"))
	require.Equal(t, false, s.Own("GET", path+"?since="+nodetest.Stamp(time.Hour), nil).Is(200, "").Data("full"))
	for _, bad := range []string{"yesterday", "x.", ".1", "x.-1"} {
		s.Own("GET", path+"?since="+bad, nil).Invalid("since", "format")
	}

	t.Log("door codes are told where the event says so")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"offlineDoorCodes": true}).Is(200, "")
	s.Becomes(hash(order.Str("tickets.0.shortCode"), 6)+" "+hash(order.Str("tickets.1.shortCode"), 6), func() string { return at(s.Own("GET", path, nil), "k") })

	t.Log("an event may refuse what does not rotate")
	cursor = s.Own("GET", path, nil).Is(200, "").Str("cursor")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"rotatingOnly": true}).Is(200, "")
	s.Becomes("true", func() string { return delta().Str("rotatingOnly") })
	require.NotEqual(t, cursor, delta().Str("cursor"))

	t.Log("who has it is told so")
	tag := s.Raw("GET", path, "", "", s.Bearer()...).Header.Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, 304, s.Raw("GET", path, "", "", append([]string{"If-None-Match", tag}, s.Bearer()...)...).Status)

	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	s.Becomes("x x", func() string { return at(s.Own("GET", path, nil), "s") })
	s.Own("GET", "/checkin/event/x/manifest", nil).Is(404, "EVENT_NOT_FOUND")
}
