package gate

import (
	"regexp"
	"strings"
	"unicode"
)

// maxShown is how much of a text is read, in bytes. No code is as long, with whatever stands
// between its letters.
const maxShown = 1 << 10

// symbology is what some scanners say before a code: the sort of picture that they read it from
// (ISO/IEC 15424).
var symbology = regexp.MustCompile(`^(\][A-Z][0-9A-Z])+`)

// CleanShown is a code as our codes are written, from what a scanner read or a person typed: in
// capitals, without blanks and dashes between its letters, and without the signs that scanners add
// (a byte order mark, control characters, the name of the symbology). Neither our codes nor their
// payloads have any of these, so nothing is lost. The service and docs/gates/decide.py read a text by
// the same rule.
func CleanShown(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Cc, unicode.Cf, unicode.Pd), r == unicode.ReplacementChar:
			return -1
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, text[:min(len(text), maxShown)])
	return symbology.ReplaceAllString(text, "")
}
