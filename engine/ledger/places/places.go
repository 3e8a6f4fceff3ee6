// Package places says which keepers an order has, at which place, and what it asks of the seat map and the
// calendar. A set of places is what a ledger remembers of the keepers that it waits for.
package places

import (
	"math/bits"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// These are the keepers of an order. A ticket type keeps its lines, at the place of the first of
// them. After the lines come the keepers that the order as a whole may have, each at its own place:
// the seat map and the calendar, which each grant all that the order takes of them or nothing; the
// promo code that the order names; and the organization's wallet, which pays the fee of tickets
// that the organization issues. The fee depends on what the others grant, so the wallet is asked
// when all of them have granted.
const (
	Seats = iota // each is added to the number of the order's lines
	Promo
	Calendar
	Wallet
)

// Set is a set of an order's places, which are numbers from 0 to 127.
type Set [2]uint64

// Only returns the set of one place.
func Only(place int) (p Set) {
	p[place>>6] = 1 << (place & 63)
	return p
}

// Has reports whether a place is in the set.
func (p Set) Has(place int) bool { return p[place>>6]&(1<<(place&63)) != 0 }

// With returns the set with the places of another.
func (p Set) With(o Set) Set { return Set{p[0] | o[0], p[1] | o[1]} }

// Without returns the set without a place.
func (p Set) Without(place int) Set {
	o := Only(place)
	return Set{p[0] &^ o[0], p[1] &^ o[1]}
}

// Empty reports whether no place is in the set.
func (p Set) Empty() bool { return p == Set{} }

// Len returns how many places are in the set.
func (p Set) Len() int { return bits.OnesCount64(p[0]) + bits.OnesCount64(p[1]) }

// Each calls f for every place of the set, in order.
func (p Set) Each(f func(place int)) {
	for w, word := range p {
		for ; word != 0; word &= word - 1 {
			f(w<<6 + bits.TrailingZeros64(word))
		}
	}
}

// KeeperOf returns the keeper at one of the places of an order of the event with the number home.
func KeeperOf(home int64, o *order.Order, place int) engine.Ref {
	switch place - len(o.Lines) {
	case Seats:
		return engine.SeatmapRef(home)
	case Promo:
		return o.Promo.Ref
	case Calendar:
		return engine.CalendarRef(home)
	case Wallet:
		return o.Issue.Wallet
	}
	return engine.InventoryRef(home, o.Lines[place].Type)
}

// Of returns the place at which an order has a keeper, or -1 if the order takes nothing of it. A ticket type with
// several lines has the place of the first. It does not compare the event of a seat map, a calendar or a ticket type:
// k must belong to the order's event.
func Of(o *order.Order, k engine.Ref) int {
	switch k.Kind { //nolint:exhaustive // the other kinds keep nothing for orders
	case engine.KindSeatmap:
		if o.TakesSeats() {
			return len(o.Lines) + Seats
		}
	case engine.KindPromo:
		if o.Promo != nil && o.Promo.Ref == k {
			return len(o.Lines) + Promo
		}
	case engine.KindCalendar:
		if o.Books() {
			return len(o.Lines) + Calendar
		}
	case engine.KindWallet:
		if o.TakesFee() && o.Issue.Wallet == k {
			return len(o.Lines) + Wallet
		}
	case engine.KindInventory:
		return slices.IndexFunc(o.Lines, func(l order.Line) bool { return l.Type == k.ID })
	default:
	}
	return -1
}

// All returns the places at which an order has keepers.
func All(o *order.Order) Set {
	var all Set
	n := len(o.Lines)
	for i := range n {
		if FirstLineOf(o, i) == i {
			all = all.With(Only(i))
		}
	}
	if o.TakesSeats() {
		all = all.With(Only(n + Seats))
	}
	if o.Promo != nil {
		all = all.With(Only(n + Promo))
	}
	if o.Books() {
		all = all.With(Only(n + Calendar))
	}
	if o.TakesFee() {
		all = all.With(Only(n + Wallet))
	}
	return all
}

// FirstLineOf returns the first line that has the same ticket type as a line.
func FirstLineOf(o *order.Order, line int) int {
	for i := range line {
		if o.Lines[i].Type == o.Lines[line].Type {
			return i
		}
	}
	return line
}

// OfReturn returns the places of the keepers that get back what a refund's tickets took. A promo code gets
// its use back with the last of the order's tickets. The set is empty for a refund without tickets.
func OfReturn(o *order.Order, position int) Set {
	var back Set
	tickets := o.Refunds[position].Ask.Tickets
	for _, ticket := range tickets {
		if line, _, ok := o.LineOf(ticket); ok {
			back = back.With(Only(FirstLineOf(o, line)))
		}
	}
	if back.Empty() {
		return back
	}
	n := len(o.Lines)
	if o.TakesSeats() {
		back = back.With(Only(n + Seats))
	}
	if o.Books() {
		back = back.With(Only(n + Calendar))
	}
	if o.Promo != nil && o.IsLastReturn(position) {
		back = back.With(Only(n + Promo))
	}
	return back
}
