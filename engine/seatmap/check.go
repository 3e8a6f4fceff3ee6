package seatmap

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"boxoffice/engine/keeper"
)

// Check returns the first broken invariant, or nil. It recounts everything, so it is for tests and for loading.
func (s *State) Check() error {
	if err := s.book.Check(); err != nil {
		return err
	}
	if s.plan == nil {
		if len(s.seats)+len(s.holds.by)+len(s.holds.heap)+len(s.sales)+s.book.Len() > 0 {
			return errors.New("seatmap: seats without a map")
		}
		return nil
	}
	if err := s.checkSeats(); err != nil {
		return err
	}
	if err := s.checkHolds(); err != nil {
		return err
	}
	return s.checkSales()
}

// checkSeats recounts all seats. It checks that each is in one state and counts for the right type, that selections and
// sales name their seats, and that the counts (by status, by row and by type, and those told to types) are right.
func (s *State) checkSeats() error {
	var tallies [4]int32
	vacant, counts := make([]int32, len(s.vacant)), make([]int64, len(s.sizes.list))
	for i := range s.seats {
		one, id := &s.seats[i], s.plan.SeatIDs[i]
		if one.hold != nil && one.sale != nil || one.blocked && (one.hold != nil || one.sale != nil) {
			return fmt.Errorf("seatmap: seat %s is in two states", id)
		}
		if one.sale == nil && !one.blocked && one.counts != s.prices[s.plan.SectionOf(int32(i))] || one.blocked && one.counts != 0 {
			return fmt.Errorf("seatmap: seat %s counts for another type than its section's", id)
		}
		if one.hold != nil && (s.holds.by[one.hold.holder] != one.hold || !contains(one.hold.seats, int32(i))) {
			return fmt.Errorf("seatmap: seat %s is held by nobody", id)
		}
		if one.sale != nil && (s.sales[one.sale.claim] != one.sale || !contains(one.sale.seats, int32(i))) {
			return fmt.Errorf("seatmap: seat %s is taken by no order", id)
		}
		tallies[one.status()]++
		counts[one.counts]++
		if one.isFree() {
			vacant[s.plan.SeatRow[i]]++
		}
	}
	if tallies != s.tallies || !slices.Equal(vacant, s.vacant) {
		return fmt.Errorf("seatmap: %v seats of each status, counted %v", s.tallies, tallies)
	}
	for slot, n := range counts {
		one := &s.sizes.list[slot]
		if one.seats != n || slot > 0 && one.told != one.toldQuantity() {
			return fmt.Errorf("seatmap: %d seats count for type %d, told %d, counted %d", one.seats, one.typ, one.told, n)
		}
	}
	return nil
}

// checkHolds checks that each selection is in the heap at its place, and that the counts of principals and of held
// seats agree with the selections. It also checks the limits of each selection (seats and time), and how many
// networks are remembered.
func (s *State) checkHolds() error {
	if len(s.holds.heap) != len(s.holds.by) {
		return fmt.Errorf("seatmap: %d selections, %d to end", len(s.holds.by), len(s.holds.heap))
	}
	held, counts := 0, make(map[uint64]int32)
	for k, h := range s.holds.heap {
		switch {
		case h.position != k || s.holds.by[h.holder] != h:
			return fmt.Errorf("seatmap: selection of %s is not where it ends", h.holder)
		case k > 0 && s.holds.heap[(k-1)/2].until > h.until:
			return fmt.Errorf("seatmap: selection of %s ends out of order", h.holder)
		case len(h.seats) == 0 || len(h.seats) > MaxSelection || !slices.IsSorted(h.seats):
			return fmt.Errorf("seatmap: selection of %s has %d seats", h.holder, len(h.seats))
		case h.until > h.since+(longest+h.extended)*MaxHold || h.extended > keeper.MaxExtensions:
			return fmt.Errorf("seatmap: selection of %s lasts too long", h.holder)
		}
		held += len(h.seats)
		counts[h.principal] += int32(len(h.seats))
	}
	if !maps.Equal(counts, s.holds.count) {
		return errors.New("seatmap: principals hold other seats than were counted")
	}
	if err := s.pace.Check(); err != nil {
		return err
	}
	if held != int(s.tallies[Held]) {
		return fmt.Errorf("seatmap: %d seats in selections, %d held", held, s.tallies[Held])
	}
	return nil
}

// checkSales checks that the orders' seats agree with the count of sold seats and with the open reservations.
func (s *State) checkSales() error {
	sold, orders := 0, 0
	var err error
	s.eachSale(func(one *sale) {
		orders++
		sold += len(one.seats)
		if !slices.IsSorted(one.seats) {
			err = fmt.Errorf("seatmap: the seats of order %s are not in order", one.claim.Order)
		}
	})
	if err == nil && (sold != int(s.tallies[Sold]) || orders != len(s.sales)) {
		err = fmt.Errorf("seatmap: %d seats of %d orders, %d sold to %d", sold, orders, s.tallies[Sold], len(s.sales))
	}
	s.book.Each(func(h keeper.Held) {
		if one := s.sales[h.Claim]; err == nil && (one == nil || int64(len(one.seats)) != h.Quantity) {
			err = fmt.Errorf("seatmap: order %s has reserved %d seats that it has not", h.Claim.Order, h.Quantity)
		}
	})
	return err
}

// eachSale calls f for every order's seats, ordered by their first seat.
func (s *State) eachSale(f func(*sale)) {
	for i := range s.seats {
		if one := s.seats[i].sale; one != nil && one.seats[0] == int32(i) {
			f(one)
		}
	}
}

// Open calls f for every open reservation, for the audit.
func (s *State) Open(f func(keeper.Held)) { s.book.Each(f) }

// Sale returns the seats that a claim has taken, and whether its reservation is still open, for the audit. It
// returns nil for a claim without seats.
func (s *State) Sale(c keeper.Claim) (seats []string, open bool) {
	one := s.sales[c]
	if one == nil {
		return nil, false
	}
	state, _ := s.book.Look(c)
	return s.seatIDs(one.seats), state == keeper.Open
}

// Sales calls f for every order's seats, for the audit.
func (s *State) Sales(f func(c keeper.Claim, seats []string)) {
	s.eachSale(func(one *sale) { f(one.claim, s.seatIDs(one.seats)) })
}

// Selections calls f for every selection, for the audit.
func (s *State) Selections(f func(holder string, until int64, seats []string)) {
	for i := range s.seats {
		if h := s.seats[i].hold; h != nil && h.seats[0] == int32(i) {
			f(h.holder, h.until, s.seatIDs(h.seats))
		}
	}
}
