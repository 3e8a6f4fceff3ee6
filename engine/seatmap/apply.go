package seatmap

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply applies a fact to the state. It ignores seats and sections that are not on the map.
func (s *State) Apply(f engine.Fact) {
	if !f.FactType().Volatile() {
		s.facts++
	}
	switch f := f.(type) {
	case *HeldFact:
		s.changeSelection(&hold{holder: f.Holder, principal: f.Principal, since: f.Since, until: f.Until, extended: f.Extended}, s.onMap(f.Took), s.onMap(f.Dropped))
		s.rememberAnswer(f.Answered, f.At)
		s.pace.NoteHeld(f.Network, len(f.Took), f.At)
	case *DroppedFact:
		s.rememberAnswer(f.Answered, f.At)
		if h := s.holds.by[f.Holder]; h != nil {
			rest := *h
			s.changeSelection(&rest, nil, s.onMap(f.Seats))
		}
	case *ExpiredFact:
		for _, i := range s.onMap(f.Seats) {
			if h := s.seats[i].hold; h != nil {
				s.endSelection(h)
			}
		}
	case *ResizedFact:
		s.sizes.sent = f.At
	case *SeenFact:
		s.sizes.noteSeen(f.Revision)
	default:
		if s.book.Apply(f) {
			return
		}
		s.applySale(f)
		s.applyMap(f)
		s.sizes.settleSizes()
	}
}

// applySale applies the facts about seats of orders. A reservation takes seats as the types that it names or, if it
// names none, as their sections' types. A commit changes no seat, because a reserved seat counts as sold already.
func (s *State) applySale(f engine.Fact) {
	switch f := f.(type) {
	case *ReservedFact:
		// A new attempt of the ledger replaces the order's reservation, so its seats are freed before the new ones
		// are taken.
		if old, replaced := s.book.Reserve(&f.Reservation); replaced {
			s.giveBack(old.Claim, nil)
		}
		seats := s.onMap(f.Seats)
		types := make([]uint16, len(seats))
		for k, i := range seats {
			types[k] = s.prices[s.plan.SectionOf(i)]
			if len(f.Types) == len(seats) {
				types[k] = s.sizes.add(f.Types[k])
			}
		}
		s.takeSeats(f.Reservation.Claim, seats, types)
	case *keeper.CommittedFact:
		s.book.End(f.Claim, f.Floor)
	case *ReleasedFact:
		s.book.End(f.Claim, f.Floor)
		s.giveBack(f.Claim, nil)
	case *ReturnedFact:
		s.giveBack(f.Claim, f.Seats)
	}
}

// applyMap applies the facts about what the organizer has done. Attaching or detaching a map forgets the selections,
// prices and blocks of the old one; blocking a held seat takes it out of its selection.
func (s *State) applyMap(f engine.Fact) {
	switch f := f.(type) {
	case *AttachedFact:
		if f.Layout == nil {
			return
		}
		s.attachPlan(newPlan(f.Layout))
		s.mode, s.holdTime = f.Mode, f.HoldTime
	case *ConfiguredFact:
		s.mode, s.holdTime = f.Mode, f.HoldTime
	case *DetachedFact:
		s.attachPlan(nil)
		s.mode, s.holdTime = "", 0
	case *PricedFact:
		for i, typ := range f.Types[:min(len(f.Types), len(s.prices))] {
			// The section gives up its old type before it gets the new one: both counts must stay right if the
			// old and the new type are the same.
			s.sizes.list[s.prices[i]].sections--
			s.prices[i] = s.sizes.add(typ)
			s.sizes.list[s.prices[i]].sections++
		}
		// Free and held seats count for the type of their section, so each seat is put once more to be counted for
		// the new type.
		for i := range s.seats {
			s.putSeat(int32(i), s.seats[i])
		}
	case *BlockedFact:
		for _, i := range s.onMap(f.Unblock) {
			s.putSeat(i, seat{})
		}
		// A shopper may hold a seat that becomes blocked, and then loses only this seat.
		for _, i := range s.onMap(f.Block) {
			s.loseSeat(i)
			s.putSeat(i, seat{blocked: true})
		}
	}
}

// onMap returns those of a fact's seats that are on the map: all of them, unless the fact is about another map.
func (s *State) onMap(seats []int32) []int32 {
	off := func(i int32) bool { return i < 0 || int(i) >= len(s.seats) }
	if !slices.ContainsFunc(seats, off) {
		return seats
	}
	return slices.DeleteFunc(slices.Clone(seats), off)
}

// attachPlan replaces the map, and forgets the selections, prices and blocks of the old one. A nil p leaves no
// map. The list of ticket types stays, because the types of the old map have to be told that they have no seats
// any more.
func (s *State) attachPlan(p *plan) {
	s.plan, s.holds, s.seats, s.prices, s.vacant, s.tallies = p, newHolds(), nil, nil, nil, [4]int32{}
	for i := range s.sizes.list {
		s.sizes.list[i].seats, s.sizes.list[i].sections = 0, 0
	}
	if p == nil {
		return
	}
	s.prices = make([]uint16, len(p.Sections))
	s.seats = make([]seat, p.Len())
	s.vacant = make([]int32, len(p.Rows))
	for r := range s.vacant {
		first, end := p.seatsOfRow(int32(r))
		s.vacant[r] = end - first
	}
	s.tallies[Available] = int32(p.Len())
	s.sizes.list[0].seats, s.sizes.list[0].sections = int64(p.Len()), len(p.Sections)
}
