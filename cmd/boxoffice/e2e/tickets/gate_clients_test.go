package tickets

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestGateInABrowser: a gate that runs in a browser of another origin may repeat a stream from where it
// broke off, and read the clock that it is to correct its own by.
func TestGateInABrowser(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.FreeTickets(nil, 1)
	path, from := "/checkin/event/"+event+"/live", []string{"Origin", "https://gate.example"}
	preflight := s.Raw("OPTIONS", path, "", "", append(from, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization,last-event-id")...)
	require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), "Last-Event-ID")
	for _, path := range []string{"/checkin/event/" + event + "/manifest", "/events"} {
		r := s.Raw("GET", path, "", "", append(from, s.Bearer()...)...)
		require.Equal(t, 200, r.Status, r.Body)
		exposed := r.Header.Get("Access-Control-Expose-Headers")
		for _, name := range []string{"Date", "ETag", "Retry-After", "X-Request-Id"} {
			require.Contains(t, exposed, name, path)
		}
	}
}

// TestScannedAtInLowerCase: RFC 3339 takes t and z for T and Z (5.6).
func TestScannedAtInLowerCase(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(nil, 2)
	for i, at := range []string{strings.ToLower(nodetest.Stamp(0)), strings.Replace(nodetest.Stamp(0), "T", "t", 1)} {
		scan := queue(order.Str([]string{"tickets.0.code", "tickets.1.code"}[i]), "a", 0)
		scan["scannedAt"] = at
		require.Equal(t, "success", statuses(sendBatch(s, event, scan).Is(200, "")), at)
	}
}
