package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/order"
)

// judgeMoney judges the facts about payments and about money that goes back, and folds them into their order. The
// world is told of each refund that is due, and acts on it as a payment provider would.
func (t *Truth) judgeMoney(b *book, f order.Fact) error {
	id := f.OrderID()
	// A refund that somebody asked for is judged as a request. The others are due by themselves: money that came too
	// late, twice, or too much.
	if f, due := f.(*order.RefundDue); due {
		if f.Refund.Ask != nil {
			return t.judgeRefundAsked(b, f)
		}
		if sl := b.orders[id]; sl != nil {
			sl.refunds[f.Refund.Reference] += f.Refund.Amount
			got := t.world.Received(f.Refund.Reference)
			if back := sl.refunds[f.Refund.Reference]; back > got || f.Refund.Amount < 1 {
				return fmt.Errorf("refund of %d, in all %d of %d received: %+v", f.Refund.Amount, back, got, f.Refund)
			}
			// The money of the attempt that pays a completed order must stay, but for what was paid beyond the
			// order's total.
			if sl.paidBy == f.Refund.Reference && got-sl.refunds[f.Refund.Reference] < sl.order.Total {
				return fmt.Errorf("order %s is completed and its money goes back: %+v", enginetest.OrderName(id), f.Refund)
			}
			t.world.Reach("refund", f.Refund.Reason)
		}
		if sl := b.orders[id]; sl != nil {
			t.world.PayBack(id, len(sl.order.Refunds), f.Refund)
		}
	}
	if b.orders[id] == nil {
		return fmt.Errorf("%T for an unknown order %s", f, enginetest.OrderName(id))
	}
	b.orders[id].foldFact(f)
	return nil
}

// SettledPayment makes sure, once the world is quiet, that the money of an attempt to pay has either paid for its
// order or gone back, down to the last minor unit. All amounts are in minor units.
func (t *Truth) SettledPayment(id engine.OrderID, reference string, amount, received int64) error {
	sl := t.bookOf(id.Event()).orders[id]
	back := sl.refunds[reference]
	switch {
	case sl.paidBy == reference && back == received-amount: // what was too much
	case sl.paidBy != reference && back == received:
	default:
		return fmt.Errorf("%d of %d received, %d sent back, order %s paid by %q: %+v",
			received, amount, back, sl.order.Status, sl.paidBy, sl.order.Attempts)
	}
	// Each refund must have come to its end too: it was processed, or it is a request that nobody granted.
	for _, r := range sl.order.Refunds {
		if undecided := r.Ask != nil && (r.Status == order.RefundRequested || r.Status == order.RefundDenied); !undecided && r.Status != order.RefundProcessed {
			return fmt.Errorf("refund %+v", r)
		}
		// Tickets of an approved refund may be sold again, but only once every keeper has back what they took.
		if r.Approved() && len(r.Ask.Tickets) > 0 && !r.Ask.Returned {
			return fmt.Errorf("what its tickets took is not back: %+v", r)
		}
	}
	return nil
}
