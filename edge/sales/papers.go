package sales

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/orders"
	"boxoffice/edge/paper"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// This file makes the files of an order: the PDF of its tickets, and the calendar file.

// maxSheets is the most tickets in one PDF. A request for the next ones sets from.
const maxSheets = 100

// These are the measures of a ticket's page, in millimetres.
const (
	sheetWidth  = 210.0
	sheetMargin = 20.0
	sheetCode   = 70.0 // the side of the QR code
)

// printTickets answers with a PDF that has a page for each ticket of the order that is valid, or checked in, and whose
// codes the reader may see. It leaves out the first in.From of these, and prints at most maxSheets of the others. It
// is a CONFLICT if there are none.
func (h *Handlers) printTickets(c *route.Call, in *api.PrintTickets) (*route.Content, error) {
	o, reader, p, err := h.soldOrder(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	v, err := h.Orders.Show(c, o, reader)
	if err != nil {
		return nil, err
	}
	l, err := h.Letters.ReaderLanguage(c.Context, c.Languages, o)
	if err != nil {
		return nil, err
	}
	var sheets []*api.Ticket
	for i := range v.Tickets {
		t := &v.Tickets[i]
		if (t.Status == "issued" || t.Status == "checked_in") && reader.Sees(o, o.FirstTicket+uint32(i)).Codes {
			sheets = append(sheets, t)
		}
	}
	sheets = sheets[min(in.From, int64(len(sheets))):]
	if len(sheets) == 0 {
		return nil, engine.Refuse(engine.Conflict, ledger.OrderState{Status: o.Status, Reason: "the order has no such tickets to print"})
	}
	pdf := paper.New("P", time.UnixMilli(o.EndedAt))
	codes := h.Secrets.Event(o.ID.Event())
	for _, t := range sheets[:min(len(sheets), maxSheets)] {
		id, err := engine.ParseID(t.ID)
		if err != nil {
			return nil, err
		}
		serial, _ := codes.FromTicketID(id)
		s := sheet{language: l, ticket: t, event: h.Letters.EventMail(p.Event.Details, &p.Event, p.Org.Name), number: v.OrderNumber}
		if visit := h.Letters.VisitOf(o, serial, p); visit != nil {
			s.event.Visits = []mail.Visit{*visit}
		}
		if s.event.Cancelled {
			s.over = s.words().over
		} else if s.event.Hall && !s.event.RotatingOnly {
			s.code, s.short = codes.Printed(serial, o.HolderOf(serial).Version), t.ShortCode
		} else if s.event.Hall {
			s.live = h.BaseURL + "/o/" + o.ID.String()
		}
		if err := s.print(pdf); err != nil {
			return nil, err
		}
	}
	file, err := pdf.Bytes()
	if err != nil {
		return nil, err
	}
	return wholeFile("application/pdf", v.OrderNumber+".pdf", file), nil
}

// getCalendar answers with a calendar file of the order's event, or of the visits that the order has booked. It is
// NOT_FOUND if the order is for no date.
func (h *Handlers) getCalendar(c *route.Call, in *api.OrderByToken) (*route.Content, error) {
	o, _, p, err := h.soldOrder(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	l, err := h.Letters.ReaderLanguage(c.Context, c.Languages, o)
	if err != nil {
		return nil, err
	}
	file := h.Letters.OrderEvent(o, p).Calendar(l)
	if file == nil {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "The order is for no date."}
	}
	return wholeFile("text/calendar; charset=utf-8", secrets.OrderNumber(o.ID)+".ics", file.Body), nil
}

// soldOrder opens an order and its event's page. It refuses an order that was not sold and so has no tickets.
func (h *Handlers) soldOrder(c *route.Call, id, token string) (*order.Order, orders.Reader, *live.Page, error) {
	o, reader, err := h.Orders.Open(c, id, token)
	if err != nil {
		return nil, reader, nil, err
	}
	if !o.Sold() {
		return nil, reader, nil, engine.Refuse(engine.Conflict, ledger.OrderState{Status: o.Status, Reason: "the order has no tickets"})
	}
	p, err := h.Pages.Event(c.Context, o.ID.Event())
	return o, reader, p, err
}

// wholeFile makes an answer from a file that is in memory.
func wholeFile(mediaType, name string, file []byte) *route.Content {
	return &route.Content{
		Type: mediaType, Name: name, Size: int64(len(file)), Tag: tagOf(file), At: time.Now(), Cache: "private, no-store",
		Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(file[offset : offset+length])), nil
		},
	}
}

// tagOf returns an entity tag, by which a client knows whether it has the file.
func tagOf(file []byte) string {
	sum := sha256.Sum256(file)
	return strconv.Quote(hex.EncodeToString(sum[:16]))
}

// sheet is a ticket on paper.
type sheet struct {
	language    mail.Language
	ticket      *api.Ticket
	event       *mail.Event
	number      string // the number of the order
	code, short string // the printed payload and the door code; "" if no gate accepts this ticket on paper
	live        string // the address that shows the rotating code, if the gates accept only that; else ""
	over        string // why the ticket admits nobody; "" if it is valid
}

// sheetWords are the words of a ticket on paper in one language.
type sheetWords struct {
	when, where, ticket, holder, section, row, seat, organizer, order string
	door, live, over                                                  string
}

var sheetTexts = map[mail.Language]*sheetWords{
	mail.English: {
		"When", "Where", "Ticket", "Holder", "Section", "Row", "Seat", "Organizer", "Order",
		"Door code", "The door takes no code on paper. Show the live ticket of your order: ", "Cancelled: it does not take place, and this ticket admits nobody.",
	},
	mail.German: {
		"Wann", "Wo", "Karte", "Für", "Bereich", "Reihe", "Platz", "Veranstalter", "Bestellung",
		"Türcode", "Der Einlass nimmt keinen Code auf Papier. Zeige die Karte in deiner Bestellung: ", "Abgesagt: Es findet nicht statt, und diese Karte gilt für niemanden.",
	},
}

func (s *sheet) words() *sheetWords { return sheetTexts[s.language] }

// rows returns the lines of the ticket, each with its label and its text; a text may be empty.
func (s *sheet) rows() [][2]string {
	t, w := s.ticket, s.words()
	rows := [][2]string{{w.when, s.event.When(s.language)}, {w.where, s.event.Where(s.language)}, {w.ticket, t.TierName}}
	if t.Holder != nil && t.Holder.Name != nil {
		rows = append(rows, [2]string{w.holder, *t.Holder.Name})
	}
	if at := t.Seat; at != nil {
		rows = append(rows, [2]string{w.section, at.Section}, [2]string{w.row, at.Row}, [2]string{w.seat, cmp.Or(at.Label, at.ID)})
	}
	return append(rows, [2]string{w.organizer, s.event.Organizer}, [2]string{w.order, s.number})
}

// These are the styles of the texts on a ticket's page.
var (
	sheetTitle = paper.Style{Size: 24, Bold: true, Color: paper.Color{R: 20, G: 20, B: 30}, Lines: 5}
	sheetWord  = paper.Style{Size: 9, Color: paper.Color{R: 110, G: 110, B: 120}}
	sheetText  = paper.Style{Size: 12, Color: paper.Color{R: 20, G: 20, B: 30}, Lines: 3}
	sheetOver  = paper.Style{Size: 14, Bold: true, Color: paper.Color{R: 180, G: 20, B: 30}, Lines: 2}
	sheetShort = paper.Style{Size: 18, Bold: true, Color: paper.Color{R: 20, G: 20, B: 30}}
)

// print adds the ticket's page: the title, why the ticket admits nobody (if it doesn't), and its rows. If gates accept
// the ticket on paper, the QR code and the door code follow; otherwise the page only has the address that shows the
// live code, if there is one.
func (s *sheet) print(pdf *paper.Paper) error {
	const width, words = sheetWidth - 2*sheetMargin, 28.0
	pdf.AddPage()
	y := pdf.Write(s.event.Title, sheetMargin, sheetMargin, width, sheetTitle) + 6
	if s.over != "" {
		y = pdf.Write(s.over, sheetMargin, y, width, sheetOver) + 6
	}
	for _, row := range s.rows() {
		if row[1] == "" {
			continue
		}
		pdf.Write(row[0], sheetMargin, y+1, words, sheetWord)
		y = pdf.Write(row[1], sheetMargin+words, y, width-words, sheetText) + 1.5
	}
	y += 8
	if s.code == "" {
		if s.live != "" {
			pdf.Write(s.words().live+s.live, sheetMargin, y, width, sheetText)
		}
		return nil
	}
	if err := pdf.QR(s.code, sheetMargin, y, sheetCode); err != nil {
		return err
	}
	y += sheetCode + 4
	pdf.Write(s.words().door, sheetMargin, y+2, words, sheetWord)
	pdf.Write(s.short, sheetMargin+words, y, width-words, sheetShort)
	return nil
}
