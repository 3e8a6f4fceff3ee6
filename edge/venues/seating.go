package venues

import (
	"fmt"
	"strings"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/readmodel"
)

// getSeating shows an event's seating to its organization. It asks the actor of the seat map, so
// the answer is of this moment.
func (h *Handlers) getSeating(c *route.Call, in *api.ByID) (*api.Seating, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	m, err := cluster.AskFor[seatmap.Map](c.Context, h.Node, engine.SeatmapRef(number), seatmap.View{})
	if err != nil {
		return nil, err
	}
	return h.seatingView(c, number, m)
}

// seatingView shows an event's seating from the answer of the seat map's actor. An event without
// seats is shown as not enabled.
func (h *Handlers) seatingView(c *route.Call, number int64, m *seatmap.Map) (*api.Seating, error) {
	if !m.Attached {
		return &api.Seating{}, nil
	}
	v := &api.Seating{
		Enabled: true, Mode: m.Mode, HoldTTLSeconds: m.HoldTime / time.Second.Milliseconds(),
		Counts:  &api.SeatCounts{Total: m.Seats, Available: m.Available, Held: m.Held, Sold: m.Sold, Blocked: m.Blocked},
		Pricing: []api.SectionTicketRef{}, Sold: []string{}, Blocked: []string{},
	}
	// types has, at each section's index in the layout, the number of the section's ticket type, or
	// 0 for a section that is not for sale.
	types := make([]int64, len(m.Layout.Sections))
	for _, p := range m.Prices {
		v.Pricing = append(v.Pricing, api.SectionTicketRef{Section: p.Section, Type: engine.NumberedID(number, p.Type).String()})
		for i := range m.Layout.Sections {
			if m.Layout.Sections[i].ID == p.Section {
				types[i] = p.Type
			}
		}
	}
	for i, id := range m.Layout.SeatIDs {
		switch m.State(i) {
		case seatmap.Sold:
			v.Sold = append(v.Sold, id)
		case seatmap.Blocked:
			v.Blocked = append(v.Blocked, id)
		case seatmap.Available, seatmap.Held:
		}
	}
	var err error
	v.Map, err = h.seatMapView(c.Context, number, m.Layout, types)
	return v, err
}

// setSeating gives an event the seats of a published version of a venue map. The actor of
// the event's seat map keeps a copy of the layout, so a later version does not change the
// event. It then sets whether ticket types are sold by seats only, which depends on the mode.
func (h *Handlers) setSeating(c *route.Call, in *api.SetSeating) (*api.Seating, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	m, err := h.venue(c, in.Map)
	if err != nil {
		return nil, err
	}
	layout, _, err := h.Venues.Layout(c.Context, m.PublicID, in.Version)
	if err != nil {
		return nil, err
	}
	if layout == nil {
		return nil, &engine.Refusal{Code: engine.MapNotPublished}
	}
	if _, err := cluster.AskFor[seatmap.Record](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Attach{
		Layout: layout, Mode: in.Mode, HoldTime: (time.Duration(in.Hold) * time.Second).Milliseconds(),
	}); err != nil {
		return nil, err
	}
	// The ticket types are changed after the seats. If this step fails, a repeat of the request
	// carries it out.
	if err := h.sellSeatsOnly(c, number, in.Mode == seatmap.Reserved); err != nil {
		return nil, err
	}
	return h.getSeating(c, &api.ByID{ID: in.ID})
}

// sellSeatsOnly sets for each ticket type of the event whether it is sold only with seats. The
// caller has changed the seat map before. If sellSeatsOnly fails, a repeat of the request completes
// it.
func (h *Handlers) sellSeatsOnly(c *route.Call, number int64, only bool) error {
	types, err := h.typesOf(c, number)
	if err != nil {
		return err
	}
	for i := range types {
		if _, err := h.ChangeType(c, types[i].Ref, func(t *inventory.Details) error {
			t.SeatsOnly = only
			return nil
		}); err != nil {
			return err
		}
	}
	h.Pages.Refresh(c.Context, number)
	return nil
}

// typesOf lists an event's ticket types. None may be missing: a type that is not told that the event sells seats only
// would be sold without a seat.
func (h *Handlers) typesOf(c *route.Call, number int64) ([]readmodel.TicketType, error) {
	e, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	return h.ListTypes(c, e)
}

// removeSeating takes the seats from an event, if its seat map allows it. The ticket types can then
// be sold without seats again.
func (h *Handlers) removeSeating(c *route.Call, in *api.ByID) (*api.Seating, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := cluster.AskFor[seatmap.Record](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Detach{}); err != nil {
		return nil, err
	}
	if err := h.sellSeatsOnly(c, number, false); err != nil {
		return nil, err
	}
	return &api.Seating{}, nil
}

// priceSeating sets the ticket type as which the seats of each section are sold. If the request
// names ticket types that are not the event's, the refusal lists all of them.
func (h *Handlers) priceSeating(c *route.Call, in *api.SetSeatPrices) (*api.Seating, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	types, err := h.typesOf(c, number)
	if err != nil {
		return nil, err
	}
	known := make(map[string]int64, len(types))
	for i := range types {
		known[inventory.TypeID(types[i].Ref).String()] = types[i].Ref.ID
	}
	prices := make([]seatmap.SectionPrice, len(in.Mappings))
	var issues []route.Issue
	for i, m := range in.Mappings {
		prices[i] = seatmap.SectionPrice{Section: m.Section, Type: known[strings.ToLower(m.Type)]}
		if prices[i].Type == 0 {
			issues = append(issues, route.Issue{
				Path: fmt.Sprintf("mappings[%d].ticketTypeId", i), Code: route.IssueEnum, Message: "is no ticket type of this event",
			})
		}
	}
	if len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	if _, err := cluster.AskFor[seatmap.Record](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Price{Sections: prices}); err != nil {
		return nil, err
	}
	return h.getSeating(c, &api.ByID{ID: in.ID})
}

// blockSeats takes seats out of the sale and puts others back, in one command to the seat map's
// actor: all or nothing. It answers with the seats that it has changed.
func (h *Handlers) blockSeats(c *route.Call, in *api.BlockSeats) (*api.BlockedSeats, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[seatmap.Blocking](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Block{Block: in.Block, Unblock: in.Unblock})
	if err != nil {
		return nil, err
	}
	return &api.BlockedSeats{Blocked: r.Blocked, Unblocked: r.Unblocked}, nil
}
