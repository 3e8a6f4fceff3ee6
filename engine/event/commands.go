package event

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Commands to an event. Each is answered by the record that its comment names,
// or by a *engine.Refusal.
type (
	// Create makes the event, as a draft. The actor's number is the
	// command's id. *Record.
	Create struct{ Details Details }
	// Update replaces the record, if it is still at Revision. *Record.
	Update struct {
		Details  Details
		Revision uint64
	}
	// Move changes the status. *Record.
	Move struct {
		To     string
		Reason string
		// Live says that any status in which the event is live will do instead:
		// to publish what is on sale already changes nothing.
		Live bool
	}
	// Delete removes a draft or cancels what was published. *Record.
	Delete struct{ Reason string }
	// Get reads the event. *Record.
	Get struct{}
	// GetType asks whether the event has a ticket type. *TypeReply.
	GetType struct{ Type int64 }

	// Place asks for an order. Its id is the command's: sent again, it has
	// the same answer, whatever became of the order. *OrderReply.
	Place struct {
		Order       engine.OrderID
		Alias       engine.OrderID // that the same command had on another day, or zero
		Fingerprint uint64         // of the body: another one under the same id is refused
		Email       string
		Name        string
		Customer    uint64
		Lines       []order.Line // without Name and UnitPrice
		PresaleCode string
		Promo       *order.Promo `cbor:",omitempty"` // the code that it names, without terms
		Client      uint64       // hash of the client's address; 0: no velocity rule applies
		Scale       float64      // multiplies the velocity rules; 0: 1
		Holder      string       // who may hold the seats of the lines; "": the Principal
		Principal   uint64       // the account or address that asks
		// Former are the ids that the release before gave the same command. An
		// order is found by them, and none is made under them.
		Former []engine.OrderID `cbor:",omitempty"`
		// Issue is of an order that the organization makes: windows, codes and caps do not
		// bind it. Its Fee is not set.
		Issue *order.Issue `cbor:",omitempty"`
		// Waive says that the buyer of what is digital waives the right to withdraw.
		Waive bool `cbor:",omitempty"`
	}
	// PlaceAll asks for orders of which all are made, or none. What one says that the
	// organization does not know (velocity, codes, holds) is not heard. *AllReply.
	PlaceAll struct{ Orders []Place }
	// GetOrder reads an order. *OrderReply.
	GetOrder struct{ Order engine.OrderID }
	// CancelOrder gives an unpaid order up. *OrderReply.
	CancelOrder struct{ Order engine.OrderID }
	// BeginPayment opens an attempt with a provider, or returns the open one.
	// WindowMillis is how long the provider lets the buyer pay. An open attempt in another
	// PayCurrency, or whose address has lapsed, gives way to a new one. *OrderReply.
	BeginPayment struct {
		Order        engine.OrderID
		Provider     string
		Number       string // order number, the stem of the reference
		WindowMillis int64
		Scale        float64 // multiplies the velocity rules; 0: 1
		PayCurrency  string  // ticker of the coin to pay with; empty: any
	}
	// OpenPayment notes where the buyer pays. *OrderReply.
	OpenPayment struct {
		Order     engine.OrderID
		Reference string
		URL       string
		// ProviderID and Deposit are of providers that take coins.
		ProviderID string
		Deposit    *order.Deposit
	}
	// ReportPayment tells what the provider says of an attempt. *OrderReply.
	ReportPayment struct {
		Order     engine.OrderID
		Reference string
		Status    string // one of the attempt statuses
		Received  int64  // minor units
		Currency  string
		Arrived   string // coins, decimal; empty of other money
	}
	// ReportDeposit tells of coins that came to an attempt's address after it was paid. The
	// Record is of an order that the ledger may have forgotten. *OrderReply.
	ReportDeposit struct {
		Order     engine.OrderID
		Record    *order.Order
		Reference string // of the attempt
		Deposit   string // the provider's name of it
		Received  int64  // minor units
	}
	// ReportRefund tells what the provider says of a refund. *OrderReply.
	ReportRefund struct {
		Order       engine.OrderID
		Position    int    // among the order's refunds, from 0
		Reference   string // of the attempt
		Status      string // one of the refund statuses
		ProviderRef string
		Note        string `cbor:",omitempty"` // of the person who sent it by hand
	}

	// AskRefund asks for money of an order with tickets. *OrderReply.
	AskRefund struct {
		Order    engine.OrderID
		Record   *order.Order // as the read model has it, for an order that the ledger has forgotten
		Tickets  []uint32     // serials that end with it; none: money alone
		Amount   int64        // minor units; negative: what the tickets cost
		Reason   string
		Message  string
		Evidence []string
		By       string // one of order.AskedBy
		Approve  bool   // it is granted at once
		Manual   bool   // no provider sends the money
		Version  byte   // of the tickets' holder who asks: nobody else's go back; 0: whoever holds them
		Asker    uint64 `cbor:",omitempty"` // order.CustomerOf the holder who asks; 0 if nobody of them does
	}
	// DecideRefund grants or denies a refund that was asked for, or takes it back. *OrderReply.
	DecideRefund struct {
		Order    engine.OrderID
		Record   *order.Order
		Position int // among the order's refunds
		Approve  bool
		Amount   int64 // minor units; negative: what was asked for
		Note     string
		Manual   bool
		Cancel   bool `cbor:",omitempty"` // who asked wants it no more; not with Approve
	}

	// Reschedule moves a ticket of a reservation to another date or slot, by who holds it in a
	// Version. One that is for them already stays as it is. *OrderReply.
	Reschedule struct {
		Order   engine.OrderID
		Record  *order.Order // as the read model has it, for an order that the ledger has forgotten
		Ticket  uint32       // serial
		Version byte
		Date    keeper.Day
		Slot    string // id; "": the date as a whole
	}

	// Scan admits a ticket, once. The edge has checked the code. *ScanReply.
	Scan struct {
		Ticket uint32 // serial; 0 when the code is none of this event's
		Denied string // why the edge would deny it, e.g. an old QR; "" to judge it
		// Version is the holder's that the code is of; 0 of a code that says none.
		Version byte `cbor:",omitempty"`
		Printed bool `cbor:",omitempty"` // a code on paper, which does not rotate
		Gate    string
		Device  string
		Method  string
		Key     uint64 // hash of the request's idempotency key; 0 without one
		// Request is known for 24 hours, whatever its verdict was.
		Request engine.Request
	}
	// Transfer offers a ticket to somebody, by who holds it in a Version. *TransferReply.
	Transfer struct {
		Ticket  uint32 // serial
		Version byte
		From    string // e-mail
		To      string
		Name    string // of the recipient
	}
	// RevokeTransfer takes that back. *TransferReply.
	RevokeTransfer struct {
		Ticket  uint32
		Version byte
	}
	// ClaimTransfer makes the recipient the holder. *TransferReply.
	ClaimTransfer struct {
		Ticket uint32
		Round  uint16 // of the ticket's transfers
	}
	// Erase replaces somebody's name and address by a pseudonym. *Record.
	Erase struct {
		Customer  uint64         // order.CustomerOf the address
		Pseudonym string         // order.Pseudonym
		Orders    []*order.Order // all that name the person, as the read model has them
	}
	// GateRoster reads what gates have to know of all tickets. *Roster.
	GateRoster struct{}
	// UndoScan takes a ticket's admission back. *ScanReply, without a status.
	UndoScan struct {
		Ticket  uint32
		Version byte // of the holder whose code was shown
	}
	// Touch says that something about the event changed which its record does not
	// carry, as its schedule: the world is told that the event was updated. *Record.
	Touch struct{}
	// GateStats reads the counters of the gates. *Stats.
	GateStats struct{}
)

// Key is the order's id.
func (p Place) Key() engine.OrderID { return p.Order }

// Key is the order's id.
func (c Reschedule) Key() engine.OrderID { return c.Order }

// Key is the id of the first order.
func (p PlaceAll) Key() engine.OrderID { return p.Orders[0].Order }

// Command marks the commands.
func (Create) Command()         {}
func (Update) Command()         {}
func (Move) Command()           {}
func (Delete) Command()         {}
func (Get) Command()            {}
func (GetType) Command()        {}
func (Place) Command()          {}
func (PlaceAll) Command()       {}
func (GetOrder) Command()       {}
func (CancelOrder) Command()    {}
func (BeginPayment) Command()   {}
func (OpenPayment) Command()    {}
func (ReportPayment) Command()  {}
func (ReportDeposit) Command()  {}
func (ReportRefund) Command()   {}
func (AskRefund) Command()      {}
func (DecideRefund) Command()   {}
func (Reschedule) Command()     {}
func (Scan) Command()           {}
func (GateRoster) Command()     {}
func (UndoScan) Command()       {}
func (GateStats) Command()      {}
func (Touch) Command()          {}
func (Transfer) Command()       {}
func (RevokeTransfer) Command() {}
func (ClaimTransfer) Command()  {}
func (Erase) Command()          {}

// Record is an event as its actor answers for it.
type Record struct {
	Number    int64
	Details   *Details
	Status    string
	CreatedAt int64 // unix milliseconds
	UpdatedAt int64
	Revision  uint64
	Types     int   // ticket types
	Sold      bool  // at least one ticket was issued
	Room      int64 // what the event's capacity still admits, or NoCapacity; Get alone tells it
}

// TypeReply reports whether the event has a ticket type.
type TypeReply struct{ Has bool }

// OrderReply is an order as the ledger knows it. Past says that the ledger
// remembers the order's end but not its record: the read model has that.
type OrderReply struct {
	ID     engine.OrderID // of a past order
	Order  *order.Order
	Past   bool
	Status string
	Known  bool // to a Place that had made its order before
}

// AllReply are the orders of a PlaceAll.
type AllReply struct{ Orders []OrderReply }

// The outcomes of a scan (docs/rules.md, Gates).
const (
	ScanSuccess    = "success"
	ScanDuplicate  = "denied_duplicate"
	ScanCancelled  = "denied_cancelled"
	ScanExpired    = "denied_expired"
	ScanWrongEvent = "denied_wrong_event"
)

// ScanReply is the verdict on a scan. For a duplicate, At and Gate are those of
// the first admission.
type ScanReply struct {
	Status  string
	Reason  string
	Ticket  uint32
	Version byte // of the ticket's holder; 0 of the first
	Holder  string
	IDCheck bool
	At      int64 // unix milliseconds
	Gate    string
	Known   bool // to a request that had its verdict before
}

// TransferReply is an offered ticket as a command has left it.
type TransferReply struct {
	Transfer order.Transfer
	Order    engine.OrderID
	Version  byte // of the ticket's holder
}

// Stats are the counters of an event's gates.
type Stats struct {
	Issued   int64
	Admitted int64
	Scanned  int64
	Denied   int64
	Ended    int64 // tickets that were refunded or cancelled, and with which nobody was let in
	Capacity int64 // NoCapacity or the event's
	PerMin   []MinuteCount
	Gates    []GateCount
}

// Roster is what gates have to know of the tickets of an event. Tickets of one group are
// of one type, and neighbours.
type Roster struct {
	Letters      []byte          // of the tickets, by serial: i, c, x, r or e
	First        []uint32        // serials of the groups' first tickets, ascending
	Types        []int64         // of the groups
	Opens        []int64         // from when the groups admit, in milliseconds; none where nothing is booked
	Closes       []int64         // until when; 0: as the event does
	DoorCodes    bool            // gates that are offline may know door codes
	RotatingOnly bool            // gates refuse codes that don't rotate
	Versions     map[uint32]byte // of the holders of tickets that have changed hands
	// Rescheduled are when tickets admit that were moved to another date than their group's.
	Rescheduled map[uint32]Window `cbor:",omitempty"`
}

// Window is from when until when a ticket of a group admits, in milliseconds; zeros: as the
// event does.
func (r *Roster) Window(ticket uint32, group int) (opens, closes int64) {
	if w, moved := r.Rescheduled[ticket]; moved {
		return w.Opens, w.Closes
	}
	if group < len(r.Closes) && r.Closes[group] > 0 {
		return r.Opens[group], r.Closes[group]
	}
	return 0, 0
}

// MinuteCount is how many were admitted in one minute.
type MinuteCount struct {
	Minute int64 `cbor:"1,keyasint"` // unix minutes
	Count  int64 `cbor:"2,keyasint"`
}

// GateCount are the counters of one gate.
type GateCount struct {
	Name     string `cbor:"1,keyasint"`
	Scanned  int64  `cbor:"2,keyasint"`
	Admitted int64  `cbor:"3,keyasint"`
	Denied   int64  `cbor:"4,keyasint"`
}

// The details of refusals (docs/rules.md, Errors).
type (
	// Transition is the detail of INVALID_STATUS_TRANSITION.
	Transition struct {
		From    string   `json:"from"`
		To      string   `json:"to"`
		Allowed []string `json:"allowed"`
	}
	// Category is the detail of PRODUCT_TYPE_LOCKED.
	Category struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	// NotTransferable is the detail of TICKET_NOT_TRANSFERABLE. Reason is type, status,
	// pending or event_over.
	NotTransferable struct {
		Reason string `json:"reason"`
	}
	// OrderState is the detail of ORDER_NOT_PAYABLE and its like.
	OrderState struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
	}
)

// Why a ticket can't be passed on.
const (
	NotTransferableType    = "type"
	NotTransferableStatus  = "status"
	NotTransferablePending = "pending"
	NotTransferableOver    = "event_over"
)
