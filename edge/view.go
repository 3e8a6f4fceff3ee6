package edge

import (
	"strconv"

	"boxoffice/edge/view"
)

// What several resources show in the same way; see package view.
var (
	optional = view.Optional
	moment   = view.Moment
	decimal  = view.Decimal
)

// numeric reads a number in decimal digits.
func numeric(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && len(s) <= 18 && s[0] != '+'
}
