// Package view makes the records of answers and webhooks from the structs of the engine and the
// read model (docs/rules.md, Records). All functions are pure, except that ListByNumber calls a function
// that reads the rows.
package view

import (
	"time"

	"boxoffice/edge/api"
	"boxoffice/engine"
)

// Optional returns a pointer to a string, or nil, which becomes null, for an empty string.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Moment returns the time of unix milliseconds. Unlike api.At, it never returns nil: 0 is the
// beginning of 1970.
func Moment(ms int64) api.Time {
	t := api.Moment(ms)
	return &t
}

// Decimal returns an amount in minor units as the decimal string that answers show, such as
// "25.00".
func Decimal(minor int64, currency string) string { return engine.Decimal(minor, currency) }

// List returns the list, or an empty list for nil, so that no answer has null in place of a list.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Object returns stored JSON, which must be an object, or the empty object if nothing is stored.
func Object(b []byte) api.JSON {
	if len(b) == 0 {
		return api.JSON("{}")
	}
	return b
}

// UTC returns a time of the database in UTC, as answers show it, or nil for nil.
func UTC(t *time.Time) api.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
