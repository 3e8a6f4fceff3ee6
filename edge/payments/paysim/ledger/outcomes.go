package ledger

import (
	"time"

	"boxoffice/edge/payments/paysim/faults"
)

// Settle ends a checkout with an outcome, at a time that may be still to come. A transaction that was paid stays
// paid. One that failed or was abandoned may be tried again, as at the real checkout. The modes "failed" and
// "abandoned" replace a success. The ledger is locked.
func (l *Ledger) Settle(t *Transaction, outcome string, at time.Time) {
	if t.Outcome == Success {
		return
	}
	m := l.ModesOf(t)
	if outcome == Success {
		for _, instead := range []string{Failed, Abandoned} {
			if _, ok := l.cfg.Dice.Struck(m, instead, t.Reference); ok {
				outcome = instead
			}
		}
	}
	t.Outcome = outcome
	if outcome == Success {
		l.collectMoney(t, m, at)
	}
}

// collectMoney fixes how much money arrives, in which currency and when, and queues the webhook about it. With the
// mode "pending", the last of the reads that don't show the money queues it instead (CountRead). collectMoney also
// adds the further payment of the mode "again", which is for NOWPayments alone, and the refund of the mode
// "reversed".
func (l *Ledger) collectMoney(t *Transaction, m faults.Modes, at time.Time) {
	t.Paid, t.PaidAt, t.PendingLeft = t.Asked, at, 0
	if set, ok := l.cfg.Dice.Struck(m, "short", t.Reference); ok {
		less := set.Number
		if less == 0 {
			less = (t.Asked + 1) / 2
		}
		t.Paid = max(t.Asked-less, 0)
	}
	if set, ok := l.cfg.Dice.Struck(m, "over", t.Reference); ok {
		more := set.Number
		if more == 0 {
			more = (t.Asked + 1) / 2
		}
		t.Paid = t.Asked + more
	}
	if set, ok := l.cfg.Dice.Struck(m, "currency", t.Reference); ok {
		t.Currency = set.Word
	}
	if set, ok := l.cfg.Dice.Struck(m, "late", t.Reference); ok {
		t.PaidAt = at.Add(set.Span)
	}
	if set, ok := l.cfg.Dice.Struck(m, "pending", t.Reference); ok {
		t.PendingLeft = set.Number
	}
	if set, ok := l.cfg.Dice.Struck(m, "again", t.Reference); ok && t.Provider == NOWPayments {
		l.payAgain(t, at.Add(set.Span))
	}
	now := l.cfg.Now()
	if t.PendingLeft == 0 {
		l.cfg.Charge(t, m, t.PaidAt.Sub(now))
	}
	if set, ok := l.cfg.Dice.Struck(m, "reversed", t.Reference); ok && t.Paid > 0 {
		r := &Refund{Amount: t.Paid, Created: t.PaidAt.Add(set.Span), End: RefundProcessed, MerchantNote: "reversed by the provider"}
		l.Record(t, r)
		l.cfg.Refund(r, m, r.Created.Sub(now))
	}
}

// payAgain makes coins come to an address that has been paid already. NOWPayments makes a separate payment of
// such coins, and announces it.
func (l *Ledger) payAgain(t *Transaction, at time.Time) {
	again := &Transaction{
		Provider: NOWPayments, Coin: t.Coin, Order: t.Order, Parent: t.ID, Reference: t.Reference + "-again", Currency: t.Currency, Asked: t.Asked,
		Hook: t.Hook, Created: t.Created, Outcome: Success, Paid: t.Asked, PaidAt: at,
	}
	if l.storeTransaction(again) {
		l.cfg.Charge(again, l.ModesOf(t), at.Sub(l.cfg.Now()))
	}
}

// RefusesRefund reports whether the mode "refundrefused" refuses the transaction's next refund,
// because the merchant's balance is too small, and counts the refusal. The ledger is locked.
func (l *Ledger) RefusesRefund(t *Transaction) bool {
	set, ok := l.cfg.Dice.Struck(l.ModesOf(t), "refundrefused", t.Reference)
	if !ok || t.refused >= set.Number {
		return false
	}
	t.refused++
	return true
}

// Refund records r as a refund of the transaction. The transaction's modes decide how it goes: "refund" and
// "refundfails" set r.End, and "refundslow" sets r.Step. The caller has checked that r.Amount can be refunded. The
// ledger is locked.
func (l *Ledger) Refund(t *Transaction, r *Refund) {
	m := l.ModesOf(t)
	r.End = RefundProcessed
	if set, ok := l.cfg.Dice.Struck(m, "refund", t.Reference); ok {
		r.End = set.Word
	}
	if set, ok := l.cfg.Dice.Struck(m, "refundfails", t.Reference); ok && int64(len(t.Refunds)) < set.Number {
		r.End = Failed
	}
	if set, ok := l.cfg.Dice.Struck(m, "refundslow", t.Reference); ok {
		r.Step = set.Span
	}
	l.Record(t, r)
}

// Record adds a refund to the transaction without asking the modes, and gives the refund its number. The ledger
// is locked.
func (l *Ledger) Record(t *Transaction, r *Refund) {
	r.Of = t
	r.ID = l.refunds.add(r)
	t.Refunds = append(t.Refunds, r)
}

// disputed are the providers that report disputes.
var disputed = map[string]bool{Stripe: true, Mollie: true, PayPal: true}

// MoveDispute opens a bank's dispute about a payment, or moves it on to a status. It returns the
// payment, or nil if there is no such payment, no money of it has come, or its provider reports no
// disputes. The ledger is locked.
func (l *Ledger) MoveDispute(reference, status string) *Transaction {
	t, now := l.byRef[reference], l.cfg.Now()
	if t == nil || !disputed[t.Provider] || !Arrived(t.Status(now)) {
		return nil
	}
	if t.Dispute == nil {
		t.Dispute = &Dispute{Opened: now}
	}
	t.Dispute.Moves++
	t.Dispute.Status, t.Dispute.Closed = status, time.Time{}
	if status == DisputeWon || status == DisputeLost {
		t.Dispute.Closed = now
	}
	return t
}
