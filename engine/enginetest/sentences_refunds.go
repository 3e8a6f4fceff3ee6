package enginetest

import (
	"fmt"
	"strconv"
	"strings"

	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// sayAsksBack reads "ann asks-back 1 Reason=ill": a buyer asks for the money of a ticket. The amount -1 means all of
// it.
func (w *story) sayAsksBack(name string, args []string) error {
	tickets, err := readTickets(args[0])
	if err != nil {
		return err
	}
	id := w.order(name)
	c := ledger.AskRefund{Order: id, Record: w.records[id], Tickets: tickets, Amount: -1, By: order.AskedByBuyer}
	if err := w.set(&c, args[1:]); err != nil {
		return err
	}
	return w.tellEvent(c)
}

// sayOrganization reads what the organization decides about refunds.
//
//	organization grants 0 of ann Amount=5.00     organization denies 0 of ann
//	organization refunds ann 1,2                 organization refunds ann none Amount=1.00
func (w *story) sayOrganization(words []string) error {
	if words[0] == "refunds" {
		tickets, err := readTickets(words[2])
		if err != nil {
			return err
		}
		id := w.order(words[1])
		c := ledger.AskRefund{Order: id, Record: w.records[id], Tickets: tickets, Amount: -1, By: order.AskedByOrganization, Approve: true}
		if err := w.set(&c, words[3:]); err != nil {
			return err
		}
		return w.tellEvent(c)
	}
	position, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	id := w.order(words[3])
	c := ledger.DecideRefund{Order: id, Record: w.records[id], Position: position, Approve: words[0] == "grants", Amount: -1}
	if err := w.set(&c, words[4:]); err != nil {
		return err
	}
	return w.tellEvent(c)
}

// remember keeps the record of an order as it is now, as a read model would. Later commands bring it along, for when
// the ledger has forgotten the order.
func (w *story) remember(name string) error {
	c, err := w.actor("event")
	if err != nil {
		return err
	}
	// A ledger that still has the order answers with its record.
	r, ok := c.state.Decide(ledger.GetOrder{Order: w.order(name)}, w.now).Reply.(*ledger.OrderReply)
	if ok && r.Order != nil {
		w.records[w.order(name)] = r.Order
		return nil
	}
	// The ledger has forgotten it already, so the record is made from the event's journal.
	o, err := w.foldOrder(c, w.order(name))
	w.records[w.order(name)] = o
	return err
}

// foldOrder makes an order's record from the facts about it in a character's journal, as the read model does it.
// The journal has all facts, although the ledger has forgotten the order.
func (w *story) foldOrder(c *character, id engine.OrderID) (o *order.Order, err error) {
	for _, b := range c.journal {
		facts, err := codec.Facts(c.ref.Kind, b)
		if err != nil {
			return nil, err
		}
		for _, f := range facts {
			if of, ok := f.(order.Fact); ok && of.OrderID() == id {
				o = order.Fold(o, f)
			}
		}
	}
	return o, nil
}

// readTickets reads the numbers of tickets, such as "1,2", or "none".
func readTickets(text string) (tickets []uint32, err error) {
	if text == "none" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no ticket: %w", part, err)
		}
		tickets = append(tickets, uint32(n))
	}
	return tickets, nil
}
