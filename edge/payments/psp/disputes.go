package psp

import "time"

// Dispute is about money of a paid charge that the buyer wants back, by way of the bank or the provider. The
// money may leave our account at the provider at once. The bank or the provider decides later who gets it;
// the holder of our account may answer before.
type Dispute struct {
	ID        string // the provider's id of the dispute
	Reference string // of the charge; empty if the charge is none of ours
	Amount    int64  // minor units
	Currency  string
	Reason    string // the provider's words, or Stripe's word for them; empty if it gives none
	Status    DisputeStatus
	OpenedAt  time.Time
	DueBy     time.Time // until when it can be answered at the provider; zero if it can't be answered, or the provider does not say
	ClosedAt  time.Time // zero if it is open, or the provider does not say
}

// DisputeStatus is a dispute's status at the provider, in our words.
type DisputeStatus string

// These are the statuses of a dispute.
const (
	DisputeOpen DisputeStatus = "open" // nothing is decided yet, although the money may be gone
	DisputeWon  DisputeStatus = "won"  // the money stays, or came back
	DisputeLost DisputeStatus = "lost" // the buyer has the money
)
