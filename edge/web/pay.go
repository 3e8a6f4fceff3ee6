package web

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"boxoffice/edge/api"
)

// Pay is what the page of a payment link shows.
type Pay struct {
	German bool             // the reader prefers German
	Token  string           // the token of the link
	Order  *api.LinkedOrder // nil: the link pays for nothing
	// Key is the idempotency key in the page's form. A form that is sent twice has the same key and so begins
	// only one attempt to pay. Each time the page is written, its form gets a new key.
	Key     string
	Refused string // the code of the error with which an attempt to pay could not be opened; "" for none
}

// payPace is how many seconds pass until the page of a payment link loads itself again while the order's money is
// on its way.
const payPace = 25

//go:embed pay.html
var paySource string

var payTemplate = template.Must(template.New("pay").Parse(paySource))

// PayPage writes the pages of payment links as plain HTML that needs no script.
type PayPage struct{ style string }

// NewPayPage returns the page with the style sheet that is among the files.
func NewPayPage(files []File) (*PayPage, error) {
	for _, f := range files {
		if strings.HasSuffix(f.Path, "/paper.css") {
			return &PayPage{f.Path}, nil
		}
	}
	return nil, fmt.Errorf("web: the style sheet of small pages is missing")
}

// shownPay is what the template of a payment link's page shows.
type shownPay struct {
	*Pay
	Words              *payWords
	Says               *OrderWords // the words that this page shares with the page of an order
	Style              string
	Frame              template.HTML
	Head, Hint, Notice string
	Lines              []OrderLine
	Sums               []roomFact
	Ways               []roomFact // the providers with which people may begin to pay, and their names for people
	Open               []shownPayment
	Again              int // seconds until the page loads itself again; 0: it stays
}

// shownPayment is an attempt to pay that was begun before, and that the payer may go on with.
type shownPayment struct {
	api.LinkedPayment
	Way  string       // the name of its provider for people
	Memo string       // the memo or tag that the payer must send with the coins; "" for none
	Sum  string       // the amount of a bank transfer; "" for other payments
	Giro template.URL // the QR code of a bank transfer for banking apps; "" for none
}

// Write writes the page of a payment link. If the link pays for nothing (v.Order is nil), the page says so.
func (p *PayPage) Write(w io.Writer, v *Pay) error {
	words := pays.in(v.German)
	s := &shownPay{Pay: v, Words: words, Says: OrderWordsIn(v.German), Style: p.style, Frame: frameIn(v.German), Head: words.Gone, Hint: words.GoneHint}
	if v.Refused != "" {
		// A refusal without a text of its own gets the general one.
		text, ok := words.refused[v.Refused]
		if !ok {
			text = words.refused[""]
		}
		s.Notice = text
	}
	if v.Order != nil {
		s.tellOrder(v.Order)
		if err := s.tellPayments(v.Order); err != nil {
			return fmt.Errorf("web: QR of a transfer: %w", err)
		}
	}
	if err := payTemplate.Execute(w, s); err != nil {
		return fmt.Errorf("web: page of a payment link: %w", err)
	}
	return nil
}

// tellOrder fills in the order's lines and sums, and a title and a hint for its status.
func (s *shownPay) tellOrder(o *api.LinkedOrder) {
	words := s.Words
	switch o.Status {
	case "pending":
		s.Head, s.Hint = words.Head, fmt.Sprintf(words.Until, o.ExpiresAt.UTC().Format(words.Clock))
	case "processing":
		s.Head, s.Hint = words.OnItsWay, words.OnItsWayHint
	case "paid":
		s.Head, s.Hint = words.Paid, words.PaidHint
	default:
		s.Head, s.Hint = words.Over, words.OverHint
	}
	for _, l := range o.Items {
		s.Lines = append(s.Lines, OrderLine{Name: l.Name, Quantity: l.Quantity, Price: showPrice(l.UnitPrice, o.Currency, s.German)})
	}
	if price := showPrice(o.Discount, o.Currency, s.German); price != "" {
		s.Sums = append(s.Sums, roomFact{words.Discount, "-" + price})
	}
	if price := showPrice(o.Fees, o.Currency, s.German); price != "" {
		s.Sums = append(s.Sums, roomFact{s.Says.Fees, price})
	}
	s.Sums = append(s.Sums, roomFact{s.Says.Total, showPrice(o.Total, o.Currency, s.German)})
}

// tellPayments fills in how the order can be paid, and the attempts that were begun and that the payer may go on
// with. While the order's money is on its way, the page offers no further way to pay, but loads itself again. For
// an order without methods, which nobody can pay, tellPayments fills in nothing.
func (s *shownPay) tellPayments(o *api.LinkedOrder) error {
	if len(o.Methods) == 0 {
		return nil
	}
	if o.Status == "processing" {
		s.Again = payPace
	} else { // A page on which somebody may be choosing must not load itself again.
		for i := range o.Methods {
			provider := o.Methods[i].Provider
			s.Ways = append(s.Ways, roomFact{Name: provider, Value: s.wayOf(provider)})
		}
	}
	for i := range o.Payments {
		p := shownPayment{LinkedPayment: o.Payments[i], Way: s.wayOf(o.Payments[i].Provider)}
		p.Memo = p.PayinExtraID.Value
		if t := p.Transfer; t != nil {
			p.Sum = showPrice(t.Amount, t.Currency, s.German)
			if t.QR != "" {
				var err error
				if p.Giro, err = drawCode(t.QR); err != nil {
					return err
				}
			}
		}
		s.Open = append(s.Open, p)
	}
	return nil
}

// wayOf returns the name of a provider for people. A provider that the words do not name takes cards: its name is
// the word for a card, and in brackets the provider's own name.
func (s *shownPay) wayOf(provider string) string {
	if way, ok := s.Words.wayOf[provider]; ok {
		return way
	}
	return s.Words.Card + " (" + providerNames[provider] + ")"
}
