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

// Order is what the page of an order shows. Amounts are texts with their currency. The page leaves
// out what is "". An Order without a Number stands for a link that opens no order. If it is also
// Returned, it stands for a payer whom the provider sends back without the order's token: the page
// then tells them to look for our mail.
type Order struct {
	Returned       bool
	German         bool   // the reader prefers German
	Number, Status string // the number of the order, and its status in words
	// Waits says that the order is not paid yet, and is not to be paid by bank transfer. The page then loads itself
	// again.
	Waits              bool
	Title, When, Where string
	Notices            []string       // what has happened to the order, and what the buyer can do
	Transfer           *OrderTransfer // the bank transfer that the order waits for, or nil
	Lines              []OrderLine
	Discount           string // the discount with a minus before it
	Fees, Total        string
	Link, Note         string // where the event takes place online, and what people need there
	Goods              bool   // the tickets are for a product, not for an event
	Tickets            []OrderTicket
	More               string // the address of the page with the next tickets; "" for none
	Live, LiveFor      string // the address of the order's page with scripts, and in words what it is good for
}

// OrderLine is what the page shows of one line of an order.
type OrderLine struct {
	Name       string
	Quantity   int64
	Price      string // the price of one; "" if it costs nothing
	Link, Note string // where the tickets' content is delivered, and what people need there
	When       string // the date that the line books; "" for none, and once there are tickets, which show it
}

// OrderTransfer is the bank transfer that an order waits for, as the payer must make it.
type OrderTransfer struct {
	Holder, Account, BIC, Amount, Reference string // the BIC may be ""
	Until                                   string
	Sent                                    bool   // the buyer has said that the money is sent
	GiroCode                                string // the text of a QR code that banking apps read; "" for no picture
}

// OrderTicket is a ticket of an order. A ticket that no gate admits has neither Payload nor Short,
// so the page can't show a code that would fail at the door.
type OrderTicket struct {
	Type, Holder, Seat, Status string
	When                       string // the date of a reservation
	Payload                    string // the text of the rotating QR code at this moment
	Short                      string // the door code
}

//go:embed order.html
var orderSource string

var orderPage = template.Must(template.New("order").Parse(orderSource))

// OrderPage writes the pages of orders, as plain HTML that needs no script: a buyer whose browser
// runs none must still get in.
type OrderPage struct{ style string }

// NewOrderPage returns the page with the style sheet that is among the files.
func NewOrderPage(files []File) (*OrderPage, error) {
	for _, f := range files {
		if strings.HasSuffix(f.Path, "/paper.css") {
			return &OrderPage{f.Path}, nil
		}
	}
	return nil, fmt.Errorf("web: the style sheet of small pages is missing")
}

// Write writes the page of an order. It draws the QR codes first, because a code that can't be
// drawn must be an error and not half a page.
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
		picture, err := drawCode(t.Payload)
		if err != nil {
			return fmt.Errorf("web: QR of a ticket: %w", err)
		}
		tickets[i].QR = picture
		rotates = true
	}
	var giro template.URL
	if t := o.Transfer; t != nil && t.GiroCode != "" {
		picture, err := drawCode(t.GiroCode)
		if err != nil {
			return fmt.Errorf("web: QR of a transfer: %w", err)
		}
		giro = picture
	}
	err := orderPage.Execute(w, struct {
		*Order
		Words   *OrderWords
		Tickets []shown
		Giro    template.URL
		Rotates bool
		Style   string
		Frame   template.HTML
	}{o, OrderWordsIn(o.German), tickets, giro, rotates, p.style, frameIn(o.German)})
	if err != nil {
		return fmt.Errorf("web: page of an order: %w", err)
	}
	return nil
}

// drawCode draws a QR code as a picture inside the page itself (a data: address), so the page needs
// no second request with a token in it.
func drawCode(text string) (template.URL, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG())), nil //nolint:gosec // our own picture
}
