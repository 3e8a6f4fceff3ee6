// Package psp has what every payment service provider is asked and answers, and how one is called: formats,
// timeouts, a limit on calls under way, retries of reads, and a breaker per provider, so that a sick provider fails
// fast and never holds up a buyer who pays with another.
//
// An adapter is a Provider in a package of its own, which makes its calls through a Client. It decides nothing and
// compares no amounts: it reports faithfully what the provider says, and the order's actor decides. All errors of a
// Provider's methods are *Error, from which secrets are cut. No goroutine is started here.
package psp

import (
	"context"
	"time"
)

// Provider is one payment provider, behind its own limits and breaker. All
// methods may be called concurrently; all errors are *Error.
type Provider interface {
	// Check refuses a price if it can find out that the provider would refuse it: with ErrUnknownCoin, or with
	// ErrCurrency or ErrTooLittle, whose details say what would be accepted. If Check has to call the provider,
	// the error may also be the error of the call.
	Check(ctx context.Context, p Price) error
	// Begin opens a charge under the caller's reference. The provider decides what a repeat with the same
	// reference gets: ErrDuplicateReference, the first charge again, or another charge. So use a new reference
	// after ErrDuplicateReference and after an ambiguous Begin (see Ambiguous).
	Begin(ctx context.Context, c Charge) (Begun, error)
	// Verify asks for the outcome of the charge. If a provider takes the money only when asked to, after the buyer
	// has approved, Verify also takes it, unless Asked.Over is set. It may be repeated at will.
	Verify(ctx context.Context, of Asked) (Outcome, error)
	// Refund returns money of a paid charge. It first asks for the refunds made under the same Key.
	// If one of them has not failed, it answers with that one and makes no other, provided that the
	// caller runs only one Refund per Key at a time. If all have failed it answers with the last of
	// them, until the caller names that one as After. If a provider sends no money back itself, the answer is
	// always RefundNeedsAttention.
	Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error)
	// RefundStatus asks how far a refund is, by RefundOutcome.ID. If the provider does not say the refund's currency,
	// the outcome has neither amount nor currency.
	RefundStatus(ctx context.Context, id string) (RefundOutcome, error)
	// Notice reads an inbound notice and checks that the provider sent it: by its signature over the raw body, or
	// by a secret if the provider does not sign. A notice is a hint to Verify, never a proof of payment.
	Notice(body []byte, signature string) (Notice, error)
}

// Price is what a buyer is to pay, before a charge is begun.
type Price struct {
	Amount      int64  // minor units
	Currency    string // ISO 4217, upper case
	PayCurrency string // ticker of the coin to pay with; empty: the provider's usual
}

// Asked names a charge that was begun.
type Asked struct {
	Reference  string // ours
	ProviderID string // the provider's own; empty if Begin returned none
	Apart      bool   // it is another payment under the charge's reference, which buys nothing
	Over       bool   // the charge is over: take no money now, because it would have to go back
}

// Charge is money to ask of a buyer.
type Charge struct {
	Reference   string // 1-64 of A-Z a-z 0-9 . = -, never used before
	Email       string // the buyer's
	Amount      int64  // minor units, above 0
	Currency    string // ISO 4217, upper case
	CallbackURL string // where the buyer's browser returns to; may be empty
	PayCurrency string // as in Price: ticker of the coin to pay with
	Metadata    map[string]string
	// At is when the charge was first asked for; a repeat has the same time. An adapter that tells its
	// provider how long the charge can be paid counts from here, so that a repeat is the same request.
	At time.Time
}

// Begun says where the buyer pays: on a web page, or by a deposit of coins or a bank transfer.
type Begun struct {
	AuthorizationURL string
	AccessCode       string
	ProviderID       string // the provider's name of the charge; empty if Verify needs none
	Deposit          *Deposit
}

// Deposit says which coins a buyer is to send where, or which money to which bank account (package transfer).
type Deposit struct {
	Address    string    // of coins; for a bank transfer order.BankAccount as text
	Amount     string    // decimal, in coins or in the charge's currency
	Currency   string    // ticker; empty for a bank transfer
	Network    string    // of the coins; order.NetworkBank for a bank transfer
	ExtraID    string    // memo or tag of the transfer, or the bank transfer's reference; empty when the coin needs none
	ValidUntil time.Time // until when the coins' rate is fixed; zero for a bank transfer
}

// Status is a charge's status at the provider, in our words.
type Status string

// These are the statuses of a charge.
const (
	Pending    Status = "pending"    // the buyer has not paid and still may
	Processing Status = "processing" // money is in flight
	Succeeded  Status = "succeeded"  // paid, in the amount that Outcome says
	Failed     Status = "failed"     // the attempt failed; the buyer may try again
	Refunded   Status = "refunded"   // was paid, and the money went back or was charged back
	Expired    Status = "expired"    // nothing came in time
	Cancelled  Status = "cancelled"  // it was ended without a payment: by the provider's people or, at PayPal, because of Asked.Over
)

// Outcome is the result of a charge. If the charge is paid, Amount is what the buyer paid, without a fee that the
// provider added. It may be less than asked (short) or more (over). RequestedAmount is what we asked for, or 0 if the
// provider does not say. A paid charge is covered if Amount is at least the order's total: a short payment still
// carries the full RequestedAmount.
type Outcome struct {
	Status          Status
	Amount          int64 // minor units
	RequestedAmount int64 // minor units
	Currency        string
	PaidAt          time.Time // zero if the provider does not say; not meant unless the status is Succeeded or Refunded
	Message         string    // the provider's words, for people
	ProviderID      string    // the provider's id of the charge
	Arrived         string    // coins that have arrived, decimal; empty for other money
}

// RefundRequest asks to send money back.
type RefundRequest struct {
	Key          string // ours, unique per refund; makes a repeat safe
	After        string // RefundOutcome.ID of the last attempt if it is known to have failed, so that another is sent; else empty
	Reference    string // of the charge
	ProviderID   string // of the charge, as Begin or an Outcome had it; if empty, only Paystack and Flutterwave find the charge
	Amount       int64  // minor units; 0 means all that is left, but Flutterwave refuses it
	Currency     string
	CustomerNote string
}

// RefundStatus is a refund's status at the provider, in our words.
type RefundStatus string

// These are the statuses of a refund.
const (
	RefundPending        RefundStatus = "pending"         // queued
	RefundProcessing     RefundStatus = "processing"      // on its way
	RefundProcessed      RefundStatus = "processed"       // the money was sent
	RefundFailed         RefundStatus = "failed"          // the money was not sent; another try is possible
	RefundNeedsAttention RefundStatus = "needs_attention" // a person has to act: give bank details, or send the money
)

// RefundOutcome is the state of a refund.
type RefundOutcome struct {
	ID       string // the provider's id of the refund, or ByHand; empty if the money had gone back already in another way
	Status   RefundStatus
	Amount   int64 // minor units
	Currency string
}

// Notice is a provider's message that something happened to a charge.
type Notice struct {
	Event     string // the provider's name for it, e.g. "charge.success"
	Reference string // of the charge; empty for events about no charge of ours
	// ProviderID is the provider's name of the payment, where one reference may have several
	// payments; empty: the notice is about the charge.
	ProviderID string
	// Dispute is the id with which ListDisputes asks the provider for the disputes that the notice may be about;
	// empty: the notice can be about none.
	Dispute string
	Key     string // key of the event, the same in every delivery, for deduplication; each of Mollie's is different
}
