package api

import "time"

// ListCustomers asks for an organization's customers, or for those that its filters select.
type ListCustomers struct {
	OrgID   string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	Query   string `query:"q" maxLength:"200" description:"Parts of the name or the e-mail address, of the person or of the order's buyer, in any case and without regard to accents, the promo code, or a whole order number, ticket code, door code, or id of an order or ticket."`
	EventID string `query:"eventId" maxLength:"128" description:"Only those who bought or hold tickets of this event: its UUID or its number."`
	Tag     string `query:"tag" maxLength:"60" description:"Only those who hold a ticket with this tag."`
	Sort    string `query:"sort" enum:"recent,oldest,name" default:"recent" description:"recent is by the last order, the newest first; oldest by the first order; name by the name."`
	Page
}

// CustomerKey names a customer within an organization.
type CustomerKey struct {
	Key      string `path:"key" maxLength:"128" description:"The customer's key, as the list of customers has it."`
	QueryOrg string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
}

// WriteToCustomer names a customer as CustomerKey does, in a request whose body may name the organization.
type WriteToCustomer struct {
	CustomerKey
	OrgID string `json:"orgId,omitzero" maxLength:"40" description:"The number of the organization, if the caller acts for several; it may stand in the query instead."`
}

// ListNotes asks for the notes about a customer, the newest first.
type ListNotes struct {
	CustomerKey
	Page
}

// AddNote adds a note about a customer, which only the organization reads.
type AddNote struct {
	WriteToCustomer
	Body string `json:"body" required:"true" minLength:"1" maxLength:"5000" example:"Prefers the aisle." description:"What is to be remembered, in plain text; the customer never sees it."`
}

// DeleteNote deletes a note about a customer.
type DeleteNote struct {
	WriteToCustomer
	NoteID string `path:"noteId" format:"id" maxLength:"128" description:"The note's UUID."`
}

// TagCustomer names a tag that is added to the active tickets of a customer, or taken off all of that
// customer's tickets.
type TagCustomer struct {
	WriteToCustomer
	Tag string `json:"tag" required:"true" minLength:"1" maxLength:"200" example:"vip" description:"1-60 letters, digits, spaces and _ . -; it is trimmed and kept in lower case."`
}

// ContactCustomer sends one mail to a customer.
type ContactCustomer struct {
	WriteToCustomer
	Subject string `json:"subject" required:"true" format:"name" minLength:"1" maxLength:"200" example:"Your seats" description:"The subject line of the mail."`
	Body    string `json:"body" required:"true" minLength:"1" maxLength:"5000" example:"We have moved you to the front row." description:"What the mail says, in plain text."`
}

// Customer is a person, known by one mail address, that has bought or holds tickets of an organization.
type Customer struct {
	Key    string         `json:"key" example:"3fK9xQ2mT7vB1nR5wY8zLd" description:"What names the customer within the organization; it tells nothing of the address."`
	Email  string         `json:"email" description:"The address in lower case; a customer is one address."`
	Name   *string        `json:"name" description:"The name of the last order that had one; null if none had."`
	Totals CustomerTotals `json:"totals" description:"What the customer's orders and tickets come to."`
	Tags   []string       `json:"tags" description:"The tags of all tickets that they hold, sorted."`
	// These are the times of orders that the customer bought, or in which the customer holds a ticket.
	FirstOrderAt time.Time `json:"firstOrderAt" description:"When the first order was completed that they bought or hold tickets of."`
	LastOrderAt  time.Time `json:"lastOrderAt" description:"When the last such order was completed."`
}

// CustomerTotals has sums over a customer's orders and tickets.
type CustomerTotals struct {
	Orders  int64   `json:"orders" description:"How many orders they bought that were completed, refunded ones too."`
	Tickets int64   `json:"tickets" description:"How many tickets they hold, whatever has become of them."`
	Spent   []Spent `json:"spent" description:"What they paid less what was paid back, an entry for each currency."`
}

// Spent is the money that a customer has spent in one currency, less what was paid back.
type Spent struct {
	Currency string `json:"currency" example:"NGN" description:"Three letters of ISO 4217."`
	Amount   string `json:"amount" example:"125000.00" description:"A decimal in that currency."`
}

// CustomerDetail is a customer with the newest orders, tickets and notes.
type CustomerDetail struct {
	Customer
	Orders  []OrderRecord    `json:"orders" description:"The newest 100 orders that they bought."`
	Tickets []CustomerTicket `json:"tickets" description:"The newest 500 tickets that they hold."`
	Notes   []Note           `json:"notes" description:"The newest 100 notes about them."`
}

// CustomerTicket is a ticket that a customer holds.
type CustomerTicket struct {
	ID           string   `json:"id" description:"The ticket's UUID."`
	EventID      string   `json:"eventId" description:"The UUID of its event."`
	OrderID      string   `json:"orderId" description:"The UUID of the order that it was bought with."`
	TicketTypeID string   `json:"ticketTypeId" description:"The UUID of its ticket type."`
	TierName     string   `json:"tierName" description:"The name of the ticket type when it was bought."`
	Status       string   `json:"status" enum:"issued,checked_in,cancelled,refunded" description:"issued and checked_in are good; cancelled and refunded admit nobody any more."`
	Attendee     *string  `json:"attendee" description:"The name of the person who attends with it; null if none is known."`
	Tags         []string `json:"tags" description:"The ticket's tags."`
	CheckedInAt  Time     `json:"checkedInAt" description:"When a gate admitted it; null until then."`
	IssuedAt     Time     `json:"issuedAt" description:"When its order was completed."`
}

// Note is a note of an organization about a customer.
type Note struct {
	ID        string    `json:"id" description:"The note's UUID."`
	Body      string    `json:"body" description:"What was written down, in plain text."`
	Author    *string   `json:"author" description:"The e-mail address of the person who wrote it; null if an API key did."`
	CreatedAt time.Time `json:"createdAt" description:"When it was written."`
}

// TagApplied says how many tickets a request has tagged, also counting those that had the tag before.
type TagApplied struct {
	Tag     string `json:"tag" description:"The tag as it is kept."`
	Tickets int64  `json:"tickets" description:"How many of these tickets have it now, with those that had it before."`
}

// TagRemoved says how many tickets of a customer lost a tag.
type TagRemoved struct {
	Tag     string `json:"tag" description:"The tag as it is kept."`
	Removed int64  `json:"removed" description:"How many tickets had it and lost it."`
}

// Contacted says that the mail server has accepted a mail to a customer or, if Dev is true, that the mail was captured.
type Contacted struct {
	To      string `json:"to" description:"The address that the mail went to."`
	Subject string `json:"subject" description:"Its subject line."`
	Sent    bool   `json:"sent" description:"Always true: the mail server took it."`
	Dev     bool   `json:"dev" description:"True if it was captured for developers, and went nowhere."`
}

// TagTickets names a tag and the tickets to which it is added, or from which it is removed.
type TagTickets struct {
	OrgID     string   `json:"orgId" required:"true" maxLength:"40" description:"The number of the organization whose tickets they are."`
	TicketIDs []string `json:"ticketIds" required:"true" minItems:"1" maxItems:"500" maxLength:"64" description:"The UUIDs of the tickets, 500 at most; one that is named twice counts once."`
	Tag       string   `json:"tag" required:"true" minLength:"1" maxLength:"200" example:"press" description:"1-60 letters, digits, spaces and _ . -; it is trimmed and kept in lower case."`
}

// TagsRemoved says how many of the tickets that the request names lost a tag.
type TagsRemoved struct {
	Removed int64 `json:"removed" description:"How many of the tickets had it and lost it."`
}
