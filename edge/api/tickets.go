package api

import (
	"time"

	"boxoffice/edge/route"
)

// TicketTypeFields are the optional fields of a ticket type, which CreateTicketType and UpdateTicketType
// share.
type TicketTypeFields struct {
	Price           route.Opt[route.Money] `json:"price,omitzero" minimum:"0" maximum:"1000000" nullable:"false" example:"25.00" description:"What one ticket costs without fees, in the event's currency; 0, the default, is free. It is locked once one is sold."`
	Currency        route.Opt[string]      `json:"currency,omitzero" format:"currency" nullable:"false" description:"The event's currency, and no other; it need not be sent."`
	QuantityTotal   route.Opt[int64]       `json:"quantityTotal,omitzero" minimum:"-1" maximum:"100000000" nullable:"false" example:"500" description:"How many there are to sell; -1, the default, is unlimited. It can't fall below what is sold, and of a seated type it is that of its seats."`
	MaxPerOrder     route.Opt[int64]       `json:"maxPerOrder,omitzero" minimum:"1" maximum:"1000" nullable:"false" example:"6" description:"At most so many in one order; 10 by default."`
	MaxPerCustomer  route.Opt[int64]       `json:"maxPerCustomer,omitzero" minimum:"1" maximum:"1000" nullable:"false" description:"At most so many that one buyer's e-mail has of it, over all orders; 10 by default."`
	Transferable    route.Opt[bool]        `json:"transferable,omitzero" nullable:"false" description:"Whether a holder may pass a ticket on; true by default. Tickets that are sold keep what they were sold with."`
	Refundable      route.Opt[bool]        `json:"refundable,omitzero" nullable:"false" example:"true" description:"Whether its money may be asked for; false by default. It needs a refundDeadline or refundWindowHours."`
	RefundDeadline  route.Opt[time.Time]   `json:"refundDeadline,omitzero" example:"2031-06-18T19:00:00Z" description:"Until when money may be asked for: by the event's start, or within 5 years for products and reservations. Null removes it."`
	RefundHours     route.Opt[int64]       `json:"refundWindowHours,omitzero" minimum:"0" maximum:"8760" description:"Refunds are possible for so many hours: after the purchase of a digital product, before the booked time. With a refundDeadline the earlier binds."`
	PresaleCode     route.Opt[string]      `json:"presaleCode,omitzero" minLength:"3" maxLength:"50" description:"What a buyer has to know to order it, in this very case; null: everybody may."`
	WaitlistEnabled route.Opt[bool]        `json:"waitlistEnabled,omitzero" nullable:"false" description:"Whether one may wait for it when it is sold out; false by default. Types with seats and reservations have no waitlist."`
	Description     route.Opt[string]      `json:"description,omitzero" maxLength:"2000" example:"Standing room, first come, first served." description:"What the ticket gives; null or an empty text removes it."`
	AccessURL       route.Opt[string]      `json:"accessUrl,omitzero" format:"hosted" maxLength:"2048" description:"Where it is delivered, for buyers alone: an http(s) address, or /media/<id> of a file of the organization's. It is read now, not at the sale."`
	AccessNote      route.Opt[string]      `json:"accessNote,omitzero" maxLength:"500" description:"What buyers need there, such as a password; they alone are shown it."`
	SortOrder       route.Opt[int64]       `json:"sortOrder,omitzero" minimum:"-1000000" maximum:"1000000" nullable:"false" description:"The place among the event's types, the lowest first; 0 by default."`
	Status          route.Opt[string]      `json:"status,omitzero" enum:"active,hidden" nullable:"false" description:"hidden takes it off the public's lists and off sale; the organization can still issue it. active by default."`
	SectionID       route.Opt[string]      `json:"sectionId,omitzero" format:"uuid" maxLength:"36" description:"The UUID of a section of the event that it is for, for guests to know; null for none."`
}

// CreateTicketType adds a ticket type to an event.
type CreateTicketType struct {
	ID        string    `path:"id" format:"id" maxLength:"128"`
	Name      string    `json:"name" required:"true" format:"name" minLength:"1" maxLength:"200" example:"General admission" description:"The type's name, as it stands on tickets and receipts."`
	Type      string    `json:"type" required:"true" enum:"general,reserved,vip,early_bird,group,free,multi_day,season,at_door,upgrade" description:"What sort of ticket it is. free demands a price of 0; the others are words for guests and reports."`
	SaleStart time.Time `json:"saleStart" required:"true" example:"2030-01-01T09:00:00Z" description:"From when on it is sold."`
	SaleEnd   time.Time `json:"saleEnd" required:"true" example:"2031-06-20T19:00:00Z" description:"Until when it is sold: after saleStart, and not after the event's end."`
	TicketTypeFields
}

// UpdateTicketType changes those fields of a ticket type that are sent.
type UpdateTicketType struct {
	ID           string               `path:"id" format:"id" maxLength:"128"`
	TicketTypeID string               `path:"ticketTypeId" format:"id" maxLength:"128" description:"The ticket type's UUID, or its number within the event."`
	Name         route.Opt[string]    `json:"name,omitzero" format:"name" minLength:"1" maxLength:"200" nullable:"false" description:"The type's name, as it stands on tickets and receipts."`
	Type         route.Opt[string]    `json:"type,omitzero" enum:"general,reserved,vip,early_bird,group,free,multi_day,season,at_door,upgrade" nullable:"false" description:"What sort of ticket it is; free demands a price of 0. It is locked once one is sold."`
	SaleStart    route.Opt[time.Time] `json:"saleStart,omitzero" nullable:"false" description:"From when on it is sold."`
	SaleEnd      route.Opt[time.Time] `json:"saleEnd,omitzero" nullable:"false" description:"Until when it is sold: after saleStart, and not after the event's end."`
	TicketTypeFields
}

// TicketType is a ticket type's record, for its organization and for the public. Fields that only the
// organization may see are left out for the public.
type TicketType struct {
	ID              string  `json:"id" description:"The ticket type's UUID."`
	Name            string  `json:"name" description:"The type's name, as it stands on tickets and receipts."`
	Type            string  `json:"type" description:"What sort of ticket it is: general, reserved, vip, early_bird, group, free, multi_day, season, at_door or upgrade."`
	SaleStart       Time    `json:"saleStart" description:"From when on it is sold."`
	SaleEnd         Time    `json:"saleEnd" description:"Until when it is sold."`
	Price           string  `json:"price" description:"What one costs without fees, as a decimal."`
	PriceTotal      string  `json:"priceTotal" description:"What a buyer pays for one, as a decimal: with the fee, unless the organizer absorbs it."`
	Currency        string  `json:"currency" description:"The currency of both prices, the event's."`
	QuantityTotal   int64   `json:"quantityTotal" description:"How many there are to sell in all; -1 is unlimited."`
	Available       *int64  `json:"available" description:"How many can be bought now, within the event's capacity; null when unlimited, 0 once the event is over."`
	MaxPerOrder     int64   `json:"maxPerOrder" description:"At most so many in one order."`
	MaxPerCustomer  int64   `json:"maxPerCustomer" description:"At most so many that one buyer's e-mail has of it, over all orders."`
	Transferable    bool    `json:"transferable" description:"Whether a holder may pass on a ticket that is sold now."`
	Refundable      bool    `json:"refundable" description:"Whether the money of a ticket that is sold now may be asked for."`
	RefundDeadline  Time    `json:"refundDeadline" description:"Until when it may be asked for; null: no such bound."`
	RefundHours     *int64  `json:"refundWindowHours" description:"For how many hours after the purchase, or before the booked time, it may be asked for; null: no such bound."`
	PresaleRequired bool    `json:"presaleRequired" description:"True if an order of it needs its presale code."`
	PresaleCode     Hidden  `json:"presaleCode,omitzero" description:"The presale code, null without one. Only the organization is shown it."`
	WaitlistEnabled bool    `json:"waitlistEnabled" description:"Whether one may wait for it when it is sold out."`
	Description     *string `json:"description" description:"What the ticket gives; null if nothing is said."`
	AccessURL       Hidden  `json:"accessUrl,omitzero" description:"Where it is delivered, null if nowhere. Only the organization is shown it here; buyers have it in their order."`
	AccessNote      Hidden  `json:"accessNote,omitzero" description:"What buyers need there, null if nothing. Only the organization is shown it here."`
	DigitalAccess   bool    `json:"digitalAccess" description:"True if a buyer gets a link: the type's own, or a digital product's."`
	Seated          bool    `json:"seated" description:"True if its tickets are seats of the event's map."`
	SectionID       *string `json:"sectionId" description:"The UUID of the event's section that it is for; null for none."`
	SortOrder       int64   `json:"sortOrder" description:"The place among the event's types, the lowest first."`
	Status          string  `json:"status" enum:"active,hidden" description:"hidden: the public neither sees nor buys it."`
	Sold            *int64  `json:"sold,omitzero" description:"How many are sold or in orders that are not over. Only the organization is shown it; lists leave it out of unlimited types."`
}

// TicketTypes is the list of all ticket types that an event has, or of those that the caller may see.
type TicketTypes struct {
	Items      []TicketType `json:"items" description:"The event's ticket types by sortOrder, then by age."`
	NextCursor *string      `json:"nextCursor" description:"Always null: an event has at most 200 ticket types, and all are listed."`
}
