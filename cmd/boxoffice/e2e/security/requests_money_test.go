package security

import (
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
	"boxoffice/persistence/disputes"
)

// moneyRequests are those about orders that an organization makes, and its wallet.
func (w *world) moneyRequests() map[string]func() request {
	given := func(body nodetest.Object) request {
		r := naming("eventId", w.eventID).with(body)
		r.ids = map[string]string{"ticketTypeId": kindType}
		return r
	}
	return map[string]func() request{
		"listPayouts": w.ours,
		"getPayout": func() request {
			r := w.ours()
			r.params, r.absent = map[string]string{"id": "1"}, "PAYOUT_NOT_FOUND"
			return r
		},
		"refundAll": func() request { return naming("id", w.Draft(nil)).with(nodetest.Object{"reason": "r"}) },
		"getRefundAll": func() request {
			event := w.Draft(nil)
			w.Own("POST", "/organizer/events/"+event+"/refund-all", nodetest.Object{"reason": "r"}).Is(200, "")
			return naming("id", event)
		},
		"resendOrder": func() request {
			order, _ := w.Place(w.email(), w.free, 1)
			return naming("id", order)
		},
		"markPaid": func() request {
			order, _ := w.transferring()
			return naming("id", order).with(nodetest.Object{"amount": 1, "reference": "r", "note": "n"})
		},
		"importStatement": func() request {
			_, reference := w.transferring()
			r := w.ours()
			r.raw = "Date,Amount,Currency,Payer Name,Payment Reference,TransferWise ID\n01-03-2027,1.00,USD,Ada," + reference + "," + w.name() + "\n"
			return r
		},
		"listReceipts": func() request { // another request may make one at any time, so there is always one
			order, _ := w.transferring()
			w.Own("POST", "/organizer/orders/"+order+"/paid", nodetest.Object{"amount": 1, "reference": w.name()}).Is(200, "")
			return w.ours()
		},
		"listDisputes": func() request {
			w.dispute()
			return w.ours()
		},
		"giveTickets": func() request {
			return given(nodetest.Object{"ticketTypeId": w.free, "recipients": []nodetest.Object{{"email": w.email(), "name": "Ada"}}, "note": "n"})
		},
		"importTickets": func() request {
			return given(nodetest.Object{"ticketTypeId": w.free, "csv": "name,email\nAda," + w.email() + "\n"})
		},
		"issueTickets": func() request {
			r := naming("eventId", w.eventID)
			return r.with(nodetest.Object{
				"items":     []nodetest.Object{{"ticketTypeId": w.free, "quantity": 1, "attendeeName": "Ada", "attendeeEmail": "ada@example.org"}},
				"buyer":     nodetest.Object{"email": w.email(), "name": "Ada"},
				"reference": "r", "sendEmail": true,
			})
		},
	}
}

// dispute has a payment of the organization disputed and lost, which its provider told.
func (w *world) dispute() {
	org, err := strconv.ParseInt(w.orgID, 10, 64)
	require.NoError(w.T, err)
	order, err := engine.ParseID(w.orderID)
	require.NoError(w.T, err)
	now := time.Now()
	require.NoError(w.T, disputes.New(w.Pool(), nil).Note(w.T.Context(), &disputes.Dispute{
		Provider: "stripe", ID: "du_" + w.name(), Org: org, Order: order, Attempt: "a", Amount: 500, Currency: "USD", Reason: "fraudulent", Status: "lost",
		OpenedAt: now, DueBy: now.Add(time.Hour), ClosedAt: now,
	}))
}

// transferring places an order that waits for a transfer, which needs a sale that goes on for days.
func (w *world) transferring() (order, reference string) {
	later := nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)}
	_, types := w.Sell(later, nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"saleEnd": nodetest.Stamp(5 * 24 * time.Hour)}))
	order, token := w.Place(w.email(), types[0], 1)
	told := w.Call("POST", "/orders/"+order+"/pay?token="+token, nodetest.Object{"provider": "transfer"}).Is(200, "")
	return order, told.Str("transfer.reference")
}
