package engine

import "strconv"

// Currency is one row of Currencies. Every currency has two decimal places.
type Currency struct {
	Number int64 // as stored; never reused
	Code   string
	Symbol string
}

// Currencies is the table of currencies that organizations sell in.
var Currencies = []Currency{
	{1, "USD", "$"},
	{2, "NGN", "₦"},
	{3, "ZAR", "R"},
}

// CurrencyOf finds a currency by its ISO 4217 code.
func CurrencyOf(code string) (Currency, bool) {
	for _, c := range Currencies {
		if c.Code == code {
			return c, true
		}
	}
	return Currency{}, false
}

// CurrencyNumbered finds a currency by its number.
func CurrencyNumbered(n int64) (Currency, bool) {
	for _, c := range Currencies {
		if c.Number == n {
			return c, true
		}
	}
	return Currency{}, false
}

// Decimal returns an amount of minor units with its two decimal places.
func Decimal(minor int64) string {
	u := uint64(minor)
	b := make([]byte, 0, 24)
	if minor < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/100, 10)
	return string(append(b, '.', byte('0'+u%100/10), byte('0'+u%10)))
}
