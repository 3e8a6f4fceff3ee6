package event

import (
	"math"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// The velocity rules (docs/rules.md, Velocity) keep one buyer, or one address, from buying a sale
// out. Orders are counted from when they wait for their keepers; an order that is refused is no
// longer counted. What the box office sells, with Place.Client 0, is neither counted nor refused.
//
// The orders of the last ten minutes are remembered by their facts and kept in snapshots, so that
// after a crash nobody starts afresh. A crash forgets wrong presale codes, of which only the last
// minute counts.

// Velocity is an event's own limits. 0 stands for the rule's default, and Off for no limit.
type Velocity struct {
	OrdersPerBuyer     int64 `cbor:"1,keyasint,omitempty"` // in 10 minutes
	OrdersPerAddress   int64 `cbor:"2,keyasint,omitempty"` // in 10 minutes
	OpenOrdersPerBuyer int64 `cbor:"3,keyasint,omitempty"` // unpaid at a time
	PresaleTries       int64 `cbor:"4,keyasint,omitempty"` // wrong codes in a minute, by one buyer or from one address
	PaymentAttempts    int64 `cbor:"5,keyasint,omitempty"` // for one order in 10 minutes
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

// VelocityLimit is the detail of VELOCITY_LIMIT_EXCEEDED.
type VelocityLimit struct {
	Rule              string `json:"rule"`
	Limit             int64  `json:"limit"`
	WindowSeconds     int64  `json:"windowSeconds"` // for open orders, the longest time that an order stays open
	RetryAfterSeconds int64  `json:"retryAfterSeconds"`
}

// scaleLimit returns the event's own limit, or else the rule's default, times the deployment's
// scale.
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

// tooFast refuses what a rule does not allow for another wait milliseconds.
func tooFast(rule string, limit, span, wait int64) *engine.Refusal {
	seconds := (wait + 999) / 1_000
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(seconds),
		Details: VelocityLimit{rule, limit, span / 1_000, seconds},
	}
}

// doersOf returns the doers for whom a tally counts an order.
func doersOf(o *order.Order) [2]uint64 { return [2]uint64{buyer: o.Customer, address: o.Client} }

// isCounted reports whether the velocity rules apply to an order.
func isCounted(o *order.Order) bool { return o.Client != 0 }

// refuseOrdering refuses another order of a buyer that a velocity rule does not allow now.
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

// refuseGuessing refuses another presale code of a buyer that a velocity rule does not allow now.
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

// refusePaying refuses another attempt to pay an order that a velocity rule does not allow now.
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
