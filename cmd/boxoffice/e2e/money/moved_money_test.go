package money

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestMoneyOfMovedEvent: whoever bought a ticket that can't be given back may ask its money back once
// the event has moved, and reads of it and until when; whoever buys after the move may not.
func TestMoneyOfMovedEvent(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(10, 100), nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"name": "Free"}))
	began := time.Now()
	buy := func(email string) (o nodetest.Answer, token string) {
		t.Helper()
		id, token := s.Place(email, ids[0], 1)
		s.Settle(s.Checkout(id, token), "success")
		s.Verify(id, token).Is(200, "")
		return s.Order(id, token), token
	}
	ask := func(by *nodetest.Shop, o nodetest.Answer) nodetest.Answer {
		return by.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": o.Str("tickets.0.id"), "reason": "I can't come on the other day."})
	}
	before, token := buy("ada@example.org")
	ada := s.Buyer("ada@example.org")
	ask(ada, before).Is(409, "REFUND_NOT_ELIGIBLE")
	id, freeToken := s.Place("cara@example.org", ids[1], 1)
	free := s.Order(id, freeToken)
	require.Equal(t, false, before.Data("tickets.0.refundEligible"))

	start := time.Now().Add(40 * 24 * time.Hour)
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"startDate": start.UTC().Format(time.RFC3339), "endDate": start.Add(3 * time.Hour).UTC().Format(time.RFC3339)}).Is(200, "")
	require.NoError(t, s.Settled(t.Context()))
	after, _ := buy("bob@example.org")
	ask(s.Buyer("bob@example.org"), after).Is(409, "REFUND_NOT_ELIGIBLE")

	moved := s.Order(before.Str("id"), token)
	require.Equal(t, true, moved.Data("tickets.0.refundEligible"))
	until, err := time.Parse(time.RFC3339, moved.Str("tickets.0.refundDeadline"))
	require.NoError(t, err)
	berlin, err := time.LoadLocation("Europe/Berlin") // the event's
	require.NoError(t, err)
	require.WithinRange(t, until, began.Add(14*24*time.Hour), time.Now().Add(14*24*time.Hour))
	ask(ada, before).Is(201, "")
	require.Equal(t, "0.00", ask(s.Buyer("cara@example.org"), free).Is(201, "").Str("amount"), "a place that cost nothing may be given back too")

	require.NoError(t, s.AwaitTold(t.Context()))
	_, err = s.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'mail_change'`) // ten minutes later
	require.NoError(t, err)
	text := s.Mail(t, "ada@example.org", "event_changed", began).Text
	require.Contains(t, text, "is for the new time only")
	require.Contains(t, text, "you may ask for your money back until "+until.In(berlin).Format("2 January 2006"))
}

// TestMoneyOfEventMovedAsDraft: an organizer who takes an event back to draft before moving it takes nothing
// from those who have bought.
func TestMoneyOfEventMovedAsDraft(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(10, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	s.Settle(s.Checkout(id, token), "success")
	s.Verify(id, token).Is(200, "")
	path := "/organizer/events/" + event
	s.Own("POST", path+"/unpublish", nil).Is(200, "")
	start := time.Now().Add(40 * 24 * time.Hour)
	s.Own("PUT", path, nodetest.Object{"startDate": start.UTC().Format(time.RFC3339), "endDate": start.Add(3 * time.Hour).UTC().Format(time.RFC3339)}).Is(200, "")
	s.Own("POST", path+"/publish", nil).Is(200, "")
	require.NoError(t, s.Settled(t.Context()))
	require.Equal(t, true, s.Order(id, token).Data("tickets.0.refundEligible"))
	ask := nodetest.Object{"ticketId": s.Order(id, token).Str("tickets.0.id"), "reason": "I can't come on the other day."}
	s.Buyer("ada@example.org").Own("POST", "/users/me/refunds", ask).Is(201, "")
}

// TestMoneyOfCancelledEvent: whoever asked before an event was cancelled gets no less than who asks after it.
func TestMoneyOfCancelledEvent(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(10, 100), nodetest.Object{"refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)}))
	buy := func(email string) nodetest.Answer {
		id, token := s.Place(email, ids[0], 1)
		s.Settle(s.Checkout(id, token), "success")
		s.Verify(id, token).Is(200, "")
		return s.Order(id, token)
	}
	early, late := buy("ada@example.org"), buy("bob@example.org")
	ask := func(email string, o nodetest.Answer) nodetest.Answer {
		return s.Buyer(email).Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": o.Str("tickets.0.id"), "reason": "I can't come that day."}).Is(201, "")
	}
	before := ask("ada@example.org", early)
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")
	require.NoError(t, s.Settled(t.Context()))
	for _, r := range []nodetest.Answer{ask("bob@example.org", late), before} {
		require.Equal(t, "10.50", s.Own("POST", "/organizer/refunds/"+r.Str("id")+"/approve", nodetest.Object{}).Is(200, "").Str("amount"))
	}
}
