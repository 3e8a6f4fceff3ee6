package payments

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/engine"
)

// major writes an amount in minor units of a currency as providers want it: 4200 cents become 42.00,
// and 4200 yen 4200.
func major(minor int64, currency string) json.Number {
	return json.Number(engine.Decimal(minor, currency))
}

// decimal is an amount that a provider writes in major units, as a number or in quotes. Its text is
// kept, because no amount may pass through a floating-point number.
type decimal string

// maxDecimal bounds an amount's digits, and maxExponent its power of ten.
const maxDecimal, maxExponent = 60, 4

// UnmarshalJSON reads 42, "42.00" and 1e-7.
func (d *decimal) UnmarshalJSON(b []byte) error {
	if string(b) == "null" || string(b) == `"null"` {
		return nil
	}
	*d = decimal(unquote(b))
	if _, ok := d.rat(); !ok {
		return fmt.Errorf("amount %s", b)
	}
	return nil
}

// rat returns the amount's value; false if it is not a number or is below 0.
func (d decimal) rat() (*big.Rat, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(d)), "e")
	if d == "" || len(mantissa) > maxDecimal || len(exponent) > maxExponent-1 || strings.ContainsAny(string(d), "/_x") {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(string(d))
	return r, ok && r.Sign() >= 0
}

// toMinor returns the amount in minor units of a currency, rounded down.
func (d decimal) toMinor(currency string) int64 {
	r, ok := d.rat()
	if !ok {
		return 0
	}
	return floor(r.Mul(r, big.NewRat(engine.ScaleOf(engine.DecimalsOf(currency)), 1)))
}

// floor rounds a value that is not negative down to a whole number.
func floor(r *big.Rat) int64 {
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return 0
	}
	return n.Int64()
}

// showPlain writes the amount without an exponent, for people.
func (d decimal) showPlain() string {
	r, ok := d.rat()
	if !ok {
		return ""
	}
	text := r.FloatString(18)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
