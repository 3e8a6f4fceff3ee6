package psp

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/engine"
)

// Major writes an amount in minor units of a currency as providers want it: 4200 cents become 42.00,
// and 4200 yen 4200.
func Major(minor int64, currency string) json.Number {
	return json.Number(engine.Decimal(minor, currency))
}

// Decimal is an amount that a provider writes in major units, as a number or in quotes. Its text is
// kept, because no amount may pass through a floating-point number.
type Decimal string

// maxDecimal bounds the characters of an amount without its exponent, and maxExponent the power of ten, up and down.
// Without these, a short text could stand for a number that fills the memory.
const maxDecimal, maxExponent = 60, 99

// UnmarshalJSON reads 42, "42.00" and 1e-7. It refuses what Rat refuses, and leaves d as it is for null and "null".
func (d *Decimal) UnmarshalJSON(b []byte) error {
	if string(b) == "null" || string(b) == `"null"` {
		return nil
	}
	*d = Decimal(Unquote(b))
	if _, ok := d.Rat(); !ok {
		return fmt.Errorf("amount %s", b)
	}
	return nil
}

// Rat returns the amount's value; false if the text is no number, is too long, or is below 0.
func (d Decimal) Rat() (*big.Rat, bool) {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(string(d)), "e")
	if mantissa == "" || len(mantissa) > maxDecimal || strings.Trim(mantissa, "+-.0123456789") != "" {
		return nil, false // SetString would also read fractions, other bases, and powers of two
	}
	if power, err := strconv.Atoi(exponent); scaled && (err != nil || max(power, -power) > maxExponent) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(string(d))
	return r, ok && r.Sign() >= 0
}

// ToMinor returns the amount in minor units of a currency, rounded down. It returns 0 if Rat finds no amount, or if
// the amount does not fit into 64 bits.
func (d Decimal) ToMinor(currency string) int64 {
	r, ok := d.Rat()
	if !ok {
		return 0
	}
	return Floor(r.Mul(r, big.NewRat(engine.ScaleOf(engine.DecimalsOf(currency)), 1)))
}

// Floor rounds a value that is not negative down to a whole number. It returns 0 if that does not fit into 64 bits.
func Floor(r *big.Rat) int64 {
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return 0
	}
	return n.Int64()
}

// ShowPlain writes the amount without an exponent, rounded to 18 decimal places, for people. It returns "" if Rat
// finds no amount.
func (d Decimal) ShowPlain() string {
	r, ok := d.Rat()
	if !ok {
		return ""
	}
	text := r.FloatString(18)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Number is an id. It comes as a number or in quotes, and its digits are kept as they are.
type Number string

// UnmarshalJSON reads 4099260516 and "4099260516". It leaves n as it is for null.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	s := Unquote(b)
	if !IsNumber(s) {
		return fmt.Errorf("id %s", b)
	}
	*n = Number(s)
	return nil
}

// IsNumber reports whether a text is a whole number from 0 on, of at most 64 bits.
func IsNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// Unquote returns a JSON value without its quotes, if it has some. Escapes in the value stay as they are.
func Unquote(b []byte) string {
	s := string(b)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// Moment is a time in a provider's answer. It does not decide whether money counts, so a time that cannot be read
// is taken as missing, and is no reason to refuse a payment.
type Moment time.Time

// UnmarshalJSON reads RFC 3339 and takes anything else for none.
func (m *Moment) UnmarshalJSON(b []byte) error {
	t, err := time.Parse(time.RFC3339, Unquote(b))
	if err == nil {
		*m = Moment(t)
	}
	return nil
}
