package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whom a line names gets a copy of those tickets, once, and of no others; a buyer who
// attends gets none.
func TestAttendeeCopies(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(nil, typeBody(0, 100), typeBody(0, 100), typeBody(0, 100))
	line := func(i int, email string) object {
		return object{"ticketTypeId": ids[i], "quantity": 1, "attendeeName": "Friend", "attendeeEmail": email}
	}
	o := s.call("POST", "/orders", object{"guestEmail": ada, "items": []object{
		line(0, "friend@example.org"), line(1, "other@example.org"), line(2, "ADA@example.org"),
	}}).is(201, "")
	s.mailed()
	s.mailed() // the letters that the first letter has put out
	require.Equal(t, map[string]int{"order_confirmation": 1}, s.kinds(ada))
	for i, email := range []string{"friend@example.org", "other@example.org"} {
		require.Equal(t, map[string]int{"attendee_tickets": 1}, s.kinds(email))
		list, err := s.mailbox.List(100)
		require.NoError(t, err)
		for _, entry := range list {
			if entry.To != email {
				continue
			}
			m, err := s.mailbox.Read(entry.Name)
			require.NoError(t, err)
			require.Len(t, m.Pictures, 1)
			for _, body := range []string{m.Text, m.HTML} {
				require.Contains(t, body, o.str([]string{"tickets.0.code", "tickets.1.code"}[i]))
				require.NotContains(t, body, o.str([]string{"tickets.1.shortCode", "tickets.0.shortCode"}[i]))
				require.NotContains(t, body, "token")
				require.NotContains(t, body, "/orders/")
			}
		}
	}
}
