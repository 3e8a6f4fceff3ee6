package event

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Commands to an event. Each is answered by the record that its comment names last, or by a
// *engine.Refusal.
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
		// Live says that any status in which the event is live satisfies the command. So publishing
		// an event that is already on sale changes nothing.
		Live bool
	}
	// Delete removes a draft or cancels what was published. *Record.
	Delete struct{ Reason string }
	// Get reads the event. *Record.
	Get struct{}
	// GetType asks whether the event has a ticket type. *TypeReply.
	GetType struct{ Type int64 }

	// Place asks for an order. The order's id is the command's id: the command sent again gets the
	// same answer, whatever has become of the order. *OrderReply.
	Place struct {
		Order       engine.OrderID
		Alias       engine.OrderID // the id that the same command had on another day, or zero
		Fingerprint uint64         // hash of the body; the same id with another fingerprint is refused
		Email       string
		Name        string
		Customer    uint64
		Lines       []order.Line // without Name and UnitPrice
		PresaleCode string
		Promo       *order.Promo `cbor:",omitempty"` // the promo code, without its terms
		Client      uint64       // hash of the client's address; 0: no velocity rule applies
		Scale       float64      // multiplies the velocity rules; 0: 1
		Holder      string       // who may hold the seats of the lines; "": the Principal
		Principal   uint64       // the account or address that asks
		// Former are the ids that the previous release gave the same command. An existing order is
		// found by them, but no order is made under them.
		Former []engine.OrderID `cbor:",omitempty"`
		// Issue is set for an order that the organization makes. Sale windows, codes and caps do
		// not bind such an order. Its Fee is not set.
		Issue *order.Issue `cbor:",omitempty"`
		// Waive says that the buyer of digital goods waives the right to withdraw.
		Waive bool `cbor:",omitempty"`
	}
	// PlaceAll asks for several orders, of which either all are made or none. What a single Place
	// says about velocity, codes and holds is ignored, since the organization orders. *AllReply.
	PlaceAll struct{ Orders []Place }
	// GetOrder reads an order. *OrderReply.
	GetOrder struct{ Order engine.OrderID }
	// CancelOrder gives an unpaid order up. *OrderReply.
	CancelOrder struct{ Order engine.OrderID }
	// BeginPayment opens an attempt with a provider, or returns the open one. WindowMillis is how
	// long the provider lets the buyer pay. A new attempt replaces an open one in another
	// PayCurrency or with a lapsed address. *OrderReply.
	BeginPayment struct {
		Order        engine.OrderID
		Provider     string
		Number       string // order number, the stem of the reference
		WindowMillis int64
		Scale        float64 // multiplies the velocity rules; 0: 1
		PayCurrency  string  // ticker of the coin to pay with; empty: any
	}
	// OpenPayment notes the address at which the buyer pays. *OrderReply.
	OpenPayment struct {
		Order     engine.OrderID
		Reference string
		URL       string
		// ProviderID and Deposit are set by providers that take coins.
		ProviderID string
		Deposit    *order.Deposit
	}
	// ReportPayment reports what the provider says about an attempt. *OrderReply.
	ReportPayment struct {
		Order     engine.OrderID
		Reference string
		Status    string // one of the attempt statuses
		Received  int64  // minor units
		Currency  string
		Arrived   string // amount of coins, decimal; empty for other money
	}
	// ReportDeposit reports coins that came to an attempt's address after the attempt was paid.
	// Record is the order as the read model has it, because the ledger may have forgotten it.
	// *OrderReply.
	ReportDeposit struct {
		Order     engine.OrderID
		Record    *order.Order
		Reference string // of the attempt
		Deposit   string // the provider's name for the deposit
		Received  int64  // minor units
	}
	// ReportRefund reports what the provider says about a refund. *OrderReply.
	ReportRefund struct {
		Order       engine.OrderID
		Position    int    // among the order's refunds, from 0
		Reference   string // of the attempt
		Status      string // one of the refund statuses
		ProviderRef string
		Note        string `cbor:",omitempty"` // note of the person who sent the money by hand
	}

	// AskRefund asks for money of an order with tickets. *OrderReply.
	AskRefund struct {
		Order    engine.OrderID
		Record   *order.Order // as the read model has it, for an order that the ledger has forgotten
		Tickets  []uint32     // serials of the tickets that end with the refund; none: only money goes back
		Amount   int64        // minor units; negative: what the tickets cost
		Reason   string
		Message  string
		Evidence []string
		By       string // one of order.AskedBy
		Approve  bool   // whether it is granted at once
		Manual   bool   // whether the money is sent by hand and not by a provider
		Version  byte   // version of the holder who asks, whose tickets alone go back; 0: the tickets of any holder
		Asker    uint64 `cbor:",omitempty"` // order.CustomerOf the holder who asks; 0 if no holder asks
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
		Cancel   bool `cbor:",omitempty"` // whether the asker takes the request back; not with Approve
	}

	// Reschedule moves a ticket of a reservation to another date or slot. Version is that of the
	// holder who asks. A ticket that is already for that date and slot stays as it is. *OrderReply.
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
		Ticket uint32 // serial; 0 if the code is not of this event
		Denied string // why the edge denies it, such as an old QR code; "" if the event is to judge it
		// Version is that of the holder whose code it is; 0 if the code does not say.
		Version byte `cbor:",omitempty"`
		Printed bool `cbor:",omitempty"` // a code on paper, which does not rotate
		Gate    string
		Device  string
		Method  string
		Key     uint64 // hash of the request's idempotency key; 0 without one
		// Request is remembered for 24 hours, whatever the verdict on it was.
		Request engine.Request
	}
	// Transfer offers a ticket to somebody else. Version is that of the holder who offers it.
	// *TransferReply.
	Transfer struct {
		Ticket  uint32 // serial
		Version byte
		From    string // e-mail
		To      string
		Name    string // of the recipient
	}
	// RevokeTransfer takes an offered ticket back. *TransferReply.
	RevokeTransfer struct {
		Ticket  uint32
		Version byte
	}
	// ClaimTransfer makes the recipient the holder. *TransferReply.
	ClaimTransfer struct {
		Ticket uint32
		Round  uint16 // counts the ticket's transfers
	}
	// Erase replaces somebody's name and address by a pseudonym. *Record.
	Erase struct {
		Customer  uint64         // order.CustomerOf the address
		Pseudonym string         // order.Pseudonym
		Orders    []*order.Order // all that name the person, as the read model has them
	}
	// GateRoster reads what gates need to know about all tickets. *Roster.
	GateRoster struct{}
	// UndoScan takes a ticket's admission back. *ScanReply, without a status.
	UndoScan struct {
		Ticket  uint32
		Version byte // of the holder whose code was shown
	}
	// Touch says that something about the event has changed which its record does not contain, such
	// as its schedule. The world is told that the event was updated. *Record.
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

// Record describes an event, as its actor answers.
type Record struct {
	Number    int64
	Details   *Details
	Status    string
	CreatedAt int64 // unix milliseconds
	UpdatedAt int64
	Revision  uint64
	Types     int   // ticket types
	Sold      bool  // at least one ticket was issued
	Room      int64 // units that the event's capacity still admits, or NoCapacity; only Get fills it
}

// TypeReply says whether the event has a ticket type.
type TypeReply struct{ Has bool }

// OrderReply is an order as the ledger knows it. Past says that the ledger remembers how the order
// ended but no longer its record, which the read model has.
type OrderReply struct {
	ID     engine.OrderID // of an order that is Past
	Order  *order.Order
	Past   bool
	Status string
	Known  bool // whether the Place had made its order before
}

// AllReply has the orders of a PlaceAll.
type AllReply struct{ Orders []OrderReply }

// The outcomes of a scan (docs/rules.md, Gates).
const (
	ScanSuccess    = "success"
	ScanDuplicate  = "denied_duplicate"
	ScanCancelled  = "denied_cancelled"
	ScanExpired    = "denied_expired"
	ScanWrongEvent = "denied_wrong_event"
)

// ScanReply is the verdict on a scan. For a duplicate, At and Gate are those of the first
// admission.
type ScanReply struct {
	Status  string
	Reason  string
	Ticket  uint32
	Version byte // version of the ticket's holder; 0 for the first holder
	Holder  string
	IDCheck bool
	At      int64 // unix milliseconds
	Gate    string
	Known   bool // whether the request had its verdict before
}

// TransferReply is the state of an offered ticket after a command.
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
	Ended    int64 // tickets that were refunded or cancelled before anybody was let in with them
	Capacity int64 // NoCapacity or the event's
	PerMin   []MinuteCount
	Gates    []GateCount
}

// Roster is what gates need to know about the tickets of an event. The tickets of a group are of
// one type and have consecutive serials.
type Roster struct {
	Letters      []byte          // one for each ticket, by serial: i, c, x, r or e
	First        []uint32        // serials of the groups' first tickets, ascending
	Types        []int64         // ticket types of the groups
	Opens        []int64         // when the groups begin to admit, unix milliseconds; empty if nothing is booked
	Closes       []int64         // when the groups cease to admit; 0: when the event does
	DoorCodes    bool            // whether offline gates may know door codes
	RotatingOnly bool            // whether gates refuse codes that don't rotate
	Versions     map[uint32]byte // of the holders of tickets that have changed hands
	// Rescheduled says when those tickets admit that were moved to another date than their group's.
	Rescheduled map[uint32]Window `cbor:",omitempty"`
}

// Window returns from when until when a ticket of a group admits, in unix milliseconds. Zeros mean
// that it admits whenever the event does.
func (r *Roster) Window(ticket uint32, group int) (opens, closes int64) {
	if w, moved := r.Rescheduled[ticket]; moved {
		return w.Opens, w.Closes
	}
	if group < len(r.Closes) && r.Closes[group] > 0 {
		return r.Opens[group], r.Closes[group]
	}
	return 0, 0
}

// MinuteCount says how many people were admitted in one minute.
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
	// pending, event_over or certificate.
	NotTransferable struct {
		Reason string `json:"reason"`
	}
	// OrderState is the detail of ORDER_NOT_PAYABLE and similar refusals.
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
	// NotTransferableEarned is of a ticket by which somebody has earned a certificate. The edge
	// refuses it: events know nothing of courses' learners.
	NotTransferableEarned = "certificate"
)
