package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// Whom a line names gets a copy of those tickets, once, and of no others; a buyer who
// attends gets none.
func TestAttendeeCopies(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 100), nodetest.TypeBody(0, 100), nodetest.TypeBody(0, 100))
	line := func(i int, email string) nodetest.Object {
		return nodetest.Object{"ticketTypeId": ids[i], "quantity": 1, "attendeeName": "Friend", "attendeeEmail": email}
	}
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": ada, "items": []nodetest.Object{
		line(0, "friend@example.org"), line(1, "other@example.org"), line(2, "ADA@example.org"),
	}}).Is(201, "")
	s.Mailed()
	s.Mailed() // the letters that the first letter has put out
	require.Equal(t, map[string]int{"order_confirmation": 1}, kinds(s, ada))
	for i, email := range []string{"friend@example.org", "other@example.org"} {
		require.Equal(t, map[string]int{"attendee_tickets": 1}, kinds(s, email))
		list, err := s.Mailbox().List(100)
		require.NoError(t, err)
		for _, entry := range list {
			if entry.To != email {
				continue
			}
			m, err := s.Mailbox().Read(entry.Name)
			require.NoError(t, err)
			require.Len(t, m.Pictures, 1)
			for _, body := range []string{m.Text, m.HTML} {
				require.Contains(t, body, o.Str([]string{"tickets.0.code", "tickets.1.code"}[i]))
				require.NotContains(t, body, o.Str([]string{"tickets.1.shortCode", "tickets.0.shortCode"}[i]))
				require.NotContains(t, body, "token")
				require.NotContains(t, body, "/orders/")
			}
		}
	}
}
