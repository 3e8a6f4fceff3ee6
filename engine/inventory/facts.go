package inventory

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// These are the fact types of a ticket type besides a keeper's.
const (
	typeCreated engine.FactType = 1
	typeUpdated engine.FactType = 2
	typeAwaited engine.FactType = 3

	typeOffered = engine.VolatileFrom + 1
	typeSeen    = engine.VolatileFrom + 2
)

type (
	// Created makes the ticket type.
	Created struct {
		Details *Details `cbor:"1,keyasint"`
		At      int64    `cbor:"2,keyasint"` // unix milliseconds
	}
	// Updated replaces the type's record.
	Updated struct {
		Details *Details `cbor:"1,keyasint"`
		At      int64    `cbor:"2,keyasint"`
		Left    int64    `cbor:"3,keyasint"` // units that are left for sale after the fact; negative if they are unlimited
		// Resize is the revision of the seat map's Resize that is carried out; 0 if the organizer
		// has changed the record.
		Resize uint64 `cbor:"4,keyasint,omitempty"`
	}
	// Awaited notes what the ledger's Await said: whether somebody waits for the type's units.
	Awaited struct {
		Revision uint64 `cbor:"1,keyasint"`
		On       bool   `cbor:"2,keyasint"`
		Left     int64  `cbor:"3,keyasint"` // units that are left for sale after the fact; negative if they are unlimited
		At       int64  `cbor:"4,keyasint"`
	}
	// Offered (volatile) says that the keeper.Offer has been sent, at unix milliseconds.
	Offered struct{ At int64 }
	// Seen (volatile) says that the event's ledger has acknowledged the keeper.Offer with this Revision, so that it is
	// not sent again.
	Seen struct{ Revision uint64 }
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Created) FactType() engine.FactType { return typeCreated }
func (*Updated) FactType() engine.FactType { return typeUpdated }
func (*Awaited) FactType() engine.FactType { return typeAwaited }
func (*Offered) FactType() engine.FactType { return typeOffered }
func (*Seen) FactType() engine.FactType    { return typeSeen }

// Facts lists the facts that go to the journal, with their numbers and their public names.
var Facts = append([]engine.FactDef{
	{Type: typeCreated, Name: "ticket_type.created", New: func() engine.Fact { return new(Created) }},
	{Type: typeUpdated, Name: "ticket_type.updated", New: func() engine.Fact { return new(Updated) }},
	{Type: typeAwaited, Name: "ticket_type.awaited", New: func() engine.Fact { return new(Awaited) }},
}, keeper.Facts("ticket_type")...)
