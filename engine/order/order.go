// Package order is the record of an order: its statuses, its lines, its payment attempts and its refunds, the
// facts about it, how each fact changes it (Fold), and the packed form in which the ledger keeps it (Pack).
//
// The event's actor decides about orders (engine/event), and readers of the journal fold the same facts into
// their tables, so that all agree. Nothing in this package has state of its own. The edge takes at most 20
// lines in an order, and the ledger at most 20 attempts to pay it, 5 of them by its payment link.
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

	// StatusOffered is the status of an order that holds stock for somebody on the waitlist until
	// they claim it. Only its ledger knows such an order.
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

// Refund statuses (docs/rules.md, Statuses). A refund that nobody asked for begins with processing.
const (
	RefundRequested  = "requested"
	RefundApproved   = "approved"
	RefundDenied     = "denied"
	RefundCancelled  = "cancelled"
	RefundProcessing = "processing"
	RefundProcessed  = "processed"
	RefundFailed     = "failed"
)

// Order is the record of an order, as the ledger keeps it and as facts and replies carry it. It is
// never changed, only replaced by a changed copy, so states, snapshots and replies may share it.
// Times are unix milliseconds, money is in minor units.
type Order struct {
	ID          engine.OrderID `cbor:"1,keyasint"`
	Serial      keeper.Serial  `cbor:"2,keyasint"`
	Fingerprint uint64         `cbor:"3,keyasint,omitempty"` // hash of the request's body
	Status      string         `cbor:"4,keyasint"`
	Email       string         `cbor:"5,keyasint"`
	Name        string         `cbor:"6,keyasint,omitempty"`
	Customer    uint64         `cbor:"7,keyasint"` // the customer whom the caps count: CustomerOf the address, or GuestOf
	Lines       []Line         `cbor:"8,keyasint"`
	Currency    string         `cbor:"9,keyasint"`
	Subtotal    int64          `cbor:"10,keyasint"`
	Fees        int64          `cbor:"11,keyasint,omitempty"` // minor units that the buyer pays on top of the subtotal
	Absorbed    int64          `cbor:"12,keyasint,omitempty"` // minor units of the fee that is taken out of the organization's payout
	Total       int64          `cbor:"13,keyasint"`
	CreatedAt   int64          `cbor:"14,keyasint"`
	ExpiresAt   int64          `cbor:"15,keyasint"`
	UpdatedAt   int64          `cbor:"16,keyasint"`
	EndedAt     int64          `cbor:"17,keyasint,omitempty"`
	FirstTicket uint32         `cbor:"18,keyasint,omitempty"` // serial of its first ticket; 0 if it never had tickets
	Attempts    []Attempt      `cbor:"19,keyasint,omitempty"`
	Refunds     []Refund       `cbor:"20,keyasint,omitempty"`
	Extended    bool           `cbor:"21,keyasint,omitempty"` // an attempt to pay has had its chance to extend the window
	PlacedUntil int64          `cbor:"22,keyasint,omitempty"` // ExpiresAt as the order was placed; 0 until the first attempt to pay or extension
	Client      uint64         `cbor:"23,keyasint,omitempty"` // hash of the client's address; with 0 the velocity rules about orders and codes don't apply
	Shopper     *Shopper       `cbor:"24,keyasint,omitempty"` // the shopper who may have held its seats; nil if it has no seats
	Promo       *Promo         `cbor:"25,keyasint,omitempty"` // promo code that it was placed with, or nil
	Discount    int64          `cbor:"26,keyasint,omitempty"` // minor units that the promo code takes off the subtotal
	Digital     bool           `cbor:"27,keyasint,omitempty"` // whether it sells something that is delivered instead of admissions
	Holders     []Holder       `cbor:"28,keyasint,omitempty"` // holders of the tickets that have changed hands
	Issue       *Issue         `cbor:"29,keyasint,omitempty"` // how the organization issued it; nil if a buyer placed it
	WaivedAt    int64          `cbor:"30,keyasint,omitempty"` // unix milliseconds at which its buyer waived the right to withdraw; 0 if the buyer did not
	Rescheduled []Rescheduled  `cbor:"31,keyasint,omitempty"` // the tickets that were moved to another date
	Language    string         `cbor:"32,keyasint,omitempty"` // language of its buyer, a tag of BCP 47; "" stands for the deployment's language
	Extensions  int64          `cbor:"33,keyasint,omitempty"` // how often its buyer has asked for more time and got it
	ExtendedBy  []uint64       `cbor:"34,keyasint,omitempty"` // hashes of the requests that extended it, to recognize repeats; extensions of earlier releases have none
}

// Issue describes an order that the organization makes itself. Such an order is completed when it
// is made, whatever it costs, and no money for it passes through us.
type Issue struct {
	Comp      bool   `cbor:"1,keyasint,omitempty"` // whether its tickets are given away
	Reference string `cbor:"2,keyasint,omitempty"` // the organization's own reference for the order
	Quiet     bool   `cbor:"3,keyasint,omitempty"` // whether nobody gets mail
	Fee       int64  `cbor:"4,keyasint,omitempty"` // minor units that are taken from the organization's wallet
	Note      string `cbor:"5,keyasint,omitempty"` // the organization's line in the mail that brings the tickets
	// Wallet is the wallet that pays the fee; the zero Ref if there is no fee.
	Wallet engine.Ref `cbor:"6,keyasint,omitzero"`
}

// Promo is the promo code with which an order was placed.
type Promo struct {
	Ref  engine.Ref `cbor:"1,keyasint"`
	Code string     `cbor:"2,keyasint"` // the code's name at the time when it was granted
	// Terms are what the code granted; nil until it has granted.
	Terms *keeper.Discount `cbor:"3,keyasint,omitempty"`
}

// Shopper identifies the holds that an order for seats may take over: the Holder's holds or,
// without a Holder, the Principal's.
type Shopper struct {
	Holder    string `cbor:"1,keyasint,omitempty"`
	Principal uint64 `cbor:"2,keyasint,omitempty"` // hash of the account or address that asks
}

// Line is one line of an order: one ticket type, with a quantity or with seats. Money is in minor
// units.
type Line struct {
	Type          int64  `cbor:"1,keyasint"` // number of the ticket type
	Name          string `cbor:"2,keyasint"` // name of the ticket type
	Quantity      int64  `cbor:"3,keyasint"`
	UnitPrice     int64  `cbor:"4,keyasint"`
	AttendeeName  string `cbor:"5,keyasint,omitempty"`
	AttendeeEmail string `cbor:"6,keyasint,omitempty"`
	// Seats are the ids of the seats that a seated line is for. The k-th seat belongs to the line's
	// k-th ticket.
	Seats []string `cbor:"7,keyasint,omitempty"`
	// Discount is what the promo code takes off all of the line's tickets together.
	Discount int64 `cbor:"8,keyasint,omitempty"`
	// Visit is when the tickets of a reservation admit; nil for other events. Until the calendar
	// has granted it, it has only a date and a slot's id.
	Visit *keeper.Visit `cbor:"9,keyasint,omitempty"`
	// Terms are those that the line was sold with. nil stands for the terms that most lines have: the tickets
	// may be passed on, and there is no right to a refund.
	Terms *keeper.Terms `cbor:"10,keyasint,omitempty"`
}

// Transferable reports whether the line's tickets may be passed on.
func (l *Line) Transferable() bool { return l.Terms == nil || !l.Terms.Bound }

// Refundable reports whether the line's tickets were sold with a right to a refund.
func (l *Line) Refundable() bool { return l.Terms != nil && l.Terms.Refundable }

// FaceValue returns what the k-th ticket of the line costs after the discount and without fees, in
// minor units. If the discount can't be divided evenly, the first tickets get one unit more of it.
func (l *Line) FaceValue(k int64) int64 {
	off := l.Discount / l.Quantity
	if k < l.Discount%l.Quantity {
		off++
	}
	return l.UnitPrice - off
}

// sumFees returns the platform's fees on the line's tickets. The fee of each ticket is rounded by
// itself, so that a ticket's fee does not depend on the others.
func (l *Line) sumFees() int64 {
	if l.Quantity < 1 {
		return 0
	}
	dearer := l.Discount % l.Quantity // tickets whose discount is one unit more
	return Fee(l.FaceValue(0))*dearer + Fee(l.FaceValue(l.Quantity-1))*(l.Quantity-dearer)
}

// Tickets returns how many tickets the order is for.
func (o *Order) Tickets() int64 {
	var n int64
	for i := range o.Lines {
		n += o.Lines[i].Quantity
	}
	return n
}

// mostTickets is far more tickets than anybody can buy with one order.
const mostTickets = 1 << 20

// HasSoundSize reports whether the order has so few tickets that they can be listed. An order with
// more was never placed. But a damaged journal may contain one, and a list of its tickets would
// take all memory.
func (o *Order) HasSoundSize() bool {
	left := int64(mostTickets)
	for i := range o.Lines {
		if left -= max(0, min(o.Lines[i].Quantity, mostTickets+1)); left < 0 {
			return false
		}
	}
	return true
}

// withdrawalMillis is how long the buyer of a digital product may withdraw from the purchase.
const withdrawalMillis = 14 * 24 * 60 * 60 * 1000

// WithdrawableUntil returns when the right to withdraw from a digital order ends at the latest, in
// unix milliseconds. It is 0 if there is no such right, for example because the buyer has waived
// it.
func (o *Order) WithdrawableUntil() int64 {
	if !o.Digital || o.WaivedAt != 0 || !o.Sold() {
		return 0
	}
	return o.EndedAt + withdrawalMillis
}

// Sold reports whether the order got its tickets, whatever has become of them since.
func (o *Order) Sold() bool { return o.FirstTicket != 0 }

// KeepsTickets reports whether the order is completed and was not refunded as a whole. A part of it may have been
// refunded: the other tickets are still good.
func (o *Order) KeepsTickets() bool {
	return o.Status == StatusCompleted || o.Status == StatusPartiallyRefunded
}

// LineOf returns the line of one of the order's tickets, and the ticket's place in that line, from 0. ok is false if
// the order has no such ticket.
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

// Earns returns what the organization earns when the order is sold, in minor units. An order that
// is not paid through us earns nothing here.
func (o *Order) Earns() int64 {
	if o.Issue != nil {
		return 0
	}
	return o.Total - o.Fees - o.Absorbed
}

// Unpaid reports whether the order still waits for its money, or for somebody on the waitlist to
// claim it.
func (o *Order) Unpaid() bool { return Unpaid(o.Status) }

// Unpaid reports whether an order of the status waits for money, or to be claimed.
func Unpaid(status string) bool {
	return status == StatusPending || status == StatusProcessing || status == StatusOffered
}

// Placed returns the order as it was when its Place was answered, for the answer to a repeated Place. Names and
// addresses that were erased since stay erased.
func (o *Order) Placed() *Order {
	c := *o
	c.Attempts, c.Refunds, c.Holders, c.Rescheduled, c.PlacedUntil, c.Extensions, c.ExtendedBy = nil, nil, nil, nil, 0, 0, nil
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

// CompletesAtOnce reports whether the decision that makes the order also completes it, because
// nobody pays for it here.
func (o *Order) CompletesAtOnce() bool { return o.Total == 0 || o.Issue != nil }

// NeedsPerson reports whether a person has to send the i-th refund's money. For a refund that somebody asked
// for, that was decided with the refund (Ask.Manual). For any other, it is so if the money came in coins or by
// bank transfer, because no provider sends such money back.
func (o *Order) NeedsPerson(i int) bool {
	r := &o.Refunds[i]
	if r.Ask != nil {
		return r.Ask.Manual
	}
	a := o.Attempt(r.Reference)
	return a != nil && a.Deposit.Address != ""
}

// Holder returns the name and e-mail address on the tickets of the i-th line. They are the buyer's
// where the line names nobody.
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

// RefundDeadline returns until when one of the order's tickets may be given back, in unix
// milliseconds. It is 0 if there is no limit, or if the ticket can't be given back at all.
func (o *Order) RefundDeadline(ticket uint32) int64 {
	i, _, ok := o.LineOf(ticket)
	if !ok || !o.Lines[i].Refundable() {
		return 0
	}
	return o.closeTerms(o.Lines[i].Terms, ticket)
}

// closeTerms returns until when a ticket may be given back by its terms, in unix milliseconds, or 0
// if they set no time. RefundHours count from the purchase, or back from the visit if the ticket is
// for one.
func (o *Order) closeTerms(terms *keeper.Terms, ticket uint32) int64 {
	deadline := terms.RefundDeadline
	if terms.RefundHours == nil {
		return deadline
	}
	hours := *terms.RefundHours * 3_600_000
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

// Books reports whether the order takes places from a calendar.
func (o *Order) Books() bool { return len(o.Lines) > 0 && o.Lines[0].Visit != nil }

// Seated reports whether some of the order's tickets are for seats.
func (o *Order) Seated() bool {
	return slices.ContainsFunc(o.Lines, func(l Line) bool { return len(l.Seats) > 0 })
}

// Seat returns the id of the seat of one of the order's tickets, or "" if it has none.
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

// Fee returns the platform's fee on one ticket, rounded half up, in minor units.
func Fee(price int64) int64 { return (price*FeeBasisPoints + 5_000) / 10_000 }

// IssueFeeBasisPoints is the platform's fee per paid ticket that the organization issues
// itself (docs/rules.md, Sales and fees).
const IssueFeeBasisPoints = 300

// IssueFee returns the fee for issuing the order's tickets. The fee of each ticket is rounded half up. It is 0 for
// complimentary tickets, and for an order that a buyer placed.
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

// PriceTotal returns what a buyer pays for a ticket of a price: the price plus the fee, unless the
// organizer absorbs the fee.
func PriceTotal(price int64, absorb bool) int64 {
	if absorb {
		return price
	}
	return price + Fee(price)
}

// SumUp computes the order's sums from its lines. absorb says that the organization pays the fees, and not the
// buyer.
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
		o.Fees = 0 // the wallet pays the fee of issued tickets instead
	case absorb:
		o.Fees, o.Absorbed = 0, o.Fees
	}
	o.Total = o.Subtotal - o.Discount + o.Fees
}
