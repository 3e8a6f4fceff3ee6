package api

import "time"

// ListMyTickets asks for the tickets that the caller holds, the newest first.
type ListMyTickets struct {
	Page
}

// DownloadTicket asks where the digital product of a ticket is.
type DownloadTicket struct {
	TicketID string `path:"ticketId" format:"id" maxLength:"128"`
}

// Delivery says where the digital product of a ticket is: in a file that we host, or at the organizer's link.
type Delivery struct {
	URL  string  `json:"url" description:"Where it is. Of a file of ours: a link for this ticket's holder that ends after 15 minutes."`
	Note *string `json:"note" description:"What its holder needs there, such as a PIN; null when there is nothing to say."`
	Kind string  `json:"kind" enum:"file,external" description:"file is one that we host; external is the organizer's own link."`
}

// HeldTicket is a ticket as its holder sees it in the list of all tickets that the holder has.
type HeldTicket struct {
	Ticket
	Event HeldEvent `json:"event" description:"What one wants to know of the event at once."`
	Tier  HeldTier  `json:"tier" description:"The ticket's type."`
}

// HeldEvent is the part of an event's record that its ticket holders are shown with their tickets.
type HeldEvent struct {
	ID           string  `json:"id" description:"The event's id, a UUID."`
	Slug         string  `json:"slug" example:"harbour-nights" description:"The name of the event's page in addresses."`
	Title        string  `json:"title" example:"Harbour Nights" description:"The event's title."`
	Status       string  `json:"status" example:"on_sale" description:"The event's status, as in the event."`
	CancelReason string  `json:"cancelReason,omitzero" example:"The artist is ill." description:"Why it was cancelled, in the organizer's words, of a cancelled event where something was said."`
	StartDate    Time    `json:"startDate" description:"When it starts; null of what has no start."`
	EndDate      Time    `json:"endDate" description:"When it ends; null: always available."`
	Timezone     string  `json:"timezone" example:"Africa/Lagos" description:"The IANA zone of its clocks."`
	VenueType    string  `json:"venueType" example:"physical" description:"Whether one goes there, takes part online, or either: physical, online or hybrid."`
	VenueName    *string `json:"venueName" example:"Harbour Hall" description:"What the venue is called; null without one."`
	VenueCity    *string `json:"venueCity" example:"Lagos" description:"The city that it is in; null without one."`
	CoverImage   *string `json:"coverImage" description:"The address of its picture; null without one."`
}

// HeldTier is the type of a ticket, with the name that it had when the ticket was sold.
type HeldTier struct {
	ID   string `json:"id" description:"The ticket type's id, a UUID."`
	Name string `json:"name" example:"General admission" description:"What the type was called when the ticket was sold."`
}

// ExportedProfile is the part of a person's export that comes from the account. It stands at the beginning;
// orders, tickets and the rest follow it.
type ExportedProfile struct {
	ID               string    `json:"id"`
	Email            string    `json:"email"`
	FullName         *string   `json:"fullName"`
	Phone            *string   `json:"phone"`
	Locale           *string   `json:"locale"`
	TwoFactorEnabled bool      `json:"twoFactorEnabled"`
	CreatedAt        time.Time `json:"createdAt"`
}
