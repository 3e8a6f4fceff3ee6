package security

import (
	"fmt"
	"regexp"
	"time"

	"boxoffice/cmd/boxoffice/nodetest"
)

// customer is the key of somebody who has a ticket of a free type.
func (w *world) customer(s *nodetest.Shop, free string) (key string) {
	w.T.Helper()
	buyer := w.email()
	s.Call("POST", "/orders", nodetest.OrderBody(buyer, free, 1)).Is(201, "")
	path := "/organizer/customers?q=" + buyer + "&orgId=" + s.Org()
	s.Becomes("1", func() string { return fmt.Sprint(len(s.Own("GET", path, nil).Is(200, "").Data("items").([]any))) })
	return s.Own("GET", path, nil).Is(200, "").Str("items.0.key")
}

// noted is a note about a customer.
func (w *world) noted(s *nodetest.Shop, key string) string {
	w.T.Helper()
	return s.Own("POST", "/organizer/customers/"+key+"/notes", nodetest.Object{"body": "Prefers the aisle.", "orgId": s.Org()}).Is(201, "").Str("id")
}

// askedToFollow is a token of the mail that asks somebody who would follow the organization: the one of the
// page "follow", which begins it, or of "unsubscribe", which ends it.
func (w *world) askedToFollow(page string) string {
	w.T.Helper()
	to, began := w.email(), time.Now()
	w.Call("POST", "/community/orgs/"+w.orgID+"/follow", nodetest.Object{"email": to}).Is(200, "")
	return regexp.MustCompile(`/` + page + `#token=([0-9A-Za-z_-]+)`).FindStringSubmatch(w.Mail(w.T, to, "following", began).Text)[1]
}

// customerRequests are those of an organization about its customers.
func (w *world) customerRequests() map[string]func() request {
	about := func() request { return naming("key", w.customer(w.Shop, w.free)) }
	told := func(r request, body nodetest.Object) request {
		r.ids = map[string]string{"orgId": kindOrg}
		return r.with(nodetest.With(body, nodetest.Object{"orgId": w.orgID}))
	}
	shown := func(r request) request {
		r.query, r.ids = "orgId="+w.orgID, map[string]string{"?orgId": kindOrg}
		return r
	}
	tag := nodetest.Object{"tag": "vip"}
	tagged := func() request {
		ticket := w.Call("POST", "/orders", nodetest.OrderBody(w.email(), w.free, 1)).Is(201, "").Str("tickets.0.id")
		return told(request{}, nodetest.Object{"ticketIds": []string{ticket}, "tag": "vip"})
	}
	left := func() request { return naming("token", w.askedToFollow("unsubscribe")) }
	return map[string]func() request{
		"followOrganization": func() request {
			r := naming("orgId", w.orgID).with(nodetest.Object{"email": w.email(), "name": "Ada"})
			r.market = true
			return r
		},
		"confirmFollow":      func() request { return naming("token", w.askedToFollow("follow")) },
		"unsubscribe":        left,
		"unsubscribeByClick": left,
		"tagTickets":         tagged,
		"sendBroadcast": func() request {
			event, _ := w.OnSale(nodetest.TypeBody(0, 10))
			return naming("eventId", event).with(nodetest.Object{"subject": "Doors", "body": "They <b>open</b>.", "tagFilter": "vip"})
		},
		"listBroadcasts": func() request {
			w.Own("POST", "/organizer/growth/events/"+w.eventID+"/broadcast", nodetest.Object{"subject": "Doors", "body": "They open.", "tagFilter": "vip"})
			return naming("eventId", w.eventID)
		},
		"untagTickets": tagged,
		"listCustomers": func() request {
			w.customer(w.Shop, w.free)
			r := w.ours()
			r.query += "&eventId=" + w.eventID
			return r
		},
		"getCustomer": func() request {
			r := about()
			w.noted(w.Shop, r.params["key"])
			return shown(r)
		},
		"listNotes": func() request {
			r := about()
			w.noted(w.Shop, r.params["key"])
			return shown(r)
		},
		"addNote": func() request { return told(about(), nodetest.Object{"body": "Prefers the aisle."}) },
		"deleteNote": func() request {
			r := about()
			r.params["noteId"] = w.noted(w.Shop, r.params["key"])
			return told(r, nodetest.Object{})
		},
		"tagCustomer":   func() request { return told(about(), tag) },
		"untagCustomer": func() request { return told(about(), tag) },
		"contactCustomer": func() request {
			return told(about(), nodetest.Object{"subject": "Your seat", "body": "It is in front."})
		},
	}
}
