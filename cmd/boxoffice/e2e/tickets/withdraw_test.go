package tickets

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

// ebook is an event that delivers what a link leads to.
func ebook() nodetest.Object {
	return nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": "https://example.org/vault"}
}

func withdrawal(s *nodetest.Shop, o nodetest.Answer, body nodetest.Object) nodetest.Answer {
	s.T.Helper()
	id, err := engine.ParseID(o.Str("id"))
	require.NoError(s.T, err)
	return s.Call("POST", "/orders/"+o.Str("id")+"/withdraw", nodetest.With(nodetest.Object{"token": s.Secrets().OrderToken(id)}, body))
}

func refuses(s *nodetest.Shop, o nodetest.Answer, reason string) {
	s.T.Helper()
	withdrawal(s, o, nodetest.Object{"confirm": true}).Refused(409, "WITHDRAWAL_NOT_POSSIBLE", map[string]any{"reason": reason})
}

// TestWithdraw has buyers of digital products think better of it.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	began := time.Now()
	_, ids := s.Sell(ebook(), nodetest.TypeBody(10, 50), nodetest.TypeBody(0, 50))
	o := s.BuyPaid("ada@example.org", ids[0], 2)
	require.Nil(t, o.Data("withdrawalWaivedAt"))
	require.Contains(t, s.Mail(t, "ada@example.org", "order_confirmation", began).Text, "You may withdraw from this order")

	t.Log("only the buyer may")
	path := "/orders/" + o.Str("id") + "/withdraw"
	s.Call("POST", path, nodetest.Object{}).Is(401, "UNAUTHORIZED")
	s.Call("POST", path, nodetest.Object{"token": "x"}).Is(404, "ORDER_NOT_FOUND")
	s.Own("POST", path, nodetest.Object{"confirm": true}).Is(404, "ORDER_NOT_FOUND")
	s.As(s.Key(nil).Str("key")).Own("POST", path, nodetest.Object{}).Is(401, "UNAUTHORIZED")

	t.Log("without confirmation nothing happens")
	w := withdrawal(s, o, nil).Is(200, "")
	require.Equal(t, []any{false, "21.00", "USD", nil}, []any{w.Data("withdrawn"), w.Data("amount"), w.Data("currency"), w.Data("refund")})
	require.Equal(t, []any{o.Str("tickets.0.id"), o.Str("tickets.1.id")}, w.Data("ticketIds"))
	until, err := time.Parse(time.RFC3339, w.Str("until"))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(14*24*time.Hour), until, time.Hour)
	require.Equal(t, "issued", s.Own("GET", "/organizer/orders/"+o.Str("id"), nil).Is(200, "").Str("tickets.0.status"))

	t.Log("with it, all tickets end and all money goes back")
	w = s.Buyer("ada@example.org").Own("POST", path, nodetest.Object{"confirm": true}).Is(200, "")
	require.Equal(t, []any{true, "processing", "21.00"}, []any{w.Data("withdrawn"), w.Data("refund.status"), w.Data("refund.amount")})
	s.Becomes("processed", func() string {
		const due = `UPDATE refunds SET not_before = now() WHERE not_before > now()`
		_, err := s.Pool().Exec(t.Context(), due)
		require.NoError(t, err)
		return s.Own("GET", "/organizer/refunds/"+w.Str("refund.id"), nil).Is(200, "").Str("status")
	})
	whole := s.Own("GET", "/organizer/orders/"+o.Str("id"), nil).Is(200, "")
	require.Equal(t, "refunded refunded", whole.Str("status")+" "+whole.Str("tickets.1.status"))
	m := s.Mail(t, "ada@example.org", "order_withdrawn", began)
	require.Contains(t, m.Text, "$21.00")
	require.Contains(t, m.Text, "What:  2 x Floor\n")
	require.Contains(t, m.Text, "cannot be opened any more")
	withdrawal(s, o, nil).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "refunded"})

	t.Log("of what was free nobody has anything to send")
	free := s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[1], 1)).Is(201, "")
	w = withdrawal(s, free, nodetest.Object{"confirm": true}).Is(200, "")
	require.Equal(t, []any{"0.00", "processed"}, []any{w.Data("amount"), w.Data("refund.status")})
}

// TestWithdrawRefused has buyers withdraw who may not, or not any more.
func TestWithdrawRefused(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	began := time.Now()
	_, ids := s.Sell(ebook(), nodetest.TypeBody(0, 50), nodetest.TypeBody(10, 50))
	_, dated := s.OnSale(nodetest.TypeBody(0, 50))
	buy := func(email, ticketType string, more nodetest.Object) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(email, ticketType, 1), more)).Is(201, "")
	}
	refuses(s, buy("ada@example.org", dated[0], nodetest.Object{"waiveWithdrawal": true}), "not_digital")
	withdrawal(s, buy("ada@example.org", ids[1], nil), nil).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "order_unpaid"})

	t.Log("waived")
	o := buy("eve@example.org", ids[0], nodetest.Object{"waiveWithdrawal": true})
	require.NotNil(t, o.Data("withdrawalWaivedAt"))
	require.Equal(t, o.Data("withdrawalWaivedAt"), s.Own("GET", "/organizer/orders/"+o.Str("id"), nil).Is(200, "").Data("withdrawalWaivedAt"))
	require.Contains(t, s.Mail(t, "eve@example.org", "order_confirmation", began).Text, "waived the right to withdraw")
	refuses(s, o, "waived")

	t.Log("a download")
	ada := s.Buyer("ada@example.org")
	o = buy("ada@example.org", ids[0], nil)
	withdrawal(s, o, nil).Is(200, "")
	ada.Own("GET", "/users/me/tickets/"+o.Str("tickets.0.id")+"/download", nil).Is(200, "")
	refuses(s, o, "used")

	t.Log("passed on")
	o = buy("ada@example.org", ids[0], nil)
	ada.Own("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "joe@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("joe@example.org", began)+"/claim", nil).Is(200, "")
	refuses(s, o, "used")
}

// TestWithdrawFromCourse has a buyer withdraw before the first lesson, and try after it.
func TestWithdrawFromCourse(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	event := func() (number, ticketType string) {
		a := s.Own("POST", "/organizer/events", course(nil, lesson("one", nil))).Is(201, "")
		k := s.Own("POST", "/organizer/events/"+a.Str("id")+"/tickets", nodetest.TypeBody(0, 50)).Is(201, "")
		s.Own("POST", "/organizer/events/"+a.Str("id")+"/publish", nil).Is(200, "")
		return a.Str("numericId"), k.Str("id")
	}
	ada := s.Buyer("ada@example.org")
	_, first := event()
	withdrawal(s, s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", first, 1)).Is(201, ""), nodetest.Object{"confirm": true}).Is(200, "")

	for _, open := range []func(number string){
		func(number string) { ada.Own("POST", "/courses/"+number+"/lessons/0/complete", nil).Is(200, "") },
		func(number string) { ada.Own("GET", "/courses/"+number, nil).Is(200, "") },
	} {
		number, ticketType := event()
		o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1)).Is(201, "")
		s.Mailed()
		open(number)
		refuses(s, o, "used")
	}
}
