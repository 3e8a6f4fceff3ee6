package ledger

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// These are the numbers of the ledger's own facts. They are among the numbers of an event's facts.
const (
	typeOrderRecalled engine.FactType = 14
	typeOrderClosed   engine.FactType = 13

	typeWoken      = engine.VolatileFrom + 1
	typePlacing    = engine.VolatileFrom + 2
	typeGranted    = engine.VolatileFrom + 3
	typeDropped    = engine.VolatileFrom + 4
	typeSettled    = engine.VolatileFrom + 5
	typeElapsed    = engine.VolatileFrom + 6
	typeActed      = engine.VolatileFrom + 7
	typeReturnSeen = engine.VolatileFrom + 9
	typeFeeAsked   = engine.VolatileFrom + 10
	typeMoving     = engine.VolatileFrom + 13
	typeDropMove   = engine.VolatileFrom + 14
)

// These facts are journaled. At is unix milliseconds.
type (
	// OrderClosed says that all keepers have acknowledged the orders' ends.
	OrderClosed struct {
		IDs []engine.OrderID `cbor:"1,keyasint"`
		At  int64            `cbor:"2,keyasint"`
	}

	// OrderRecalled gives the ledger an order's record again after the ledger had forgotten it.
	OrderRecalled struct {
		Order *order.Order `cbor:"1,keyasint"`
		At    int64        `cbor:"2,keyasint"`
	}
)

// These facts are volatile: a crash forgets them. Presumed abort then ends the reservations of orders that were
// being placed and of tickets that were being moved.
type (
	// Woken notes the epoch of the activation.
	Woken struct{ Epoch int32 }
	// Placing begins an order that waits for its keepers.
	Placing struct{ placing *placing }
	// LineGranted notes that a keeper has granted what an order takes from it.
	LineGranted struct {
		ID    engine.OrderID
		Line  int // place of the keeper (places.Of)
		Price int64
		Name  string
		// Discount is what a promo code grants, and Visits are what the calendar grants.
		Discount *keeper.Discount
		Visits   []keeper.Visit
		Terms    *keeper.Terms
	}
	// FeeAsked notes that every keeper except the wallet has granted, and which fee the wallet is asked for, in
	// minor units.
	FeeAsked struct {
		ID     engine.OrderID
		Fee    int64
		Wallet engine.Ref
	}
	// Moving begins the wait of a ticket for a place on another date or in another slot.
	Moving struct{ moving *moving }
	// MoveDropped forgets a ticket that waited for a new place. ID is its order.
	MoveDropped struct{ ID engine.OrderID }
	// Dropped forgets an order that waited for its keepers.
	Dropped struct{ ID engine.OrderID }
	// LineSettled notes that a keeper has carried out an order's end.
	LineSettled struct {
		ID   engine.OrderID
		Line int // place of the keeper (places.Of)
		At   int64
	}
	// ReturnSeen notes that the keeper at Place (places.Of) has taken back what a refund's tickets had taken
	// from it.
	ReturnSeen struct {
		Serial keeper.Serial
		Place  int
	}
	// Elapsed moves the orders whose window has closed from the heap expiry to the list expired, on which the
	// next Wake acts.
	Elapsed struct{ At int64 }
	// Acted counts the orders that one Wake has looked at: those whose end had to be told to the keepers again
	// (Settling), those that may have expired (Due), and those whose returns or moves had to be told again
	// (Returns).
	Acted struct {
		Settling, Due, Returns int
		At                     int64
	}
)

// Offered returns the order if it is an offer to somebody on the waitlist, or nil.
func (f *Placing) Offered() *order.Order {
	if !f.placing.offer {
		return nil
	}
	return f.placing.order
}

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*OrderClosed) FactType() engine.FactType   { return typeOrderClosed }
func (*OrderRecalled) FactType() engine.FactType { return typeOrderRecalled }
func (*ReturnSeen) FactType() engine.FactType    { return typeReturnSeen }
func (*Woken) FactType() engine.FactType         { return typeWoken }
func (*Placing) FactType() engine.FactType       { return typePlacing }
func (*LineGranted) FactType() engine.FactType   { return typeGranted }
func (*FeeAsked) FactType() engine.FactType      { return typeFeeAsked }
func (*Dropped) FactType() engine.FactType       { return typeDropped }
func (*Moving) FactType() engine.FactType        { return typeMoving }
func (*MoveDropped) FactType() engine.FactType   { return typeDropMove }
func (*LineSettled) FactType() engine.FactType   { return typeSettled }
func (*Elapsed) FactType() engine.FactType       { return typeElapsed }
func (*Acted) FactType() engine.FactType         { return typeActed }

// Facts is the table of the ledger's own journaled facts. Those about orders are in package order.
var Facts = []engine.FactDef{
	{Type: typeOrderRecalled, Name: "order.recalled", New: func() engine.Fact { return new(OrderRecalled) }},
	{Type: typeOrderClosed, Name: "order.closed", New: func() engine.Fact { return new(OrderClosed) }},
}
