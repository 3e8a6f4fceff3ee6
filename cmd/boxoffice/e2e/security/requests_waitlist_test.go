package security

import (
	"regexp"
	"time"

	"boxoffice/cmd/boxoffice/nodetest"
)

// waitlistLink is in the mails about a waitlist.
var waitlistLink = regexp.MustCompile(`/waitlist#token=([\w-]+)`)

// waitlistRequests are those of who waits for tickets, and of who offers them.
func (w *world) waitlistRequests() map[string]func() request {
	full := func() (event, typ string) {
		event, types := w.OnSale(nodetest.With(nodetest.TypeBody(0, 1), nodetest.Object{"waitlistEnabled": true}))
		w.Call("POST", "/orders", nodetest.OrderBody(w.email(), types[0], 1)).Is(201, "")
		return event, types[0]
	}
	join := func(event string) (token string) {
		who, began := w.email(), time.Now()
		w.Waits(event, nodetest.Object{"email": who, "name": "Wanda"})
		return waitlistLink.FindStringSubmatch(w.Mail(w.T, who, "waitlist_joined", began).Text)[1]
	}
	of := func(event string) request { return naming("eventId", event) }
	return map[string]func() request{
		"joinWaitlist": func() request {
			event, typ := full()
			r := of(event).with(nodetest.Object{"email": w.email(), "name": "Wanda", "ticketTypeId": typ, "quantity": 1})
			r.ids, r.market = map[string]string{"ticketTypeId": kindType}, true
			return r
		},
		"listWaitlist": func() request {
			event, _ := full()
			join(event)
			return of(event)
		},
		"offerWaitlist": func() request { return of(w.eventID).with(nodetest.Object{"count": 1}) },
		"setWaitlist": func() request {
			return naming("id", w.eventID).with(nodetest.Object{"auto": true, "offerMinutes": 60})
		},
		"confirmWaitlist": func() request {
			event, _ := full()
			return naming("token", w.AsksToWait(event, nodetest.Object{"email": w.email(), "name": "Wanda"}))
		},
		"claimOffer": func() request {
			event, typ := full()
			who, began := w.email(), time.Now()
			w.Waits(event, nodetest.Object{"email": who, "name": "Wanda"})
			w.Own("PUT", "/organizer/events/"+event+"/tickets/"+typ, nodetest.Object{"quantityTotal": 2}).Is(200, "")
			return naming("token", waitlistLink.FindStringSubmatch(w.Mail(w.T, who, "waitlist_offered", began).Text)[1])
		},
		"leaveWaitlist": func() request {
			event, _ := full()
			return naming("token", join(event))
		},
	}
}
