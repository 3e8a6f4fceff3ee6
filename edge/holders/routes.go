package holders

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// Routes returns the area's rows. The groups differ in who calls: givers and takers of tickets, signed-in
// people who see and use their own tickets, and organizations that edit who attends.
func (h *Handlers) Routes() []route.Op {
	return route.Table([]route.Group{
		// Transfers. A buyer without an account uses the order's token instead of a session, and
		// the addressee of an offer uses the mailed link.
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
					Spends:      true,
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
					Errors:      codes{engine.TransferNotPending, engine.NotTransferable},
					Handler:     route.Handle(h.claimTransfer),
				},
			},
		},
		// By these, signed-in people see and use their own tickets and data.
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
					Description: "The good tickets that the account's address holds, the newest first, each with its codes. It needs a session whose address is proven, and shows at once what the caller has done, and what others did after some seconds.",
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
					Description: "Its holder may, refundable or not, until the ticket type's refundWindowHours or refundDeadline, and without either until the booked time begins. The ticket keeps its place until it has the new one; its codes stay the same.",
					Tier:        route.TierStrict,
					Errors: codes{
						engine.TicketNotFound, engine.NotReschedulable, engine.NotReservation, engine.EventCancelled,
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
					Follows:     true,
					Handler:     route.Bytes([]string{"application/json"}, h.exportMe),
				},
			},
		},
		// By these, an organization sees and edits the people who attend its events.
		{
			Prefix: "/api/v1/organizer/events/{id}/attendees",
			Tag:    "Attendees",
			Auth:   route.Member | route.Key,
			Read:   route.AttendeesRead,
			Write:  route.AttendeesWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listAttendees",
					Summary:     "List an event's attendees",
					Description: "The organization sees who attends with each ticket, those of the newest tickets first. The list shows what the caller has done at once, and the sale after some seconds; status and checkedInAt are as the gates say now.",
					Errors:      codes{engine.TicketTypeNotFound},
					AtGates:     true,
					Handler:     route.Handle(h.listAttendees),
				},
				{
					Method:      "GET",
					Path:        ".csv",
					ID:          "exportAttendees",
					Summary:     "Write an event's attendees into a file",
					Description: "The list of attendees as a CSV file (RFC 4180, UTF-8 with a byte order mark) with all that meet the filters. It is made while it is sent, so that one that breaks off was cut; cells that a spreadsheet would calculate begin with an apostrophe.",
					Errors:      codes{engine.TicketTypeNotFound},
					Follows:     true,
					Handler:     route.Bytes([]string{"text/csv"}, h.exportAttendees),
				},
				{
					Method:      "GET",
					Path:        "/{ticketId}",
					ID:          "getAttendee",
					Summary:     "Read who attends with a ticket",
					Description: "The attendee of one ticket, and the ticket without its codes. A ticket of another event does not exist.",
					Errors:      codes{engine.TicketNotFound},
					Follows:     true,
					Handler:     route.Handle(h.getAttendee),
				},
				{
					Method:      "PUT",
					Path:        "/{ticketId}",
					ID:          "updateAttendee",
					Summary:     "Change who attends with a ticket",
					Description: "The organization corrects a name or an e-mail; fields that are left out stay. The change lasts until the ticket changes hands, and says nothing about who holds it.",
					Errors:      codes{engine.TicketNotFound},
					Handler:     route.Handle(h.updateAttendee),
				},
			},
		},
	}...)
}
