// Package velocity has the velocity rules (docs/rules.md, Velocity), which keep one buyer, or one
// address, from buying a sale out. It also has the memory of an event's buyers by which the rules
// decide (Buyers).
//
// Orders are counted from when they wait for their keepers; an order that is refused is no longer
// counted. Orders of the box office, whose Client is 0, are neither counted nor refused.
//
// The orders of the last ten minutes, a million at most, are remembered by their facts and kept in
// snapshots, so that after a crash nobody starts afresh. A crash forgets wrong presale codes, of
// which only the last minute counts.
package velocity

import (
	"math"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
)

// Limits are an event's own limits. 0 stands for the rule's default, and Off for no limit.
type Limits struct {
	OrdersPerBuyer     int64 `cbor:"1,keyasint,omitempty"` // orders of one buyer in 10 minutes
	OrdersPerAddress   int64 `cbor:"2,keyasint,omitempty"` // orders from one network address in 10 minutes
	OpenOrdersPerBuyer int64 `cbor:"3,keyasint,omitempty"` // unpaid orders of one buyer at a time
	PresaleTries       int64 `cbor:"4,keyasint,omitempty"` // wrong codes in a minute, by one buyer or from one address
	PaymentAttempts    int64 `cbor:"5,keyasint,omitempty"` // attempts to pay one order in 10 minutes
}

// Off is the limit of a rule that does not apply.
const Off = -1

// These are the default limits.
const (
	ordersPerBuyer     = 10
	ordersPerAddress   = 20
	openOrdersPerBuyer = 5
	presaleTries       = 3
	paymentAttempts    = 3
)

// These are the rules' spans in milliseconds.
const (
	orderSpan   = 600_000
	presaleSpan = 60_000
	paymentSpan = 600_000
)

// Exceeded is the detail of VELOCITY_LIMIT_EXCEEDED.
type Exceeded struct {
	Rule              string `json:"rule"`
	Limit             int64  `json:"limit"`
	WindowSeconds     int64  `json:"windowSeconds"` // seconds in which the rule counts; for open orders, the longest time that an order stays open
	RetryAfterSeconds int64  `json:"retryAfterSeconds"`
}

// Terms are what the rules must know about an event and its deployment.
type Terms struct {
	Limits *Limits
	Window int64   // milliseconds that an unpaid order stays open
	Scale  float64 // the deployment's factor for all limits; 0 stands for 1
}

// ScaleLimit returns the event's own limit, or else the rule's default, times the deployment's scale. For Off
// it returns math.MaxInt64.
func ScaleLimit(own, rule int64, scale float64) int64 {
	switch {
	case own == Off:
		return math.MaxInt64
	case own > 0:
		rule = own
	}
	if scale > 0 {
		return max(1, int64(min(float64(rule)*scale, 1<<53)))
	}
	return rule
}

// RefuseFor returns the refusal of something that a rule does not allow now. wait is after how many
// milliseconds the rule allows it again; span is the rule's, also in milliseconds.
func RefuseFor(rule string, limit, span, wait int64) *engine.Refusal {
	seconds := (wait + 999) / 1_000
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(seconds),
		Details: Exceeded{rule, limit, span / 1_000, seconds},
	}
}

// Buyers is what an event remembers of those who order.
type Buyers struct {
	orders  tally // the orders of ten minutes
	guesses tally // the wrong presale codes of a minute
}

// New returns the memory of an event in which nobody has ordered.
func New() Buyers { return Buyers{orders: newTally(orderSpan), guesses: newTally(presaleSpan)} }

// doersOf returns the doers for whom a tally counts an order.
func doersOf(o *order.Order) [2]uint64 { return [2]uint64{buyer: o.Customer, address: o.Client} }

// Counts reports whether the rules about orders and codes apply to an order.
func Counts(o *order.Order) bool { return o.Client != 0 }

// RefuseOrder returns the refusal of another order of a buyer, or nil if the rules allow the order, and its
// presale code, now.
func (b *Buyers) RefuseOrder(o *order.Order, presale string, t Terms, at int64) *engine.Refusal {
	if !Counts(o) {
		return nil
	}
	by := b.orders.find(buyer, o.Customer)
	most := ScaleLimit(t.Limits.OrdersPerBuyer, ordersPerBuyer, t.Scale)
	if wait := b.orders.waitTime(buyer, by, most, at); wait > 0 {
		return RefuseFor("orders_per_buyer", most, orderSpan, wait)
	}
	most = ScaleLimit(t.Limits.OrdersPerAddress, ordersPerAddress, t.Scale)
	if wait := b.orders.waitTime(address, b.orders.find(address, o.Client), most, at); wait > 0 {
		return RefuseFor("orders_per_address", most, orderSpan, wait)
	}
	most = ScaleLimit(t.Limits.OpenOrdersPerBuyer, openOrdersPerBuyer, t.Scale)
	if int64(by.open)+int64(by.doing) >= most {
		return RefuseFor("open_orders_per_buyer", most, t.Window, t.Window)
	}
	return b.RefuseGuess(o, presale, t, at)
}

// RefuseGuess returns the refusal of another presale code of a buyer, or nil if the rules allow one now or
// presale is "". It counts the wrong codes of the buyer and of the address.
func (b *Buyers) RefuseGuess(o *order.Order, presale string, t Terms, at int64) *engine.Refusal {
	if presale == "" || !Counts(o) {
		return nil
	}
	most := ScaleLimit(t.Limits.PresaleTries, presaleTries, t.Scale)
	for side, who := range doersOf(o) {
		if wait := b.guesses.waitTime(side, b.guesses.find(side, who), most, at); wait > 0 {
			return RefuseFor("presale_tries", most, presaleSpan, wait)
		}
	}
	return nil
}

// RefusePayment returns the refusal of another attempt to pay an order, or nil if the rule allows one now. The
// order has the times of its earlier attempts. Attempts through its payment link and attempts of its buyer are
// counted separately.
func RefusePayment(o *order.Order, byLink bool, t Terms, at int64) *engine.Refusal {
	most := ScaleLimit(t.Limits.PaymentAttempts, paymentAttempts, t.Scale)
	var recent []int64
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.ByLink() == byLink && a.At > at-paymentSpan {
			recent = append(recent, a.At)
		}
	}
	over := int64(len(recent)) + 1 - most
	if over <= 0 {
		return nil
	}
	room := recent[over-1] + paymentSpan
	return RefuseFor("payment_attempts", most, paymentSpan, room-at)
}

// Slots are the places of an order's buyer and address in the memory, from Begin until FinishOrder
// or TakeBack. They are zero for an order that is not counted (Counts).
type Slots [2]uint32

// Begin counts an order that waits for its keepers.
func (b *Buyers) Begin(o *order.Order) Slots {
	if !Counts(o) {
		return Slots{}
	}
	return b.orders.begin(doersOf(o))
}

// TakeBack no longer counts an order that was begun and came to nothing.
func (b *Buyers) TakeBack(o *order.Order, s Slots) {
	if Counts(o) {
		b.orders.takeBack(doersOf(o), s)
	}
}

// FinishOrder counts an order that was begun as made.
func (b *Buyers) FinishOrder(o *order.Order, s Slots) {
	if Counts(o) {
		b.orders.finish(doersOf(o), s, o.CreatedAt)
	}
}

// CountUnpaid adds n, which is 1 or -1, to the count of a buyer's unpaid orders.
func (b *Buyers) CountUnpaid(o *order.Order, n int32) {
	if countsUnpaid(o) {
		b.orders.countUnpaid(o.Customer, n)
	}
}

// countsUnpaid reports whether an order counts as long as it is unpaid. A free order does not,
// because it is completed as soon as it is made.
func countsUnpaid(o *order.Order) bool { return Counts(o) && o.Total > 0 }

// Guessed notes a wrong presale code. It is volatile.
type Guessed struct {
	Customer, Client uint64
	At               int64 // unix milliseconds
}

// FactType returns the number that tells this volatile fact from other facts of events.
func (*Guessed) FactType() engine.FactType { return engine.VolatileFrom + 8 }

// AddGuess counts a wrong presale code.
func (b *Buyers) AddGuess(f *Guessed) {
	by := [2]uint64{buyer: f.Customer, address: f.Client}
	b.guesses.finish(by, b.guesses.begin(by), f.At)
}

// Freeze returns the columns of the orders that are remembered: when each was made, by which buyer
// and from which address.
func (b *Buyers) Freeze() (at paged.Field[int64], by, from paged.Field[uint64]) {
	orders := b.orders.deeds.Freeze()
	at = paged.FieldOf(orders, func(d *deed) int64 { return d.at })
	by = paged.FieldOf(orders, func(d *deed) uint64 { return d.who[buyer] })
	from = paged.FieldOf(orders, func(d *deed) uint64 { return d.who[address] })
	return at, by, from
}

// Thaw remembers the orders of frozen columns, which are of equal length.
func (b *Buyers) Thaw(at []int64, by, from []uint64) {
	for i := range at {
		who := [2]uint64{buyer: by[i], address: from[i]}
		b.orders.append(who, b.orders.begin(who), at[i])
	}
}

// Check recounts what is remembered, and compares it with the orders that are open and with those
// that are being placed.
func (b *Buyers) Check(open, placing []*order.Order) error {
	unpaid, begun := int64(0), int64(0)
	for _, o := range open {
		if countsUnpaid(o) {
			unpaid++
		}
	}
	for _, o := range placing {
		if Counts(o) {
			begun++
		}
	}
	if err := b.orders.checkCounts(unpaid, begun); err != nil {
		return err
	}
	return b.guesses.checkCounts(0, 0)
}
