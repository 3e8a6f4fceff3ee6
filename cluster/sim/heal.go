package sim

import (
	"errors"
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// settled judges the world once it is quiet: everything has come to its end.
func (s *Sim) settled() {
	if len(s.events) > 0 {
		s.failf("not quiet: %d steps are planned, the next at %d", len(s.events), s.events[0].at)
		return
	}
	for _, a := range s.asks {
		if !a.answered && a.limit == 0 {
			s.failf("nobody answered %s in %d tries", brief(a.cmd), a.tries)
			return
		}
	}
	for _, a := range s.made {
		if open := a.Load.Load(); open != 0 && a.alive() {
			s.failf("%s#%d has left %d commands without an outcome", a.Ref.Name(), a.claim.Epoch, open)
			return
		}
	}
	for _, ref := range s.refs {
		if err := s.settledActor(ref); err != nil {
			s.failf("%s has not settled: %w", ref.Name(), err)
			return
		}
	}
	for _, sh := range s.shows {
		if err := s.settledBook(sh); err != nil {
			s.failf("%s has not settled: %w", sh.ref.Name(), err)
			return
		}
	}
	if err := s.settledFees(); err != nil {
		s.failf("fees have not settled: %w", err)
		return
	}
	if err := s.settledCodes(); err != nil {
		s.failf("promo codes have not settled: %w", err)
		return
	}
	for _, p := range s.cash.order {
		if err := s.settledPayment(p); err != nil {
			s.failf("payment %s has not settled: %w", p.reference, err)
			return
		}
	}
}

// settledActor judges the activation that owns a stream.
func (s *Sim) settledActor(ref engine.Ref) error {
	st, a := s.stream(ref), s.current(ref)
	if a == nil || a.state == nil {
		return errors.New("nobody is at work")
	}
	if len(a.held) > 0 || a.pending > 0 || a.seq != st.head {
		return fmt.Errorf("%d orders held, %d decisions pending, at %d of %d", len(a.held), a.pending, a.seq, st.head)
	}
	whole, err := s.replay(st, false)
	if err != nil {
		return err
	}
	if s.bug == "" {
		if err := enginetest.CompareStates(a.state, whole); err != nil {
			return err
		}
	}
	return whole.Check()
}

// settledBook judges an event's orders and the stock they took.
func (s *Sim) settledBook(sh *show) error {
	b := s.truth.book(sh.ref.ID)
	if !b.removed && sh.dates == nil && b.status != event.StatusDraft && b.status != event.StatusCancelled && b.status != event.StatusCompleted {
		return fmt.Errorf("its dates are over and it is %s", b.status)
	}
	for _, id := range b.ids {
		switch sl := b.orders[id]; {
		case sl.order.Unpaid():
			return fmt.Errorf("order %s is %s", enginetest.OrderName(id), sl.order.Status)
		case !sl.closed:
			return fmt.Errorf("order %s is %s and not closed", enginetest.OrderName(id), sl.order.Status)
		}
	}
	state, err := s.replay(s.stream(sh.ref), true)
	if err != nil {
		return err
	}
	ledger, ok := state.(*event.State)
	if !ok || int64(ledger.Tickets()) != int64(len(b.tickets))-b.gone {
		return fmt.Errorf("the ledger has not the journal's %d live tickets", int64(len(b.tickets))-b.gone)
	}
	if err := s.settledProceeds(sh); err != nil {
		return err
	}
	if err := s.settledOffers(sh, ledger); err != nil {
		return err
	}
	if err := s.settledSeats(sh); err != nil {
		return err
	}
	if err := s.settledDates(sh); err != nil {
		return err
	}
	for _, ref := range sh.types {
		state, err := s.replay(s.stream(ref), true)
		if err != nil {
			return err
		}
		stock, ok := state.(*inventory.State)
		if !ok {
			return fmt.Errorf("%s is a %T", ref.Name(), state)
		}
		if stock.Sold() != b.types[ref.ID] {
			return fmt.Errorf("%s has sold %d, tickets are %d", ref.Name(), stock.Sold(), b.types[ref.ID])
		}
		stock.Open(func(h keeper.Held) {
			if err == nil {
				err = fmt.Errorf("%s still reserves %d for %s", ref.Name(), h.Quantity, claimed(h.Claim))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settledPayment makes sure that money has ended in one order or gone back.
func (s *Sim) settledPayment(p *payment) error {
	sl := s.truth.book(p.show.ref.ID).orders[p.id]
	back := sl.refunds[p.reference]
	switch {
	case sl.paidBy == p.reference && back == p.received-p.amount: // what was too much
	case sl.paidBy != p.reference && back == p.received:
	default:
		return fmt.Errorf("%d of %d received, %d sent back, order %s paid by %q: %+v",
			p.received, p.amount, back, sl.order.Status, sl.paidBy, sl.order.Attempts)
	}
	for _, r := range sl.order.Refunds {
		if undecided := r.Ask != nil && (r.Status == order.RefundRequested || r.Status == order.RefundDenied); !undecided && r.Status != order.RefundProcessed {
			return fmt.Errorf("refund %+v", r)
		}
		if r.Approved() && len(r.Ask.Tickets) > 0 && !r.Ask.Returned {
			return fmt.Errorf("what its tickets took is not back: %+v", r)
		}
	}
	return nil
}
