package sales

import (
	"cmp"
	"context"
	"fmt"
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
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// orderPageTickets is how many tickets one page of an order shows.
const orderPageTickets = 50

// orderPageOp is the operation in the calls of the order's page: a Call needs an operation, and the page is no row of
// the route table.
var orderPageOp = route.Op{ID: "orderPage", Method: fasthttp.MethodGet, Auth: route.OrderToken, Tier: route.TierPublic}

// OrderPage returns the contents of the page that the mailed link to an order opens. from is the index of the
// first ticket to show. languages is the reader's Accept-Language header.
func (h *Handlers) OrderPage(ctx context.Context, id, token string, from int, languages string, now time.Time) (*web.Order, error) {
	number, err := engine.ParseID(id)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	c := route.NewCall(ctx, &orderPageOp, now)
	defer c.End()
	c.Principal = route.Principal{Kinds: route.OrderToken, Token: token}
	return h.readPage(c, number, from, languages)
}

// readPage returns the contents of the page for a call with the order's token.
func (h *Handlers) readPage(c *route.Call, number engine.OrderID, from int, languages string) (*web.Order, error) {
	token := c.Principal.Token
	o, reader, err := h.Orders.Open(c, number.String())
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, number.Event())
	if err != nil {
		return nil, err
	}
	v, err := h.showWaiting(c, o, reader)
	if err != nil {
		return nil, err
	}
	l, err := h.Letters.ReaderLanguage(c.Context, languages, o)
	if err != nil {
		return nil, err
	}
	words := web.OrderWordsIn(l == mail.German)
	e := h.Letters.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	e.Visits = h.Letters.Visits(o, p)
	out := &web.Order{
		German: l == mail.German, Number: v.OrderNumber, Status: cmp.Or(words.OrderOf[v.Status], v.Status), Waits: v.Status == order.StatusPending || v.Status == order.StatusProcessing,
		Title: e.Title, When: e.When(l), Where: e.Where(l),
		Lines: h.pageLines(o, p, l), Goods: e.Digital, Fees: letters.Amount(o.Fees, o.Currency, l), Total: letters.Amount(o.Total, o.Currency, l),
		Live: "/o/" + number.String() + "#" + url.Values{"token": {token}}.Encode(),
	}
	if o.Discount != 0 {
		out.Discount = "−" + letters.Amount(o.Discount, o.Currency, l)
	}
	out.Notices = h.noticesOf(o, v, e, l)
	out.Transfer = pageTransfer(o, v, p.Event.Details.Timezone, l)
	out.Waits = out.Waits && out.Transfer == nil
	holds := buyerHas(o, v, isGood)
	out.LiveFor = liveFor(o, e, holds, words)
	out.Notices = append(out.Notices, h.deadlinesOf(o, v, p, l, c.Now)...)
	if holds && !e.Cancelled {
		out.Link, out.Note = e.Link, e.Note
	}
	from = min(max(from, 0), len(v.Tickets))
	shown := v.Tickets[from:min(from+orderPageTickets, len(v.Tickets))]
	for i := range shown {
		serial := o.FirstTicket + uint32(from+i) //nolint:gosec // an order's ticket
		t := pageTicket(&shown[i], o.IsOwnedBy(o.Email, serial), e, l)
		if visit := h.Letters.VisitOf(o, serial, p); visit != nil {
			t.When = visit.When(l)
		}
		out.Tickets = append(out.Tickets, t)
	}
	if next := from + len(shown); next < len(v.Tickets) {
		out.More = "/orders/" + number.String() + "?" + url.Values{"token": {token}, "from": {strconv.Itoa(next)}}.Encode()
	}
	return out, nil
}

// noticesOf returns paragraphs on what has happened to an order since it was placed, and what its buyer can do:
// on its status, on tickets that admit nobody any more, on a cancelled event with the reason and how to ask for
// money, and on each refund with the organizer's reason for a denial. There is none on a granted return of a
// ticket that cost nothing.
func (h *Handlers) noticesOf(o *order.Order, v *api.Order, e *mail.Event, l mail.Language) (notices []string) {
	words := web.OrderWordsIn(l == mail.German)
	if said := words.NoticeOf[o.Status]; said != "" {
		notices = append(notices, said)
	}
	admitsNobody, cancelled := words.AdmitsNobody, words.Cancelled
	if e.Digital {
		admitsNobody, cancelled = words.NoGoods, words.NotSold
	}
	if o.Sold() && o.IsAllGivenBack() {
		notices = append(notices, admitsNobody)
	}
	if e.Cancelled {
		notices = append(notices, fmt.Sprintf(cancelled, e.Title))
		if e.CancelReason != "" {
			notices = append(notices, fmt.Sprintf(words.Why, e.CancelReason))
		}
		if e.Digital && buyerHas(o, v, mayBeGivenBack) {
			notices = append(notices, words.StaysYours)
		}
		if o.Total > 0 && buyerHas(o, v, mayBeGivenBack) {
			notices = append(notices, fmt.Sprintf(words.AskMoney, h.Letters.RefundsURL()))
		}
	}
	for i := range v.Refunds {
		r := &v.Refunds[i]
		status := cmp.Or(words.RefundOf[r.Status], r.Status)
		switch {
		case strings.Trim(r.Amount, "0.") != "":
			notices = append(notices, fmt.Sprintf(words.Refund, mail.Money{Amount: r.Amount, Currency: r.Currency}.In(l), status))
		case r.Status == "requested" || r.Status == "denied" || r.Status == "cancelled":
			notices = append(notices, fmt.Sprintf(words.Return, status))
		default: // of a ticket that cost nothing: the ticket itself says that it was given back
		}
		if r.Status == "denied" && r.DecisionNote != nil {
			notices = append(notices, fmt.Sprintf(words.Why, *r.DecisionNote))
		}
	}
	return notices
}

// deadlinesOf returns paragraphs on what the buyer can do until some moment: pay the order (unless by bank transfer,
// see pageTransfer), withdraw from it, or give tickets back because the event has moved.
func (h *Handlers) deadlinesOf(o *order.Order, v *api.Order, p *live.Page, l mail.Language, now time.Time) (notices []string) {
	words := web.OrderWordsIn(l == mail.German)
	moment := func(ms int64) string { return letters.Moment(ms, p.Event.Details.Timezone, l) }
	byTransfer := slices.ContainsFunc(v.Payments, func(p api.Payment) bool { return p.Transfer != nil })
	if o.Status == order.StatusPending && !byTransfer && o.ExpiresAt != 0 {
		notices = append(notices, fmt.Sprintf(words.Unpaid, moment(o.ExpiresAt)))
	}
	if until := o.WithdrawableUntil(); now.UnixMilli() < until && buyerHas(o, v, isGood) {
		notices = append(notices, fmt.Sprintf(words.Withdraw, moment(until)))
	}
	until := p.Event.Details.MoneyBackUntil(o.EndedAt)
	if !o.Sold() || p.Event.Status == event.StatusCancelled || now.UnixMilli() >= until || !buyerHas(o, v, mayBeGivenBack) {
		return notices
	}
	if o.Total == 0 {
		return append(notices, fmt.Sprintf(words.MovedFree, moment(until), h.Letters.RefundsURL()))
	}
	return append(notices, fmt.Sprintf(words.Moved, moment(until), h.Letters.RefundsURL()))
}

// buyerHas reports whether has is true for one of the order's tickets that the buyer still owns.
func buyerHas(o *order.Order, v *api.Order, has func(t *api.Ticket) bool) bool {
	for i := range v.Tickets {
		if o.IsOwnedBy(o.Email, o.FirstTicket+uint32(i)) && has(&v.Tickets[i]) { //nolint:gosec // an order's ticket
			return true
		}
	}
	return false
}

func isGood(t *api.Ticket) bool { return t.Status == "issued" || t.Status == "checked_in" }

// mayBeGivenBack reports whether the buyer may ask now to give the ticket back, for its money if it cost any.
func mayBeGivenBack(t *api.Ticket) bool { return t.RefundEligible != nil && *t.RefundEligible }

// liveFor returns, in words, what a buyer can do on the order's page with scripts. holds says that the buyer has
// valid tickets.
func liveFor(o *order.Order, e *mail.Event, holds bool, words *web.OrderWords) string {
	switch {
	case o.Unpaid():
		return words.Pay
	case !holds || e.Cancelled && !e.Digital:
		return words.All
	case e.Course:
		return words.Begin
	case e.Digital:
		return words.Open
	default:
		return words.Show
	}
}

// pageTransfer returns the bank transfer that an order waits for, with its last moment in the given zone, or nil if
// the order waits for none.
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

// pageLines returns the lines of an order. Until the order is sold, a line says when its visit is. Afterwards
// it says where its goods are delivered, if the buyer still has one of its tickets.
func (h *Handlers) pageLines(o *order.Order, p *live.Page, language mail.Language) []web.OrderLine {
	lines := make([]web.OrderLine, len(o.Lines))
	for i := range o.Lines {
		l := &o.Lines[i]
		lines[i] = web.OrderLine{Name: l.Name, Quantity: l.Quantity, Price: letters.Amount(l.UnitPrice, o.Currency, language)}
		if l.Visit != nil && !o.Sold() {
			lines[i].When = h.Letters.VisitMail(o, l.Visit, p).When(language)
		}
		t := slices.IndexFunc(p.Types, func(t readmodel.TicketType) bool { return t.Ref.ID == l.Type })
		if t >= 0 && o.Sold() && o.OwnsOfLine(i) {
			lines[i].Link, lines[i].Note = h.Letters.Delivery(p.Event.Details, &p.Types[t].Details)
		}
	}
	return lines
}

// pageTicket returns a ticket for the order's page. It has codes only if t has them, the ticket is issued and not
// checked in, and the event has a venue and is not cancelled. kept says that the buyer has not passed the ticket on.
func pageTicket(t *api.Ticket, kept bool, e *mail.Event, l mail.Language) web.OrderTicket {
	words := web.OrderWordsIn(l == mail.German)
	v := web.OrderTicket{Type: t.TierName, Status: cmp.Or(words.TicketOf[t.Status], t.Status)}
	switch {
	case t.Status != "issued":
	case !kept:
		v.Status = words.PassedOn
	case e.Cancelled && !e.Digital:
		v.Status = words.TicketOf["cancelled"]
	}
	if t.Holder != nil && t.Holder.Name != nil {
		v.Holder = *t.Holder.Name
	}
	if s := t.Seat; s != nil {
		v.Seat = mail.Seat(l, s.Section, s.Row, cmp.Or(s.Label, s.ID))
	}
	if e.Hall && !e.Cancelled && t.Status == "issued" {
		v.Payload, v.Short = t.QR, t.ShortCode
	}
	return v
}
