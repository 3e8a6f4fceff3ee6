package money

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

const illness = "I am ill and can't come."

// refundable is a type whose tickets may be given back for an hour.
func refundable(price float64) nodetest.Object {
	return nodetest.With(nodetest.TypeBody(price, 2), nodetest.Object{"refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)})
}

// TestAskedRefund has a buyer ask for a ticket's money, and the organization decide.
func TestAskedRefund(t *testing.T) {
	t.Parallel()
	s, began := nodetest.Open(t), time.Now()
	event, ids := s.OnSale(refundable(25), nodetest.TypeBody(10, 10))
	o := s.BuyPaid("ada@example.org", ids[0], 2)
	ada := s.Buyer("ada@example.org")
	ask := func(who *nodetest.Shop, ticket string) nodetest.Answer {
		return who.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness, "evidenceUrls": []string{"https://example.org/note"}})
	}
	first, second := o.Str("tickets.0.id"), o.Str("tickets.1.id")

	t.Log("only the holder may ask, for what may be given back, once")
	eve := s.Buyer("eve@example.org")
	ask(eve, first).Is(404, "TICKET_NOT_FOUND")
	ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": first, "reason": "short"}).Invalid("reason", "min_length")
	plain := s.BuyPaid("ada@example.org", ids[1], 1)
	ask(ada, plain.Str("tickets.0.id")).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "not_refundable"})
	asked := ask(ada, first).Is(201, "")
	require.Equal(t, "requested 25.00 "+first+" "+o.Str("id"), asked.Str("status")+" "+asked.Str("amount")+" "+asked.Str("ticketId")+" "+asked.Str("orderId"))
	ask(ada, first).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "already_requested"})
	ada.Own("POST", "/tickets/"+first+"/transfer", nodetest.Object{"toEmail": "eve@example.org"}).Refused(409, "TICKET_NOT_TRANSFERABLE", map[string]any{"reason": "status"})
	require.Equal(t, asked.Str("id"), ada.Own("GET", "/users/me/refunds", nil).Is(200, "").Str("items.0.id"))

	t.Log("who asked may take it back until it is decided")
	s.Register("unproven@example.org").Own("GET", "/users/me/refunds", nil).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
	own := "/users/me/refunds/"
	eve.Own("DELETE", own+asked.Str("id"), nil).Is(404, "NOT_FOUND")
	ada.Own("DELETE", own+o.Str("id")+"-r9", nil).Is(404, "NOT_FOUND")
	require.Equal(t, "cancelled", ada.Own("DELETE", own+asked.Str("id"), nil).Is(200, "").Str("status"))
	ada.Own("DELETE", own+asked.Str("id"), nil).Is(409, "REFUND_NOT_PENDING")
	s.Own("POST", "/organizer/refunds/"+asked.Str("id")+"/approve", nodetest.Object{}).Is(409, "REFUND_NOT_PENDING")
	asked = ask(ada, first).Is(201, "")

	t.Log("a ticket whose money is wanted admits until it is decided")
	path := "/organizer/refunds/" + asked.Str("id")
	require.Equal(t, "requested", s.Own("GET", path, nil).Is(200, "").Str("status"))
	require.Equal(t, "denied", s.Own("POST", path+"/deny", nodetest.Object{"reason": "It takes place."}).Is(200, "").Str("status"))
	s.Own("POST", path+"/approve", nodetest.Object{}).Is(409, "REFUND_NOT_PENDING")
	require.Contains(t, s.Mail(t, "ada@example.org", "refund_requested", began).Text, "$25.00")
	require.Contains(t, s.Mail(t, "ada@example.org", "refund_denied", began).Text, "It takes place.")
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.0.shortCode"), "d1").Str("status"))
	ask(ada, first).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "checked_in"})

	t.Log("a granted refund ends the ticket, and its stock is for sale again")
	require.Equal(t, "0", s.Available(event, 0))
	path = "/organizer/refunds/" + ask(ada, second).Is(201, "").Str("id")
	granted := s.Own("POST", path+"/approve", nodetest.Object{"amount": 20, "note": "get well"}).Is(200, "")
	require.Equal(t, "approved 20.00 get well", granted.Str("status")+" "+granted.Str("amount")+" "+granted.Str("decisionNote"))
	s.Becomes("1", func() string { return s.Available(event, 0) })
	require.Equal(t, "denied_cancelled", s.Scan(event, o.Str("tickets.1.shortCode"), "d2").Str("status"))
	id, err := engine.ParseID(o.Str("id"))
	require.NoError(t, err)
	s.Becomes("processed", func() string {
		const due = `UPDATE refunds SET not_before = now() WHERE order_id = $1 AND position = 1 AND not_before > now()`
		_, err := s.Pool().Exec(t.Context(), due, [16]byte(id))
		require.NoError(t, err)
		return s.Own("GET", path, nil).Is(200, "").Str("status")
	})
	told := s.Mail(t, "ada@example.org", "refund_due", began).Text
	require.Contains(t, told, "granted")
	require.Contains(t, told, " writes:\n\n> get well\n")
	require.Contains(t, s.Mail(t, "ada@example.org", "refund_processed", began).Text, "$20.00")
	for _, kind := range []string{"refund_due", "refund_processed"} {
		require.Contains(t, s.Mail(t, "ada@example.org", kind, began).Text, "You had paid $26.25 for that. The fees of $1.25 do not go back: they are for the sale itself. Of the price, the organizer keeps $5.00.")
	}
	whole := s.Own("GET", "/organizer/orders/"+o.Str("id"), nil).Is(200, "")
	require.Equal(t, "partially_refunded checked_in refunded", whole.Str("status")+" "+whole.Str("tickets.0.status")+" "+whole.Str("tickets.1.status"))
	ask(ada, second).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "refunded"})
}

// TestRefundIsAskedTooOften has a holder ask for a ticket's money and take it back again and again. Each request stays
// in the order's record, so there is an end to it.
func TestRefundIsAskedTooOften(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(refundable(0))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	ada := s.Buyer("ada@example.org")
	ask := func(ticket string) nodetest.Answer {
		return ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": o.Str(ticket), "reason": illness})
	}
	for range 10 {
		asked := ask("tickets.0.id").Is(201, "")
		ada.Own("DELETE", "/users/me/refunds/"+asked.Str("id"), nil).Is(200, "")
	}
	ask("tickets.0.id").Refused(409, "REFUND_NOT_ELIGIBLE", nodetest.Object{"reason": "asked_too_often"})
	ask("tickets.1.id").Is(201, "")
	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "r", "ticketIds": []string{o.Str("tickets.0.id")}}).Is(200, "")
}

// TestRefundLeavesAnotherOrdersEntry gives one of two orders of an event back. All orders of an event have one
// entry in a calendar, so only the last one takes it out.
func TestRefundLeavesAnotherOrdersEntry(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 3))
	refund := func(o nodetest.Answer) string {
		began := time.Now()
		s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "r"}).Is(200, "")
		return s.Mail(t, "ada@example.org", "refund_due", began).Calendar
	}
	first, second := s.BuyPaid("ada@example.org", ids[0], 1), s.BuyPaid("ada@example.org", ids[0], 2)
	require.NoError(t, s.Settled(t.Context()))
	require.Empty(t, refund(first))
	require.Contains(t, refund(second), "METHOD:CANCEL")
}

// TestRefundedOrder has an organization give whole orders back.
func TestRefundedOrder(t *testing.T) {
	t.Parallel()
	s, began := nodetest.Open(t), time.Now()
	event, ids := s.OnSale(nodetest.TypeBody(25, 3), nodetest.TypeBody(0, 10))
	o := s.BuyPaid("ada@example.org", ids[0], 2)
	path := "/organizer/orders/" + o.Str("id")
	s.Own("POST", path+"/refund", nodetest.Object{"amount": 1000, "reason": "no"}).Invalid("amount", "maximum")
	ticket := o.Str("tickets.0.id")
	s.Own("POST", path+"/refund", nodetest.Object{"ticketIds": []string{ticket, ticket}, "reason": "no"}).Invalid("ticketIds[1]", "duplicate")

	t.Log("money alone ends no ticket")
	s.Own("POST", path+"/refund", nodetest.Object{"amount": 2.5, "reason": "the queue was long"}).Is(200, "")
	require.Equal(t, "1", s.Available(event, 0))
	t.Log("the rest goes back with all tickets")
	s.Mail(t, "ada@example.org", "refund_due", began) // of the money alone
	began = time.Now()
	s.Own("POST", path+"/refund", nodetest.Object{"reason": "the line-up has changed"}).Is(200, "")
	told := s.Mail(t, "ada@example.org", "refund_due", began)
	require.NotContains(t, told.Text, "You had paid", "some of it has gone back before")
	require.NotContains(t, told.Text, "granted", "nobody has asked for it")
	require.Contains(t, told.Calendar, "METHOD:CANCEL", "nothing is left to go to")
	s.Becomes("3", func() string { return s.Available(event, 0) })
	s.Own("POST", path+"/refund", nodetest.Object{"reason": "again"}).Refused(409, "REFUND_NOT_ELIGIBLE", map[string]any{"reason": "refunded"})

	t.Log("a free order's refund waits for a person")
	free := s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[1], 1)).Is(201, "")
	r := s.Own("POST", "/organizer/orders/"+free.Str("id")+"/refund", nodetest.Object{"reason": "r"}).Is(200, "")
	require.Equal(t, "processing true", r.Str("status")+" "+r.Str("manual"))
	r = s.Own("POST", "/organizer/refunds/"+r.Str("id")+"/complete", nodetest.Object{"providerRef": "cash", "note": "at the desk"}).Is(200, "")
	require.Equal(t, "processed cash at the desk", r.Str("status")+" "+r.Str("providerRef")+" "+r.Str("decisionNote"))
	s.Becomes("refunded", func() string { return s.Own("GET", "/organizer/orders/"+free.Str("id"), nil).Is(200, "").Str("status") })
	list := s.Own("GET", "/organizer/orders?status=refunded&q=bob", nil).Is(200, "")
	require.Equal(t, free.Str("id"), list.Str("items.0.id"))
}

// TestRefundOfPassedTicket has somebody who was passed a ticket ask for its money. The
// request is theirs: it stands in their list and their export, and in nobody else's.
func TestRefundOfPassedTicket(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(refundable(25))
	o := s.BuyPaid("ada@example.org", ids[0], 1)
	ada, bob, ticket := s.Buyer("ada@example.org"), s.Buyer("bob@example.org"), o.Str("tickets.0.id")
	began := time.Now()
	ada.Own("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": "bob@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")

	asked := bob.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness, "message": "from Bob"}).Is(201, "")
	requested := s.Mail(t, "bob@example.org", "refund_requested", began).Text
	require.Contains(t, requested, "You have asked that $25.00 goes back to the person who paid")
	require.Contains(t, requested, strings.TrimSuffix(s.URL, "/api/v1")+"/me")
	require.NotContains(t, requested, o.Str("orderNumber"), "the order is Ada's")
	require.Equal(t, asked.Str("id"), bob.Own("GET", "/users/me/refunds", nil).Is(200, "").Str("items.0.id"))
	require.Empty(t, ada.Own("GET", "/users/me/refunds", nil).Is(200, "").Data("items"))
	exported := func(who *nodetest.Shop) (ids []string) {
		var got struct {
			Data struct{ Refunds []struct{ ID string } }
		}
		require.NoError(t, s.AwaitLists(t.Context()))
		require.NoError(t, json.Unmarshal([]byte(who.Raw("GET", "/users/me/export", "", "", who.Bearer()...).Is(t, 200).Body), &got))
		for _, r := range got.Data.Refunds {
			ids = append(ids, r.ID)
		}
		return ids
	}
	require.Equal(t, []string{asked.Str("id")}, exported(bob))
	require.Empty(t, exported(ada))

	t.Log("it stays theirs when the ticket goes on")
	s.Own("POST", "/organizer/refunds/"+asked.Str("id")+"/deny", nodetest.Object{"reason": "It takes place."}).Is(200, "")
	began = time.Now()
	bob.Own("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": "eve@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("eve@example.org", began)+"/claim", nil).Is(200, "")
	eve := s.Buyer("eve@example.org")
	require.Equal(t, "denied", bob.Own("GET", "/users/me/refunds", nil).Is(200, "").Str("items.0.status"))
	require.Empty(t, eve.Own("GET", "/users/me/refunds", nil).Is(200, "").Data("items"))

	t.Log("who asked is told that it was granted, and who bought the ticket that the money is back")
	again := eve.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness}).Is(201, "")
	began = time.Now()
	s.Own("POST", "/organizer/refunds/"+again.Str("id")+"/approve", nodetest.Object{"amount": 20}).Is(200, "")
	require.Contains(t, s.Mail(t, "eve@example.org", "refund_due", began).Text, "$20.00 goes back to the person who paid for it")
	s.Mail(t, "ada@example.org", "refund_processed", began)

	t.Log("what the organization gives back stands in the buyer's list")
	given := s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"amount": 1, "reason": "the queue was long"}).Is(200, "")
	require.Equal(t, given.Str("id"), ada.Own("GET", "/users/me/refunds", nil).Is(200, "").Str("items.0.id"))
}
