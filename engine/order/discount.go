package order

import (
	"cmp"
	"math/bits"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// ApplyDiscount sets what the order's promo code takes off each of its lines. It computes with the
// terms that the code granted and the prices that the ticket types granted. applies reports whether
// the code takes anything off: an order that gains nothing by a code must not use it up. enough
// reports whether the order reaches the code's least subtotal.
//
// A percentage is rounded half up for each ticket. An amount is at most the sum of the lines that
// the code applies to. It is spread over their tickets in proportion to the prices, and what
// rounding leaves goes to the largest remainders.
func (o *Order) ApplyDiscount() (applies, enough bool) {
	t := o.Promo.Terms
	var subtotal, applicable int64
	// The lines are cloned, because the order that they came from must not change.
	o.Lines = slices.Clone(o.Lines)
	for i := range o.Lines {
		l := &o.Lines[i]
		l.Discount = 0
		subtotal += l.UnitPrice * l.Quantity
		if o.discountsLine(l) {
			applicable += l.UnitPrice * l.Quantity
		}
	}
	switch {
	case t.Percentage:
		for i := range o.Lines {
			if l := &o.Lines[i]; o.discountsLine(l) {
				l.Discount = l.Quantity * t.Off(l.UnitPrice)
			}
		}
	case applicable > 0:
		o.spreadDiscount(t.Off(applicable), applicable)
	}
	applies = slices.ContainsFunc(o.Lines, func(l Line) bool { return l.Discount > 0 })
	return applies, subtotal >= t.MinOrder
}

// ApplyCode applies the order's code as ApplyDiscount does. It returns the reason why the code is
// not valid for the order, or "".
func (o *Order) ApplyCode() (reason string) {
	switch applies, enough := o.ApplyDiscount(); {
	case !applies:
		return keeper.CodeNotApplicable
	case !enough:
		return keeper.CodeBelowMinimum
	}
	return ""
}

// discountsLine reports whether the order's code applies to one of its lines.
func (o *Order) discountsLine(l *Line) bool {
	return o.Promo.Terms.Applies(engine.NumberedID(o.ID.Event(), l.Type))
}

// spreadDiscount takes an amount off the tickets that the code applies to. applicable is the sum of
// their prices, which is above 0.
func (o *Order) spreadDiscount(amount, applicable int64) {
	type share struct {
		line      int
		remainder int64 // equal for all tickets of a line
	}
	var shares []share
	left := amount
	for i := range o.Lines {
		l := &o.Lines[i]
		if !o.discountsLine(l) {
			continue
		}
		off, remainder := divideShare(amount, l.UnitPrice, applicable)
		l.Discount = off * l.Quantity
		left -= l.Discount
		shares = append(shares, share{i, remainder})
	}
	// Each ticket's share was rounded down. The rest goes to the tickets with the largest
	// remainders, one minor unit each. The sort is stable, so equal remainders give the same
	// result everywhere.
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.remainder, a.remainder) })
	for _, s := range shares {
		l := &o.Lines[s.line]
		more := min(left, l.Quantity)
		l.Discount += more
		left -= more
	}
}

// divideShare returns a ticket's share of an amount in proportion to its price, rounded down, and
// the remainder. The product may need more than 64 bits. The share does not, because price is at
// most of.
func divideShare(amount, price, of int64) (share, remainder int64) {
	hi, lo := bits.Mul64(uint64(amount), uint64(price))
	q, r := bits.Div64(hi, lo, uint64(of))
	return int64(q), int64(r)
}
