package rush

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	"boxoffice/edge/venuemap"
	"boxoffice/loadtest/rig"
)

// LivePath returns the path of the stream of the event's seats.
func (h *House) LivePath() string { return "/api/v1" + h.Path + "/live" }

// House is the seating of a sale: a sample map. The harness keeps the last sections of the map for
// itself, so that no shopper takes seats that a measurement needs.
type House struct {
	Path  string     // of the event's seats: below it are hold, live and the like
	Seats []string   // all ids, in the map's order
	Rows  []HouseRow // of standard seats that are sold, nearest to the stage first
	Own   []HouseRow // rows that no shopper is after
}

// HouseRow is a row of seats, each beside the next.
type HouseRow struct {
	Type  int // index into the sale's types
	Seats []string

	// The squared distance of the row's first seat from the focal point of the map. Shoppers want
	// seats near it.
	distance int // from the focal point, squared
}

// blocksAtOnce is how many seats one call blocks.
const blocksAtOnce = 5000

// ownRows is how many rows the harness keeps for itself at least. In a house with fewer than ten
// times as many rows it keeps a tenth.
const ownRows = 20

// SeatBy seats a sale by a sample map. The last sections of the map are sold as the last type of
// the sale, and the other sections as the other types in turn.
func (o *Organizer) SeatBy(ctx context.Context, s *Sale, sample string, holdSeconds int) (*House, error) {
	sampled, ok := venuemap.Samples[sample]
	if !ok {
		return nil, fmt.Errorf("set up: there is no sample map %q", sample)
	}
	return o.SeatByDocument(ctx, s, sampled(), holdSeconds)
}

// SeatByDocument seats a sale by a map of the caller's own, as SeatBy does.
func (o *Organizer) SeatByDocument(ctx context.Context, s *Sale, doc *venuemap.Document, holdSeconds int) (*House, error) {
	var venue struct {
		ID string `json:"id"`
	}
	if err := o.Post(ctx, "/organizer/venues", doc, &venue); err != nil {
		return nil, err
	}
	if err := o.Post(ctx, "/organizer/venues/"+url.PathEscape(venue.ID)+"/publish", nil, nil); err != nil {
		return nil, err
	}
	seating := "/organizer/events/" + url.PathEscape(s.EventID) + "/seating"
	if err := o.Send(ctx, "PUT", seating, map[string]any{"venueMapId": venue.ID, "holdTtlSeconds": holdSeconds}, nil); err != nil {
		return nil, err
	}
	types := shareSections(doc, len(s.Types))
	var mappings []map[string]string
	for _, section := range doc.Sections {
		mappings = append(mappings, map[string]string{"venueSectionId": section.ID, "ticketTypeId": s.Types[types[section.ID]].ID})
	}
	if err := o.Send(ctx, "PUT", seating+"/pricing", map[string]any{"mappings": mappings}, nil); err != nil {
		return nil, err
	}
	return o.readHouse(ctx, s, types)
}

// shareSections returns the type as which each section is sold, as an index into the sale's types.
func shareSections(doc *venuemap.Document, types int) map[string]int {
	rowsOf := func(section *venuemap.Section) (rows int) {
		for _, r := range section.Rows {
			rows += max(r.Repeat, 1)
		}
		return rows
	}
	all := 0
	for i := range doc.Sections {
		all += rowsOf(&doc.Sections[i])
	}
	of := make(map[string]int)
	last := len(doc.Sections)
	// The harness's own sections are taken from the end of the map, until they have enough rows. At least as many
	// sections as types are left to the shoppers.
	for own := 0; last > types && own < min(ownRows, all/10); {
		last--
		own += rowsOf(&doc.Sections[last])
		of[doc.Sections[last].ID] = types - 1
	}
	for i := range last {
		// With a single type everything is sold as that type.
		of[doc.Sections[i].ID] = i % max(types-1, 1)
	}
	return of
}

// readHouse reads the seat map as shoppers see it. Only standard seats make rows, because others
// are sold under rules of their own.
func (o *Organizer) readHouse(ctx context.Context, s *Sale, types map[string]int) (*House, error) {
	var m struct {
		Focus [2]int `json:"focus"`
		Seats []struct {
			ID      string `json:"id"`
			Section string `json:"sectionId"`
			Row     string `json:"row"`
			X, Y    int
			Kind    string `json:"kind"`
		} `json:"seats"`
	}
	path := "/public/events/" + url.PathEscape(s.EventID)
	if err := o.Send(ctx, "GET", path+"/seatmap", nil, &m); err != nil {
		return nil, err
	}
	h := &House{Path: path + "/seats"}
	rows := make(map[[2]string]*HouseRow)
	var order []*HouseRow
	for _, seat := range m.Seats {
		// All seats count for the size of the house, also those that no shopper is after.
		h.Seats = append(h.Seats, seat.ID)
		if seat.Kind != "standard" {
			continue
		}
		key := [2]string{seat.Section, seat.Row}
		if rows[key] == nil {
			x, y := seat.X-m.Focus[0], seat.Y-m.Focus[1]
			rows[key] = &HouseRow{Type: types[seat.Section], distance: x*x + y*y}
			order = append(order, rows[key])
		}
		rows[key].Seats = append(rows[key].Seats, seat.ID)
	}
	// A stable sort keeps rows of the same distance in the order of the map, so that every run has the same house.
	slices.SortStableFunc(order, func(a, b *HouseRow) int { return cmp.Compare(a.distance, b.distance) })
	for _, r := range order {
		if r.Type == len(s.Types)-1 {
			h.Own = append(h.Own, *r)
		} else {
			h.Rows = append(h.Rows, *r)
		}
	}
	return h, nil
}

// Withhold blocks seats all over the house, in short pieces, until only the wanted number is left
// to shoppers. Pieces make shoppers fight for seats that lie apart.
func (o *Organizer) Withhold(ctx context.Context, s *Sale, h *House, left int, rng *rand.Rand) error {
	total := 0
	var pieces [][]string
	for _, r := range h.Rows {
		total += len(r.Seats)
		// Each row is cut into pieces of one to eight seats.
		for from := 0; from < len(r.Seats); {
			to := min(from+1+rng.IntN(8), len(r.Seats))
			pieces = append(pieces, r.Seats[from:to])
			from = to
		}
	}
	rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	var seats []string
	for _, p := range pieces {
		if len(seats)+len(p) > total-left {
			break
		}
		seats = append(seats, p...)
	}
	path := "/organizer/events/" + url.PathEscape(s.EventID) + "/seating/blocks"
	for part := range slices.Chunk(seats, blocksAtOnce) {
		if err := o.Post(ctx, path, map[string]any{"block": part}, nil); err != nil {
			return err
		}
	}
	return o.WaitUntilSized(ctx, s, len(h.Seats)-len(seats))
}

// WaitUntilSized waits until the types of a sale together have as many tickets as there are seats,
// and notes how many each has. The types learn the number of their seats some time after the map
// has changed.
func (o *Organizer) WaitUntilSized(ctx context.Context, s *Sale, seats int) error {
	for deadline := time.Now().Add(sizedTime); ; rig.Wait(ctx, 50*time.Millisecond) {
		var types ticketTypes
		if err := o.Send(ctx, "GET", "/events/"+url.PathEscape(s.EventID)+"/tickets", nil, &types); err != nil {
			return err
		}
		sum := 0
		for _, made := range types.Items {
			sum += made.QuantityTotal
			for i := range s.Types {
				if s.Types[i].ID == made.ID {
					s.Types[i].Quantity = made.QuantityTotal
				}
			}
		}
		if sum == seats {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("set up: the ticket types have %d tickets, and there are %d seats", sum, seats)
		}
	}
}

// sizedTime is how long ticket types may take until they know the number of their seats.
const sizedTime = 10 * time.Second

// BestPath is where the service is asked for the best seats.
func (h *House) BestPath() string { return h.Path + "/best-available" }
