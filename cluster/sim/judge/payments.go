package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/order"
)

// judgeMoney takes the facts about payments and refunds.
func (t *Truth) judgeMoney(b *book, f order.Fact) error {
	id := f.OrderID()
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

// SettledPayment makes sure that what was received of an attempt to pay has ended in one order or gone back.
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
