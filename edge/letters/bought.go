package letters

import (
	"cmp"
	"context"
	"slices"
	"time"

	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// addBought adds to m what an order's confirmation shows: the lines, the sums and the buyer's valid tickets, of which
// the mail lists at most mail.MaxTickets. If the buyer has any, it also leaves in e.Visits only the visits for which
// the buyer has tickets, and moves the others to e.Gone.
func (h *Writer) addBought(ctx context.Context, m *mail.Order, e *mail.Event, o *order.Order, p *live.Page) error {
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return err
	}
	zone := p.Event.Details.Timezone
	m.WaivedAt, m.WithdrawUntil = clockOf(o.WaivedAt, zone), clockOf(o.WithdrawableUntil(), zone)
	m.Fees, m.Discount, m.Total = money(o.Fees, o.Currency), money(o.Discount, o.Currency), money(o.Total, o.Currency)
	m.Note, m.Gift = noteOf(o), o.Issue != nil && o.Issue.Comp
	for i := range o.Lines {
		l := &o.Lines[i]
		line := mail.Line{Name: l.Name, Quantity: l.Quantity, Price: money(l.UnitPrice, o.Currency)}
		if t := slices.IndexFunc(p.Types, func(t readmodel.TicketType) bool { return t.Ref.ID == l.Type }); t >= 0 && o.OwnsOfLine(i) {
			line.Link, line.Note = h.Delivery(p.Event.Details, &p.Types[t].Details)
			_, _, ours := h.Access(p.Event.Details, &p.Types[t].Details)
			m.Hosted = m.Hosted || ours
		}
		m.Lines = append(m.Lines, line)
	}
	codes := h.Secrets.Event(o.ID.Event())
	records := view.Tickets(o, h.Known.PublicID(o.ID.Event()), codes, where)
	var visits []*mail.Visit
	for i := range records {
		if !o.IsOwnedBy(o.Email, records[i].Serial) || o.IsGivenBack(records[i].Serial) {
			// The ticket was passed on, or is not valid any more.
			continue
		}
		visit := h.VisitOf(o, records[i].Serial, p)
		visits = append(visits, visit)
		// The mail shows at most MaxTickets tickets; Count is how many there are.
		if m.Count++; m.Count <= mail.MaxTickets {
			m.Tickets = append(m.Tickets, ticketMail(o, &records[i], codes, visit, p.Event.Status))
		}
	}
	// The calendar file removes the visits for which the buyer has no ticket any more.
	if m.Count > 0 {
		all := e.Visits
		narrowVisits(e, visits...)
		e.Gone = slices.DeleteFunc(all, func(v mail.Visit) bool { return hasVisit(e.Visits, &v) })
	}
	return nil
}

// noteOf returns the note that an organization wrote to the person it gave tickets to, or "".
func noteOf(o *order.Order) string {
	if o.Issue == nil {
		return ""
	}
	return o.Issue.Note
}

// ticketMail returns a ticket as mails show it. It has codes only while its status is issued: a confirmation
// may be sent again after the admission or the event.
func ticketMail(o *order.Order, r *view.Ticket, codes *secrets.Codes, visit *mail.Visit, ofEvent string) mail.Ticket {
	t := mail.Ticket{Type: r.TierName, Visit: visit}
	if view.StatusAt(r.Status, o, r.Serial, ofEvent, time.Now()) == "issued" {
		t.Code, t.Printed = codes.Code(r.Serial, r.Version), codes.Printed(r.Serial, r.Version)
	}
	if r.Holder.Name != nil {
		t.Holder = *r.Holder.Name
	}
	if r.Seat != nil {
		t.Section, t.Row, t.Seat = r.Seat.Section, r.Seat.Row, cmp.Or(r.Seat.Label, r.Seat.ID)
	}
	return t
}
