package seats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// The operations of a shopper before the order, after a buyer's.
const (
	opHold openloop.Op = rush.OpCancel + 1 + iota
	opBest
	opRelease
)

var shopperOps = append(slices.Clip(rush.OpNames), "POST seats/hold", "POST seats/best-available", "DELETE seats/hold")

// How a shopper chooses.
const (
	fewestChanges, mostChanges = 5, 20
	mostSeats                  = rush.MaxPerOrder
	dropsShare                 = 0.1 // the share of changes that give everything back
	rowsTried                  = 30  // rows that a shopper looks at before the choice is left to the service
)

// shopper is a buyer who first changes its mind about seats some times, and then
// orders what it holds, or leaves.
type shopper struct {
	*rush.Buyer
	run    *seatsRun
	holder string
	left   int  // how often the shopper will still change the selection
	leaves bool // the shopper leaves the seats held, and does not order
	kind   int  // the index of the ticket type that the shopper is after

	held  []string
	until time.Time // when the service ends the selection

	op   openloop.Op // the operation of the change at hand
	call client.Call
}

// newShopper draws what a shopper does from the seed and the shopper's number.
func (r *seatsRun) newShopper(n int) openloop.Actor {
	b := r.NewBuyer(n)
	s := &shopper{
		Buyer: b, run: r, holder: fmt.Sprintf("shopper-%d-%s", n, uuid.NewString()[:8]),
		left:   fewestChanges + b.Random.IntN(mostChanges-fewestChanges+1),
		leaves: b.Random.Float64() < r.seats.Leave, kind: b.Random.IntN(r.Config.Types),
	}
	b.Next = s.stage((*shopper).changeSelection)
	return b
}

// stage makes a buyer's stage of a shopper's.
func (s *shopper) stage(f func(*shopper, context.Context) openloop.Result) rush.Stage {
	return func(_ *rush.Buyer, ctx context.Context) openloop.Result { return f(s, ctx) }
}

// noteSelection appends to the log of what the shopper was told.
func (s *shopper) noteSelection(what string) {
	s.run.Acks.Add(rush.Entry{What: what, Buyer: s.Number, Seats: s.held, Until: s.until, From: s.Number})
}

// changeSelection asks for another selection.
func (s *shopper) changeSelection(ctx context.Context) openloop.Result {
	if s.Tries == 0 {
		s.planChange()
		s.noteSelection(rush.AskSeats)
	}
	var got rush.Selection
	a := s.run.API.Do(ctx, s.From, s.call, &got)
	if a.Unsettled() {
		return s.RepeatLater(s.op, a)
	}
	switch {
	case a.OK():
		s.held, s.until = got.Held, got.ExpiresAt
		s.run.conflicts.Add(int64(len(got.Failed)))
		for _, why := range got.Reasons {
			s.run.countReason(why)
		}
	case time.Now().After(s.until): // what it had stands, if there is something
		s.held = nil
	}
	s.noteSelection(rush.AckHeld)
	s.left--
	switch {
	case s.left > 0 || len(s.held) == 0 && s.left > -mostChanges:
		return s.ThenDo(s.op, a, s.stage((*shopper).changeSelection), s.ThinkTime())
	case s.leaves || len(s.held) == 0 || s.run.Settling.Load():
		s.run.gone.Add(1)
		s.noteSelection(rush.LeftSeats)
		return s.End(s.op, a)
	}
	s.prepareOrder()
	return s.ThenDo(s.op, a, s.stage((*shopper).orderSeats), s.ThinkTime())
}

// planChange decides on the next change.
func (s *shopper) planChange() {
	path, n := s.run.house.Path, 1+s.Random.IntN(mostSeats)
	s.op, s.call = opHold, client.Call{Method: "POST", Path: path + "/hold"}
	switch u := s.Random.Float64(); {
	case u < dropsShare && len(s.held) > 0 && s.left > 1:
		s.op, s.call.Method = opRelease, "DELETE"
		s.call.Body = rush.Encode(rush.HoldSeats{Holder: s.holder})
		return
	case u < dropsShare+s.run.seats.Best:
	default:
		if seats := s.pickSeats(n); seats != nil {
			s.call.Body = rush.Encode(rush.HoldSeats{Holder: s.holder, SeatIDs: seats})
			return
		}
	}
	s.op, s.call.Path = opBest, s.run.house.BestPath()
	s.call.Body = rush.Encode(rush.BestSeats{
		Holder: s.holder, Quantity: n, TicketTypeID: s.run.Sale.Types[s.kind].ID, Adjacent: s.Random.IntN(2) == 0,
	})
}

// pickSeats chooses n seats beside each other as a person would: rather near the
// stage, and what the map shows as available; some do not look.
func (s *shopper) pickSeats(n int) (seats []string) {
	blind := s.Random.Float64() < s.run.seats.Blind
	s.run.audience.View(func(m *viewers.Map) {
		for range rowsTried {
			u := s.Random.Float64()
			row := &s.run.house.Rows[int(u*u*float64(len(s.run.house.Rows)))]
			if row.Type != s.kind || len(row.Seats) < n {
				continue
			}
			if seats = findFreeRun(m, row.Seats, n, blind, s.Random); seats != nil {
				return
			}
		}
	})
	return seats
}

// findFreeRun returns n seats of a row beside each other that the map shows as available, or nil. A blind shopper
// takes any n.
func findFreeRun(m *viewers.Map, row []string, n int, blind bool, rng *rand.Rand) []string {
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

// prepareOrder writes the order of what is held.
func (s *shopper) prepareOrder() {
	s.Items = []rush.Item{{TicketTypeID: s.run.Sale.Types[s.kind].ID, Quantity: len(s.held), VenueSeatIDs: s.held}}
	s.Placement = rush.Encode(rush.PlaceOrder{Items: s.Items, GuestEmail: s.Email, GuestName: "Load Shopper", Holder: s.holder})
}

// orderSeats orders what is held. From there on the shopper is a buyer.
func (s *shopper) orderSeats(ctx context.Context) openloop.Result {
	if s.Tries == 0 {
		s.noteSelection(rush.AskSeats)
	}
	doubted := s.Tries > 0
	r := s.PlaceOrder(ctx)
	if r.Code != "" && r.Done && !s.InDoubt && !doubted {
		s.run.Acks.Add(rush.Entry{What: rush.AckRefused, Buyer: s.Number, Seats: s.held, Until: s.until, Code: r.Code, From: s.Number})
	}
	return r
}
