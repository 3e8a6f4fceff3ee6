package edge

import (
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// What several resources show in the same way.

// optional is null for an empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// moment is a time that is always there: also 1970 begins one.
func moment(ms int64) api.Time {
	t := time.UnixMilli(ms).UTC()
	return &t
}

// decimal is an amount of minor units as answers show it.
func decimal(minor int64) string { return route.Money(minor).String() }

// numeric reads a number in decimal digits.
func numeric(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && len(s) <= 18 && s[0] != '+'
}
