package nodetest

import (
	"strings"
)

func Text(n int) string { return strings.Repeat("ü", n) }

func URI(n int) string { return "https://example.org/" + strings.Repeat("a", n-20) }

func Entity(changes Object) []Object {
	return []Object{With(Object{"kind": "dj", "name": "Ada"}, changes)}
}
