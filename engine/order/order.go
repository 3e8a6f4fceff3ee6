// Package order is the record of an order: its statuses, its lines, its attempts to be
// paid and its refunds, the facts about it, what it becomes with each (Fold), and the
// text that the ledger keeps it as (Pack).
//
// The event's actor decides about orders (engine/event) and readers of the journal fold
// the same facts into their tables, so that all say the same. Nothing here has a state
// of its own. An order has 20 lines and 20 attempts at most, which the ledger sees to.
package order

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Order statuses (docs/rules.md, Statuses).
const (
	StatusPending           = "pending"
	StatusProcessing        = "processing"
	StatusCompleted         = "completed"
	StatusFailed            = "failed"
	StatusCancelled         = "cancelled"
	StatusExpired           = "expired"
	StatusRefunded          = "refunded"
	StatusPartiallyRefunded = "partially_refunded"

	// StatusOffered is that of an order which holds stock for somebody who waits, until he
	// claims it. Nobody but its ledger knows of it.
	StatusOffered = "offered"
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

// Refund statuses (docs/rules.md, Statuses). Money that is sent back by itself begins with
// processing.
const (
	RefundRequested  = "requested"
	RefundApproved   = "approved"
	RefundDenied     = "denied"
	RefundCancelled  = "cancelled"
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
	Lines       []Line         `cbor:"8,keyasint"`
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
	Promo       *Promo         `cbor:"25,keyasint,omitempty"` // nil: it was placed without a code
	Discount    int64          `cbor:"26,keyasint,omitempty"` // what the code takes off the subtotal
	Digital     bool           `cbor:"27,keyasint,omitempty"` // its tickets are for what is delivered, not for a place
	Holders     []Holder       `cbor:"28,keyasint,omitempty"` // of the tickets that have changed hands
	Issue       *Issue         `cbor:"29,keyasint,omitempty"` // nil: a buyer placed it
	WaivedAt    int64          `cbor:"30,keyasint,omitempty"` // when its buyer waived the right to withdraw; 0: not
	Rescheduled []Rescheduled  `cbor:"31,keyasint,omitempty"` // the tickets that were moved to another date
}

// Issue is what belongs to an order that the organization makes by itself. It is completed
// as it is made, whatever it costs, and no money for it comes to us.
type Issue struct {
	Comp      bool   `cbor:"1,keyasint,omitempty"` // its tickets are given away
	Reference string `cbor:"2,keyasint,omitempty"` // the organization's own name of the order
	Quiet     bool   `cbor:"3,keyasint,omitempty"` // nobody gets mail
	Fee       int64  `cbor:"4,keyasint,omitempty"` // taken from the organization's wallet
	Note      string `cbor:"5,keyasint,omitempty"` // to whom the tickets are given
	// Wallet is the one that pays the fee; the zero Ref without one.
	Wallet engine.Ref `cbor:"6,keyasint,omitzero"`
}

// Promo is the promo code of an order.
type Promo struct {
	Ref  engine.Ref `cbor:"1,keyasint"`
	Code string     `cbor:"2,keyasint"` // as the code was named when it was granted
	// Terms are what the code granted, and nil until it has.
	Terms *keeper.Discount `cbor:"3,keyasint,omitempty"`
}

// Shopper is whose holds an order for seats may take over: those of the Holder,
// or, without one, those of the Principal.
type Shopper struct {
	Holder    string `cbor:"1,keyasint,omitempty"`
	Principal uint64 `cbor:"2,keyasint,omitempty"` // the account or address that asks
}

// Line is one line of an order.
type Line struct {
	Type          int64  `cbor:"1,keyasint"` // number of the ticket type
	Name          string `cbor:"2,keyasint"` // of the ticket type
	Quantity      int64  `cbor:"3,keyasint"`
	UnitPrice     int64  `cbor:"4,keyasint"`
	AttendeeName  string `cbor:"5,keyasint,omitempty"`
	AttendeeEmail string `cbor:"6,keyasint,omitempty"`
	// Seats are the ids of the seats that a seated line is for: the k-th is
	// that of the line's k-th ticket.
	Seats []string `cbor:"7,keyasint,omitempty"`
	// Discount is what the promo code takes off all of the line's tickets.
	Discount int64 `cbor:"8,keyasint,omitempty"`
	// Visit is when the tickets of a reservation admit; nil of other events. Until the
	// calendar has granted it, it is a date and a slot's id.
	Visit *keeper.Visit `cbor:"9,keyasint,omitempty"`
	// Terms are those that the line was sold with; nil for those that most have.
	Terms *keeper.Terms `cbor:"10,keyasint,omitempty"`
}

// Transferable reports whether the line's tickets may be passed on.
func (l *Line) Transferable() bool { return l.Terms == nil || !l.Terms.Bound }

// Refundable reports whether the line's tickets were sold with a right to a refund.
func (l *Line) Refundable() bool { return l.Terms != nil && l.Terms.Refundable }

// FaceValue is what the k-th ticket of the line costs after the discount, without fees.
// What can't be divided evenly comes off the first tickets.
func (l *Line) FaceValue(k int64) int64 {
	off := l.Discount / l.Quantity
	if k < l.Discount%l.Quantity {
		off++
	}
	return l.UnitPrice - off
}

// sumFees returns the platform's fees on the line's tickets, each rounded by itself.
func (l *Line) sumFees() int64 {
	if l.Quantity < 1 {
		return 0
	}
	dearer := l.Discount % l.Quantity // tickets off which comes one unit more
	return Fee(l.FaceValue(0))*dearer + Fee(l.FaceValue(l.Quantity-1))*(l.Quantity-dearer)
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
	// ProviderID is the provider's own name of the payment, where it is asked by that.
	ProviderID string  `cbor:"8,keyasint,omitempty"`
	Deposit    Deposit `cbor:"9,keyasint,omitzero"`
}

// Deposit is what coins a buyer pays an attempt with. Amounts are decimals, in coins.
type Deposit struct {
	Currency   string `cbor:"1,keyasint,omitempty"` // ticker; all that is known before the provider has answered
	Address    string `cbor:"2,keyasint,omitempty"`
	Amount     string `cbor:"3,keyasint,omitempty"`
	Network    string `cbor:"4,keyasint,omitempty"`
	ExtraID    string `cbor:"5,keyasint,omitempty"` // memo or tag
	ValidUntil int64  `cbor:"6,keyasint,omitempty"` // unix milliseconds
	Arrived    string `cbor:"7,keyasint,omitempty"`
}

// Opened reports whether the buyer has been told where to pay.
func (a *Attempt) Opened() bool { return a.URL != "" || a.Deposit.Address != "" }

// Open reports whether money may still come of the attempt.
func (a *Attempt) Open() bool {
	return a.Status == AttemptPending || a.Status == AttemptProcessing
}

// Refund is money that goes back: by itself, for it was not what the order took, or
// because somebody has asked for it.
type Refund struct {
	Reference   string `cbor:"1,keyasint"` // of the attempt
	Amount      int64  `cbor:"2,keyasint"`
	Reason      string `cbor:"3,keyasint"` // of money that goes back by itself, one of the Back
	Status      string `cbor:"4,keyasint"`
	ProviderRef string `cbor:"5,keyasint,omitempty"`
	At          int64  `cbor:"6,keyasint"`
	ProcessedAt int64  `cbor:"7,keyasint,omitempty"`
	Ask         *Ask   `cbor:"8,keyasint,omitempty"` // nil of money that goes back by itself
	// Currency is of money that came in another one than the order's.
	Currency string `cbor:"9,keyasint,omitempty"`
	// Deposit is the provider's name of coins that came to the attempt's address after it
	// was paid: a payment of its own there, and no money of the attempt.
	Deposit string `cbor:"10,keyasint,omitempty"`
	// Note is what the person remarked who sent the money by hand.
	Note string `cbor:"11,keyasint,omitempty"`
}

// Why money goes back by itself.
const (
	BackLate      = "late"      // the order had ended, and its tickets were gone
	BackUnderpaid = "underpaid" // it was less than the price
	BackOverpaid  = "overpaid"  // what was more than the price
	BackTwice     = "twice"     // the order was paid already
	BackCancelled = "cancelled" // the order or its event was
	BackCurrency  = "currency"  // it was of another currency than the price
	BackDeposit   = "deposit"   // coins came to an address that had been paid
)

// isApart reports whether the refund gives back money that does not count for its attempt.
func (r *Refund) isApart() bool { return r.Currency != "" || r.Deposit != "" }

// CurrencyIn is the refund's currency, in an order of a currency.
func (r *Refund) CurrencyIn(ofOrder string) string {
	if r.Currency != "" {
		return r.Currency
	}
	return ofOrder
}

// Ask is what belongs to a refund that somebody has asked for. It is replaced, never
// changed.
type Ask struct {
	Tickets   []uint32      `cbor:"1,keyasint,omitempty"` // serials that end with it; none: money alone goes back
	By        string        `cbor:"2,keyasint"`           // one of the AskedBy
	Message   string        `cbor:"3,keyasint,omitempty"`
	Evidence  []string      `cbor:"4,keyasint,omitempty"` // addresses
	Note      string        `cbor:"5,keyasint,omitempty"` // of the decision
	DecidedAt int64         `cbor:"6,keyasint,omitempty"`
	Manual    bool          `cbor:"7,keyasint,omitempty"` // no provider sends it: a person does, and says so
	Serial    keeper.Serial `cbor:"8,keyasint,omitempty"` // under which the keepers get back what its tickets took; 0 until it is approved
	Returned  bool          `cbor:"9,keyasint,omitempty"` // they have
	// Asker is the CustomerOf the ticket's holder who asks; 0 of what the organization gives,
	// of a withdrawal and of requests of before, which were the buyer's.
	Asker uint64 `cbor:"10,keyasint,omitempty"`
}

// Who asks for a refund.
const (
	AskedByBuyer        = "buyer"
	AskedByOrganization = "organization"
	AskedByWithdrawal   = "withdrawal" // the buyer withdraws from the purchase, which nobody has to grant
)

// AskedBy is one of the AskedBy, or "" of money that goes back by itself.
func (r *Refund) AskedBy() string {
	if r.Ask == nil {
		return ""
	}
	return r.Ask.By
}

// CustomerOf is whose list of refunds the refund stands in: who asked for it, else the buyer.
func (r *Refund) CustomerOf(o *Order) uint64 {
	if r.Ask != nil && r.Ask.Asker != 0 {
		return r.Ask.Asker
	}
	return o.Customer
}

// Approved reports whether the refund has been granted: its tickets are dead.
func (r *Refund) Approved() bool { return r.Ask != nil && r.Ask.Serial != 0 }

// Sends reports whether a provider is to send the refund's money, or to try again.
func (r *Refund) Sends() bool {
	if r.Ask != nil && (!r.Approved() || r.Ask.Manual || r.Amount == 0) {
		return false
	}
	return r.Status == RefundProcessing || r.Status == RefundFailed
}

// ToldStatus is the status that the world is told. A refund that was granted is approved until
// its provider has taken it; a withdrawal is granted by nobody.
func (r *Refund) ToldStatus() string {
	if r.Status == RefundProcessing && r.Approved() && r.Sends() && r.ProviderRef == "" && r.Ask.By != AskedByWithdrawal {
		return RefundApproved
	}
	return r.Status
}

// Gives reports whether the refund is one that a ticket's money may still go back by, or has.
func (r *Refund) Gives(ticket uint32) bool {
	return r.Ask != nil && slices.Contains(r.Ask.Tickets, ticket) && r.Status != RefundDenied && r.Status != RefundCancelled
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

// HasSoundSize reports whether the order has so few tickets that they can be listed. One
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

// withdrawalMillis is for how long the buyer of what is digital may withdraw from it.
const withdrawalMillis = 14 * 24 * 60 * 60 * 1000

// WithdrawableUntil is when the right to withdraw from a digital order ends at the latest,
// in unix milliseconds; 0: there is none.
func (o *Order) WithdrawableUntil() int64 {
	if !o.Digital || o.WaivedAt != 0 || !o.Sold() {
		return 0
	}
	return o.EndedAt + withdrawalMillis
}

// Sold reports whether the order has its tickets, whatever has become of them.
func (o *Order) Sold() bool { return o.FirstTicket != 0 }

// LineOf is the line of one of the order's tickets, and the ticket's place in it.
func (o *Order) LineOf(ticket uint32) (line int, k int64, ok bool) {
	first := o.FirstTicket
	for i := range o.Lines {
		if n := uint32(o.Lines[i].Quantity); ticket >= first && ticket-first < n {
			return i, int64(ticket - first), true
		} else {
			first += n
		}
	}
	return 0, 0, false
}

// PaidBy is the attempt that paid the order, or nil: it was free, or is unpaid.
func (o *Order) PaidBy() *Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Status == AttemptSucceeded && o.SentBack(a.Reference) < a.Received {
			return a
		}
	}
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Status == AttemptSucceeded || a.Status == AttemptRefunded {
			return a
		}
	}
	return nil
}

// AskedBack is the sum of the refunds that somebody has asked for and that were not
// denied: of all of them, or of those that are processed.
func (o *Order) AskedBack(processed bool) int64 {
	var sum int64
	for i := range o.Refunds {
		r := &o.Refunds[i]
		lives := r.Status != RefundDenied && r.Status != RefundCancelled
		if r.Ask != nil && lives && (!processed || r.Status == RefundProcessed) {
			sum += r.Amount
		}
	}
	return sum
}

// Earns is what the organization earns by the order when it is sold: nothing by one that is
// not paid for here.
func (o *Order) Earns() int64 {
	if o.Issue != nil {
		return 0
	}
	return o.Total - o.Fees - o.Absorbed
}

// GaveBack is how much of what it earns the organization has given back. The platform gives
// the fee back by itself.
func (o *Order) GaveBack() int64 {
	if o.Issue != nil || !o.Sold() {
		return 0
	}
	return min(o.AskedBack(true), o.Total-o.Fees)
}

// Unpaid reports whether the order waits for money.
func (o *Order) Unpaid() bool { return Unpaid(o.Status) }

// Unpaid reports whether an order of the status waits for money, or to be claimed.
func Unpaid(status string) bool {
	return status == StatusPending || status == StatusProcessing || status == StatusOffered
}

// Placed is the order as its Place was answered, whatever has become of it
// since: what a repeat is answered with, byte for byte.
func (o *Order) Placed() *Order {
	c := *o
	c.Attempts, c.Refunds, c.Holders, c.Rescheduled, c.PlacedUntil = nil, nil, nil, nil, 0
	if o.CompletesAtOnce() {
		c.Status, c.UpdatedAt = StatusCompleted, o.EndedAt
		return &c
	}
	c.Status, c.UpdatedAt, c.EndedAt, c.FirstTicket = StatusPending, o.CreatedAt, 0, 0
	if c.Extended = false; o.PlacedUntil != 0 {
		c.ExpiresAt = o.PlacedUntil
	}
	return &c
}

// CompletesAtOnce reports whether the decision that makes the order completes it: nobody pays
// for it here.
func (o *Order) CompletesAtOnce() bool { return o.Total == 0 || o.Issue != nil }

// Attempt returns the attempt with a reference, or nil.
func (o *Order) Attempt(reference string) *Attempt {
	for i := range o.Attempts {
		if o.Attempts[i].Reference == reference {
			return &o.Attempts[i]
		}
	}
	return nil
}

// SentBack is how much of an attempt's money has gone back or is to.
func (o *Order) SentBack(reference string) int64 { return o.sentBack(reference, false) }

// sentBack is how much of an attempt's money has gone back, and with what is to.
func (o *Order) sentBack(reference string, processed bool) int64 {
	var sum int64
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Reference == reference && !r.isApart() && (!processed || r.Status == RefundProcessed) {
			sum += r.Amount
		}
	}
	return sum
}

// NeedsPerson reports whether a person has to send the i-th refund's money: no provider sends
// coins back.
func (o *Order) NeedsPerson(i int) bool {
	r := &o.Refunds[i]
	if r.Ask != nil {
		return r.Ask.Manual
	}
	a := o.Attempt(r.Reference)
	return a != nil && a.Deposit.Address != ""
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

// RefundDeadline is until when one of the order's tickets may be given back, in unix
// milliseconds; 0 when nothing bounds it, or when it may not.
func (o *Order) RefundDeadline(ticket uint32) int64 {
	i, _, ok := o.LineOf(ticket)
	if !ok || !o.Lines[i].Refundable() {
		return 0
	}
	l := &o.Lines[i]
	deadline := l.Terms.RefundDeadline
	if l.Terms.RefundHours == nil {
		return deadline
	}
	hours := *l.Terms.RefundHours * 3_600_000
	bound := o.EndedAt + hours
	if v := o.VisitOf(ticket); v != nil {
		bound = v.Start - hours
	}
	if deadline == 0 {
		return bound
	}
	return min(deadline, bound)
}

// TakesSeats reports whether the order was placed for seats.
func (o *Order) TakesSeats() bool { return o.Shopper != nil }

// TakesFee reports whether the organization's wallet pays a fee for the order.
func (o *Order) TakesFee() bool { return o.Issue != nil && o.Issue.Fee > 0 }

// Books reports whether the order takes places of a calendar.
func (o *Order) Books() bool { return len(o.Lines) > 0 && o.Lines[0].Visit != nil }

// Seated reports whether some of the order's tickets are for seats.
func (o *Order) Seated() bool {
	return slices.ContainsFunc(o.Lines, func(l Line) bool { return len(l.Seats) > 0 })
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

// IssueFeeBasisPoints is the platform's fee per paid ticket that the organization issues
// itself (docs/rules.md, Sales and fees).
const IssueFeeBasisPoints = 300

// IssueFee is the fee for issuing the order's tickets, each rounded half up by itself.
func (o *Order) IssueFee() int64 {
	if o.Issue == nil || o.Issue.Comp {
		return 0
	}
	var fee int64
	for i := range o.Lines {
		fee += (o.Lines[i].UnitPrice*IssueFeeBasisPoints + 5_000) / 10_000 * o.Lines[i].Quantity
	}
	return fee
}

// PriceTotal is what a buyer pays for a ticket of a price: with the fee, unless the
// organizer absorbs that.
func PriceTotal(price int64, absorb bool) int64 {
	if absorb {
		return price
	}
	return price + Fee(price)
}

// SumUp sets the order's sums from its lines.
func (o *Order) SumUp(absorb bool) {
	o.Subtotal, o.Discount, o.Fees, o.Absorbed = 0, 0, 0, 0
	for i := range o.Lines {
		l := &o.Lines[i]
		o.Subtotal += l.UnitPrice * l.Quantity
		o.Discount += l.Discount
		o.Fees += l.sumFees()
	}
	switch {
	case o.Issue != nil:
		o.Fees = 0 // the wallet pays another one
	case absorb:
		o.Fees, o.Absorbed = 0, o.Fees
	}
	o.Total = o.Subtotal - o.Discount + o.Fees
}
