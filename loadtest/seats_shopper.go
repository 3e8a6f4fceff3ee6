package loadtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/viewers"
)

// The operations of a shopper before the order, after those of a buyer.
const (
	opHold openloop.Op = opCancel + 1 + iota
	opBest
	opRelease
)

var shopperOps = append(slices.Clip(opNames), "POST seats/hold", "POST seats/best-available", "DELETE seats/hold")

// How a shopper chooses.
const (
	fewestChanges, mostChanges = 5, 20
	mostSeats                  = maxPerOrder
	dropsShare                 = 0.1 // of changes: everything is given back
	rowsTried                  = 30  // before the choice is left to the service
)

// The parts of the seating API that shoppers use.
type (
	holdSeats struct {
		Holder  string   `json:"holder"`
		SeatIDs []string `json:"seatIds,omitempty"`
	}
	bestSeats struct {
		Holder       string `json:"holder"`
		Quantity     int    `json:"quantity"`
		TicketTypeID string `json:"ticketTypeId"`
		Adjacent     bool   `json:"adjacent"`
	}
	selection struct {
		Held      []string          `json:"held"`
		Failed    []string          `json:"failed"`
		Reasons   map[string]string `json:"reasons"`
		ExpiresAt time.Time         `json:"expiresAt"`
	}
)

// shopper is a buyer who first changes its mind about seats some times, and then
// orders what it holds, or leaves.
type shopper struct {
	*buyer
	run    *seatsRun
	holder string
	left   int // changes of mind
	leaves bool
	kind   int // which type of ticket it is after

	held  []string
	until time.Time // when the service ends the selection

	op   openloop.Op // of the change at hand
	call client.Call
}

func (r *seatsRun) newShopper(n int) openloop.Actor {
	b := r.newBuyer(n)
	s := &shopper{
		buyer: b, run: r, holder: fmt.Sprintf("shopper-%d-%s", n, uuid.NewString()[:8]),
		left:   fewestChanges + b.rng.IntN(mostChanges-fewestChanges+1),
		leaves: b.rng.Float64() < r.seats.Leave, kind: b.rng.IntN(r.cfg.Types),
	}
	b.next = s.stage((*shopper).change)
	return b
}

// stage makes a buyer's stage of a shopper's.
func (s *shopper) stage(f func(*shopper, context.Context) openloop.Result) stage {
	return func(_ *buyer, ctx context.Context) openloop.Result { return f(s, ctx) }
}

// note appends to the log of what the shopper was told.
func (s *shopper) note(what string) {
	s.run.acks.add(Entry{What: what, Buyer: s.n, Seats: s.held, Until: s.until, From: s.n})
}

// change asks for another selection.
func (s *shopper) change(ctx context.Context) openloop.Result {
	if s.tries == 0 {
		s.plan()
		s.note(askSeats)
	}
	var got selection
	a := s.run.svc.Do(ctx, s.from, s.call, &got)
	if a.Unsettled() {
		return s.again(s.op, a)
	}
	switch {
	case a.OK():
		s.held, s.until = got.Held, got.ExpiresAt
		s.run.conflicts.Add(int64(len(got.Failed)))
		for _, why := range got.Reasons {
			s.run.because(why)
		}
	case time.Now().After(s.until): // what it had stands, if there is something
		s.held = nil
	}
	s.note(ackHeld)
	s.left--
	switch {
	case s.left > 0 || len(s.held) == 0 && s.left > -mostChanges:
		return s.then(s.op, a, s.stage((*shopper).change), s.think())
	case s.leaves || len(s.held) == 0 || s.run.settling.Load():
		s.run.gone.Add(1)
		s.note(leftSeats)
		return s.done(s.op, a)
	}
	s.prepare()
	return s.then(s.op, a, s.stage((*shopper).buy), s.think())
}

// plan decides on the next change.
func (s *shopper) plan() {
	path, n := s.run.house.Path, 1+s.rng.IntN(mostSeats)
	s.op, s.call = opHold, client.Call{Method: "POST", Path: path + "/hold"}
	switch u := s.rng.Float64(); {
	case u < dropsShare && len(s.held) > 0 && s.left > 1:
		s.op, s.call.Method = opRelease, "DELETE"
		s.call.Body = encode(holdSeats{Holder: s.holder})
		return
	case u < dropsShare+s.run.seats.Best:
	default:
		if seats := s.pick(n); seats != nil {
			s.call.Body = encode(holdSeats{Holder: s.holder, SeatIDs: seats})
			return
		}
	}
	s.op, s.call.Path = opBest, s.run.house.bestPath()
	s.call.Body = encode(bestSeats{
		Holder: s.holder, Quantity: n, TicketTypeID: s.run.sale.Types[s.kind].ID, Adjacent: s.rng.IntN(2) == 0,
	})
}

// pick chooses n seats beside each other as a person would: rather near the
// stage, and what the map shows as available; some do not look.
func (s *shopper) pick(n int) (seats []string) {
	blind := s.rng.Float64() < s.run.seats.Blind
	s.run.crowd.View(func(m *viewers.Map) {
		for range rowsTried {
			u := s.rng.Float64()
			row := &s.run.house.Rows[int(u*u*float64(len(s.run.house.Rows)))]
			if row.Type != s.kind || len(row.Seats) < n {
				continue
			}
			if seats = free(m, row.Seats, n, blind, s.rng); seats != nil {
				return
			}
		}
	})
	return seats
}

// free is the beginning of a run of n seats that are available, in a row.
func free(m *viewers.Map, row []string, n int, blind bool, rng *rand.Rand) []string {
	if blind {
		from := rng.IntN(len(row) - n + 1)
		return row[from : from+n]
	}
	run := 0
	for i, id := range row {
		if m.State(id) != viewers.Available {
			run = 0
			continue
		}
		if run++; run == n {
			return row[i+1-n : i+1]
		}
	}
	return nil
}

// prepare writes the order of what is held.
func (s *shopper) prepare() {
	s.items = []item{{TicketTypeID: s.run.sale.Types[s.kind].ID, Quantity: len(s.held), VenueSeatIDs: s.held}}
	s.place = encode(placeOrder{Items: s.items, GuestEmail: s.email, GuestName: "Load Shopper", Holder: s.holder})
}

// buy orders what is held. From there on the shopper is a buyer.
func (s *shopper) buy(ctx context.Context) openloop.Result {
	if s.tries == 0 {
		s.note(askSeats)
	}
	doubted := s.tries > 0
	r := s.placeOrder(ctx)
	if r.Code != "" && r.Done && !s.doubt && !doubted {
		s.run.acks.add(Entry{What: ackRefused, Buyer: s.n, Seats: s.held, Until: s.until, Code: r.Code, From: s.n})
	}
	return r
}

// bestPath is where the service is asked for the best seats.
func (h *House) bestPath() string { return h.Path + "/best-available" }
