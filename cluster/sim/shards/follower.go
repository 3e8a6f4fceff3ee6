package shards

import (
	"maps"

	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// Follower is a copy of the one follower of the world, at work on a node. The product's package merge puts the
// batches of all writers into an order; reading and saving are the world's, and do what package follower does. Two
// copies run while the nodes disagree about who runs it.
// Began is when the copy began, in microseconds since the start of the world.
type Follower struct {
	// home has the positions, which every copy reads when it begins and moves in its transactions.
	Began   int64
	home    *Home
	visit   func(shard int) Visit // by its node
	unknown float64               // how often the outcome of a transaction is not heard
	tails   merge.Tails
	saved   map[int32]int64 // the positions from which it began
	// offered are batches that the node has committed and has handed to the copy directly.
	offered []*journal.Batch
	lost    bool  // some of what was offered
	polled  int64 // when it last looked for writers
	life    int   // of home, to which it has a connection
	busy    bool  // a transaction is on its way
	stopped bool
}

// These bound what a copy does at a time. They are small, so that it often stops in the middle of a writer.
const (
	followBatch = 40 // facts
	pollEvery   = second
)

// Follow begins a copy on a node that visits the shards in its own way. It begins at the saved positions.
func (h *Home) Follow(visit func(shard int) Visit, unknown float64) *Follower {
	return &Follower{
		Began: h.journal.Now(), home: h, visit: visit, unknown: unknown,
		tails: merge.NewTails(), saved: maps.Clone(h.positions), polled: -pollEvery, life: h.life,
	}
}

// Runs reports whether the copy is there and has not stopped.
func (f *Follower) Runs() bool { return f != nil && !f.stopped }

// Stop ends the copy. A transaction that it has sent to home may still be saved.
func (f *Follower) Stop() { f.stopped = true }

// Advance makes a step, unless a transaction is on its way. A copy that has to start over stops.
func (f *Follower) Advance() {
	if !f.busy && !f.passSome() {
		f.Stop()
	}
}

// Offer gives the copy a batch that its node has committed. One in thirty gets lost.
func (f *Follower) Offer(b *journal.Batch) {
	if f.home.journal.Chance(.03) {
		f.offered, f.lost = nil, true
		return
	}
	f.offered = append(f.offered, b)
}

// passSome takes in what there is and passes what it can. It returns false if the copy has to start over from the
// saved positions.
func (f *Follower) passSome() bool {
	j := f.home.journal
	// A kill of home may have lost the last positions, so what the copy believes of them is not to be trusted.
	if !f.home.Answers() || f.home.life != f.life {
		j.Reach("follower", "home away")
		return false
	}
	if j.Now()-f.polled >= pollEvery {
		f.pollWriters()
	}
	if f.lost {
		f.tails.LoseFeed()
	}
	for _, b := range f.offered {
		f.meetWriter(b.Writer)
		f.tails.TakeOffered(b)
	}
	f.offered, f.lost = nil, false
	if !f.readTails() {
		return false
	}
	// A batch can be passed when all facts before it, of all its streams, have been passed.
	group, moves := f.tails.Gather(followBatch)
	if len(group) > 0 {
		f.savePositions(moves, group)
		return true
	}
	// Nothing can be passed although batches are in hand: they wait for facts of batches that the copy has not
	// read.
	return f.tails.Facts == 0 || f.readMissing()
}

// meetWriter begins a writer at the position that was saved when the copy began.
func (f *Follower) meetWriter(writer int32) {
	if _, known := f.tails.ByWriter[writer]; !known {
		f.tails.Get(writer).Pos = f.saved[f.home.cursorOf(writer)]
	}
}

// placeOf returns the place where the copy finds a writer or a stream, or nil while the database does not answer the
// node.
func (f *Follower) placeOf(id int64) *Place {
	var p *Place
	if to := f.visit(shardOfID(id)); to.Execute(func() {}) {
		p = to.Place
	}
	return p
}

// pollWriters looks for new writers, and leaves out those whose database does not answer, so that the others can go
// on.
func (f *Follower) pollWriters() {
	j := f.home.journal
	f.polled = j.Now()
	for i := range j.Shards {
		if p := f.placeOf(int64(i)); p != nil {
			for _, id := range p.order {
				f.meetWriter(id)
				f.tails.NoteWriter(id, p.writers[id].closed)
			}
			continue
		}
		j.Reach("follower", "leaves a shard out")
		for _, id := range f.tails.Order {
			if shardOfID(int64(id)) == i {
				f.tails.LeaveOut(f.tails.ByWriter[id])
			}
		}
	}
}

// readTails reads the next batches of writers that are behind what was offered. It returns false if the copy has to
// start over.
func (f *Follower) readTails() bool {
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
		// A full read means that there may be more.
		t.Behind, t.Wanted = facts >= followBatch, false
		// A closed writer that has no more batches gets the last position there is, and is never read again.
		if facts == 0 && t.Closed {
			if !f.home.movePositions([]merge.Move{{Writer: id, Since: t.Pos, To: merge.Final}}, nil) {
				return false
			}
			t.Pos = merge.Final
		}
	}
	return true
}

// savePositions saves the positions and what was passed in one transaction at home. The copy starts over if it does
// not hear the outcome, or if another copy has moved the positions.
func (f *Follower) savePositions(moves []merge.Move, group []journal.Batch) {
	j := f.home.journal
	f.busy = true
	// 0: the outcome is heard. 1: the transaction is saved and the outcome is not heard. 2: neither.
	fate := 0
	if j.Chance(f.unknown) {
		fate = 1 + j.Rng.IntN(2)
	}
	j.After(j.Between(millisecond, 30*millisecond), func() {
		f.busy = false
		saved := f.home.Answers() && f.home.life == f.life && fate < 2 && f.home.movePositions(moves, group)
		if f.stopped {
			return // the node has ended, or runs it no longer
		}
		if !saved || fate == 1 {
			j.Reach("follower", "starts over")
			f.Stop()
			return
		}
		for _, m := range moves {
			f.tails.ByWriter[m.Writer].Pos = m.To
		}
	})
}

// readMissing finds out in which batches the facts are for which the batches in hand wait. The copy reads those next.
func (f *Follower) readMissing() bool {
	j := f.home.journal
	missing := f.tails.ListMissing()
	found := make([]journal.Place, len(missing))
	for i, m := range missing {
		p := f.placeOf(m.Stream)
		if p == nil {
			f.polled = -pollEvery // the next look leaves out those that cannot be found
			return true
		}
		found[i] = p.locateFact(m)
		f.meetWriter(found[i].Writer)
	}
	if err := f.tails.Resolve(missing, found); err != nil {
		j.Failf("the follower gives up: %w", err)
	}
	return true
}

// locateFact returns where the last fact of a record was committed.
func (p *Place) locateFact(m merge.Fact) journal.Place {
	for _, ref := range p.journal.Refs {
		st := p.streams[ref]
		if st == nil || st.id != m.Stream {
			continue
		}
		for _, r := range st.rows {
			if r.Last == m.Seq {
				return r.at
			}
		}
	}
	return journal.Place{}
}

// JudgePassed makes sure that the follower has passed every batch that has been in a shard for longer than a span of
// time, in microseconds.
func (h *Home) JudgePassed(sh *Shard, within int64) {
	for _, id := range sh.Place.order {
		w := sh.Place.writers[id]
		if at := h.positions[h.cursorOf(id)]; at < int64(len(w.landed)) && h.journal.Now()-w.landed[at] > within {
			h.journal.Failf("the follower has not passed batch %d of writer %d, and shard %d answers", at+1, id, sh.No)
		}
	}
}

// HasPassedAll reports whether the follower has passed every batch, and the closed writers to their ends.
func (j *Journal) HasPassedAll() bool {
	for _, sh := range j.Shards {
		for _, id := range sh.Place.order {
			w := sh.Place.writers[id]
			if at := j.Home.positions[j.Home.cursorOf(id)]; at < int64(len(w.batches)) || w.closed && at != merge.Final {
				return false
			}
		}
	}
	return true
}
