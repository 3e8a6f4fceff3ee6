package sales

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// holderGroups are the rows of tickets in people's hands.
func (h *Handlers) holderGroups() []route.Group {
	return []route.Group{
		{
			Prefix: "/api/v1/tickets",
			Tag:    "Buyers",
			Auth:   route.Public | route.OrderToken | route.User,
			Tier:   route.TierStrict,
			Errors: codes{engine.TicketNotFound},
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/{id}/transfer",
					ID:          "transferTicket",
					Summary:     "Offer a ticket to somebody",
					Description: "The holder, by session or as the buyer by the order's token, offers a ticket to an address; the mailed link claims it within seven days. Until then the holder's codes admit, and a scan ends the offer. A ticket has one pending offer at a time.",
					Status:      201,
					Errors:      codes{engine.NotTransferable},
					Handler:     route.Handle(h.transferTicket),
				},
				{
					Method:      "DELETE",
					Path:        "/{id}/transfer",
					ID:          "revokeTransfer",
					Summary:     "Take an offered ticket back",
					Description: "The holder takes a pending offer back, and its link claims nothing any more. One that was claimed is the new holder's.",
					Errors:      codes{engine.TransferNotPending},
					Handler:     route.Handle(h.revokeTransfer),
				},
				{
					Method:      "POST",
					Path:        "/transfers/{token}/claim",
					ID:          "claimTransfer",
					Summary:     "Take a ticket that was offered",
					Description: "The recipient claims the ticket by the mailed link; no account is needed. It gets new codes, which the answer shows, and the old ones admit nobody any more.",
					Auth:        route.Public | route.User,
					Errors:      codes{engine.TransferNotPending},
					Handler:     route.Handle(h.claimTransfer),
				},
			},
		},
		{
			Prefix: "/api/v1/users/me",
			Tag:    "Buyers",
			Auth:   route.User,
			Tier:   route.TierPublic,
			Errors: codes{engine.Forbidden},
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/tickets",
					ID:          "listMyTickets",
					Summary:     "List the live tickets that one holds",
					Description: "The good tickets that the account's address holds, the newest first, each with its codes. It needs a session whose address is proven, and is up to a few seconds behind a purchase.",
					Handler:     route.Handle(h.listMyTickets),
				},
				{
					Method:      "GET",
					Path:        "/tickets/{ticketId}/download",
					ID:          "downloadTicket",
					Summary:     "Open what a ticket of a digital product delivers",
					Description: "The holder of a digital product's ticket gets the link to what it delivers; a link to a file of ours ends after 15 minutes, and is asked for anew. Opening it ends the right to withdraw from the purchase.",
					Tier:        route.TierStrict,
					Errors:      codes{engine.TicketNotFound, engine.NotDownloadable, engine.NoFile},
					Handler:     route.Handle(h.downloadTicket),
				},
				{
					Method:      "POST",
					Path:        "/tickets/{ticketId}/reschedule",
					ID:          "rescheduleTicket",
					Summary:     "Move a ticket of a reservation to another date or slot",
					Description: "Its holder may, until the window for its refund closes. The ticket keeps its place until it has the new one; its codes stay the same.",
					Tier:        route.TierStrict,
					Errors: codes{
						engine.TicketNotFound, engine.RefundNotEligible, engine.NotTransferable, engine.Conflict, engine.InvalidTransition,
						engine.DateUnavailable, engine.SlotFull, engine.ExceedsMaxPerBuyer, engine.ExceedsMaxPerOrder,
					},
					Handler: route.Handle(h.rescheduleTicket),
				},
				{
					Method:      "GET",
					Path:        "/export",
					ID:          "exportMe",
					Summary:     "Write all that there is of oneself into a file",
					Description: "All that there is of the account in one JSON file: profile, orders, tickets, refunds, reports, messages, waitlists. It is written while it is sent, so that one that breaks off was cut; the session's address must be proven.",
					Tier:        route.TierStrict,
					Handler:     route.Bytes([]string{"application/json"}, h.exportMe),
				},
			},
		},
	}
}
