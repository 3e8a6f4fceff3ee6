package keeper

import (
	"slices"

	"boxoffice/engine"
)

// Discount contains the terms that a promo code grants. The ledger computes with them.
type Discount struct {
	Code       string `cbor:"1,keyasint"`
	Percentage bool   `cbor:"2,keyasint,omitempty"`
	// Value is in hundredths of a percent if Percentage is set, and otherwise an amount with Decimals decimals.
	Value    int64           `cbor:"3,keyasint"`
	MinOrder int64           `cbor:"4,keyasint,omitempty"` // least subtotal of an order that the code applies to, an amount with Decimals decimals
	Types    []engine.TypeID `cbor:"5,keyasint,omitempty"` // ticket types that the code applies to; empty stands for all
	// MoreDecimals is how many decimals more than two the amounts have; negative: fewer. The terms that
	// an order keeps are in minor units of its currency, and have 0 here (see In).
	MoreDecimals int64 `cbor:"6,keyasint,omitempty"`
}

// Decimals returns how many decimals the amounts of the terms have.
func (d *Discount) Decimals() int { return max(0, 2+int(d.MoreDecimals)) }

// ValueDecimals returns how many decimals Value has, which may be a percentage.
func (d *Discount) ValueDecimals() int {
	if d.Percentage {
		return 2
	}
	return d.Decimals()
}

// In returns the terms with their amounts in minor units of a currency, rounded half up where it has
// fewer decimals than the terms: a code of an organization is for events in any currency.
func (d *Discount) In(currency string) *Discount {
	to, in := engine.DecimalsOf(currency), *d
	in.MoreDecimals = 0
	in.MinOrder = engine.Rescale(d.MinOrder, d.Decimals(), to)
	if !d.Percentage {
		in.Value = engine.Rescale(d.Value, d.Decimals(), to)
	}
	return &in
}

// These are the reasons why a promo code is not valid (docs/rules.md, Promo codes).
const (
	CodeNotFound      = "CODE_NOT_FOUND"
	CodeNotYet        = "NOT_YET_ACTIVE"
	CodeExpired       = "EXPIRED"
	CodeUsedUp        = "MAX_USES_REACHED"
	CodeBelowMinimum  = "BELOW_MIN_ORDER"
	CodeNotApplicable = "NOT_APPLICABLE_TO_THESE_TICKETS"
	CodeDisabled      = "DISABLED"
	CodeCustomerLimit = "CUSTOMER_LIMIT"
)

// Applies reports whether the discount applies to a ticket type.
func (d *Discount) Applies(ticketType engine.TypeID) bool {
	return len(d.Types) == 0 || slices.Contains(d.Types, ticketType)
}

// Off returns what the discount takes off an amount, in minor units: a percentage, rounded half up,
// or a fixed amount. It is never more than the amount.
func (d *Discount) Off(amount int64) int64 {
	if d.Percentage {
		return min(amount, (amount*d.Value+5_000)/10_000)
	}
	return min(amount, d.Value)
}
