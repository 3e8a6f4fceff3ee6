package mail

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Language is a language that mails are written in. The zero value is English.
type Language int

// These are the languages there are mails in.
const (
	English Language = iota
	German
)

// Languages are all languages there are mails in, by number.
var Languages = []Language{English, German}

var (
	tags    = []language.Tag{language.English, language.German}
	matcher = language.NewMatcher(tags)
)

// String returns the language's tag in BCP 47, such as "de".
func (l Language) String() string { return tags[l].String() }

// maxPreference is the most bytes of a preference that ReadLanguage accepts.
const maxPreference = 256

// ReadLanguage returns the language of ours that somebody prefers most. preference is a tag of BCP 47 or a
// header Accept-Language (RFC 9110, 12.5.4). ok is false, with English, if we have none of the preferred
// languages, or if the preference is empty, is too long or can't be parsed.
func ReadLanguage(preference string) (l Language, ok bool) {
	if preference == "" || len(preference) > maxPreference {
		return English, false
	}
	preferred, weights, err := language.ParseAcceptLanguage(preference)
	if err != nil {
		return English, false
	}
	for i, tag := range preferred {
		if weights[i] == 0 || tag == language.Und {
			continue // A weight of 0 excludes a language. "*" is read as the undetermined language.
		}
		if _, at, sure := matcher.Match(tag); sure > language.Low {
			return Language(at), true
		}
	}
	return English, false
}

// Money is an amount. The zero value is no money.
type Money struct {
	Amount   string // a decimal with the places of its currency, such as 1250.00
	Currency string // ISO 4217
}

// In writes the amount as people write it in the language, with the currency's sign; "" for no money.
func (m Money) In(l Language) string { return wordsOf[l].showMoney(m) }

// words holds what Go code needs to write dates, amounts and short phrases in a language. The texts of mails
// are in the templates.
type words struct {
	printer    *message.Printer
	decimal    string // separates the decimal places from the whole number
	signFirst  bool   // the sign of a currency stands before the amount; otherwise after it
	months     [12]string
	weekdays   [7]string // from Sunday on
	date       string    // a format for the day of the month, the month's name and the year
	oClock     string    // follows a time of day; "" for nothing
	online     string    // the place of an event that takes place online only
	alsoOnline string    // follows the place of an event that takes place there and online
	row, seat  string    // precede a row's and a seat's label
	more       string    // a format for how many items of a list are left out
	fees       string    // a format for a total and the fees in it
	somebody   string    // names the person who passed a ticket on, if we know no name
	label      int       // the least width of the labels in a mail's text, in characters
	// zones are the language's abbreviations of time zones, by the English ones from which they differ.
	zones map[string]string
	// disputes are the reasons of disputed payments, by Stripe's and PayPal's words for them in lower case. A
	// missing reason is shown in the provider's word. The organizer's page says the same (reasons.de.json).
	disputes map[string]string
	at       string // replaces "@" in an address, so that a mail program makes no link of the address
}

var english = words{
	printer: message.NewPrinter(language.English), decimal: ".", signFirst: true,
	months:   [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	weekdays: [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	date:     "%d %s %d",
	online:   "Online", alsoOnline: ", and online", row: "row ", seat: "seat ",
	more: "and %d more", fees: "%s, fees of %s included", somebody: "Somebody", at: " at ", label: 7,
}

var german = words{
	printer: message.NewPrinter(language.German), decimal: ",",
	months:   [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
	weekdays: [7]string{"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
	date:     "%d. %s %d", oClock: " Uhr",
	online: "Online", alsoOnline: ", und online", row: "Reihe ", seat: "Platz ",
	more: "und %d weitere", fees: "%s, darin %s Gebühren", somebody: "Jemand", at: " (at) ", label: 9,
	zones: map[string]string{"CET": "MEZ", "CEST": "MESZ", "EET": "OEZ", "EEST": "OESZ", "WET": "WEZ", "WEST": "WESZ"},
	disputes: map[string]string{
		"bank_cannot_process": "Die Bank kann die Zahlung nicht ausführen", "check_returned": "Der Scheck kam zurück", "credit_not_processed": "Eine Erstattung blieb aus",
		"customer_initiated": "vom Kunden verlangt", "debit_not_authorized": "Die Lastschrift war nicht erlaubt", "duplicate": "doppelt abgebucht", "fraudulent": "Betrug", "general": "allgemein",
		"incorrect_account_details": "falsche Kontodaten", "insufficient_funds": "Das Konto war nicht gedeckt", "noncompliant": "gegen die Regeln des Kartennetzes",
		"product_not_received": "nicht erhalten", "product_unacceptable": "nicht wie beschrieben", "subscription_canceled": "Das Abo war gekündigt", "unrecognized": "nicht erkannt",
		"merchandise_or_service_not_received": "nicht erhalten", "merchandise_or_service_not_as_described": "nicht wie beschrieben", "unauthorised": "nicht erlaubt",
		"duplicate_transaction": "doppelt abgebucht", "incorrect_amount": "falscher Betrag", "payment_by_other_means": "anders bezahlt", "canceled_recurring_billing": "Das Abo war gekündigt",
		"problem_with_remittance": "Ein Problem mit der Überweisung", "other": "ein anderer",
	},
}

// wordsOf has the words of each language, by its number.
var wordsOf = [...]*words{&english, &german}

// clock is the layout of a time of day.
const clock = "15:04"

// Somebody returns the word for a person whose name we don't know, with a capital letter.
func Somebody(l Language) string { return wordsOf[l].somebody }

// showMoney writes an amount with the sign of its currency, as our pages write it in this language. It
// returns "" for no money.
func (w *words) showMoney(m Money) string {
	if m.Amount == "" {
		return ""
	}
	amount, isNegative := strings.CutPrefix(m.Amount, "-")
	amount, sign := w.showDecimal(amount), w.signOf(m.Currency)
	last, _ := utf8.DecodeLastRuneInString(sign)
	switch {
	case !w.signFirst:
		amount += noBreak + sign
	case unicode.IsSymbol(last):
		amount = sign + amount
	default: // The sign ends with a letter, which needs a space before the digits.
		amount = sign + noBreak + amount
	}
	if isNegative {
		return "-" + amount
	}
	return amount
}

// noBreak is a space at which no line is broken.
const noBreak = "\u00a0"

// signOf returns the shortest sign of a currency, such as $ for every dollar, or its code if it has none.
func (w *words) signOf(code string) string {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return code // the library's table is older than the currency
	}
	if sign := w.printer.Sprint(currency.NarrowSymbol(unit)); sign != code {
		return sign
	}
	return w.printer.Sprint(currency.Symbol(unit))
}

// showDecimal writes a decimal, which must not be negative, with the language's separators.
func (w *words) showDecimal(decimal string) string {
	whole, places, isBroken := strings.Cut(decimal, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = w.printer.Sprint(n)
	}
	if isBroken {
		whole += w.decimal + places
	}
	return whole
}

// showDispute translates the provider's word for why a payment is disputed. It shows an unknown word as it
// is, with spaces for underscores.
func (w *words) showDispute(reason string) string {
	if known := w.disputes[strings.ToLower(reason)]; known != "" {
		return known
	}
	return cleanLabel(strings.ReplaceAll(reason, "_", " "))
}

// showPerson writes a name or an e-mail address so that no mail program makes a link of it.
func (w *words) showPerson(name string) string {
	return cleanLabel(strings.ReplaceAll(name, "@", w.at))
}

// showDate writes a day without its weekday.
func (w *words) showDate(at time.Time) string {
	return fmt.Sprintf(w.date, at.Day(), w.months[at.Month()-1], at.Year())
}

// showDay writes a day with its weekday.
func (w *words) showDay(at time.Time) string {
	return w.weekdays[at.Weekday()] + ", " + w.showDate(at)
}

// showTime writes the time of day. If the clocks show it twice on that day, it adds the offset from UTC.
func (w *words) showTime(at time.Time) string {
	if isAmbiguous(at) {
		return at.Format(clock) + " UTC" + at.Format("-07:00")
	}
	return at.Format(clock)
}

// Moment writes a time in its own time zone, with the zone's abbreviation. It returns "" for the zero time.
func Moment(l Language, at time.Time) string { return wordsOf[l].showMoment(at) }

// showMoment does what Moment does.
func (w *words) showMoment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	zone := at.Format("MST")
	zone = cmp.Or(w.zones[zone], zone)
	if w.oClock != "" {
		zone = "(" + zone + ")"
	}
	return w.showDate(at) + ", " + at.Format(clock) + w.oClock + " " + zone
}

// showSpan writes the time from start to end, or start alone if end is zero, with the name of start's zone.
func (w *words) showSpan(start, end time.Time) string {
	s, last := w.showDay(start)+", "+w.showTime(start), start
	switch {
	case end.IsZero():
	case sameDay(start, end):
		s, last = s+" – "+w.showTime(end), end
	default:
		s, last = s+" – "+w.showDay(end)+", "+w.showTime(end), end
	}
	if !isAmbiguous(last) {
		s += w.oClock
	}
	return s + " (" + start.Location().String() + ")"
}

func sameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }
