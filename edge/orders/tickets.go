package orders

import (
	"context"
	"errors"

	"boxoffice/cluster"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// Held is a ticket with its order, its order's line and its present holder.
type Held struct {
	Event  int64 // the event's number
	Serial uint32
	Order  *order.Order
	Line   *order.Line
	Holder order.Holder
}

// OpenTicket finds a ticket for its holder. The holder needs a session with a proven address, or the order's token
// if the buyer still holds the ticket. OpenTicket refuses an expired token with tokenOver, a caller without any
// credentials with UNAUTHORIZED, and everybody else with TICKET_NOT_FOUND.
func (d *Desk) OpenTicket(c *route.Call, text string, tokens ...string) (*Held, error) {
	token, err := soleToken(c, tokens)
	if err != nil {
		return nil, err
	}
	o, serial, err := d.findTicket(c, text)
	if err != nil {
		return nil, err
	}
	line, _, ok := o.LineOf(serial)
	if !ok {
		return nil, &engine.Refusal{Code: engine.TicketNotFound}
	}
	t := &Held{Event: o.ID.Event(), Serial: serial, Order: o, Line: &o.Lines[line], Holder: o.OwnerOf(serial)}
	if c.Principal.EmailProven && o.IsOwnedBy(c.Principal.Email, serial) {
		return t, nil
	}
	until, opens := d.Secrets.OpensOrder(o.ID, token)
	if !opens || !o.IsOwnedBy(o.Email, serial) {
		return nil, &engine.Refusal{Code: engine.TicketNotFound}
	}
	if !c.Now.Before(until) {
		over, err := d.isTokenOver(c, o)
		if err != nil {
			return nil, err
		}
		if over {
			return nil, tokenOver
		}
	}
	return t, nil
}

// findTicket returns the order and the serial of the ticket with a public id. It refuses with
// TICKET_NOT_FOUND if there is no such ticket.
func (d *Desk) findTicket(c *route.Call, text string) (*order.Order, uint32, error) {
	notFound := &engine.Refusal{Code: engine.TicketNotFound}
	id, err := engine.ParseID(text)
	if err != nil || id.Event() < 1 {
		return nil, 0, notFound
	}
	if _, err := d.Known.Find(c.Context, id.Event()); err != nil {
		return nil, 0, HideEvent(err, engine.TicketNotFound)
	}
	serial, ok := d.Secrets.Event(id.Event()).FromTicketID(id)
	if !ok {
		return nil, 0, notFound
	}
	of, err := d.orderOfTicket(c.Context, id.Event(), serial)
	if errors.Is(err, readmodel.ErrNotFound) {
		return nil, 0, notFound
	}
	if err != nil {
		return nil, 0, err
	}
	o, err := d.Find(c.Context, of)
	return o, serial, err
}

// orderOfTicket returns the id of a ticket's order from the read model. If the read model lacks the
// ticket, it asks once more after waiting for the read model. The ticket may have been sold through
// another node, so it asks the event in between, whose answer tells this node up to where the read
// model has to follow.
func (d *Desk) orderOfTicket(ctx context.Context, number int64, serial uint32) (of engine.OrderID, err error) {
	for range 2 {
		list, err := d.Read.Tickets(ctx, number, serial, 1)
		if err != nil {
			return of, err
		}
		if len(list) > 0 && list[0].Serial == serial {
			return list[0].Order, nil
		}
		if _, err := cluster.AskFor[event.Record](ctx, d.Node, engine.EventRef(number), event.Get{}); err != nil {
			return of, err
		}
		if err := d.Settled(ctx); err != nil {
			return of, err
		}
	}
	return of, readmodel.ErrNotFound
}

// These are the reasons why the terms of a ticket's type do not permit a refund.
const (
	notRefundable  = "not_refundable"
	deadlinePassed = "deadline_passed"
)

// CheckRefundTerms refuses a refund that the terms under which a ticket was sold do not permit. For
// a cancelled event, and for some days for a moved one, it permits refunds whatever the terms are.
func (d *Desk) CheckRefundTerms(c *route.Call, o *order.Order, serial uint32) error {
	p, err := d.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return err
	}
	if p.Event.Status == event.StatusCancelled || c.Now.UnixMilli() < p.Event.Details.MoneyBackUntil(o.EndedAt) {
		return nil
	}
	line, _, ok := o.LineOf(serial)
	switch {
	case !ok || !o.Lines[line].Refundable():
		return engine.Refuse(engine.RefundNotEligible, ledger.NotEligible{Reason: notRefundable})
	case o.RefundDeadline(serial) != 0 && c.Now.UnixMilli() > o.RefundDeadline(serial):
		return engine.Refuse(engine.RefundNotEligible, ledger.NotEligible{Reason: deadlinePassed})
	}
	return nil
}
