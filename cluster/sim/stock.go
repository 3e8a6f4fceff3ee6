package sim

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// takeStock judges a committed fact of a ticket type and keeps it.
func (t *truth) takeStock(ref engine.Ref, st *stock, f engine.Fact) error {
	switch f := f.(type) {
	case *inventory.Created:
		st.details = *f.Details
	case *inventory.Updated:
		if f.Resize == 0 && (f.Details.Seated != st.details.Seated || st.details.Seated && f.Details.Quantity != st.details.Quantity) {
			return fmt.Errorf("the organizer changes the seats: %+v", *f.Details)
		}
		if f.Resize != 0 {
			if f.Resize <= st.sized {
				return fmt.Errorf("resize %d follows %d", f.Resize, st.sized)
			}
			st.sized = f.Resize
		}
		st.details = *f.Details
		if st.details.Seated {
			t.book(ref.Home).unguard(ref.ID)
		}
		if f.Left != st.forSale() {
			return fmt.Errorf("updated with %d left, not %d", f.Left, st.forSale())
		}
	case *inventory.Awaited:
		if err := st.takeAwaited(f); err != nil {
			return err
		}
	default:
		return t.takeKept(ref, st, f)
	}
	return st.check()
}

// takeKept judges a fact of the reservation protocol of a keeper of units.
func (t *truth) takeKept(ref engine.Ref, st *stock, f engine.Fact) error {
	switch f := f.(type) {
	case *keeper.ReservedFact:
		if err := t.overtakes(ref, st, f); err != nil {
			return err
		}
		return t.takeReserved(ref, st, f)
	case *keeper.CommittedFact:
		h := st.held[f.Claim.Order]
		if h == nil || h.Claim != f.Claim {
			return fmt.Errorf("%s is sold and not reserved", claimed(f.Claim))
		}
		sl := t.book(f.Claim.Order.Event()).orders[f.Claim.Order]
		if sl == nil || !sl.order.Sold() || sl.order.Serial != f.Claim.Serial {
			return fmt.Errorf("%s is sold, its order is %+v", claimed(f.Claim), sl)
		}
		st.sold += h.Quantity
		st.end(f.Claim, "sold")
	case *keeper.ReleasedFact:
		h := st.held[f.Claim.Order]
		if h == nil || h.Claim != f.Claim {
			return fmt.Errorf("%s is released and not reserved", claimed(f.Claim))
		}
		sl := t.book(f.Claim.Order.Event()).orders[f.Claim.Order]
		if sl != nil && sl.order.Serial == f.Claim.Serial && (sl.order.Unpaid() || sl.order.Sold()) {
			return fmt.Errorf("%s is released, its order is %s", claimed(f.Claim), sl.order.Status)
		}
		st.buyers[h.Customer] -= h.Quantity
		st.end(f.Claim, "released")
		if f.Left != st.forSale() {
			return fmt.Errorf("released with %d left, not %d", f.Left, st.forSale())
		}
	case *keeper.ReturnedFact:
		return t.takeReturned(ref, st, f)
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return st.check()
}

func (t *truth) takeReserved(ref engine.Ref, st *stock, f *keeper.ReservedFact) error {
	if how, dead := st.ended[f.Claim]; dead {
		return fmt.Errorf("%s is reserved again after it was %s", claimed(f.Claim), how)
	}
	if old := st.held[f.Claim.Order]; old != nil {
		if old.Claim.Serial >= f.Claim.Serial {
			return fmt.Errorf("%s replaces %s", claimed(f.Claim), claimed(old.Claim))
		}
		t.sim.reach("reservation", "replaced")
		st.buyers[old.Customer] -= old.Quantity
		st.end(old.Claim, "replaced")
	}
	st.held[f.Claim.Order] = f
	st.buyers[f.Customer] += f.Quantity
	b := t.book(f.Claim.Order.Event())
	late := b.orders[f.Claim.Order] != nil && b.orders[f.Claim.Order].ended || t.sim.places[f.Claim.Order] == nil || t.sim.issuedBy(f.Claim.Order) // an offer, or the organization's own
	if has := st.buyers[f.Customer]; !late && has > st.details.MaxPerCustomer {
		return fmt.Errorf("customer %d holds %d of at most %d", f.Customer, has, st.details.MaxPerCustomer)
	}
	if !late && f.Quantity > st.details.MaxPerOrder {
		return fmt.Errorf("%s reserves %d of at most %d", claimed(f.Claim), f.Quantity, st.details.MaxPerOrder)
	}
	if f.Left != st.forSale() {
		return fmt.Errorf("reserved with %d left, not %d", f.Left, st.forSale())
	}
	if err := t.aboveFloor(b, f.Claim, f.Floor); err != nil {
		return err
	}
	if st.terms != nil && !late && st.details.Quantity != inventory.Unlimited && st.sold+st.reserved() > st.details.Quantity {
		return fmt.Errorf("%d uses consumed and %d reserved of %d", st.sold, st.reserved(), st.details.Quantity)
	}
	return st.check()
}

// aboveFloor makes sure that no order below a reservation's floor is alive.
func (t *truth) aboveFloor(b *book, c keeper.Claim, floor keeper.Serial) error {
	for _, id := range b.ids {
		if sl := b.orders[id]; !sl.closed && sl.order.Serial < floor && sl.order.Serial != 0 {
			return fmt.Errorf("the floor of %s is above %s, which is %s", claimed(c), enginetest.OrderName(id), sl.order.Status)
		}
	}
	return nil
}

func (st *stock) end(c keeper.Claim, how string) {
	delete(st.held, c.Order)
	st.ended[c] = how
}

// reserved is how many units are held for open orders.
func (st *stock) reserved() int64 {
	var n int64
	for _, h := range st.held {
		n += h.Quantity
	}
	return n
}

func (st *stock) left() int64 {
	if st.details.Quantity == inventory.Unlimited {
		return inventory.Unlimited
	}
	left := st.details.Quantity - st.sold - st.reserved()
	if st.details.Seated || st.terms != nil { // the seat map judges; late money takes its use again
		return max(0, left)
	}
	return left
}

func (st *stock) check() error {
	if st.terms != nil {
		return nil // late money takes its use again, and an organizer may lower the limit
	}
	if st.details.Quantity != inventory.Unlimited && !st.details.Seated && st.sold+st.reserved() > st.details.Quantity {
		return fmt.Errorf("oversold: %d sold and %d reserved of %d", st.sold, st.reserved(), st.details.Quantity)
	}
	return nil
}

// mayLeave reports whether a message tells nothing but the journal's truth.
func (t *truth) mayLeave(from engine.Ref, c engine.Command) error {
	orderOf := func(claim keeper.Claim) *order.Order {
		if sl := t.book(from.Home).orders[claim.Order]; sl != nil && sl.order.Serial == claim.Serial {
			return sl.order
		}
		return nil
	}
	switch c := c.(type) {
	case keeper.Granted:
		if from.Kind == engine.KindSeatmap {
			return t.seat(from).granted(c.Claim)
		}
		if from.Kind == engine.KindCalendar {
			d := t.diary(from.Home)
			if h := d.held[c.Order]; d.ended[c.Claim] == "" && (h == nil || h.Claim != c.Claim) {
				return fmt.Errorf("%s is granted and not reserved", claimed(c.Claim))
			}
			return nil
		}
		st := t.stock(from)
		h := st.held[c.Order]
		if _, ended := st.ended[c.Claim]; !ended && (h == nil || h.Claim != c.Claim) {
			return fmt.Errorf("%s is granted and not reserved", claimed(c.Claim))
		}
	case keeper.Commit:
		if sl := t.book(from.Home).orders[c.Order]; c.Back != nil && sl != nil && isMoved(sl.order, c.Serial) {
			return nil
		}
		if o := orderOf(c.Claim); o == nil || !o.Sold() {
			return fmt.Errorf("order %s is not completed: %+v", claimed(c.Claim), o)
		}
	case keeper.Release:
		// Of a move that has been settled, a late question is moot.
		if sl := t.book(from.Home).orders[c.Order]; sl != nil && sl.order.Unsettled() != nil && sl.order.Unsettled().Serial == c.Serial {
			return fmt.Errorf("%s is released, and a ticket has moved under it", claimed(c.Claim))
		}
		o := orderOf(c.Claim) // a closed one is sold for good, and a late question about it moot
		if o != nil && (o.Unpaid() || o.Sold() && !t.book(from.Home).orders[o.ID].closed) {
			return fmt.Errorf("order %s is %s", claimed(c.Claim), o.Status)
		}
	case keeper.Confirmed:
		for _, claim := range c.Claims {
			if t.book(from.Home).orders[claim.Order] == nil {
				return fmt.Errorf("order %s is not in the journal", claimed(claim))
			}
		}
	case keeper.ResizeSeen:
		if c.Revision > t.stock(from).sized {
			return fmt.Errorf("resize %d is not in the journal", c.Revision)
		}
	case keeper.Closed:
		if r := t.seat(from).reserved[c.Order]; from.Kind == engine.KindSeatmap && r != nil && r.Reservation.Claim == c.Claim {
			return fmt.Errorf("%s is still reserved", claimed(c.Claim))
		}
		if h := t.stock(from).held[c.Order]; h != nil && h.Claim == c.Claim {
			return fmt.Errorf("%s is still reserved", claimed(c.Claim))
		}
	}
	return nil
}

// phase is what an actor is in the middle of, for the counters.
func (s *Sim) phase(ref engine.Ref) string {
	if ref.Kind == engine.KindInventory {
		if st := s.truth.stocks[ref]; st != nil && len(st.held) > 0 {
			return "stock reserved"
		}
		return "stock idle"
	}
	if ref.Kind == engine.KindPromo {
		if st := s.truth.stocks[ref]; st != nil && len(st.held) > 0 {
			return "code reserved"
		}
		return "code idle"
	}
	if ref.Kind == engine.KindWallet {
		return "wallet idle"
	}
	if ref.Kind == engine.KindCalendar {
		if d := s.truth.diaries[ref.Home]; d != nil && len(d.held) > 0 {
			return "dates reserved"
		}
		return "dates idle"
	}
	if ref.Kind == engine.KindSeatmap {
		switch st := s.truth.seat(ref); {
		case len(st.reserved) > 0:
			return "seats reserved"
		case len(st.picks) > 0:
			return "seats held"
		}
		return "seats idle"
	}
	phase := "event idle"
	for _, n := range s.nodes {
		if a := n.acts[ref]; a != nil && len(a.held) > 0 {
			return "order placing"
		}
	}
	b := s.truth.book(ref.Home)
	for _, id := range b.ids {
		switch sl := b.orders[id]; {
		case sl.order.Unpaid():
			return "order unpaid"
		case !sl.closed:
			phase = "order settling"
		}
	}
	return phase
}

// reachEntries counts a fault of a batch.
func (s *Sim) reachEntries(fault string, b *batch) {
	for _, r := range b.rows {
		s.reach(fault, s.phase(r.ref))
	}
}
