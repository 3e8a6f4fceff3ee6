package holders

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/attendees"
)

// listAttendees returns a page of an event's tickets with the people who attend by them. The ticket
// with the highest serial comes first.
func (h *Handlers) listAttendees(c *route.Call, in *api.ListAttendees) (*api.List[api.Attendee], error) {
	number, filter, err := h.findAttendees(c, &in.AttendeeFilter)
	if err != nil {
		return nil, err
	}
	keys, err := cursors.Read(in.Cursor, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	var before uint32
	if keys != nil {
		before = uint32(keys[0]) //nolint:gosec // below its limit
	}
	// We read one attendee more than a page has. That one means that another page follows.
	list, err := h.Attendees.List(c.Context, number, filter, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	out := &api.List[api.Attendee]{Items: make([]api.Attendee, 0, len(list))}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.NextCursor = cursors.Of(int64(list[in.Limit-1].Serial))
	}
	for i := range list {
		v, err := h.attendeeView(c.Context, &list[i], c.Now)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, *v)
	}
	return out, nil
}

// findAttendees reads the event and the filter of its attendees from a request. When an event is
// over, its tickets expire without a fact, so their rows still say issued. A filter for expired or
// issued tickets is therefore translated into what the rows say.
func (h *Handlers) findAttendees(c *route.Call, in *api.AttendeeFilter) (number int64, f attendees.Filter, err error) {
	if number, err = h.Known.FindOwn(c, in.ID); err != nil {
		return 0, f, err
	}
	f = attendees.Filter{Asked: orders.Ask(h.Secrets, in.Query, []int64{number}), Status: in.Status, Tag: strings.ToLower(strings.TrimSpace(in.Tag)), Since: in.UpdatedSince}
	p, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return 0, f, err
	}
	// After the end of an event, rows that say issued are shown as expired. No ticket is shown as
	// issued any more, so that filter becomes one that no row meets.
	if p.Event.Status == event.StatusCompleted && event.ProductType(p.Event.Details.Category) == event.ProductEvent {
		switch in.Status {
		case "issued":
			f.Status = "expired"
		case "expired":
			f.Status = "issued"
		}
	}
	if in.CheckedIn != "" {
		admitted := in.CheckedIn == "true"
		f.CheckedIn = &admitted
	}
	// The public id of a ticket type is derived from its number, so we derive the id of each type
	// and compare.
	if in.TicketTypeID != "" {
		for i := range p.Types {
			if of := p.Types[i].Ref.ID; strings.EqualFold(engine.NumberedID(number, of).String(), in.TicketTypeID) {
				f.Type = of
			}
		}
		if f.Type == 0 {
			return 0, f, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
	}
	return number, f, nil
}

// getAttendee shows the attendee of one ticket.
func (h *Handlers) getAttendee(c *route.Call, in *api.AttendeeID) (*api.Attendee, error) {
	number, serial, err := h.findAttendee(c, in)
	if err != nil {
		return nil, err
	}
	a, err := h.Attendees.Find(c.Context, number, serial)
	if err != nil {
		return nil, noAttendee(err)
	}
	return h.attendeeView(c.Context, a, c.Now)
}

// updateAttendee changes the name or address by which the organization knows an attendee.
// The holder of the ticket and the order stay as they are: an organizer must not be able to
// move a ticket to somebody else this way.
func (h *Handlers) updateAttendee(c *route.Call, in *api.UpdateAttendee) (*api.Attendee, error) {
	number, serial, err := h.findAttendee(c, &in.AttendeeID)
	if err != nil {
		return nil, err
	}
	// A nil leaves the attendee's name or address as it is.
	var name, email *string
	if in.Name.Set {
		name = &in.Name.Value
	}
	if in.Email.Set {
		email = &in.Email.Value
	}
	if err := h.Attendees.Edit(c.Context, number, serial, name, email); err != nil {
		return nil, noAttendee(err)
	}
	a, err := h.Attendees.Find(c.Context, number, serial)
	if err != nil {
		return nil, noAttendee(err)
	}
	return h.attendeeView(c.Context, a, c.Now)
}

// findAttendee returns the event and the serial of the ticket that a request names, for a caller
// whose event it is. A ticket's id is its serial, encrypted with the event's keys. An id that these
// keys cannot decrypt is refused with TICKET_NOT_FOUND; whether the ticket exists is not checked
// here.
func (h *Handlers) findAttendee(c *route.Call, in *api.AttendeeID) (number int64, serial uint32, err error) {
	if number, err = h.Known.FindOwn(c, in.ID); err != nil {
		return 0, 0, err
	}
	id, err := engine.ParseID(in.TicketID)
	if err != nil || id.Event() != number {
		return 0, 0, &engine.Refusal{Code: engine.TicketNotFound}
	}
	serial, ok := h.Secrets.Event(number).FromTicketID(id)
	if !ok {
		return 0, 0, &engine.Refusal{Code: engine.TicketNotFound}
	}
	return number, serial, nil
}

// noAttendee turns the store's error for a ticket without an attendee into the refusal for a
// missing ticket. It passes other errors on.
func noAttendee(err error) error {
	if errors.Is(err, attendees.ErrNotFound) {
		return &engine.Refusal{Code: engine.TicketNotFound}
	}
	return err
}

// attendeeView shows an attendee to the organization. It leaves out the ticket's codes, so that
// nobody of the organization can get in by them.
func (h *Handlers) attendeeView(ctx context.Context, a *attendees.Attendee, now time.Time) (*api.Attendee, error) {
	o := a.Order
	p, err := h.Pages.Event(ctx, o.ID.Event())
	if err != nil {
		return nil, err
	}
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return nil, err
	}
	records := view.Tickets(o, h.Known.PublicID(o.ID.Event()), h.Secrets.Event(o.ID.Event()), where)
	v := &api.Attendee{
		TicketRecord: records[a.Serial-o.FirstTicket].TicketRecord,
		Name:         view.Optional(a.Name), Email: view.Optional(a.Email), Tags: view.List(a.Tags), UpdatedAt: api.At(a.UpdatedAt),
	}
	// Name and Email above are what the organization knows the attendee by. Holder is the person
	// who has the ticket.
	holder := o.OwnerOf(a.Serial)
	v.Holder = &api.Buyer{Email: holder.Email, Name: view.Optional(holder.Name)}
	v.Status = view.StatusAt(a.Status, o, a.Serial, p.Event.Status, now)
	v.TicketID, v.CheckedInAt, v.GateName = v.ID, api.At(a.CheckedInAt), view.Optional(a.Gate)
	return v, nil
}
