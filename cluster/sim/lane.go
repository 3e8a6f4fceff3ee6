package sim

import (
	"fmt"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/cluster/sim/shards"
	"boxoffice/persistence/journal"
)

// entry is a decision on its way through the journal. An entry without facts is a barrier: it is settled once all
// entries before it are durable.
type entry struct {
	*journal.Entry
	act   *hosted
	needs *hosted // the activation without whose earlier facts this entry must not get in; nil if it needs nobody's
	sends int     // how many messages have still to leave once the entry is durable
}

// batch is what a lane commits at once.
type batch struct {
	shards.Batch
	lane *lane
	// entries are in the order in which their actors have decided. rows has the row of each actor that writes facts.
	entries []*entry
	rows    map[*hosted]*shards.Row
	// tries counts the attempts to commit the batch.
	tries  int
	since  int64          // the simulated microsecond at which it was formed
	stored *journal.Batch // what the shard has stored of it; nil until it has landed, and in a world without shards
}

// lane is a node's group commit into one shard. One batch is in flight, and what is decided in the meantime waits for
// the next one.
type lane struct {
	shard  int
	queue  []*entry
	flight *batch
	// n counts the batches, to name them in the log.
	n int
}

// nameBatch returns the name that the log gives to the latest batch of a lane.
func (n *node) nameBatch(l *lane) string {
	if n.sim.sharded {
		return fmt.Sprintf("%d.%d/%d", n.id, l.shard, l.n)
	}
	return fmt.Sprintf("%d/%d", n.id, l.n)
}

// flushLane makes a batch of all that waits in a lane and sends it, if no batch is in flight.
func (n *node) flushLane(l *lane) {
	if l.flight != nil || len(l.queue) == 0 {
		return
	}
	l.n++
	b := &batch{lane: l, entries: l.queue, since: n.sim.Now(), rows: make(map[*hosted]*shards.Row)}
	b.Name, b.Writer = n.nameBatch(l), n.writers[l.shard]
	l.queue, l.flight = nil, b
	for _, e := range b.entries {
		// A barrier has no row: it waits for the entries before it, and is settled with them.
		if len(e.Facts) == 0 {
			continue
		}
		// An entry may need the earlier facts of another activation. If those were fenced, the entry is fenced too,
		// and so is everything that its own activation decides after it.
		if e.needs != nil && e.needs.fenced && n.sim.bug != bugs.JointApart {
			e.act.fenced = true
		}
		if e.act.fenced {
			continue
		}
		r := b.rows[e.act]
		if r == nil {
			r = &shards.Row{Ref: e.Ref, Epoch: e.Claim.Epoch, First: e.First, Last: e.First - 1}
			b.rows[e.act] = r
			b.Rows = append(b.Rows, r)
		}
		r.Last += int64(len(e.Facts))
		r.Bytes = append(r.Bytes, e.Bytes...)
		if on := b.rows[e.needs]; on != nil {
			r.Needs = append(r.Needs, on)
		}
	}
	// A batch of barriers alone writes nothing. It is settled in a step of its own, as after a commit.
	if len(b.Rows) == 0 {
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

// commitBatch makes one attempt to commit a batch. The answer may go unheard after the batch was done, not done, or
// is done later. As the lane can't know which, it tries the same batch again.
func (n *node) commitBatch(b *batch) {
	s, life := n.sim, n.life
	b.tries++
	again := b.tries > 1
	to := n.visitShard(b.lane.shard)
	retryAfter := func(d int64) {
		s.After(d, func() {
			if n.life == life {
				n.commitBatch(b)
			}
		})
	}
	// A commit takes some milliseconds, and now and then much longer.
	delay := s.Between(millisecond/2, 8*millisecond)
	if s.Chance(s.swarm.slow) {
		delay = s.Between(20*millisecond, 1500*millisecond)
	}
	// The lane hears nothing of this attempt, whatever becomes of it, and tries again.
	if s.Chance(s.swarm.unknown) {
		fate := [...]string{"landed", "lost", "late"}[s.Rng.IntN(3)]
		s.reachEntries("unknown "+fate, b)
		switch fate {
		case "landed":
			s.After(delay, func() { to.Execute(func() { s.landBatch(b, to.Place, again, "unheard") }) })
		case "late":
			s.After(delay+s.Between(100*millisecond, 2*second), func() { to.Execute(func() { s.landBatch(b, to.Place, false, "late") }) })
		}
		retryAfter(delay + s.Between(50*millisecond, 500*millisecond))
		return
	}
	s.After(delay, func() {
		var fenced map[*shards.Row]bool
		if !to.Execute(func() { fenced = s.landBatch(b, to.Place, again, "") }) {
			s.reachEntries("shard silent", b)
			retryAfter(s.Between(50*millisecond, 500*millisecond))
			return
		}
		if n.life == life {
			n.settleBatch(b, fenced)
		}
	})
}

// landBatch hands the batch to a place, and wakes the follower if the place takes it.
func (s *Sim) landBatch(b *batch, p *shards.Place, again bool, how string) map[*shards.Row]bool {
	fenced, stored := p.Land(&b.Batch, again, how)
	if stored != nil {
		b.stored = stored
		s.follow.planNext()
	}
	return fenced
}

// settleBatch tells the owners of a batch's entries the outcome, in the order of the entries, and sends the next
// batch.
func (n *node) settleBatch(b *batch, fenced map[*shards.Row]bool) {
	b.lane.flight = nil
	// A fence holds for the activation from now on, for all its later entries too.
	for a, r := range b.rows {
		a.fenced = a.fenced || fenced[r]
	}
	if n.copy.Runs() && b.stored != nil {
		n.copy.Offer(b.stored)
	}
	for _, e := range b.entries {
		e.act.settleEntry(e)
	}
	if b.Closed {
		n.sim.Reach("shard", "refuses a closed writer")
		n.sim.crashNode(n) // it was taken for dead, or its shard was closed
		return
	}
	n.flushLane(b.lane)
}

// settleEntry tells an activation the outcome of one of its entries. While it does so, the messages of the entry
// leave: all that the decision has sent must leave now, because the facts are durable.
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

// reachEntries counts that a fault has met a batch, once for each actor in it.
func (s *Sim) reachEntries(fault string, b *batch) {
	for _, r := range b.Rows {
		s.Reach(fault, s.phaseOf(r.Ref))
	}
}
