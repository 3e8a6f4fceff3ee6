package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// stock is what the judge knows of a keeper of units, by its facts. The keeper is a ticket type, or a promo code,
// whose units are its uses.
type stock struct {
	details inventory.Details
	terms   *keeper.Discount // nil of a ticket type; of a promo code, whose uses are judged as a stock, its discount
	shut    bool             // the promo code is over, so that only an order that had ended may take a use
	sold    int64            // units, or uses of a code, less those that came back
	sized   uint64           // the revision of the last Resize: each one has to have a higher
	held    map[engine.OrderID]*keeper.ReservedFact
	ended   map[keeper.Claim]string // how each reservation ended: it was sold, released or replaced
	buyers  map[uint64]int64        // units of each customer, reserved or sold: MaxPerCustomer at most

	// While somebody in the waitlist waits for the ticket type, its free units are not for sale to others. awaitRev
	// is the revision of the last note about that, and each note has to have a higher one.
	awaited  bool // somebody in the waitlist waits for it
	awaitRev uint64
}

// stockOf returns the stock of a keeper of units.
func (t *Truth) stockOf(ref engine.Ref) *stock {
	st := t.stocks[ref]
	if st == nil {
		st = &stock{
			held: make(map[engine.OrderID]*keeper.ReservedFact), ended: make(map[keeper.Claim]string),
			buyers: make(map[uint64]int64),
		}
		t.stocks[ref] = st
	}
	return st
}

// judgeClosed returns an error unless the order's units ended as the order did: sold if it was sold, and otherwise
// released.
func (st *stock) judgeClosed(o *order.Order) error {
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	if h := st.held[o.ID]; h != nil && h.Claim == claim {
		return fmt.Errorf("order %s is closed and still reserved", enginetest.OrderName(o.ID))
	}
	if sold := st.ended[claim] == "sold"; sold != o.Sold() {
		return fmt.Errorf("order %s is closed as %s, its reservation is %q", enginetest.OrderName(o.ID), o.Status, st.ended[claim])
	}
	return nil
}

// takeStock judges a committed fact of a ticket type and keeps it.
func (t *Truth) takeStock(ref engine.Ref, st *stock, f engine.Fact) error {
	switch f := f.(type) {
	case *inventory.Created:
		st.details = *f.Details
	case *inventory.Updated:
		// Seats decide how many units a seated type has. Only the seat map may change that, by a resize.
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
		// A ticket type that is sold by seat has no waitlist, so nobody who waits can be overtaken any more.
		if st.details.Seated {
			t.bookOf(ref.Home).dropPromises(ref.ID)
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
	return st.checkSold()
}

// takeKept judges a fact of the reservation protocol, which ticket types and promo codes share, and keeps it.
func (t *Truth) takeKept(ref engine.Ref, st *stock, f engine.Fact) error {
	switch f := f.(type) {
	case *keeper.ReservedFact:
		if err := t.judgeOvertaking(ref, st, f); err != nil {
			return err
		}
		return t.takeReserved(ref, st, f)
	case *keeper.CommittedFact:
		h := st.held[f.Claim.Order]
		if h == nil || h.Claim != f.Claim {
			return fmt.Errorf("%s is sold and not reserved", enginetest.ClaimName(f.Claim))
		}
		// Units are sold only for an order that the ledger has sold under the same serial.
		sl := t.bookOf(f.Claim.Order.Event()).orders[f.Claim.Order]
		if sl == nil || !sl.order.Sold() || sl.order.Serial != f.Claim.Serial {
			return fmt.Errorf("%s is sold, its order is %+v", enginetest.ClaimName(f.Claim), sl)
		}
		st.sold += h.Quantity
		st.endClaim(f.Claim, "sold")
	case *keeper.ReleasedFact:
		h := st.held[f.Claim.Order]
		if h == nil || h.Claim != f.Claim {
			return fmt.Errorf("%s is released and not reserved", enginetest.ClaimName(f.Claim))
		}
		// An unpaid or sold order must not lose its units. Under another serial the ledger has given them up.
		sl := t.bookOf(f.Claim.Order.Event()).orders[f.Claim.Order]
		if sl != nil && sl.order.Serial == f.Claim.Serial && (sl.order.Unpaid() || sl.order.Sold()) {
			return fmt.Errorf("%s is released, its order is %s", enginetest.ClaimName(f.Claim), sl.order.Status)
		}
		st.buyers[h.Customer] -= h.Quantity
		st.endClaim(f.Claim, "released")
		if f.Left != st.forSale() {
			return fmt.Errorf("released with %d left, not %d", f.Left, st.forSale())
		}
	case *keeper.ReturnedFact:
		return t.takeReturned(ref, st, f)
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return st.checkSold()
}

// takeReserved judges a reservation and keeps it. An order has one reservation of a ticket type: a later attempt of
// the ledger, which has a higher serial, replaces it. The limits by order and by customer don't bind late money,
// offers of the waitlist, and what the organization gives away itself.
func (t *Truth) takeReserved(ref engine.Ref, st *stock, f *keeper.ReservedFact) error {
	if how, dead := st.ended[f.Claim]; dead {
		return fmt.Errorf("%s is reserved again after it was %s", enginetest.ClaimName(f.Claim), how)
	}
	if old := st.held[f.Claim.Order]; old != nil {
		if old.Claim.Serial >= f.Claim.Serial {
			return fmt.Errorf("%s replaces %s", enginetest.ClaimName(f.Claim), enginetest.ClaimName(old.Claim))
		}
		t.world.Reach("reservation", "replaced")
		st.buyers[old.Customer] -= old.Quantity
		st.endClaim(old.Claim, "replaced")
	}
	st.held[f.Claim.Order] = f
	st.buyers[f.Customer] += f.Quantity
	b := t.bookOf(f.Claim.Order.Event())
	late := b.orders[f.Claim.Order] != nil && b.orders[f.Claim.Order].ended || t.world.Places(f.Claim.Order) == nil || t.issuedBy(f.Claim.Order) // an offer, or the organization's own
	if has := st.buyers[f.Customer]; !late && has > st.details.MaxPerCustomer {
		return fmt.Errorf("customer %d holds %d of at most %d", f.Customer, has, st.details.MaxPerCustomer)
	}
	if !late && f.Quantity > st.details.MaxPerOrder {
		return fmt.Errorf("%s reserves %d of at most %d", enginetest.ClaimName(f.Claim), f.Quantity, st.details.MaxPerOrder)
	}
	if f.Left != st.forSale() {
		return fmt.Errorf("reserved with %d left, not %d", f.Left, st.forSale())
	}
	if err := t.aboveFloor(b, f.Claim, f.Floor); err != nil {
		return err
	}
	// A new order may not take a use that a promo code does not have. Late money may: see takeCode.
	if st.terms != nil && !late && st.details.Quantity != inventory.Unlimited && st.sold+st.countReserved() > st.details.Quantity {
		return fmt.Errorf("%d uses consumed and %d reserved of %d", st.sold, st.countReserved(), st.details.Quantity)
	}
	return st.checkSold()
}

// aboveFloor makes sure that the floor that came with a reservation is true: no order with a serial below it is
// alive. A keeper relies on this and forgets all that it remembers of such serials.
func (t *Truth) aboveFloor(b *book, c keeper.Claim, floor keeper.Serial) error {
	for _, id := range b.ids {
		if sl := b.orders[id]; !sl.closed && sl.order.Serial < floor && sl.order.Serial != 0 {
			return fmt.Errorf("the floor of %s is above %s, which is %s", enginetest.ClaimName(c), enginetest.OrderName(id), sl.order.Status)
		}
	}
	return nil
}

// endClaim notes how a reservation ended. The note stays for ever, because the same claim may never be reserved
// again.
func (st *stock) endClaim(c keeper.Claim, how string) {
	delete(st.held, c.Order)
	st.ended[c] = how
}

// countReserved returns how many units are held for orders that are not sold yet.
func (st *stock) countReserved() int64 {
	var n int64
	for _, h := range st.held {
		n += h.Quantity
	}
	return n
}

// countLeft returns how many units are neither sold nor reserved, or Unlimited.
func (st *stock) countLeft() int64 {
	if st.details.Quantity == inventory.Unlimited {
		return inventory.Unlimited
	}
	left := st.details.Quantity - st.sold - st.countReserved()
	if st.details.Seated || st.terms != nil { // the seat map judges; late money takes its use again
		return max(0, left)
	}
	return left
}

// checkSold is the promise that the simulator is there for: no ticket type is oversold. Seated types are left to the
// rules of the seat map, which knows each seat.
func (st *stock) checkSold() error {
	if st.terms != nil {
		return nil // late money takes its use again, and an organizer may lower the limit
	}
	if st.details.Quantity != inventory.Unlimited && !st.details.Seated && st.sold+st.countReserved() > st.details.Quantity {
		return fmt.Errorf("oversold: %d sold and %d reserved of %d", st.sold, st.countReserved(), st.details.Quantity)
	}
	return nil
}
