package api

import (
	"time"

	"boxoffice/edge/route"
)

// TicketTypeFields are the optional fields of a ticket type on create and
// update.
type TicketTypeFields struct {
	Price           route.Opt[route.Money] `json:"price,omitzero" minimum:"0" maximum:"1000000" nullable:"false" example:"25.00"`
	Currency        route.Opt[string]      `json:"currency,omitzero" format:"currency" nullable:"false"`
	QuantityTotal   route.Opt[int64]       `json:"quantityTotal,omitzero" minimum:"-1" maximum:"100000000" nullable:"false" example:"500" description:"-1 is unlimited"`
	MaxPerOrder     route.Opt[int64]       `json:"maxPerOrder,omitzero" minimum:"1" maximum:"1000" nullable:"false"`
	MaxPerCustomer  route.Opt[int64]       `json:"maxPerCustomer,omitzero" minimum:"1" maximum:"1000" nullable:"false"`
	Transferable    route.Opt[bool]        `json:"transferable,omitzero" nullable:"false"`
	Refundable      route.Opt[bool]        `json:"refundable,omitzero" nullable:"false"`
	RefundDeadline  route.Opt[time.Time]   `json:"refundDeadline,omitzero"`
	RefundHours     route.Opt[int64]       `json:"refundWindowHours,omitzero" minimum:"0" maximum:"8760" description:"refunds are possible for so many hours: after the purchase of a digital product, before the booked time of a reservation; with a refundDeadline, the earlier binds"`
	PresaleCode     route.Opt[string]      `json:"presaleCode,omitzero" minLength:"3" maxLength:"50"`
	WaitlistEnabled route.Opt[bool]        `json:"waitlistEnabled,omitzero" nullable:"false"`
	Description     route.Opt[string]      `json:"description,omitzero" maxLength:"2000"`
	AccessURL       route.Opt[string]      `json:"accessUrl,omitzero" format:"hosted" maxLength:"2048"`
	AccessNote      route.Opt[string]      `json:"accessNote,omitzero" maxLength:"500"`
	SortOrder       route.Opt[int64]       `json:"sortOrder,omitzero" minimum:"-1000000" maximum:"1000000" nullable:"false"`
	Status          route.Opt[string]      `json:"status,omitzero" enum:"active,hidden" nullable:"false"`

	_ route.NotYet `name:"sectionId"`
}

// CreateTicketType adds a ticket type to an event.
type CreateTicketType struct {
	ID        string    `path:"id" format:"id" maxLength:"128"`
	Name      string    `json:"name" required:"true" minLength:"1" maxLength:"200" example:"General admission"`
	Type      string    `json:"type" required:"true" enum:"general,reserved,vip,early_bird,group,free,multi_day,season,at_door,upgrade"`
	SaleStart time.Time `json:"saleStart" required:"true" example:"2030-01-01T09:00:00Z"`
	SaleEnd   time.Time `json:"saleEnd" required:"true" example:"2031-06-20T19:00:00Z"`
	TicketTypeFields
}

// UpdateTicketType changes the fields that are sent.
type UpdateTicketType struct {
	ID           string               `path:"id" format:"id" maxLength:"128"`
	TicketTypeID string               `path:"ticketTypeId" format:"id" maxLength:"128"`
	Name         route.Opt[string]    `json:"name,omitzero" minLength:"1" maxLength:"200" nullable:"false"`
	Type         route.Opt[string]    `json:"type,omitzero" enum:"general,reserved,vip,early_bird,group,free,multi_day,season,at_door,upgrade" nullable:"false"`
	SaleStart    route.Opt[time.Time] `json:"saleStart,omitzero" nullable:"false"`
	SaleEnd      route.Opt[time.Time] `json:"saleEnd,omitzero" nullable:"false"`
	TicketTypeFields
}

// TicketType is a ticket type's record. What the public does not see is left
// out.
type TicketType struct {
	ID              string  `json:"id"`
	Name            string  `json:"name"`
	Type            string  `json:"type"`
	SaleStart       Time    `json:"saleStart"`
	SaleEnd         Time    `json:"saleEnd"`
	Price           string  `json:"price" description:"decimal, without fees"`
	Currency        string  `json:"currency"`
	QuantityTotal   int64   `json:"quantityTotal"`
	Available       *int64  `json:"available" description:"null when unlimited"`
	MaxPerOrder     int64   `json:"maxPerOrder"`
	MaxPerCustomer  int64   `json:"maxPerCustomer"`
	Transferable    bool    `json:"transferable"`
	Refundable      bool    `json:"refundable"`
	RefundDeadline  Time    `json:"refundDeadline"`
	RefundHours     *int64  `json:"refundWindowHours" description:"null: no such bound"`
	PresaleRequired bool    `json:"presaleRequired"`
	PresaleCode     Hidden  `json:"presaleCode,omitzero"`
	WaitlistEnabled bool    `json:"waitlistEnabled"`
	Description     *string `json:"description"`
	AccessURL       Hidden  `json:"accessUrl,omitzero"`
	AccessNote      Hidden  `json:"accessNote,omitzero"`
	DigitalAccess   bool    `json:"digitalAccess" description:"the buyer gets a link"`
	Seated          bool    `json:"seated" description:"its tickets are seats of the event's map"`
	SectionID       *string `json:"sectionId"`
	SortOrder       int64   `json:"sortOrder"`
	Status          string  `json:"status" enum:"active,hidden"`
	Sold            *int64  `json:"sold,omitzero" description:"sold or in open orders"`
}

// TicketTypes is the list of an event's ticket types.
type TicketTypes struct {
	Items      []TicketType `json:"items"`
	NextCursor *string      `json:"nextCursor" description:"always null: an event has at most 200 ticket types, and all are listed"`
}
