package edge

import (
	"context"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/sse"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/readmodel"
)

// Seat maps are shown from this node's memory: the actor is asked once, and then
// the feed of committed facts keeps the map. Holds go to the actor.

// seatsOf is an event's seat map as last committed, whether one is attached or
// not.
func (d *Desk) seatsOf(ctx context.Context, number int64) (*readmodel.SeatMap, error) {
	if m, ok := d.Seats.Get(number); ok {
		return m, nil
	}
	return d.Seats.Load(number, func() (*seatmap.Map, error) {
		if err := d.Node.Follow(ctx, number); err != nil {
			return nil, err
		}
		return cluster.AskFor[seatmap.Map](ctx, d.Node, engine.SeatmapRef(number), seatmap.View{})
	})
}

// Missed forgets what is shown of all events but those that kept names, and loads
// the seat maps again that somebody watches.
func (d *Desk) Missed(kept func(event int64) bool) {
	d.Stock.Retain(kept)
	for _, event := range d.Seats.Retain(kept) {
		d.reloads.Go(func() { panics.Keep(d.life, d.Log, "reload of a seat map", func() { d.reload(event) }) })
	}
}

// reload makes a watched seat map known again, once its actor is to be had.
func (d *Desk) reload(event int64) {
	for d.life.Err() == nil {
		if _, known := d.Seats.Get(event); known {
			return
		}
		ctx, cancel := context.WithTimeout(d.life, reloadCall)
		_, err := d.seatsOf(ctx, event)
		cancel()
		if err == nil {
			return
		}
		select {
		case <-time.After(reloadPause):
		case <-d.life.Done():
		}
	}
}

const (
	reloadCall  = 5 * time.Second
	reloadPause = 200 * time.Millisecond
)

// publicSeats is the seat map of an event that the caller may see.
func (d *Desk) publicSeats(c *route.Call, id string) (int64, *readmodel.SeatMap, error) {
	number, _, err := d.Known.ReadID(c.Context, id)
	if err != nil {
		return 0, nil, err
	}
	p, err := d.eventPageOf(c.Context, number)
	if err != nil {
		return 0, nil, err
	}
	if !visible(c, &p.event.Record) {
		return 0, nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	m, err := d.seatsOf(c.Context, number)
	return number, m, err
}

func (d *Desk) seatMap(c *route.Call, in *api.SeatsByEvent) (*api.SeatMap, error) {
	number, m, err := d.publicSeats(c, in.EventID)
	if err != nil {
		return nil, err
	}
	layout, types := m.Layout()
	if layout == nil {
		return nil, &engine.Refusal{Code: engine.NoSeating}
	}
	return d.seatMapView(c.Context, number, layout, types)
}

// seatMapView is a map to draw, with the prices of its sections.
func (d *Desk) seatMapView(ctx context.Context, number int64, l *seatmap.Layout, types []int64) (*api.SeatMap, error) {
	p, err := d.eventPageOf(ctx, number)
	if err != nil {
		return nil, err
	}
	prices := make(map[int64]*inventory.Details, len(p.types))
	for i := range p.types {
		prices[p.types[i].Ref.ID] = &p.types[i].Details
	}
	v := &api.SeatMap{
		VenueMapID: uuid.UUID(l.Map).String(), Version: l.Version,
		Canvas: api.Canvas{Width: l.Width, Height: l.Height}, Focus: l.Focus[:],
		Sections: make([]api.SeatSection, len(l.Sections)), Seats: make([]api.Seat, l.Len()),
	}
	for i, s := range l.Sections {
		v.Sections[i] = api.SeatSection{ID: s.ID, Name: s.Name}
		if t := prices[types[i]]; t != nil {
			id, price := engine.NumberedID(number, types[i]).String(), decimal(t.Price)
			v.Sections[i].TicketTypeID, v.Sections[i].Price, v.Sections[i].Currency = &id, &price, &t.Currency
		}
	}
	for i := range v.Seats {
		row := &l.Rows[l.SeatRow[i]]
		v.Seats[i] = api.Seat{
			ID: l.SeatIDs[i], Label: l.Labels[i], Section: l.Sections[row.Section].ID, Row: row.Label,
			X: l.SeatX[i], Y: l.SeatY[i], Kind: seatKinds[l.SeatKind[i]],
		}
	}
	v.Elements, err = d.seatElements(ctx, l)
	return v, err
}

var seatKinds = [...]string{seatmap.Standard: "standard", seatmap.Wheelchair: "wheelchair", seatmap.Companion: "companion"}

// seatElements is what a map shows besides seats.
func (d *Desk) seatElements(ctx context.Context, l *seatmap.Layout) ([]jsontext.Value, error) {
	key := "elements/" + uuid.UUID(l.Map).String() + "/" + strconv.Itoa(int(l.Version))
	return cached(ctx, d, key, func() ([]jsontext.Value, error) {
		_, text, err := d.Venues.Layout(ctx, l.Map, l.Version)
		if err != nil {
			return nil, err
		}
		elements := []jsontext.Value{}
		if len(text) > 0 {
			err = json.Unmarshal(text, &elements)
		}
		return elements, err
	})
}

func (d *Desk) seatStates(c *route.Call, in *api.SeatsByEvent) (*api.SeatStates, error) {
	_, m, err := d.publicSeats(c, in.EventID)
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

// principalOf is who asks, to the actors: an account, an API key, or a client
// address.
func (d *Desk) principalOf(c *route.Call) uint64 {
	switch p := &c.Principal; {
	case p.Kinds.Has(route.User):
		return d.Secrets.Account(p.User)
	case p.Kinds.Has(route.Key):
		return d.Secrets.Key(p.Key)
	}
	return d.Secrets.Client(route.Network(c.Client))
}

// networkOf is the address whose velocity counts at an organization's event. Whoever
// sells for the organization is no buyer and has none.
func (d *Desk) networkOf(c *route.Call, org int64) uint64 {
	if _, own := c.Principal.Grant(org); own {
		return 0
	}
	return d.Secrets.Client(route.Network(c.Client))
}

func (d *Desk) holdSeats(c *route.Call, in *api.HoldSeats) (*api.HeldSeats, error) {
	number, org, err := d.seatsForSale(c, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[seatmap.Selection](c.Context, d.Node, engine.SeatmapRef(number), seatmap.Hold{
		Holder: in.Holder, Principal: d.principalOf(c), Seats: in.SeatIDs, Request: live.RequestOf(c, d.Secrets),
		Network: d.networkOf(c, org), Scale: d.LimitsScale,
	})
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	v := &api.HeldSeats{Held: orEmpty(r.Held), Failed: orEmpty(r.Failed), Reasons: map[string]string{}, ExpiresAt: api.At(r.ExpiresAt)}
	for i, why := range r.Reasons {
		v.Reasons[r.Failed[i]] = string(why)
	}
	return v, nil
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (d *Desk) releaseSeats(c *route.Call, in *api.ReleaseSeats) (*api.ReleasedSeats, error) {
	number, _, err := d.seatedEvent(c, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[seatmap.Released](c.Context, d.Node, engine.SeatmapRef(number), seatmap.Release{
		Holder: in.Holder, Seats: in.SeatIDs, Request: live.RequestOf(c, d.Secrets),
	})
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	return &api.ReleasedSeats{Released: len(r.Seats)}, nil
}

func (d *Desk) bestSeats(c *route.Call, in *api.BestSeats) (*api.BestHeld, error) {
	number, org, err := d.seatsForSale(c, in.EventID)
	if err != nil {
		return nil, err
	}
	cmd := seatmap.BestAvailable{
		Holder: in.Holder, Principal: d.principalOf(c), Quantity: in.Quantity, Sections: in.SectionIDs,
		Accessible: in.Accessible, Adjacent: in.Adjacent, Request: live.RequestOf(c, d.Secrets),
		Network: d.networkOf(c, org), Scale: d.LimitsScale,
	}
	if in.TicketTypeID != "" {
		id, err := engine.ParseID(in.TicketTypeID)
		if err != nil || id.Event() != number {
			return nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		cmd.Type = id.Number()
	}
	r, err := cluster.AskFor[seatmap.Best](c.Context, d.Node, engine.SeatmapRef(number), cmd)
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	return &api.BestHeld{Held: r.Held, Adjacent: r.Adjacent, ExpiresAt: api.At(r.ExpiresAt)}, nil
}

// seatedEvent is the number of an event that the caller may see, and its
// organization. Whether it is seated, its seat map says.
func (d *Desk) seatedEvent(c *route.Call, id string) (number, org int64, err error) {
	if number, _, err = d.Known.ReadID(c.Context, id); err != nil {
		return 0, 0, err
	}
	p, err := d.eventPageOf(c.Context, number)
	if err != nil {
		return 0, 0, err
	}
	if !visible(c, &p.event.Record) {
		return 0, 0, &engine.Refusal{Code: engine.EventNotFound}
	}
	org = p.event.Details.Org
	return number, org, d.boxOffice(c, org, engine.EventNotFound)
}

// seatsForSale is a seatedEvent that has not ended. Everybody may still look at
// the seats of one that has, but hold none.
func (d *Desk) seatsForSale(c *route.Call, id string) (number, org int64, err error) {
	number, org, err = d.seatedEvent(c, id)
	if err != nil {
		return 0, 0, err
	}
	p, err := d.eventPageOf(c.Context, number)
	if err != nil {
		return 0, 0, err
	}
	if event.Ended(p.event.Status) {
		return 0, 0, engine.Refuse(engine.NotOnSale, seatsClosed{Reason: "event_" + p.event.Status})
	}
	return number, org, nil
}

// seatsClosed is the detail of NOT_ON_SALE for the seats of an event.
type seatsClosed struct {
	Reason string `json:"reason"` // event_ and its status
}

// liveSeats streams an event's seats.
func (d *Desk) liveSeats(c *route.Call, in *api.SeatsByEvent) (sse.Topic, error) {
	number, m, err := d.publicSeats(c, in.EventID)
	if err != nil {
		return sse.Topic{}, err
	}
	if layout, _ := m.Layout(); layout == nil {
		return sse.Topic{}, &engine.Refusal{Code: engine.NoSeating}
	}
	return sse.Topic{
		Name: "seats/" + strconv.FormatInt(number, 10),
		Open: func(ctx context.Context, changed func()) (sse.Source, error) {
			m, err := d.seatsOf(ctx, number) // known anew, if it was forgotten meanwhile
			if err != nil {
				return nil, err
			}
			return &seatSource{m.Watch(changed)}, nil
		},
	}, nil
}

// seatSource is a seat map as a stream shows it.
type seatSource struct{ *readmodel.Watcher }

// Close ends watching.
func (s *seatSource) Close() { s.Watcher.Close() }

// Take makes events of what has changed: seat_update, one for each sort of
// change, and snapshot, also of a map in the place of the one that was watched.
func (s *seatSource) Take(whole bool) (update, snapshot []sse.Event) {
	changes, layout, view, another := s.Watcher.Take(whole)
	if view != nil {
		snapshot = []sse.Event{{Name: "snapshot", Data: appendStates(nil, view)}}
	}
	if another {
		return snapshot, snapshot // those who watch see the other map as well
	}
	kinds := [...]string{"sold", "held", "released", "blocked", "unblocked"}
	var lists [len(kinds)][]byte
	for _, change := range changes {
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

// appendSeat adds a seat's id to a JSON list. Ids are of letters that JSON takes
// as they are (seatmap.Layout).
func appendSeat(b []byte, id string) []byte {
	if len(b) > 0 && b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), id...), '"')
}

// appendStates adds the snapshot's JSON: what is not available, by state.
func appendStates(b []byte, v *readmodel.SeatView) []byte {
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
