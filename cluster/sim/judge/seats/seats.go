// Package seats judges seats by the rules of holds and reservations. It keeps its own record of each seat, from the
// committed facts, and shares no code with the kind that it judges.
package seats

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// World is what the judge of seats asks of the world and of the judge of orders.
type World struct {
	// HoldScale multiplies the limits of how many seats one holder may hold.
	HoldScale float64

	Reach  func(fault, met string)                           // counts what has happened
	Places func(engine.OrderID) []*ledger.Place              // the commands that name an order
	Order  func(event int64, id engine.OrderID) *order.Order // as its facts say, or nil
	Gone   func(*order.Order) map[string]bool                // an order's seats whose tickets' money went back
	Replay func(engine.Ref) (engine.State, error)            // a stream's state, from its snapshot on
	Watch  func(engine.Ref, *seatmap.HeldFact)               // a selection must end in time
}

// Seats are the seats of a simulated world by their committed facts.
type Seats struct {
	world   World
	byEvent map[int64]*seating
}

// New makes a judge that has seen no seats.
func New(w World) *Seats { return &Seats{world: w, byEvent: make(map[int64]*seating)} }

// seating is an event's seats by their facts.
type seating struct {
	layout *seatmap.Layout
	// holdTime is how long a new hold lasts, in milliseconds.
	holdTime int64
	prices   []int64 // ticket type by section
	spots    []spot
	// picks has the last hold of each holder who has seats.
	picks map[string]*seatmap.HeldFact
	// reserved has the reservation of each order, until it is sold or ends otherwise; ended says how each claim ended
	// ("sold", "released" or "replaced"), because none may be reserved again.
	reserved map[engine.OrderID]*seatmap.ReservedFact
	ended    map[keeper.Claim]string
	// told has, by holder and seat, each end that a hold of the seat ever had, in unix milliseconds. An answer may be
	// slow and tell of an earlier hold.
	told   map[string]map[int64]bool
	taken  map[uint64][]taking // what each network has newly held
	latest int64               // the latest time of a hold, unix milliseconds
}

// spot is one seat: free, or of a holder, or of an order.
type spot struct {
	holder  string
	claim   keeper.Claim
	typ     int64 // what it was sold as
	blocked bool
}

// seatingOf returns the record of an event's seats, by the reference of its seat map.
func (s *Seats) seatingOf(ref engine.Ref) *seating {
	st := s.byEvent[ref.Home]
	if st == nil {
		st = &seating{
			picks: make(map[string]*seatmap.HeldFact), reserved: make(map[engine.OrderID]*seatmap.ReservedFact),
			ended: make(map[keeper.Claim]string), told: make(map[string]map[int64]bool), taken: make(map[uint64][]taking),
		}
		s.byEvent[ref.Home] = st
	}
	return st
}

// Take judges a committed fact of a seat map and keeps it.
func (s *Seats) Take(ref engine.Ref, f engine.Fact) error {
	st := s.seatingOf(ref)
	switch f := f.(type) {
	case *seatmap.AttachedFact:
		st.holdTime = f.HoldTime
		return st.attachLayout(f.Layout)
	case *seatmap.DetachedFact:
		return st.attachLayout(nil)
	case *seatmap.ConfiguredFact:
		st.holdTime = f.HoldTime
	case *seatmap.PricedFact:
		st.prices = f.Types
	case *seatmap.HeldFact:
		return s.takeHeld(ref, st, f)
	case *seatmap.DroppedFact:
		return st.freeSeats(f.Seats, f.Holder)
	case *seatmap.ExpiredFact:
		return st.takeExpired(f)
	case *seatmap.BlockedFact:
		return st.takeBlocked(f)
	case *seatmap.ReservedFact:
		return s.takeReserved(st, f)
	case *keeper.CommittedFact:
		return s.takeSold(ref, st, f)
	case *seatmap.ReleasedFact:
		return s.takeReleased(ref, st, f)
	case *seatmap.ReturnedFact:
		return s.takeReturned(ref, st, f)
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

// attachLayout puts a map in place of the one before, or takes it away if it is nil. Seats of orders must not vanish
// with their map. Holds end with it.
func (st *seating) attachLayout(l *seatmap.Layout) error {
	for i := range st.spots {
		if claim := st.spots[i].claim; claim.Serial != 0 {
			return fmt.Errorf("the map goes, and seat %s is of %s", st.layout.SeatIDs[i], enginetest.ClaimName(claim))
		}
	}
	st.layout, st.prices, st.spots = l, nil, nil
	clear(st.picks)
	if l != nil {
		st.prices, st.spots = make([]int64, len(l.Sections)), make([]spot, l.Len())
	}
	return nil
}

// seatID returns the id of a seat, by its index in the layout.
func (st *seating) seatID(i int32) string { return st.layout.SeatIDs[i] }

// takeHeld judges a hold and keeps it. The fact names the seats that the holder takes and drops with it. A seat is
// given only if nobody else has it, and the hold as a whole has one end.
func (s *Seats) takeHeld(ref engine.Ref, st *seating, f *seatmap.HeldFact) error {
	// The dropped seats are freed first: they are the holder's own, so the order does not matter to anybody else.
	if err := st.freeSeats(f.Dropped, f.Holder); err != nil {
		return err
	}
	for _, i := range f.Took {
		if sp := st.spots[i]; sp.holder != "" || sp.claim.Serial != 0 || sp.blocked {
			return fmt.Errorf("seat %s is given to %s: %+v", st.seatID(i), f.Holder, sp)
		}
		if st.typeOf(i) == 0 {
			return fmt.Errorf("seat %s is given to %s, and not for sale", st.seatID(i), f.Holder)
		}
		st.spots[i].holder = f.Holder
	}
	// The end of a hold is judged against the one before it, which may have been given more time.
	old := st.picks[f.Holder]
	// A holder who was given more time keeps that time while he changes his seats.
	given := old != nil && f.Extended > 0 && f.Extended == old.Extended && f.Until == old.Until
	longer := f.Extended > 0 && (old == nil || f.Extended != old.Extended)
	switch {
	case longer:
		if err := s.judgeHeldLonger(st, old, f); err != nil {
			return err
		}
	case given:
	// A hold without an extension ends at most holdTime after its last change, and three times that after its first
	// one, so that nobody holds seats for ever by changing them.
	case f.Until > f.At+st.holdTime || f.Until > f.Since+3*st.holdTime && f.Since != f.At:
		return fmt.Errorf("%s has his seats until %d: %+v", f.Holder, f.Until, f)
	case old == nil && f.Since != f.At || old != nil && f.Since != f.At && f.Since != old.Since:
		return fmt.Errorf("%s has had his seats since %d: %+v", f.Holder, f.Since, f)
	}
	st.picks[f.Holder] = f
	// From now on the holder may be told of all seats of the selection with this end.
	n := 0
	for i := range st.spots {
		if st.spots[i].holder == f.Holder {
			n++
			st.noteTold(f.Holder, int32(i), f.Until)
		}
	}
	if n == 0 || n > seatmap.MaxSelection {
		return fmt.Errorf("%s holds %d seats", f.Holder, n)
	}
	s.world.Watch(ref, f)
	return st.withinLimits(f, s.world.HoldScale)
}

// judgeHeldLonger makes sure that a holder gets more time only before his time is over, keeper.MaxExtensions times at
// most, and each time as much as a new hold gets. Such a fact changes no seats.
func (s *Seats) judgeHeldLonger(st *seating, old, f *seatmap.HeldFact) error {
	switch {
	case old == nil || f.At >= old.Until || len(f.Took)+len(f.Dropped) > 0 || f.Since != old.Since:
		return fmt.Errorf("%s gets more time for seats that he does not have: %+v", f.Holder, f)
	case f.Extended != old.Extended+1 || f.Extended > keeper.MaxExtensions:
		return fmt.Errorf("%s gets more time for the %dth time, after %d", f.Holder, f.Extended, old.Extended)
	case f.Until != old.Until+st.holdTime:
		return fmt.Errorf("%s has his seats until %d, after %d", f.Holder, f.Until, old.Until)
	}
	s.world.Reach("extension", "of a hold")
	return nil
}

// noteTold notes that a holder may be told that he has a seat until a time in unix milliseconds.
func (st *seating) noteTold(holder string, i int32, until int64) {
	key := holder + " " + st.seatID(i)
	if st.told[key] == nil {
		st.told[key] = make(map[int64]bool)
	}
	st.told[key][until] = true
}

// freeSeats takes seats from a holder, and complains if he does not have them.
func (st *seating) freeSeats(list []int32, holder string) error {
	for _, i := range list {
		if st.spots[i].holder != holder || holder == "" {
			return fmt.Errorf("seat %s is taken from %q: %+v", st.seatID(i), holder, st.spots[i])
		}
		st.spots[i].holder = ""
	}
	st.dropEmptyPicks()
	return nil
}

// dropEmptyPicks drops the selections of holders who have no seats any more.
func (st *seating) dropEmptyPicks() {
	for holder := range st.picks {
		if !slices.ContainsFunc(st.spots, func(sp spot) bool { return sp.holder == holder }) {
			delete(st.picks, holder)
		}
	}
}

// takeExpired judges the end of selections: each ends as a whole, and none before its time.
func (st *seating) takeExpired(f *seatmap.ExpiredFact) error {
	// All seats are freed first. A holder who still has seats after that has lost only a part of the selection.
	var holders []string
	for _, i := range f.Seats {
		h := st.spots[i].holder
		if h == "" || st.picks[h].Until > f.At {
			return fmt.Errorf("seat %s expires at %d: %+v %+v", st.seatID(i), f.At, st.spots[i], st.picks[h])
		}
		st.spots[i].holder = ""
		holders = append(holders, h)
	}
	st.dropEmptyPicks()
	for _, h := range holders {
		if st.picks[h] != nil {
			return fmt.Errorf("only a part of what %s holds expires: %+v", h, f)
		}
	}
	return nil
}

// takeBlocked judges the seats that an organizer blocks or unblocks. Blocking takes a seat from a shopper who holds
// it, but never from an order.
func (st *seating) takeBlocked(f *seatmap.BlockedFact) error {
	for _, i := range f.Unblock {
		if !st.spots[i].blocked {
			return fmt.Errorf("seat %s is unblocked: %+v", st.seatID(i), st.spots[i])
		}
		st.spots[i].blocked = false
	}
	for _, i := range f.Block {
		if sp := st.spots[i]; sp.blocked || sp.claim.Serial != 0 {
			return fmt.Errorf("seat %s is blocked: %+v", st.seatID(i), sp)
		}
		st.spots[i] = spot{blocked: true}
	}
	st.dropEmptyPicks()
	return nil
}

// OwnerOf returns the order that has a seat, reserved or sold, or the zero id if no order has it.
func (s *Seats) OwnerOf(ref engine.Ref, seat string) engine.OrderID {
	if st := s.seatingOf(ref); st.layout != nil {
		if i := slices.Index(st.layout.SeatIDs, seat); i >= 0 {
			return st.spots[i].claim.Order
		}
	}
	return engine.OrderID{}
}

// typeOf returns the ticket type that a seat is on sale as now, or 0 if its section has no price.
func (st *seating) typeOf(i int32) int64 { return st.prices[st.layout.SectionOf(i)] }

// Size returns how many seats there are of a ticket type, and whether it is sold by seat at all. A seat that an order
// has counts as the type that it was sold as; others count as the type that they are on sale as, unless they are
// blocked.
func (s *Seats) Size(ref engine.Ref, typ int64) (n int64, seated bool) {
	st := s.seatingOf(ref)
	for i := range st.spots {
		sp := st.spots[i]
		if sp.claim.Serial != 0 && sp.typ == typ || sp.claim.Serial == 0 && !sp.blocked && st.typeOf(int32(i)) == typ {
			n++
		}
	}
	return n, n > 0 || slices.Contains(st.prices, typ)
}

// CheckTold returns an error if a shopper is told of a seat and an end that no hold of his ever had.
func (s *Seats) CheckTold(ref engine.Ref, holder string, held []string, until int64) error {
	st := s.seatingOf(ref)
	for _, id := range held {
		if !st.told[holder+" "+id][until] {
			return fmt.Errorf("%s never held %s until %d", holder, id, until)
		}
	}
	return nil
}

// Holds returns whether a selection is still the last one of its holder.
func (s *Seats) Holds(ref engine.Ref, f *seatmap.HeldFact) bool {
	return s.seatingOf(ref).picks[f.Holder] == f
}

// Phase returns in two words what an event's seats are in the middle of, as far as its facts tell.
func (s *Seats) Phase(ref engine.Ref) string {
	switch st := s.seatingOf(ref); {
	case len(st.reserved) > 0:
		return "seats reserved"
	case len(st.picks) > 0:
		return "seats held"
	}
	return "seats idle"
}
