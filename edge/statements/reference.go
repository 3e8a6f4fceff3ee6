package statements

import (
	"slices"
	"strings"
)

// Reference returns a creditor reference (ISO 11649), which banks check as they check an IBAN: "RF", two check
// digits, and the text, of which up to 21 letters and digits are allowed and all other characters are dropped. A
// reference with one wrong letter or digit, or with two neighbours of the same kind exchanged, is never valid. One
// with any other mistake is valid once in 97 times.
func Reference(text string) string {
	body := lettersAndDigits(text)
	check := 98 - remainderBy97(body+"RF00")
	return "RF" + string([]byte{byte('0' + check/10), byte('0' + check%10)}) + body
}

// These are the fewest and the most characters after the check digits of a reference, because an order's number has
// that many.
const minBody, maxBody = 17, 21

// FindReferences returns all valid references in a payer's text, each once, even if the payer or the bank has added
// spaces and dashes or used small letters. A reference together with the characters after it is by chance valid too,
// once in 97 times. So the caller must look up each of the returned references.
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

// ReadIBAN returns an account number (ISO 13616) without its blanks, whether a text looks like one, and
// whether its check digits are right.
func ReadIBAN(text string) (iban string, like, valid bool) {
	iban = lettersAndDigits(text)
	if len(iban) < 15 || len(iban) > 34 || strings.Trim(iban[:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || strings.Trim(iban[2:4], "0123456789") != "" {
		return iban, false, false
	}
	return iban, true, remainderBy97(iban[4:]+iban[:4]) == 1
}
