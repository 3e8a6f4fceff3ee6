// Package view makes the records that answers show, and webhooks tell, of what
// the engine and the read model know (docs/rules.md, Records). It is pure: what a
// record needs besides comes as an argument.
package view

import (
	"time"

	"boxoffice/edge/api"
	"boxoffice/engine"
)

// Optional is null for an empty string.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Moment is a time that is always there: also 1970 begins one.
func Moment(ms int64) api.Time {
	t := api.Moment(ms)
	return &t
}

// Decimal is an amount of minor units of a currency as answers show it.
func Decimal(minor int64, currency string) string { return engine.Decimal(minor, currency) }

// List is never null in an answer.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Object is stored JSON, which is an object.
func Object(b []byte) api.JSON {
	if len(b) == 0 {
		return api.JSON("{}")
	}
	return b
}

// UTC is a time of a table as answers show it; nil stays nil.
func UTC(t *time.Time) api.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
