package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/waitlist"
)

// The fact types of an event.
const (
	typeCreated engine.FactType = 1
	typeUpdated engine.FactType = 2
	typeMoved   engine.FactType = 3
	typeRemoved engine.FactType = 4
	typeOffered engine.FactType = 5

	typePersonErased engine.FactType = 51
)

// These facts are journaled. At is unix milliseconds.
type (
	// Created makes the event, as a draft.
	Created struct {
		Details *Details `cbor:"1,keyasint"`
		At      int64    `cbor:"2,keyasint"`
	}
	// Updated replaces the record.
	Updated struct {
		Details *Details `cbor:"1,keyasint"`
		At      int64    `cbor:"2,keyasint"`
	}
	// Moved changes the status.
	Moved struct {
		From   string `cbor:"1,keyasint"`
		To     string `cbor:"2,keyasint"`
		Reason string `cbor:"3,keyasint,omitempty"`
		At     int64  `cbor:"4,keyasint"`
	}
	// Removed removes a draft, or an event under review.
	Removed struct {
		At int64 `cbor:"1,keyasint"`
	}
	// Offered notes what a ticket type offers.
	Offered struct {
		Offer keeper.Offer `cbor:"1,keyasint"`
		At    int64        `cbor:"2,keyasint"`
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Created) FactType() engine.FactType { return typeCreated }
func (*Updated) FactType() engine.FactType { return typeUpdated }
func (*Moved) FactType() engine.FactType   { return typeMoved }
func (*Removed) FactType() engine.FactType { return typeRemoved }
func (*Offered) FactType() engine.FactType { return typeOffered }

// Facts is the table of all facts that an event journals: its own and those of its parts.
var Facts = slices.Concat([]engine.FactDef{
	{Type: typeCreated, Name: "event.created", New: func() engine.Fact { return new(Created) }},
	{Type: typeUpdated, Name: "event.updated", New: func() engine.Fact { return new(Updated) }},
	{Type: typeMoved, Name: "event.moved", New: func() engine.Fact { return new(Moved) }},
	{Type: typeRemoved, Name: "event.removed", New: func() engine.Fact { return new(Removed) }},
	{Type: typeOffered, Name: "event.offered", New: func() engine.Fact { return new(Offered) }},
}, order.Facts, waitlist.Facts, ledger.Facts, admission.Facts, proceeds.Facts, []engine.FactDef{
	{Type: typePersonErased, Name: "person.erased", New: func() engine.Fact { return new(PersonErased) }},
})
