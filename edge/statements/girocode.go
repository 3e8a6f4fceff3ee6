package statements

import (
	"strings"
	"unicode/utf8"
)

// maxHolder is the most characters of the holder's name in a GiroCode, and maxGiroCode the most
// bytes of its whole text.
const maxHolder, maxGiroCode = 70, 331

// GiroCode returns the text of a QR code from which banking apps fill in a SEPA transfer in euros
// to an IBAN, by the European Payments Council's guideline EPC069-12, version 002, in UTF-8. The
// amount is a decimal number, and the reference is one of ISO 11649. GiroCode returns "" if the
// IBAN is not valid, or if the name or the whole text is too long.
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
