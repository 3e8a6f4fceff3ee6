package outward

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"
	"rsc.io/qr"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/mail"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// holds compares a confirmation with the order.
func holds(s *nodetest.Shop, m *mail.Captured, event string, order nodetest.Answer) {
	s.T.Helper()
	tickets := order.Data("tickets").([]any)
	require.Len(s.T, m.Pictures, len(tickets))
	id, err := engine.ParseID(order.Str("id"))
	require.NoError(s.T, err)
	codes := s.Secrets().Event(id.Event())
	for i := range tickets {
		code := order.Str(fmt.Sprintf("tickets.%d.shortCode", i))
		serial, _, ok := codes.FromShort(code)
		require.True(s.T, ok)
		picture, err := qr.Encode(codes.Printed(serial, secrets.Version), qr.M)
		require.NoError(s.T, err)
		require.Equal(s.T, picture.PNG(), m.Pictures[fmt.Sprintf("ticket-%d@boxoffice", i+1)])
		for _, body := range []string{m.Text, m.HTML} {
			require.NotContains(s.T, body, code, "a mail may be passed on, and the door code goes with whoever holds the ticket")
			require.Contains(s.T, body, order.Str(fmt.Sprintf("tickets.%d.code", i)))
		}
		require.Equal(s.T, "success", s.Scan(event, code, "gate").Str("status"), "as the picture is read")
	}
	link := nodetest.OrderLink.FindStringSubmatch(m.Text)
	require.Len(s.T, link, 2)
	require.Equal(s.T, order.Str("id"), s.Call("GET", link[1], nil).Is(200, "").Str("id"))

	cal, err := ics.ParseCalendar(strings.NewReader(m.Calendar))
	require.NoError(s.T, err)
	require.Len(s.T, cal.Events(), 1)
	require.Equal(s.T, event, cal.Events()[0].Id())
	require.Equal(s.T, []string{"Europe/Berlin"}, cal.Events()[0].GetProperty(ics.ComponentPropertyDtStart).ICalParameters["TZID"])
	starts, err := cal.Events()[0].GetStartAt()
	require.NoError(s.T, err)
	want, err := time.Parse(time.RFC3339, s.Own("GET", "/organizer/events", nil).Is(200, "").Str("items.0.startDate"))
	require.NoError(s.T, err)
	require.True(s.T, want.Equal(starts), "%v, not %v", starts, want)
}

// TestConfirmations: a free order and a paid one are each confirmed once, however
// often their requests are repeated and the node is started again.
func TestConfirmations(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(25, 100), nodetest.TypeBody(0, 100))
	body := nodetest.With(nodetest.OrderBody("ada@example.org", ids[1], 3), nodetest.Object{"guestName": "Ada"})
	var free nodetest.Answer
	for range 3 {
		free = s.Call("POST", "/orders", body, "Idempotency-Key", nodetest.KeyOne).Is(201, "")
	}
	id, token := s.Place("bob@example.org", ids[0], 2)
	require.Empty(t, s.MailCounts("bob@example.org"), "a pending order is not confirmed")
	s.Settle(s.Checkout(id, token), "success")
	for range 3 {
		s.Verify(id, token).Is(200, "")
	}
	paid := s.Order(id, token)
	for range 2 {
		require.Equal(t, map[string]int{"order_confirmation": 1}, s.MailCounts("ada@example.org"))
		require.Equal(t, map[string]int{"order_confirmation": 1}, s.MailCounts("bob@example.org"))
		s.Restart()
		s.Call("POST", "/orders", body, "Idempotency-Key", nodetest.KeyOne).Is(201, "")
		s.Verify(id, token).Is(200, "")
	}
	m := s.Confirmation(free)
	require.Contains(t, m.Text, "Hello Ada,")
	holds(s, m, event, free)
	m = s.Confirmation(paid)
	require.Contains(t, m.Text, "Total: $52.50")
	holds(s, m, event, paid)
}

// TestConfirmedSeats: the seats are on the tickets.
func TestConfirmedSeats(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	o := h.Buy("", h.Stalls, "stalls-B-3", "stalls-B-4").Is(201, "")
	id, token := o.Str("id"), o.Str("accessToken")
	h.Settle(h.Checkout(id, token), "success")
	h.Verify(id, token).Is(200, "")
	m := h.Confirmation(h.Order(id, token))
	holds(h.Shop, m, h.Event, h.Order(id, token))
	require.Contains(t, m.Text, "Stalls, row B, seat 3")
	require.Contains(t, m.HTML, "Stalls, row B, seat 4")

	t.Log("and in the mails about an order that was never paid")
	began := time.Now()
	o = h.Buy("", h.Stalls, "stalls-B-5", "stalls-B-6").Is(201, "")
	h.Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
	m = h.Mail(t, "ada@example.org", "order_cancelled", began)
	require.Contains(t, m.Text, "row B, seat 5; ")
	require.Contains(t, m.Text, "row B, seat 6\n")
}

// TestSentAgain: a confirmation that is sent again names the tickets that its buyer still has, and no others.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(0, 100))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	require.Contains(t, s.Confirmation(o).Text, "ticket 2 of 2")
	began := time.Now()
	s.Call("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "token": o.Str("accessToken")}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	began = time.Now()
	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/resend", nil).Is(200, "")
	m := s.Mail(t, "ada@example.org", "order_confirmation", began)
	require.Contains(t, m.Subject, "Your ticket for")
	require.NotContains(t, m.Text, "of 2")
	require.NotContains(t, m.Text, "the first of your")
}

// TestConfirmedProducts: what has no door is delivered by its link.
func TestConfirmedProducts(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.OwnFiles(7)
	buy := func(changes nodetest.Object, types nodetest.Object) *mail.Captured {
		t.Helper()
		_, ids := s.Sell(changes, nodetest.With(nodetest.TypeBody(0, 100), types))
		return s.Confirmation(s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, ""))
	}
	book := nodetest.Object{"category": "e-books", "venueType": "online", "onlineLink": "https://example.org/book", "onlineLinkNote": "PIN 7"}
	root := strings.TrimSuffix(s.URL, "/api/v1")
	for _, c := range []struct {
		event, tier  nodetest.Object
		says, hushes []string
	}{
		{book, nodetest.Object{"accessUrl": "https://example.org/gold", "accessNote": "Gold"}, []string{"https://example.org/gold", "Gold"}, []string{"https://example.org/book", "PIN 7"}},
		{book, nil, []string{"https://example.org/book", "PIN 7"}, nil},
		{book, nodetest.Object{"accessUrl": root + "/media/7", "accessNote": "PIN 8"}, nil, []string{"/media/", "PIN 8", "https://example.org/book", "PIN 7"}},
		{nodetest.With(book, nodetest.Object{"onlineLink": root + "/media/7"}), nil, nil, []string{"/media/", "PIN 7"}},
	} {
		m := buy(c.event, c.tier)
		for _, body := range []string{m.Text, m.HTML} {
			for _, part := range c.says {
				require.Contains(t, body, part)
			}
			for _, part := range c.hushes {
				require.NotContains(t, body, part)
			}
		}
		require.Contains(t, m.Text, "Your order")
		require.Regexp(t, nodetest.OrderLink, m.Text)
		require.Empty(t, m.Pictures)
		require.Empty(t, m.Calendar)
	}

	m := buy(nodetest.Object{"venueType": "online", "onlineLink": "https://example.org/live"}, nil)
	require.Contains(t, m.Text, "Where: Online\nJoin:  https://example.org/live")
	require.Empty(t, m.Pictures)
	require.NotEmpty(t, m.Calendar)

	m = buy(nodetest.Object{"venueType": "online", "onlineLink": "/media/7"}, nil)
	for _, body := range []string{m.Text, m.HTML} {
		require.Contains(t, body, root+"/media/7", "a file of ours is where the event takes place")
	}

	m = buy(nodetest.Object{"venueName": "Arena", "venueCity": "Berlin", "onlineLink": "https://example.org/hidden"}, nil)
	require.Contains(t, m.Text, "Where: Arena, Berlin\n")
	require.NotContains(t, m.Text, "hidden")
	require.Len(t, m.Pictures, 1)
}

// TestManyTickets: an order of more tickets than a mail shows says where the rest
// is.
func TestManyTickets(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 1000), nodetest.Object{"maxPerOrder": 100, "maxPerCustomer": 100}))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 100)).Is(201, "")
	m := s.Confirmation(o)
	require.Len(t, m.Pictures, mail.MaxTickets)
	require.Contains(t, m.Text, "the first of your 100 tickets")
}

// TestOrderNews: orders and events that end otherwise, and money that goes back.
func TestOrderNews(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nodetest.Object{"title": "Friday Night"}, nodetest.TypeBody(25, 2), nodetest.TypeBody(0, 100))
	began := time.Now()
	id, token := s.Place("eve@example.org", ids[0], 1)
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	require.Contains(t, s.Mail(t, "eve@example.org", "order_cancelled", began).Text, "is cancelled")

	t.Log("money that comes late")
	s.Window(event, 3*time.Second)
	id, token = s.Place("late@example.org", ids[0], 2)
	url := s.ShortCheckout(id, token)
	reference := s.Order(id, token).Str("payments.0.reference")
	s.Becomes("expired", s.Status(id, token))
	s.Window(event, time.Hour)
	s.Becomes("2", func() string { return s.Available(event, 0) })
	s.Place("bob@example.org", ids[0], 2)
	s.Settle(url, "success")
	s.Verify(id, token).Is(200, "")
	m := s.Mail(t, "late@example.org", "refund_due", began)
	require.Contains(t, m.Subject, "$52.50")
	require.Contains(t, m.Text, "came when the order had ended")
	s.Refunded(nodetest.Refund{ID: id, Token: token, Reference: reference, Amount: 5250, Status: "refunded"})
	s.Mail(t, "late@example.org", "refund_processed", began)
	require.Equal(t, map[string]int{"refund_due": 1, "refund_processed": 1}, s.MailCounts("late@example.org"))

	t.Log("the event")
	order := nodetest.OrderBody("ada@example.org", ids[1], 1)
	order["items"].([]nodetest.Object)[0]["attendeeEmail"] = "friend@example.org"
	s.Call("POST", "/orders", order).Is(201, "")
	gone := s.Call("POST", "/orders", nodetest.OrderBody("gone@example.org", ids[1], 1)).Is(201, "")
	s.Own("POST", "/organizer/orders/"+gone.Str("id")+"/refund", nodetest.Object{"reason": "A gift of the house."}).Is(200, "")
	s.Mailed()
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"title": "Saturday Night", "venueName": "Arena"}).Is(200, "")
	require.NoError(t, s.AwaitTold(t.Context()))
	s.Call("POST", "/orders", nodetest.OrderBody("new@example.org", ids[1], 1)).Is(201, "")
	_, err := s.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'mail_change'`) // ten minutes later
	require.NoError(t, err)
	for _, to := range []string{"ada@example.org", "friend@example.org"} {
		m := s.Mail(t, to, "event_changed", began)
		require.Contains(t, m.Text, "Friday Night, for which you have a ticket, has changed")
		require.Contains(t, m.Text, "now called Saturday Night")
		require.Contains(t, m.Text, "Where: Arena")
		require.NotContains(t, m.Text, "When:")
		require.Contains(t, m.Calendar, "SUMMARY:Saturday Night")
	}
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "The artist is ill.\nSee evil.example"}).Is(200, "")
	for _, to := range []string{"ada@example.org", "friend@example.org", "new@example.org"} {
		m := s.Mail(t, to, "event_cancelled", began)
		require.Contains(t, m.Calendar, "STATUS:CANCELLED")
		require.Contains(t, m.Calendar, "METHOD:CANCEL")
		require.Contains(t, m.Text, "> The artist is ill.\n> See evil. example\n")
	}
	require.Equal(t, 0, s.MailCounts("new@example.org")["event_changed"])
	require.Equal(t, 0, s.MailCounts("gone@example.org")["event_changed"], "nothing of it is theirs any more")
	require.Equal(t, map[string]int{"attendee_tickets": 1, "event_changed": 1, "event_cancelled": 1}, s.MailCounts("friend@example.org"))
}
