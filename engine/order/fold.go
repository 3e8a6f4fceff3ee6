package order

import (
	"slices"

	"boxoffice/engine"
)

// Fact is a journaled fact about one order.
type Fact interface {
	engine.Fact
	// OrderID is the order's.
	OrderID() engine.OrderID
	// Happened is when the fact was decided, in unix milliseconds.
	Happened() int64
	// Fold is the order after the fact: the fact's own when it makes one, else a
	// changed copy of o, which is not nil then. Decide makes copies by it for its
	// replies, Apply for the state, and readers of the journal for their tables,
	// so that all say the same.
	Fold(o *Order) *Order
}

// Fold is an order after a fact, for readers of the journal. Facts about no order
// leave o as it is, and so does a fact about an order of which nothing is known
// (o is nil).
func Fold(o *Order, f engine.Fact) *Order {
	_, created := f.(*Created)
	if of, ok := f.(Fact); ok && (created || o != nil) {
		return of.Fold(o)
	}
	return o
}

// OrderID is the order's.
func (f *Created) OrderID() engine.OrderID         { return f.Order.ID }
func (f *Completed) OrderID() engine.OrderID       { return f.ID }
func (f *Ended) OrderID() engine.OrderID           { return f.ID }
func (f *PaymentBegun) OrderID() engine.OrderID    { return f.ID }
func (f *PaymentOpened) OrderID() engine.OrderID   { return f.ID }
func (f *PaymentReported) OrderID() engine.OrderID { return f.ID }
func (f *RefundDue) OrderID() engine.OrderID       { return f.ID }
func (f *RefundDecided) OrderID() engine.OrderID   { return f.ID }
func (f *RefundReturned) OrderID() engine.OrderID  { return f.ID }
func (f *RefundReported) OrderID() engine.OrderID  { return f.ID }

// Happened is when the fact was decided.
func (f *Created) Happened() int64         { return f.Order.CreatedAt }
func (f *Completed) Happened() int64       { return f.At }
func (f *Ended) Happened() int64           { return f.At }
func (f *PaymentBegun) Happened() int64    { return f.Attempt.At }
func (f *PaymentOpened) Happened() int64   { return f.At }
func (f *PaymentReported) Happened() int64 { return f.At }
func (f *RefundDecided) Happened() int64   { return f.At }
func (f *RefundReturned) Happened() int64  { return f.At }
func (f *RefundDue) Happened() int64       { return f.Refund.At }
func (f *RefundReported) Happened() int64  { return f.At }

// Fold is the order that the fact makes.
func (f *Created) Fold(*Order) *Order { return f.Order }

// Fold is the order with its tickets.
func (f *Completed) Fold(o *Order) *Order {
	c := *o
	c.Status, c.Serial, c.FirstTicket, c.UpdatedAt, c.EndedAt = StatusCompleted, f.Serial, f.First, f.At, f.At
	return &c
}

// Fold is the order at its end, which is refunded when its money has gone back
// before.
func (f *Ended) Fold(o *Order) *Order {
	c := *o
	c.Status, c.UpdatedAt, c.EndedAt = f.Status, f.At, f.At
	if slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Status == RefundProcessed }) {
		c.Status = StatusRefunded
	}
	c.Attempts = slices.Clone(c.Attempts)
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Status == AttemptPending {
			a.Status = AttemptExpired
			if f.Status == StatusCancelled {
				a.Status = AttemptCancelled
			}
		}
	}
	return &c
}

// Fold is the order with one more attempt to pay it, which extends its window once.
func (f *PaymentBegun) Fold(o *Order) *Order {
	if o.Attempt(f.Attempt.Reference) != nil {
		return o // a follower may read a record that has come further than its fact
	}
	c := *o
	c.Attempts = append(slices.Clip(c.Attempts), f.Attempt)
	if !c.Extended {
		c.Extended, c.PlacedUntil = true, c.ExpiresAt
	}
	c.ExpiresAt, c.UpdatedAt = f.ExpiresAt, f.Attempt.At
	return &c
}

// Fold is the order with the address at which its buyer pays.
func (f *PaymentOpened) Fold(o *Order) *Order {
	c := *o
	c.UpdatedAt = f.At
	c.Attempts = slices.Clone(c.Attempts)
	if a := c.Attempt(f.Reference); a != nil {
		a.URL, a.ProviderID = f.URL, f.ProviderID
		if f.Deposit != nil {
			a.Deposit = *f.Deposit
		}
	}
	return &c
}

// Fold is the order with the attempt's new status. An order is processing while a
// provider reports money in flight.
func (f *PaymentReported) Fold(o *Order) *Order {
	c := *o
	c.UpdatedAt = f.At
	c.Attempts = slices.Clone(c.Attempts)
	if a := c.Attempt(f.Reference); a != nil {
		a.Status, a.Received = f.Status, max(a.Received, f.Received)
		if f.Arrived != "" {
			a.Deposit.Arrived = f.Arrived
		}
	}
	if c.Unpaid() {
		c.Status = StatusPending
		if c.InFlight() || f.Status == AttemptUnderpaid {
			c.Status = StatusProcessing
		}
	}
	return &c
}

// InFlight reports whether a provider reports money on its way.
func (o *Order) InFlight() bool {
	return slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Status == AttemptProcessing })
}

// Fold is the order with one more refund.
func (f *RefundDue) Fold(o *Order) *Order {
	if f.Number > 0 && f.Number <= len(o.Refunds) {
		return o // a follower may read a record that has come further than its fact
	}
	c := *o
	c.Refunds = append(slices.Clip(c.Refunds), f.Refund)
	c.UpdatedAt = f.Refund.At
	return &c
}

// Fold is the order with the refund's new status. An order that got its money back and
// never had its tickets is refunded, unless it has not ended yet: its end has
// to be told to its keepers first.
func (f *RefundReported) Fold(o *Order) *Order {
	if f.Position < 0 || f.Position >= len(o.Refunds) {
		return o
	}
	c := *o
	c.UpdatedAt = f.At
	c.Refunds, c.Attempts = slices.Clone(c.Refunds), slices.Clone(c.Attempts)
	r := &c.Refunds[f.Position]
	r.Status, r.ProviderRef, r.Note = f.Status, f.ProviderRef, f.Note
	if f.Status == RefundProcessed {
		r.ProcessedAt = f.At
		if a := c.Attempt(f.Reference); a != nil && c.sentBack(a.Reference, true) >= a.Received {
			a.Status = AttemptRefunded
		}
		switch {
		case r.Ask != nil:
			c.Status = c.refundedStatus()
		case !c.Sold() && !c.Unpaid():
			c.Status = StatusRefunded
		}
	}
	return &c
}

// EndStatus is how an unpaid order ends when its window closes: failed when all
// attempts to pay it did, else expired.
func (o *Order) EndStatus() string {
	if len(o.Attempts) == 0 || slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Status != AttemptFailed }) {
		return StatusExpired
	}
	return StatusFailed
}

// MoneyMayCome reports whether an ended order still has to do with money: an
// attempt to pay it that was not the one that paid, or a refund. Of one that is
// over, somebody may not have heard yet that it is.
func (o *Order) MoneyMayCome() bool {
	return len(o.Refunds) > 0 || len(o.Attempts) > 1 || len(o.Attempts) == 1 && !o.Sold()
}

// OwesRefund reports whether a refund has not been processed yet.
func (o *Order) OwesRefund() bool {
	return slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Open() })
}

// refundedStatus is what an order with tickets is once money that somebody asked for has
// gone back: refunded when that was all of it, or all of its tickets.
func (o *Order) refundedStatus() string {
	ended := make(map[uint32]bool)
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Ask != nil && r.Status == RefundProcessed {
			for _, t := range r.Ask.Tickets {
				ended[t] = true
			}
		}
	}
	if int64(len(ended)) == o.Tickets() || o.Total > 0 && o.AskedBack(true) >= o.Total {
		return StatusRefunded
	}
	return StatusPartiallyRefunded
}

// Open reports whether the refund is not at its end: money is to move, somebody is to
// decide, or keepers are to get something back.
func (r *Refund) Open() bool {
	switch r.Status {
	case RefundProcessed, RefundDenied, RefundCancelled:
		return r.Approved() && !r.Ask.Returned
	}
	return true
}

// Fold is the order with the decision on one of its refunds.
func (f *RefundDecided) Fold(o *Order) *Order {
	if f.Position < 0 || f.Position >= len(o.Refunds) || o.Refunds[f.Position].Ask == nil {
		return o
	}
	c := *o
	c.UpdatedAt = f.At
	c.Refunds = slices.Clone(c.Refunds)
	r := &c.Refunds[f.Position]
	ask := *r.Ask
	ask.Note, ask.DecidedAt, ask.Serial, ask.Manual = f.Note, f.At, f.Serial, f.Manual
	ask.Returned = f.Serial != 0 && len(ask.Tickets) == 0
	r.Ask, r.Status, r.Amount, r.Reference = &ask, f.Status, f.Amount, f.Reference
	if f.Status == RefundProcessed { // there was no money to send
		r.ProcessedAt = f.At
		c.Status = c.refundedStatus()
	}
	return &c
}

// Fold is the order with what a refund's tickets took given back to the keepers.
func (f *RefundReturned) Fold(o *Order) *Order {
	if f.Position < 0 || f.Position >= len(o.Refunds) || o.Refunds[f.Position].Ask == nil {
		return o
	}
	c := *o
	c.Refunds = slices.Clone(c.Refunds)
	ask := *c.Refunds[f.Position].Ask
	ask.Returned = true
	c.Refunds[f.Position].Ask = &ask
	return &c
}
