package statements

import (
	"slices"
	"strings"
)

// Reference returns the creditor reference (ISO 11649) for a text of up to 21 letters and digits.
// Banks check it as they do an IBAN: "RF", two check digits, and the text. A wrong letter for a letter, a
// wrong digit for a digit, or two of a kind that changed places, never make a valid reference; any
// other mistake does once in 97 times. Characters of the text other than letters and digits are
// left out.
func Reference(text string) string {
	body := lettersAndDigits(text)
	check := 98 - remainderBy97(body+"RF00")
	return "RF" + string([]byte{byte('0' + check/10), byte('0' + check%10)}) + body
}

// These are the least and the most characters after the check digits of a reference to an order.
const minBody, maxBody = 17, 21

// FindReferences returns all valid references to orders that a payer's words contain, each once,
// even if the payer or the bank has added blanks and dashes or written small letters. A reference
// with some of the characters after it may also be valid by chance (one time in 97), so the caller
// has to look up each result.
func FindReferences(text string) (found []string) {
	text = lettersAndDigits(text)
	for at := range text {
		if !strings.HasPrefix(text[at:], "RF") {
			continue
		}
		for end := at + 4 + minBody; end <= min(len(text), at+4+maxBody); end++ {
			if one := text[at:end]; Reference(one[4:]) == one && !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	return found
}

// lettersAndDigits returns a text's letters A to Z, as capitals, and digits.
func lettersAndDigits(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, text)
}

// remainderBy97 reads a text as a number, with A as 10 and Z as 35, and returns the
// remainder of its division by 97 (ISO 7064, MOD 97-10).
func remainderBy97(text string) (rest int) {
	for _, c := range []byte(text) {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest
}

// ReadIBAN returns the letters and digits of a text, in capitals. like reports whether they look
// like an IBAN (ISO 13616), and valid whether its check digits are also right.
func ReadIBAN(text string) (iban string, like, valid bool) {
	iban = lettersAndDigits(text)
	if len(iban) < 15 || len(iban) > 34 || strings.Trim(iban[:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || strings.Trim(iban[2:4], "0123456789") != "" {
		return iban, false, false
	}
	return iban, true, remainderBy97(iban[4:]+iban[:4]) == 1
}
