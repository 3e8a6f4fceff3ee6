package judge

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/order"
)

// hands are what has become of a ticket by its facts.
type hands struct {
	version  byte                   // of its holder
	round    uint16                 // the round of its last offer; each offer has to have the next
	offer    *order.TransferOffered // the offer that may be claimed; nil: there is none
	gone     bool                   // its money went back
	goneAt   int64                  // the time of the fact by which it did; 0 before
	inside   *admission.CheckedIn   // the admission that stands; nil: there was none, or it was undone
	admitted []entrance             // all admissions that it ever had, undone ones too
	ways     []way                  // its passages through the gates, without those that were undone
	passed   []way                  // all passages that it ever had, undone ones too
}

// entrance is when a ticket admitted somebody, and which of its holders that was.
type entrance struct {
	*admission.CheckedIn
	version byte
}

// handOf is what has become of a ticket. One that nothing has happened to is with its first holder.
func (b *book) handOf(ticket uint32) *hands {
	h := b.hands[ticket]
	if h == nil {
		h = &hands{version: 1}
		b.hands[ticket] = h
	}
	return h
}

// takeTicket judges the facts about one ticket and keeps them.
func (t *Truth) takeTicket(b *book, f engine.Fact) error {
	switch f := f.(type) {
	case *admission.CheckedIn:
		return t.checkedIn(b, f)
	case *admission.CheckInUndone:
		h := b.handOf(f.Ticket)
		if h.inside == nil {
			return fmt.Errorf("the admission of ticket %d is undone, which is not admitted", f.Ticket)
		}
		h.inside, h.ways = nil, withoutLast(h.ways)
	case *order.TransferOffered:
		h := b.handOf(f.Ticket)
		if h.offer != nil || f.Round != h.round+1 || h.inside != nil || h.gone || b.orderOf(f.Ticket) != f.ID {
			return fmt.Errorf("ticket %d is offered by %+v, and is %+v", f.Ticket, f, h)
		}
		h.offer, h.round = f, f.Round
	case *order.TransferRevoked:
		h := b.handOf(f.Ticket)
		if h.offer == nil || h.round != f.Round {
			return fmt.Errorf("the offer of ticket %d is revoked by %+v, and it is %+v", f.Ticket, f, h)
		}
		h.offer = nil
	case *order.TicketTransferred:
		h := b.handOf(f.Ticket)
		if h.offer == nil || h.round != f.Round || f.Version != h.version+1 || f.Email != h.offer.To || h.inside != nil || h.gone {
			return fmt.Errorf("ticket %d changes hands by %+v, and is %+v", f.Ticket, f, h)
		}
		h.offer, h.version = nil, f.Version
		b.orders[f.ID].foldFact(f)
	}
	return nil
}

// orderOf is the order that a ticket is of; the zero id if no such ticket was issued.
func (b *book) orderOf(ticket uint32) engine.OrderID {
	if ticket == 0 || int(ticket) > len(b.tickets) {
		return engine.OrderID{}
	}
	return b.tickets[ticket-1]
}

// checkedIn judges an admission: the ticket exists, admits nobody twice, and was not refunded before. An admission ends
// an offer to pass the ticket on. Where exits count, it must fit the ticket's passages.
func (t *Truth) checkedIn(b *book, f *admission.CheckedIn) error {
	h := b.handOf(f.Ticket)
	switch {
	case b.orderOf(f.Ticket).Event() == 0:
		return fmt.Errorf("ticket %d of %d is admitted", f.Ticket, len(b.tickets))
	case h.inside != nil:
		return fmt.Errorf("ticket %d is admitted twice: %+v, then %+v", f.Ticket, h.inside, f)
	case h.gone && f.At >= h.goneAt: // an offline device may have let it in before
		return fmt.Errorf("ticket %d is admitted, and its money went back", f.Ticket)
	}
	w := way{f.At, false, f.Gate, f.Device, f.Key}
	if b.details.Exits && countConflicts(append(slices.Clone(h.ways), w)) > countConflicts(h.ways) {
		return fmt.Errorf("ticket %d is admitted by %+v, and has the passages %+v", f.Ticket, f, h.ways)
	}
	h.ways = append(h.ways, w)
	h.inside, h.offer = f, nil
	h.admitted = append(h.admitted, entrance{f, h.version})
	return nil
}
