package api

import (
	"time"

	"boxoffice/edge/route"
)

// AttendeeFilter says which attendees of an event a list or an export has.
type AttendeeFilter struct {
	ID           string    `path:"id" format:"id" maxLength:"128"`
	Query        string    `query:"q" maxLength:"200" description:"Parts of the name or the e-mail address, of the person or of the order's buyer, in any case and without regard to accents, the promo code, or a whole order number, ticket code, door code, or id of an order or ticket."`
	Status       string    `query:"status" enum:"issued,checked_in,cancelled,refunded,expired" description:"Only tickets in this status, as it is now."`
	TicketTypeID string    `query:"ticketTypeId" maxLength:"128" description:"Only tickets of this type, by its UUID."`
	Tag          string    `query:"tag" maxLength:"60" description:"Only tickets with this tag of the organization's."`
	CheckedIn    string    `query:"checkedIn" enum:"true,false" description:"true: only those whom a gate has admitted; false: only the others."`
	UpdatedSince time.Time `query:"updatedSince" description:"Only those that were changed or admitted at this time or later."`
}

// ListAttendees asks for an event's attendees, the holders of the newest tickets first.
type ListAttendees struct {
	AttendeeFilter
	Page
}

// AttendeeID names an attendee by the ticket with which the person attends.
type AttendeeID struct {
	ID       string `path:"id" format:"id" maxLength:"128"`
	TicketID string `path:"ticketId" format:"id" maxLength:"128"`
}

// UpdateAttendee changes those fields of an attendee that are sent. The change affects neither the ticket's
// holder nor the order, and it ends when the ticket is transferred.
type UpdateAttendee struct {
	AttendeeID
	Name  route.Opt[string] `json:"name,omitzero" format:"name" maxLength:"200" example:"Ada Obi" description:"Who attends; null empties it."`
	Email route.Opt[string] `json:"email,omitzero" format:"email" maxLength:"254" nullable:"false" example:"ada@example.org" description:"The e-mail of who attends; it gives no right to the ticket."`
}

// Attendee is the person who attends with a ticket, and the ticket's record.
type Attendee struct {
	TicketID string   `json:"ticketId" example:"00000000-0400-84f4-a8e6-402f00000007" description:"The ticket's id, a UUID; the same as id."`
	Name     *string  `json:"name" example:"Ada Obi" description:"Who attends: as the organization has set it, else the order's line, the buyer or the new holder."`
	Email    *string  `json:"email" example:"ada@example.org" description:"The e-mail of who attends; null if none is known."`
	Tags     []string `json:"tags" description:"The organization's own tags, which buyers don't see."`
	TicketRecord
	UpdatedAt Time `json:"updatedAt" description:"When the ticket or who attends with it changed last."`
}
