package gate

import (
	"regexp"
	"strings"
	"unicode"
)

// maxShown is how many bytes of a text are read. Every code is shorter, whatever stands between its
// letters.
const maxShown = 1 << 10

// symbology matches what some scanners send in front of a code: the sort of picture that they read
// it from (ISO/IEC 15424).
var symbology = regexp.MustCompile(`^(\][A-Z][0-9A-Z])+`)

// CleanShown returns a text in the form in which our codes are written: in capitals, without blanks
// and dashes, and without the signs that scanners add (a byte order mark, control characters, the
// name of the symbology). Our codes have none of these, so nothing is lost. The service and
// docs/gates/decide.py clean a text by the same rule.
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
