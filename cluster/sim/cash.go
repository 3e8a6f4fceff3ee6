package sim

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
)

// cash is the payment provider: what it has of each attempt to pay.
type cash struct {
	payments map[string]*payment
	order    []*payment // in the order of their making
}

// payment is an attempt to pay as its provider knows it.
type payment struct {
	show      *show
	id        engine.OrderID
	reference string
	amount    int64
	received  int64
	status    string
}

func newCash() cash { return cash{payments: make(map[string]*payment)} }

// received is what has come of an attempt.
func (c *cash) received(reference string) int64 {
	if p := c.payments[reference]; p != nil {
		return p.received
	}
	return 0
}

// pay begins an attempt; the buyer then pays, or not.
func (s *Sim) pay(sh *show, o *order.Order, provider string) {
	begin := event.BeginPayment{Order: o.ID, Provider: provider, Number: enginetest.OrderName(o.ID), WindowMillis: s.between(0, 10_000)}
	s.ask(sh.ref, begin, 1+s.rng.IntN(4), func(r engine.Reply) {
		reply, ok := r.(*event.OrderReply)
		if !ok || reply.Order == nil {
			return
		}
		for _, a := range reply.Order.Attempts {
			if a.Provider != provider || !a.Open() || s.cash.payments[a.Reference] != nil {
				continue
			}
			p := &payment{show: sh, id: o.ID, reference: a.Reference, amount: a.Amount, status: order.AttemptPending}
			s.cash.payments[a.Reference] = p
			s.cash.order = append(s.cash.order, p)
			s.ask(sh.ref, event.OpenPayment{Order: o.ID, Reference: a.Reference, URL: "https://pay/" + a.Reference}, 2, nil)
			s.playOut(p, reply.Order.ExpiresAt)
		}
		if s.chance(.2) {
			s.after(s.between(0, 5*second), func() { s.pay(sh, o, provider) }) // asks to pay again
		}
	})
}

// playOut is the story of an attempt, whose order ends at a time in unix
// milliseconds.
func (s *Sim) playOut(p *payment, end int64) {
	soon, later := s.between(100*millisecond, 6*second), s.between(6*second, 40*second)
	said := func(at int64, status string, received int64) {
		s.after(at, func() { s.says(p, status, received) })
	}
	switch s.rng.IntN(14) {
	case 0, 1, 2, 3:
		said(soon, order.AttemptSucceeded, p.amount)
	case 4:
		said(later, order.AttemptSucceeded, p.amount) // after expiry, often
	case 5, 11:
		atEnd := time.UnixMilli(end).Sub(enginetest.Epoch).Microseconds() - s.now + s.between(-20*millisecond, 60*millisecond)
		said(max(atEnd, millisecond), order.AttemptSucceeded, p.amount) // clocks are that far off
	case 6:
		said(soon, order.AttemptProcessing, 0)
		said(later, order.AttemptSucceeded, p.amount)
	case 7:
		said(soon, order.AttemptProcessing, 0)
		if s.chance(.8) {
			said(later, order.AttemptFailed, 0)
		}
	case 8:
		said(soon, order.AttemptFailed, 0)
		if s.chance(.5) {
			said(later, order.AttemptSucceeded, p.amount)
		}
	case 9:
		said(soon, order.AttemptUnderpaid, p.amount/2)
		if s.chance(.3) {
			said(soon+second, order.AttemptUnderpaid, p.amount*3/4)
		}
		if s.chance(.5) {
			said(later, order.AttemptSucceeded, p.amount) // topped up
		}
	case 10:
		said(soon, order.AttemptSucceeded, p.amount-1) // short, and called a success
	case 12:
		said(soon, order.AttemptSucceeded, p.amount*5/4) // too much
	default:
	}
}

// says is a change at the provider. It tells the ledger, until that has
// answered, at times twice.
func (s *Sim) says(p *payment, status string, received int64) {
	if p.status == order.AttemptSucceeded {
		return // for good
	}
	p.status, p.received = status, max(p.received, received)
	s.logf("provider: %s is %s with %d of %d", p.reference, status, received, p.amount)
	report := event.ReportPayment{Order: p.id, Reference: p.reference, Status: status, Received: received, Currency: "USD"}
	done := func(r engine.Reply) {
		if reply, ok := r.(*event.OrderReply); ok && reply.Order != nil && reply.Order.Status == order.StatusCompleted && s.chance(.5) {
			s.attend(p.show, reply.Order)
		}
	}
	s.insist(p.show.ref, report, done)
	for s.chance(.3) {
		s.after(s.between(0, 8*second), func() { s.insist(p.show.ref, report, done) })
	}
}

// payBack carries a refund out, now and then at the second try.
func (s *Sim) payBack(id engine.OrderID, position int, r order.Refund) {
	ref := engine.EventRef(id.Event())
	report := event.ReportRefund{
		Order: id, Position: position, Reference: r.Reference, Status: order.RefundProcessed, ProviderRef: "re-" + r.Reference,
	}
	s.after(s.between(10*millisecond, 5*second), func() {
		if s.chance(.2) {
			failed := report
			failed.Status = order.RefundFailed
			s.insist(ref, failed, func(engine.Reply) { s.insist(ref, report, nil) })
			return
		}
		s.insist(ref, report, nil)
	})
}

// insist asks until it is not refused: an activation that has been succeeded
// may not know of the order for a second.
func (s *Sim) insist(ref engine.Ref, c engine.Command, done func(engine.Reply)) {
	s.ask(ref, c, 0, func(r engine.Reply) {
		if _, refused := r.(*engine.Refusal); refused {
			s.reach("refused", enginetest.CommandName(c))
			s.after(s.between(second, 5*second), func() { s.insist(ref, c, done) })
			return
		}
		if done != nil {
			done(r)
		}
	})
}

// conclude has the provider make its mind up about most of what is in flight.
func (c *cash) conclude(s *Sim) {
	for i, p := range c.order {
		if p.status == order.AttemptProcessing {
			s.after(second, func() {
				switch {
				case p.status != order.AttemptProcessing:
				case i%3 == 0:
					s.says(p, order.AttemptSucceeded, p.amount)
				case i%3 == 1:
					s.says(p, order.AttemptFailed, 0)
				}
			})
		}
	}
}
