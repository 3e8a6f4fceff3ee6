package security

import (
	"fmt"
	"strings"
	"time"

	"boxoffice/cmd/boxoffice/nodetest"
)

// buyerRequests are those of buyers about what they have.
func (w *world) buyerRequests() map[string]func() request {
	attendee := func() request {
		a := w.Call("POST", "/orders", nodetest.OrderBody(w.email(), w.free, 1)).Is(201, "")
		r := naming("id", w.eventID, "ticketId", a.Str("tickets.0.id"))
		w.Becomes("200", func() string {
			return fmt.Sprint(w.Own("GET", "/organizer/events/"+w.eventID+"/attendees/"+r.params["ticketId"], nil).Status)
		})
		return r
	}
	bought := func() request {
		buyer := w.email()
		o := w.Call("POST", "/orders", nodetest.OrderBody(buyer, w.free, 1)).Is(201, "")
		r := naming("id", o.Str("id"))
		r.token, r.person = o.Str("accessToken"), w.person(buyer).Str("accessToken")
		return r
	}
	list := func() request {
		attendee()
		r := naming("id", w.eventID)
		r.query, r.ids = "q=e&status=issued&checkedIn=false&updatedSince=2020-01-01T00:00:00Z&limit=1&ticketTypeId="+w.free, map[string]string{"?ticketTypeId": kindType}
		return r
	}
	return map[string]func() request{
		"listAttendees": list,
		"printTickets": func() request {
			r := bought()
			r.query = "from=0"
			return r
		},
		"getCalendar": bought,
		"exportAttendees": func() request {
			r := list()
			r.query = strings.Replace(r.query, "limit=1&", "", 1)
			return r
		},
		"getAttendee": attendee,
		"updateAttendee": func() request {
			return attendee().with(nodetest.Object{"name": "Ada Obi", "email": "ada@example.org"})
		},
		"exportMe": func() request {
			r := request{}.by(w.person(w.email()).Str("accessToken"))
			r.mailbox = true
			return r
		},
		"eraseMe": func() request {
			r := request{}.by(w.person(w.email()).Str("accessToken"))
			r.mailbox = true
			return r
		},
		"downloadTicket": func() request {
			buyer, free := w.email(), nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"accessUrl": "https://example.org/" + w.name()})
			_, ids := w.Sell(nodetest.Object{"category": "e-books", "endDate": nil}, free)
			o := w.Call("POST", "/orders", nodetest.OrderBody(buyer, ids[0], 1)).Is(201, "")
			return naming("ticketId", o.Str("tickets.0.id")).by(w.person(buyer).Str("accessToken"))
		},
		"rescheduleTicket": func() request {
			buyer, day := w.email(), func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
			_, ids := w.Sell(
				nodetest.Object{"category": "reservations", "endDate": nodetest.Absent, "timezone": "UTC"},
				nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"refundable": true, "refundWindowHours": 0}),
			)
			o := w.Call("POST", "/orders", nodetest.Object{
				"guestEmail": buyer, "items": []any{nodetest.Object{"ticketTypeId": ids[0], "quantity": 1, "reservationDate": day(5)}},
			}).Is(201, "")
			return naming("ticketId", o.Str("tickets.0.id")).by(w.person(buyer).Str("accessToken")).with(nodetest.Object{"date": day(6)})
		},
		"listMyTickets": func() request {
			buyer := w.email()
			w.Call("POST", "/orders", nodetest.OrderBody(buyer, w.free, 1)).Is(201, "")
			p := *w.Shop
			p.Token = w.person(buyer).Str("accessToken")
			w.Becomes("true", func() string {
				return fmt.Sprint(len(p.Own("GET", "/users/me/tickets", nil).Is(200, "").Data("items").([]any)) == 1)
			})
			r := request{}.by(p.Token)
			r.query, r.mailbox = "limit=1", true
			return r
		},
	}
}
