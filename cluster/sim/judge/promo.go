package judge

import (
	"fmt"
	"math"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/promo"
)

// takeCode judges a committed fact of a promo code and keeps it. The uses of a code are judged as a stock, with one
// exception: late money may take one use more than there are.
func (t *Truth) takeCode(ref engine.Ref, st *stock, f engine.Fact) error {
	switch f := f.(type) {
	case *promo.Created:
		st.setUses(f.Details)
	case *promo.Updated:
		st.setUses(f.Details)
	case *promo.DisabledFact:
		st.shut = true
	case *promo.Removed:
		if st.countReserved() > 0 || st.sold > 0 {
			return fmt.Errorf("removed, with %d uses held and %d consumed", st.countReserved(), st.sold)
		}
		st.shut = true
	case *keeper.ReservedFact:
		sl := t.bookOf(f.Claim.Order.Event()).orders[f.Claim.Order]
		// A code that is over gives no more uses. Late money is excused: its buyer ordered while the code was still
		// good.
		if late := sl != nil && sl.ended; st.shut && !late {
			return fmt.Errorf("%s takes a use of a code that is over", enginetest.ClaimName(f.Claim))
		}
		return t.takeKept(ref, st, f)
	default:
		return t.takeKept(ref, st, f)
	}
	return nil
}

// setUses makes a stock of a code's uses, so that takeKept can judge codes and ticket types by the same rules. An
// order takes one use. A limit of 0 means none.
func (st *stock) setUses(d *promo.Details) {
	st.terms = &d.Discount
	st.details = inventory.Details{Quantity: inventory.Unlimited, MaxPerOrder: 1, MaxPerCustomer: math.MaxInt64}
	if d.MaxUses > 0 {
		st.details.Quantity = d.MaxUses
	}
	if d.MaxByCustomer > 0 {
		st.details.MaxPerCustomer = d.MaxByCustomer
	}
}

// judgeDiscount judges what a promo code takes off an order, and returns what the order must cost: the rest, with
// fees of 5 % on each ticket. All is in minor units. The arithmetic is the judge's own, so that an error in the
// engine's shows.
func (t *Truth) judgeDiscount(o *order.Order) (total int64, err error) {
	var off, subtotal int64
	for i := range o.Lines {
		l := &o.Lines[i]
		off += l.Discount
		subtotal += l.Quantity * l.UnitPrice
		if l.Discount < 0 || l.Discount > l.Quantity*l.UnitPrice {
			return 0, fmt.Errorf("%d is taken off line %d: %+v", l.Discount, i, l)
		}
		for k := range l.Quantity {
			face := l.FaceValue(k)
			total += face + (face*5+50)/100
		}
	}
	if o.Promo == nil {
		if off != 0 {
			return 0, fmt.Errorf("%d is taken off without a code", off)
		}
		return total, nil
	}
	t.world.Reach("order", "with a code")
	// A fixed discount takes off its value, but no more than the order costs. A percentage is in hundredths of a
	// percent.
	terms := o.Promo.Terms
	most := min(terms.Value, subtotal)
	if terms.Percentage {
		most = subtotal*terms.Value/10_000 + o.Tickets() // each ticket is rounded
	}
	if off > most || !terms.Percentage && off < most || subtotal < terms.MinOrder {
		return 0, fmt.Errorf("%d is taken off %d by %+v", off, subtotal, terms)
	}
	return total, nil
}

// ticketsLeft returns whether an order still has a ticket whose money did not go back. Only then it uses up its code.
func (t *Truth) ticketsLeft(b *book, o *order.Order) bool {
	for i := range uint32(o.Tickets()) {
		if !b.handOf(o.FirstTicket + i).gone {
			return true
		}
	}
	return false
}

// settledCodes makes sure, once the world is quiet, that each code counts one use for each sold order that names it
// and has tickets left, and that no code still holds a use for an order.
func (t *Truth) settledCodes(shows []Show, refs []engine.Ref) error {
	uses := make(map[engine.Ref]int64)
	for _, sh := range shows {
		b := t.bookOf(sh.Event.ID)
		for _, id := range b.ids {
			if o := b.orders[id].order; o.Sold() && o.Promo != nil && t.ticketsLeft(b, o) {
				uses[o.Promo.Ref]++
			}
		}
	}
	for _, ref := range refs {
		if ref.Kind != engine.KindPromo {
			continue
		}
		state, err := t.world.Replay(ref)
		if err != nil {
			return err
		}
		code, ok := state.(*promo.State)
		if !ok || code.Used() != uses[ref] {
			return fmt.Errorf("%s has %d uses, orders name it %d times", ref.Name(), code.Used(), uses[ref])
		}
		code.Open(func(h keeper.Held) {
			err = fmt.Errorf("%s still holds a use for %s", ref.Name(), enginetest.ClaimName(h.Claim))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
