package letters

import (
	"cmp"
	"context"
	"slices"

	"boxoffice/edge/mail"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/readmodel"
)

// writeCancelled makes the mail about a cancelled event. A person gets only one mail, about all orders that they
// have tickets of. writeCancelled makes none for a person who neither bought nor has any ticket by now.
func (h *Writer) writeCancelled(ctx context.Context, l *mailqueue.Mail, to mail.Envelope, e *mail.Event) (*mail.Message, error) {
	id, err := engine.ParseID(cmp.Or(l.Order, l.Held))
	if err != nil {
		return written(mail.EventCancelled(to, e, mail.Cancelled{IsPaid: true}), nil) //nolint:nilerr // older nodes don't name the tickets' order
	}
	orders, err := h.ordersOf(ctx, id, l.To)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(ctx, id.Event())
	if err != nil {
		return nil, err
	}
	var c mail.Cancelled
	// entries are the visits that the reader's calendar may have. visits are those that the reader
	// could attend until now.
	var entries, visits []*mail.Visit
	// isWhole says that the mail may show the orders' total. If the read model returned as many orders as it
	// can, there may be more of them, and the total would be wrong.
	held, isWhole := int64(0), len(orders) < readmodel.MostOrders
	for i := range orders {
		o := &orders[i]
		has, err := h.describeHeld(ctx, e, l.To, o, p)
		if err != nil {
			return nil, err
		}
		held += has.count
		visits = append(visits, has.visits...)
		c.IsPaid = c.IsPaid || has.count > 0 && o.Total > 0
		if has.mayAsk {
			c.Refunds = h.RefundsURL()
		}
		isBought := order.NormalEmail(o.Email) == order.NormalEmail(l.To)
		isWhole = isWhole && isBought && has.count == o.Tickets() && o.Currency == orders[0].Currency
		if !isBought {
			entries = append(entries, has.visits...)
			continue
		}
		about := h.aboutOrder(o)
		about.Count = int(has.count)
		c.Orders = append(c.Orders, about)
		// A calendar may still have visits whose tickets were given back or passed on.
		for _, v := range h.Visits(o, p) {
			entries = append(entries, &v)
		}
	}
	if held == 0 && len(c.Orders) == 0 {
		return nil, nil //nolint:nilnil // its reader has nothing to do with it any more
	}
	if isWhole {
		e.Total, e.Fees = sumOf(orders)
	}
	// The calendar file has all visits that the reader's calendar may have; the text shows only those that
	// the reader loses now.
	e.GivenBack = held == 0
	narrowVisits(e, visits...)
	e.Visits = slices.CompactFunc(e.Visits, func(a, b mail.Visit) bool { return a.When(to.Language) == b.When(to.Language) }) // visits of several orders may be at the same time
	m := mail.EventCancelled(to, e, c)
	narrowVisits(e, entries...)
	m.Calendar = e.Calendar(to.Language)
	return &m, nil
}

// ordersOf returns the orders in which a person has tickets for an event. It adds the order known if the search
// by the person's address does not find that order, as when the order only names the person as an attendee.
func (h *Writer) ordersOf(ctx context.Context, known engine.OrderID, email string) ([]order.Order, error) {
	orders, err := h.Read.OrdersWithTickets(ctx, known.Event(), order.CustomerOf(order.NormalEmail(email)), email)
	if err != nil || slices.ContainsFunc(orders, func(o order.Order) bool { return o.ID == known }) {
		return orders, err
	}
	o, err := h.Read.Order(ctx, known)
	if err != nil {
		return nil, err
	}
	return append([]order.Order{*o}, orders...), nil
}

// sumOf returns the total and the fees of orders that are all in one currency.
func sumOf(orders []order.Order) (total, fees mail.Money) {
	var all, ofFees int64
	for i := range orders {
		all, ofFees = all+orders[i].Total, ofFees+orders[i].Fees
	}
	return money(all, orders[0].Currency), money(ofFees, orders[0].Currency)
}
