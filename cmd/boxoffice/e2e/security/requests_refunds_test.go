package security

import (
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

// buyTicket has somebody buy a ticket whose money they may have back. The modes are those
// of the payment at the simulator.
func (o *tenant) buyTicket(email, modes string) (order, token, ticket string) {
	o.T.Helper()
	order, token = o.Place(email, o.paid, 1)
	o.Settle(o.Checkout(order, token)+"?paysim="+modes, "success")
	return order, token, o.Verify(order, token).Is(200, "").Str("tickets.0.id")
}

// buyer signs in somebody who has bought a ticket.
func (w *world) buyer() (person *nodetest.Shop, ticket string) {
	email := w.email()
	_, _, ticket = w.buyTicket(email, "")
	return w.As(w.person(email).Str("accessToken")), ticket
}

const illness = "I am ill and can't come."

// failedRefund is one that the provider has refused, and which the sweep leaves alone.
func (w *world) failedRefund() (id string) {
	w.T.Helper()
	order, _, _ := w.buyTicket(w.email(), "refundrefused")
	id = w.Own("POST", "/organizer/orders/"+order+"/refund", nodetest.Object{"reason": "r"}).Is(200, "").Str("id")
	number, err := engine.ParseID(order)
	require.NoError(w.T, err)
	w.Becomes("UPDATE 1", func() string {
		const pause = `UPDATE refunds SET not_before = now() + interval '1 day' WHERE order_id = $1 AND failures > 0`
		done, err := w.Pool().Exec(w.T.Context(), pause, [16]byte(number))
		require.NoError(w.T, err)
		return done.String()
	})
	return id
}

// manualRefund is one that a person has to send, for the order was paid in coins.
func (w *world) manualRefund() (id string) {
	order, token := w.Place(w.email(), w.paid, 1)
	paying := w.Call("POST", "/orders/"+order+"/pay", nodetest.Object{"provider": "nowpayments", "payCurrency": "btc", "token": token}).Is(200, "")
	w.Settle(w.Sim().URL()+"/checkout/"+paying.Str("payAddress"), "success")
	w.Verify(order, token).Is(200, "")
	return w.Own("POST", "/organizer/orders/"+order+"/refund", nodetest.Object{"reason": "r"}).Is(200, "").Str("id")
}

// refundRequests are those about money that goes back.
func (w *world) refundRequests() map[string]func() request {
	asked := func() request {
		buyer, ticket := w.buyer()
		return naming("id", buyer.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness}).Is(201, "").Str("id"))
	}
	bought := func() request {
		order, _, _ := w.buyTicket(w.email(), "")
		return naming("id", order)
	}
	listed := func() request {
		r := w.ours()
		r.query += "&eventId=" + w.eventID
		r.ids["?eventId"] = kindEvent
		return r
	}
	return map[string]func() request{
		"withdrawOrder": func() request {
			_, ids := w.Sell(nodetest.Object{"category": "e-books", "endDate": nil}, nodetest.TypeBody(0, 10))
			buyer := w.email()
			o := w.Call("POST", "/orders", nodetest.OrderBody(buyer, ids[0], 1)).Is(201, "")
			r := naming("id", o.Str("id")).with(nodetest.Object{"confirm": true})
			r.token, r.person = o.Str("accessToken"), w.person(buyer).Str("accessToken")
			return r
		},
		"listOwnRefunds": func() request {
			buyer, ticket := w.buyer()
			buyer.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness}).Is(201, "")
			return request{mailbox: true}.by(buyer.Token)
		},
		"askRefund": func() request {
			buyer, ticket := w.buyer()
			return request{
				body: nodetest.Object{"ticketId": ticket, "reason": illness, "message": "m", "evidenceUrls": []string{"https://example.org/note"}},
			}.by(buyer.Token)
		},
		"cancelRefund": func() request {
			buyer, ticket := w.buyer()
			return naming("id", buyer.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness}).Is(201, "").Str("id")).by(buyer.Token)
		},
		"listRefunds": func() request {
			w.manualRefund()
			return listed()
		},
		"getRefund":     asked,
		"approveRefund": func() request { return asked().with(nodetest.Object{"amount": 1, "note": "n"}) },
		"denyRefund":    func() request { return asked().with(nodetest.Object{"reason": "no"}) },
		"retryRefund":   func() request { return naming("id", w.failedRefund()) },
		"completeRefund": func() request {
			return naming("id", w.manualRefund()).with(nodetest.Object{"providerRef": "p", "note": "n"})
		},
		"listOrders": func() request {
			email, r := w.email(), listed() // of an order whose ticket is alive, because a dead one shows no codes
			_, _, ticket := w.buyTicket(email, "")
			w.As(w.person(email).Str("accessToken")).Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness}).Is(201, "")
			require.NoError(w.T, w.Settled(w.T.Context()))
			r.query += "&status=completed&q=" + email + "&from=2020-01-01&to=2099-01-01"
			return r
		},
		"getOwnOrder": bought,
		"cancelOwnOrder": func() request {
			order, _ := w.Place(w.email(), w.paid, 1)
			return naming("id", order)
		},
		"refundOrder": func() request { return bought().with(nodetest.Object{"amount": 1, "reason": "r"}) },
	}
}
