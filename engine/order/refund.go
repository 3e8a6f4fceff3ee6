package order

import (
	"slices"

	"boxoffice/engine/keeper"
)

// Refund is money that goes back, either because it was not what the order needed or because
// somebody has asked for it.
type Refund struct {
	Reference   string `cbor:"1,keyasint"` // reference of the attempt whose money goes back
	Amount      int64  `cbor:"2,keyasint"`
	Reason      string `cbor:"3,keyasint"` // reason of the asker; if nobody asked for the refund, one of the Back reasons
	Status      string `cbor:"4,keyasint"`
	ProviderRef string `cbor:"5,keyasint,omitempty"`
	At          int64  `cbor:"6,keyasint"`
	ProcessedAt int64  `cbor:"7,keyasint,omitempty"`
	Ask         *Ask   `cbor:"8,keyasint,omitempty"` // nil if nobody asked for the refund
	// Currency is set if the money came in another currency than the order's.
	Currency string `cbor:"9,keyasint,omitempty"`
	// Deposit is the provider's name of coins that came to the attempt's address after it was paid. At the
	// provider these coins are a payment of their own, and they don't count as the attempt's money.
	Deposit string `cbor:"10,keyasint,omitempty"`
	// Note is a remark of the person who sent the money by hand.
	Note string `cbor:"11,keyasint,omitempty"`
}

// These are the reasons why money goes back that nobody asked for.
const (
	BackLate      = "late"      // the order had ended, and its tickets were gone
	BackUnderpaid = "underpaid" // the money was less than the price
	BackOverpaid  = "overpaid"  // the part of the money above the price
	BackTwice     = "twice"     // the order was paid already
	BackCancelled = "cancelled" // the order or its event was cancelled
	BackCurrency  = "currency"  // the money was of another currency than the price
	BackDeposit   = "deposit"   // coins came to an address that had been paid
)

// isApart reports whether the refund gives back money that does not count as its attempt's money.
func (r *Refund) isApart() bool { return r.Currency != "" || r.Deposit != "" }

// CurrencyIn returns the refund's currency. ofOrder is the currency of its order.
func (r *Refund) CurrencyIn(ofOrder string) string {
	if r.Currency != "" {
		return r.Currency
	}
	return ofOrder
}

// Ask describes a refund that somebody has asked for. It is replaced, never changed.
type Ask struct {
	Tickets   []uint32      `cbor:"1,keyasint,omitempty"` // serials of the tickets that end; if there are none, only money goes back
	By        string        `cbor:"2,keyasint"`           // who asks: one of the AskedBy
	Message   string        `cbor:"3,keyasint,omitempty"`
	Evidence  []string      `cbor:"4,keyasint,omitempty"` // addresses of files that support the request
	Note      string        `cbor:"5,keyasint,omitempty"` // note on the decision
	DecidedAt int64         `cbor:"6,keyasint,omitempty"`
	Manual    bool          `cbor:"7,keyasint,omitempty"` // whether a person sends the money by hand and reports it
	Serial    keeper.Serial `cbor:"8,keyasint,omitempty"` // serial of the return to the keepers; 0 until it is approved
	Returned  bool          `cbor:"9,keyasint,omitempty"` // whether all keepers have got back what the tickets took
	// Asker is the CustomerOf the ticket's holder who asks. It is 0 if the organization gives the
	// refund, for a withdrawal, and in old requests, which the buyer made.
	Asker uint64 `cbor:"10,keyasint,omitempty"`
}

// These say who asks for a refund.
const (
	AskedByBuyer        = "buyer"
	AskedByOrganization = "organization"
	AskedByWithdrawal   = "withdrawal" // the buyer withdraws from the purchase, which needs no approval
)

// AskedBy returns one of the AskedBy constants, or "" if nobody asked for the refund.
func (r *Refund) AskedBy() string {
	if r.Ask == nil {
		return ""
	}
	return r.Ask.By
}

// CustomerOf returns the customer in whose list of refunds the refund stands: the asker, else the
// buyer.
func (r *Refund) CustomerOf(o *Order) uint64 {
	if r.Ask != nil && r.Ask.Asker != 0 {
		return r.Ask.Asker
	}
	return o.Buyer()
}

// Approved reports whether the refund has been granted. Its tickets are no longer valid then.
func (r *Refund) Approved() bool { return r.Ask != nil && r.Ask.Serial != 0 }

// Sends reports whether the refund's money is still to be sent, or to be sent again after a failure. It is
// false if that was decided to be done by hand. It does not tell whether the money came in a way that no
// provider can send back (Order.NeedsPerson).
func (r *Refund) Sends() bool {
	if r.Ask != nil && (!r.Approved() || r.Ask.Manual || r.Amount == 0) {
		return false
	}
	return r.Status == RefundProcessing || r.Status == RefundFailed
}

// ToldStatus returns the status that answers and public facts show. A granted refund that a provider is to send is
// shown as approved until the provider has accepted or refused it. A granted refund that a person sends is shown as
// processing. A withdrawal is never shown as approved, because nobody has to grant it.
func (r *Refund) ToldStatus() string {
	if r.Status == RefundProcessing && r.Approved() && r.Sends() && r.ProviderRef == "" && r.Ask.By != AskedByWithdrawal {
		return RefundApproved
	}
	return r.Status
}

// Gives reports whether the refund gives back, or may still give back, a ticket's money.
func (r *Refund) Gives(ticket uint32) bool {
	return r.Ask != nil && slices.Contains(r.Ask.Tickets, ticket) && r.Status != RefundDenied && r.Status != RefundCancelled
}
