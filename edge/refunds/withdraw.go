package refunds

import (
	"slices"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// The law lets the buyer of something digital withdraw from the purchase without a reason, for 14 days after the
// order's completion, as long as nothing that the order delivers was opened. These are the reasons that the refusal
// WITHDRAWAL_NOT_POSSIBLE gives. An order whose tickets were all passed on is refused as used.
const (
	notDigital = "not_digital"
	waived     = "waived"
	tooLate    = "too_late"
	used       = "used"
)

// withdrawOrder ends those tickets of an order that its buyer may give up (findWithdrawable), and refunds them.
// Without in.Confirm it only answers which tickets would end and how much money would go back. For a seller the order
// does not exist.
func (h *Handlers) withdrawOrder(c *route.Call, in *api.WithdrawOrder) (*api.Withdrawal, error) {
	o, reader, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if !reader.IsPerson() {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	tickets, err := h.findWithdrawable(c, o)
	if err != nil {
		return nil, err
	}
	amount := paidFor(o, tickets)
	v := &api.Withdrawal{
		OrderID: o.ID.String(), TicketIDs: make([]string, len(tickets)), Amount: view.Decimal(amount, o.Currency), Currency: o.Currency,
		Until: api.At(o.WithdrawableUntil()),
	}
	codes := h.Secrets.Event(o.ID.Event())
	for i, serial := range tickets {
		v.TicketIDs[i] = codes.TicketID(serial).String()
	}
	if !in.Confirm {
		return v, nil
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), ledger.AskRefund{
		Order: o.ID, Record: o, Tickets: tickets, Amount: amount, Reason: order.AskedByWithdrawal, By: order.AskedByWithdrawal, Approve: true, Manual: isManual(o),
		Version: 1, // a ticket that was passed on since it was read has another version, and makes the event refuse
	})
	if err != nil {
		return nil, err
	}
	h.Nudge(r.Order)
	v.Withdrawn, v.Refund = true, h.refundView(r.Order, len(r.Order.Refunds)-1)
	return v, nil
}

// findWithdrawable returns the tickets of a digital order that its buyer may give up: those that are left and
// that nobody else holds. If anything of the order was opened or its course was begun, none may be given up.
// The refusal is WITHDRAWAL_NOT_POSSIBLE with one of the reasons above. It is REFUND_NOT_ELIGIBLE if the order
// is not paid, or if refunds already cover all its tickets.
func (h *Handlers) findWithdrawable(c *route.Call, o *order.Order) ([]uint32, error) {
	no := func(reason string) error { return engine.Refuse(engine.NoWithdrawal, route.Reason{Reason: reason}) }
	switch {
	case !o.Digital:
		return nil, no(notDigital)
	case o.WaivedAt != 0:
		return nil, no(waived)
	case !o.Sold():
		return nil, engine.Refuse(engine.RefundNotEligible, ledger.NotEligible{Reason: ledger.RefundUnpaid})
	case c.Now.UnixMilli() >= o.WithdrawableUntil():
		return nil, no(tooLate)
	}
	// Something digital that was opened cannot be given back. A course counts as opened once its
	// participant has begun it.
	opened, err := h.Downloads.Opened(c.Context, o.ID.Event(), o.FirstTicket, o.Tickets())
	if err == nil && !opened {
		opened, err = h.Courses.Begun(c.Context, o.ID.Event(), order.NormalEmail(o.Email))
	}
	if err != nil {
		return nil, err
	}
	if opened {
		return nil, no(used)
	}
	tickets := ticketsLeft(o)
	if i := slices.IndexFunc(o.Refunds, func(r order.Refund) bool { return r.Gives(tickets[0]) }); i >= 0 {
		reason := ledger.RefundRequested
		if o.Refunds[i].Approved() {
			reason = ledger.RefundRefunded
		}
		return nil, engine.Refuse(engine.RefundNotEligible, ledger.NotEligible{Reason: reason})
	}
	// A ticket that was passed on belongs to somebody else.
	tickets = slices.DeleteFunc(tickets, func(t uint32) bool {
		return slices.ContainsFunc(o.Holders, func(holder order.Holder) bool { return holder.Ticket == t })
	})
	if len(tickets) == 0 {
		return nil, no(used)
	}
	return tickets, nil
}

// paidFor returns what a buyer paid for some of an order's tickets, with their fees if the buyer paid any, in minor
// units. It returns no more than what has not gone back yet.
func paidFor(o *order.Order, tickets []uint32) (amount int64) {
	for _, ticket := range tickets {
		line, k, _ := o.LineOf(ticket)
		face := o.Lines[line].FaceValue(k)
		if amount += face; o.Fees > 0 {
			amount += order.Fee(face)
		}
	}
	return min(amount, o.Total-o.AskedBack(false))
}
