package statements

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// entry61 matches the field :61: of MT940: value day, booking day, sign, third letter of the
// currency, amount, type, the account owner's reference, and the bank's.
var entry61 = regexp.MustCompile(`^(\d{6})(?:\d{4})?(R?[CD])[A-Z]?(\d{1,12},\d{0,3})[A-Z][A-Z0-9]{3}([^/\n]{0,16}?)(?://([^\n]{0,16}))?(?:\n|$)`)

// readMT940 reads statements of SWIFT's MT940, as banks of many countries export them. A
// statement begins with its opening balance (:60F: or :60M:) and ends with its closing
// balance (:62F: or :62M:), and its entries must add up to that. An entry (:61:) is followed by
// its details (:86:), with the payer's words in numbered parts or as plain text.
func readMT940(file []byte) (lines []Line, err error) {
	text := strings.ReplaceAll(string(toUTF8(file)), "\r\n", "\n")
	var account *balance // the balance after the entries so far; nil outside of a statement
	var last *Line       // the line that a :86: is about
	flush := func() error {
		if last == nil {
			return nil
		}
		lines, err = add(lines, *last)
		last = nil
		return err
	}
	for _, field := range splitFields(text) {
		tag, value, _ := strings.Cut(field[1:], ":")
		switch tag {
		case "60F", "60M":
			if account != nil {
				return nil, errors.New("two opening balances")
			}
			if account, err = parseBalance(value); err != nil {
				return nil, err
			}
		case "61":
			if err := flush(); err != nil {
				return nil, err
			}
			if last, err = parseEntry(value, account); err != nil {
				return nil, err
			}
		case "86":
			if last != nil {
				last.Payer, last.Text = parseDetails(value)
			}
		case "62F", "62M":
			if err := flush(); err != nil {
				return nil, err
			}
			if closing, err := parseBalance(value); err != nil || account == nil || *closing != *account {
				return nil, errors.New("its entries don't add up to its closing balance")
			}
			account = nil
		}
	}
	if account != nil { // the file was cut off, and nothing has checked the entries since the last balance
		return nil, errors.New("no closing balance")
	}
	return lines, nil
}

// balance is the balance of an account, in minor units; it is negative if the account is overdrawn.
type balance struct {
	amount   int64
	currency string
}

// parseBalance reads an opening or closing balance. readMT940 checks balances because a payer's
// text may have lines that look like entries, and not every bank removes the colons from it. Such
// false entries would not add up to the closing balance.
func parseBalance(value string) (*balance, error) {
	value = strings.TrimSpace(value)
	if len(value) < 10 || value[0] != 'C' && value[0] != 'D' {
		return nil, errors.New("no balance")
	}
	b := &balance{currency: value[7:10]}
	var err error
	if b.amount, err = parseAmount(value[10:], b.currency, ',', ' '); value[0] == 'D' {
		b.amount = -b.amount
	}
	return b, err
}

// splitFields cuts a file into its fields. A field begins with its tag between colons, and ends
// where the next field or the end of the message begins. The fields are not copied, because a field
// may be as long as the file.
func splitFields(text string) (fields []string) {
	begin, at := -1, 0 // the offsets of the field's and of the line's beginning; begin is -1 outside of a field
	for line := range strings.Lines(text) {
		isField, isEnd := line[0] == ':', strings.TrimSpace(line) == "-" || strings.TrimSpace(line) == "-}"
		if begin >= 0 && (isField || isEnd) {
			fields, begin = append(fields, text[begin:at]), -1
		}
		if isField {
			begin = at
		}
		at += len(line)
	}
	if begin >= 0 {
		fields = append(fields, text[begin:])
	}
	return fields
}

// parseEntry reads an entry of an account, and adds its amount to the balance. For a debit, or the reversal
// of a credit or debit, it only changes the balance and returns nil.
func parseEntry(value string, account *balance) (*Line, error) {
	m := entry61.FindStringSubmatch(value)
	if m == nil || account == nil {
		return nil, fmt.Errorf("entry %q", clean(value))
	}
	amount, err := parseAmount(m[3], account.currency, ',', ' ')
	if err != nil {
		return nil, err
	}
	if m[2] == "D" || m[2] == "RC" { // a reversed credit is a debit
		account.amount -= amount
	} else {
		account.amount += amount
	}
	if m[2] != "C" {
		return nil, nil
	}
	day, err := parseDay(m[1], "060102")
	if err != nil {
		return nil, err
	}
	l := &Line{Day: day, Amount: amount, Currency: account.currency}
	if bank := withoutPlaceholder(strings.TrimSpace(m[5])); bank != "" {
		l.bank = m[1] + bank
	}
	return l, nil
}

// part86 matches the beginning of a numbered part of :86:, such as ?20.
var part86 = regexp.MustCompile(`\?(\d\d)`)

// maxDetails is how many bytes of :86: are read at most. Banks write up to 390, with their line ends.
const maxDetails = 2_000

// parseDetails reads the payer (parts 32 and 33) and the payer's text (parts 20 to 29 and 60 to 63)
// from the field :86:. If it has no numbered parts, all of it is the text.
func parseDetails(value string) (payer, text string) {
	value = strings.ReplaceAll(value[:min(len(value), maxDetails)], "\n", "")
	at := part86.FindAllStringSubmatchIndex(value, -1)
	if len(at) == 0 {
		return "", value
	}
	for i, m := range at {
		end := len(value)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		part := value[m[1]:end]
		switch n := value[m[2]:m[3]]; {
		case n >= "20" && n <= "29", n >= "60" && n <= "63":
			text += part
		case n == "32", n == "33":
			payer += part
		}
	}
	return payer, text
}
