package shards

import (
	"maps"
	"slices"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// Home is the database that has everything but the journal: the places of the shards, the members to be buried, how
// far followers have come, and what they have made of the facts. A kill loses the last transactions of followers,
// which do not wait for the disk.
type Home struct {
	journal   *Journal
	state     state
	life      int   // counts kills; each kill cuts all connections
	since     int64 // since when it answers
	addresses []Address
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

// newHome makes a home that answers and has noted nothing.
func newHome(j *Journal) *Home {
	return &Home{journal: j, positions: make(map[int32]int64), effects: make(map[int64]int64)}
}

// Answers reports whether home answers.
func (h *Home) Answers() bool { return h.state == answers }

// Since returns when home last began to answer.
func (h *Home) Since() int64 { return h.since }

// Addresses returns where the shards are, by their numbers.
func (h *Home) Addresses() []Address { return slices.Clone(h.addresses) }

// Kill kills the server of home. When it comes back, it may have forgotten the last transactions of followers.
func (h *Home) Kill() {
	if h.state != answers {
		return
	}
	j := h.journal
	j.Logf("home is killed")
	h.state, h.life = away, h.life+1
	// Only transactions that were not on disk can be forgotten, the latest ones first.
	h.forgetOld()
	for range j.Rng.IntN(len(h.recent) + 1) {
		last := len(h.recent) - 1
		h.recent[last].undo()
		h.recent = h.recent[:last]
		j.Reach("home forgets", "a transaction")
	}
	h.recent = nil
	j.After(j.Between(50*millisecond, 6*second), func() {
		if h.state != answers {
			j.Logf("home answers again")
			h.state, h.since = answers, j.Now()
		}
	})
}

// forgetOld takes the transactions out of recent that are on disk by now: a kill loses them no more.
func (h *Home) forgetOld() {
	h.recent = slices.DeleteFunc(h.recent, func(c change) bool { return c.at < h.journal.Now()-diskTime })
}

// cursorOf returns the key under which a follower's position in a writer is saved.
func (h *Home) cursorOf(writer int32) int32 {
	if h.journal.bug == bugs.OthersCursor {
		return writer / journal.MaxShards // the writer's number within its shard
	}
	return writer
}

// movePositions saves new positions and notes what was passed, in one transaction. It returns false if a position is
// not where the follower believes it to be: then another copy has moved it.
func (h *Home) movePositions(moves []merge.Move, group []journal.Batch) bool {
	for _, m := range moves {
		if h.positions[h.cursorOf(m.Writer)] != m.Since {
			return false
		}
	}
	h.forgetOld()
	// These keep what was there before, so that a kill can undo the transaction.
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
	// Until diskTime has passed, the transaction exists in the server's memory alone.
	h.recent = append(h.recent, change{h.journal.Now(), func() {
		maps.Copy(h.positions, positions)
		maps.Copy(h.effects, effects)
	}})
	return true
}

// passRecord judges a record that a follower passes. Each fact is passed once, in the order of its stream, and its
// shard must have it.
func (h *Home) passRecord(r *journal.Record) {
	j := h.journal
	st := j.Stream(r.Ref)
	switch last := h.effects[r.Stream]; {
	case r.Stream != st.id || r.Last > st.Head:
		j.Failf("a follower passes facts %d-%d of %s, and the shard has %d", r.First, r.Last, r.Ref.Name(), st.Head)
	case r.First > last+1:
		j.Failf("a follower passes over facts %d-%d of %s", last+1, r.First-1, r.Ref.Name())
	case r.First <= last:
		j.Failf("a follower passes facts %d-%d of %s twice", r.First, min(r.Last, last), r.Ref.Name())
	}
	h.effects[r.Stream] = r.Last
}

// NoteDead notes a member that has died. Its writers have to be closed.
func (h *Home) NoteDead(member int) { h.burials = append(h.burials, member) }

// CloseBuried closes the writers of the dead in every shard, by the visits of a node. A burial is over when all
// shards have done so. It returns how many are over now, and how many are not.
func (h *Home) CloseBuried(visit func(shard int) Visit) (over, left int) {
	j := h.journal
	var open []int
	for _, member := range h.burials {
		done := true
		for i := range j.Shards {
			to := visit(i)
			closed := false
			to.Execute(func() {
				if closed = to.Place.version == h.addresses[i].version; closed { // with another version, the shard has left that place
					to.Place.closeWriters(member)
				}
			})
			done = done && closed
		}
		if !done && j.bug != bugs.ForgetsShard {
			j.Reach("burial", "waits for a shard")
			open = append(open, member)
			continue
		}
		j.Reach("burial", "over")
		h.judgeBurial(member)
		over++
	}
	h.burials = open
	return over, len(open)
}

// judgeBurial makes sure that the dead cannot write in any shard, once the burial is over.
func (h *Home) judgeBurial(member int) {
	for i, sh := range h.journal.Shards {
		for _, id := range sh.Place.order {
			if w := sh.Place.writers[id]; w.member == member && !w.closed {
				h.journal.Failf("a burial is over, and writer %d of the dead is open in shard %d", id, i)
			}
		}
	}
}
