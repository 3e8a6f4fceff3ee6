package tickets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestAnyTextHasAVerdict shows gates what scanners read from any picture, and what people type. A
// gate that gets a refusal has nobody to show it to: whatever the text is, it is denied.
func TestAnyTextHasAVerdict(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 4)
	texts := []string{
		"x", " ", "12345", nodetest.Text(51), nodetest.Text(513), nodetest.Text(10_000), "abc\x00", "\x00", "\x1d01\x1e", "\u202e\u200b", "\ufeff", "]C1",
		strings.Repeat(" ", 600), "é\u0301\U0001F39F",
	}
	var batch []nodetest.Object
	for _, text := range texts {
		scanned := s.Own("POST", "/checkin/scan", nodetest.Object{"eventId": event, "qrData": text}).Is(200, "")
		typed := s.Own("POST", "/checkin/event/"+event+"/manual", nodetest.Object{"ticketCode": text}).Is(200, "")
		require.Equal(t, "denied_wrong_event denied_wrong_event", scanned.Str("status")+" "+typed.Str("status"), "%.20q", text)
		s.Own("POST", "/checkin/event/"+event+"/undo", nodetest.Object{"ticketCode": text}).Is(404, "TICKET_NOT_FOUND")
		for _, member := range []string{"qrData", "ticketCode", "shortCode"} {
			one := nodetest.With(queue("", "a", 0), nodetest.Object{"ticketCode": nodetest.Absent})
			one[member] = text
			batch = append(batch, one)
		}
	}
	good := nodetest.With(queue(order.Str("tickets.0.code"), "a", 0), nodetest.Object{"ticketCode": nodetest.Absent, "qrData": order.Str("tickets.0.qr")})
	verdicts := sendBatch(s, event, append(batch, good)...).Is(200, "")
	require.Equal(t, strings.Repeat("wrong_event ", len(batch))+"success", statuses(verdicts))

	t.Log("what stands around a code is not part of it")
	require.Equal(t, "success", s.Own("POST", "/checkin/scan", nodetest.Object{"eventId": event, "qrData": "\x00\x1d" + order.Str("tickets.1.qr") + "\r\n"}).Is(200, "").Str("status"))
	code := order.Str("tickets.2.code")
	require.Equal(t, "success", s.Own("POST", "/checkin/event/"+event+"/manual", nodetest.Object{"ticketCode": code[:4] + "\u200b \x00" + code[4:]}).Is(200, "").Str("status"))
}

// TestGateNamesAlike names one gate in all the ways in which people and devices write it. It is one
// gate on all ways in and out, and shown as it was named first.
func TestGateNamesAlike(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 6)
	qr := func(i int) string { return order.Str(fmt.Sprintf("tickets.%d.qr", i)) }
	scan := func(i int, gate string) {
		t.Helper()
		s.Own("POST", "/checkin/scan", nodetest.Object{"eventId": event, "qrData": qr(i), "gateName": gate}).Is(200, "")
	}
	scan(0, "Süd Tor")
	scan(1, " Süd Tor ")
	scan(2, "SU\u0308D  TOR")
	scan(3, "süd\u200b\ttor\u202e")
	s.Own("POST", "/checkin/event/"+event+"/manual", nodetest.Object{"ticketCode": order.Str("tickets.4.code"), "gateName": "\u00a0süd tor"}).Is(200, "")
	sendBatch(s, event, nodetest.With(queue(order.Str("tickets.5.code"), "a", 0), nodetest.Object{"gateName": "süd\u00a0Tor\n"})).Is(200, "")
	stats := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, []any{nodetest.Object{"gate": "Süd Tor", "scanned": 6.0, "admitted": 6.0, "denied": 0.0}}, stats.Data("gates"))
	for _, written := range []string{"S%C3%BCd%20Tor", "%20s%C3%BCd%20tor%20", "SU%CC%88D%20TOR", "s%C3%BCd%E2%80%8B%20tor"} {
		one := s.Own("GET", "/checkin/event/"+event+"/gate/"+written, nil).Is(200, "")
		require.Equal(t, "6 Süd Tor", one.Str("admitted")+" "+one.Str("gate"), written)
	}

	t.Log("one length everywhere, of what is left when it is trimmed")
	long := nodetest.Text(100)
	s.Own("POST", "/checkin/scan", nodetest.Object{"eventId": event, "qrData": "x", "gateName": " " + long + " "}).Is(200, "")
	require.Equal(t, "1", s.Own("GET", "/checkin/event/"+event+"/gate/"+long, nil).Is(200, "").Str("denied"))
	s.Own("GET", "/checkin/event/"+event+"/gate/"+nodetest.Text(101), nil).Is(404, "NOT_FOUND")
	s.Own("POST", "/checkin/scan", nodetest.Object{"eventId": event, "qrData": "x", "gateName": nodetest.Text(101)}).Invalid("gateName", "max_length")
}
