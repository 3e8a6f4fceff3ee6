package sim

import (
	"maps"

	"boxoffice/engine"
	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// follower is a copy of the one follower of the world, at work on a node. The product's package merge puts the
// batches of all writers into an order; reading and saving are the world's, and do what package follower does. Two copies run while the nodes disagree about who runs it.
type follower struct {
	node    *node
	tails   merge.Tails
	saved   map[int32]int64 // the positions from which it began
	offered []*journal.Batch
	lost    bool  // some of what was offered
	polled  int64 // when it last looked for writers
	began   int64
	life    int  // of home, to which it has a connection
	busy    bool // a transaction is on its way
}

// These bound what a copy does at a time. They are small, so that it often stops in the middle of a writer.
const (
	followBatch = 40 // facts
	pollEvery   = second
)

// followTask is placed as an actor is: the node that has it runs the follower.
var followTask = engine.Ref{Home: 1 << 40}

// followAll has each copy make a step. It reports whether there is more to follow.
func (s *Sim) followAll() (more bool) {
	for _, n := range s.nodes {
		switch {
		case !n.up || s.findOwner(n, followTask) != n || s.home.state != answers && n.copy == nil:
			n.copy = nil
			continue
		case n.copy == nil:
			n.copy = &follower{node: n, tails: merge.NewTails(), saved: maps.Clone(s.home.positions), polled: -pollEvery, began: s.Now(), life: s.home.life}
		}
		if !n.copy.busy && !n.copy.step() {
			n.copy = nil // it starts over
		}
	}
	s.judgeFollowers()
	return !s.hasPassedAll()
}

func (f *follower) offer(b *journal.Batch) {
	if f.node.sim.Chance(.03) {
		f.offered, f.lost = nil, true
		return
	}
	f.offered = append(f.offered, b)
}

// step takes in what there is and passes what it can. It returns false if the copy has to start over from the
// saved positions.
func (f *follower) step() bool {
	s := f.node.sim
	if s.home.state != answers || s.home.life != f.life {
		s.Reach("follower", "home away")
		return false
	}
	if s.Now()-f.polled >= pollEvery {
		f.pollWriters()
	}
	if f.lost {
		f.tails.LoseFeed()
	}
	for _, b := range f.offered {
		f.meet(b.Writer)
		f.tails.TakeOffered(b)
	}
	f.offered, f.lost = nil, false
	if !f.readTails() {
		return false
	}
	group, moves := f.tails.Gather(followBatch)
	if len(group) > 0 {
		f.save(moves, group)
		return true
	}
	return f.tails.Facts == 0 || f.readMissing()
}

// meet has a writer begin where its saved position was when the copy began.
func (f *follower) meet(writer int32) {
	if _, known := f.tails.ByWriter[writer]; !known {
		f.tails.Get(writer).Pos = f.saved[f.node.sim.home.cursorOf(writer)]
	}
}

// placeOf is where the copy finds a writer or a stream, or nil while the database does not answer the node.
func (f *follower) placeOf(id int64) *place {
	var p *place
	if to := f.node.visit(f.node.sim.shardOfID(id)); to.ask(func() {}) {
		p = to.place
	}
	return p
}

// pollWriters looks for writers, and leaves those out whose database does not answer.
func (f *follower) pollWriters() {
	s := f.node.sim
	f.polled = s.Now()
	for i := range s.shards {
		if p := f.placeOf(int64(i)); p != nil {
			for _, id := range p.order {
				f.meet(id)
				f.tails.NoteWriter(id, p.writers[id].closed)
			}
			continue
		}
		s.Reach("follower", "leaves a shard out")
		for _, id := range f.tails.Order {
			if s.shardOfID(int64(id)) == i {
				f.tails.LeaveOut(f.tails.ByWriter[id])
			}
		}
	}
}

// readTails fills the tails that are behind. It returns false if the copy has to start over.
func (f *follower) readTails() bool {
	s := f.node.sim
	for _, id := range f.tails.Order {
		t := f.tails.ByWriter[id]
		if !t.Behind || len(t.Pending) > 0 || f.tails.Facts >= followBatch && !t.Wanted {
			continue
		}
		p := f.placeOf(int64(id))
		if p == nil {
			f.tails.LeaveOut(t)
			f.polled = -pollEvery
			continue
		}
		facts, w := 0, p.writers[id]
		for at := t.Pos; at < int64(len(w.batches)) && facts < followBatch; at++ {
			facts += f.tails.Add(t, &w.batches[at])
		}
		t.Behind, t.Wanted = facts >= followBatch, false
		if facts == 0 && t.Closed {
			if !s.home.save([]merge.Move{{Writer: id, Since: t.Pos, To: merge.Final}}, nil) {
				return false
			}
			t.Pos = merge.Final
		}
	}
	return true
}

// save moves the positions at home. The copy starts over if it hears nothing, or if they are elsewhere.
func (f *follower) save(moves []merge.Move, group []journal.Batch) {
	s := f.node.sim
	f.busy = true
	fate := 0
	if s.Chance(s.swarm.unknown) {
		fate = 1 + s.Rng.IntN(2)
	}
	s.After(s.Between(millisecond, 30*millisecond), func() {
		f.busy = false
		saved := s.home.state == answers && s.home.life == f.life && fate < 2 && s.home.save(moves, group)
		if f.node.copy != f {
			return // the node has ended, or runs it no longer
		}
		if !saved || fate == 1 {
			s.Reach("follower", "starts over")
			f.node.copy = nil
			return
		}
		for _, m := range moves {
			f.tails.ByWriter[m.Writer].Pos = m.To
		}
	})
}

// readMissing finds out where the facts are that the batches in hand wait for.
func (f *follower) readMissing() bool {
	s := f.node.sim
	missing := f.tails.ListMissing()
	found := make([]journal.Place, len(missing))
	for i, m := range missing {
		p := f.placeOf(m.Stream)
		if p == nil {
			f.polled = -pollEvery // the next look leaves out those that cannot be found
			return true
		}
		found[i] = p.locate(m)
		f.meet(found[i].Writer)
	}
	if err := f.tails.Resolve(missing, found); err != nil {
		s.Failf("the follower gives up: %w", err)
	}
	return true
}

// locate is where the last fact of a record was committed.
func (p *place) locate(m merge.Fact) journal.Place {
	for _, ref := range p.sim.refs {
		st := p.streams[ref]
		if st == nil || st.id != m.Stream {
			continue
		}
		for _, r := range st.rows {
			if r.last == m.Seq {
				return r.at
			}
		}
	}
	return journal.Place{}
}
