package sim

import (
	"errors"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// seats are an event's seats by their facts.
type seats struct {
	layout   *seatmap.Layout
	holdTime int64
	prices   []int64 // ticket type by section
	spots    []spot
	picks    map[string]*seatmap.HeldFact // the last of each holder who has seats
	reserved map[engine.OrderID]*seatmap.ReservedFact
	ended    map[keeper.Claim]string
	told     map[string]map[int64]bool // "holder seat" with each end that it ever had
	taken    map[uint64][]taking       // what each network has newly held
	latest   int64                     // the latest time of a hold, unix milliseconds
}

// spot is one seat: free, or of a holder, or of an order.
type spot struct {
	holder  string
	claim   keeper.Claim
	typ     int64 // what it was sold as
	blocked bool
}

func (t *truth) seat(ref engine.Ref) *seats {
	st := t.seats[ref.Home]
	if st == nil {
		st = &seats{
			picks: make(map[string]*seatmap.HeldFact), reserved: make(map[engine.OrderID]*seatmap.ReservedFact),
			ended: make(map[keeper.Claim]string), told: make(map[string]map[int64]bool), taken: make(map[uint64][]taking),
		}
		t.seats[ref.Home] = st
	}
	return st
}

// takeSeats judges a committed fact of a seat map and keeps it.
func (t *truth) takeSeats(ref engine.Ref, st *seats, f engine.Fact) error {
	switch f := f.(type) {
	case *seatmap.AttachedFact:
		st.holdTime = f.HoldTime
		return st.attach(f.Layout)
	case *seatmap.DetachedFact:
		return st.attach(nil)
	case *seatmap.ConfiguredFact:
		st.holdTime = f.HoldTime
	case *seatmap.PricedFact:
		st.prices = f.Types
	case *seatmap.HeldFact:
		return t.takeHeld(ref, st, f)
	case *seatmap.DroppedFact:
		return st.free(f.Seats, f.Holder)
	case *seatmap.ExpiredFact:
		return st.takeExpired(f)
	case *seatmap.BlockedFact:
		return st.takeBlocked(f)
	case *seatmap.ReservedFact:
		return t.takeSeatsReserved(ref, st, f)
	case *keeper.CommittedFact:
		return t.takeSeatsSold(ref, st, f)
	case *seatmap.ReleasedFact:
		return t.takeSeatsReleased(ref, st, f)
	case *seatmap.ReturnedFact:
		return t.takeSeatsReturned(ref, st, f)
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

func (st *seats) attach(l *seatmap.Layout) error {
	for i := range st.spots {
		if claim := st.spots[i].claim; claim.Serial != 0 {
			return fmt.Errorf("the map goes, and seat %s is of %s", st.layout.SeatIDs[i], claimed(claim))
		}
	}
	st.layout, st.prices, st.spots = l, nil, nil
	clear(st.picks)
	if l != nil {
		st.prices, st.spots = make([]int64, len(l.Sections)), make([]spot, l.Len())
	}
	return nil
}

// id names a seat.
func (st *seats) id(i int32) string { return st.layout.SeatIDs[i] }

// takeHeld gives seats to a holder: nobody else may have them.
func (t *truth) takeHeld(ref engine.Ref, st *seats, f *seatmap.HeldFact) error {
	if err := st.free(f.Dropped, f.Holder); err != nil {
		return err
	}
	for _, i := range f.Took {
		if sp := st.spots[i]; sp.holder != "" || sp.claim.Serial != 0 || sp.blocked {
			return fmt.Errorf("seat %s is given to %s: %+v", st.id(i), f.Holder, sp)
		}
		if st.typeOf(i) == 0 {
			return fmt.Errorf("seat %s is given to %s, and not for sale", st.id(i), f.Holder)
		}
		st.spots[i].holder = f.Holder
	}
	old := st.picks[f.Holder]
	switch {
	case f.Until > f.At+st.holdTime || f.Until > f.Since+3*st.holdTime && f.Since != f.At:
		return fmt.Errorf("%s has his seats until %d: %+v", f.Holder, f.Until, f)
	case old == nil && f.Since != f.At || old != nil && f.Since != f.At && f.Since != old.Since:
		return fmt.Errorf("%s has had his seats since %d: %+v", f.Holder, f.Since, f)
	}
	st.picks[f.Holder] = f
	n := 0
	for i := range st.spots {
		if st.spots[i].holder == f.Holder {
			n++
			st.tell(f.Holder, int32(i), f.Until)
		}
	}
	if n == 0 || n > seatmap.MaxSelection {
		return fmt.Errorf("%s holds %d seats", f.Holder, n)
	}
	t.sim.watchHold(ref, f)
	return st.withinLimits(f, t.sim.swarm.holdScale)
}

// tell notes that a holder may be told that a seat is his until then.
func (st *seats) tell(holder string, i int32, until int64) {
	key := holder + " " + st.id(i)
	if st.told[key] == nil {
		st.told[key] = make(map[int64]bool)
	}
	st.told[key][until] = true
}

// free takes seats from a holder.
func (st *seats) free(list []int32, holder string) error {
	for _, i := range list {
		if st.spots[i].holder != holder || holder == "" {
			return fmt.Errorf("seat %s is taken from %q: %+v", st.id(i), holder, st.spots[i])
		}
		st.spots[i].holder = ""
	}
	st.forget()
	return nil
}

// forget drops the selections without seats.
func (st *seats) forget() {
	for holder := range st.picks {
		if !slices.ContainsFunc(st.spots, func(sp spot) bool { return sp.holder == holder }) {
			delete(st.picks, holder)
		}
	}
}

// takeExpired ends selections: each as a whole, and none before its time.
func (st *seats) takeExpired(f *seatmap.ExpiredFact) error {
	var holders []string
	for _, i := range f.Seats {
		h := st.spots[i].holder
		if h == "" || st.picks[h].Until > f.At {
			return fmt.Errorf("seat %s expires at %d: %+v %+v", st.id(i), f.At, st.spots[i], st.picks[h])
		}
		st.spots[i].holder = ""
		holders = append(holders, h)
	}
	st.forget()
	for _, h := range holders {
		if st.picks[h] != nil {
			return fmt.Errorf("only a part of what %s holds expires: %+v", h, f)
		}
	}
	return nil
}

func (st *seats) takeBlocked(f *seatmap.BlockedFact) error {
	for _, i := range f.Unblock {
		if !st.spots[i].blocked {
			return fmt.Errorf("seat %s is unblocked: %+v", st.id(i), st.spots[i])
		}
		st.spots[i].blocked = false
	}
	for _, i := range f.Block {
		if sp := st.spots[i]; sp.blocked || sp.claim.Serial != 0 {
			return fmt.Errorf("seat %s is blocked: %+v", st.id(i), sp)
		}
		st.spots[i] = spot{blocked: true}
	}
	st.forget()
	return nil
}

// owner is the order that a seat is of, if it is of one.
func (st *seats) owner(seat string) engine.OrderID {
	if st.layout != nil {
		if i := slices.Index(st.layout.SeatIDs, seat); i >= 0 {
			return st.spots[i].claim.Order
		}
	}
	return engine.OrderID{}
}

// typeOf is the ticket type that a seat is on sale as.
func (st *seats) typeOf(i int32) int64 { return st.prices[st.layout.SectionOf(i)] }

// takeSeatsReserved gives seats to an order: those that one of its commands
// names, free or held by who asks.
func (t *truth) takeSeatsReserved(ref engine.Ref, st *seats, f *seatmap.ReservedFact) error {
	claim := f.Reservation.Claim
	if how, dead := st.ended[claim]; dead {
		return fmt.Errorf("%s is reserved again after it was %s", claimed(claim), how)
	}
	if old := st.reserved[claim.Order]; old != nil {
		if old.Reservation.Claim.Serial >= claim.Serial {
			return fmt.Errorf("%s replaces %s", claimed(claim), claimed(old.Reservation.Claim))
		}
		t.sim.reach("seats", "replaced")
		if len(f.Freed) > 0 {
			t.sim.reach("seats", "replaced by others")
		}
		st.give(old, "replaced")
		for _, i := range old.Seats {
			if slices.Contains(f.Seats, i) == slices.Contains(f.Freed, i) {
				return fmt.Errorf("%s has seat %s from %s, freed %v", claimed(claim), st.id(i), claimed(old.Reservation.Claim), f.Freed)
			}
		}
	}
	p, err := t.sim.placeOf(claim.Order, st, f)
	if err != nil {
		return err
	}
	for k, i := range f.Seats {
		sp := st.spots[i]
		pick := st.picks[sp.holder]
		switch {
		case sp.claim.Serial != 0 || sp.blocked:
			return fmt.Errorf("%s takes seat %s: %+v", claimed(claim), st.id(i), sp)
		case sp.holder == "":
		case p.Holder != "" && sp.holder != p.Holder || p.Holder == "" && pick.Principal != p.Principal:
			return fmt.Errorf("%s takes seat %s from %+v", claimed(claim), st.id(i), pick)
		default:
			t.sim.reach("seats", "taken over")
		}
		typ := st.typeOf(i)
		if len(f.Types) > 0 {
			typ = f.Types[k]
		}
		st.spots[i] = spot{claim: claim, typ: typ}
	}
	st.forget()
	st.reserved[claim.Order] = f
	return t.aboveFloor(t.book(ref.Home), claim, f.Reservation.Floor)
}

// granted reports whether a reservation was made.
func (st *seats) granted(c keeper.Claim) error {
	r := st.reserved[c.Order]
	if _, ended := st.ended[c]; !ended && (r == nil || r.Reservation.Claim != c) {
		return fmt.Errorf("%s is granted and not reserved", claimed(c))
	}
	return nil
}

// give takes a reservation's seats from it.
func (st *seats) give(f *seatmap.ReservedFact, how string) {
	claim := f.Reservation.Claim
	for i := range st.spots {
		if st.spots[i].claim == claim {
			st.spots[i] = spot{}
		}
	}
	delete(st.reserved, claim.Order)
	st.ended[claim] = how
}

func (t *truth) takeSeatsSold(ref engine.Ref, st *seats, f *keeper.CommittedFact) error {
	r := st.reserved[f.Claim.Order]
	if r == nil || r.Reservation.Claim != f.Claim {
		return fmt.Errorf("%s is sold and not reserved", claimed(f.Claim))
	}
	sl := t.book(ref.Home).orders[f.Claim.Order]
	if sl == nil || !sl.order.Sold() || sl.order.Serial != f.Claim.Serial {
		return fmt.Errorf("%s is sold, its order is %+v", claimed(f.Claim), sl)
	}
	delete(st.reserved, f.Claim.Order)
	st.ended[f.Claim] = "sold"
	return nil
}

func (t *truth) takeSeatsReleased(ref engine.Ref, st *seats, f *seatmap.ReleasedFact) error {
	r := st.reserved[f.Claim.Order]
	if r == nil || r.Reservation.Claim != f.Claim || !slices.Equal(r.Seats, f.Seats) {
		return fmt.Errorf("%s is released: %v, reserved is %+v", claimed(f.Claim), f.Seats, r)
	}
	sl := t.book(ref.Home).orders[f.Claim.Order]
	if sl != nil && sl.order.Serial == f.Claim.Serial && (sl.order.Unpaid() || sl.order.Sold()) {
		return fmt.Errorf("%s is released, its order is %s", claimed(f.Claim), sl.order.Status)
	}
	st.give(r, "released")
	return nil
}

// has reports whether an order has all its seats, under a serial, as its lines have
// them, and no other. Those that are coming back it may have, or not.
func (st *seats) has(o *order.Order, serial keeper.Serial, back map[string]bool) error {
	claim := keeper.Claim{Order: o.ID, Serial: serial}
	want := make(map[string]int64)
	for i := range o.Lines {
		l := &o.Lines[i]
		if len(l.Seats) > 0 && int64(len(l.Seats)) != l.Quantity {
			return fmt.Errorf("order %s has %d seats for %d tickets", enginetest.OrderName(o.ID), len(l.Seats), l.Quantity)
		}
		for _, id := range l.Seats {
			if want[id] != 0 {
				return fmt.Errorf("order %s has seat %s twice", enginetest.OrderName(o.ID), id)
			}
			want[id] = l.Type
		}
	}
	for id := range back {
		delete(want, id)
	}
	for i := range st.spots {
		sp, id := st.spots[i], st.id(int32(i))
		if back[id] {
			continue
		}
		if (sp.claim == claim) != (want[id] != 0) || sp.claim == claim && sp.typ != want[id] {
			return fmt.Errorf("order %s@%d has type %d of seat %s: %+v", enginetest.OrderName(o.ID), serial, want[id], id, sp)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		return fmt.Errorf("order %s has seats that there are not: %v", enginetest.OrderName(o.ID), want)
	}
	return nil
}

// closed reports whether the seats of a closed order are sold, or not its any
// more.
func (st *seats) closed(o *order.Order, back map[string]bool) error {
	if !hasSeats(o.Lines) {
		return nil
	}
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	if sold := st.ended[claim] == "sold"; sold != o.Sold() || st.ended[claim] == "" {
		return fmt.Errorf("order %s is closed as %s, its seats are %q", enginetest.OrderName(o.ID), o.Status, st.ended[claim])
	}
	if o.Sold() {
		return st.has(o, o.Serial, back)
	}
	return nil
}

func hasSeats(lines []order.Line) bool {
	return slices.ContainsFunc(lines, func(l order.Line) bool { return len(l.Seats) > 0 })
}

// size is how many seats there are to sell as a ticket type, and whether it is
// seated at all.
func (st *seats) size(typ int64) (n int64, seated bool) {
	for i := range st.spots {
		sp := st.spots[i]
		if sp.claim.Serial != 0 && sp.typ == typ || sp.claim.Serial == 0 && !sp.blocked && st.typeOf(int32(i)) == typ {
			n++
		}
	}
	return n, n > 0 || slices.Contains(st.prices, typ)
}

// picked judges what a shopper is told that he holds.
func (st *seats) picked(holder string, held []string, until int64) error {
	for _, id := range held {
		if !st.told[holder+" "+id][until] {
			return fmt.Errorf("%s never held %s until %d", holder, id, until)
		}
	}
	return nil
}

// placeOf is the command that asks for the seats of a reservation.
func (s *Sim) placeOf(id engine.OrderID, st *seats, f *seatmap.ReservedFact) (*event.Place, error) {
	for _, p := range s.places[id] {
		types := make(map[string]int64)
		for i := range p.Lines {
			for _, seat := range p.Lines[i].Seats {
				types[seat] = p.Lines[i].Type
			}
		}
		same := len(types) == len(f.Seats)
		for k, i := range f.Seats {
			typ := st.typeOf(i)
			if len(f.Types) > 0 {
				typ = f.Types[k]
			}
			same = same && types[st.id(i)] == typ
		}
		if same {
			return p, nil
		}
	}
	return nil, fmt.Errorf("nobody has ordered %+v for %s", f, enginetest.OrderName(id))
}

// holdGrace is how long after its time a live owner may have a selection.
const holdGrace = 5 * second

// watchHold makes sure that a selection ends in time, by the clock of who owns
// the seats then, unless it is changed before.
func (s *Sim) watchHold(ref engine.Ref, f *seatmap.HeldFact) {
	due := f.Until*millisecond - enginetest.Epoch.UnixMicro()
	var look func()
	look = func() {
		if s.truth.seat(ref).picks[f.Holder] != f {
			return
		}
		a := s.current(ref)
		if a == nil || a.state == nil { // nobody is at work: some time somebody will be
			s.after(second, look)
			return
		}
		over := max(due-a.node.offset.Microseconds(), a.since) + holdGrace
		if s.now < over {
			s.after(over-s.now, look)
			return
		}
		if a.pending > 0 { // what ends it may be on its way to the journal
			s.after(second, look)
			return
		}
		s.failf("%s: %s holds his seats %d ms after their time", ref.Name(), f.Holder, (s.now-due)/millisecond)
	}
	s.after(due-s.now+holdGrace, look)
}

// settledSeats judges a show's seats once the world is quiet: no hold is left,
// the seats that are taken are those of completed orders, and every ticket type
// has as many units as it has seats.
func (s *Sim) settledSeats(sh *show) error {
	if sh.hall == nil {
		return nil
	}
	st, b := s.truth.seat(sh.seats), s.truth.book(sh.ref.Home)
	if len(st.picks) > 0 || len(st.reserved) > 0 {
		return fmt.Errorf("%d selections and %d reservations are left", len(st.picks), len(st.reserved))
	}
	for i := range st.spots {
		if claim := st.spots[i].claim; claim.Serial != 0 {
			if sl := b.orders[claim.Order]; sl == nil || !sl.order.Sold() || sl.order.Serial != claim.Serial || s.truth.goneSeats(sl.order)[st.id(int32(i))] {
				return fmt.Errorf("seat %s is of %s, which is %+v", st.id(int32(i)), claimed(claim), sl)
			}
		}
	}
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Sold() {
			if err := st.has(o, o.Serial, s.truth.goneSeats(o)); err != nil {
				return err
			}
		}
	}
	for _, ref := range sh.types {
		d := s.truth.stock(ref).details
		if n, seated := st.size(ref.ID); seated != d.Seated || seated && n != d.Quantity {
			return fmt.Errorf("%s has %d seats (seated %t), and is %+v", ref.Name(), n, seated, d)
		}
	}
	state, err := s.replay(s.stream(sh.seats), true)
	if err != nil {
		return err
	}
	m, ok := state.(*seatmap.State)
	if !ok {
		return fmt.Errorf("a %T", state)
	}
	m.Open(func(h keeper.Held) { err = errors.Join(err, fmt.Errorf("%s is still reserved", claimed(h.Claim))) })
	m.Selections(func(holder string, _ int64, ids []string) {
		err = errors.Join(err, fmt.Errorf("%s still holds %v", holder, ids))
	})
	m.Sales(func(c keeper.Claim, ids []string) {
		for _, id := range ids {
			if i := slices.Index(st.layout.SeatIDs, id); i < 0 || st.spots[i].claim != c {
				err = errors.Join(err, fmt.Errorf("seat %s is of %s", id, claimed(c)))
			}
		}
	})
	return err
}

// settledOffers makes sure that the ledger knows which ticket types are seated,
// unless it was removed and need not.
func (s *Sim) settledOffers(sh *show, ledger *event.State) error {
	f, ok := ledger.Freeze().(*event.Frozen)
	if !ok {
		return fmt.Errorf("a snapshot of another kind: %T", ledger.Freeze())
	}
	if f.Details == nil {
		return nil
	}
	for _, o := range f.Offers {
		if d := s.truth.stock(o.Keeper).details; o.Seated != d.Seated {
			return fmt.Errorf("%s is offered as %+v, and is %+v", o.Keeper.Name(), o, d)
		}
	}
	return nil
}
