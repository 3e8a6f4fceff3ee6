// Package names cleans the names of people and things, and tells when two names look alike.
//
// A name is one line that people read: on a ticket, in a mail's subject, in a spreadsheet's cell.
// So a clean name has no invisible characters that could move, hide or forge the text around it.
// All functions are pure, and any goroutine may call them.
package names

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// steering are the characters that change the direction of the text after them (Unicode Standard Annex 9, 2.1
// to 2.4). If no other character ends their effect, they turn even the text after the name. The marks U+200E,
// U+200F and U+061C are not here, because they have no such effect, and texts in Arabic and Hebrew use them.
var steering = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}

// hidden are invisible characters that no script and no emoji needs within a name: soft hyphen,
// zero-width space, word joiner, invisible operators, byte order mark, annotations and a few
// others.
var hidden = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0xad, Hi: 0xad, Stride: 1},
	{Lo: 0x180e, Hi: 0x180e, Stride: 1},
	{Lo: 0x200b, Hi: 0x200b, Stride: 1},
	{Lo: 0x2060, Hi: 0x2065, Stride: 1},
	{Lo: 0x206a, Hi: 0x206f, Stride: 1},
	{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
	{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
}}

// blank are characters that show nothing by themselves, but take room or change the characters
// around them: fillers of Hangul, the empty Braille cell, joiners and variation selectors.
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

// CleanText returns a text of any number of lines without the steering characters, and without
// control characters except tabs and line ends.
func CleanText(s string) string {
	if isPrintable(s) { // a short cut for nearly all texts, because every text of every request is cleaned
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

// Clean returns a name in the form in which it is stored: one line in NFC, trimmed, without
// control, steering and hidden characters. The joiners that emoji and some scripts need stay, and
// so do the marks of direction. If nothing in the name is visible, it returns "".
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

// isVisible reports whether a character shows something. Characters for private use count as
// visible.
func isVisible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, blank) || unicode.Is(unicode.Co, r)
}

// Key returns the text by which names are compared. It is the same for names that differ only in case, in
// compatibility forms of letters, in the kind and number of blanks, or in invisible characters. People can't
// tell such names apart when they read or say them.
func Key(s string) string {
	if isOwnKey(s) {
		return s // a short cut, because a venue map has up to 100,000 seats whose labels are mostly numbers
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || isVisible(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(s))
	return norm.NFC.String(strings.Join(strings.Fields(cases.Fold().String(s)), " "))
}

// isOwnKey reports whether a text has only the letters a to z and digits. Such a text is its own key.
func isOwnKey(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
