// Package names says how the names of people and things are written, and when two of them look alike.
//
// A name is one line that people read: on a ticket, in a mail's subject, in a spreadsheet's cell. So
// it has no characters that nobody sees but that move, hide or forge what is around them. All
// functions are pure, and may be called by any goroutine.
package names

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// steering are the characters that turn the direction of what follows them, beyond their own text if
// nobody ends them (Unicode Standard Annex 9, 2.1 to 2.4). Marks of a direction (U+200E, U+200F,
// U+061C) are not among them: they turn nothing else, and texts in Arabic and Hebrew have them.
var steering = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}

// hidden are characters that nobody sees and that no script or emoji needs within a name: soft
// hyphen, zero-width space, word joiner and invisible operators, byte order mark, annotations.
var hidden = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0xad, Hi: 0xad, Stride: 1},
	{Lo: 0x180e, Hi: 0x180e, Stride: 1},
	{Lo: 0x200b, Hi: 0x200b, Stride: 1},
	{Lo: 0x2060, Hi: 0x2065, Stride: 1},
	{Lo: 0x206a, Hi: 0x206f, Stride: 1},
	{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
	{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
}}

// blank are characters that take room or join others, and show nothing by themselves: fillers of
// Hangul, the empty Braille cell, joiners and selectors of variants.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x34f, Hi: 0x34f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// CleanText returns a text of any number of lines without control characters, but for tabs and ends
// of lines, and without characters that turn the direction of what follows.
func CleanText(s string) string {
	if isPrintable(s) { // nearly all texts: each text of each request passes here
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(steering, r) || unicode.Is(unicode.Cc, r) && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, s)
}

// isPrintable reports whether a text is printable ASCII, in one line.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Clean returns a name as it is kept: one line in NFC, without characters that nobody sees, and
// trimmed. Joiners of emoji and of scripts stay, and so do marks of a direction. A name that shows
// nothing is empty.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cc, r) && unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.In(r, unicode.Cc, steering, hidden):
			return -1
		}
		return r
	}, s)
	if strings.IndexFunc(s, isVisible) < 0 {
		return ""
	}
	return norm.NFC.String(strings.TrimSpace(s))
}

// isVisible reports whether a character is seen.
func isVisible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, blank) || unicode.Is(unicode.Co, r)
}

// Key returns a text that is equal for two names that people can't tell apart when they read or say them. It ignores
// case, forms of a letter, kinds and numbers of spaces, and invisible characters.
func Key(s string) string {
	if isOwnKey(s) {
		return s // a map has 100,000 seats, most of them numbers
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || isVisible(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(s))
	return norm.NFC.String(strings.Join(strings.Fields(cases.Fold().String(s)), " "))
}

// isOwnKey reports whether a text is its own key: small letters and digits.
func isOwnKey(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
