package nodetest

import (
	"slices"
	"strings"
)

// Text returns a text of n characters that takes two bytes each, because limits count characters
// and not bytes.
func Text(n int) string { return strings.Repeat("ü", n) }

// URI returns a valid address of n characters.
func URI(n int) string { return "https://example.org/" + strings.Repeat("a", n-20) }

// Entity returns the body of one entity of an event's programme, with changes.
func Entity(changes Object) []Object {
	return []Object{With(Object{"kind": "dj", "name": "Ada"}, changes)}
}

// Many returns a list of n times the same value.
func Many[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }
