package sim

import (
	"fmt"
	"math"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/promo"
)

// org is the organization whose shows these are: a code may be for all of them.
const org = 1

// openCodes makes the promo codes of a show, and of all shows.
func (s *Sim) openCodes(sh *show) {
	if !s.fates.on {
		return
	}
	all := engine.PromoRef(org, 1)
	sh.codes = append(sh.codes, all)
	if sh.ref.ID == 1 {
		s.openCode(all, 0)
	}
	own := engine.PromoRef(org, 100+sh.ref.ID)
	sh.codes = append(sh.codes, own)
	s.openCode(own, sh.ref.ID)
	for range s.fates.IntN(3) {
		ref := sh.codes[s.fates.IntN(len(sh.codes))]
		s.after(second+s.fates.Int64N(s.swarm.load), func() { s.changeCode(ref) })
	}
}

func (s *Sim) openCode(ref engine.Ref, number int64) {
	d := promo.Details{
		Discount:  keeper.Discount{Code: "CODE", Percentage: s.fates.chance(.5), Value: 1 + s.fates.Int64N(9_000)},
		ValidFrom: s.millis(-3600 * second), ValidUntil: s.millis(24 * 3600 * second), Event: number,
		MaxUses: 1 + s.fates.Int64N(12), MaxByCustomer: s.fates.Int64N(4),
	}
	if s.fates.chance(.2) {
		d.MaxUses = 0
	}
	if s.fates.chance(.2) {
		d.MinOrder = 1 + s.fates.Int64N(5_000)
	}
	s.ask(ref, promo.Create{Details: d}, 0, nil)
}

// changeCode is a change of a code's terms, or its end.
func (s *Sim) changeCode(ref engine.Ref) {
	s.ask(ref, promo.Get{}, 2, func(r engine.Reply) {
		rec, ok := r.(*promo.Record)
		switch {
		case !ok || rec.Disabled:
		case s.fates.chance(.3):
			s.ask(ref, promo.Delete{}, 2, nil)
		default:
			d := rec.Details
			d.MaxUses, d.Value = s.fates.Int64N(12), 1+s.fates.Int64N(9_000)
			s.ask(ref, promo.Update{Details: d, Revision: rec.Revision}, 2, nil)
		}
	})
}

// nameCode has a third of the orders name a code.
func (s *Sim) nameCode(sh *show, p *event.Place) {
	if len(sh.codes) > 0 && s.fates.chance(.35) {
		p.Promo = &order.Promo{Ref: sh.codes[s.fates.IntN(len(sh.codes))], Code: "CODE"}
	}
}

// takeCode judges a committed fact of a promo code and keeps it. Its uses are a stock of
// which late money may take one too many.
func (t *truth) takeCode(ref engine.Ref, st *stock, f engine.Fact) error {
	switch f := f.(type) {
	case *promo.Created:
		st.setUses(f.Details)
	case *promo.Updated:
		st.setUses(f.Details)
	case *promo.DisabledFact:
		st.shut = true
	case *promo.Removed:
		if st.reserved() > 0 || st.sold > 0 {
			return fmt.Errorf("removed, with %d uses held and %d consumed", st.reserved(), st.sold)
		}
		st.shut = true
	case *keeper.ReservedFact:
		sl := t.book(f.Claim.Order.Event()).orders[f.Claim.Order]
		if late := sl != nil && sl.ended; st.shut && !late {
			return fmt.Errorf("%s takes a use of a code that is over", claimed(f.Claim))
		}
		return t.takeKept(ref, st, f)
	default:
		return t.takeKept(ref, st, f)
	}
	return nil
}

// setUses makes a stock of a code's uses.
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

// discounted judges what a code takes off an order, by arithmetic of its own, and returns
// what is left to pay with the fees.
func (t *truth) discounted(o *order.Order) (total int64, err error) {
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
	t.sim.reach("order", "with a code")
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

// settledCodes makes sure that as many uses are consumed as there are orders that have
// tickets left and name the code.
func (s *Sim) settledCodes() error {
	uses := make(map[engine.Ref]int64)
	for _, sh := range s.shows {
		b := s.truth.book(sh.ref.ID)
		for _, id := range b.ids {
			if o := b.orders[id].order; o.Sold() && o.Promo != nil && s.truth.ticketsLeft(b, o) {
				uses[o.Promo.Ref]++
			}
		}
	}
	for _, ref := range s.refs {
		if ref.Kind != engine.KindPromo {
			continue
		}
		state, err := s.replay(s.stream(ref), true)
		if err != nil {
			return err
		}
		code, ok := state.(*promo.State)
		if !ok || code.Used() != uses[ref] {
			return fmt.Errorf("%s has %d uses, orders name it %d times", ref.Name(), code.Used(), uses[ref])
		}
		code.Open(func(h keeper.Held) { err = fmt.Errorf("%s still holds a use for %s", ref.Name(), claimed(h.Claim)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// ticketsLeft reports whether an order has a ticket whose money did not go back.
func (t *truth) ticketsLeft(b *book, o *order.Order) bool {
	for i := range uint32(o.Tickets()) {
		if !b.hand(o.FirstTicket + i).gone {
			return true
		}
	}
	return false
}
