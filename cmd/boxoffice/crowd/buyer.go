package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
)

const (
	mostSeats = 4 // how many seats a buyer wants at most
	tries     = 3 // how many groups of seats a buyer tries to hold, before the buyer takes what the service offers
	leastLook = 200 * time.Millisecond
	mostLook  = 1200 * time.Millisecond // the longest time for which a buyer looks at the map before each step
	patience  = 10 * time.Second        // how long a buyer repeats a request that is refused because of the rush
)

// hall is what buyers see of an event: its seats by rows, in the order of the map, and the ticket type of each
// seat.
type hall struct {
	path   string // path of the event's seats in the API
	rows   [][]string
	typeOf map[string]string // ticket type by seat
}

// readHall reads the hall of an event, as a buyer's page does. It leaves out the seats of sections that are not
// sold, and special seats, such as places for wheelchairs.
func (c *Crowd) readHall(ctx context.Context, event string) (*hall, error) {
	var m struct {
		Sections []struct{ ID, TicketTypeID string }
		Seats    []struct{ ID, SectionID, Row, Kind string }
	}
	h := &hall{path: "/public/events/" + event, typeOf: make(map[string]string)}
	if a := c.api.Do(ctx, c.network.Source(0), client.Call{Method: "GET", Path: h.path + "/seatmap"}, &m); !a.OK() {
		return nil, fmt.Errorf("crowd: %w", a.Err())
	}
	soldAs := make(map[string]string, len(m.Sections))
	for _, s := range m.Sections {
		soldAs[s.ID] = s.TicketTypeID
	}
	// The map lists the seats row by row, so a row ends where another section or label begins.
	at := ""
	for _, s := range m.Seats {
		if soldAs[s.SectionID] == "" || s.Kind != "standard" {
			continue
		}
		if row := s.SectionID + " " + s.Row; row != at || len(h.rows) == 0 {
			h.rows, at = append(h.rows, nil), row
		}
		h.rows[len(h.rows)-1] = append(h.rows[len(h.rows)-1], s.ID)
		h.typeOf[s.ID] = soldAs[s.SectionID]
	}
	if len(h.rows) == 0 {
		return nil, fmt.Errorf("crowd: event %s has no seats for sale", event)
	}
	return h, nil
}

// buyer is one of the crowd. It chooses seats side by side, orders what it holds, and leaves.
type buyer struct {
	*Crowd
	rush   *rush
	hall   *hall
	from   *client.Source
	number int
	holder string
	random *rand.Rand
}

// newBuyer makes a buyer with an address of their own. The random numbers depend on the time as well, so that every
// rush takes other seats.
func (c *Crowd) newBuyer(r *rush, h *hall, number int) *buyer {
	return &buyer{
		Crowd: c, rush: r, hall: h, from: c.network.Source(number), number: number, holder: uuid.NewString(),
		random: rand.New(rand.NewPCG(uint64(number), uint64(r.began.UnixNano()))), //nolint:gosec // a play
	}
}

// shop is a buyer's whole visit, which begins after a delay. It ends with an order, or the buyer goes without
// one.
func (b *buyer) shop(ctx context.Context, after time.Duration) {
	held := b.chooseSeats(ctx, after)
	if len(held) == 0 || !b.look(ctx) || !b.orderSeats(ctx, held) {
		b.rush.left.Add(1)
		return
	}
	b.rush.seats.Add(int64(len(held)))
	b.rush.orders.Add(1)
}

// look passes the time in which a person looks at the map. It reports false when the rush is over.
func (b *buyer) look(ctx context.Context) bool {
	return pause(ctx, leastLook+time.Duration(b.random.Int64N(int64(mostLook-leastLook))))
}

// pause waits for d. It reports false if ctx has ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// chooseSeats holds seats side by side anywhere in the hall. Most tries fail in a rush, because somebody else was
// faster. After some tries the buyer takes what the service finds, which may be nothing.
func (b *buyer) chooseSeats(ctx context.Context, after time.Duration) (held []string) {
	if !pause(ctx, after) {
		return nil
	}
	for range tries {
		row := b.hall.rows[b.random.IntN(len(b.hall.rows))]
		n := min(1+b.random.IntN(mostSeats), len(row))
		first := b.random.IntN(len(row) - n + 1)
		var got struct{ Held, Failed []string }
		a := b.send(ctx, "POST", b.hall.path+"/seats/hold", map[string]any{"holder": b.holder, "seatIds": row[first : first+n]}, &got)
		if a.OK() && len(got.Held) == n {
			return got.Held
		}
		if a.OK() && len(got.Held) > 0 { // a part is of no use: people want to sit together
			b.send(ctx, "DELETE", b.hall.path+"/seats/hold", map[string]any{"holder": b.holder}, nil)
		}
		if !b.look(ctx) {
			return nil
		}
	}
	var got struct{ Held []string }
	b.send(ctx, "POST", b.hall.path+"/seats/best-available", map[string]any{"holder": b.holder, "quantity": 1 + b.random.IntN(2), "adjacent": true}, &got)
	return got.Held
}

// orderSeats orders what the buyer holds, and reports whether the order was made. Seats of several ticket types
// need a line for each type. The holder's secret word shows that the buyer may have the seats.
func (b *buyer) orderSeats(ctx context.Context, held []string) bool {
	type line struct {
		TicketTypeID string   `json:"ticketTypeId"`
		Quantity     int      `json:"quantity"`
		SeatIDs      []string `json:"venueSeatIds"`
	}
	var lines []*line
	of := make(map[string]*line)
	for _, seat := range held {
		as := b.hall.typeOf[seat]
		if of[as] == nil {
			of[as] = &line{TicketTypeID: as}
			lines = append(lines, of[as])
		}
		of[as].Quantity++
		of[as].SeatIDs = append(of[as].SeatIDs, seat)
	}
	return b.send(ctx, "POST", "/orders", map[string]any{
		"items": lines, "holder": b.holder, "guestName": "Rush Buyer", "guestEmail": fmt.Sprintf("rush-%d@example.org", b.number),
	}, nil).OK()
}

// send sends a request, and repeats it for some time while the node is too busy. All tries have the same key, so
// that the request is carried out once.
func (b *buyer) send(ctx context.Context, method, path string, body, out any) client.Answer {
	text, err := json.Marshal(body)
	if err != nil {
		return client.Answer{Code: client.CodeUnsent, Message: err.Error()}
	}
	return b.api.Insist(ctx, b.from, client.Call{Method: method, Path: path, Key: uuid.NewString(), Body: text}, patience, out)
}
