package web

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"rsc.io/qr"
)

// Order is what the page of an order shows. Amounts are with their currency; what is
// "" is not shown. One without a Number is the page of a link that opens no order, or,
// if it is Returned, of a payer whom the provider sends back without the order's token.
type Order struct {
	Returned           bool
	Number, Status     string
	Title, When, Where string
	Notices            []string // what has happened to it, and what can be done
	Lines              []OrderLine
	Fees, Total        string
	Tickets            []OrderTicket
	More               string // where the next tickets are; "" for none
	Live               string // where the order is shown with scripts
}

// OrderLine is one line of an order.
type OrderLine struct {
	Name       string
	Quantity   int64
	Price      string // of one; "" for nothing
	Link, Note string // where it is delivered
	When       string // what it would book, until there are tickets
}

// OrderTicket is a ticket of an order. One that no gate admits has neither Payload
// nor Short.
type OrderTicket struct {
	Type, Holder, Seat, Status string
	When                       string // of a reservation
	Payload                    string // of the rotating QR code
	Short                      string // the door code
}

//go:embed order.html
var orderSource string

var orderPage = template.Must(template.New("order").Parse(orderSource))

// OrderPage writes the pages of orders, as plain HTML that needs no script.
type OrderPage struct{ style string }

// NewOrderPage is the page with the style sheet that is among the files.
func NewOrderPage(files []File) (*OrderPage, error) {
	for _, f := range files {
		if strings.HasSuffix(f.Path, "/paper.css") {
			return &OrderPage{f.Path}, nil
		}
	}
	return nil, fmt.Errorf("web: the style sheet of small pages is missing")
}

// Write writes the page of an order.
func (p *OrderPage) Write(w io.Writer, o *Order) error {
	type shown struct {
		OrderTicket
		QR template.URL
	}
	tickets, rotates := make([]shown, len(o.Tickets)), false
	for i, t := range o.Tickets {
		tickets[i].OrderTicket = t
		if t.Payload == "" {
			continue
		}
		code, err := qr.Encode(t.Payload, qr.M)
		if err != nil {
			return fmt.Errorf("web: QR of a ticket: %w", err)
		}
		tickets[i].QR = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG())) //nolint:gosec // our own picture
		rotates = true
	}
	err := orderPage.Execute(w, struct {
		*Order
		Tickets []shown
		Rotates bool
		Waits   bool // for a payment: the page looks again
		Style   string
		Frame   template.HTML
	}{o, tickets, rotates, o.Status == "pending" || o.Status == "processing", p.style, frame})
	if err != nil {
		return fmt.Errorf("web: page of an order: %w", err)
	}
	return nil
}
