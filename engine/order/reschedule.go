package order

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Rescheduled describes a ticket that was moved to another date or slot than its line was sold for.
type Rescheduled struct {
	Ticket uint32         `cbor:"1,keyasint"` // serial of the ticket
	Visit  keeper.Visit   `cbor:"2,keyasint"` // date and slot that the ticket admits for now
	From   keeper.Booking `cbor:"3,keyasint"` // booking that the ticket gives back
	Serial keeper.Serial  `cbor:"4,keyasint"` // serial under which the calendar granted the new place
	// Settled says that the calendar has sold the new place and taken the old one back.
	Settled bool `cbor:"5,keyasint,omitempty"`
}

const (
	typeTicketRescheduled engine.FactType = 44
	typeRescheduleSettled engine.FactType = 45
)

// These journaled facts are about a ticket that is moved to another date or slot.
type (
	// TicketRescheduled moves a ticket to a place that the calendar has granted.
	TicketRescheduled struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Ticket uint32         `cbor:"2,keyasint"`
		Visit  keeper.Visit   `cbor:"3,keyasint"`
		From   keeper.Booking `cbor:"4,keyasint"`
		Serial keeper.Serial  `cbor:"5,keyasint"`
		At     int64          `cbor:"6,keyasint"`
	}
	// RescheduleSettled says that the calendar has sold the new place and taken the old one back.
	RescheduleSettled struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Serial keeper.Serial  `cbor:"2,keyasint"`
		At     int64          `cbor:"3,keyasint"`
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*TicketRescheduled) FactType() engine.FactType { return typeTicketRescheduled }
func (*RescheduleSettled) FactType() engine.FactType { return typeRescheduleSettled }

// OrderID returns the order's id.
func (f *TicketRescheduled) OrderID() engine.OrderID { return f.ID }
func (f *RescheduleSettled) OrderID() engine.OrderID { return f.ID }

// Happened returns when the fact was decided.
func (f *TicketRescheduled) Happened() int64 { return f.At }
func (f *RescheduleSettled) Happened() int64 { return f.At }

// Fold returns the order with the ticket's new date. Only a ticket's last move is kept.
func (f *TicketRescheduled) Fold(o *Order) *Order {
	c := *o
	c.UpdatedAt = f.At
	c.Rescheduled = slices.DeleteFunc(slices.Clone(o.Rescheduled), func(r Rescheduled) bool { return r.Ticket == f.Ticket })
	c.Rescheduled = append(c.Rescheduled, Rescheduled{Ticket: f.Ticket, Visit: f.Visit, From: f.From, Serial: f.Serial})
	return &c
}

// Fold returns the order with the move of this serial marked as settled.
func (f *RescheduleSettled) Fold(o *Order) *Order {
	c := *o
	c.Rescheduled = slices.Clone(o.Rescheduled)
	for i := range c.Rescheduled {
		if r := &c.Rescheduled[i]; r.Serial == f.Serial {
			r.Settled = true
		}
	}
	return &c
}

// VisitOf returns when one of the order's tickets admits. It is nil if the order is not a reservation or has no
// such ticket.
func (o *Order) VisitOf(ticket uint32) *keeper.Visit {
	for i := range o.Rescheduled {
		if o.Rescheduled[i].Ticket == ticket {
			return &o.Rescheduled[i].Visit
		}
	}
	if line, _, ok := o.LineOf(ticket); ok {
		return o.Lines[line].Visit
	}
	return nil
}

// Booking returns the place of a calendar that one of the order's tickets takes. ok is false if the order is
// not a reservation or has no such ticket.
func (o *Order) Booking(ticket uint32) (b keeper.Booking, ok bool) {
	v := o.VisitOf(ticket)
	if v == nil {
		return b, false
	}
	return keeper.Booking{Date: v.Date, Slot: v.Slot, Units: 1}, true
}

// MoveDeadline returns until when one of the order's tickets may move to another date, in unix milliseconds:
// until the deadline of its terms, whether or not they allow a refund, and in any case until the booked time
// begins. It is 0 if the ticket is for no date of its own.
func (o *Order) MoveDeadline(ticket uint32) int64 {
	v := o.VisitOf(ticket)
	if v == nil {
		return 0
	}
	if line, _, ok := o.LineOf(ticket); ok && o.Lines[line].Terms != nil {
		if closes := o.closeTerms(o.Lines[line].Terms, ticket); closes != 0 {
			return min(closes, v.Start)
		}
	}
	return v.Start
}

// Visits returns the dates and slots that the order's tickets are for, each once: the visits of the lines that
// have a ticket that has not moved, and the visits of the tickets that have moved. It does not loop over the
// tickets, because a damaged fact may claim any number of them.
func (o *Order) Visits() (all []*keeper.Visit) {
	add := func(v *keeper.Visit) {
		if v != nil && !slices.ContainsFunc(all, func(was *keeper.Visit) bool { return *was == *v }) {
			all = append(all, v)
		}
	}
	left := make([]int64, len(o.Lines)) // tickets that have not moved
	for i := range o.Lines {
		left[i] = o.Lines[i].Quantity
	}
	for i := range o.Rescheduled {
		if line, _, ok := o.LineOf(o.Rescheduled[i].Ticket); ok {
			left[line]--
		}
	}
	for i := range o.Lines {
		if left[i] > 0 {
			add(o.Lines[i].Visit)
		}
	}
	for i := range o.Rescheduled {
		add(&o.Rescheduled[i].Visit)
	}
	return all
}

// Unsettled returns the move of a ticket that the calendar has not acknowledged, or nil. There is
// at most one.
func (o *Order) Unsettled() *Rescheduled {
	for i := range o.Rescheduled {
		if r := &o.Rescheduled[i]; !r.Settled {
			return r
		}
	}
	return nil
}

// CountBeside returns how many of an order's tickets are for a date, without the given ticket.
func (o *Order) CountBeside(ticket uint32, date keeper.Day) (n int64) {
	for other := o.FirstTicket; int64(other) < int64(o.FirstTicket)+o.Tickets(); other++ {
		if v := o.VisitOf(other); other != ticket && v != nil && v.Date == date {
			n++
		}
	}
	return n
}
