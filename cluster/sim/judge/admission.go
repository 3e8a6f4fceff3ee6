package judge

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/order"
)

// hands are what has become of one ticket, by the facts about it that the judge has seen: its holder, whether it is
// offered to somebody else, whether its money went back, and its passages through the gates.
type hands struct {
	version byte   // of its holder
	round   uint16 // the round of its last offer; each offer has to have the next
	// offer is the offer by which somebody may claim the ticket now. It is nil while there is none.
	offer  *order.TransferOffered
	gone   bool  // its money went back
	goneAt int64 // the time of the fact by which it did; 0 before
	// inside is the admission that stands. It is nil if nobody was admitted with the ticket, or the admission was
	// undone.
	inside *admission.CheckedIn
	// admitted are all admissions that the ticket ever had. It keeps those that were undone, because the answer to a
	// scan may arrive after the admission that it tells of was taken back.
	admitted []entrance
	// ways are the ticket's passages through the gates, without those that were undone.
	ways []way
	// passed are all passages that the ticket ever had. It keeps those that were undone, for the same reason as
	// admitted.
	passed []way
}

// entrance is an admission with a ticket, and the version of the holder that the ticket had then.
type entrance struct {
	*admission.CheckedIn
	version byte
}

// handOf returns what has become of a ticket. A ticket that nothing has happened to is with its first holder, whose
// version is 1.
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
	// A ticket is offered only while no other offer of it is open, nobody is inside with it, and its money did not go
	// back. Each offer has a round one higher than the last, so that the link of an old offer can't claim the ticket.
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
	// A ticket changes hands only by the offer that is open, and to the address that this offer names. The version of
	// the holder grows by one, which makes all codes of the former holder invalid.
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

// orderOf returns the order that a ticket belongs to, or the zero id if no such ticket was issued. The tickets of an
// event are numbered from 1 without gaps.
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
	// An admission is a passage too. Where exits count, it may not contradict the passages before it: somebody who is
	// inside can't come in again.
	if b.details.Exits && countConflicts(append(slices.Clone(h.ways), w)) > countConflicts(h.ways) {
		return fmt.Errorf("ticket %d is admitted by %+v, and has the passages %+v", f.Ticket, f, h.ways)
	}
	h.ways = append(h.ways, w)
	// The facts say nothing of the offer: an admission ends it, and the judge must forget it too.
	h.inside, h.offer = f, nil
	h.admitted = append(h.admitted, entrance{f, h.version})
	return nil
}
