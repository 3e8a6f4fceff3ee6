package tickets

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

const ada = "ada@example.org"

// TestTicketsExpire completes an event: its tickets that were not used are expired, for
// their holder as for the organization, and those that were used stay so.
func TestTicketsExpire(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(0, 10))
	o := s.Call("POST", "/orders", nodetest.OrderBody(ada, ids[0], 2)).Is(201, "")
	path := "/orders/" + o.Str("id") + "?token=" + o.Str("accessToken")
	statuses := func() string {
		a := s.Call("GET", path, nil).Is(200, "")
		return a.Str("tickets.0.status") + " " + a.Str("tickets.1.status")
	}
	scan := nodetest.Object{"qrData": o.Str("tickets.0.qr"), "eventId": event}
	require.Equal(t, "success", s.Own("POST", "/checkin/scan", scan).Is(200, "").Str("status"))
	s.Becomes("checked_in issued", statuses)
	listed := func(status string) int {
		list, _ := s.Own("GET", "/organizer/events/"+event+"/attendees?status="+status, nil).Is(200, "").Data("items").([]any)
		return len(list)
	}
	for _, status := range []string{"in_progress", "completed"} {
		s.Own("PUT", "/organizer/events/"+event+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	s.Becomes("checked_in expired", statuses)
	s.Becomes("0 1 1", func() string { // the list is behind the sale
		return fmt.Sprint(listed("issued"), listed("expired"), listed("checked_in"))
	})
	one := s.Own("GET", "/organizer/events/"+event+"/attendees/"+o.Str("tickets.1.id"), nil).Is(200, "")
	require.Equal(t, "expired", one.Str("status"))
}
