package sim

import (
	"fmt"
	"reflect"
	"slices"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// stream is an actor's part of the journal, with its snapshots.
type stream struct {
	ref     engine.Ref
	id      int64
	epoch   int32
	claimed []int64 // when each epoch began, from the first
	rows    []*row
	head    int64      // seq of the last fact
	kept    []snapshot // the latest is the last
}

// snapshot is a state after a fact, as it was saved under an epoch.
type snapshot struct {
	epoch int32
	seq   int64
	state []byte
}

// snapshot is the one to load from; its seq is 0 when there is none.
func (st *stream) snapshot() snapshot {
	if len(st.kept) == 0 {
		return snapshot{}
	}
	return st.kept[len(st.kept)-1]
}

// keepSnapshot is the store's side of a snapshot: it takes one while its epoch stands, if all
// facts in it are in the journal. It keeps two, as the store does.
func (s *Sim) keepSnapshot(ref engine.Ref, one snapshot) bool {
	st := s.streamOf(ref)
	if one.epoch != st.epoch || one.seq > st.head {
		s.Reach("snapshot refused", s.phaseOf(ref))
		return false
	}
	if last := st.snapshot(); one.epoch == last.epoch && one.seq <= last.seq {
		return false
	}
	st.kept = append(st.kept[max(0, len(st.kept)-1):], one)
	return true
}

// row is what one batch adds to one stream.
type row struct {
	act         *hosted
	ref         engine.Ref
	epoch       int32
	first, last int64
	batch       *batch
	bytes       []byte // its facts
	needs       []*row // without which it must not land
	landed      bool
}

// entry is a decision on its way through the journal; without facts, a barrier.
type entry struct {
	*journal.Entry
	act   *hosted
	needs *hosted // on whose facts, handed over before, it rests, or nil
	sends int     // that have to leave when it is durable
}

// batch is what a lane commits at once.
type batch struct {
	node    *node
	n       int
	entries []*entry
	rows    []*row
	tries   int
}

// lane is a node's group commit: one batch is in flight, the next one fills.
type lane struct {
	queue  []*entry
	flight *batch
	n      int
}

func (s *Sim) streamOf(ref engine.Ref) *stream {
	st := s.streams[ref]
	if st == nil {
		st = &stream{ref: ref, id: int64(len(s.refs) + 1)}
		s.streams[ref] = st
		s.refs = append(s.refs, ref)
	}
	return st
}

// flushLane sends the next batch if none is in flight.
func (n *node) flushLane() {
	l := &n.lane
	if l.flight != nil || len(l.queue) == 0 {
		return
	}
	l.n++
	b := &batch{node: n, n: l.n, entries: l.queue}
	l.queue, l.flight = nil, b
	byAct := make(map[*hosted]*row)
	for _, e := range b.entries {
		if len(e.Facts) == 0 {
			continue
		}
		if e.needs != nil && e.needs.fenced && n.sim.bug != bugs.JointApart {
			e.act.fenced = true
		}
		if e.act.fenced {
			continue
		}
		r := byAct[e.act]
		if r == nil {
			r = &row{act: e.act, ref: e.Ref, epoch: e.Claim.Epoch, first: e.First, last: e.First - 1, batch: b}
			byAct[e.act] = r
			b.rows = append(b.rows, r)
		}
		r.last += int64(len(e.Facts))
		r.bytes = append(r.bytes, e.Bytes...)
		if on := byAct[e.needs]; on != nil {
			r.needs = append(r.needs, on)
		}
	}
	if len(b.rows) == 0 {
		life := n.life
		n.sim.After(0, func() {
			if n.life == life {
				n.settleBatch(b, nil)
			}
		})
		return
	}
	n.commitBatch(b)
}

// commitBatch makes one attempt. It may go unheard: done, not done, or done later.
func (n *node) commitBatch(b *batch) {
	s, life := n.sim, n.life
	b.tries++
	again := b.tries > 1
	delay := s.Between(millisecond/2, 8*millisecond)
	if s.Chance(s.swarm.slow) {
		delay = s.Between(20*millisecond, 1500*millisecond)
	}
	if s.Chance(s.swarm.unknown) {
		fate := [...]string{"landed", "lost", "late"}[s.Rng.IntN(3)]
		s.reachEntries("unknown "+fate, b)
		switch fate {
		case "landed":
			s.After(delay, func() { s.landBatch(b, again, "unheard") })
		case "late":
			s.After(delay+s.Between(100*millisecond, 2*second), func() { s.landBatch(b, false, "late") })
		}
		s.After(delay+s.Between(50*millisecond, 500*millisecond), func() {
			if n.life == life {
				n.commitBatch(b)
			}
		})
		return
	}
	s.After(delay, func() {
		fenced := s.landBatch(b, again, "")
		if n.life == life {
			n.settleBatch(b, fenced)
		}
	})
}

// landBatch is the journal's side of an attempt: all rows whose epoch stands, and the row of
// what they need, get in. It returns those that have not. A first attempt that meets rows of its own
// has no effect.
func (s *Sim) landBatch(b *batch, again bool, how string) map[*row]bool {
	if !again && slices.ContainsFunc(b.rows, func(r *row) bool { return r.landed }) {
		s.Logf("batch %d/%d has no effect %s", b.node.id, b.n, how)
		return nil
	}
	fenced := make(map[*row]bool)
	for _, r := range b.rows {
		st := s.streamOf(r.ref)
		if !r.landed && st.epoch != r.epoch && s.bug != bugs.NoFence {
			fenced[r] = true
			s.Logf("batch %d/%d fenced %s: epoch %d, now %d %s", b.node.id, b.n, r.ref.Name(), r.epoch, st.epoch, how)
			s.Reach("fenced", s.phaseOf(r.ref))
		}
	}
	for more := s.bug != bugs.JointApart; more; {
		more = false
		for _, r := range b.rows {
			if !r.landed && !fenced[r] && slices.ContainsFunc(r.needs, func(on *row) bool { return fenced[on] }) {
				fenced[r], more = true, true
				s.Logf("batch %d/%d refuses %s for what it needs %s", b.node.id, b.n, r.ref.Name(), how)
				s.Reach("unmet", s.phaseOf(r.ref))
			}
		}
	}
	for _, needy := range []bool{false, true} { // all at once; but the truth is told what others rest on first
		for _, r := range b.rows {
			if !r.landed && !fenced[r] && len(r.needs) > 0 == needy {
				s.insertRow(s.streamOf(r.ref), r, how)
			}
		}
	}
	return fenced
}

func (s *Sim) insertRow(st *stream, r *row, how string) {
	if r.first != st.head+1 && s.bug != bugs.NoFence {
		s.Failf("%s torn: %d-%d of epoch %d after %d", r.ref.Name(), r.first, r.last, r.epoch, st.head)
		return
	}
	facts, err := codec.Facts(r.ref.Kind, r.bytes)
	if err != nil {
		s.Failf("%s: %w", r.ref.Name(), err)
		return
	}
	r.landed = true
	st.rows = append(st.rows, r)
	st.head = r.last
	s.Logf("batch %d/%d commits %s %d-%d %s", r.batch.node.id, r.batch.n, r.ref.Name(), r.first, r.last, how)
	for _, f := range facts {
		s.Reach("fact", r.ref.Kind.String()+" "+reflect.TypeOf(f).Elem().Name())
		if err := s.truth.Take(r.ref, f); err != nil {
			s.Failf("%s: %w", r.ref.Name(), err)
			return
		}
	}
}

// settleBatch tells the owners of a batch's entries, in order.
func (n *node) settleBatch(b *batch, fenced map[*row]bool) {
	n.lane.flight = nil
	for r := range fenced {
		r.act.fenced = true
	}
	for _, e := range b.entries {
		e.act.settleEntry(e)
	}
	n.flushLane()
}

// settleEntry tells an activation the outcome of its entry. It may be rid of the entry then.
func (a *hosted) settleEntry(e *entry) {
	a.pending--
	if a.fenced {
		e.Owner.Settled(journal.ErrFenced)
		return
	}
	if len(e.Facts) > 0 {
		a.settling = e
	}
	e.Owner.Settled(nil)
	if a.settling != nil && e.sends > 0 {
		a.node.sim.Failf("%s keeps %d sends to itself whose facts are durable", a.Ref.Name(), e.sends)
	}
	a.settling = nil
}

// claimStream raises a stream's epoch.
func (s *Sim) claimStream(a *hosted) journal.Claim {
	st := s.streamOf(a.Ref)
	st.epoch++
	st.claimed = append(st.claimed, s.Now())
	claim := journal.Claim{Stream: st.id, Epoch: st.epoch}
	s.claims[claim] = a
	return claim
}

// loadStream is the state after a stream's snapshot and tail. It makes sure that the
// whole stream, replayed, comes to the same.
func (s *Sim) loadStream(ref engine.Ref) (engine.State, int64, error) {
	st := s.streamOf(ref)
	state, err := s.replayStream(st, true)
	if err != nil {
		return nil, 0, err
	}
	if from := st.snapshot().seq; from > 0 && s.bug == "" {
		whole, err := s.replayStream(st, false)
		if err != nil {
			return nil, 0, err
		}
		if err := enginetest.CompareStates(state, whole); err != nil {
			return nil, 0, fmt.Errorf("snapshot at %d and tail to %d: %w", from, st.head, err)
		}
	}
	return state, st.head, state.Check()
}

// reachEntries counts a fault of a batch.
func (s *Sim) reachEntries(fault string, b *batch) {
	for _, r := range b.rows {
		s.Reach(fault, s.phaseOf(r.ref))
	}
}
