package order

import (
	"cmp"
	"slices"

	"boxoffice/engine"
)

// Fact is a journaled fact about one order.
type Fact interface {
	engine.Fact
	// OrderID returns the order's id.
	OrderID() engine.OrderID
	// Happened returns when the fact was decided, in unix milliseconds.
	Happened() int64
	// Fold returns the order after the fact: the fact's own order if the fact creates one, else a changed copy
	// of o, or o itself if nothing changes. Only a fact that creates its order takes a nil o. Decide uses Fold for
	// replies, Apply for the state, and readers of the journal for their tables, so that all agree.
	Fold(o *Order) *Order
}

// Fold returns an order after a fact, for readers of the journal. It returns o unchanged if the
// fact is not about an order, or if the order is not known (o is nil) and the fact does not create
// it.
func Fold(o *Order, f engine.Fact) *Order {
	_, created := f.(*Created)
	if of, ok := f.(Fact); ok && (created || o != nil) {
		return of.Fold(o)
	}
	return o
}

// OrderID returns the order's id.
func (f *Created) OrderID() engine.OrderID         { return f.Order.ID }
func (f *Completed) OrderID() engine.OrderID       { return f.ID }
func (f *Ended) OrderID() engine.OrderID           { return f.ID }
func (f *Extended) OrderID() engine.OrderID        { return f.ID }
func (f *PaymentBegun) OrderID() engine.OrderID    { return f.ID }
func (f *PaymentOpened) OrderID() engine.OrderID   { return f.ID }
func (f *PaymentReported) OrderID() engine.OrderID { return f.ID }
func (f *RefundDue) OrderID() engine.OrderID       { return f.ID }
func (f *RefundDecided) OrderID() engine.OrderID   { return f.ID }
func (f *RefundReturned) OrderID() engine.OrderID  { return f.ID }
func (f *RefundReported) OrderID() engine.OrderID  { return f.ID }

// Happened returns when the fact was decided.
func (f *Created) Happened() int64         { return f.Order.CreatedAt }
func (f *Completed) Happened() int64       { return f.At }
func (f *Ended) Happened() int64           { return f.At }
func (f *Extended) Happened() int64        { return f.At }
func (f *PaymentBegun) Happened() int64    { return f.Attempt.At }
func (f *PaymentOpened) Happened() int64   { return f.At }
func (f *PaymentReported) Happened() int64 { return f.At }
func (f *RefundDecided) Happened() int64   { return f.At }
func (f *RefundReturned) Happened() int64  { return f.At }
func (f *RefundDue) Happened() int64       { return f.Refund.At }
func (f *RefundReported) Happened() int64  { return f.At }

// Fold returns the order that the fact creates.
func (f *Created) Fold(*Order) *Order { return f.Order }

// Fold returns the order with its tickets.
func (f *Completed) Fold(o *Order) *Order {
	c := *o
	c.Status, c.Serial, c.FirstTicket, c.UpdatedAt, c.EndedAt = StatusCompleted, f.Serial, f.First, f.At, f.At
	return &c
}

// Fold returns the order at its end. Its status is refunded if one of its refunds is processed already, because
// then its money has gone back. Attempts that are still pending expire, or are cancelled with a cancelled
// order.
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

// Fold returns the order with more time to pay.
func (f *Extended) Fold(o *Order) *Order {
	if f.Number <= o.Extensions {
		return o // a follower may read a record that already contains the fact
	}
	c := *o
	// PlacedUntil keeps the end of the first window, which Window needs.
	c.Extensions, c.PlacedUntil = f.Number, cmp.Or(c.PlacedUntil, c.ExpiresAt)
	if f.By != 0 {
		c.ExtendedBy = append(slices.Clip(c.ExtendedBy), f.By)
	}
	c.ExpiresAt, c.UpdatedAt = f.ExpiresAt, f.At
	return &c
}

// Window returns how long the order had to be paid when it was placed, in milliseconds.
func (o *Order) Window() int64 { return cmp.Or(o.PlacedUntil, o.ExpiresAt) - o.CreatedAt }

// Fold returns the order with one more attempt to pay it, and with the fact's end of the time to pay. It sets Extended,
// except for an attempt by the payment link that gives no more time: the buyer's own first attempt can still give it.
func (f *PaymentBegun) Fold(o *Order) *Order {
	if o.Attempt(f.Attempt.Reference) != nil {
		return o // a follower may read a record that already contains the fact
	}
	c := *o
	c.Attempts = append(slices.Clip(c.Attempts), f.Attempt)
	c.Extended = c.Extended || !f.Attempt.ByLink() || f.ExpiresAt > c.ExpiresAt
	c.PlacedUntil = cmp.Or(c.PlacedUntil, c.ExpiresAt)
	c.ExpiresAt, c.UpdatedAt = f.ExpiresAt, f.Attempt.At
	return &c
}

// Fold returns the order with the address at which its buyer pays.
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

// Fold returns the order with the attempt's new status. An unpaid order is processing if money of any attempt is on its
// way or the fact reports too little money, and otherwise pending.
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

// InFlight reports whether a provider has reported money that is on its way.
func (o *Order) InFlight() bool {
	return slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Status == AttemptProcessing })
}

// Fold returns the order with one more refund.
func (f *RefundDue) Fold(o *Order) *Order {
	if f.Number > 0 && f.Number <= len(o.Refunds) {
		return o // a follower may read a record that already contains the fact
	}
	c := *o
	c.Refunds = append(slices.Clip(c.Refunds), f.Refund)
	c.UpdatedAt = f.Refund.At
	return &c
}

// Fold returns the order with the refund's new status. When the money of a refund that somebody asked for has
// gone back, the order becomes refunded or partially refunded. An order that never had tickets then becomes
// refunded, but not before it has ended, because its keepers must first be told its end. The attempt becomes
// refunded once all of its money has gone back.
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
		// A deposit is a payment of its own: when it has gone back, the attempt may still wait for its money.
		if a := c.Attempt(f.Reference); a != nil && r.Deposit == "" && c.sentBack(a.Reference, true) >= a.Received {
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

// EndStatus returns the status with which an unpaid order ends when its time is over: failed if there were
// attempts to pay it and all of them failed, and otherwise expired.
func (o *Order) EndStatus() string {
	if len(o.Attempts) == 0 || slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Status != AttemptFailed }) {
		return StatusExpired
	}
	return StatusFailed
}

// MoneyMayCome reports whether an ended order may still have to do with money. That is so if it has
// a refund, or an attempt other than the one that paid it. An attempt that is over counts too,
// because its provider or buyer may not know that it is over.
func (o *Order) MoneyMayCome() bool {
	return len(o.Refunds) > 0 || len(o.Attempts) > 1 || len(o.Attempts) == 1 && !o.Sold()
}

// OwesRefund reports whether one of the order's refunds has not ended yet (Refund.Open).
func (o *Order) OwesRefund() bool {
	return slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Open() })
}

// refundedStatus returns the status of an order with tickets after money has gone back on request.
// It is refunded if that was all the money or all the tickets, and otherwise partially refunded.
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

// Open reports whether the refund has not ended yet: money has to move, somebody has to decide, or
// keepers have to take something back.
func (r *Refund) Open() bool {
	switch r.Status {
	case RefundProcessed, RefundDenied, RefundCancelled:
		return r.Approved() && !r.Ask.Returned
	}
	return true
}

// Fold returns the order with the decision on one of its refunds. A refund that is processed by it, because there
// is no money to send, may change the order's status. A decision on a refund that nobody asked for changes nothing.
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

// Fold returns the order with a refund whose keepers have taken back what its tickets took (Ask.Returned). A
// refund that nobody asked for stays as it is.
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
