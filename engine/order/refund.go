package order

import (
	"slices"

	"boxoffice/engine/keeper"
)

// Refund is money that goes back, either because it was not what the order needed or because
// somebody has asked for it.
type Refund struct {
	Reference   string `cbor:"1,keyasint"` // reference of the attempt whose money goes back; "" while the refund is only asked for, and if no provider was paid or no money goes back
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
	BackLate      = "late"      // the order had ended, and could not be made again
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
	// Asker is CustomerOf the address of the holder who asks. It is 0 if the organization gives the
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

// Sends reports whether the refund's money is still to be sent, or to be sent again after a failure. It is false if
// the refund was not granted, is of nothing, or is sent by hand (Ask.Manual). It does not tell whether the money came
// in a way that no provider can send back (Order.NeedsPerson).
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

// AskedBack returns the sum of the refunds that somebody has asked for and that were neither denied
// nor withdrawn. With processed set, it adds up only those that are processed.
func (o *Order) AskedBack(processed bool) int64 {
	var sum int64
	for i := range o.Refunds {
		r := &o.Refunds[i]
		lives := r.Status != RefundDenied && r.Status != RefundCancelled
		if r.Ask != nil && lives && (!processed || r.Status == RefundProcessed) {
			sum += r.Amount
		}
	}
	return sum
}

// SentBack returns how much of an attempt's money has gone back or is about to go back. Money that does not
// count as the attempt's (Refund.isApart) is left out.
func (o *Order) SentBack(reference string) int64 { return o.sentBack(reference, false) }

// sentBack returns how much of an attempt's money has gone back. Unless processed is set, it
// includes what is still about to go back.
func (o *Order) sentBack(reference string, processed bool) int64 {
	var sum int64
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Reference == reference && !r.isApart() && (!processed || r.Status == RefundProcessed) {
			sum += r.Amount
		}
	}
	return sum
}

// GaveBack returns how much of its earnings the organization has given back, in minor units. The
// fee is not part of that, because the platform itself gives it back.
func (o *Order) GaveBack() int64 {
	if o.Issue != nil || !o.Sold() {
		return 0
	}
	var sum int64
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Ask != nil && r.Status == RefundProcessed {
			sum += r.Amount - o.feeIn(r)
		}
	}
	return min(sum, o.Total-o.Fees)
}

// feeIn returns how much of a refund that somebody asked for is the fee of its tickets, in minor units: what it gives
// back beyond their price.
func (o *Order) feeIn(r *Refund) int64 {
	if o.Fees == 0 {
		return 0
	}
	var price, fees int64
	for _, ticket := range r.Ask.Tickets {
		if line, k, ok := o.LineOf(ticket); ok {
			face := o.Lines[line].FaceValue(k)
			price, fees = price+face, fees+Fee(face)
		}
	}
	return min(max(0, r.Amount-price), fees)
}

// IsGivenBack reports whether a refund that was granted has ended one of the order's tickets.
func (o *Order) IsGivenBack(ticket uint32) bool {
	return slices.ContainsFunc(o.Refunds, func(r Refund) bool {
		return r.Ask != nil && r.Approved() && slices.Contains(r.Ask.Tickets, ticket)
	})
}

// IsAllGivenBack reports whether refunds have ended all tickets of the order.
func (o *Order) IsAllGivenBack() bool {
	return o.isEachGivenBack(func(uint32) bool { return true })
}

// IsVisitGivenBack reports whether refunds have ended all of the order's tickets for a visit.
func (o *Order) IsVisitGivenBack(v *keeper.Visit) bool {
	return o.isEachGivenBack(func(ticket uint32) bool { of := o.VisitOf(ticket); return of != nil && *of == *v })
}

// isEachGivenBack reports whether the order has refunds, and these have ended all tickets for which is returns true.
func (o *Order) isEachGivenBack(is func(ticket uint32) bool) bool {
	if len(o.Refunds) == 0 {
		return false
	}
	for k := range uint32(o.Tickets()) { //nolint:gosec // tickets of an order are few
		if t := o.FirstTicket + k; is(t) && !o.IsGivenBack(t) {
			return false
		}
	}
	return true
}

// CountAsks counts how often holders of a ticket have asked for its money.
func (o *Order) CountAsks(ticket uint32) (n int) {
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.AskedBy() == AskedByBuyer && slices.Contains(r.Ask.Tickets, ticket) {
			n++
		}
	}
	return n
}

// IsLastReturn reports whether the refund, with those granted before it, gives back all tickets of
// the order.
func (o *Order) IsLastReturn(position int) bool {
	mine, gone := o.Refunds[position].Ask.Serial, int64(0)
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Approved() && r.Ask.Serial <= mine {
			gone += int64(len(r.Ask.Tickets))
		}
	}
	return gone >= o.Tickets()
}
