package security

import (
	"regexp"
	"time"

	"boxoffice/cmd/boxoffice/nodetest"
)

// claimLink is in the mails that offer a ticket.
var claimLink = regexp.MustCompile(`/tickets/claim#token=([\w-]+)`)

// holderRequests are those of who holds tickets.
func (w *world) holderRequests() map[string]func() request {
	ticket := func() request {
		buyer := w.email()
		order := w.Call("POST", "/orders", nodetest.OrderBody(buyer, w.free, 1)).Is(201, "")
		r := naming("id", order.Str("tickets.0.id"))
		r.token, r.person = order.Str("accessToken"), w.person(buyer).Str("accessToken")
		return r
	}
	offered := func(to string) request {
		r := ticket()
		w.Call("POST", "/tickets/"+r.params["id"]+"/transfer", nodetest.Object{"toEmail": to, "token": r.token}).Is(201, "")
		return r
	}
	return map[string]func() request{
		"transferTicket": func() request {
			return ticket().with(nodetest.Object{"toEmail": w.email(), "toName": "Bob"})
		},
		"revokeTransfer": func() request { return offered(w.email()) },
		"claimTransfer": func() request {
			to, began := w.email(), time.Now()
			offered(to)
			return naming("token", claimLink.FindStringSubmatch(w.Mail(w.T, to, "transfer_offered", began).Text)[1])
		},
	}
}
