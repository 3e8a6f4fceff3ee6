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

// These are the operations of a shopper before the order. Their numbers follow the numbers of a
// buyer's operations, because both kinds are counted in one list (shopperOps).
const (
	opHold openloop.Op = rush.OpCancel + 1 + iota
	opBest
	opRelease
)

var shopperOps = append(slices.Clip(rush.OpNames), "POST seats/hold", "POST seats/best-available", "DELETE seats/hold")

// These constants say how a shopper chooses.
const (
	fewestChanges, mostChanges = 5, 20
	mostSeats                  = rush.MaxPerOrder
	dropsShare                 = 0.1 // the share of changes that give everything back
	rowsTried                  = 30  // rows that a shopper looks at before the choice is left to the service
)

// shopper is a buyer who first changes its mind about seats some times. Then it orders what it
// holds, or leaves.
type shopper struct {
	*rush.Buyer
	run    *seatsRun
	holder string
	left   int  // how often the shopper will still change the selection
	leaves bool // the shopper leaves the seats held, and does not order
	kind   int  // the index of the ticket type that the shopper is after

	// held and until are what the service said last. held may be what was held before a change that
	// failed.
	held  []string
	until time.Time // when the service ends the selection

	op   openloop.Op // the operation of the change at hand
	call client.Call
}

// newShopper draws what the shopper with this number does. The draws come from the seed and the
// number, so a shopper does the same in every run, whatever the others do.
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

// stage makes a stage of a shopper into a stage of a buyer, which the engine of arrivals runs. The
// shopper embeds its buyer, so the argument is the same buyer.
func (s *shopper) stage(f func(*shopper, context.Context) openloop.Result) rush.Stage {
	return func(_ *rush.Buyer, ctx context.Context) openloop.Result { return f(s, ctx) }
}

// noteSelection appends to the log what the shopper asks or was told about seats, with what it
// holds at that moment. The audit reads the log in place of the shoppers' memory.
func (s *shopper) noteSelection(what string) {
	s.run.Acks.Add(rush.Entry{What: what, Buyer: s.Number, Seats: s.held, Until: s.until, From: s.Number})
}

// changeSelection asks for another selection, and decides what comes next: one more change, the
// order, or to leave. A request without a settled answer is repeated as it is, because the service
// may have carried it out.
func (s *shopper) changeSelection(ctx context.Context) openloop.Result {
	// Only the first try draws a change. Its entry in the log ends the possession of what is held:
	// from now on the shopper can't be sure of those seats.
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
	// A shopper whose changes are over but who holds nothing tries on, for a while.
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

// planChange draws the next change: to give everything back, to ask for the best seats available,
// or to choose seats on the map. A shopper without seats gives nothing back, and the last change
// never does.
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
	// The service chooses the seats, either because the shopper wants the best or because it found
	// none on the map.
	s.op, s.call.Path = opBest, s.run.house.BestPath()
	s.call.Body = rush.Encode(rush.BestSeats{
		Holder: s.holder, Quantity: n, TicketTypeID: s.run.Sale.Types[s.kind].ID, Adjacent: s.Random.IntN(2) == 0,
	})
}

// pickSeats chooses n seats beside each other as a person would: more often near the stage than far
// from it, and seats that the map shows as available. A share of the shoppers does not look at the
// map. It returns nil if it finds none in rowsTried rows.
func (s *shopper) pickSeats(n int) (seats []string) {
	blind := s.Random.Float64() < s.run.seats.Blind
	s.run.audience.View(func(m *viewers.Map) {
		for range rowsTried {
			u := s.Random.Float64()
			// The square of a draw favours the first rows, which are nearest to the stage.
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

// findFreeRun returns n seats of a row beside each other that the map shows as available, or nil. A
// blind shopper takes any n seats of the row: that provokes conflicts.
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

// prepareOrder writes the order of what is held. The same bytes are sent again if the order must be
// repeated.
func (s *shopper) prepareOrder() {
	s.Items = []rush.Item{{TicketTypeID: s.run.Sale.Types[s.kind].ID, Quantity: len(s.held), VenueSeatIDs: s.held}}
	s.Placement = rush.Encode(rush.PlaceOrder{Items: s.Items, GuestEmail: s.Email, GuestName: "Load Shopper", Holder: s.holder})
}

// orderSeats orders what is held. From the answer on the shopper does what a buyer does. A refusal
// goes into the log only if no earlier try may have succeeded: otherwise the refusal may be the
// answer to an order that exists already.
func (s *shopper) orderSeats(ctx context.Context) openloop.Result {
	if s.Tries == 0 {
		s.noteSelection(rush.AskSeats)
	}
	// This is read before the request, which may count one more try.
	doubted := s.Tries > 0
	r := s.PlaceOrder(ctx)
	if r.Code != "" && r.Done && !s.InDoubt && !doubted {
		s.run.Acks.Add(rush.Entry{What: rush.AckRefused, Buyer: s.Number, Seats: s.held, Until: s.until, Code: r.Code, From: s.Number})
	}
	return r
}
