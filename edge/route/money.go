package route

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Money is an amount in minor units of two decimals. In a request it is a JSON number, which is
// read from its text and never through a float; in an answer it is a decimal string. Its minimum,
// maximum, enum and default tags are in major units, as on the wire.
type Money int64

// String is the amount as a decimal with two places.
func (m Money) String() string { return string(m.append(make([]byte, 0, 24))) }

func (m Money) append(b []byte) []byte {
	u := uint64(m)
	if m < 0 {
		b = append(b, '-')
		u = -u
	}
	b = strconv.AppendUint(b, u/100, 10)
	return append(b, '.', byte('0'+u%100/10), byte('0'+u%10))
}

// InlineJSONSchema makes the document show an amount in place of a reference to this type.
func (m Money) InlineJSONSchema() {}

// MarshalJSONTo writes the decimal string.
func (m Money) MarshalJSONTo(enc *jsontext.Encoder) error {
	b := append(enc.AvailableBuffer(), '"')
	return enc.WriteValue(append(m.append(b), '"'))
}

// maxNumber bounds the length of a number's text; no amount needs more.
const maxNumber = 64

// parseMoney reads a JSON number's text exactly. It reports a problem for more
// than two decimal places and for amounts beyond an int64 of minor units.
func parseMoney(text []byte) (Money, problem) {
	if len(text) > maxNumber {
		return 0, problem{IssueType, "must be a number of at most 64 characters"}
	}
	number, ok := parseDecimal(text)
	if !ok {
		return 0, problem{IssueType, mustFloat}
	}
	if number.digits == 0 {
		return 0, none
	}
	if number.scale > 2 {
		return 0, problem{IssueDecimals, "must have at most 2 decimal places"}
	}
	for ; number.scale < 2 && !number.overflow; number.scale++ {
		number.times10()
	}
	if number.overflow && number.negative {
		return 0, problem{IssueMinimum, "must be a larger number"}
	}
	if number.overflow {
		return 0, problem{IssueMaximum, "must be a smaller number"}
	}
	if number.negative {
		return Money(-number.digits), none
	}
	return Money(number.digits), none
}

// decimal is digits * 10^-scale. digits does not end in a zero, unless the whole number is zero.
type decimal struct {
	digits             int64
	scale              int
	negative, overflow bool
}

func (d *decimal) times10() {
	if d.digits > math.MaxInt64/10 {
		d.overflow = true
		return
	}
	d.digits *= 10
}

// parseDecimal reads the grammar of a JSON number.
func parseDecimal(text []byte) (d decimal, ok bool) {
	mantissa, exponent := text, []byte("0")
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	exp, err := strconv.ParseInt(string(exponent), 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return d, false
	}
	// No number of maxNumber characters can make up for an exponent beyond these bounds.
	exp = max(-10*maxNumber, min(exp, 10*maxNumber))
	mantissa, d.negative = bytes.CutPrefix(mantissa, []byte("-"))
	whole, fraction, point := bytes.Cut(mantissa, []byte("."))
	if len(whole) == 0 || point && len(fraction) == 0 {
		return d, false
	}
	zeros := 0 // zeros seen that count only if another digit follows
	for _, c := range slices.Concat(whole, fraction) {
		if c < '0' || c > '9' {
			return d, false
		}
		zeros++
		for c != '0' && zeros > 0 {
			d.times10()
			zeros--
		}
		if c == '0' {
			continue
		}
		digit := int64(c - '0')
		if d.digits > math.MaxInt64-digit {
			d.overflow = true
			continue
		}
		d.digits += digit
	}
	d.scale = len(fraction) - int(exp) - zeros
	return d, true
}
