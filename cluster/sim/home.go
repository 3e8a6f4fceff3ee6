package sim

import (
	"maps"
	"slices"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// home is the database that has everything but the journal: the places of the shards, the members to be buried, how
// far followers have come, and what they have made of the facts. A kill loses the last transactions of followers,
// which do not wait for the disk.
type home struct {
	sim       *Sim
	state     state
	life      int   // counts kills; each kill cuts all connections
	calm      int64 // since when it answers
	places    []visit
	burials   []int           // members that have died
	positions map[int32]int64 // the last batch passed, by writer
	effects   map[int64]int64 // the last fact passed, by stream
	recent    []change        // transactions that a kill may lose
}

// change undoes a transaction.
type change struct {
	at   int64
	undo func()
}

// diskTime is how long a follower's transaction may be lost.
const diskTime = 600 * millisecond

func newHome(s *Sim) *home {
	return &home{sim: s, positions: make(map[int32]int64), effects: make(map[int64]int64)}
}

// killHome kills the server. It comes back without some of the last transactions.
func (s *Sim) killHome() {
	h := s.home
	if h.state != answers {
		return
	}
	s.Logf("home is killed")
	h.state, h.life = away, h.life+1
	h.forgetOld()
	for range s.Rng.IntN(len(h.recent) + 1) {
		last := len(h.recent) - 1
		h.recent[last].undo()
		h.recent = h.recent[:last]
		s.Reach("home forgets", "a transaction")
	}
	h.recent = nil
	s.After(s.Between(50*millisecond, 6*second), func() {
		if h.state != answers {
			s.Logf("home answers again")
			h.state, h.calm = answers, s.Now()
		}
	})
}

func (h *home) forgetOld() {
	h.recent = slices.DeleteFunc(h.recent, func(c change) bool { return c.at < h.sim.Now()-diskTime })
}

// cursorOf is the key under which the position in a writer is saved.
func (h *home) cursorOf(writer int32) int32 {
	if h.sim.bug == bugs.OthersCursor {
		return writer / journal.MaxShards // the writer's number within its shard
	}
	return writer
}

// save moves positions from where the follower believes them to be, and notes what it has passed, in one
// transaction. It returns false if the positions are elsewhere.
func (h *home) save(moves []merge.Move, group []journal.Batch) bool {
	for _, m := range moves {
		if h.positions[h.cursorOf(m.Writer)] != m.Since {
			return false
		}
	}
	h.forgetOld()
	positions, effects := make(map[int32]int64), make(map[int64]int64)
	for _, m := range moves {
		at := h.cursorOf(m.Writer)
		positions[at] = h.positions[at]
		h.positions[at] = m.To
	}
	for _, b := range group {
		for _, r := range b.Records {
			if _, known := effects[r.Stream]; !known {
				effects[r.Stream] = h.effects[r.Stream]
			}
			h.passRecord(&r)
		}
	}
	h.recent = append(h.recent, change{h.sim.Now(), func() {
		maps.Copy(h.positions, positions)
		maps.Copy(h.effects, effects)
	}})
	return true
}

// passRecord judges what a follower passes: each fact once, in the order of its stream, and no fact that its
// shard does not have.
func (h *home) passRecord(r *journal.Record) {
	s := h.sim
	st := s.streamOf(r.Ref)
	switch last := h.effects[r.Stream]; {
	case r.Stream != st.id || r.Last > st.head:
		s.Failf("a follower passes facts %d-%d of %s, and the shard has %d", r.First, r.Last, r.Ref.Name(), st.head)
	case r.First > last+1:
		s.Failf("a follower passes over facts %d-%d of %s", last+1, r.First-1, r.Ref.Name())
	case r.First <= last:
		s.Failf("a follower passes facts %d-%d of %s twice", r.First, min(r.Last, last), r.Ref.Name())
	}
	h.effects[r.Stream] = r.Last
}

// bury notes a member that has died, as soon as home answers.
func (s *Sim) bury(member int) {
	if s.home.state != answers {
		s.After(s.Between(100*millisecond, 500*millisecond), func() { s.bury(member) })
		return
	}
	s.home.burials = append(s.home.burials, member)
	s.burying.wake()
}

// closeBuried closes the writers of the dead in every shard, by one of the nodes. A burial is over when all
// shards have done so.
func (s *Sim) closeBuried() (more bool) {
	h, n := s.home, s.nodes[s.Rng.IntN(len(s.nodes))]
	if !n.up || h.state != answers {
		return true
	}
	var left []int
	for _, member := range h.burials {
		done := true
		for i := range s.shards {
			to := n.visit(i)
			closed := false
			to.ask(func() {
				if closed = to.place.version == h.places[i].version; closed { // else the shard has been there
					to.place.closeWriters(member)
				}
			})
			done = done && closed
		}
		if !done && s.bug != bugs.ForgetsShard {
			s.Reach("burial", "waits for a shard")
			left = append(left, member)
			continue
		}
		s.Reach("burial", "over")
		s.judgeBurial(member)
		s.follow.wake() // the closed writers have an end now
	}
	h.burials = left
	return len(left) > 0
}

// judgeBurial makes sure that the dead cannot write in any shard, once the burial is over.
func (s *Sim) judgeBurial(member int) {
	for i, sh := range s.shards {
		for _, id := range sh.place.order {
			if w := sh.place.writers[id]; w.member == member && !w.closed {
				s.Failf("a burial is over, and writer %d of the dead is open in shard %d", id, i)
			}
		}
	}
}
