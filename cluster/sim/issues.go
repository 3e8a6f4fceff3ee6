package sim

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/wallet"
)

// openIssues has the organization of a show pay money into its wallet and issue tickets by
// itself, some of them more than the wallet pays for.
func (s *Sim) openIssues(sh *show) {
	if !s.fates.on {
		return
	}
	purse := engine.WalletRef(0, "USD") // of the shows' organization
	for range s.fates.IntN(3) {
		s.credits++
		var id wallet.EntryID
		id[0], id[15] = 0xee, s.credits
		credit := wallet.Credit{ID: id, Amount: 1 + s.fates.Int64N(2_000), Reason: "top-up"}
		s.after(s.fates.Int64N(s.swarm.load), func() { s.ask(purse, credit, 0, nil) })
	}
	for range s.fates.IntN(12) {
		s.after(second+s.fates.Int64N(s.swarm.load), func() { s.issue(sh) })
	}
}

// issue makes an order of the organization's own, or a few that are made together.
func (s *Sim) issue(sh *show) {
	if len(sh.types) == 0 || sh.dates != nil {
		return
	}
	var all []event.Place
	comp := s.fates.chance(.3)
	for range 1 + s.fates.IntN(3) {
		p := s.newPlace(sh)
		p.Client, p.Issue = 0, &order.Issue{Reference: "r", Comp: comp}
		typ := sh.types[s.fates.IntN(len(sh.types))]
		p.Lines = []order.Line{{Type: typ.ID, Quantity: 1 + s.fates.Int64N(8)}}
		s.places[p.Order] = append(s.places[p.Order], &p)
		all = append(all, p)
		if !comp {
			break
		}
	}
	for range 1 + s.fates.IntN(2) { // it is sent again
		s.after(s.fateIn(3), func() {
			if comp {
				s.ask(sh.ref, event.PlaceAll{Orders: all}, 1+s.fates.IntN(4), nil)
				return
			}
			s.ask(sh.ref, all[0], 1+s.fates.IntN(4), nil)
		})
	}
}

// issuedBy reports whether an order's command is the organization's own.
func (s *Sim) issuedBy(id engine.OrderID) bool {
	places := s.places[id]
	return len(places) > 0 && places[0].Issue != nil
}

// takeFee judges what a wallet keeps for orders, and what it enters.
func (t *truth) takeFee(ref engine.Ref, f engine.Fact) error {
	st := t.stock(ref)
	switch f := f.(type) {
	case *wallet.Entered:
		e := &f.Entry
		if e.Balance < 0 || e.Pending < 0 {
			return fmt.Errorf("%s has less than nothing: %+v", ref.Name(), e)
		}
		if e.Kind == wallet.Debited {
			if t.fees[e.Reference] != 0 {
				return fmt.Errorf("the fee of %s is taken twice", e.Reference)
			}
			t.fees[e.Reference] = e.Amount
		}
	case *keeper.ReservedFact:
		if how, dead := st.ended[f.Claim]; dead {
			return fmt.Errorf("%s reserves a fee again after it was %s", claimed(f.Claim), how)
		}
		if old := st.held[f.Claim.Order]; old != nil {
			if old.Claim.Serial >= f.Claim.Serial {
				return fmt.Errorf("%s replaces %s", claimed(f.Claim), claimed(old.Claim))
			}
			// The yes to the old claim may still arrive: it was true, and the ledger that asked for it no
			// longer waits.
			t.sim.reach("fee", "replaced")
			st.end(old.Claim, "replaced")
		}
		st.held[f.Claim.Order] = f
		return t.aboveFloor(t.book(f.Claim.Order.Event()), f.Claim, f.Floor)
	case *keeper.CommittedFact:
		h, sl := st.held[f.Claim.Order], t.book(f.Claim.Order.Event()).orders[f.Claim.Order]
		if h == nil || h.Claim != f.Claim || sl == nil || !sl.order.Sold() || sl.order.Issue == nil || sl.order.Issue.Fee != h.Quantity {
			return fmt.Errorf("%s pays a fee: %+v, its order is %+v", claimed(f.Claim), h, sl)
		}
		t.sim.reach("order", "with a fee")
		st.end(f.Claim, "sold")
	case *keeper.ReleasedFact:
		h, sl := st.held[f.Claim.Order], t.book(f.Claim.Order.Event()).orders[f.Claim.Order]
		if h == nil || h.Claim != f.Claim || sl != nil && sl.order.Serial == f.Claim.Serial {
			return fmt.Errorf("%s has its fee back: %+v, its order is %+v", claimed(f.Claim), h, sl)
		}
		st.end(f.Claim, "released")
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

// issued judges an order that the organization has made: its fee is reserved.
func (t *truth) issued(o *order.Order) error {
	fee := o.IssueFee()
	if o.Issue.Fee != fee || o.Fees != 0 || o.Total != o.Subtotal {
		return fmt.Errorf("order %s is issued for a fee of %d, not %d: %+v", enginetest.OrderName(o.ID), o.Issue.Fee, fee, o)
	}
	t.sim.reach("order", "issued")
	if fee == 0 {
		return nil
	}
	if h := t.stock(o.Issue.Wallet).held[o.ID]; h == nil || h.Claim.Serial != o.Serial || h.Quantity != fee {
		return fmt.Errorf("order %s has no fee reserved: %+v", enginetest.OrderName(o.ID), h)
	}
	return nil
}

// settledFees makes sure that the fee of each order that was issued was taken, once, and of
// no other.
func (s *Sim) settledFees() error {
	want := make(map[string]int64)
	for _, sh := range s.shows {
		b := s.truth.book(sh.ref.ID)
		for _, id := range b.ids {
			if o := b.orders[id].order; o.TakesFee() {
				want[o.ID.String()] = o.Issue.Fee
			}
		}
	}
	for reference, fee := range s.truth.fees {
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
