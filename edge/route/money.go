package route

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/engine"
)

// Money is an amount in a request, in thousandths of a currency's unit. Only the handler knows the
// currency, and so the number of decimals; it converts the amount into minor units with Minor. In a
// request, Money is a JSON number, which is parsed as a decimal and never becomes a float. The tags
// minimum, maximum, enum and default are in units of the currency, as the number in the request is.
type Money int64

// moneyDecimals is how many decimals a Money has: as many as the currency that has the most.
const moneyDecimals = 3

// MoneyOf returns the Money for an amount in minor units of a currency with the given number of decimals.
func MoneyOf(minor int64, decimals int) Money {
	return Money(engine.Rescale(minor, decimals, moneyDecimals))
}

// Minor converts an amount that was sent at path into minor units of a currency. It returns a
// VALIDATION_ERROR if the amount has more decimals than the currency.
func (m Money) Minor(path, currency string) (int64, error) {
	return m.In(path, engine.DecimalsOf(currency))
}

// In does what Minor does, for a currency with the given number of decimals.
func (m Money) In(path string, decimals int) (int64, error) {
	by := engine.ScaleOf(moneyDecimals - decimals)
	if int64(m)%by != 0 {
		return 0, Invalid(Issue{Path: path, Code: IssueDecimals, Message: fmt.Sprintf("must have at most %d decimal places", decimals)})
	}
	return int64(m) / by, nil
}

// Decimals returns how many decimals the amount needs: 3 if the third is not 0, otherwise 2.
func (m Money) Decimals() int {
	if m%10 == 0 {
		return 2
	}
	return moneyDecimals
}

// String returns the amount as a decimal number with as many decimal places as Decimals says.
func (m Money) String() string {
	amount, decimals := int64(m), m.Decimals()
	return engine.DecimalIn(amount/engine.ScaleOf(moneyDecimals-decimals), decimals)
}

// InlineJSONSchema makes the document show an amount in place of a reference to this type.
func (m Money) InlineJSONSchema() {}

// MarshalJSONTo writes the amount as a JSON string, which String makes.
func (m Money) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.String(m.String()))
}

// maxNumber is the most characters of a number's text. No amount needs more.
const maxNumber = 64

// parseMoney reads a JSON number's text exactly. It returns a problem if the text is no number or is longer
// than maxNumber, if the number has more than three decimal places, or if it is beyond an int64 of thousandths.
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
	if number.scale > moneyDecimals {
		return 0, problem{IssueDecimals, fmt.Sprintf("must have at most %d decimal places", moneyDecimals)}
	}
	for ; number.scale < moneyDecimals && !number.overflow; number.scale++ {
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

// decimal is digits * 10^-scale, negated if negative. digits has no trailing zeros, unless the number is
// zero. overflow means that the number does not fit, and that digits is wrong.
type decimal struct {
	digits             int64
	scale              int
	negative, overflow bool
}

// times10 appends a zero to the digits, or sets overflow if they would be too many.
func (d *decimal) times10() {
	if d.digits > math.MaxInt64/10 {
		d.overflow = true
		return
	}
	d.digits *= 10
}

// parseDecimal reads a number as JSON writes it. ok is false if the text is no number. Unlike JSON, it also takes a
// number that begins with zeros, such as 007.
func parseDecimal(text []byte) (d decimal, ok bool) {
	mantissa, exponent := text, []byte("0")
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	exp, err := strconv.ParseInt(string(exponent), 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return d, false
	}
	// A mantissa of at most maxNumber characters, which the callers check, cannot balance an exponent beyond these
	// bounds, and within them scale cannot overflow.
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
