package enginetest

import (
	"fmt"
	"strconv"

	"boxoffice/engine"
	"boxoffice/engine/waitlist"
)

// sayWaiter reads what somebody on the waitlist does. A person's name also names the person's entry, and the order
// that may come of it.
//
//	ann joins GA quantity=2    ann joins (any ticket type)    ann leaves    ann claims
func (w *story) sayWaiter(name, verb string, args []string) error {
	id := w.order(name)
	switch verb {
	case "leaves":
		return w.tellEvent(waitlist.Leave{ID: id})
	case "claims":
		return w.tellEvent(waitlist.Claim{ID: id})
	}
	join := waitlist.Join{ID: id, Quantity: 1, Email: name + "@example.com", Name: name, Customer: uint64(id.Number())}
	if len(args) > 0 {
		c, err := w.actor(args[0])
		if err != nil {
			return err
		}
		join.Type = c.ref.ID
		if err := w.set(&join, args[1:]); err != nil {
			return err
		}
	}
	return w.tellEvent(join)
}

// sayLine reads what the organizer does with the waitlist.
//
//	line is read    line offers 3    line changes Auto=no OfferMinutes=15
func (w *story) sayLine(verb string, args []string) error {
	switch verb {
	case "is":
		return w.tellEvent(waitlist.List{Limit: 100})
	case "offers":
		n, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return err
		}
		return w.tellEvent(waitlist.Call{Count: n})
	case "changes":
		var s waitlist.Settings
		if err := w.set(&s, args); err != nil {
			return err
		}
		// Auto is always set: a sentence that does not name it turns it off. The minutes are left as they are if
		// the sentence does not name them.
		set := waitlist.Set{Auto: &s.Auto}
		if s.OfferMinutes != 0 {
			set.OfferMinutes = &s.OfferMinutes
		}
		return w.tellEvent(set)
	}
	return fmt.Errorf("a line does not %s", verb)
}

// showPlaced writes an entry of the waitlist.
func (w *story) showPlaced(p *waitlist.Placed) string {
	s := fmt.Sprintf("%s %s %d", w.OrderName(p.Entry.ID), p.Entry.Status, p.Entry.Quantity)
	if p.Entry.Type != 0 {
		s += " of " + w.nameOf(engine.InventoryRef(1, p.Entry.Type))
	}
	if p.Position > 0 {
		s += fmt.Sprintf(", place %d", p.Position)
	}
	if p.Entry.Status == waitlist.StatusOffered {
		s += ", until " + w.clock(p.Entry.ExpiresAt)
	}
	return s
}
