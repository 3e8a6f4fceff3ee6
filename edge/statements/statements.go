// Package statements reads bank statements in the formats CAMT.053 (ISO 20022), MT940 (SWIFT) and
// the CSV of some banks, and returns the money that came in. It also makes and finds the references
// by which a payer names an order, and the GiroCodes of bank transfers.
//
// It only knows the formats. The caller of Read finds the orders and books the money. All functions
// are pure, and every input has a bound. Money that went out, and entries that are not booked yet,
// are left out.
package statements

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"boxoffice/engine"
)

// These are the most bytes of a statement, the most lines with money that came in, and the most
// bytes of a text in a line.
const (
	MaxBytes = 4 << 20
	MaxLines = 10_000
	maxText  = 1_000
)

// These are the years that we believe a booking day to be in. A day outside of them is a
// mistake in the file.
const firstYear, lastYear = 2000, 2099

// ErrDay says that a line has a day before firstYear or after lastYear. An error of Read that wraps
// ErrDay also wraps ErrFormat.
var ErrDay = errors.New("day before 2000 or after 2099")

// ErrFormat says that a file is no statement that we can read.
var ErrFormat = errors.New("not a bank statement that we read")

// Line is an entry of a statement: money that came in.
type Line struct {
	// ID is the same whenever the line is read again, also from another statement of the same
	// format. It is a hash of the bank's own reference or else of the line, and of how many equal
	// lines come before it in the statement. So statements have to contain whole days.
	ID       string
	Day      time.Time // on which it was booked (in MT940: its value day), in UTC
	Amount   int64     // minor units, above 0
	Currency string    // ISO 4217
	Payer    string
	Text     string // the payer's text, or what the bank wrote about the entry
	bank     string // the bank's reference
}

// Read reads a statement in any of the formats, and returns the lines with money that came in. A file with a
// line that can't be read, or with more than MaxBytes or MaxLines, is refused whole, with ErrFormat.
func Read(file []byte) ([]Line, error) {
	if len(file) > MaxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrFormat, MaxBytes)
	}
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	read := readCSV
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(file), []byte("<")):
		read = readCAMT
	case bytes.Contains(file, []byte("\n:61:")):
		read = readMT940
	}
	lines, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	nameLines(lines)
	return lines, nil
}

// nameLines gives every line its ID. Lines with the same reference of the bank, or without one but equal in every
// other way, are numbered in the order of the file. So two equal payments of a day count as two, and still have the
// same IDs when the file is read again.
func nameLines(lines []Line) {
	seen := map[string]int{}
	for i := range lines {
		l := &lines[i]
		name := "bank/" + l.bank
		if l.bank == "" {
			name = strings.Join([]string{l.Day.Format(time.DateOnly), strconv.FormatInt(l.Amount, 10), l.Currency, l.Payer, l.Text}, "\x00")
		}
		seen[name]++
		sum := sha256.Sum256([]byte(name + "\x00" + strconv.Itoa(seen[name])))
		l.ID = hex.EncodeToString(sum[:16])
	}
}

// add cleans a line's texts and appends the line. It leaves out a line with an amount of 0, and
// returns an error if there are MaxLines lines already.
func add(lines []Line, l Line) ([]Line, error) {
	if l.Amount == 0 {
		return lines, nil
	}
	if len(lines) == MaxLines {
		return nil, fmt.Errorf("more than %d lines", MaxLines)
	}
	l.Payer, l.Text, l.bank = clean(l.Payer), withoutPlaceholder(clean(l.Text)), withoutPlaceholder(clean(l.bank))
	return append(lines, l), nil
}

// placeholders are the words that banks write instead of a missing reference: NONREF in the field
// :61: of MT940, and NOTPROVIDED in the EndToEndId of ISO 20022, which must not be empty.
var placeholders = []string{"NONREF", "NOTPROVIDED", "NOTAVAILABLE"}

// withoutPlaceholder returns a text, or "" if it is a placeholder. If a placeholder were kept as the bank's reference,
// lines of different days would have the same IDs, and would be taken for repeats.
func withoutPlaceholder(text string) string {
	if slices.Contains(placeholders, lettersAndDigits(text)) {
		return ""
	}
	return text
}

// clean joins the words of a text by single blanks, and cuts it to maxText bytes at the end
// of a character. Control characters count as blanks, because a database does not keep all
// of them.
func clean(text string) string {
	isBlank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), isBlank), " ")
	for len(text) > maxText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// toUTF8 returns a text as UTF-8. A text that is not UTF-8 is taken for Windows-1252, which
// includes Latin 1.
func toUTF8(file []byte) []byte {
	if utf8.Valid(file) {
		return file
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(file)
	if err != nil {
		return file
	}
	return decoded
}

// parseAmount reads a decimal number as minor units of a currency. point is the character before the decimals,
// and thousands the one that may stand between the digits of thousands. It refuses a text that is no such
// number, an amount above 1e15, an unknown currency, and more decimals than the currency has unless they are
// zeros.
func parseAmount(text, currency string, point, thousands byte) (int64, error) {
	if _, ok := engine.CurrencyOf(currency); !ok {
		return 0, fmt.Errorf("currency %q", currency)
	}
	text, negative := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(text), "+"), "-")
	whole, places, _ := strings.Cut(text, string(point))
	whole = strings.ReplaceAll(whole, string(thousands), "")
	decimals := engine.DecimalsOf(currency)
	if zeros := strings.TrimRight(places, "0"); len(places) > decimals && len(zeros) <= decimals {
		places = places[:decimals]
	}
	places += strings.Repeat("0", max(0, decimals-len(places)))
	digits := whole + places
	if whole == "" || len(places) != decimals || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("amount %q", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > 1e15 {
		return 0, fmt.Errorf("amount %q", text)
	}
	if negative {
		n = -n
	}
	return n, nil
}

// parseDay reads a day with the first of the layouts that fits. It returns ErrDay for a year that
// is out of bounds.
func parseDay(text string, layouts ...string) (day time.Time, err error) {
	for _, layout := range layouts {
		if day, err = time.Parse(layout, strings.TrimSpace(text)); err != nil {
			continue
		}
		if day.Year() < firstYear || day.Year() > lastYear {
			return day, fmt.Errorf("%w: %q", ErrDay, text)
		}
		return day, nil
	}
	return day, fmt.Errorf("day %q", text)
}

// first returns the first text that is not empty.
func first(texts ...string) string { return cmp.Or(texts...) }
