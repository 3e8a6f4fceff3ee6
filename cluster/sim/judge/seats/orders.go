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

// takeReserved judges that an order gets seats, and gives them to it. The seats are those that one of the order's
// commands names, and each is free or held by the shopper who orders. A later attempt, with a higher serial, replaces
// the order's first reservation.
func (s *Seats) takeReserved(st *seating, f *seatmap.ReservedFact) error {
	claim := f.Reservation.Claim
	if how, dead := st.ended[claim]; dead {
		return fmt.Errorf("%s is reserved again after it was %s", enginetest.ClaimName(claim), how)
	}
	if old := st.reserved[claim.Order]; old != nil {
		if old.Reservation.Claim.Serial >= claim.Serial {
			return fmt.Errorf("%s replaces %s", enginetest.ClaimName(claim), enginetest.ClaimName(old.Reservation.Claim))
		}
		s.world.Reach("seats", "replaced")
		if len(f.Freed) > 0 {
			s.world.Reach("seats", "replaced by others")
		}
		st.giveBack(old, "replaced")
		// Each seat of the replaced reservation is either reserved again or freed, never both and never neither.
		for _, i := range old.Seats {
			if slices.Contains(f.Seats, i) == slices.Contains(f.Freed, i) {
				return fmt.Errorf("%s has seat %s from %s, freed %v", enginetest.ClaimName(claim), st.seatID(i), enginetest.ClaimName(old.Reservation.Claim), f.Freed)
			}
		}
	}
	p, err := s.placeOf(claim.Order, st, f)
	if err != nil {
		return err
	}
	for k, i := range f.Seats {
		sp := st.spots[i]
		pick := st.picks[sp.holder]
		switch {
		case sp.claim.Serial != 0 || sp.blocked:
			return fmt.Errorf("%s takes seat %s: %+v", enginetest.ClaimName(claim), st.seatID(i), sp)
		// The seat is free, so anybody may order it.
		case sp.holder == "":
		// An order that names a holder takes only this holder's seats. One that names none takes the seats of its
		// account.
		case p.Holder != "" && sp.holder != p.Holder || p.Holder == "" && pick.Principal != p.Principal:
			return fmt.Errorf("%s takes seat %s from %+v", enginetest.ClaimName(claim), st.seatID(i), pick)
		default:
			s.world.Reach("seats", "taken over")
		}
		// The fact lists ticket types only where they differ from what the seats are on sale as now, because prices
		// may have changed since the shopper chose.
		typ := st.typeOf(i)
		if len(f.Types) > 0 {
			typ = f.Types[k]
		}
		st.spots[i] = spot{claim: claim, typ: typ}
	}
	st.dropEmptyPicks()
	st.reserved[claim.Order] = f
	return nil
}

// placeOf returns the command by which somebody asked for exactly the seats of a reservation, at the same ticket
// types. An order's id may have come with several bodies.
func (s *Seats) placeOf(id engine.OrderID, st *seating, f *seatmap.ReservedFact) (*ledger.Place, error) {
	for _, p := range s.world.Places(id) {
		// The seats of all lines of a command are compared at once, with the type that each is ordered as.
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
			same = same && types[st.seatID(i)] == typ
		}
		if same {
			return p, nil
		}
	}
	return nil, fmt.Errorf("nobody has ordered %+v for %s", f, enginetest.OrderName(id))
}

// CheckGranted returns an error if a grant that leaves the seat map is about a reservation that was never made.
func (s *Seats) CheckGranted(ref engine.Ref, c keeper.Claim) error {
	st := s.seatingOf(ref)
	r := st.reserved[c.Order]
	if _, ended := st.ended[c]; !ended && (r == nil || r.Reservation.Claim != c) {
		return fmt.Errorf("%s is granted and not reserved", enginetest.ClaimName(c))
	}
	return nil
}

// giveBack frees the seats of a reservation that ends unsold, and notes how it ended.
func (st *seating) giveBack(f *seatmap.ReservedFact, how string) {
	claim := f.Reservation.Claim
	for i := range st.spots {
		if st.spots[i].claim == claim {
			st.spots[i] = spot{}
		}
	}
	delete(st.reserved, claim.Order)
	st.ended[claim] = how
}

// takeSold judges that seats are sold: they are reserved under this claim, and the ledger has sold the order under
// the same serial. They stay the order's.
func (s *Seats) takeSold(ref engine.Ref, st *seating, f *keeper.CommittedFact) error {
	r := st.reserved[f.Claim.Order]
	if r == nil || r.Reservation.Claim != f.Claim {
		return fmt.Errorf("%s is sold and not reserved", enginetest.ClaimName(f.Claim))
	}
	o := s.world.Order(ref.Home, f.Claim.Order)
	if o == nil || !o.Sold() || o.Serial != f.Claim.Serial {
		return fmt.Errorf("%s is sold, its order is %+v", enginetest.ClaimName(f.Claim), o)
	}
	delete(st.reserved, f.Claim.Order)
	st.ended[f.Claim] = "sold"
	return nil
}

// takeReleased judges that the seats of an order become free again: the fact names all its seats, and the ledger has
// given up the reservation.
func (s *Seats) takeReleased(ref engine.Ref, st *seating, f *seatmap.ReleasedFact) error {
	r := st.reserved[f.Claim.Order]
	if r == nil || r.Reservation.Claim != f.Claim || !slices.Equal(r.Seats, f.Seats) {
		return fmt.Errorf("%s is released: %v, reserved is %+v", enginetest.ClaimName(f.Claim), f.Seats, r)
	}
	o := s.world.Order(ref.Home, f.Claim.Order)
	if o != nil && o.Serial == f.Claim.Serial && (o.Unpaid() || o.Sold()) {
		return fmt.Errorf("%s is released, its order is %s", enginetest.ClaimName(f.Claim), o.Status)
	}
	st.giveBack(r, "released")
	return nil
}

// CheckSold returns an error unless all seats of an order that is being completed are reserved for it, under this
// serial.
func (s *Seats) CheckSold(ref engine.Ref, o *order.Order, serial keeper.Serial) error {
	st := s.seatingOf(ref)
	if st.reserved[o.ID] == nil {
		return fmt.Errorf("order %s has no seats reserved", enginetest.OrderName(o.ID))
	}
	return st.checkSeatsOf(o, serial, nil)
}

// checkSeatsOf returns an error unless an order has exactly the seats that its lines name, under this serial. Seats
// in back are on their way back to the map after a refund: the order may still have them or not.
func (st *seating) checkSeatsOf(o *order.Order, serial keeper.Serial, back map[string]bool) error {
	claim := keeper.Claim{Order: o.ID, Serial: serial}
	// want has the ticket type of each seat that the order should have. A seat that is found is taken off, so the
	// rest is missing.
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
		sp, id := st.spots[i], st.seatID(int32(i))
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

// CheckClosed returns an error unless the seats of a closed order ended as the order did: sold if it was sold, and
// otherwise no longer the order's.
func (s *Seats) CheckClosed(ref engine.Ref, o *order.Order) error {
	st := s.seatingOf(ref)
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	if sold := st.ended[claim] == "sold"; sold != o.Sold() || st.ended[claim] == "" {
		return fmt.Errorf("order %s is closed as %s, its seats are %q", enginetest.OrderName(o.ID), o.Status, st.ended[claim])
	}
	if o.Sold() {
		return st.checkSeatsOf(o, o.Serial, s.world.Gone(o))
	}
	return nil
}

// takeReturned judges seats that come back after a refund: each is the order's, and its ticket's money went back.
func (s *Seats) takeReturned(ref engine.Ref, st *seating, f *seatmap.ReturnedFact) error {
	o := s.world.Order(ref.Home, f.Claim.Order)
	if o == nil {
		return fmt.Errorf("%s gives seats back: %v", enginetest.ClaimName(f.Claim), f.Seats)
	}
	gone := s.world.Gone(o)
	for _, i := range f.Seats {
		if st.spots[i].claim != f.Claim || !gone[st.seatID(i)] {
			return fmt.Errorf("%s gives seat %s back: %+v", enginetest.ClaimName(f.Claim), st.seatID(i), st.spots[i])
		}
		st.spots[i] = spot{}
	}
	return nil
}

// IsReserved returns whether a reservation still has its seats, so that the seat map may not call it closed.
func (s *Seats) IsReserved(ref engine.Ref, c keeper.Claim) bool {
	r := s.seatingOf(ref).reserved[c.Order]
	return r != nil && r.Reservation.Claim == c
}
