package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Order statuses (docs/rules.md, Statuses).
const (
	Pending           = "pending"
	Processing        = "processing"
	Completed         = "completed"
	Failed            = "failed"
	Cancelled         = "cancelled"
	Expired           = "expired"
	Refunded          = "refunded"
	PartiallyRefunded = "partially_refunded"
)

// Attempt statuses (docs/rules.md, Statuses).
const (
	AttemptPending    = "pending"
	AttemptProcessing = "processing"
	AttemptSucceeded  = "succeeded"
	AttemptFailed     = "failed"
	AttemptExpired    = "expired"
	AttemptUnderpaid  = "underpaid"
	AttemptCancelled  = "cancelled"
	AttemptRefunded   = "refunded"
)

// Refund statuses that money sent back by itself passes through.
const (
	RefundProcessing = "processing"
	RefundProcessed  = "processed"
	RefundFailed     = "failed"
)

// Order is the record of an order, as the ledger keeps it and as facts and
// replies carry it. It is never changed, only replaced by a changed copy.
// Times are unix milliseconds, money is minor units.
type Order struct {
	ID          engine.OrderID `cbor:"1,keyasint"`
	Serial      keeper.Serial  `cbor:"2,keyasint"`
	Fingerprint uint64         `cbor:"3,keyasint,omitempty"` // of the request's body
	Status      string         `cbor:"4,keyasint"`
	Email       string         `cbor:"5,keyasint"`
	Name        string         `cbor:"6,keyasint,omitempty"`
	Customer    uint64         `cbor:"7,keyasint"` // who the caps count for
	Lines       []OrderLine    `cbor:"8,keyasint"`
	Currency    string         `cbor:"9,keyasint"`
	Subtotal    int64          `cbor:"10,keyasint"`
	Fees        int64          `cbor:"11,keyasint,omitempty"` // on top, paid by the buyer
	Absorbed    int64          `cbor:"12,keyasint,omitempty"` // fee taken out of the payout
	Total       int64          `cbor:"13,keyasint"`
	CreatedAt   int64          `cbor:"14,keyasint"`
	ExpiresAt   int64          `cbor:"15,keyasint"`
	UpdatedAt   int64          `cbor:"16,keyasint"`
	EndedAt     int64          `cbor:"17,keyasint,omitempty"`
	FirstTicket uint32         `cbor:"18,keyasint,omitempty"` // serial of the first of its tickets
	Attempts    []Attempt      `cbor:"19,keyasint,omitempty"`
	Refunds     []Refund       `cbor:"20,keyasint,omitempty"`
	Extended    bool           `cbor:"21,keyasint,omitempty"` // the window was extended at pay
	PlacedUntil int64          `cbor:"22,keyasint,omitempty"` // ExpiresAt before that; 0: it still is
	Client      uint64         `cbor:"23,keyasint,omitempty"` // hash of the client's address, whom the velocity rules count; 0: none
	Shopper     *Shopper       `cbor:"24,keyasint,omitempty"` // who may have held its seats; nil: it has none
}

// Shopper is whose holds an order for seats may take over: those of the Holder,
// or, without one, those of the Principal.
type Shopper struct {
	Holder    string `cbor:"1,keyasint,omitempty"`
	Principal uint64 `cbor:"2,keyasint,omitempty"` // the account or address that asks
}

// OrderLine is one line of an order.
type OrderLine struct {
	Type          int64  `cbor:"1,keyasint"` // number of the ticket type
	Name          string `cbor:"2,keyasint"` // of the ticket type
	Quantity      int64  `cbor:"3,keyasint"`
	UnitPrice     int64  `cbor:"4,keyasint"`
	AttendeeName  string `cbor:"5,keyasint,omitempty"`
	AttendeeEmail string `cbor:"6,keyasint,omitempty"`
	// Seats are the ids of the seats that a seated line is for: the k-th is
	// that of the line's k-th ticket.
	Seats []string `cbor:"7,keyasint,omitempty"`
}

// Attempt is one try to pay an order with a provider.
type Attempt struct {
	Reference string `cbor:"1,keyasint"` // ours, at the provider
	Provider  string `cbor:"2,keyasint"`
	Status    string `cbor:"3,keyasint"`
	Amount    int64  `cbor:"4,keyasint"` // asked for
	Received  int64  `cbor:"5,keyasint,omitempty"`
	URL       string `cbor:"6,keyasint,omitempty"` // where the buyer pays
	At        int64  `cbor:"7,keyasint"`
}

// Open says whether money may still come of the attempt.
func (a *Attempt) Open() bool {
	return a.Status == AttemptPending || a.Status == AttemptProcessing
}

// Refund is money that goes back by itself: it came late, short or twice.
type Refund struct {
	Reference   string `cbor:"1,keyasint"` // of the attempt
	Amount      int64  `cbor:"2,keyasint"`
	Reason      string `cbor:"3,keyasint"` // late, underpaid, twice, cancelled
	Status      string `cbor:"4,keyasint"`
	ProviderRef string `cbor:"5,keyasint,omitempty"`
	At          int64  `cbor:"6,keyasint"`
	ProcessedAt int64  `cbor:"7,keyasint,omitempty"`
}

// Tickets is how many tickets the order is for.
func (o *Order) Tickets() int64 {
	var n int64
	for i := range o.Lines {
		n += o.Lines[i].Quantity
	}
	return n
}

// mostTickets of an order are far more than anybody can buy at once.
const mostTickets = 1 << 20

// HasSoundSize says whether the order has so few tickets that they can be listed. One
// that has not was never placed, but a damaged journal may say so, and its tickets
// would take all memory.
func (o *Order) HasSoundSize() bool {
	left := int64(mostTickets)
	for i := range o.Lines {
		if left -= max(0, min(o.Lines[i].Quantity, mostTickets+1)); left < 0 {
			return false
		}
	}
	return true
}

// Unpaid says whether the order waits for money.
func (o *Order) Unpaid() bool { return unpaid(o.Status) }

func unpaid(status string) bool { return status == Pending || status == Processing }

// Placed is the order as its Place was answered, whatever has become of it
// since: what a repeat is answered with, byte for byte.
func (o *Order) Placed() *Order {
	c := *o
	c.Attempts, c.Refunds, c.PlacedUntil = nil, nil, 0
	if o.Total == 0 { // completed by the same decision
		c.Status, c.UpdatedAt = Completed, o.EndedAt
		return &c
	}
	c.Status, c.UpdatedAt, c.EndedAt, c.FirstTicket = Pending, o.CreatedAt, 0, 0
	if c.Extended = false; o.PlacedUntil != 0 {
		c.ExpiresAt = o.PlacedUntil
	}
	return &c
}

// Attempt returns the attempt with a reference, or nil.
func (o *Order) Attempt(reference string) *Attempt {
	for i := range o.Attempts {
		if o.Attempts[i].Reference == reference {
			return &o.Attempts[i]
		}
	}
	return nil
}

// sentBack is how much of an attempt's money has gone back or is to.
func (o *Order) sentBack(reference string) int64 {
	var sum int64
	for i := range o.Refunds {
		if o.Refunds[i].Reference == reference {
			sum += o.Refunds[i].Amount
		}
	}
	return sum
}

// Holder is the name and e-mail on the i-th line's tickets.
func (o *Order) Holder(i int) (name, email string) {
	l := &o.Lines[i]
	name, email = l.AttendeeName, l.AttendeeEmail
	if name == "" {
		name = o.Name
	}
	if email == "" {
		email = o.Email
	}
	return name, email
}

// Seated says whether some of the order's tickets are for seats.
func (o *Order) Seated() bool {
	return slices.ContainsFunc(o.Lines, func(l OrderLine) bool { return len(l.Seats) > 0 })
}

// Seat is the id of the seat of one of the order's tickets, or "" without one.
func (o *Order) Seat(ticket uint32) string {
	first := o.FirstTicket
	for i := range o.Lines {
		l := &o.Lines[i]
		k := ticket - first
		if int64(k) < l.Quantity && int(k) < len(l.Seats) {
			return l.Seats[k]
		}
		first += uint32(l.Quantity)
	}
	return ""
}

// FeeBasisPoints is the platform's fee per paid ticket at checkout
// (docs/rules.md, Sales and fees).
const FeeBasisPoints = 500

// Fee is the platform's fee on one ticket, rounded half up.
func Fee(price int64) int64 { return (price*FeeBasisPoints + 5_000) / 10_000 }

// total sets the order's sums from its lines.
func (o *Order) total(absorb bool) {
	o.Subtotal, o.Fees, o.Absorbed = 0, 0, 0
	for i := range o.Lines {
		l := &o.Lines[i]
		o.Subtotal += l.UnitPrice * l.Quantity
		o.Fees += Fee(l.UnitPrice) * l.Quantity
	}
	if absorb {
		o.Fees, o.Absorbed = 0, o.Fees
	}
	o.Total = o.Subtotal + o.Fees
}
