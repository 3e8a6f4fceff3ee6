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
	writer  int32   // that it was last claimed for, in a world with shards
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
func (s *Sim) keepSnapshot(p *place, ref engine.Ref, one snapshot) bool {
	st := s.streamAt(p, ref)
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
	at          journal.Place // once it has landed, in a world with shards
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
	lane    *lane
	n       int
	entries []*entry
	rows    []*row
	tries   int
	since   int64          // when it was formed
	writer  int32          // of the lane, in a world with shards
	closed  bool           // its writer was found closed
	stored  *journal.Batch // once it has landed, in a world with shards
}

// name is what the log calls the batch.
func (b *batch) name() string {
	if b.node.sim.sharded {
		return fmt.Sprintf("%d.%d/%d", b.node.id, b.lane.shard, b.n)
	}
	return fmt.Sprintf("%d/%d", b.node.id, b.n)
}

// lane is a node's group commit into one shard: one batch is in flight, the next one fills.
type lane struct {
	shard  int
	queue  []*entry
	flight *batch
	n      int
}

// streamOf is an actor's stream where its shard is.
func (s *Sim) streamOf(ref engine.Ref) *stream {
	return s.streamAt(s.shards[s.shardOf(ref)].place, ref)
}

// streamAt is an actor's stream as a place has it. It may have left the place with its shard.
func (s *Sim) streamAt(p *place, ref engine.Ref) *stream {
	st := p.streams[ref]
	if st == nil {
		st = &stream{ref: ref, id: int64(len(s.refs) + 1)}
		if s.sharded {
			st.id = p.numberStream()
		}
		p.streams[ref] = st
		if p.isCurrent() {
			s.refs = append(s.refs, ref)
		}
	}
	return st
}

// flushLane sends the next batch if none is in flight.
func (n *node) flushLane(l *lane) {
	if l.flight != nil || len(l.queue) == 0 {
		return
	}
	l.n++
	b := &batch{node: n, lane: l, n: l.n, entries: l.queue, since: n.sim.Now(), writer: n.writers[l.shard]}
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
	to := n.visit(b.lane.shard)
	retryAfter := func(d int64) {
		s.After(d, func() {
			if n.life == life {
				n.commitBatch(b)
			}
		})
	}
	delay := s.Between(millisecond/2, 8*millisecond)
	if s.Chance(s.swarm.slow) {
		delay = s.Between(20*millisecond, 1500*millisecond)
	}
	if s.Chance(s.swarm.unknown) {
		fate := [...]string{"landed", "lost", "late"}[s.Rng.IntN(3)]
		s.reachEntries("unknown "+fate, b)
		switch fate {
		case "landed":
			s.After(delay, func() { to.ask(func() { s.landBatch(b, to.place, again, "unheard") }) })
		case "late":
			s.After(delay+s.Between(100*millisecond, 2*second), func() { to.ask(func() { s.landBatch(b, to.place, false, "late") }) })
		}
		retryAfter(delay + s.Between(50*millisecond, 500*millisecond))
		return
	}
	s.After(delay, func() {
		var fenced map[*row]bool
		if !to.ask(func() { fenced = s.landBatch(b, to.place, again, "") }) {
			s.reachEntries("shard silent", b)
			retryAfter(s.Between(50*millisecond, 500*millisecond))
			return
		}
		if n.life == life {
			n.settleBatch(b, fenced)
		}
	})
}

// landBatch is the journal's side of an attempt: all rows whose epoch stands, and the row of
// what they need, get in. It returns those that have not. A first attempt that meets rows of its own
// has no effect.
func (s *Sim) landBatch(b *batch, p *place, again bool, how string) map[*row]bool {
	if !again && slices.ContainsFunc(b.rows, func(r *row) bool { return r.landed }) {
		s.Logf("batch %s has no effect %s", b.name(), how)
		return nil
	}
	fenced := make(map[*row]bool)
	b.closed = s.sharded && p.writers[b.writer].closed && s.bug != bugs.NoFence
	for _, r := range b.rows {
		st := s.streamAt(p, r.ref)
		if !r.landed && (b.closed || st.epoch != r.epoch) && s.bug != bugs.NoFence {
			fenced[r] = true
			s.Logf("batch %s fenced %s: epoch %d, now %d %s", b.name(), r.ref.Name(), r.epoch, st.epoch, how)
			s.Reach("fenced", s.phaseOf(r.ref))
			if b.closed {
				s.Reach("writer closed", s.phaseOf(r.ref))
			}
		}
	}
	for more := s.bug != bugs.JointApart; more; {
		more = false
		for _, r := range b.rows {
			if !r.landed && !fenced[r] && slices.ContainsFunc(r.needs, func(on *row) bool { return fenced[on] }) {
				fenced[r], more = true, true
				s.Logf("batch %s refuses %s for what it needs %s", b.name(), r.ref.Name(), how)
				s.Reach("unmet", s.phaseOf(r.ref))
			}
		}
	}
	var landed []*row
	for _, needy := range []bool{false, true} { // all at once; but the truth is told what others rest on first
		for _, r := range b.rows {
			if !r.landed && !fenced[r] && len(r.needs) > 0 == needy {
				s.insertRow(p, r, how)
				landed = append(landed, r)
			}
		}
	}
	if s.sharded && len(landed) > 0 {
		b.stored = s.storeBatch(p, b, landed)
	}
	return fenced
}

func (s *Sim) insertRow(p *place, r *row, how string) {
	st := s.streamAt(p, r.ref)
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
	s.Logf("batch %s commits %s %d-%d %s", r.batch.name(), r.ref.Name(), r.first, r.last, how)
	if !p.isCurrent() {
		s.Failf("%s %d-%d are lost: they are committed where shard %d has been", r.ref.Name(), r.first, r.last, p.shard.no)
		return
	}
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
	b.lane.flight = nil
	for r := range fenced {
		r.act.fenced = true
	}
	if n.copy != nil && b.stored != nil {
		n.copy.offer(b.stored)
	}
	for _, e := range b.entries {
		e.act.settleEntry(e)
	}
	if b.closed {
		n.sim.Reach("shard", "refuses a closed writer")
		n.sim.crashNode(n) // it was taken for dead, or its shard was closed
		return
	}
	n.flushLane(b.lane)
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

// claimStream raises a stream's epoch in a place.
func (s *Sim) claimStream(p *place, a *hosted) journal.Claim {
	st := s.streamAt(p, a.Ref)
	st.epoch++
	st.writer = a.node.writers[p.shard.no]
	st.claimed = append(st.claimed, s.Now())
	claim := journal.Claim{Stream: st.id, Epoch: st.epoch}
	s.claims[claim] = a
	return claim
}

// loadStream is the state after a stream's snapshot and tail. It makes sure that the
// whole stream, replayed, comes to the same.
func (s *Sim) loadStream(st *stream) (engine.State, int64, error) {
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
