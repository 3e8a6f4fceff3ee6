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

// Held is a ticket with its order and its present holder.
type Held struct {
	Event  int64 // its number
	Serial uint32
	Order  *order.Order
	Line   *order.Line
	Holder order.Holder
}

// OpenTicket finds a ticket for its holder: in a session whose address is proven, or with
// the order's token while the buyer holds it. For others it does not exist.
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

// findTicket returns the order and the serial of a ticket, given its public id.
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

// orderOfTicket finds a ticket's order in the read model. If the read model lacks the ticket, it waits until the read
// model has everything that is committed and looks again. Before that it asks the event, because the ticket may have
// been sold through another node, and the event's answer tells this node how far the read model must get.
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

// Why the terms of a ticket's type do not give its money back.
const (
	notRefundable  = "not_refundable"
	deadlinePassed = "deadline_passed"
)

// CheckRefundTerms refuses a refund that the terms of the ticket's sale do not allow. If the event was cancelled, or was
// moved a few days ago, it allows a refund whatever the terms are.
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
