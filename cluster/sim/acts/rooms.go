package acts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/queue"
)

// rooms draws what happens in waiting rooms. The draws are separate from the others, so that seeds without rooms are
// the same runs as before there were any.
type rooms struct {
	*rand.Rand
	on       bool
	visitors uint64 // how many visitors have come; each has an entry of its own
}

// mostDraws is how many waiting rooms an event opens at most, one after the other. Each has one draw.
const mostDraws = 4

// hasRooms reports whether the shows of a seed have waiting rooms. Every second one does.
func hasRooms(seed uint64) bool { return seed%2 == 1 }

// newRooms starts the draws of a seed. The constant sets them apart from the others of the same seed.
func newRooms(seed uint64) rooms {
	return rooms{Rand: rand.New(rand.NewPCG(seed, 0x4004)), on: hasRooms(seed)}
}

// chance draws true with a probability of p.
func (r *rooms) chance(p float64) bool { return r.Float64() < p }

// within draws a span of time between two numbers of seconds, in microseconds.
func (r *rooms) within(least, most int64) int64 {
	return least*second + r.Int64N((most-least)*second)
}

// beacon returns the public source of randomness by which all rooms are drawn. It is one for tests, which can sign
// any round at any time, so that a draw need not wait for its round.
var beacon = sync.OnceValue(func() *draw.TestBeacon {
	b, err := draw.NewTestBeacon(bytes.Repeat([]byte{7}, 32), enginetest.Epoch.Unix()-1000, 3)
	if err != nil {
		panic(err) // a constant seed
	}
	return b
})

// room is the waiting room of a show, as its people know it.
type room struct {
	ref      engine.Ref
	settings queue.Settings
	draws    int // how many rooms the organizer has opened
}

// openRoom opens the next waiting room of a show. A node whose clock is ahead takes the room's times for past ones
// and refuses it; then the organizer tries again with later ones.
func (s *Script) openRoom(rm *room) {
	if rm.draws++; rm.draws > mostDraws {
		return
	}
	// Registration begins soon and lasts some seconds, so that a run has several rooms of an event one after the
	// other.
	begin := s.Now() + s.rooms.within(0, 3)
	closes := begin + s.rooms.within(2, 15)
	rules := draw.Rules{
		Mode: draw.ByDraw, RegistersFrom: s.Millis(begin), ClosesAt: s.Millis(closes), OpensAt: s.Millis(closes + s.rooms.within(0, 6)),
		PartyMax: 1 + s.rooms.IntN(10), Proof: draw.Classes[s.rooms.IntN(len(draw.Classes))], VoidAfter: s.rooms.Int64N(3),
	}
	if s.rooms.chance(.25) {
		rules.Mode = draw.ByArrival
	}
	settings := queue.Settings{
		Event: fmt.Sprintf("evt_%d", rm.ref.ID), Rules: rules, Chain: beacon().Chain,
		Rate: 20 + s.rooms.Int64N(400), Hold: 1000 + s.rooms.Int64N(60_000),
	}
	s.ask(rm.ref, queue.Open{Settings: settings}, 0, func(r engine.Reply) {
		rec, ok := r.(*queue.Record)
		if !ok {
			s.After(s.rooms.within(1, 4), func() { s.openRoom(rm) })
			return
		}
		rm.settings = *rec.Settings
		s.fillRoom(rm, begin, closes)
	})
}

// fillRoom draws what follows an opening: visitors who come before and after the closing, the beacon's signature, and
// an organizer who changes his mind.
func (s *Script) fillRoom(rm *room, begin, closes int64) {
	// A later step must not end the room that has followed this one.
	draws := rm.draws
	for range 4 + s.rooms.IntN(24) {
		s.After(begin-s.Now()+s.rooms.Int64N(closes-begin+4*second)-second, func() { s.joinRoom(rm) })
	}
	s.After(closes-s.Now()+s.rooms.within(0, 3), func() { s.bringBeacon(rm, 8) })
	for range s.rooms.IntN(7) {
		s.After(s.rooms.within(0, 40), func() { s.changeRoom(rm) })
	}
	if s.rooms.chance(.4) {
		s.After(closes-s.Now()+s.rooms.within(-2, 40), func() {
			if rm.draws == draws {
				s.endRoom(rm)
			}
		})
	}
}

// endRoom ends a waiting room, and mostly opens the next one after a while.
func (s *Script) endRoom(rm *room) {
	s.ask(rm.ref, queue.End{}, 0, func(engine.Reply) {
		if s.rooms.chance(.7) {
			s.After(s.rooms.within(0, 5), func() { s.openRoom(rm) })
		}
	})
}

// changeRoom makes one change as the organizer. A change of the rules comes too late once the room has begun, and
// must be refused then. Its pace may change at any time.
func (s *Script) changeRoom(rm *room) {
	// The change begins with the settings that the organizer saw last, which may be out of date.
	next := rm.settings
	switch s.rooms.IntN(9) {
	case 0:
		next.Rules.PartyMax++
	case 1:
		next.Rules.ClosesAt += 5000
		next.Rules.OpensAt += 10_000
	case 2, 3:
		next.Rate, next.Hold = 20+s.rooms.Int64N(400), next.Hold+s.rooms.Int64N(2)*5000
	case 4:
		next.Auto = !next.Auto
	case 5:
		s.ask(rm.ref, queue.Steer{Rate: 20 + s.rooms.Int64N(400)}, 2, nil)
		return
	case 6:
		if s.rooms.chance(.5) {
			s.ask(rm.ref, queue.Drain{}, 2, nil)
		}
		return
	default:
		s.pauseRoom(rm)
		return
	}
	s.ask(rm.ref, queue.Open{Settings: next}, 3, func(r engine.Reply) {
		if rec, ok := r.(*queue.Record); ok && rec.Draw > 0 {
			rm.settings = *rec.Settings
		}
	})
}

// pauseRoom stops the admissions, and mostly lets them go on within 15 seconds.
func (s *Script) pauseRoom(rm *room) {
	s.ask(rm.ref, queue.Pause{On: true}, 3, func(engine.Reply) {
		if s.rooms.chance(.9) {
			s.After(s.rooms.within(0, 15), func() { s.ask(rm.ref, queue.Pause{}, 0, nil) })
		}
	})
}

// bringBeacon waits until the list is closed, and then brings the beacon's signature: at once or late, at times after
// a wrong one, at times twice, and at times not at all. Tries limits how often it looks.
func (s *Script) bringBeacon(rm *room, tries int) {
	if tries == 0 {
		return
	}
	s.ask(rm.ref, queue.Get{}, 4, func(r engine.Reply) {
		rec, ok := r.(*queue.Record)
		if !ok || rec.Phase != queue.Closed.String() {
			s.After(s.rooms.within(1, 3), func() { s.bringBeacon(rm, tries-1) })
			return
		}
		round := rec.Settings.Rules.Round
		// A signature of another round must be refused, and must not spoil the right one that comes later.
		if s.rooms.chance(.3) {
			s.ask(rm.ref, queue.Bring{Signature: beacon().Sign(round + 1)}, 2, nil)
		}
		late := s.rooms.within(0, 8)
		switch s.rooms.IntN(10) {
		case 0:
			return // Nobody brings the signature of this round.
		case 1:
			late = s.rooms.within(60, 300)
		}
		signature := beacon().Sign(round)
		// The signature may be brought twice; the second one must not draw again.
		for range 1 + s.rooms.IntN(2) {
			s.After(late+s.rooms.Int64N(20*millisecond), func() { s.ask(rm.ref, queue.Bring{Signature: slices.Clone(signature)}, 6, nil) })
		}
	})
}

// joinRoom lets a visitor ask for an entry. Some send the same entry again later, and some have their entry used by
// somebody else.
func (s *Script) joinRoom(rm *room) {
	s.rooms.visitors++
	// The leaf stands for the visitor: it is the hash of a secret that only the visitor knows.
	join := queue.Join{Leaf: sha256.Sum256(binary.BigEndian.AppendUint64([]byte("visitor"), s.rooms.visitors))}
	// Half of the visitors have shown something of themselves, which gives them a class and a person. There are few
	// persons, so that one person joins more than once at times.
	if s.rooms.chance(.5) {
		join.Class, join.Person = draw.Class(1+s.rooms.IntN(2)), 1+s.rooms.Uint64N(20)
	}
	s.sendJoin(rm, join, 4)
	if s.rooms.chance(.2) {
		s.After(s.rooms.within(0, 20), func() { s.sendJoin(rm, join, 1) })
	}
	if s.rooms.chance(.1) {
		s.After(s.rooms.within(0, 20), func() { s.borrowWork(rm, join) })
	}
}

// borrowWork lets somebody else join with the leaf of an entry that exists. A leaf is paid for by a proof of work,
// and must not pay for two people.
func (s *Script) borrowWork(rm *room, join queue.Join) {
	join.Class, join.Person = draw.ClassAddress, 21+s.rooms.Uint64N(20)
	s.ask(rm.ref, join, 2, nil)
}

// sendJoin asks for an entry. A visitor who comes before registration begins tries again, up to a number of times.
func (s *Script) sendJoin(rm *room, join queue.Join, again int) {
	s.ask(rm.ref, join, 1+s.rooms.IntN(5), func(r engine.Reply) {
		switch r := r.(type) {
		case *queue.Placed:
			s.waitInRoom(rm, join.Leaf, 20)
		case *engine.Refusal:
			if no, ok := r.Details.(queue.NotNow); ok && no.Reason == "not_open" && again > 0 {
				s.After(s.rooms.within(1, 3), func() { s.sendJoin(rm, join, again-1) })
			}
		}
	})
}

// waitInRoom lets a visitor ask again and again for his turn, until he is admitted or has asked polls times.
func (s *Script) waitInRoom(rm *room, leaf draw.Hash, polls int) {
	if polls == 0 {
		return
	}
	// Most visitors ask to be admitted. Some only look, or ask for a proof that their entry is in the list.
	var look engine.Command = queue.Admit{Leaf: leaf}
	switch s.rooms.IntN(8) {
	case 0:
		look = queue.Look{Leaf: leaf}
	case 1:
		look = queue.Prove{Leaf: leaf}
	}
	s.After(s.rooms.within(1, 5), func() {
		s.ask(rm.ref, look, 1+s.rooms.IntN(3), func(r engine.Reply) {
			if p, ok := r.(*queue.Placed); ok && p.Until != 0 && s.rooms.chance(.8) {
				s.useAdmission(rm, leaf)
				return
			}
			s.waitInRoom(rm, leaf, polls-1)
		})
	})
}

// useAdmission lets buyers order by an admission. Several buyers may try, and only the first may succeed.
func (s *Script) useAdmission(rm *room, leaf draw.Hash) {
	for range s.rooms.IntN(4) {
		use := queue.Use{Leaf: leaf, Buyer: 1 + s.rooms.Uint64N(3)}
		s.After(s.rooms.within(0, 6), func() { s.ask(rm.ref, use, 3, nil) })
	}
}
