package letters

import (
	"slices"
	"time"

	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Visits returns the visits that an order has booked, or none if the event is not a reservation calendar.
func (h *Writer) Visits(o *order.Order, p *live.Page) (visits []mail.Visit) {
	for _, v := range o.Visits() {
		visits = append(visits, h.VisitMail(o, v, p))
	}
	return visits
}

// VisitOf returns the visit that a ticket is booked for, or nil if the event is not a reservation calendar.
func (h *Writer) VisitOf(o *order.Order, ticket uint32, p *live.Page) *mail.Visit {
	v := o.VisitOf(ticket)
	if v == nil {
		return nil
	}
	at := h.VisitMail(o, v, p)
	return &at
}

// narrowVisits replaces e.Visits by the given visits, each once, the earliest first. It ignores nils.
func narrowVisits(e *mail.Event, visits ...*mail.Visit) {
	e.Visits = nil
	for _, v := range visits {
		if v != nil && !hasVisit(e.Visits, v) {
			e.Visits = append(e.Visits, *v)
		}
	}
	slices.SortStableFunc(e.Visits, func(a, b mail.Visit) int { return a.Start.Compare(b.Start) })
}

// hasVisit reports whether a visit is in a list. It compares ids, because equal times may differ
// under ==.
func hasVisit(all []mail.Visit, v *mail.Visit) bool {
	return slices.ContainsFunc(all, func(at mail.Visit) bool { return at.ID == v.ID })
}

// visitBefore returns the visit that a ticket was booked for before it was moved, or nil if we don't know it. The
// order has the times only of the visit that was bought and of present visits; for any other it returns the
// date without a time. The visit is Cancelled unless the reader has another ticket for it.
func (h *Writer) visitBefore(o *order.Order, ticket uint32, reader, zone string) *mail.Visit {
	i := slices.IndexFunc(o.Rescheduled, func(r order.Rescheduled) bool { return r.Ticket == ticket })
	if i < 0 {
		return nil
	}
	from := o.Rescheduled[i].From
	was := mail.Visit{ID: visitID(o, from.Date, from.Slot), Cancelled: !hasBooked(o, reader, from)}
	known := o.Visits()
	if line, _, ok := o.LineOf(ticket); ok && o.Lines[line].Visit != nil {
		known = append([]*keeper.Visit{o.Lines[line].Visit}, known...)
	}
	for _, v := range known {
		if v.Date == from.Date && v.Slot == from.Slot {
			was.Start, was.End, was.AllDay, was.Label = clockOf(v.Start, zone), clockOf(v.End, zone), v.Slot == "", v.Label
			return &was
		}
	}
	day, err := time.ParseInLocation(time.DateOnly, from.Date.String(), clockOf(1, zone).Location())
	if err != nil {
		return nil
	}
	was.Start, was.AllDay = day, true
	return &was
}

// hasBooked reports whether a person has a valid ticket of an order for a date and slot.
func hasBooked(o *order.Order, email string, place keeper.Booking) bool {
	for k := range uint32(o.Tickets()) { //nolint:gosec // tickets of an order are few
		ticket := o.FirstTicket + k
		at, ok := o.Booking(ticket)
		if ok && at.Date == place.Date && at.Slot == place.Slot && isFor(o, email, ticket) && !o.IsGivenBack(ticket) {
			return true
		}
	}
	return false
}

// visitID names a visit of an order in calendars. The name stays the same as long as the order has
// the visit, so that a later file changes the same entry.
func visitID(o *order.Order, date keeper.Day, slot string) string {
	return o.ID.String() + "-" + date.String() + slot
}

// VisitMail shows a booked visit by the clocks of its event's time zone.
func (h *Writer) VisitMail(o *order.Order, v *keeper.Visit, p *live.Page) mail.Visit {
	zone := p.Event.Details.Timezone
	return mail.Visit{
		ID: visitID(o, v.Date, v.Slot), Start: clockOf(v.Start, zone), End: clockOf(v.End, zone), AllDay: v.Slot == "", Label: v.Label,
		Cancelled: o.IsVisitGivenBack(v),
	}
}
