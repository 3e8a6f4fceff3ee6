package calendar

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// These are the fact types of a calendar besides a keeper's.
const (
	typeConfigured engine.FactType = 1
	typeMoved      engine.FactType = 2
)

// These facts are journaled. At is unix milliseconds.
type (
	// Configured replaces the configuration.
	Configured struct {
		Config *Config `cbor:"1,keyasint"`
		Slots  uint32  `cbor:"2,keyasint"` // number of slots ever made
		At     int64   `cbor:"3,keyasint"`
	}
	// Reserved sets units aside for an order. It replaces an earlier open reservation of the same order. With
	// it, the counts of dates long before Today are forgotten.
	Reserved struct {
		Claim    keeper.Claim     `cbor:"1,keyasint"`
		Floor    keeper.Serial    `cbor:"2,keyasint"`
		At       int64            `cbor:"3,keyasint"`
		Customer uint64           `cbor:"4,keyasint"`
		Bookings []keeper.Booking `cbor:"5,keyasint"`
		Today    keeper.Day       `cbor:"6,keyasint"`
	}
	// Moved sells the place that is reserved for a ticket, and takes back the place that the ticket
	// had.
	Moved struct {
		Claim    keeper.Claim   `cbor:"1,keyasint"`
		Floor    keeper.Serial  `cbor:"2,keyasint"`
		Back     keeper.Booking `cbor:"3,keyasint"`
		Customer uint64         `cbor:"4,keyasint"`
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Configured) FactType() engine.FactType { return typeConfigured }
func (*Reserved) FactType() engine.FactType   { return keeper.TypeReserved }
func (*Moved) FactType() engine.FactType      { return typeMoved }

// Facts lists the facts that go to the journal, with their numbers and their public names.
var Facts = []engine.FactDef{
	{Type: typeConfigured, Name: "calendar.configured", New: func() engine.Fact { return new(Configured) }},
	{Type: typeMoved, Name: "calendar.moved", New: func() engine.Fact { return new(Moved) }},
	{Type: keeper.TypeReserved, Name: "calendar.reserved", New: func() engine.Fact { return new(Reserved) }},
	{Type: keeper.TypeCommitted, Name: "calendar.committed", New: func() engine.Fact { return new(keeper.CommittedFact) }},
	{Type: keeper.TypeReleased, Name: "calendar.released", New: func() engine.Fact { return new(keeper.ReleasedFact) }},
	{Type: keeper.TypeReturned, Name: "calendar.returned", New: func() engine.Fact { return new(keeper.ReturnedFact) }},
}
