package sales

import (
	"bytes"
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
	"boxoffice/edge/paper/ticket"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// This file makes the files of an order: the PDF of its tickets, and the calendar file.

// maxSheets is the most tickets in one PDF. A request for the next ones sets from.
const maxSheets = 100

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
		s := ticket.Sheet{Language: l, Ticket: t, Event: h.Letters.EventMail(p.Event.Details, &p.Event, p.Org.Name), Order: v.OrderNumber}
		if visit := h.Letters.VisitOf(o, serial, p); visit != nil {
			s.Event.Visits = []mail.Visit{*visit}
		}
		switch {
		case !s.Event.Hall || s.Event.Cancelled: // An online event has no gates, and a cancelled one admits nobody.
		case s.Event.RotatingOnly:
			s.Live = h.BaseURL + "/o/" + o.ID.String()
		default:
			s.Code, s.Short = codes.Printed(serial, o.HolderOf(serial).Version), t.ShortCode
		}
		if err := s.Print(pdf); err != nil {
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
