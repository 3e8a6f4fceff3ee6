package event

import (
	"slices"

	"boxoffice/engine"
)

// The changed copies of an order, one per fact. Decide makes them for its
// replies and Apply for the state, so that both say the same.

// Fold is an order after a journaled fact about it, for readers of the journal:
// the fact's own order when it makes one, else a changed copy of o. Other facts
// leave o as it is, and so does a fact about an order of which nothing is known
// (o is nil).
func Fold(o *Order, f engine.Fact) *Order {
	if created, ok := f.(*OrderCreated); ok {
		return created.Order
	}
	if o == nil {
		return nil
	}
	switch f := f.(type) {
	case *OrderCompleted:
		return o.completed(f)
	case *OrderEnded:
		return o.ended(f.Status, f.At)
	case *PaymentBegun:
		return o.begun(f)
	case *PaymentOpened:
		return o.opened(f)
	case *PaymentReported:
		return o.reported(f)
	case *RefundDue:
		return o.due(f)
	case *RefundReported:
		return o.refundReported(f)
	default:
		return o
	}
}

func (o *Order) completed(f *OrderCompleted) *Order {
	c := *o
	c.Status, c.Serial, c.FirstTicket, c.UpdatedAt, c.EndedAt = Completed, f.Serial, f.First, f.At, f.At
	return &c
}

// ended is the order at its end, which is refunded when its money has gone back
// before.
func (o *Order) ended(status string, at int64) *Order {
	c := *o
	c.Status, c.UpdatedAt, c.EndedAt = status, at, at
	if slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Status == RefundProcessed }) {
		c.Status = Refunded
	}
	c.Attempts = slices.Clone(c.Attempts)
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Status == AttemptPending {
			a.Status = AttemptExpired
			if status == Cancelled {
				a.Status = AttemptCancelled
			}
		}
	}
	return &c
}

func (o *Order) begun(f *PaymentBegun) *Order {
	c := *o
	c.Attempts = append(slices.Clip(c.Attempts), f.Attempt)
	if !c.Extended {
		c.Extended, c.PlacedUntil = true, c.ExpiresAt
	}
	c.ExpiresAt, c.UpdatedAt = f.ExpiresAt, f.Attempt.At
	return &c
}

func (o *Order) opened(f *PaymentOpened) *Order {
	c := *o
	c.UpdatedAt = f.At
	c.Attempts = slices.Clone(c.Attempts)
	if a := c.Attempt(f.Reference); a != nil {
		a.URL = f.URL
	}
	return &c
}

// reported notes an attempt's status. An order is processing while a provider
// reports money in flight.
func (o *Order) reported(f *PaymentReported) *Order {
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

func (o *Order) due(f *RefundDue) *Order {
	c := *o
	c.Refunds = append(slices.Clip(c.Refunds), f.Refund)
	c.UpdatedAt = f.Refund.At
	return &c
}

// refundReported notes a refund's status. An order that got its money back and
// never had its tickets is refunded, unless it has not ended yet: its end has
// to be told to its keepers first.
func (o *Order) refundReported(f *RefundReported) *Order {
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
