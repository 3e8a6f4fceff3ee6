package outward

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestResend mails an order's tickets again, once for each request.
func TestResend(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.TypeBody(0, 5), nodetest.With(nodetest.TypeBody(9, 5), nodetest.Object{"name": "Paid"}))
	order := s.Own("POST", "/events/"+event+"/issue", nodetest.With(nodetest.IssueBody(types[0], 1), nodetest.Object{
		"buyer": nodetest.Object{"email": "quiet@example.org"}, "sendEmail": false,
	})).Is(201, "").Str("order.id")
	path, retry := "/organizer/orders/"+order+"/resend", append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	a := s.Call("POST", path, nil, retry...).Is(200, "")
	require.Equal(t, order+" quiet@example.org", a.Str("orderId")+" "+a.Str("email"))
	s.Call("POST", path, nil, retry...).Is(200, "")
	s.Mail(t, "quiet@example.org", "order_confirmation", time.Time{})
	require.Equal(t, map[string]int{"order_confirmation": 1}, s.MailCounts("quiet@example.org"))

	unpaid, _ := s.Place("ann@example.org", types[1], 1)
	s.Own("POST", "/organizer/orders/"+unpaid+"/resend", nil).Refused(409, "CONFLICT", nodetest.Object{"status": "pending", "reason": "the order has no tickets to send"})
	nobody := s.Own("POST", "/events/"+event+"/issue", nodetest.IssueBody(types[0], 1)).Is(201, "").Str("order.id")
	s.Own("POST", "/organizer/orders/"+nobody+"/resend", nil).Refused(409, "CONFLICT", nodetest.Object{"status": "completed", "reason": "the order was made without an e-mail"})
	s.Own("POST", "/organizer/orders/"+uuid.NewString()+"/resend", nil).Is(404, "ORDER_NOT_FOUND")
	s.Register("eve@example.org").Own("POST", path, nil).Is(404, "ORDER_NOT_FOUND")
	s.Call("POST", path, nil).Is(401, "UNAUTHORIZED")
}

// TestResendOfWhatIsLeft mails the tickets of an order that was refunded in part, to its buyer and to whom a line
// names. Once all of its tickets are given back, it has none to send.
func TestResendOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.TypeBody(0, 10))
	body := nodetest.IssueBody(types[0], 2, 1)
	body["items"].([]nodetest.Object)[1]["attendeeEmail"] = "bob@example.org"
	o := s.Own("POST", "/events/"+event+"/issue", nodetest.With(body, nodetest.Object{
		"buyer": nodetest.Object{"email": "ada@example.org"}, "sendEmail": false,
	})).Is(201, "")
	at := "/organizer/orders/" + o.Str("order.id")
	refund := func(status string, tickets ...string) {
		t.Helper()
		asked := s.Own("POST", at+"/refund", nodetest.Object{"reason": "ill", "ticketIds": tickets}).Is(200, "")
		s.Own("POST", "/organizer/refunds/"+asked.Str("id")+"/complete", nodetest.Object{"providerRef": "cash"}).Is(200, "")
		require.Equal(t, status, s.Own("GET", at, nil).Str("status"))
	}
	refund("partially_refunded", o.Str("order.tickets.0.id"))
	began := time.Now()
	s.Own("POST", at+"/resend", nil).Is(200, "")
	require.Contains(t, s.Mail(t, "ada@example.org", "order_confirmation", began).Text, "ticket 2 of 2", "of three")
	s.Mail(t, "bob@example.org", "attendee_tickets", began)

	refund("refunded", o.Str("order.tickets.1.id"), o.Str("order.tickets.2.id"))
	s.Own("POST", at+"/resend", nil).Refused(409, "CONFLICT", nodetest.Object{"status": "refunded", "reason": "the order has no tickets to send"})
}
