package shards

import (
	"reflect"
	"slices"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Batch is what a lane commits in one transaction.
type Batch struct {
	Name   string // in the log
	Rows   []*Row
	Writer int32 // of the lane, in a world with shards
	Closed bool  // its writer was found closed
}

// Row is what one batch adds to one stream.
type Row struct {
	Ref         engine.Ref
	Epoch       int32
	First, Last int64
	Bytes       []byte // its facts
	// Rows of the same batch that this one rests on: a joint command's effect needs the facts of its sender.
	Needs  []*Row // without which it must not land
	landed bool
	at     journal.Place // once it has landed, in a world with shards
}

// Land is the journal's side of an attempt to commit. Rows whose epoch stands get in, if the rows that they need do
// so too. It returns the rows that did not get in, and the stored batch of the others for the follower. A first
// attempt that meets rows of its own has no effect. How describes the attempt in the log.
func (p *Place) Land(b *Batch, again bool, how string) (fenced map[*Row]bool, stored *journal.Batch) {
	j := p.journal
	if !again && slices.ContainsFunc(b.Rows, func(r *Row) bool { return r.landed }) {
		j.Logf("batch %s has no effect %s", b.Name, how)
		return nil, nil
	}
	fenced = p.fenceRows(b, how)
	var landed []*Row
	for _, needy := range []bool{false, true} { // all at once; but the truth is told what others rest on first
		for _, r := range b.Rows {
			if !r.landed && !fenced[r] && len(r.Needs) > 0 == needy {
				p.insertRow(b, r, how)
				landed = append(landed, r)
			}
		}
	}
	if j.IsSharded() && len(landed) > 0 {
		stored = p.storeBatch(b, landed)
	}
	return fenced, stored
}

// fenceRows finds the rows that must not get in: rows of an epoch that no longer stands, and rows that need such a row.
func (p *Place) fenceRows(b *Batch, how string) map[*Row]bool {
	j := p.journal
	fenced := make(map[*Row]bool)
	// A closed writer fences the whole batch. A burial closes the writers of a dead node, and a move of the shard
	// closes all.
	b.Closed = j.IsSharded() && p.writers[b.Writer].closed && j.bug != bugs.NoFence
	for _, r := range b.Rows {
		st := p.Stream(r.Ref)
		if !r.landed && (b.Closed || st.Epoch != r.Epoch) && j.bug != bugs.NoFence {
			fenced[r] = true
			j.Logf("batch %s fenced %s: epoch %d, now %d %s", b.Name, r.Ref.Name(), r.Epoch, st.Epoch, how)
			j.Reach("fenced", j.world.Phase(r.Ref))
			if b.Closed {
				j.Reach("writer closed", j.world.Phase(r.Ref))
			}
		}
	}
	// A refused row refuses the rows that need it, and so on, until no more are found.
	for more := j.bug != bugs.JointApart; more; {
		more = false
		for _, r := range b.Rows {
			if !r.landed && !fenced[r] && slices.ContainsFunc(r.Needs, func(on *Row) bool { return fenced[on] }) {
				fenced[r], more = true, true
				j.Logf("batch %s refuses %s for what it needs %s", b.Name, r.Ref.Name(), how)
				j.Reach("unmet", j.world.Phase(r.Ref))
			}
		}
	}
	return fenced
}

// insertRow commits a row, and lets the world judge its facts. A row must follow the last one of its stream, and must
// be committed where its shard is now: what is committed where the shard has been is lost.
func (p *Place) insertRow(b *Batch, r *Row, how string) {
	j, st := p.journal, p.Stream(r.Ref)
	if r.First != st.Head+1 && j.bug != bugs.NoFence {
		j.Failf("%s torn: %d-%d of epoch %d after %d", r.Ref.Name(), r.First, r.Last, r.Epoch, st.Head)
		return
	}
	// The facts are read back from their stored form, as every other reader of the journal gets them.
	facts, err := codec.Facts(r.Ref.Kind, r.Bytes)
	if err != nil {
		j.Failf("%s: %w", r.Ref.Name(), err)
		return
	}
	r.landed = true
	st.rows = append(st.rows, r)
	st.Head = r.Last
	j.Logf("batch %s commits %s %d-%d %s", b.Name, r.Ref.Name(), r.First, r.Last, how)
	// The copy of the shard on another server was made before this row, and does not have it.
	if !p.isCurrent() {
		j.Failf("%s %d-%d are lost: they are committed where shard %d has been", r.Ref.Name(), r.First, r.Last, p.shard.No)
		return
	}
	for _, f := range facts {
		j.Reach("fact", r.Ref.Kind.String()+" "+reflect.TypeOf(f).Elem().Name())
		if err := j.world.Take(r.Ref, f); err != nil {
			j.Failf("%s: %w", r.Ref.Name(), err)
			return
		}
	}
}

// storeBatch keeps what a batch has added to the journal, under its number among the batches of its writer.
func (p *Place) storeBatch(b *Batch, landed []*Row) *journal.Batch {
	w := p.writers[b.Writer]
	stored := journal.Batch{Writer: w.id, Seq: int64(len(w.batches) + 1)}
	for _, r := range landed {
		r.at = journal.Place{Writer: w.id, Batch: stored.Seq}
		stored.Records = append(stored.Records, journal.Record{
			Ref: r.Ref, Stream: p.Stream(r.Ref).id, First: r.First, Last: r.Last, Epoch: r.Epoch, Bytes: r.Bytes,
		})
	}
	w.batches, w.landed = append(w.batches, stored), append(w.landed, p.journal.Now())
	return &stored
}
