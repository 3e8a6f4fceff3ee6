package sales

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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

// OrderPage is what people see who open the link to an order that was mailed, in the first of languages
// (as in Accept-Language) that we have.
func (h *Handlers) OrderPage(ctx context.Context, id, token string, from int, languages string, now time.Time) (*web.Order, error) {
	number, err := engine.ParseID(id)
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
	p, err := h.Pages.Event(ctx, number.Event())
	if err != nil {
		return nil, err
	}
	v, err := h.showWaiting(c, o, reader)
	if err != nil {
		return nil, err
	}
	l, err := h.Letters.ReaderLanguage(ctx, languages, o)
	if err != nil {
		return nil, err
	}
	words := web.OrderWordsIn(l == mail.German)
	e := h.Letters.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	e.Visits = h.Letters.Visits(o, p)
	out := &web.Order{
		German: l == mail.German, Number: v.OrderNumber, Status: cmp.Or(words.OrderOf[v.Status], v.Status), Waits: v.Status == order.StatusPending || v.Status == order.StatusProcessing,
		Title: e.Title, When: e.When(l), Where: e.Where(l),
		Lines: h.pageLines(o, p, l), Fees: letters.Amount(o.Fees, o.Currency, l), Total: letters.Amount(o.Total, o.Currency, l),
		Live: "/o/" + number.String() + "#" + url.Values{"token": {token}}.Encode(),
	}
	out.Notices = h.noticesOf(o, v, e, l)
	out.Transfer = pageTransfer(o, v, p.Event.Details.Timezone, l)
	out.Waits = out.Waits && out.Transfer == nil
	from = min(max(from, 0), len(v.Tickets))
	shown := v.Tickets[from:min(from+orderPageTickets, len(v.Tickets))]
	for i := range shown {
		t := pageTicket(&shown[i], e.Hall && !e.Cancelled, l)
		if visit := h.Letters.VisitOf(o, o.FirstTicket+uint32(from+i), p); visit != nil { //nolint:gosec // an order's ticket
			t.When = visit.When(l)
		}
		out.Tickets = append(out.Tickets, t)
	}
	if next := from + len(shown); next < len(v.Tickets) {
		out.More = "/orders/" + number.String() + "?" + url.Values{"token": {token}, "from": {strconv.Itoa(next)}}.Encode()
	}
	return out, nil
}

// noticesOf are what has happened to an order since it was placed, and what its buyer can do: each a
// paragraph.
func (h *Handlers) noticesOf(o *order.Order, v *api.Order, e *mail.Event, l mail.Language) (notices []string) {
	words := web.OrderWordsIn(l == mail.German)
	if said := words.NoticeOf[o.Status]; said != "" {
		notices = append(notices, said)
	}
	if o.Sold() && o.IsAllGivenBack() {
		notices = append(notices, words.AdmitsNobody)
	}
	if e.Cancelled {
		notices = append(notices, fmt.Sprintf(words.Cancelled, e.Title))
		if e.CancelReason != "" {
			notices = append(notices, fmt.Sprintf(words.Why, e.CancelReason))
		}
		mayAsk := func(t api.Ticket) bool { return t.RefundEligible != nil && *t.RefundEligible }
		if o.Total > 0 && slices.ContainsFunc(v.Tickets, mayAsk) {
			notices = append(notices, fmt.Sprintf(words.AskMoney, h.Letters.RefundsURL()))
		}
	}
	for i := range v.Refunds {
		r := &v.Refunds[i]
		amount := mail.Money{Amount: r.Amount, Currency: r.Currency}
		notices = append(notices, fmt.Sprintf(words.Refund, amount.In(l), cmp.Or(words.RefundOf[r.Status], r.Status)))
	}
	return notices
}

// pageTransfer is the bank transfer that an order waits for, with its moments on the clocks of a zone; nil if
// it waits for none.
func pageTransfer(o *order.Order, v *api.Order, zone string, l mail.Language) *web.OrderTransfer {
	i := slices.IndexFunc(v.Payments, func(p api.Payment) bool { return p.Transfer != nil })
	if i < 0 || !o.Unpaid() {
		return nil
	}
	t := v.Payments[i].Transfer
	return &web.OrderTransfer{
		Holder: t.Holder, Account: t.Account, BIC: t.BIC, Amount: mail.Money{Amount: t.Amount, Currency: t.Currency}.In(l), Reference: t.Reference,
		Sent: t.SentAt != nil, Until: letters.Moment(o.ExpiresAt, zone, l), GiroCode: t.QR,
	}
}

// pageLines are the lines of an order; of a completed one only lines whose tickets the buyer still has
// say where they are delivered.
func (h *Handlers) pageLines(o *order.Order, p *live.Page, language mail.Language) []web.OrderLine {
	lines := make([]web.OrderLine, len(o.Lines))
	for i := range o.Lines {
		l := &o.Lines[i]
		lines[i] = web.OrderLine{Name: l.Name, Quantity: l.Quantity, Price: letters.Amount(l.UnitPrice, o.Currency, language)}
		if l.Visit != nil && !o.Sold() {
			lines[i].When = h.Letters.VisitMail(o, l.Visit, p).When(language)
		}
		t := slices.IndexFunc(p.Types, func(t readmodel.TicketType) bool { return t.Ref.ID == l.Type })
		if t >= 0 && o.Status == order.StatusCompleted && o.OwnsOfLine(i) {
			lines[i].Link, lines[i].Note = h.Letters.Delivery(p.Event.Details, &p.Types[t].Details)
		}
	}
	return lines
}

// pageTicket is a ticket as the page shows it; with what admits it, if a gate does.
func pageTicket(t *api.Ticket, gated bool, l mail.Language) web.OrderTicket {
	v := web.OrderTicket{Type: t.TierName, Status: cmp.Or(web.OrderWordsIn(l == mail.German).TicketOf[t.Status], t.Status)}
	if t.Holder != nil && t.Holder.Name != nil {
		v.Holder = *t.Holder.Name
	}
	if s := t.Seat; s != nil {
		v.Seat = mail.Seat(l, s.Section, s.Row, cmp.Or(s.Label, s.ID))
	}
	if gated && t.Status == "issued" {
		v.Payload, v.Short = t.QR, t.ShortCode
	}
	return v
}
