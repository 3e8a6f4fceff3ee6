package statements

import (
	"strings"
	"unicode/utf8"
)

// These are the most characters of the holder's name in a GiroCode, and the most bytes of the whole code.
const maxHolder, maxGiroCode = 70, 331

// GiroCode returns the text of a QR code from which banking apps fill in a SEPA transfer in euros to an
// IBAN, by the European Payments Council's guideline EPC069-12, version 002, in UTF-8. The amount is a
// decimal, and the reference one of ISO 11649. It returns "" if the guideline has no code for that.
func GiroCode(holder, iban, bic, amount, reference string) string {
	if _, like, valid := ReadIBAN(iban); !like || !valid || utf8.RuneCountInString(holder) > maxHolder {
		return ""
	}
	text := strings.Join([]string{"BCD", "002", "1", "SCT", bic, holder, iban, "EUR" + amount, "", reference}, "\n")
	if len(text) > maxGiroCode {
		return ""
	}
	return text
}
