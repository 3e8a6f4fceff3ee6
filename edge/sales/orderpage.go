package sales

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/edge/web"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// orderPageTickets is how many tickets one page of an order shows.
const orderPageTickets = 50

// orderPageOp is what the page of an order does, for what judges by operations.
var orderPageOp = route.Op{ID: "orderPage", Method: fasthttp.MethodGet, Auth: route.OrderToken, Tier: route.TierPublic}

// OrderPage is what people see who open the link to an order that was mailed.
func (h *Handlers) OrderPage(ctx context.Context, id, token string, from int, now time.Time) (*web.Order, error) {
	order, err := engine.ParseID(id)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	c := route.NewCall(ctx, &orderPageOp, now)
	defer c.End()
	c.Principal = route.Principal{Kinds: route.OrderToken, Token: token}
	o, reader, err := h.Orders.Open(c, id)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(ctx, order.Event())
	if err != nil {
		return nil, err
	}
	v, err := h.Orders.Show(c, o, reader)
	if err != nil {
		return nil, err
	}
	e := h.Letters.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	e.Visits = h.Letters.Visits(o, p)
	out := &web.Order{
		Number: v.OrderNumber, Status: strings.ReplaceAll(v.Status, "_", " "), Title: e.Title, When: e.When(), Where: e.Where(),
		Lines: h.pageLines(o, p), Fees: letters.Amount(o.Fees, o.Currency), Total: letters.Amount(o.Total, o.Currency),
		Live: "/o/" + order.String() + "#" + url.Values{"token": {token}}.Encode(),
	}
	out.Notices = h.noticesOf(o, v, e)
	out.Transfer = pageTransfer(o, v, p.Event.Details.Timezone)
	from = min(max(from, 0), len(v.Tickets))
	shown := v.Tickets[from:min(from+orderPageTickets, len(v.Tickets))]
	for i := range shown {
		t := pageTicket(&shown[i], e.Hall && !e.Cancelled)
		if visit := h.Letters.VisitOf(o, o.FirstTicket+uint32(from+i), p); visit != nil { //nolint:gosec // an order's ticket
			t.When = visit.When()
		}
		out.Tickets = append(out.Tickets, t)
	}
	if next := from + len(shown); next < len(v.Tickets) {
		out.More = "/orders/" + order.String() + "?" + url.Values{"token": {token}, "from": {strconv.Itoa(next)}}.Encode()
	}
	return out, nil
}

// noticesOf are what has happened to an order since it was placed, and what its buyer can do: each a
// paragraph.
func (h *Handlers) noticesOf(o *order.Order, v *api.Order, e *mail.Event) (notices []string) {
	switch o.Status {
	case order.StatusCancelled, order.StatusExpired, order.StatusFailed:
		notices = append(notices, "This order is "+o.Status+". It has no tickets. If money of yours arrives for it, it goes back to you.")
	case order.StatusRefunded:
		notices = append(notices, "This order was refunded.")
	case order.StatusPartiallyRefunded:
		notices = append(notices, "A part of this order was refunded.")
	}
	if o.Sold() && o.IsAllGivenBack() {
		notices = append(notices, "Its tickets admit nobody any more.")
	}
	if e.Cancelled {
		notices = append(notices, e.Title+" is cancelled: it does not take place, and no ticket of it admits anybody.")
		mayAsk := func(t api.Ticket) bool { return t.RefundEligible != nil && *t.RefundEligible }
		if o.Total > 0 && slices.ContainsFunc(v.Tickets, mayAsk) {
			notices = append(notices, "You may ask for your money back, whatever the terms said when you bought: sign in with the address of this order and ask for the refund of each ticket, at "+h.Letters.RefundsURL()+". What goes back by itself needs no request.")
		}
	}
	for i := range v.Refunds {
		r := &v.Refunds[i]
		notices = append(notices, "Refund of "+r.Amount+" "+r.Currency+": "+r.Status+".")
	}
	return notices
}

// pageTransfer is the bank transfer that an order waits for, with its moments on the clocks of a zone; nil if
// it waits for none.
func pageTransfer(o *order.Order, v *api.Order, zone string) *web.OrderTransfer {
	i := slices.IndexFunc(v.Payments, func(p api.Payment) bool { return p.Transfer != nil })
	if i < 0 || !o.Unpaid() {
		return nil
	}
	t := v.Payments[i].Transfer
	return &web.OrderTransfer{
		Holder: t.Holder, Account: t.Account, BIC: t.BIC, Amount: t.Amount + " " + t.Currency, Reference: t.Reference,
		Until: letters.Moment(o.ExpiresAt, zone), GiroCode: t.QR,
	}
}

// pageLines are the lines of an order; those of a completed one of which the buyer still has tickets
// say where they are delivered.
func (h *Handlers) pageLines(o *order.Order, p *live.Page) []web.OrderLine {
	lines := make([]web.OrderLine, len(o.Lines))
	for i := range o.Lines {
		l := &o.Lines[i]
		lines[i] = web.OrderLine{Name: l.Name, Quantity: l.Quantity, Price: letters.Amount(l.UnitPrice, o.Currency)}
		if l.Visit != nil && !o.Sold() {
			lines[i].When = h.Letters.VisitMail(o, l.Visit, p).When()
		}
		t := slices.IndexFunc(p.Types, func(t readmodel.TicketType) bool { return t.Ref.ID == l.Type })
		if t >= 0 && o.Status == order.StatusCompleted && o.OwnsOfLine(i) {
			lines[i].Link, lines[i].Note = h.Letters.Delivery(p.Event.Details, &p.Types[t].Details)
		}
	}
	return lines
}

// pageTicket is a ticket as the page shows it; with what admits it, if a gate does.
func pageTicket(t *api.Ticket, gated bool) web.OrderTicket {
	v := web.OrderTicket{Type: t.TierName, Status: strings.ReplaceAll(t.Status, "_", " ")}
	if t.Holder != nil && t.Holder.Name != nil {
		v.Holder = *t.Holder.Name
	}
	if s := t.Seat; s != nil {
		var parts []string
		for _, part := range []struct{ word, text string }{{"", s.Section}, {"row ", s.Row}, {"seat ", cmp.Or(s.Label, s.ID)}} {
			if part.text != "" {
				parts = append(parts, part.word+part.text)
			}
		}
		v.Seat = strings.Join(parts, ", ")
	}
	if gated && t.Status == "issued" {
		v.Payload, v.Short = t.QR, t.ShortCode
	}
	return v
}
