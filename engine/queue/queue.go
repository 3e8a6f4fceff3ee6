// Package queue is the kind of an event's waiting room: it owns the entries, the draw that gives places to those from
// before the closing (engine/draw), and how far the places have been admitted. Later entries follow by arrival.
//
// Entries are numbered in the order of the facts. Of each, the room keeps the leaf, the person, and when it was
// admitted. A place is the permutation of an entry's number if it was drawn, and otherwise the number itself.
// So no order is stored, and a node that takes the room over computes the same order. The rules can't change
// once registration has begun. A timer closes the list, and the order follows from the list and a beacon's
// signature that anybody may bring.
//
// Invariants: an entry is never lost or listed twice; the root is computed from the entries up to the closing; the
// served place never falls, whatever the clock does; it grows by the rate, and by at most some seconds of it at once.
// Limits: MaxEntries. The edge sends it commands. It wakes to close the list, to give a draw up whose beacon does not
// come, and to admit; it has no goroutine.
package queue

import (
	"fmt"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/draw"
)

const (
	// MaxEntries is how many entries a room takes.
	MaxEntries = 5_000_000
	// MaxRate bounds the admissions of a minute.
	MaxRate = 1_000_000
	// maxAtOnce is for how long a pause of the node is made up for, and by how much the clock may be set back before
	// the room counts on from the new time (settingBack), in milliseconds.
	maxAtOnce = 5_000
	// tick is the least time between two facts of admission, in milliseconds. Those who are admitted by one
	// fact come to order at once: a longer tick makes larger crowds, a shorter one more facts.
	tick = 100
)

// Phase says how far a room is.
type Phase uint8

// The phases of a room. Numbers are stored.
const (
	NoRoom      Phase = 0 // there is none, or it has ended: everybody may order
	Registering Phase = 1 // there is a room, which visitors may join as soon as registration has begun
	Closed      Phase = 2 // the statement is out, and the beacon's round is awaited
	Ordered     Phase = 3 // places are known
)

// String returns the phase's name as answers show it.
func (p Phase) String() string {
	return [...]string{"none", "registering", "closed", "open"}[p]
}

// Settings are what an organizer decides about a room.
type Settings struct {
	Event string     `cbor:"1,keyasint"` // public id, as statements name it
	Rules draw.Rules `cbor:"2,keyasint"` // rules of the draw; their Round is computed from ClosesAt, and no request sets it
	Chain draw.Chain `cbor:"3,keyasint"`
	Rate  int64      `cbor:"4,keyasint"`           // entries admitted in a minute
	Hold  int64      `cbor:"5,keyasint"`           // milliseconds for which an admission is valid
	Auto  bool       `cbor:"6,keyasint,omitempty"` // whether the rate is steered (Steer)
	Work  int        `cbor:"7,keyasint,omitempty"` // bits of work that joining takes (draw.Work); the edge asks for it
}

// State is a waiting room's memory.
type State struct {
	ref      engine.Ref
	settings *Settings // replaced, never changed; nil before the first room
	number   uint32    // number of the draw
	phase    Phase
	paused   bool
	draining bool // whether nobody may join any more

	entries draw.Tree
	byClass draw.Counts // how many entries each class has
	known   table       // entries by leaf
	persons []uint64    // person who made each entry, or else the person who orders by its admission; 0 as long as neither is known
	byOwner table       // entries by person
	issued  []uint32    // when each entry was admitted, in seconds since the opening, from 1; 0 if it was not yet

	drawn     uint32      // how many entries are under the root
	drawnBy   draw.Counts // how many of the drawn entries each class has
	root      draw.Hash
	signature []byte            // the beacon's signature; nil before the draw, and if arrival counts
	places    *draw.Permutation // place of each drawn entry; nil before the draw, and if arrival counts

	served   uint32 // the served place: places below it are admitted
	credit   int64  // parts of an admission that are due: 60,000 are one
	servedAt int64  // unix milliseconds up to which the rate has been counted
}

// New returns the empty state of a waiting room.
func New(ref engine.Ref) engine.State { return &State{ref: ref} }

// findPlace returns the place of an entry, from 0, or false if it is not known yet.
func (s *State) findPlace(index uint32) (uint32, bool) {
	switch {
	case s.phase != Ordered:
		return 0, false
	case s.places != nil && index < s.drawn:
		return s.places.Place(index), true
	}
	return index, true
}

// isClosed reports whether the list was closed. The draw of a room that has ended stays known.
func (s *State) isClosed() bool { return s.settings != nil && s.root != draw.Hash{} }

// makeStatement returns the draw's statement. It exists once the list is closed.
func (s *State) makeStatement() draw.Statement {
	return draw.Statement{
		Event: s.settings.Event, Draw: s.number, Rules: s.settings.Rules, Count: s.drawn, ByClass: s.drawnBy, Root: s.root,
		TestBeacon: s.settings.Chain.Test,
	}
}

// find returns the number of the entry with a leaf.
func (s *State) find(leaf draw.Hash) (uint32, bool) {
	return s.known.find(hashOfLeaf(leaf), func(i uint32) bool { return s.entries.Leaf(int(i)) == leaf })
}

// findOwned returns the number of a person's entry.
func (s *State) findOwned(person uint64) (uint32, bool) {
	return s.byOwner.find(person, func(i uint32) bool { return s.persons[i] == person })
}

// count returns how many entries there are.
func (s *State) count() uint32 { return uint32(s.entries.Len()) } //nolint:gosec // at most MaxEntries

// Next returns when the state wants its next Wake: to close the list, to give up waiting for the beacon, or to
// admit. It returns the zero time for never.
func (s *State) Next() time.Time {
	switch s.phase {
	case NoRoom:
	case Registering:
		return time.UnixMilli(s.settings.Rules.ClosesAt)
	case Closed:
		return time.UnixMilli(s.voidAt())
	case Ordered:
		if !s.paused && s.served < s.count() {
			return time.UnixMilli(s.servedAt + max(tick, s.untilNext()))
		}
	}
	return time.Time{}
}

// voidAt returns when a draw without its beacon is given up, in unix milliseconds.
func (s *State) voidAt() int64 {
	return s.settings.Chain.Time(s.settings.Rules.Round) + s.settings.Rules.VoidAfter*60_000
}

// untilNext returns how long after servedAt the next admission is due, in milliseconds.
func (s *State) untilNext() int64 { return (60_000 - s.credit + s.settings.Rate - 1) / s.settings.Rate }

// Check returns the first broken invariant, or nil. It compares the counts of entries with each other, the root
// with the root of the drawn entries, and the place of each admitted entry with the places served.
func (s *State) Check() error {
	n := s.count()
	var sum, drawn uint64
	for c := range s.byClass {
		sum, drawn = sum+uint64(s.byClass[c]), drawn+uint64(s.drawnBy[c])
	}
	under := s.entries.Prefix(int(min(s.drawn, n)))
	switch {
	case sum != uint64(n) || len(s.persons) != int(n) || len(s.issued) != int(n) || s.known.count != n:
		return fmt.Errorf("queue: %d entries, %d by class, %d persons, %d admissions, %d known", n, sum, len(s.persons), len(s.issued), s.known.count)
	case s.drawn > n || drawn != uint64(s.drawn):
		return fmt.Errorf("queue: %d of %d entries are drawn, %d by class", s.drawn, n, drawn)
	case s.served > n:
		return fmt.Errorf("queue: %d of %d are served", s.served, n)
	case s.phase > Registering && under.Root() != s.root:
		return fmt.Errorf("queue: the root of %d entries is %s, not %s", s.drawn, under.Root(), s.root)
	case s.phase != NoRoom && s.settings == nil:
		return fmt.Errorf("queue: a room that is %s has no settings", s.phase)
	}
	if s.phase == NoRoom {
		return nil
	}
	for i, at := range s.issued {
		if at == 0 { // not admitted: its place, which takes hashes to find, does not matter
			continue
		}
		if place, ok := s.findPlace(uint32(i)); !ok || place >= s.served { //nolint:gosec // at most MaxEntries
			return fmt.Errorf("queue: entry %d was admitted, and its place is %d of %d served", i, place, s.served)
		}
	}
	return nil
}
