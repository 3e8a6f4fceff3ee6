package event

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// The fact types of an event.
const (
	typeCreated engine.FactType = 1
	typeUpdated engine.FactType = 2
	typeMoved   engine.FactType = 3
	typeRemoved engine.FactType = 4
	typeOffered engine.FactType = 5

	typeOrderCreated   engine.FactType = 10
	typeOrderCompleted engine.FactType = 11
	typeOrderEnded     engine.FactType = 12
	typeOrderClosed    engine.FactType = 13

	typePaymentBegun    engine.FactType = 20
	typePaymentOpened   engine.FactType = 21
	typePaymentReported engine.FactType = 22
	typeRefundDue       engine.FactType = 23
	typeRefundReported  engine.FactType = 24

	typeCheckedIn engine.FactType = 30
	typeDenied    engine.FactType = 31

	typeWoken   = engine.VolatileFrom + 1
	typePlacing = engine.VolatileFrom + 2
	typeGranted = engine.VolatileFrom + 3
	typeDropped = engine.VolatileFrom + 4
	typeSettled = engine.VolatileFrom + 5
	typeElapsed = engine.VolatileFrom + 6
	typeActed   = engine.VolatileFrom + 7
	typeGuessed = engine.VolatileFrom + 8
)

// Journaled facts. At is unix milliseconds.
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

	// OrderCreated makes an order for which everything is reserved.
	OrderCreated struct {
		Order *Order `cbor:"1,keyasint"`
	}
	// OrderCompleted mints the order's tickets, numbered from First in the
	// order of its lines. Serial is new when stock was taken again.
	OrderCompleted struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Serial keeper.Serial  `cbor:"2,keyasint"`
		First  uint32         `cbor:"3,keyasint"`
		At     int64          `cbor:"4,keyasint"`
	}
	// OrderEnded ends an unpaid order as cancelled, expired or failed.
	OrderEnded struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Status string         `cbor:"2,keyasint"`
		At     int64          `cbor:"3,keyasint"`
	}
	// OrderClosed says that all keepers have acknowledged the orders' ends.
	OrderClosed struct {
		IDs []engine.OrderID `cbor:"1,keyasint"`
		At  int64            `cbor:"2,keyasint"`
	}

	// PaymentBegun opens an attempt.
	PaymentBegun struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Attempt   Attempt        `cbor:"2,keyasint"`
		ExpiresAt int64          `cbor:"3,keyasint"` // of the order, from now on
	}
	// PaymentOpened notes where the buyer pays.
	PaymentOpened struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Reference string         `cbor:"2,keyasint"`
		URL       string         `cbor:"3,keyasint"`
		At        int64          `cbor:"4,keyasint"`
	}
	// PaymentReported notes what the provider says.
	PaymentReported struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Reference string         `cbor:"2,keyasint"`
		Status    string         `cbor:"3,keyasint"`
		Received  int64          `cbor:"4,keyasint,omitempty"`
		At        int64          `cbor:"5,keyasint"`
	}
	// RefundDue says that money must go back.
	RefundDue struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Refund Refund         `cbor:"2,keyasint"`
	}
	// RefundReported notes what the provider says of a refund.
	RefundReported struct {
		ID          engine.OrderID `cbor:"1,keyasint"`
		Reference   string         `cbor:"2,keyasint"`
		Status      string         `cbor:"3,keyasint"`
		ProviderRef string         `cbor:"4,keyasint,omitempty"`
		At          int64          `cbor:"5,keyasint"`
		Position    int            `cbor:"6,keyasint,omitempty"` // among the order's refunds
	}

	// CheckedIn admits a ticket.
	CheckedIn struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
		Gate   string `cbor:"3,keyasint,omitempty"`
		Device string `cbor:"4,keyasint,omitempty"`
		Method string `cbor:"5,keyasint,omitempty"`
		Key    uint64 `cbor:"6,keyasint,omitempty"`
		// Request is nil of scans without an idempotency key.
		Request *engine.Request `cbor:"7,keyasint,omitempty"`
	}
	// CheckInDenied counts a refused scan.
	CheckInDenied struct {
		Ticket uint32 `cbor:"1,keyasint,omitempty"`
		Status string `cbor:"2,keyasint"`
		At     int64  `cbor:"3,keyasint"`
		Gate   string `cbor:"4,keyasint,omitempty"`
		Device string `cbor:"5,keyasint,omitempty"`
		// Request is nil of scans without an idempotency key, and Reason empty.
		Request *engine.Request `cbor:"6,keyasint,omitempty"`
		Reason  string          `cbor:"7,keyasint,omitempty"`
	}
)

// Volatile facts: a crash forgets them, and presumed abort cleans up.
type (
	// Woken notes the epoch of the activation.
	Woken struct{ Epoch int32 }
	// Placing is an order that waits for its keepers.
	Placing struct{ placing *placing }
	// LineGranted notes a keeper's answer.
	LineGranted struct {
		ID    engine.OrderID
		Line  int // by lineOf
		Price int64
		Name  string
	}
	// Dropped forgets an order that waited for its keepers.
	Dropped struct{ ID engine.OrderID }
	// Guessed notes a wrong presale code.
	Guessed struct {
		Customer, Client uint64
		At               int64
	}
	// LineSettled notes that a keeper has carried an order's end out.
	LineSettled struct {
		ID   engine.OrderID
		Line int // by lineOf
		At   int64
	}
	// Elapsed moves what is due from the agenda to the list to act on.
	Elapsed struct{ At int64 }
	// Acted says how many of what was due has been acted on: orders whose end
	// was sent again, orders that may have expired.
	Acted struct {
		Settling, Due int
		At            int64
	}
)

// FactType numbers the facts.
func (*Created) FactType() engine.FactType         { return typeCreated }
func (*Updated) FactType() engine.FactType         { return typeUpdated }
func (*Moved) FactType() engine.FactType           { return typeMoved }
func (*Removed) FactType() engine.FactType         { return typeRemoved }
func (*Offered) FactType() engine.FactType         { return typeOffered }
func (*OrderCreated) FactType() engine.FactType    { return typeOrderCreated }
func (*OrderCompleted) FactType() engine.FactType  { return typeOrderCompleted }
func (*OrderEnded) FactType() engine.FactType      { return typeOrderEnded }
func (*OrderClosed) FactType() engine.FactType     { return typeOrderClosed }
func (*PaymentBegun) FactType() engine.FactType    { return typePaymentBegun }
func (*PaymentOpened) FactType() engine.FactType   { return typePaymentOpened }
func (*PaymentReported) FactType() engine.FactType { return typePaymentReported }
func (*RefundDue) FactType() engine.FactType       { return typeRefundDue }
func (*RefundReported) FactType() engine.FactType  { return typeRefundReported }
func (*CheckedIn) FactType() engine.FactType       { return typeCheckedIn }
func (*CheckInDenied) FactType() engine.FactType   { return typeDenied }
func (*Woken) FactType() engine.FactType           { return typeWoken }
func (*Placing) FactType() engine.FactType         { return typePlacing }
func (*LineGranted) FactType() engine.FactType     { return typeGranted }
func (*Dropped) FactType() engine.FactType         { return typeDropped }
func (*Guessed) FactType() engine.FactType         { return typeGuessed }
func (*LineSettled) FactType() engine.FactType     { return typeSettled }
func (*Elapsed) FactType() engine.FactType         { return typeElapsed }
func (*Acted) FactType() engine.FactType           { return typeActed }

// Facts is the table of journaled facts.
var Facts = []engine.FactDef{
	{Type: typeCreated, Name: "event.created", New: func() engine.Fact { return new(Created) }},
	{Type: typeUpdated, Name: "event.updated", New: func() engine.Fact { return new(Updated) }},
	{Type: typeMoved, Name: "event.moved", New: func() engine.Fact { return new(Moved) }},
	{Type: typeRemoved, Name: "event.removed", New: func() engine.Fact { return new(Removed) }},
	{Type: typeOffered, Name: "event.offered", New: func() engine.Fact { return new(Offered) }},
	{Type: typeOrderCreated, Name: "order.created", New: func() engine.Fact { return new(OrderCreated) }},
	{Type: typeOrderCompleted, Name: "order.completed", New: func() engine.Fact { return new(OrderCompleted) }},
	{Type: typeOrderEnded, Name: "order.ended", New: func() engine.Fact { return new(OrderEnded) }},
	{Type: typeOrderClosed, Name: "order.closed", New: func() engine.Fact { return new(OrderClosed) }},
	{Type: typePaymentBegun, Name: "payment.begun", New: func() engine.Fact { return new(PaymentBegun) }},
	{Type: typePaymentOpened, Name: "payment.opened", New: func() engine.Fact { return new(PaymentOpened) }},
	{Type: typePaymentReported, Name: "payment.reported", New: func() engine.Fact { return new(PaymentReported) }},
	{Type: typeRefundDue, Name: "refund.due", New: func() engine.Fact { return new(RefundDue) }},
	{Type: typeRefundReported, Name: "refund.reported", New: func() engine.Fact { return new(RefundReported) }},
	{Type: typeCheckedIn, Name: "ticket.checked_in", New: func() engine.Fact { return new(CheckedIn) }},
	{Type: typeDenied, Name: "ticket.checkin_denied", New: func() engine.Fact { return new(CheckInDenied) }},
}
