package security

import "boxoffice/cmd/boxoffice/nodetest"

// moneyRequests are those about orders that an organization makes, and its wallet.
func (w *world) moneyRequests() map[string]func() request {
	given := func(body nodetest.Object) request {
		r := naming("eventId", w.eventID).with(body)
		r.ids = map[string]string{"ticketTypeId": kindType}
		return r
	}
	return map[string]func() request{
		"listPayouts": w.ours,
		"refundAll":   func() request { return naming("id", w.Draft(nil)).with(nodetest.Object{"reason": "r"}) },
		"getRefundAll": func() request {
			event := w.Draft(nil)
			w.Own("POST", "/organizer/events/"+event+"/refund-all", nodetest.Object{"reason": "r"}).Is(200, "")
			return naming("id", event)
		},
		"resendOrder": func() request {
			order, _ := w.Place(w.email(), w.free, 1)
			return naming("id", order)
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
