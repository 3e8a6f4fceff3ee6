package refunds

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// This file checks who may ask for a refund and who may decide on it, and what the ticket's type has promised.
// The event's actor checks the rest.

var noRefund = &engine.Refusal{Code: engine.NotFound, Message: "No such refund."}

// askRefund asks for the money of one ticket on behalf of its holder. It checks the refund terms of the ticket's type.
// It sends the holder version that it has read, so that the event refuses if the ticket has changed hands since.
func (h *Handlers) askRefund(c *route.Call, in *api.AskRefund) (*api.Refund, error) {
	t, err := h.Orders.OpenTicket(c, in.TicketID)
	if err != nil {
		return nil, err
	}
	o, serial := t.Order, t.Holder.Ticket
	if err := h.Orders.CheckRefundTerms(c, o, serial); err != nil {
		return nil, err
	}
	return h.requestRefund(c, o, ledger.AskRefund{
		Tickets: []uint32{serial}, Amount: -1, Reason: in.Reason, Message: in.Message, Evidence: in.EvidenceURLs, By: order.AskedByBuyer, Version: t.Holder.Version,
		Asker: customerOf(c),
	})
}

// requestRefund asks the order's event for a refund and shows it. The new refund is the last in the order's list.
func (h *Handlers) requestRefund(c *route.Call, o *order.Order, ask ledger.AskRefund) (*api.Refund, error) {
	ask.Order, ask.Record, ask.Manual = o.ID, o, isManual(o)
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), ask)
	if err != nil {
		return nil, err
	}
	h.Nudge(r.Order)
	return h.refundView(r.Order, len(r.Order.Refunds)-1), nil
}

// isManual reports whether a person has to send an order's money back, because the provider
// that took it cannot: cryptocurrency, a bank transfer, or no provider at all.
func isManual(o *order.Order) bool {
	paid := o.PaidBy()
	return paid == nil || paid.Provider == "nowpayments" || paid.IsTransfer()
}

// listOwnRefunds returns a page of the refunds that the caller has asked for, and of those that organizations have
// given for the caller's orders. It leaves out refunds that nobody asked for. The caller's address must be proven,
// because it decides which refunds are the caller's.
func (h *Handlers) listOwnRefunds(c *route.Call, in *api.ListOwnRefunds) (*api.List[api.Refund], error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	return h.refundList(c, readmodel.RefundFilter{Customer: customerOf(c), Asked: true}, in.Page)
}

// customerOf returns the customer that the caller is, by the address of the session.
func customerOf(c *route.Call) uint64 {
	return order.CustomerOf(order.NormalEmail(c.Principal.Email))
}

// cancelRefund withdraws an undecided request of a ticket's holder. It answers anybody else as if there were no
// such refund.
func (h *Handlers) cancelRefund(c *route.Call, in *api.RefundID) (*api.Refund, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	id, place, ok := readRefundID(in.ID)
	if !ok {
		return nil, noRefund
	}
	if _, err := h.Known.Find(c.Context, id.Event()); err != nil {
		return nil, orders.HideEvent(err, engine.NotFound)
	}
	o, err := h.Orders.Find(c.Context, id)
	if r, refused := err.(*engine.Refusal); refused && r.Code == engine.OrderNotFound { //nolint:errorlint // refusals come bare
		return nil, noRefund
	}
	if err != nil {
		return nil, err
	}
	if place >= len(o.Refunds) || !h.hasAsked(c, o, place) {
		return nil, noRefund
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), ledger.DecideRefund{
		Order: o.ID, Record: o, Position: place, Amount: -1, Cancel: true,
	})
	if err != nil {
		return nil, err
	}
	return h.refundView(r.Order, place), nil
}

// hasAsked reports whether the caller has asked for a refund as the holder of its ticket.
// It compares with the present holder of the first ticket that the refund names.
func (h *Handlers) hasAsked(c *route.Call, o *order.Order, place int) bool {
	ask := o.Refunds[place].Ask
	if ask == nil || ask.By != order.AskedByBuyer || len(ask.Tickets) == 0 {
		return false
	}
	return order.NormalEmail(o.OwnerOf(ask.Tickets[0]).Email) == order.NormalEmail(c.Principal.Email)
}

// listRefunds returns a page of the refunds of an organization's orders, also of those that nobody
// has asked for.
func (h *Handlers) listRefunds(c *route.Call, in *api.ListRefunds) (*api.List[api.Refund], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	f := readmodel.RefundFilter{Org: org, Status: in.Status}
	if in.EventID != "" {
		if f.Event, err = h.Known.FindOwn(c, in.EventID); err != nil {
			return nil, err
		}
	}
	return h.refundList(c, f, in.Page)
}

// refundList shows a page of refunds, the newest first. Several refunds may have the same time in milliseconds, so a
// cursor has that time and the number of its refunds that were shown (cursors.OfMoment).
func (h *Handlers) refundList(c *route.Call, f readmodel.RefundFilter, page api.Page) (*api.List[api.Refund], error) {
	var err error
	if f.BeforeAt, f.Skip, err = cursors.ReadMoment(page.Cursor); err != nil {
		return nil, err
	}
	f.Limit = page.Limit + 1
	found, err := h.Read.AskedRefunds(c.Context, f)
	if err != nil {
		return nil, err
	}
	show := func(i int) api.Refund { return *h.refundView(&found[i].Order, found[i].Position) }
	return api.PageOf(len(found), page.Limit, show, func(last int) *string {
		moment := func(r *readmodel.AskedRefund) int64 { return r.At }
		return cursors.OfMoment(found[:last+1], moment, f.BeforeAt, f.Skip)
	}), nil
}

// findRefund finds a refund by its id for its organization. For a caller of another organization it
// does not exist.
func (h *Handlers) findRefund(c *route.Call, id string) (*order.Order, int, error) {
	order, i, ok := readRefundID(id)
	if !ok {
		return nil, 0, noRefund
	}
	o, _, err := h.Orders.OpenOwn(c, order)
	if r, refused := err.(*engine.Refusal); refused && r.Code == engine.OrderNotFound { //nolint:errorlint // refusals come bare
		return nil, 0, noRefund
	}
	if err != nil {
		return nil, 0, err
	}
	if i >= len(o.Refunds) {
		return nil, 0, noRefund
	}
	return o, i, nil
}

// readRefundID reads the id of a refund: the id of its order, "-r" and its number in the order's
// list, counted from 1. The returned place counts from 0.
func readRefundID(id string) (of engine.OrderID, place int, ok bool) {
	text, number, ok := strings.Cut(id, "-r")
	n, err := strconv.Atoi(number)
	of, errID := engine.ParseID(text)
	return of, n - 1, ok && err == nil && errID == nil && n > 0
}

// getRefund shows one refund to its order's organization.
func (h *Handlers) getRefund(c *route.Call, in *api.RefundID) (*api.Refund, error) {
	o, i, err := h.findRefund(c, in.ID)
	if err != nil {
		return nil, err
	}
	return h.refundView(o, i), nil
}

// approveRefund grants a refund. Without an amount, everything that was asked for goes back.
func (h *Handlers) approveRefund(c *route.Call, in *api.ApproveRefund) (*api.Refund, error) {
	return h.decideRefund(c, in.ID, in.Amount, ledger.DecideRefund{Approve: true, Amount: -1, Note: in.Note})
}

// denyRefund denies a refund. The person who asked gets a mail with the reason.
func (h *Handlers) denyRefund(c *route.Call, in *api.DenyRefund) (*api.Refund, error) {
	return h.decideRefund(c, in.ID, route.Opt[route.Money]{}, ledger.DecideRefund{Amount: -1, Note: in.Reason})
}

// decideRefund grants or denies a refund that somebody has asked for. It refuses for a refund that nobody
// has asked for, because that is due in any case. A refund that was granted is sent soon (Nudge).
func (h *Handlers) decideRefund(c *route.Call, id string, amount route.Opt[route.Money], decision ledger.DecideRefund) (*api.Refund, error) {
	o, i, err := h.findRefund(c, id)
	if err != nil {
		return nil, err
	}
	if o.Refunds[i].Ask == nil {
		return nil, notPending(o, i)
	}
	if amount.Set {
		if decision.Amount, err = amount.Value.Minor("amount", o.Currency); err != nil {
			return nil, err
		}
	}
	decision.Order, decision.Record, decision.Position, decision.Manual = o.ID, o, i, isManual(o)
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), decision)
	if err != nil {
		return nil, err
	}
	h.Nudge(r.Order)
	return h.refundView(r.Order, i), nil
}

// notPending returns the refusal of a step that the refund's status does not allow. It contains the status.
func notPending(o *order.Order, i int) error {
	return engine.Refuse(engine.RefundNotPending, ledger.OrderState{Status: o.Refunds[i].ToldStatus(), Reason: "the refund's state does not allow this"})
}

// retryRefund sends a failed refund again at once, without the sweep's pause. It refuses any other refund. While the
// sweep or another retry has claimed the refund, it changes nothing: not every provider would recognize that the money
// is sent twice at the same moment.
func (h *Handlers) retryRefund(c *route.Call, in *api.RefundID) (*api.Refund, error) {
	o, i, err := h.findRefund(c, in.ID)
	if err != nil {
		return nil, err
	}
	if o.Refunds[i].Status != order.RefundFailed {
		return nil, notPending(o, i)
	}
	due, err := h.Read.RetryRefund(c.Context, o.ID, i, time.Now()) // not c.Now, because claims are made by this clock too
	if err != nil {
		return nil, err
	}
	if !due {
		return h.refundView(o, i), nil // somebody is sending it
	}
	if err := (sweep{h}).checkRefund(c.Context, readmodel.Refund{Order: o.ID, Position: i, Refund: o.Refunds[i]}, c.Now); err != nil {
		return nil, err
	}
	if o, err = h.Orders.Find(c.Context, o.ID); err != nil {
		return nil, err
	}
	return h.refundView(o, i), nil
}

// completeRefund notes that a person has sent the money. It refuses for a refund that a provider sends, and
// for one whose money is not on its way.
func (h *Handlers) completeRefund(c *route.Call, in *api.CompleteRefund) (*api.Refund, error) {
	o, i, err := h.findRefund(c, in.ID)
	if err != nil {
		return nil, err
	}
	r := &o.Refunds[i]
	if !o.NeedsPerson(i) || r.Status != order.RefundProcessing {
		return nil, notPending(o, i)
	}
	done, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), ledger.ReportRefund{
		Order: o.ID, Position: i, Reference: r.Reference, Status: order.RefundProcessed, ProviderRef: in.ProviderRef, Note: in.Note,
	})
	if err != nil {
		return nil, err
	}
	return h.refundView(done.Order, i), nil
}

// refundOrder gives back a whole order, some of its tickets, or money without ending a ticket. An
// amount without tickets is money alone. If neither is named, all tickets that are left go back.
func (h *Handlers) refundOrder(c *route.Call, in *api.RefundOrder) (*api.Refund, error) {
	id, err := engine.ParseID(in.ID)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	o, _, err := h.Orders.OpenOwn(c, id)
	if err != nil {
		return nil, err
	}
	ask := ledger.AskRefund{Amount: -1, Reason: in.Reason, By: order.AskedByOrganization, Approve: true}
	if in.Amount.Set {
		if ask.Amount, err = in.Amount.Value.Minor("amount", o.Currency); err != nil {
			return nil, err
		}
	}
	if ask.Amount == 0 && !in.TicketIDs.Set {
		return nil, route.Invalid(route.Issue{Path: "amount", Code: route.IssueMinimum, Message: "must be more than 0 where no ticket ends"})
	}
	codes := h.Secrets.Event(id.Event())
	for i, text := range in.TicketIDs.Value {
		ticket, err := engine.ParseID(text)
		serial, ok := codes.FromTicketID(ticket)
		if _, _, of := o.LineOf(serial); err != nil || !ok || !of {
			return nil, route.Invalid(route.Issue{
				Path: "ticketIds[" + strconv.Itoa(i) + "]", Code: route.IssueEnum, Message: "is no ticket of the order",
			})
		}
		// The money of one ticket must not go back twice.
		if slices.Contains(ask.Tickets, serial) {
			return nil, route.Invalid(route.Issue{
				Path: "ticketIds[" + strconv.Itoa(i) + "]", Code: route.IssueDuplicate, Message: "is named already",
			})
		}
		ask.Tickets = append(ask.Tickets, serial)
	}
	if !in.TicketIDs.Set && !in.Amount.Set {
		ask.Tickets = ticketsLeft(o)
	}
	return h.requestRefund(c, o, ask)
}

// ticketsLeft returns the order's tickets that no refund gives back. If a sold order has none left, it returns the
// first ticket, so that the event refuses the request with the reason.
func ticketsLeft(o *order.Order) (left []uint32) {
	for k := range o.Tickets() {
		ticket := o.FirstTicket + uint32(k)
		gone := false
		for i := range o.Refunds {
			gone = gone || o.Refunds[i].Gives(ticket)
		}
		if !gone {
			left = append(left, ticket)
		}
	}
	if len(left) == 0 && o.Sold() {
		return []uint32{o.FirstTicket}
	}
	return left
}
