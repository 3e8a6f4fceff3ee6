package tickets

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
)

// TestWaysIn shows each form of a ticket's codes at each way in, of an event that takes all forms and
// of one that takes rotating ones alone. What was typed is recorded as manual.
func TestWaysIn(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const admitted, stale, foreign = "success", "denied_expired", "denied_wrong_event"
	ways := []string{"scan", "manual", "batch read", "batch typed"}
	for _, rotating := range []bool{false, true} {
		still := admitted // what does not rotate, where it is read
		if rotating {
			still = stale
		}
		want := map[string][]string{
			"qr":      {admitted, foreign, admitted, foreign},
			"printed": {still, foreign, still, foreign},
			"code":    {foreign, admitted, foreign, admitted},
			"door":    {still, admitted, still, admitted},
		}
		event, order := s.FreeTickets(nodetest.Object{"rotatingOnly": rotating}, len(want)*len(ways))
		codes := s.Secrets().Event(nodetest.Number(t, event))
		next := 0
		for form, verdicts := range want {
			for i, way := range ways {
				at := fmt.Sprintf("tickets.%d.", next)
				next++
				serial, _, ok := codes.FromCode(order.Str(at + "code"))
				require.True(t, ok)
				text := map[string]string{
					"qr": s.Order(order.Str("id"), order.Str("accessToken")).Str(at + "qr"), "printed": codes.Printed(serial, secrets.Version),
					"code": order.Str(at + "code"), "door": order.Str(at + "shortCode"),
				}[form]
				status, reason := goIn(s, event, way, text)
				require.Equal(t, verdicts[i], status, "%s by %s, rotating only: %v", form, way, rotating)
				require.Equal(t, status == stale, reason == "ROTATING_ONLY", "%s by %s", form, way)
			}
		}
	}
	methods := map[any]int{}
	for _, f := range s.AwaitFacts(map[string]int{"ticket.checked_in": 16}, "ticket.checked_in") {
		methods[nodetest.ValueAt(f, "data.checkin.method")]++
	}
	require.Equal(t, map[any]int{"qr_scan": 4, "manual": 8, "batch": 4}, methods)
}

// goIn shows a code by one of the ways in.
func goIn(s *nodetest.Shop, event, way, code string) (status string, reason any) {
	s.T.Helper()
	device := uuid.NewString()
	kept := func(member string) nodetest.Answer {
		return sendBatch(s, event, nodetest.Object{member: code, "scannedAt": nodetest.Stamp(0), "deviceId": device}).Is(200, "")
	}
	switch way {
	case "scan":
		a := s.Scan(event, code, device).Is(200, "")
		return a.Str("status"), a.Data("deniedReason")
	case "manual":
		a := s.Own("POST", "/checkin/event/"+event+"/manual", nodetest.Object{"ticketCode": code, "deviceId": device}).Is(200, "")
		return a.Str("status"), a.Data("deniedReason")
	case "batch read":
		a := kept("qrData")
		return a.Str("results.0.status"), a.Data("results.0.deniedReason")
	default:
		a := kept("ticketCode")
		return a.Str("results.0.status"), a.Data("results.0.deniedReason")
	}
}

// TestNothingShownIsADoorCode takes every six letters that stand anywhere in what is shown to others:
// QR payloads, facts, the manifest and what a key that reads orders is answered. None is the door code
// of a ticket; some of them are scanned, and admit nobody.
func TestNothingShownIsADoorCode(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	const sold = 20
	event, order := s.FreeTickets(nil, sold)
	var shown strings.Builder
	codes := s.Secrets().Event(nodetest.Number(t, event))
	for i := range sold {
		at := fmt.Sprintf("tickets.%d.", i)
		serial, _, ok := codes.FromCode(order.Str(at + "code"))
		require.True(t, ok)
		shown.WriteString(order.Str(at+"qr") + " " + codes.Printed(serial, secrets.Version) + " " + order.Str(at+"id") + "\n")
	}
	facts := s.AwaitFacts(map[string]int{"order.completed": 1, "ticket.created": sold}, "order.completed", "ticket.created")
	shown.WriteString(nodetest.Encode(t, facts))
	shown.WriteString(nodetest.Encode(t, s.Own("GET", "/checkin/event/"+event+"/manifest", nil).Is(200, "").Body))
	shown.WriteString(nodetest.Encode(t, s.Agent("orders:read").Own("GET", "/organizer/orders/"+order.Str("id"), nil).Is(200, "").Body))

	doors := map[string]bool{}
	for i := range sold {
		doors[order.Str(fmt.Sprintf("tickets.%d.shortCode", i))] = true
	}
	pieces, scanned := map[string]bool{}, 0
	for _, word := range regexp.MustCompile(`[2-9A-Za-z]{6,}`).FindAllString(shown.String(), -1) {
		for i := range len(word) - 5 {
			pieces[strings.ToUpper(word[i:i+6])] = true
		}
	}
	require.Greater(t, len(pieces), 500)
	for piece := range pieces {
		require.False(t, doors[piece], piece)
		if serial, version, ok := codes.FromShort(piece); ok {
			require.False(t, serial <= sold && version == secrets.Version, piece)
		}
		if scanned++; scanned <= 300 {
			require.Equal(t, "denied_wrong_event", s.Scan(event, piece, uuid.NewString()).Is(200, "").Str("status"), piece)
		}
	}
}
