package ledger

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// These are the commands to an event about its orders. A command that is refused is answered by a *engine.Refusal
// instead of the answer that its comment names.
type (
	// Place asks for an order. The order's id is the command's id: once the order is made, the command sent
	// again gets the order as it was made or, once the ledger has dropped the record, how the order ended, until
	// the ledger forgets that too. A refused command is decided again when it is sent again. The answer is an
	// *OrderReply.
	Place struct {
		Order       engine.OrderID
		Alias       engine.OrderID // the id that the same command had on another day, or zero
		Fingerprint uint64         // hash of the body; the same id with another fingerprint is refused
		Email       string
		Name        string
		Customer    uint64
		Lines       []order.Line // the order's lines, without Name and UnitPrice, which the keepers add
		PresaleCode string
		Promo       *order.Promo `cbor:",omitempty"` // the promo code, without its terms
		Client      uint64       // hash of the client's address; with 0 the velocity rules about orders and codes don't apply
		Scale       float64      // multiplies the limits of the velocity rules; 0 stands for 1
		Holder      string       // secret word of the shopper who may hold the seats of the lines; "" stands for the Principal
		Principal   uint64       // hash of the account or address that asks
		// Issue is set for an order that the organization makes. Sale windows, codes and caps do not bind such
		// an order. Issue.Fee is not set here.
		Issue *order.Issue `cbor:",omitempty"`
		// Late says that the order's admission from the waiting room has run out: an order that was made before
		// is answered, and a new one is refused.
		Late bool `cbor:",omitempty"`
		// Waive says that the buyer of digital goods waives the right to withdraw.
		Waive bool `cbor:",omitempty"`
		// Language is the language in which the order's mails are written.
		Language string `cbor:",omitempty"`
	}
	// PlaceAll asks for several orders: either all are made or none. The orders are the organization's own, so
	// the velocity rules do not bind them. The answer is an *AllReply.
	PlaceAll struct{ Orders []Place }
	// GetOrder reads an order. The answer is an *OrderReply.
	GetOrder struct{ Order engine.OrderID }
	// CancelOrder gives an unpaid order up. If the order is cancelled already, the answer is the same; an order
	// that has ended otherwise is refused. The answer is an *OrderReply.
	CancelOrder struct{ Order engine.OrderID }
	// ExtendOrder gives an unpaid order its window once more. After is how often the order was extended when
	// the request was read. An order that was extended since stays as it is, so of two requests that run at
	// the same time only one counts. A request that comes after the answer to another one counts too. By names
	// the request: a request that has extended the order before does not extend it again, even if a node died
	// in between and After was read again. The answer is an *OrderReply.
	ExtendOrder struct {
		Order engine.OrderID
		After int64
		By    uint64 `cbor:",omitempty"` // hash of the request that asks; 0 in commands of an earlier release
	}
	// BeginPayment opens an attempt with a provider, or returns the open one. WindowMillis is how
	// long the provider lets the buyer pay. A new attempt replaces an open one in another
	// PayCurrency or with a lapsed address. ByLink says that not the buyer pays but somebody with the
	// order's payment link: such attempts are apart from the buyer's. The answer is an *OrderReply.
	BeginPayment struct {
		Order        engine.OrderID
		Provider     string
		Number       string // order number, the stem of the reference
		WindowMillis int64
		Scale        float64 // multiplies the limits of the velocity rules; 0 stands for 1
		PayCurrency  string  // ticker of the coin to pay with; "" stands for any
		Until        int64   // unix milliseconds until which the order waits for money that takes days; with 0, WindowMillis says it
		ByLink       bool    `cbor:",omitempty"`
	}
	// OpenPayment notes the address at which the buyer pays. An attempt that has its address already keeps it.
	// The answer is an *OrderReply.
	OpenPayment struct {
		Order     engine.OrderID
		Reference string
		URL       string
		// ProviderID is the provider's own name of the payment, if the provider is asked by it. Deposit says where
		// coins or a bank transfer go; nil for other money.
		ProviderID string
		Deposit    *order.Deposit
	}
	// ReportPayment reports what the provider says about an attempt. The answer is an *OrderReply.
	ReportPayment struct {
		Order     engine.OrderID
		Reference string
		Status    string // one of the attempt statuses
		Received  int64  // minor units
		Currency  string
		Arrived   string // amount of coins, decimal; empty for other money
	}
	// ReportDeposit reports coins that came to an attempt's address after the attempt was paid. Record is the
	// order's record from the read model, because the ledger may have forgotten it. The answer is an
	// *OrderReply.
	ReportDeposit struct {
		Order     engine.OrderID
		Record    *order.Order
		Reference string // reference of the attempt
		Deposit   string // the provider's name for the deposit
		Received  int64  // minor units
	}
	// ReportRefund reports what the provider says about a refund. The answer is an *OrderReply.
	ReportRefund struct {
		Order       engine.OrderID
		Position    int    // position among the order's refunds, from 0
		Reference   string // reference of the attempt
		Status      string // one of the refund statuses
		ProviderRef string
		Note        string `cbor:",omitempty"` // note of the person who sent the money by hand
	}

	// AskRefund asks that money of an order with tickets goes back. The answer is an *OrderReply.
	AskRefund struct {
		Order    engine.OrderID
		Record   *order.Order // the read model's record, for an order that the ledger has forgotten
		Tickets  []uint32     // serials of the tickets that end with the refund; without any, only money goes back
		Amount   int64        // minor units; if negative, the ledger computes the amount (amountBack)
		Reason   string
		Message  string
		Evidence []string
		By       string // who asks: order.AskedByBuyer or another of these constants
		Approve  bool   // whether it is granted at once
		Manual   bool   // whether the money is sent by hand and not by a provider
		Version  byte   // version of the holder who asks, whose tickets alone go back; 0 stands for any holder
		Asker    uint64 `cbor:",omitempty"` // order.CustomerOf the holder who asks; 0 if no holder asks
	}
	// DecideRefund grants or denies a refund that was asked for, or takes it back. The answer is an *OrderReply.
	DecideRefund struct {
		Order    engine.OrderID
		Record   *order.Order
		Position int // position among the order's refunds, from 0
		Approve  bool
		Amount   int64 // minor units; if negative, what was asked for, or more if the event was cancelled since
		Note     string
		Manual   bool
		Cancel   bool `cbor:",omitempty"` // whether the asker takes the request back; not with Approve
	}

	// Reschedule moves a ticket of a reservation to another date or slot. Version is the version of the holder who
	// asks. A ticket that is already for that date and slot stays as it is. The answer is an *OrderReply.
	Reschedule struct {
		Order   engine.OrderID
		Record  *order.Order // the read model's record, for an order that the ledger has forgotten
		Ticket  uint32       // serial of the ticket
		Version byte
		Date    keeper.Day
		Slot    string // id of the slot; "" stands for the date as a whole
	}
)

// Key is the order's id.
func (p Place) Key() engine.OrderID { return p.Order }

// Key is the order's id.
func (c Reschedule) Key() engine.OrderID { return c.Order }

// Key is the id of the first order.
func (p PlaceAll) Key() engine.OrderID { return p.Orders[0].Order }

// Command makes the types above commands (engine.Command).
func (Place) Command()         {}
func (PlaceAll) Command()      {}
func (GetOrder) Command()      {}
func (CancelOrder) Command()   {}
func (ExtendOrder) Command()   {}
func (BeginPayment) Command()  {}
func (OpenPayment) Command()   {}
func (ReportPayment) Command() {}
func (ReportDeposit) Command() {}
func (ReportRefund) Command()  {}
func (AskRefund) Command()     {}
func (DecideRefund) Command()  {}
func (Reschedule) Command()    {}

// OrderReply is an order as the ledger knows it. Past says that the ledger remembers how the order
// ended but no longer its record, which the read model has.
type OrderReply struct {
	ID     engine.OrderID // id of an order that is Past, in answers to Place and PlaceAll; zero in others
	Order  *order.Order
	Past   bool
	Status string
	Known  bool // whether the Place had made its order before
}

// AllReply has the orders of a PlaceAll.
type AllReply struct{ Orders []OrderReply }

// OrderState is the detail of ORDER_NOT_PAYABLE and similar refusals.
type OrderState struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// Messages are the messages about orders, which the event's kind lists.
var Messages = engine.Messages{
	Commands: []engine.Command{
		Place{},
		PlaceAll{},
		GetOrder{},
		CancelOrder{},
		ExtendOrder{},
		BeginPayment{},
		OpenPayment{},
		ReportPayment{},
		ReportDeposit{},
		ReportRefund{},
		AskRefund{},
		DecideRefund{},
		Reschedule{},
	},
	Replies: []engine.Reply{&OrderReply{}, &AllReply{}},
	Details: []any{OrderState{}, NotEligible{}, NotReschedulable{}},
}
