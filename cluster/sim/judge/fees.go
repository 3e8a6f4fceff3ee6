package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/wallet"
)

// takeFee judges what an organization's wallet sets aside, takes and gives back as fees for the orders that the
// organization issues itself, and keeps it.
func (t *Truth) takeFee(ref engine.Ref, f engine.Fact) error {
	st := t.stockOf(ref)
	switch f := f.(type) {
	case *wallet.Entered:
		e := &f.Entry
		if e.Balance < 0 || e.Pending < 0 {
			return fmt.Errorf("%s has less than nothing: %+v", ref.Name(), e)
		}
		// A debit takes the fee of one order, which its reference names. It may happen once.
		if e.Kind == wallet.Debited {
			if t.fees[e.Reference] != 0 {
				return fmt.Errorf("the fee of %s is taken twice", e.Reference)
			}
			t.fees[e.Reference] = e.Amount
		}
	// A reservation sets the fee aside. A later attempt of the ledger has a higher serial, and replaces the earlier
	// one.
	case *keeper.ReservedFact:
		if how, dead := st.ended[f.Claim]; dead {
			return fmt.Errorf("%s reserves a fee again after it was %s", enginetest.ClaimName(f.Claim), how)
		}
		if old := st.held[f.Claim.Order]; old != nil {
			if old.Claim.Serial >= f.Claim.Serial {
				return fmt.Errorf("%s replaces %s", enginetest.ClaimName(f.Claim), enginetest.ClaimName(old.Claim))
			}
			// The yes to the old claim may still arrive: it was true, and the ledger that asked for it no
			// longer waits.
			t.world.Reach("fee", "replaced")
			st.endClaim(old.Claim, "replaced")
		}
		st.held[f.Claim.Order] = f
		return t.aboveFloor(t.bookOf(f.Claim.Order.Event()), f.Claim, f.Floor)
	// A fee is taken only for an order that was sold, and it is the fee that the order says.
	case *keeper.CommittedFact:
		h, sl := st.held[f.Claim.Order], t.bookOf(f.Claim.Order.Event()).orders[f.Claim.Order]
		if h == nil || h.Claim != f.Claim || sl == nil || !sl.order.Sold() || sl.order.Issue == nil || sl.order.Issue.Fee != h.Quantity {
			return fmt.Errorf("%s pays a fee: %+v, its order is %+v", enginetest.ClaimName(f.Claim), h, sl)
		}
		t.world.Reach("order", "with a fee")
		st.endClaim(f.Claim, "sold")
	// A fee is released only if no order was made under this serial: an order that was issued owes its fee for good.
	case *keeper.ReleasedFact:
		h, sl := st.held[f.Claim.Order], t.bookOf(f.Claim.Order.Event()).orders[f.Claim.Order]
		if h == nil || h.Claim != f.Claim || sl != nil && sl.order.Serial == f.Claim.Serial {
			return fmt.Errorf("%s has its fee back: %+v, its order is %+v", enginetest.ClaimName(f.Claim), h, sl)
		}
		st.endClaim(f.Claim, "released")
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

// judgeIssued judges an order that the organization has made itself: its buyer pays no fees, and the fee that the
// organization owes for it is set aside in its wallet.
func (t *Truth) judgeIssued(o *order.Order) error {
	fee := o.IssueFee()
	if o.Issue.Fee != fee || o.Fees != 0 || o.Total != o.Subtotal {
		return fmt.Errorf("order %s is issued for a fee of %d, not %d: %+v", enginetest.OrderName(o.ID), o.Issue.Fee, fee, o)
	}
	t.world.Reach("order", "issued")
	if fee == 0 {
		return nil
	}
	if h := t.stockOf(o.Issue.Wallet).held[o.ID]; h == nil || h.Claim.Serial != o.Serial || h.Quantity != fee {
		return fmt.Errorf("order %s has no fee reserved: %+v", enginetest.OrderName(o.ID), h)
	}
	return nil
}

// settledFees makes sure, once the world is quiet, that the wallet took exactly the fee of each order that was
// issued, and none for any other order.
func (t *Truth) settledFees(shows []Show) error {
	// want has the fee of each issued order. A fee that was taken is struck off, so the rest was never taken.
	want := make(map[string]int64)
	for _, sh := range shows {
		b := t.bookOf(sh.Event.ID)
		for _, id := range b.ids {
			if o := b.orders[id].order; o.TakesFee() {
				want[o.ID.String()] = o.Issue.Fee
			}
		}
	}
	for reference, fee := range t.fees {
		if want[reference] != fee {
			return fmt.Errorf("a fee of %d is taken for %s, due are %d", fee, reference, want[reference])
		}
		delete(want, reference)
	}
	if len(want) > 0 {
		return fmt.Errorf("fees were never taken: %v", want)
	}
	return nil
}
