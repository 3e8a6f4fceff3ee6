// Package view makes the records in answers and webhooks from those of the engine and the read model (docs/rules.md,
// Records). It has no state and reads no store: everything that a record needs is an argument.
package view

import (
	"time"

	"boxoffice/edge/api"
	"boxoffice/engine"
)

// Optional returns null for an empty string.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Moment returns unix milliseconds as a time that is never null. Unlike api.At, it treats 0 as a time, the beginning of
// 1970.
func Moment(ms int64) api.Time {
	t := api.Moment(ms)
	return &t
}

// Decimal returns an amount of minor units of a currency in the form that answers show.
func Decimal(minor int64, currency string) string { return engine.Decimal(minor, currency) }

// List returns a list that is never null in an answer, so programs can read it without a check.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Object returns stored JSON, which must be an object. Nothing stored becomes the empty object.
func Object(b []byte) api.JSON {
	if len(b) == 0 {
		return api.JSON("{}")
	}
	return b
}

// UTC returns a time of a table as answers show it; nil stays nil.
func UTC(t *time.Time) api.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
