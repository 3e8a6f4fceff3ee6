package ledger

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"boxoffice/edge/payments/paysim/faults"
)

// The statuses of a transaction and of a refund, in Paystack's words. Each other provider's
// part translates them into its own.
const (
	Success   = "success"
	Failed    = "failed"
	Abandoned = "abandoned"
	Pending   = "pending"
	Reversed  = "reversed"

	RefundProcessing = "processing"
	RefundProcessed  = "processed"
)

// The providers beside Paystack, as Transaction.Provider names them.
const (
	NOWPayments = "nowpayments"
	Flutterwave = "flutterwave"
	Stripe      = "stripe"
	Mollie      = "mollie"
	PayPal      = "paypal"
)

// The statuses of a dispute, in Stripe's words.
const (
	NeedsResponse = "needs_response"
	UnderReview   = "under_review"
	DisputeWon    = "won"
	DisputeLost   = "lost"
)

// Transaction is one charge. The method Status works out how far it has come by a moment; that is
// not stored, so nothing has to wake up for it. A reader or writer of its fields holds the
// ledger's lock, except for ID, Provider and Reference, which never change once it is added, and for Modes.
type Transaction struct {
	ID        int64  // the ledger gives it when the transaction is added
	Provider  string // "" is Paystack
	Reference string // unique in the ledger: our reference, or one that NOWPayments' or Paystack's part makes
	Order     string // NOWPayments alone: our reference, for which there may be several payments
	Parent    int64  // NOWPayments alone: number of the payment to whose address this money came later; 0: the payment was asked for
	Coin      string // NOWPayments alone: the ticker of the coin
	Hook      string // NOWPayments and Mollie: the address to which webhooks about this transaction go
	Email     string
	Currency  string
	Callback  string          // the address to which the buyer's browser returns; empty for none
	Metadata  json.RawMessage // an object, or nil
	Asked     int64           // minor units
	Form      string          // Stripe alone: the request that made it, which a repeat has to equal
	Created   time.Time

	// Modes are the transaction's own; nil means the process's. They are atomic because a call's
	// modes are read before the ledger is locked.
	Modes atomic.Pointer[faults.Modes]

	Outcome     string    // the status in which the buyer left the checkout; "" while the buyer has not been there
	Paid        int64     // minor units that arrive; 0 unless the outcome is Success
	PaidAt      time.Time // when they arrive, which may be still to come
	PendingLeft int64     // how many more reads answer Pending before the money shows
	Refunds     []*Refund // in the order in which they were asked for
	Dispute     *Dispute  // nil: none
	refused     int64     // how often the mode "refundrefused" has refused a refund
}

// Refund is money that goes back. It is there from its Created time on, which may be still to come.
type Refund struct {
	ID           int64 // the ledger gives it when the refund is recorded
	Of           *Transaction
	Amount       int64 // minor units
	Created      time.Time
	Step         time.Duration // it is pending for one step and processing for another; 0: it ends at once
	End          string        // the status that it comes to, and keeps
	CustomerNote string        // of Paystack; of Stripe, Mollie and PayPal it is the idempotency key of the call that asked for the refund
	MerchantNote string
}

// Dispute is a dispute of the buyer's bank. While it is not won, the bank has taken back all that the buyer had
// paid.
type Dispute struct {
	Status string // NeedsResponse, UnderReview, DisputeWon or DisputeLost
	Moves  int    // how often it has come to a status
	Opened time.Time
	Closed time.Time // zero until it is won or lost
}

// Status returns the status that the transaction has at that time. Without an outcome, and before PaidAt, it is
// Abandoned. An outcome other than Success is the status. A paid transaction is Pending as long as PendingLeft
// is above 0, and Reversed once everything was refunded.
func (t *Transaction) Status(now time.Time) string {
	switch {
	case t.Outcome == "":
		return Abandoned
	case t.Outcome != Success:
		return t.Outcome
	case now.Before(t.PaidAt):
		return Abandoned
	case t.PendingLeft > 0:
		return Pending
	case t.Paid > 0 && t.SumRefunded(now) >= t.Paid:
		return Reversed
	}
	return Success
}

// Arrived reports whether a transaction of that status has brought money.
func Arrived(status string) bool { return status == Success || status == Reversed }

// SumRefunded returns how much refunds have given back by that time, in minor units.
func (t *Transaction) SumRefunded(now time.Time) (sum int64) {
	for _, r := range t.Refunds {
		if r.Status(now) == RefundProcessed {
			sum += r.Amount
		}
	}
	return sum
}

// Refundable returns how much neither has gone back nor is on its way back, in minor units. It is below 0 if the bank
// took back what was refunded too.
func (t *Transaction) Refundable(now time.Time) int64 {
	left := t.Paid - t.ChargedBack()
	for _, r := range t.Refunds {
		if st := r.Status(now); st != "" && st != Failed {
			left -= r.Amount
		}
	}
	return left
}

// ChargedBack returns how much the buyer's bank has taken back and not returned, in minor units.
func (t *Transaction) ChargedBack() int64 {
	if t.Dispute == nil || t.Dispute.Status == DisputeWon {
		return 0
	}
	return t.Paid
}

// Status returns the status that the refund has at that time; it is empty before the refund exists.
func (r *Refund) Status(now time.Time) string {
	switch age := now.Sub(r.Created); {
	case age < 0:
		return ""
	case age < r.Step || r.End == Pending:
		return Pending
	case age < 2*r.Step || r.End == RefundProcessing:
		return RefundProcessing
	}
	return r.End
}
