package order

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// These are the numbers of the facts about orders, among an event's facts.
const (
	typeCreated         engine.FactType = 10
	typeCompleted       engine.FactType = 11
	typeEnded           engine.FactType = 12
	typePaymentBegun    engine.FactType = 20
	typePaymentOpened   engine.FactType = 21
	typePaymentReported engine.FactType = 22
	typeRefundDue       engine.FactType = 23
	typeRefundReported  engine.FactType = 24
	typeRefundDecided   engine.FactType = 25
	typeRefundReturned  engine.FactType = 26
	typeExtended        engine.FactType = 27
)

// These facts are journaled. At is unix milliseconds.
type (
	// Created makes an order for which everything is reserved.
	Created struct {
		Order *Order `cbor:"1,keyasint"`
	}
	// Completed mints the order's tickets, numbered from First in the order of its lines. Serial is the order's
	// serial; it is a new one if stock was taken again.
	Completed struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Serial keeper.Serial  `cbor:"2,keyasint"`
		First  uint32         `cbor:"3,keyasint"`
		At     int64          `cbor:"4,keyasint"`
	}
	// Ended ends an unpaid order as cancelled, expired or failed.
	Ended struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Status string         `cbor:"2,keyasint"`
		At     int64          `cbor:"3,keyasint"`
	}
	// Extended gives an unpaid order more time, because its buyer has asked for it.
	Extended struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Number    int64          `cbor:"2,keyasint"` // among the order's extensions, from 1
		ExpiresAt int64          `cbor:"3,keyasint"` // when the order expires from now on
		At        int64          `cbor:"4,keyasint"`
		By        uint64         `cbor:"5,keyasint,omitempty"` // hash of the request that asked for it; 0 in older facts
	}
	// PaymentBegun opens an attempt.
	PaymentBegun struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Attempt   Attempt        `cbor:"2,keyasint"`
		ExpiresAt int64          `cbor:"3,keyasint"` // when the order expires from now on
	}
	// PaymentOpened notes the address at which the buyer pays.
	PaymentOpened struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Reference string         `cbor:"2,keyasint"`
		URL       string         `cbor:"3,keyasint"`
		At        int64          `cbor:"4,keyasint"`
		// ProviderID is the provider's own name of the payment, if the provider is asked by it. Deposit says where
		// coins or a bank transfer go; nil for other money.
		ProviderID string   `cbor:"5,keyasint,omitempty"`
		Deposit    *Deposit `cbor:"6,keyasint,omitempty"`
	}
	// PaymentReported notes what the provider says about an attempt.
	PaymentReported struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Reference string         `cbor:"2,keyasint"`
		Status    string         `cbor:"3,keyasint"`
		Received  int64          `cbor:"4,keyasint,omitempty"`
		At        int64          `cbor:"5,keyasint"`
		Arrived   string         `cbor:"6,keyasint,omitempty"` // decimal amount of coins that arrived
	}
	// RefundDue adds a refund to the order: money must go back, or somebody has asked for it (Refund.Ask).
	RefundDue struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Refund Refund         `cbor:"2,keyasint"`
		Number int            `cbor:"3,keyasint,omitempty"` // among the order's refunds, from 1; 0 in older facts
	}
	// RefundDecided grants or denies a refund that somebody has asked for, or withdraws it. If it
	// is granted, its tickets end.
	RefundDecided struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Position  int            `cbor:"2,keyasint,omitempty"` // position among the order's refunds
		Status    string         `cbor:"3,keyasint"`
		Amount    int64          `cbor:"4,keyasint"`
		Reference string         `cbor:"5,keyasint,omitempty"` // reference of the attempt whose money goes back
		Note      string         `cbor:"6,keyasint,omitempty"`
		Serial    keeper.Serial  `cbor:"7,keyasint,omitempty"` // serial under which keepers get back what the tickets took; 0 if the refund is not granted
		Manual    bool           `cbor:"8,keyasint,omitempty"`
		Tickets   []uint32       `cbor:"9,keyasint,omitempty"` // tickets that end
		At        int64          `cbor:"10,keyasint"`
	}
	// RefundReturned says that all keepers have taken back what a refund's tickets took.
	RefundReturned struct {
		ID       engine.OrderID `cbor:"1,keyasint"`
		Position int            `cbor:"2,keyasint,omitempty"`
		At       int64          `cbor:"3,keyasint"`
	}
	// RefundReported notes what the provider, or a person who sends the money by hand, says about a refund.
	RefundReported struct {
		ID          engine.OrderID `cbor:"1,keyasint"`
		Reference   string         `cbor:"2,keyasint"`
		Status      string         `cbor:"3,keyasint"`
		ProviderRef string         `cbor:"4,keyasint,omitempty"`
		At          int64          `cbor:"5,keyasint"`
		Position    int            `cbor:"6,keyasint,omitempty"` // position among the order's refunds
		Note        string         `cbor:"7,keyasint,omitempty"` // note of the person who sent the money by hand
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Created) FactType() engine.FactType         { return typeCreated }
func (*Completed) FactType() engine.FactType       { return typeCompleted }
func (*Ended) FactType() engine.FactType           { return typeEnded }
func (*Extended) FactType() engine.FactType        { return typeExtended }
func (*PaymentBegun) FactType() engine.FactType    { return typePaymentBegun }
func (*PaymentOpened) FactType() engine.FactType   { return typePaymentOpened }
func (*PaymentReported) FactType() engine.FactType { return typePaymentReported }
func (*RefundDue) FactType() engine.FactType       { return typeRefundDue }
func (*RefundDecided) FactType() engine.FactType   { return typeRefundDecided }
func (*RefundReturned) FactType() engine.FactType  { return typeRefundReturned }
func (*RefundReported) FactType() engine.FactType  { return typeRefundReported }

// Facts is the table of facts about orders.
var Facts = []engine.FactDef{
	{Type: typeCreated, Name: "order.created", New: func() engine.Fact { return new(Created) }},
	{Type: typeCompleted, Name: "order.completed", New: func() engine.Fact { return new(Completed) }},
	{Type: typeEnded, Name: "order.ended", New: func() engine.Fact { return new(Ended) }},
	{Type: typeExtended, Name: "order.extended", New: func() engine.Fact { return new(Extended) }},
	{Type: typePaymentBegun, Name: "payment.begun", New: func() engine.Fact { return new(PaymentBegun) }},
	{Type: typePaymentOpened, Name: "payment.opened", New: func() engine.Fact { return new(PaymentOpened) }},
	{Type: typePaymentReported, Name: "payment.reported", New: func() engine.Fact { return new(PaymentReported) }},
	{Type: typeRefundDue, Name: "refund.due", New: func() engine.Fact { return new(RefundDue) }},
	{Type: typeRefundDecided, Name: "refund.decided", New: func() engine.Fact { return new(RefundDecided) }},
	{Type: typeRefundReturned, Name: "refund.returned", New: func() engine.Fact { return new(RefundReturned) }},
	{Type: typeRefundReported, Name: "refund.reported", New: func() engine.Fact { return new(RefundReported) }},
	{Type: typeTransferOffered, Name: "transfer.offered", New: func() engine.Fact { return new(TransferOffered) }},
	{Type: typeTransferRevoked, Name: "transfer.revoked", New: func() engine.Fact { return new(TransferRevoked) }},
	{Type: typeTicketTransferred, Name: "ticket.transferred", New: func() engine.Fact { return new(TicketTransferred) }},
	{Type: typeErased, Name: "order.erased", New: func() engine.Fact { return new(Erased) }},
	{Type: typeTicketRescheduled, Name: "ticket.rescheduled", New: func() engine.Fact { return new(TicketRescheduled) }},
	{Type: typeRescheduleSettled, Name: "ticket.reschedule_settled", New: func() engine.Fact { return new(RescheduleSettled) }},
}
