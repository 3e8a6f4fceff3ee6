package engine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/Rhymond/go-money"
)

// Currency describes one currency: how its amounts are written, and the number by which wallets and stored
// facts know it.
type Currency struct {
	Number   int64 // the currency's number in stored facts; never reused
	Code     string
	Symbol   string
	Decimals int // decimals of its minor unit, by ISO 4217: 0, 2 or 3
}

// Currencies lists the currencies that a deployment sells in if its configuration names none. Their numbers,
// from 1, are our own. Every other currency has its numeric code of ISO 4217 as its number.
var Currencies = []Currency{
	{1, "USD", "$", 2},
	{2, "NGN", "₦", 2},
	{3, "ZAR", "R", 2},
}

// CurrencyOf finds a currency by its ISO 4217 code. It returns false for an unknown code, and for a currency
// whose minor unit does not have 0, 2 or 3 decimals.
func CurrencyOf(code string) (Currency, bool) {
	for i := range Currencies {
		if Currencies[i].Code == code {
			return Currencies[i], true
		}
	}
	return currencyIn(money.GetCurrency(code), code)
}

// CurrencyNumbered finds a currency by its Number. It returns false if no currency has this number.
func CurrencyNumbered(n int64) (Currency, bool) {
	for i := range Currencies {
		if Currencies[i].Number == n {
			return Currencies[i], true
		}
	}
	text := strconv.FormatInt(n, 10)
	for len(text) < 3 {
		text = "0" + text
	}
	row := money.GetCurrencyByNumericCode(text)
	if row == nil || slices.ContainsFunc(Currencies, func(c Currency) bool { return c.Code == row.Code }) {
		return Currency{}, false
	}
	return currencyIn(row, row.Code)
}

// currencyIn makes a Currency of a row of the table in the library go-money. It returns false if the row is nil or has
// another code, if its decimals are not 0, 2 or 3, or if its numeric code is taken by one of Currencies.
func currencyIn(row *money.Currency, code string) (Currency, bool) {
	if row == nil || row.Code != code || row.Fraction != 0 && row.Fraction != 2 && row.Fraction != 3 {
		return Currency{}, false
	}
	number, err := strconv.ParseInt(row.NumericCode, 10, 64)
	if err != nil || number <= int64(len(Currencies)) {
		return Currency{}, false
	}
	return Currency{Number: number, Code: code, Symbol: row.Grapheme, Decimals: row.Fraction}, true
}

// ParseCurrencies finds the currencies of a list of codes; without any, it returns Currencies. It refuses a
// code that is unknown or is listed twice.
func ParseCurrencies(codes []string) ([]Currency, error) {
	if len(codes) == 0 {
		return Currencies, nil
	}
	all := make([]Currency, 0, len(codes))
	for _, code := range codes {
		c, ok := CurrencyOf(code)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is no currency of ISO 4217 with 0, 2 or 3 decimals", code)
		case slices.Contains(all, c):
			return nil, fmt.Errorf("%s stands twice", code)
		}
		all = append(all, c)
	}
	return all, nil
}

// DecimalsOf returns how many decimals amounts of a currency have. It returns 2 if the text is no currency's
// code, because records may hold a text that nobody has checked.
func DecimalsOf(code string) int {
	c, ok := CurrencyOf(code)
	if !ok {
		return 2
	}
	return c.Decimals
}

// Decimal returns an amount of minor units with all decimals of its currency: "12.50" dollars,
// "500" yen, "1.234" dinars.
func Decimal(minor int64, currency string) string { return DecimalIn(minor, DecimalsOf(currency)) }

// DecimalIn returns an amount of minor units that has the given number of decimals.
func DecimalIn(minor int64, decimals int) string {
	u := uint64(minor)
	b := make([]byte, 0, 24)
	if minor < 0 {
		b, u = append(b, '-'), -u
	}
	scale := uint64(ScaleOf(decimals))
	b = strconv.AppendUint(b, u/scale, 10)
	if decimals == 0 {
		return string(b)
	}
	b = append(b, '.')
	for rest := u % scale; scale > 1; {
		scale /= 10
		b = append(b, byte('0'+rest/scale%10))
	}
	return string(b)
}

// ScaleOf returns how many minor units are one unit of a currency with this number of decimals: 100 for 2
// decimals.
func ScaleOf(decimals int) int64 {
	scale := int64(1)
	for range decimals {
		scale *= 10
	}
	return scale
}

// Rescale converts an amount with "from" decimals into one with "to" decimals. Where decimals are lost, it
// rounds half away from zero.
func Rescale(amount int64, from, to int) int64 {
	if to >= from {
		return amount * ScaleOf(to-from)
	}
	by := ScaleOf(from - to)
	if amount < 0 {
		return -((by/2 - amount) / by)
	}
	return (amount + by/2) / by
}
