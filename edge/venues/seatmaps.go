package venues

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/sse"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/committed"
)

// publicSeats returns the seat map of an event that the caller may see, with the event's number.
// The node keeps the map in memory and updates it by committed facts, so an actor is asked only for
// the first reader of a map (live.Feed).
func (h *Handlers) publicSeats(c *route.Call, id string) (int64, *committed.SeatMap, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, id)
	if err != nil {
		return 0, nil, err
	}
	m, err := h.Feed.Seats(c.Context, number)
	return number, m, err
}

// seatMap shows an event's seats with their prices. A request with live gets the prices without the
// seats: such a client gets the seats from the drawing, which caches keep for a year.
func (h *Handlers) seatMap(c *route.Call, in *api.ReadSeatMap) (*api.SeatMap, error) {
	number, m, err := h.publicSeats(c, in.EventID)
	if err != nil {
		return nil, err
	}
	layout, types := m.Layout()
	if layout == nil {
		return nil, &engine.Refusal{Code: engine.NoSeating}
	}
	v, err := h.pricedMap(c.Context, number, layout, types)
	if err != nil || in.Live {
		return v, err
	}
	// The JSON of a map is cached, because encoding 20,000 seats for each shopper would be too much
	// work. It contains the prices, so the cache's key has a hash of them.
	prices, err := json.Marshal(v.Sections, route.Encoding)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("seatmap/%s/%d/%x", v.VenueMapID, v.Version, sha256.Sum256(prices))
	return live.KeepPage(c.Context, h.Pages, int64(layout.Len()*seatBytes), key, func() (*api.SeatMap, error) {
		if err := h.drawSeats(c.Context, v, layout); err != nil {
			return nil, err
		}
		v.Text, err = json.Marshal(v, route.Encoding)
		v.Seats, v.Elements = nil, nil // Text has both; keeping them too would take twice the memory
		return v, err
	})
}

// seatBytes is the number of bytes for which the cache counts each seat of an encoded map.
const seatBytes = 100

// seatMapView returns an event's seat map with everything to draw and the prices of its sections.
func (h *Handlers) seatMapView(ctx context.Context, number int64, l *seatmap.Layout, types []int64) (*api.SeatMap, error) {
	v, err := h.pricedMap(ctx, number, l, types)
	if err != nil {
		return nil, err
	}
	return v, h.drawSeats(ctx, v, l)
}

// pricedMap returns an event's seat map with the prices of its sections, but without seats and
// elements. types has the ticket type of each section, in the layout's order. A section without a
// ticket type has no price.
func (h *Handlers) pricedMap(ctx context.Context, number int64, l *seatmap.Layout, types []int64) (*api.SeatMap, error) {
	p, err := h.Pages.Event(ctx, number)
	if err != nil {
		return nil, err
	}
	prices := make(map[int64]*inventory.Details, len(p.Types))
	for i := range p.Types {
		prices[p.Types[i].Ref.ID] = &p.Types[i].Details
	}
	id := uuid.UUID(l.Map).String()
	v := &api.SeatMap{
		VenueMapID: id, Version: l.Version, DrawingURL: fmt.Sprintf("/api/v1/public/venue-maps/%s/%d/drawing", id, l.Version),
		Canvas: api.Canvas{Width: l.Width, Height: l.Height}, Focus: l.Focus[:],
		Sections: make([]api.SeatSection, len(l.Sections)), Seats: []api.Seat{}, Elements: []jsontext.Value{},
	}
	for i, s := range l.Sections {
		v.Sections[i] = api.SeatSection{ID: s.ID, Name: s.Name}
		if t := prices[types[i]]; t != nil {
			id, price := engine.NumberedID(number, types[i]).String(), view.Decimal(t.Price, t.Currency)
			total := view.Decimal(order.PriceTotal(t.Price, p.Event.Details.AbsorbFees), t.Currency)
			v.Sections[i].TicketTypeID, v.Sections[i].Price, v.Sections[i].PriceTotal, v.Sections[i].Currency = &id, &price, &total, &t.Currency
		}
	}
	return v, nil
}

// drawSeats adds the seats to a map, and the elements that are drawn beside them.
func (h *Handlers) drawSeats(ctx context.Context, v *api.SeatMap, l *seatmap.Layout) (err error) {
	v.Seats = make([]api.Seat, l.Len())
	for i := range v.Seats {
		row := &l.Rows[l.SeatRow[i]]
		v.Seats[i] = api.Seat{
			ID: l.SeatIDs[i], Label: l.Labels[i], Section: l.Sections[row.Section].ID, Row: row.Label,
			X: l.SeatX[i], Y: l.SeatY[i], Kind: seatKinds[l.SeatKind[i]],
		}
	}
	v.Elements, err = h.seatElements(ctx, l)
	return err
}

// seatKinds are the words of the API for the kinds of seats.
var seatKinds = [...]string{seatmap.Standard: "standard", seatmap.Wheelchair: "wheelchair", seatmap.Companion: "companion"}

// seatElements returns what a map shows besides seats, such as the stage. A published version never
// changes, so the answer is cached.
func (h *Handlers) seatElements(ctx context.Context, l *seatmap.Layout) ([]jsontext.Value, error) {
	key := "elements/" + uuid.UUID(l.Map).String() + "/" + strconv.Itoa(int(l.Version))
	return live.CachePage(ctx, h.Pages, key, func() ([]jsontext.Value, error) {
		_, text, err := h.Venues.Layout(ctx, l.Map, l.Version)
		if err != nil {
			return nil, err
		}
		return readElements(text)
	})
}

// readElements reads the elements of a map in the form in which they are stored.
func readElements(text []byte) ([]jsontext.Value, error) {
	elements := []jsontext.Value{}
	if len(text) == 0 {
		return elements, nil
	}
	return elements, json.Unmarshal(text, &elements)
}

// seatStates lists the seats of an event that are sold, blocked or held. All other seats are free, if their
// section is for sale. It refuses an event that has no seat map.
func (h *Handlers) seatStates(c *route.Call, in *api.SeatsByEvent) (*api.SeatStates, error) {
	_, m, err := h.publicSeats(c, in.EventID)
	if err != nil {
		return nil, err
	}
	v := m.View()
	if v.Layout == nil {
		return nil, &engine.Refusal{Code: engine.NoSeating}
	}
	out := &api.SeatStates{Sold: []string{}, Blocked: []string{}, Held: []string{}}
	lists := map[seatmap.Status]*[]string{seatmap.Sold: &out.Sold, seatmap.Blocked: &out.Blocked, seatmap.Held: &out.Held}
	for i, state := range v.States {
		if list := lists[state]; list != nil {
			*list = append(*list, v.Layout.SeatIDs[i])
		}
	}
	return out, nil
}

// liveSeats streams an event's seats: a snapshot first, and then each change. All watchers of a
// topic get the same bytes, so the packed and the plain form are topics of their own.
func (h *Handlers) liveSeats(c *route.Call, in *api.WatchSeats) (sse.Topic, error) {
	number, m, err := h.publicSeats(c, in.EventID)
	if err != nil {
		return sse.Topic{}, err
	}
	if layout, _ := m.Layout(); layout == nil {
		return sse.Topic{}, &engine.Refusal{Code: engine.NoSeating}
	}
	name, snapshot := "seats/", appendStates
	if in.Packed {
		name, snapshot = "packed-seats/", appendPacked
	}
	return sse.Topic{
		Name: name + strconv.FormatInt(number, 10),
		Open: func(ctx context.Context, changed func()) (sse.Source, error) {
			for { // loads the map again if the node has forgotten it in the meantime
				m, err := h.Feed.Seats(ctx, number)
				if err != nil {
					return nil, err
				}
				if w, ok := m.Watch(changed); ok {
					return &seatSource{w, snapshot}, nil
				}
			}
		},
	}, nil
}

// seatSource is the source of a stream of one event's seats. appendSnapshot writes a snapshot in
// the stream's form, packed or plain.
type seatSource struct {
	*committed.Watcher
	appendSnapshot func([]byte, *committed.SeatView) []byte
}

// Close ends the watching of the seat map.
func (s *seatSource) Close() { s.Watcher.Close() }

// Take turns the changes since the last call into events: one seat_update for each sort of change.
// If whole is set, it also returns a snapshot, for watchers who have just come or lack changes. If
// the event has another seat map by now, both are a snapshot of that map.
func (s *seatSource) Take(whole bool) (update, snapshot []sse.Event) {
	changes, layout, view, another := s.Watcher.Take(whole)
	if view != nil {
		snapshot = []sse.Event{{Name: "snapshot", Data: s.appendSnapshot(nil, view)}}
	}
	if another {
		// Everybody who watches gets the new map as a whole.
		return snapshot, snapshot
	}
	kinds := [...]string{"sold", "held", "released", "blocked", "unblocked"}
	var lists [len(kinds)][]byte
	for _, change := range changes {
		// A seat that becomes available was released, unless it was blocked before.
		kind := 2
		switch {
		case change.To == seatmap.Sold:
			kind = 0
		case change.To == seatmap.Held:
			kind = 1
		case change.To == seatmap.Blocked:
			kind = 3
		case change.From == seatmap.Blocked:
			kind = 4
		}
		lists[kind] = appendSeat(lists[kind], layout.SeatIDs[change.Seat])
	}
	for i, list := range lists {
		if list != nil {
			data := append([]byte(`{"`+kinds[i]+`":[`), list...)
			update = append(update, sse.Event{Name: "seat_update", Data: append(data, "]}"...)})
		}
	}
	return update, snapshot
}

// appendSeat adds a seat's id to a JSON list. Seat ids have only characters that JSON does not
// escape (seatmap.Layout), so they are copied unchanged.
func appendSeat(b []byte, id string) []byte {
	if len(b) > 0 && b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), id...), '"')
}

// appendPacked adds the JSON of a packed snapshot: two bits for each seat, four seats in a byte,
// the first seat in the lowest bits.
func appendPacked(b []byte, v *committed.SeatView) []byte {
	p := api.PackedSeats{States: make([]byte, (len(v.States)+3)/4)}
	if v.Layout != nil {
		p.VenueMapID, p.Version = uuid.UUID(v.Layout.Map).String(), v.Layout.Version
	}
	for seat, state := range v.States {
		p.States[seat/4] |= byte(state) << (seat % 4 * 2)
	}
	text, _ := json.Marshal(p, route.Encoding) // encoding these fields never fails
	return append(b, text...)
}

// appendStates adds the JSON of a snapshot: the seats that are not available, by state.
func appendStates(b []byte, v *committed.SeatView) []byte {
	for i, kind := range []struct {
		name  string
		state seatmap.Status
	}{{"sold", seatmap.Sold}, {"blocked", seatmap.Blocked}, {"held", seatmap.Held}} {
		if i == 0 {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), kind.name...), `":[`...)
		for seat, state := range v.States {
			if state == kind.state {
				b = appendSeat(b, v.Layout.SeatIDs[seat])
			}
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
