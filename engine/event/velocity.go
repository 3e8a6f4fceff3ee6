package event

import (
	"math"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// The velocity rules (docs/rules.md, Velocity) keep one buyer, or one address,
// from taking a sale for himself. Orders are counted when they are made, and as
// long as they wait for their keepers; one that is refused counts no more. What
// the box office sells, with Place.Client 0, neither counts nor is refused.
//
// The orders of the last ten minutes are remembered by their facts and kept in
// snapshots: after a crash nobody starts afresh. Wrong presale codes are
// forgotten by a crash, and so are their minute's tries.

// Velocity are an event's own limits: 0 is the rule's default, Off is none.
type Velocity struct {
	OrdersPerBuyer     int64 `cbor:"1,keyasint,omitempty"` // in 10 minutes
	OrdersPerAddress   int64 `cbor:"2,keyasint,omitempty"` // in 10 minutes
	OpenOrdersPerBuyer int64 `cbor:"3,keyasint,omitempty"` // unpaid at a time
	PresaleTries       int64 `cbor:"4,keyasint,omitempty"` // wrong codes in a minute, of a buyer or an address
	PaymentAttempts    int64 `cbor:"5,keyasint,omitempty"` // of an order in 10 minutes
}

// Off is the limit of a rule that does not apply.
const Off = -1

// The defaults.
const (
	ordersPerBuyer     = 10
	ordersPerAddress   = 20
	openOrdersPerBuyer = 5
	presaleTries       = 3
	paymentAttempts    = 3
)

// The rules' spans in milliseconds.
const (
	orderSpan   = 600_000
	presaleSpan = 60_000
	paymentSpan = 600_000
)

// VelocityLimit is the detail of VELOCITY_LIMIT_EXCEEDED.
type VelocityLimit struct {
	Rule              string `json:"rule"`
	Limit             int64  `json:"limit"`
	WindowSeconds     int64  `json:"windowSeconds"` // for open orders, the longest that one stays so
	RetryAfterSeconds int64  `json:"retryAfterSeconds"`
}

// scaleLimit returns the event's own limit, or else the rule's, times the deployment's scale.
func scaleLimit(own, rule int64, scale float64) int64 {
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

// tooFast refuses what is beyond a rule for another wait milliseconds.
func tooFast(rule string, limit, span, wait int64) *engine.Refusal {
	seconds := (wait + 999) / 1_000
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(seconds),
		Details: VelocityLimit{rule, limit, span / 1_000, seconds},
	}
}

// doersOf are who a tally counts an order for.
func doersOf(o *order.Order) [2]uint64 { return [2]uint64{buyer: o.Customer, address: o.Client} }

// isCounted reports whether the velocity rules see an order.
func isCounted(o *order.Order) bool { return o.Client != 0 }

// refuseOrdering returns the reason why the buyer may not place another order now, or nil.
func (s *State) refuseOrdering(p *placing, at int64) *engine.Refusal {
	o, v := p.order, &s.details.Velocity
	if !isCounted(o) {
		return nil
	}
	by := s.made.find(buyer, o.Customer)
	most := scaleLimit(v.OrdersPerBuyer, ordersPerBuyer, p.scale)
	if wait := s.made.waitTime(buyer, by, most, at); wait > 0 {
		return tooFast("orders_per_buyer", most, orderSpan, wait)
	}
	most = scaleLimit(v.OrdersPerAddress, ordersPerAddress, p.scale)
	if wait := s.made.waitTime(address, s.made.find(address, o.Client), most, at); wait > 0 {
		return tooFast("orders_per_address", most, orderSpan, wait)
	}
	most = scaleLimit(v.OpenOrdersPerBuyer, openOrdersPerBuyer, p.scale)
	if int64(by.open)+int64(by.doing) >= most {
		return tooFast("open_orders_per_buyer", most, s.details.OrderWindow, s.details.OrderWindow)
	}
	return s.refuseGuessing(p, at)
}

// refuseGuessing returns the reason why a buyer may not try another presale code now, or nil.
func (s *State) refuseGuessing(p *placing, at int64) *engine.Refusal {
	if p.presale == "" || !isCounted(p.order) {
		return nil
	}
	most := scaleLimit(s.details.Velocity.PresaleTries, presaleTries, p.scale)
	for side, who := range doersOf(p.order) {
		if wait := s.tries.waitTime(side, s.tries.find(side, who), most, at); wait > 0 {
			return tooFast("presale_tries", most, presaleSpan, wait)
		}
	}
	return nil
}

// refusePaying returns the reason why nobody may try to pay an order again now, or nil.
func (s *State) refusePaying(o *order.Order, scale float64, at int64) *engine.Refusal {
	most := scaleLimit(s.details.Velocity.PaymentAttempts, paymentAttempts, scale)
	first := len(o.Attempts)
	for first > 0 && o.Attempts[first-1].At > at-paymentSpan {
		first--
	}
	over := int64(len(o.Attempts)-first) + 1 - most
	if over <= 0 {
		return nil
	}
	room := o.Attempts[first+int(over)-1].At + paymentSpan
	return tooFast("payment_attempts", most, paymentSpan, room-at)
}
