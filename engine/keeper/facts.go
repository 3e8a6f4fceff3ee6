package keeper

import "boxoffice/engine"

// Fact types that every keeper kind journals or applies. Their numbers are the
// same in each kind's table.
const (
	TypeReserved  engine.FactType = 101
	TypeCommitted engine.FactType = 102
	TypeReleased  engine.FactType = 103
	TypeReturned  engine.FactType = 104

	TypeInquired  = engine.VolatileFrom + 101
	TypeConfirmed = engine.VolatileFrom + 102
	TypeBarred    = engine.VolatileFrom + 103

	TypeLedgerInquired = engine.VolatileFrom + 104
)

type (
	// ReservedFact sets goods aside for an order. If the order has an open reservation, which its ledger made
	// before it crashed, this one replaces it.
	ReservedFact struct {
		Claim    Claim  `cbor:"1,keyasint"`
		Floor    Serial `cbor:"2,keyasint"`
		At       int64  `cbor:"3,keyasint"` // unix milliseconds
		Quantity int64  `cbor:"4,keyasint"`
		Customer uint64 `cbor:"5,keyasint"`
		Left     int64  `cbor:"6,keyasint"` // units that are left for sale after the fact; negative if they are unlimited
	}
	// CommittedFact makes a reservation a sale.
	CommittedFact struct {
		Claim Claim  `cbor:"1,keyasint"`
		Floor Serial `cbor:"2,keyasint"`
		// SoldOutAt is when this sale sold the last unit of a ticket type, in unix milliseconds, or
		// 0 if it did not.
		SoldOutAt int64 `cbor:"3,keyasint,omitempty"`
	}
	// ReleasedFact gives a reservation back.
	ReleasedFact struct {
		Claim Claim  `cbor:"1,keyasint"`
		Floor Serial `cbor:"2,keyasint"`
		Left  int64  `cbor:"3,keyasint"` // as in ReservedFact
	}
	// ReturnedFact takes sold goods back after a refund. The claim is the refund's.
	ReturnedFact struct {
		Claim    Claim     `cbor:"1,keyasint"`
		Floor    Serial    `cbor:"2,keyasint"`
		Quantity int64     `cbor:"3,keyasint"`
		Customer uint64    `cbor:"4,keyasint"`
		Left     int64     `cbor:"5,keyasint"` // units that are left for sale after the fact; negative if they are unlimited
		Bookings []Booking `cbor:"6,keyasint,omitempty"`
		At       int64     `cbor:"7,keyasint"` // unix milliseconds
	}
	// InquiredFact (volatile) says that the first N inquiries of the queue are done: their reservations were
	// asked about, or did not need it any more. At is unix milliseconds.
	InquiredFact struct {
		N  int
		At int64
	}
	// LedgerInquiredFact (volatile) is InquiredFact for the reservations of one event's ledger, in
	// a keeper that serves many.
	LedgerInquiredFact struct {
		Event    int64
		Inquired *InquiredFact
	}
	// ConfirmedFact (volatile) says that the ledger knows the orders.
	ConfirmedFact struct{ Claims []Claim }
	// BarredFact (volatile) ends a serial whose Reserve has not arrived.
	BarredFact struct{ Claim Claim }
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*ReservedFact) FactType() engine.FactType  { return TypeReserved }
func (*CommittedFact) FactType() engine.FactType { return TypeCommitted }
func (*ReleasedFact) FactType() engine.FactType  { return TypeReleased }
func (*ReturnedFact) FactType() engine.FactType  { return TypeReturned }
func (*InquiredFact) FactType() engine.FactType  { return TypeInquired }
func (*ConfirmedFact) FactType() engine.FactType { return TypeConfirmed }
func (*BarredFact) FactType() engine.FactType    { return TypeBarred }

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*LedgerInquiredFact) FactType() engine.FactType { return TypeLedgerInquired }

// Facts returns the journaled facts that a keeper kind adds to its fact table. Their names begin with noun.
func Facts(noun string) []engine.FactDef {
	return []engine.FactDef{
		{Type: TypeReserved, Name: noun + ".reserved", New: func() engine.Fact { return new(ReservedFact) }},
		{Type: TypeCommitted, Name: noun + ".committed", New: func() engine.Fact { return new(CommittedFact) }},
		{Type: TypeReleased, Name: noun + ".released", New: func() engine.Fact { return new(ReleasedFact) }},
		{Type: TypeReturned, Name: noun + ".returned", New: func() engine.Fact { return new(ReturnedFact) }},
	}
}
