package people

import (
	"context"
	"errors"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

var noTicket = &engine.Refusal{Code: engine.TicketNotFound}

// ticket is what this area needs to know about one ticket.
type ticket struct {
	event  int64
	org    int64
	serial uint32
	holder order.Holder // the ticket's holder; if it never changed hands, the person whom its line names as the attendee
	buyer  string       // the buyer's address, if the ticket never changed hands; otherwise ""
	seen   bool         // a gate has admitted the ticket
}

// mayName reports whether an address may be given together with the ticket's code. The holder's
// address may, and so may the buyer's as long as the ticket never changed hands.
func (t *ticket) mayName(email string) bool {
	email = order.NormalEmail(email)
	return email == order.NormalEmail(t.holder.Email) || email == order.NormalEmail(t.buyer)
}

// heldBy reports whether an address is the holder's. Until a ticket changes hands, its holder is
// the buyer, even if its line names somebody else as the attendee.
func (t *ticket) heldBy(email string) bool {
	holder := t.buyer
	if holder == "" {
		holder = t.holder.Email
	}
	return order.NormalEmail(email) == order.NormalEmail(holder)
}

// newestEvents is how many of the newest events findByCode tries if the code is of no event from which the address has
// bought, as when somebody gave the holder the ticket.
const newestEvents = 500

// findByCode finds a ticket by its full code and the address of its holder or buyer. A code does not contain its event.
// So findByCode tries the code first on the events from which the address has bought, and then on the newest events.
func (h *Handlers) findByCode(c *route.Call, code, email string) (*ticket, error) {
	bought, err := h.Read.EventsOf(c.Context, order.CustomerOf(order.NormalEmail(email)))
	if err != nil {
		return nil, err
	}
	t, err := h.tryCode(c.Context, bought, code)
	if errors.Is(err, noTicket) {
		var newest []int64
		if newest, err = h.Read.NewestEvents(c.Context, newestEvents); err == nil {
			t, err = h.tryCode(c.Context, newest, code)
		}
	}
	// A right code with a wrong address is answered like a wrong code, so that nobody can find out
	// which codes exist.
	if err == nil && !t.mayName(email) {
		err = noTicket
	}
	return t, err
}

// tryCode finds the ticket of a code in one of the events. Codes change when a ticket changes
// hands, so the code of an earlier holder finds nothing.
func (h *Handlers) tryCode(ctx context.Context, events []int64, code string) (*ticket, error) {
	for _, number := range events {
		serial, version, ok := h.Secrets.Event(number).FromCode(code)
		if !ok {
			continue
		}
		t, err := h.readTicket(ctx, number, serial)
		// FromCode accepts the codes of all holders. Only the version of the present holder may
		// pass.
		if err == nil && t.holder.Version != version {
			err = noTicket
		}
		return t, err
	}
	return nil, noTicket
}

// readTicket reads a ticket from the read model. It refuses with TICKET_NOT_FOUND if the event has
// issued no ticket with the serial.
func (h *Handlers) readTicket(ctx context.Context, number int64, serial uint32) (*ticket, error) {
	known, err := h.Known.Find(ctx, number)
	if err != nil {
		return nil, err
	}
	// The read model lists tickets from a serial on, so the first one it returns may be a later
	// ticket.
	list, err := h.Read.Tickets(ctx, number, serial, 1)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0].Serial != serial {
		return nil, noTicket
	}
	o, err := h.Read.Order(ctx, list[0].Order)
	if errors.Is(err, readmodel.ErrNotFound) {
		return nil, noTicket
	}
	if err != nil {
		return nil, err
	}
	t := &ticket{event: number, org: known.Org, serial: serial, seen: list[0].CheckedInAt != 0}
	t.holder = o.HolderOf(serial)
	// A holder of the first version is the buyer, or somebody whom the buyer named: the ticket has
	// not changed hands.
	if t.holder.Version == secrets.Version {
		t.buyer = o.Email
	}
	return t, nil
}

// readTicketID reads a ticket's public id. It makes sure that the id's event exists, but not that
// the ticket does.
func (h *Handlers) readTicketID(ctx context.Context, text string) (number int64, serial uint32, err error) {
	id, err := engine.ParseID(text)
	if err != nil || id.Event() < 1 {
		return 0, 0, noTicket
	}
	if _, err := h.Known.Find(ctx, id.Event()); err != nil {
		if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.EventNotFound {
			return 0, 0, noTicket
		}
		return 0, 0, err
	}
	serial, ok := h.Secrets.Event(id.Event()).FromTicketID(id)
	if !ok {
		return 0, 0, noTicket
	}
	return id.Event(), serial, nil
}

// findHeld finds a ticket by its public id if the caller's session is its holder's. For all others
// the ticket does not exist.
func (h *Handlers) findHeld(c *route.Call, text string) (*ticket, error) {
	number, serial, err := h.readTicketID(c.Context, text)
	if err != nil {
		return nil, err
	}
	if err := h.Settled(c.Context); err != nil { // the ticket may be new, or have changed hands
		return nil, err
	}
	t, err := h.readTicket(c.Context, number, serial)
	if err == nil && !t.heldBy(c.Principal.Email) {
		err = noTicket
	}
	return t, err
}
