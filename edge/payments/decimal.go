package payments

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// major writes minor units of a currency of two decimals as providers want them: 4200 is
// 42.00.
func major(minor int64) json.Number {
	return json.Number(fmt.Sprintf("%d.%02d", minor/100, minor%100))
}

// decimal is an amount that a provider writes in major units, as a number or in quotes. It
// is kept as it stands: no amount passes through a floating-point number.
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

// rat is the amount's value; false for one that is none, or below 0.
func (d decimal) rat() (*big.Rat, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(d)), "e")
	if d == "" || len(mantissa) > maxDecimal || len(exponent) > maxExponent-1 || strings.ContainsAny(string(d), "/_x") {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(string(d))
	return r, ok && r.Sign() >= 0
}

// minor is the amount in minor units of two decimals, what is less than one cut off.
func (d decimal) minor() int64 {
	r, ok := d.rat()
	if !ok {
		return 0
	}
	return floor(r.Mul(r, big.NewRat(100, 1)))
}

// floor is the whole number below a value that is not negative.
func floor(r *big.Rat) int64 {
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return 0
	}
	return n.Int64()
}

// plain is the amount without an exponent, as people read it.
func (d decimal) plain() string {
	r, ok := d.rat()
	if !ok {
		return ""
	}
	text := r.FloatString(18)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
