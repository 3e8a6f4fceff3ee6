package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// The fact types of an event.
const (
	typeCreated engine.FactType = 1
	typeUpdated engine.FactType = 2
	typeMoved   engine.FactType = 3
	typeRemoved engine.FactType = 4
	typeOffered engine.FactType = 5

	typeOrderRecalled engine.FactType = 14
	typeOrderClosed   engine.FactType = 13

	typeCheckedIn engine.FactType = 30
	typeDenied    engine.FactType = 31
	typeUndone    engine.FactType = 32

	typeRipened engine.FactType = 50

	typePersonErased engine.FactType = 51

	typeWoken      = engine.VolatileFrom + 1
	typePlacing    = engine.VolatileFrom + 2
	typeGranted    = engine.VolatileFrom + 3
	typeDropped    = engine.VolatileFrom + 4
	typeSettled    = engine.VolatileFrom + 5
	typeElapsed    = engine.VolatileFrom + 6
	typeActed      = engine.VolatileFrom + 7
	typeGuessed    = engine.VolatileFrom + 8
	typeReturnSeen = engine.VolatileFrom + 9
	typeFeeAsked   = engine.VolatileFrom + 10
	typeTold       = engine.VolatileFrom + 11
	typeToldSeen   = engine.VolatileFrom + 12
	typeMoving     = engine.VolatileFrom + 13
	typeDropMove   = engine.VolatileFrom + 14
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
	// Removed ends a draft.
	Removed struct {
		At int64 `cbor:"1,keyasint"`
	}
	// Offered notes what a ticket type offers.
	Offered struct {
		Offer keeper.Offer `cbor:"1,keyasint"`
		At    int64        `cbor:"2,keyasint"`
	}

	// Ripened clears the sales that are old enough.
	Ripened struct {
		At int64 `cbor:"1,keyasint"`
	}

	// OrderClosed says that all keepers have acknowledged the orders' ends.
	OrderClosed struct {
		IDs []engine.OrderID `cbor:"1,keyasint"`
		At  int64            `cbor:"2,keyasint"`
	}

	// OrderRecalled keeps an order's record again that the ledger had forgotten.
	OrderRecalled struct {
		Order *order.Order `cbor:"1,keyasint"`
		At    int64        `cbor:"2,keyasint"`
	}

	// CheckedIn admits a ticket.
	CheckedIn struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
		Gate   string `cbor:"3,keyasint,omitempty"`
		Device string `cbor:"4,keyasint,omitempty"`
		Method string `cbor:"5,keyasint,omitempty"`
		Key    uint64 `cbor:"6,keyasint,omitempty"`
		// Request is nil for scans without an idempotency key.
		Request *engine.Request `cbor:"7,keyasint,omitempty"`
	}
	// CheckInDenied counts a refused scan.
	CheckInDenied struct {
		Ticket uint32 `cbor:"1,keyasint,omitempty"`
		Status string `cbor:"2,keyasint"`
		At     int64  `cbor:"3,keyasint"`
		Gate   string `cbor:"4,keyasint,omitempty"`
		Device string `cbor:"5,keyasint,omitempty"`
		// Request is nil and Reason is empty for scans without an idempotency key.
		Request *engine.Request `cbor:"6,keyasint,omitempty"`
		Reason  string          `cbor:"7,keyasint,omitempty"`
		Method  string          `cbor:"8,keyasint,omitempty"` // as of CheckedIn; empty in older facts
	}
	// CheckInUndone takes an admission back: the ticket may be admitted again.
	CheckInUndone struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
	}
)

// These facts are volatile: a crash forgets them, and presumed abort cleans up after it.
type (
	// Woken notes the epoch of the activation.
	Woken struct{ Epoch int32 }
	// Placing begins an order that waits for its keepers.
	Placing struct{ placing *placing }
	// LineGranted notes a keeper's answer.
	LineGranted struct {
		ID    engine.OrderID
		Line  int // by placeOf
		Price int64
		Name  string
		// Discount is what a promo code grants, and Visits are what the calendar grants.
		Discount *keeper.Discount
		Visits   []keeper.Visit
		Terms    *keeper.Terms
	}
	// ProceedsTold notes when the wallet was told what the event has earned.
	ProceedsTold struct{ At int64 }
	// ProceedsHeard notes that the wallet has acknowledged a revision.
	ProceedsHeard struct{ Revision uint64 }
	// FeeAsked notes that every keeper except the wallet has granted, and what the wallet is asked
	// for.
	FeeAsked struct {
		ID     engine.OrderID
		Fee    int64
		Wallet engine.Ref
	}
	// Moving begins the wait of a ticket for a place on another date.
	Moving struct{ moving *moving }
	// MoveDropped forgets a ticket that waited for a new place. ID is its order.
	MoveDropped struct{ ID engine.OrderID }
	// Dropped forgets an order that waited for its keepers.
	Dropped struct{ ID engine.OrderID }
	// Guessed notes a wrong presale code.
	Guessed struct {
		Customer, Client uint64
		At               int64
	}
	// LineSettled notes that a keeper has carried out an order's end.
	LineSettled struct {
		ID   engine.OrderID
		Line int // by placeOf
		At   int64
	}
	// ReturnSeen notes that a keeper has taken back what a refund's tickets had taken from it.
	ReturnSeen struct {
		Serial keeper.Serial
		Place  int
	}
	// Elapsed moves the orders that are due from the agenda to the list of orders to act on.
	Elapsed struct{ At int64 }
	// Acted counts what has been acted on: orders whose end was told again, orders that may have
	// expired, and orders whose returns were told again.
	Acted struct {
		Settling, Due, Returns int
		At                     int64
	}
)

// FactType numbers the facts.
func (*Created) FactType() engine.FactType       { return typeCreated }
func (*Updated) FactType() engine.FactType       { return typeUpdated }
func (*Moved) FactType() engine.FactType         { return typeMoved }
func (*Removed) FactType() engine.FactType       { return typeRemoved }
func (*Offered) FactType() engine.FactType       { return typeOffered }
func (*OrderClosed) FactType() engine.FactType   { return typeOrderClosed }
func (*OrderRecalled) FactType() engine.FactType { return typeOrderRecalled }
func (*ReturnSeen) FactType() engine.FactType    { return typeReturnSeen }
func (*CheckedIn) FactType() engine.FactType     { return typeCheckedIn }
func (*CheckInDenied) FactType() engine.FactType { return typeDenied }
func (*CheckInUndone) FactType() engine.FactType { return typeUndone }
func (*Woken) FactType() engine.FactType         { return typeWoken }
func (*Placing) FactType() engine.FactType       { return typePlacing }
func (*LineGranted) FactType() engine.FactType   { return typeGranted }
func (*Ripened) FactType() engine.FactType       { return typeRipened }
func (*ProceedsTold) FactType() engine.FactType  { return typeTold }
func (*ProceedsHeard) FactType() engine.FactType { return typeToldSeen }
func (*FeeAsked) FactType() engine.FactType      { return typeFeeAsked }
func (*Dropped) FactType() engine.FactType       { return typeDropped }
func (*Moving) FactType() engine.FactType        { return typeMoving }
func (*MoveDropped) FactType() engine.FactType   { return typeDropMove }
func (*Guessed) FactType() engine.FactType       { return typeGuessed }
func (*LineSettled) FactType() engine.FactType   { return typeSettled }
func (*Elapsed) FactType() engine.FactType       { return typeElapsed }
func (*Acted) FactType() engine.FactType         { return typeActed }

// Facts is the table of journaled facts: those about the event, about its orders, and
// the ledger's own.
var Facts = slices.Concat([]engine.FactDef{
	{Type: typeCreated, Name: "event.created", New: func() engine.Fact { return new(Created) }},
	{Type: typeUpdated, Name: "event.updated", New: func() engine.Fact { return new(Updated) }},
	{Type: typeMoved, Name: "event.moved", New: func() engine.Fact { return new(Moved) }},
	{Type: typeRemoved, Name: "event.removed", New: func() engine.Fact { return new(Removed) }},
	{Type: typeOffered, Name: "event.offered", New: func() engine.Fact { return new(Offered) }},
}, order.Facts, waitlist.Facts, []engine.FactDef{
	{Type: typeOrderRecalled, Name: "order.recalled", New: func() engine.Fact { return new(OrderRecalled) }},
	{Type: typeOrderClosed, Name: "order.closed", New: func() engine.Fact { return new(OrderClosed) }},
	{Type: typeCheckedIn, Name: "ticket.checked_in", New: func() engine.Fact { return new(CheckedIn) }},
	{Type: typeDenied, Name: "ticket.checkin_denied", New: func() engine.Fact { return new(CheckInDenied) }},
	{Type: typeUndone, Name: "ticket.checkin_undone", New: func() engine.Fact { return new(CheckInUndone) }},
	{Type: typeRipened, Name: "event.cleared", New: func() engine.Fact { return new(Ripened) }},
	{Type: typePersonErased, Name: "person.erased", New: func() engine.Fact { return new(PersonErased) }},
})
