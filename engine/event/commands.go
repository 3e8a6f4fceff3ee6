package event

import "boxoffice/engine"

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
		Lines       []OrderLine // without Name and UnitPrice
		PresaleCode string
		Client      uint64  // hash of the client's address; 0: no velocity rule applies
		Scale       float64 // multiplies the velocity rules; 0: 1
		Holder      string  // who may hold the seats of the lines; "": the Principal
		Principal   uint64  // the account or address that asks
		// Former are the ids that the release before gave the same command. An
		// order is found by them, and none is made under them.
		Former []engine.OrderID `cbor:",omitempty"`
	}
	// GetOrder reads an order. *OrderReply.
	GetOrder struct{ Order engine.OrderID }
	// CancelOrder gives an unpaid order up. *OrderReply.
	CancelOrder struct{ Order engine.OrderID }
	// BeginPayment opens an attempt with a provider, or returns the open one.
	// WindowMillis is how long the provider lets the buyer pay. *OrderReply.
	BeginPayment struct {
		Order        engine.OrderID
		Provider     string
		Number       string // order number, the stem of the reference
		WindowMillis int64
		Scale        float64 // multiplies the velocity rules; 0: 1
	}
	// OpenPayment notes where the buyer pays. *OrderReply.
	OpenPayment struct {
		Order     engine.OrderID
		Reference string
		URL       string
	}
	// ReportPayment tells what the provider says of an attempt. *OrderReply.
	ReportPayment struct {
		Order     engine.OrderID
		Reference string
		Status    string // one of the attempt statuses
		Received  int64  // minor units
		Currency  string
	}
	// ReportRefund tells what the provider says of a refund. *OrderReply.
	ReportRefund struct {
		Order       engine.OrderID
		Position    int    // among the order's refunds, from 0
		Reference   string // of the attempt
		Status      string // one of the refund statuses
		ProviderRef string
	}

	// Scan admits a ticket, once. The edge has checked the code. *ScanReply.
	Scan struct {
		Ticket uint32 // serial; 0 when the code is none of this event's
		Denied string // why the edge would deny it, e.g. an old QR; "" to judge it
		Gate   string
		Device string
		Method string
		Key    uint64 // hash of the request's idempotency key; 0 without one
		// Request is known for 24 hours, whatever its verdict was.
		Request engine.Request
	}
	// GateStats reads the counters of the gates. *Stats.
	GateStats struct{}
)

// Key is the order's id.
func (p Place) Key() engine.OrderID { return p.Order }

// Command marks the commands.
func (Create) Command()        {}
func (Update) Command()        {}
func (Move) Command()          {}
func (Delete) Command()        {}
func (Get) Command()           {}
func (GetType) Command()       {}
func (Place) Command()         {}
func (GetOrder) Command()      {}
func (CancelOrder) Command()   {}
func (BeginPayment) Command()  {}
func (OpenPayment) Command()   {}
func (ReportPayment) Command() {}
func (ReportRefund) Command()  {}
func (Scan) Command()          {}
func (GateStats) Command()     {}

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

// TypeReply says whether the event has a ticket type.
type TypeReply struct{ Has bool }

// OrderReply is an order as the ledger knows it. Past says that the ledger
// remembers the order's end but not its record: the read model has that.
type OrderReply struct {
	ID     engine.OrderID // of a past order
	Order  *Order
	Past   bool
	Status string
	Known  bool // to a Place that had made its order before
}

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
	Holder  string
	IDCheck bool
	At      int64 // unix milliseconds
	Gate    string
	Known   bool // to a request that had its verdict before
}

// Stats are the counters of an event's gates.
type Stats struct {
	Issued   int64
	Admitted int64
	Scanned  int64
	Denied   int64
	Capacity int64 // NoCapacity or the event's
	PerMin   []MinuteCount
	Gates    []GateCount
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
		Reason  string   `json:"reason,omitempty"` // category_not_sold_yet: no event of its category is published
	}
	// Category is the detail of PRODUCT_TYPE_LOCKED.
	Category struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	// OrderState is the detail of ORDER_NOT_PAYABLE and its like.
	OrderState struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
	}
)
