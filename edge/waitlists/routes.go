package waitlists

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows: the rows for people who wait, which need no account, and the rows for the
// organization that sees and serves the list.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/community",
			Tag:    "Waitlist",
			Auth:   route.Public,
			Tier:   route.TierStrict,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/events/{eventId}/waitlist",
					ID:          "joinWaitlist",
					Summary:     "Wait for sold-out tickets",
					Description: "A buyer gives an address to wait for tickets that are sold out. The address is mailed a link and waits from its use on, at the end of the line; whoever is signed in and has proven the address waits at once, or is answered with the entry that waits already. What comes free is offered to the oldest entry whose quantity it fits, and sold to nobody else while somebody waits. A network of clients has at most five entries of an event.",
					Status:      201,
					Errors:      codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.WaitlistClosed, engine.VelocityLimited, engine.Conflict},
					Handler:     route.Handle(h.joinWaitlist),
				},
				{
					Method:      "GET",
					Path:        "/events/{eventId}/waitlist",
					ID:          "listWaitlist",
					Summary:     "List those who wait for an event's tickets",
					Description: "The organization reads who waits, the oldest first, with those who were offered something and those who have left. Of the entries that have ended, an event remembers the last 20,000.",
					Auth:        own,
					Scope:       route.AttendeesRead,
					Tier:        route.TierAdmin,
					Errors:      codes{engine.EventNotFound},
					Handler:     route.Handle(h.listWaitlist),
				},
				{
					Method:      "POST",
					Path:        "/events/{eventId}/waitlist/offer",
					ID:          "offerWaitlist",
					Summary:     "Offer what is set aside to those who have waited longest",
					Description: "For an organization that has switched automatic offers off: it mails an offer to as many as it says, the oldest entries first whose quantity fits what is set aside. An offer ends by itself after the waitlist's offerMinutes.",
					Auth:        own,
					Scope:       route.AttendeesWrite,
					Tier:        route.TierAdmin,
					Errors:      codes{engine.EventNotFound},
					Handler:     route.Handle(h.offerWaitlist),
				},
				{
					Method:      "POST",
					Path:        "/waitlist/{token}/confirm",
					ID:          "confirmWaitlist",
					Summary:     "Begin to wait for sold-out tickets",
					Description: "The page behind the mailed link sends it when the reader presses its button: the reader waits, if tickets are still to be waited for. The link may be used for seven days, and a repeat answers what has become of the entry.",
					Status:      201,
					Idempotency: route.ByActor,
					Errors:      codes{engine.NotFound, engine.TicketTypeNotFound, engine.WaitlistClosed, engine.VelocityLimited, engine.Conflict},
					Handler:     route.Handle(h.confirmWaitlist),
				},
				{
					Method:      "POST",
					Path:        "/waitlist/{token}/claim",
					ID:          "claimOffer",
					Spends:      true,
					Summary:     "Take what a waitlist offers",
					Description: "The page behind the mailed link takes what is offered: an order, to be paid within the ordinary window, or completed at once if there is nothing to pay. A repeat answers what has become of the order since, and an entry without an offer is 409 CONFLICT.",
					Status:      201,
					Idempotency: route.ByActor,
					Errors:      codes{engine.NotFound, engine.Conflict, engine.NotOnSale},
					Handler:     route.Handle(h.claimOffer),
				},
				{
					Method:      "DELETE",
					Path:        "/waitlist/{token}",
					ID:          "leaveWaitlist",
					Summary:     "Leave a waitlist, with what it offers",
					Description: "The page behind the mailed link gives up the place in line, and with it what is offered, which goes to the next. An entry that has ended stays as it is.",
					Idempotency: route.ByActor,
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.leaveWaitlist),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/organizer/events/{id}/waitlist",
			Tag:    "Waitlist",
			Auth:   own,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "PUT",
					ID:          "setWaitlist",
					Summary:     "Change how a waitlist makes its offers",
					Description: "The organization says whether offers are made by themselves, as they are unless it says otherwise, and how long one may be claimed, 720 minutes at first. What is not sent stays as it is.",
					Handler:     route.Handle(h.setWaitlist),
				},
			},
		},
	)
}
