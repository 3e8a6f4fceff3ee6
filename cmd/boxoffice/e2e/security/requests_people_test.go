package security

import "boxoffice/cmd/boxoffice/nodetest"

// visit is what somebody says who was let in to an event with a ticket of a free type.
func (w *world) visit(s *nodetest.Shop, event, free string) nodetest.Object {
	w.T.Helper()
	buyer := w.email()
	order := s.Call("POST", "/orders", nodetest.OrderBody(buyer, free, 1)).Is(201, "")
	s.Scan(event, order.Str("tickets.0.qr"), "gate")
	return nodetest.Object{"ticketCode": order.Str("tickets.0.code"), "email": buyer, "rating": 5, "body": "A splendid evening.", "authorName": "Ada"}
}

// reviewed is a review of an event.
func (w *world) reviewed(s *nodetest.Shop, event, free string) string {
	w.T.Helper()
	return s.Call("POST", "/community/reviews", w.visit(s, event, free)).Is(201, "").Str("id")
}

// reported is a report about an event.
func (w *world) reported(event, category string) string {
	w.T.Helper()
	s := w.As(w.person(w.email()).Str("accessToken"))
	return s.Own("POST", "/users/me/reports", reportBody(event, category)).Is(201, "").Str("id")
}

func reportBody(event, category string) nodetest.Object {
	return nodetest.Object{"category": category, "description": "The door stayed shut all evening.", "eventId": event, "evidenceUrls": []string{"https://example.org/a.png"}}
}

// asked is somebody's ticket, and the thread of what they have asked about it.
func (w *world) asked(s *nodetest.Shop, free string) (person, ticket, thread string) {
	w.T.Helper()
	buyer := w.email()
	ticket = s.Call("POST", "/orders", nodetest.OrderBody(buyer, free, 1)).Is(201, "").Str("tickets.0.id")
	person = w.person(buyer).Str("accessToken")
	return person, ticket, w.As(person).Own("POST", "/users/me/tickets/"+ticket+"/message", nodetest.Object{"body": "Where?"}).Is(201, "").Str("threadId")
}

// peopleRequests are those of guests about what they have been to.
func (w *world) peopleRequests() map[string]func() request {
	review := func() request { return naming("id", w.reviewed(w.Shop, w.eventID, w.free)) }
	message := nodetest.Object{"body": "Where is the door?", "attachmentUrls": []string{"https://example.org/a.png"}}
	return map[string]func() request{
		"listOwnThreads": func() request {
			person, _, _ := w.asked(w.Shop, w.free)
			return request{mailbox: true}.by(person)
		},
		"writeMessage": func() request {
			person, ticket, _ := w.asked(w.Shop, w.free)
			return naming("ticketId", ticket).with(message).by(person)
		},
		"listThreads": func() request {
			w.asked(w.Shop, w.free)
			r := w.ours()
			r.query += "&eventId=" + w.eventID
			return r
		},
		"replyToThread": func() request {
			_, _, thread := w.asked(w.Shop, w.free)
			return naming("threadId", thread).with(message)
		},
		"createReport": func() request {
			r := request{}.with(reportBody(w.eventID, "other")).by(w.person(w.email()).Str("accessToken"))
			r.ids, r.market = map[string]string{"eventId": kindEvent}, true
			return r
		},
		"listReports": func() request {
			w.reported(w.eventID, "other")
			return w.ours()
		},
		"resolveReport": func() request {
			return naming("id", w.reported(w.eventID, "other")).with(nodetest.Object{"resolution": "Tickets were paid back.", "note": "n"})
		},
		"escalateReport": func() request { return naming("id", w.reported(w.eventID, "other")) },
		"listPlatformReports": func() request {
			w.reported(w.eventID, "fraud")
			return request{}
		},
		"resolvePlatformReport": func() request {
			return naming("id", w.reported(w.eventID, "fraud")).with(nodetest.Object{"resolution": "dismissed", "note": "n"})
		},
		"createReview":   func() request { return request{}.with(w.visit(w.Shop, w.eventID, w.free)) },
		"replyToReview":  func() request { return review().with(nodetest.Object{"body": "Thank you!"}) },
		"moderateReview": func() request { return review().with(nodetest.Object{"hidden": false}) },
		"listReviews": func() request {
			event, ids := w.OnSale(nodetest.TypeBody(0, 10)) // nobody else reviews it meanwhile
			w.reviewed(w.Shop, event, ids[0])
			r := naming("eventId", event)
			r.open = true
			return r
		},
	}
}
