package catalog

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// ticketTypeRoutes are the rows by which an organization adds and changes the ticket types that an event sells.
func (h *Handlers) ticketTypeRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/organizer/events/{id}/tickets",
			Tag:    "Ticket types",
			Auth:   own,
			Write:  route.TicketsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.Conflict},
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "createTicketType",
					Summary:     "Add a ticket type",
					Description: "For the organization: the event sells one more type of ticket, in its currency, between `saleStart` and `saleEnd`. Without more it is free, unlimited and on sale to everybody; an event has at most 200 types.",
					Status:      201,
					Errors:      codes{engine.InvalidTransition},
					Handler:     route.Handle(h.createTicketType),
				},
				{
					Method:      "PUT",
					Path:        "/{ticketTypeId}",
					ID:          "updateTicketType",
					Summary:     "Change a ticket type",
					Description: "For the organization: what is sent changes, and tickets that are sold keep the terms that they were sold with. Once one is sold or in an open order, price, type and currency are locked (TICKET_TYPE_LOCKED).",
					Errors:      codes{engine.TicketTypeNotFound, engine.TicketTypeLocked, engine.VelocityLimited},
					Handler:     route.Handle(h.updateTicketType),
				},
			},
		},
	)
}
