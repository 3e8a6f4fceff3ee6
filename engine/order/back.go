package order

import "boxoffice/engine"

// refundOf returns the refund of an amount that a reported payment has brought.
func refundOf(f *PaymentReported, amount int64, reason string) *RefundDue {
	return &RefundDue{ID: f.ID, Refund: Refund{
		Reference: f.Reference, Amount: amount, Reason: reason, Status: RefundProcessing, At: f.At,
	}}
}

// RefundAll returns the refund of all the money that a reported payment has brought.
func RefundAll(f *PaymentReported, reason string) *RefundDue { return refundOf(f, f.Received, reason) }

// RefundBeyond returns the refund of the money that a reported payment has brought beyond an amount, or nothing if it
// has brought no more.
func RefundBeyond(f *PaymentReported, amount int64, reason string) []engine.Fact {
	if f.Received <= amount {
		return nil
	}
	return []engine.Fact{refundOf(f, f.Received-amount, reason)}
}

// RefundOnce returns the fact that money has to go back, or nothing if the order has this refund already.
func (o *Order) RefundOnce(back *Refund) []engine.Fact {
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Reference == back.Reference && r.Currency == back.Currency && r.Deposit == back.Deposit && r.Reason == back.Reason {
			return nil
		}
	}
	return []engine.Fact{&RefundDue{ID: o.ID, Refund: *back}}
}

// RefundShort returns the refunds of money that did not suffice to pay an order that ends or is
// paid. It leaves out the attempt paidBy, which paid the order.
func (o *Order) RefundShort(paidBy string, at int64) []engine.Fact {
	var facts []engine.Fact
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if short := a.Received - o.SentBack(a.Reference); short > 0 && a.Reference != paidBy {
			facts = append(facts, &RefundDue{ID: o.ID, Refund: Refund{
				Reference: a.Reference, Amount: short, Reason: BackUnderpaid, Status: RefundProcessing, At: at,
			}})
		}
	}
	return facts
}
