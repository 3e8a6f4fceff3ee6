package secrets

import (
	"regexp"
	"strings"
	"unicode"
)

// maxShown is how many bytes of a text CleanShown reads. Every code is much shorter, even with spaces and
// dashes between its letters.
const maxShown = 1 << 10

// symbology matches what some scanners send before a code: the kind of barcode that they read (ISO/IEC 15424).
var symbology = regexp.MustCompile(`^(\][A-Z][0-9A-Z])+`)

// CleanShown turns what a scanner read or a person typed into the form in which our codes are written: in
// capitals, without spaces and dashes, and without the signs that scanners add (a byte order mark, control
// characters, the name of the symbology). No code or payload of ours has any of what is left out. Package gate and
// docs/gates/decide.py, which check codes without the service, clean a text by the same rule.
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
