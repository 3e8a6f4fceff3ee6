package event

import (
	"slices"

	"boxoffice/engine"
)

// OrderFact is a journaled fact about one order.
type OrderFact interface {
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
	_, created := f.(*OrderCreated)
	if of, ok := f.(OrderFact); ok && (created || o != nil) {
		return of.Fold(o)
	}
	return o
}

// OrderID is the order's.
func (f *OrderCreated) OrderID() engine.OrderID    { return f.Order.ID }
func (f *OrderCompleted) OrderID() engine.OrderID  { return f.ID }
func (f *OrderEnded) OrderID() engine.OrderID      { return f.ID }
func (f *PaymentBegun) OrderID() engine.OrderID    { return f.ID }
func (f *PaymentOpened) OrderID() engine.OrderID   { return f.ID }
func (f *PaymentReported) OrderID() engine.OrderID { return f.ID }
func (f *RefundDue) OrderID() engine.OrderID       { return f.ID }
func (f *RefundReported) OrderID() engine.OrderID  { return f.ID }

// Happened is when the fact was decided.
func (f *OrderCreated) Happened() int64    { return f.Order.CreatedAt }
func (f *OrderCompleted) Happened() int64  { return f.At }
func (f *OrderEnded) Happened() int64      { return f.At }
func (f *PaymentBegun) Happened() int64    { return f.Attempt.At }
func (f *PaymentOpened) Happened() int64   { return f.At }
func (f *PaymentReported) Happened() int64 { return f.At }
func (f *RefundDue) Happened() int64       { return f.Refund.At }
func (f *RefundReported) Happened() int64  { return f.At }

// Fold is the order that the fact makes.
func (f *OrderCreated) Fold(*Order) *Order { return f.Order }

// Fold is the order with its tickets.
func (f *OrderCompleted) Fold(o *Order) *Order {
	c := *o
	c.Status, c.Serial, c.FirstTicket, c.UpdatedAt, c.EndedAt = Completed, f.Serial, f.First, f.At, f.At
	return &c
}

// Fold is the order at its end, which is refunded when its money has gone back
// before.
func (f *OrderEnded) Fold(o *Order) *Order {
	c := *o
	c.Status, c.UpdatedAt, c.EndedAt = f.Status, f.At, f.At
	if slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Status == RefundProcessed }) {
		c.Status = Refunded
	}
	c.Attempts = slices.Clone(c.Attempts)
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Status == AttemptPending {
			a.Status = AttemptExpired
			if f.Status == Cancelled {
				a.Status = AttemptCancelled
			}
		}
	}
	return &c
}

// Fold is the order with one more attempt to pay it, which extends its window once.
func (f *PaymentBegun) Fold(o *Order) *Order {
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
		a.URL = f.URL
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
	}
	if c.Unpaid() {
		c.Status = Pending
		if c.inFlight() || f.Status == AttemptUnderpaid {
			c.Status = Processing
		}
	}
	return &c
}

// inFlight says whether a provider reports money on its way.
func (o *Order) inFlight() bool {
	return slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Status == AttemptProcessing })
}

// Fold is the order with one more refund.
func (f *RefundDue) Fold(o *Order) *Order {
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
	r.Status, r.ProviderRef = f.Status, f.ProviderRef
	if f.Status == RefundProcessed {
		r.ProcessedAt = f.At
		if a := c.Attempt(f.Reference); a != nil {
			a.Status = AttemptRefunded
		}
		if c.Status != Completed && !c.Unpaid() {
			c.Status = Refunded
		}
	}
	return &c
}

// endStatus is how an unpaid order ends when its window closes: failed when all
// attempts to pay it did, else expired.
func (o *Order) endStatus() string {
	if len(o.Attempts) == 0 || slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Status != AttemptFailed }) {
		return Expired
	}
	return Failed
}

// moneyMayCome says whether an ended order still has to do with money: an
// attempt to pay it that was not the one that paid, or a refund on its way.
func (o *Order) moneyMayCome() bool {
	return o.owesRefund() || len(o.Attempts) > 1 || len(o.Attempts) == 1 && o.Status != Completed
}

// owesRefund says whether a refund has not been processed yet.
func (o *Order) owesRefund() bool {
	return slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Status != RefundProcessed })
}
