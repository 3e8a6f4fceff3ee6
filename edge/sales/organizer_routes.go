package sales

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// organizerGroups are the rows of an organization: it issues, gives and imports tickets without a sale, and lists,
// reads and cancels its orders and mails them again.
func (h *Handlers) organizerGroups() []route.Group {
	return []route.Group{
		{
			Prefix: "/api/v1/events",
			Tag:    "Orders and payments",
			Auth:   own,
			Write:  route.TicketsWrite | route.OrdersWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.TicketSoldOut, engine.NotOnSale},
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/{eventId}/issue",
					ID:          "issueTickets",
					Spends:      true,
					Summary:     "Make an order that is not paid for here",
					Description: "For sales outside the checkout: the order is complete at once. Caps, sale windows, presale codes and hidden types do not bind it; stock, seats, dates and capacity do. The fee of 3 % is taken from the organization's wallet with the tickets, or neither is.",
					Status:      201,
					Errors:      codes{engine.InsufficientFunds, engine.DateUnavailable, engine.SlotFull, engine.SeatTaken},
					Handler:     route.Handle(h.issueTickets),
				},
			},
		},
		{
			Prefix: "/api/v1/organizer/growth/events/{eventId}/comps",
			Tag:    "Organizer orders",
			Auth:   own,
			Write:  route.TicketsWrite | route.OrdersWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.TicketSoldOut, engine.NotOnSale},
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "giveTickets",
					Spends:      true,
					Summary:     "Give tickets away",
					Description: "The organization gives tickets of one type away: each recipient gets an order of one free ticket, and a mail. All are made, or none; stock and capacity bind, caps and sale windows do not.",
					Status:      201,
					Handler:     route.Handle(h.giveTickets),
				},
				{
					Method:      "POST",
					Path:        "/import-csv",
					ID:          "importTickets",
					Spends:      true,
					Summary:     "Give tickets to whom a file names",
					Description: "As giving tickets away, with the recipients in a CSV file. Rows with a bad name or e-mail, or the e-mail of an earlier row, are skipped and told; of the others each gets its ticket, or none does.",
					Status:      201,
					Handler:     route.Handle(h.importTickets),
				},
			},
		},
		{
			Prefix: "/api/v1/organizer/orders",
			Tag:    "Organizer orders",
			Auth:   own,
			Read:   route.OrdersRead,
			Write:  route.OrdersWrite,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listOrders",
					Summary:     "List an organization's orders",
					Description: "The organization's orders of all its events, the newest first, with their tickets as the gates have left them. Filters narrow them down and are all met.",
					Errors:      codes{engine.NotFound, engine.EventNotFound},
					Handler:     route.Handle(h.listOrders),
				},
				{
					Method:      "GET",
					Path:        "/{id}",
					ID:          "getOwnOrder",
					Summary:     "Read an order of one's organization",
					Description: "The order with its payments, refunds and tickets, as its buyer reads it. An order of another organization does not exist.",
					Errors:      codes{engine.OrderNotFound},
					Follows:     true,
					Handler:     route.Handle(h.getOwnOrder),
				},
				{
					Method:      "POST",
					Path:        "/{id}/cancel",
					ID:          "cancelOwnOrder",
					Summary:     "Cancel an unpaid order of one's organization",
					Description: "For an order that was placed by mistake: it ends, and what it took is for sale again at once. Money that still comes goes back by itself; one that is paid is refunded instead.",
					Errors:      codes{engine.OrderNotFound, engine.OrderNotCancellable},
					Handler:     route.Handle(h.cancelOwnOrder),
				},
				{
					Method:      "POST",
					Path:        "/{id}/resend",
					ID:          "resendOrder",
					Summary:     "Mail an order's tickets to its buyer again",
					Description: "For the help desk: the mail of an order with tickets goes out once more, also of one that was issued without mail. One without tickets, or without an e-mail, is refused.",
					Errors:      codes{engine.OrderNotFound, engine.Conflict},
					Handler:     route.Handle(h.resendOrder),
				},
			},
		},
	}
}
