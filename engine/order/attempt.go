package order

import "strings"

// Attempt is one try to pay an order with one provider. Money is in minor units of the order's
// currency.
type Attempt struct {
	Reference string `cbor:"1,keyasint"` // our name of the attempt at the provider
	Provider  string `cbor:"2,keyasint"`
	Status    string `cbor:"3,keyasint"`
	Amount    int64  `cbor:"4,keyasint"` // the amount asked for
	Received  int64  `cbor:"5,keyasint,omitempty"`
	URL       string `cbor:"6,keyasint,omitempty"` // the address at which the buyer pays
	At        int64  `cbor:"7,keyasint"`
	// ProviderID is the provider's own name of the payment, for providers that are asked by it.
	ProviderID string  `cbor:"8,keyasint,omitempty"`
	Deposit    Deposit `cbor:"9,keyasint,omitzero"`
}

// Deposit describes the coins with which a buyer pays an attempt, or the bank transfer. Amounts are
// decimals, in coins or in the order's currency.
type Deposit struct {
	Currency   string `cbor:"1,keyasint,omitempty"` // ticker of the coin; the only field that is set until the provider has answered
	Address    string `cbor:"2,keyasint,omitempty"` // address of the coin's wallet; for a bank transfer, a BankAccount
	Amount     string `cbor:"3,keyasint,omitempty"`
	Network    string `cbor:"4,keyasint,omitempty"`
	ExtraID    string `cbor:"5,keyasint,omitempty"` // memo or tag; for a bank transfer, what the payer has to write
	ValidUntil int64  `cbor:"6,keyasint,omitempty"` // unix milliseconds
	Arrived    string `cbor:"7,keyasint,omitempty"`
}

// NetworkBank is the network of a deposit that is a bank transfer.
const NetworkBank = "bank"

// BankAccount is where a transfer goes. None of its parts contains a "|", which separates them in a
// Deposit's Address.
type BankAccount struct{ Holder, Number, BIC string }

// String writes the account as ParseBankAccount reads it.
func (a BankAccount) String() string { return a.Holder + "|" + a.Number + "|" + a.BIC }

// ParseBankAccount reads the account of a deposit that is a bank transfer.
func ParseBankAccount(text string) (a BankAccount) {
	a.Holder, text, _ = strings.Cut(text, "|")
	a.Number, a.BIC, _ = strings.Cut(text, "|")
	return a
}

// IsTransfer reports whether the buyer pays the attempt by bank transfer.
func (a *Attempt) IsTransfer() bool { return a.Deposit.Network == NetworkBank }

// Transfer returns the attempt to which an order's bank transfers belong. All of them have one reference, so it is the
// first attempt by bank transfer. It is nil if there is none.
func (o *Order) Transfer() *Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.IsTransfer() {
			return a
		}
	}
	return nil
}

// LinkMark stands in the references of attempts that were begun by an order's payment link, between
// the order's number and the attempt's.
const LinkMark = "-P-"

// ByLink reports whether somebody with the order's payment link began the attempt, rather than its
// buyer.
func (a *Attempt) ByLink() bool { return strings.Contains(a.Reference, LinkMark) }

// CountAttempts counts the attempts by the order's payment link if byLink is set, and otherwise the buyer's
// own. Each of the two has a limit of its own.
func (o *Order) CountAttempts(byLink bool) int {
	n := 0
	for i := range o.Attempts {
		if o.Attempts[i].ByLink() == byLink {
			n++
		}
	}
	return n
}

// Opened reports whether the attempt has the address at which the buyer pays.
func (a *Attempt) Opened() bool { return a.URL != "" || a.Deposit.Address != "" }

// Open reports whether the attempt still waits for money: it is pending or processing. An attempt that is not
// open may bring late money nevertheless.
func (a *Attempt) Open() bool {
	return a.Status == AttemptPending || a.Status == AttemptProcessing
}

// Attempt returns the attempt with a reference, or nil.
func (o *Order) Attempt(reference string) *Attempt {
	for i := range o.Attempts {
		if o.Attempts[i].Reference == reference {
			return &o.Attempts[i]
		}
	}
	return nil
}

// PaidBy returns the attempt that paid an order with tickets. It is nil if there is none: the order was free, or was
// issued by the organization.
func (o *Order) PaidBy() *Attempt {
	// An attempt whose money was not sent back completely comes before those whose money was.
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Status == AttemptSucceeded && o.SentBack(a.Reference) < a.Received {
			return a
		}
	}
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Status == AttemptSucceeded || a.Status == AttemptRefunded {
			return a
		}
	}
	return nil
}

// GivingWay returns the status in which an open attempt ends because its payer has to pay at a new
// address, or "" if the open attempt stays. Money that was sent to the old address still counts.
func (a *Attempt) GivingWay(payCurrency string, at int64) string {
	switch d := &a.Deposit; {
	case a.Status != AttemptPending:
		return ""
	case d.ValidUntil != 0 && at >= d.ValidUntil:
		return AttemptExpired
	case payCurrency != "" && d.Currency != "" && payCurrency != d.Currency:
		return AttemptCancelled
	}
	return ""
}
