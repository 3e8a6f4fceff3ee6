package holders

import (
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/attendees"
)

// listMyTickets returns a page of the tickets that the caller holds, the latest issued first. The
// caller's address must be proven, because it decides which tickets are the caller's.
func (h *Handlers) listMyTickets(c *route.Call, in *api.ListMyTickets) (*api.List[api.HeldTicket], error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	keys, err := cursors.Read(in.Cursor, cursors.LastMoment, math.MaxInt64, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	var after attendees.Place
	if keys != nil {
		// A place has the time of issue (unix milliseconds) and, because one order issues
		// many tickets at once, the event and the serial.
		after = attendees.Place{IssuedAt: keys[0], Event: keys[1], Serial: uint32(keys[2])} //nolint:gosec // below its limit
	}
	list, err := h.Attendees.Held(c.Context, c.Principal.Email, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	out := new(api.List[api.HeldTicket])
	if len(list) > in.Limit {
		list = list[:in.Limit]
		last := &list[in.Limit-1]
		out.NextCursor = cursors.Of(last.IssuedAt, last.Event, int64(last.Serial))
	}
	out.Items, err = h.heldViews(c, list)
	return out, err
}

// heldViews shows the tickets of a list that the caller really holds. The list comes from a table
// that may be behind the orders, so heldViews leaves out a ticket whose order says that somebody
// else owns it. The view of an order is made once for all of its tickets.
func (h *Handlers) heldViews(c *route.Call, list []attendees.Held) ([]api.HeldTicket, error) {
	all := make([]api.HeldTicket, 0, len(list))
	shown := make(map[engine.OrderID]*api.Order, len(list))
	for i := range list {
		o, serial := list[i].Order, list[i].Serial
		if !o.IsOwnedBy(c.Principal.Email, serial) {
			continue
		}
		if shown[o.ID] == nil {
			v, err := h.Orders.Show(c, o, orders.Person(c.Principal.Email))
			if err != nil {
				return nil, err
			}
			shown[o.ID] = v
		}
		t, err := h.heldView(c, o, serial, shown[o.ID])
		if err != nil {
			return nil, err
		}
		all = append(all, *t)
	}
	return all, nil
}

// heldView shows a ticket with its event. shown is the ticket's order as the caller sees it.
func (h *Handlers) heldView(c *route.Call, o *order.Order, serial uint32, shown *api.Order) (*api.HeldTicket, error) {
	p, err := h.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return nil, err
	}
	e := p.Event.Details
	v := &api.HeldTicket{Ticket: shown.Tickets[serial-o.FirstTicket], Event: api.HeldEvent{
		ID: e.PublicID.String(), Slug: e.Slug, Title: e.Title, Status: p.Event.Status, CancelReason: e.CancelReason, StartDate: api.At(e.StartAt), EndDate: api.At(e.EndAt),
		Timezone: e.Timezone, VenueType: e.VenueType, VenueName: view.Optional(e.VenueName), VenueCity: view.Optional(e.VenueCity), CoverImage: view.Optional(e.CoverImage),
	}}
	v.Tier = api.HeldTier{ID: v.TicketTypeID, Name: v.TierName}
	return v, nil
}
