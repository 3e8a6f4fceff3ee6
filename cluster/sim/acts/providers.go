package acts

import (
	"fmt"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// cash is the payment provider of all shows. It knows what it has received of each attempt to pay.
type cash struct {
	payments map[string]*payment // by the reference of the attempt
	order    []*payment          // in the order in which they were begun, because a map has none that a seed repeats
}

// payment is an attempt to pay as its provider knows it.
type payment struct {
	show      *show
	id        engine.OrderID
	reference string
	amount    int64  // minor units that the payer was asked for
	received  int64  // minor units that have come so far; they never become less
	status    string // what the provider has last said of it, as an attempt's status
}

// newCash makes a provider that has received nothing.
func newCash() cash { return cash{payments: make(map[string]*payment)} }

// Received returns how many minor units the provider has of an attempt to pay, 0 if it knows no such attempt.
func (s *Script) Received(reference string) int64 {
	if p := s.cash.payments[reference]; p != nil {
		return p.received
	}
	return 0
}

// payOrder asks the ledger to begin an attempt to pay, and opens it as the provider does. playOut draws what the
// payer does then.
func (s *Script) payOrder(sh *show, o *order.Order, provider string) {
	begin := ledger.BeginPayment{Order: o.ID, Provider: provider, Number: enginetest.OrderName(o.ID), WindowMillis: s.Between(0, 10_000)}
	s.ask(sh.ref, begin, 1+s.Rng.IntN(4), func(r engine.Reply) {
		reply, ok := r.(*ledger.OrderReply)
		if !ok || reply.Order == nil {
			return
		}
		for _, a := range reply.Order.Attempts {
			// A repeated command may be answered with the same attempts, and the provider plays each one only once.
			if a.Provider != provider || !a.Open() || s.cash.payments[a.Reference] != nil {
				continue
			}
			p := &payment{show: sh, id: o.ID, reference: a.Reference, amount: a.Amount, status: order.AttemptPending}
			s.cash.payments[a.Reference] = p
			s.cash.order = append(s.cash.order, p)
			s.ask(sh.ref, ledger.OpenPayment{Order: o.ID, Reference: a.Reference, URL: "https://pay/" + a.Reference}, 2, nil)
			s.playOut(p, reply.Order.ExpiresAt)
		}
		if s.Chance(.2) {
			s.After(s.Between(0, 5*second), func() { s.payOrder(sh, o, provider) }) // asks to pay again
		}
	})
}

// playOut draws the story of an attempt to pay: paid in time, too late, short, too much, in doubt first, or never.
// End is when its order expires, in unix milliseconds.
func (s *Script) playOut(p *payment, end int64) {
	soon, later := s.Between(100*millisecond, 6*second), s.Between(6*second, 40*second)
	said := func(at int64, status string, received int64) {
		s.After(at, func() { s.reportStatus(p, status, received) })
	}
	switch s.Rng.IntN(14) {
	case 0, 1, 2, 3:
		said(soon, order.AttemptSucceeded, p.amount)
	case 4:
		said(later, order.AttemptSucceeded, p.amount) // This is often after the order has expired.
	case 5, 11:
		atEnd := time.UnixMilli(end).Sub(enginetest.Epoch).Microseconds() - s.Now() + s.Between(-20*millisecond, 60*millisecond)
		said(max(atEnd, millisecond), order.AttemptSucceeded, p.amount) // It comes within the error of clocks around the expiry.
	case 6:
		said(soon, order.AttemptProcessing, 0)
		said(later, order.AttemptSucceeded, p.amount)
	case 7:
		said(soon, order.AttemptProcessing, 0)
		if s.Chance(.8) {
			said(later, order.AttemptFailed, 0)
		}
	case 8:
		said(soon, order.AttemptFailed, 0)
		if s.Chance(.5) {
			said(later, order.AttemptSucceeded, p.amount)
		}
	case 9:
		said(soon, order.AttemptUnderpaid, p.amount/2)
		if s.Chance(.3) {
			said(soon+second, order.AttemptUnderpaid, p.amount*3/4)
		}
		if s.Chance(.5) {
			said(later, order.AttemptSucceeded, p.amount) // The rest has come.
		}
	case 10:
		said(soon, order.AttemptSucceeded, p.amount-1) // The provider calls a success what is short.
	case 12:
		said(soon, order.AttemptSucceeded, p.amount*5/4) // The payer has sent too much.
	default:
	}
}

// reportStatus changes an attempt at the provider and reports it to the ledger, as a provider's webhooks do: again
// and again until the ledger has answered, at times more than once, and in any order.
func (s *Script) reportStatus(p *payment, status string, received int64) {
	if p.status == order.AttemptSucceeded {
		return // A success is final at a provider.
	}
	// The provider's own books change first. The ledger may hear of it much later, or may hear of a later change
	// first.
	p.status, p.received = status, max(p.received, received)
	s.Logf("provider: %s is %s with %d of %d", p.reference, status, received, p.amount)
	report := ledger.ReportPayment{Order: p.id, Reference: p.reference, Status: status, Received: received, Currency: "USD"}
	done := func(r engine.Reply) {
		if reply, ok := r.(*ledger.OrderReply); ok && reply.Order != nil && reply.Order.Status == order.StatusCompleted && s.Chance(.5) {
			s.scanTickets(p.show, reply.Order)
		}
	}
	s.insistOn(p.show.ref, report, done)
	for s.Chance(.3) {
		s.After(s.Between(0, 8*second), func() { s.insistOn(p.show.ref, report, done) })
	}
}

// PayBack carries a refund out as its provider would. Now and then the first try fails, and is reported so.
func (s *Script) PayBack(id engine.OrderID, position int, r order.Refund) {
	ref := engine.EventRef(id.Event())
	report := ledger.ReportRefund{
		Order: id, Position: position, Reference: r.Reference, Status: order.RefundProcessed, ProviderRef: "re-" + r.Reference,
	}
	s.After(s.Between(10*millisecond, 5*second), func() {
		if s.Chance(.2) {
			failed := report
			failed.Status = order.RefundFailed
			s.insistOn(ref, failed, func(engine.Reply) { s.insistOn(ref, report, nil) })
			return
		}
		s.insistOn(ref, report, nil)
	})
}

// insistOn repeats a command until it is not refused, as a provider repeats a webhook. A refusal may be due to an
// activation that has a successor already, and does not know of the order.
func (s *Script) insistOn(ref engine.Ref, c engine.Command, done func(engine.Reply)) {
	s.ask(ref, c, 0, func(r engine.Reply) {
		if _, refused := r.(*engine.Refusal); refused {
			s.Reach("refused", enginetest.CommandName(c))
			s.After(s.Between(second, 5*second), func() { s.insistOn(ref, c, done) })
			return
		}
		if done != nil {
			done(r)
		}
	})
}

// ConcludePayments ends the payments that are still in flight when the world heals, as their provider: a third
// succeeds, a third fails, and nothing more is heard of the others.
func (s *Script) ConcludePayments() {
	for i, p := range s.cash.order {
		// The position in the list decides, so that the outcome needs no further draw.
		if p.status == order.AttemptProcessing {
			s.After(second, func() {
				switch {
				case p.status != order.AttemptProcessing:
				case i%3 == 0:
					s.reportStatus(p, order.AttemptSucceeded, p.amount)
				case i%3 == 1:
					s.reportStatus(p, order.AttemptFailed, 0)
				}
			})
		}
	}
}

// SettledPayments judges every attempt to pay, once the world is quiet.
func (s *Script) SettledPayments() error {
	for _, p := range s.cash.order {
		if err := s.truth.SettledPayment(p.id, p.reference, p.amount, p.received); err != nil {
			return fmt.Errorf("payment %s has not settled: %w", p.reference, err)
		}
	}
	return nil
}
