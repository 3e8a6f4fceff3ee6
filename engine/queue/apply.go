package queue

import (
	"boxoffice/engine"
	"boxoffice/engine/draw"
)

// Apply applies a fact to the state. Before the first Opened there is no room, and other facts
// change nothing.
func (s *State) Apply(f engine.Fact) {
	if _, opens := f.(*Opened); !opens && s.settings == nil {
		return
	}
	switch f := f.(type) {
	case *Opened:
		// Another number means a new room, which begins without anything of the one before.
		if f.Draw != s.number {
			*s = State{ref: s.ref, number: f.Draw, phase: Registering}
		}
		s.settings, s.draining = f.Settings, false
	case *Ended:
		s.phase, s.paused, s.draining = NoRoom, false, false
	case *PausedFact:
		s.paused = f.On
		s.servedAt = max(s.servedAt, f.At)
	case *Joined:
		s.applyJoined(f)
	case *ClosedFact:
		s.phase, s.drawn, s.drawnBy, s.root = Closed, f.Count, s.byClass, f.Root
	case *Drawn:
		s.phase, s.signature = Ordered, f.Signature
		s.servedAt = max(f.At, s.settings.Rules.OpensAt)
		s.orderPlaces()
	case *Voided:
		s.phase = Ordered
		s.servedAt = max(f.At, s.settings.Rules.OpensAt)
	case *Served:
		s.served, s.credit, s.servedAt = f.To, f.Credit, f.At
	case *DrainingFact:
		s.draining = true
	case *Bound:
		if int(f.Index) < len(s.persons) {
			s.persons[f.Index] = f.Person
		}
	case *Admitted:
		if int(f.Index) < len(s.issued) {
			s.issued[f.Index] = f.Seconds
		}
	}
}

// applyJoined adds an entry after the last one. Its number is its place in the order of arrival.
func (s *State) applyJoined(f *Joined) {
	n := s.count()
	s.entries.Append(f.Leaf)
	s.byClass[min(int(f.Class), len(s.byClass)-1)]++
	s.persons, s.issued = append(s.persons, f.Person), append(s.issued, 0)
	s.index(n, f.Leaf, f.Person)
}

// index makes an entry findable by its leaf and, if it has one, by its person.
func (s *State) index(n uint32, leaf draw.Hash, person uint64) {
	s.known.add(hashOfLeaf(leaf), n, func(i uint32) uint64 { return hashOfLeaf(s.entries.Leaf(int(i))) })
	if person != 0 {
		s.byOwner.add(person, n, func(i uint32) uint64 { return s.persons[i] })
	}
}

// orderPlaces computes the order of the places from the statement and the beacon's signature. Anybody who has
// the two can compute the same order. Without a signature it does nothing, because arrival counts.
func (s *State) orderPlaces() {
	if s.signature != nil {
		statement := s.makeStatement()
		s.places = draw.NewPermutation(statement.Key(s.signature), s.drawn)
	}
}
