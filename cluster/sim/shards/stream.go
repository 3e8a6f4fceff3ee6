package shards

import (
	"fmt"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/enginetest"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Stream is an actor's part of the journal, with its snapshots.
type Stream struct {
	Epoch   int32 // the latest
	Head    int64 // seq of the last fact
	ref     engine.Ref
	id      int64
	claimed []int64 // when each epoch began, from the first
	writer  int32   // that it was last claimed for, in a world with shards
	rows    []*Row
	kept    []Snapshot // the latest is the last
}

// Snapshot is a state after a fact, as it was saved under an epoch.
type Snapshot struct {
	Epoch int32
	Seq   int64
	State []byte
}

// lastSnapshot is the one to load from; its seq is 0 when there is none.
func (st *Stream) lastSnapshot() Snapshot {
	if len(st.kept) == 0 {
		return Snapshot{}
	}
	return st.kept[len(st.kept)-1]
}

// KeepSnapshot is the store's side of a snapshot: it takes one while its epoch stands, if all
// facts in it are in the journal. It keeps two, as the store does.
func (p *Place) KeepSnapshot(ref engine.Ref, one Snapshot) bool {
	st := p.Stream(ref)
	if one.Epoch != st.Epoch || one.Seq > st.Head {
		p.journal.Reach("snapshot refused", p.journal.world.Phase(ref))
		return false
	}
	if last := st.lastSnapshot(); one.Epoch == last.Epoch && one.Seq <= last.Seq {
		return false
	}
	st.kept = append(st.kept[max(0, len(st.kept)-1):], one)
	return true
}

// Claim raises a stream's epoch, for a lane's writer.
func (p *Place) Claim(ref engine.Ref, writer int32) journal.Claim {
	st := p.Stream(ref)
	st.Epoch++
	st.writer = writer
	st.claimed = append(st.claimed, p.journal.Now())
	return journal.Claim{Stream: st.id, Epoch: st.Epoch}
}

// Stands reports whether a claim stands: its epoch is the latest, and the writer that it was claimed for is open.
func (p *Place) Stands(ref engine.Ref, claim journal.Claim) bool {
	if p.journal.bug == bugs.NoFence {
		return true
	}
	st := p.Stream(ref)
	return st.Epoch == claim.Epoch && (!p.journal.IsSharded() || !p.writers[st.writer].closed)
}

// SucceededAt is when the epoch after one began. It returns false if there was none.
func (st *Stream) SucceededAt(epoch int32) (at int64, ok bool) {
	if int(epoch) >= len(st.claimed) {
		return 0, false
	}
	return st.claimed[epoch], true
}

// Facts are the facts of the stream from the first.
func (st *Stream) Facts() (facts []engine.Fact, err error) {
	for _, r := range st.rows {
		fs, err := codec.Facts(st.ref.Kind, r.Bytes)
		if err != nil {
			return nil, err
		}
		facts = append(facts, fs...)
	}
	return facts, nil
}

// Load is the state after a stream's snapshot and tail, with the seq of its last fact and of the snapshot. It makes
// sure that the whole stream, replayed, comes to the same.
func (p *Place) Load(ref engine.Ref) (state engine.State, head, saved int64, err error) {
	st := p.Stream(ref)
	state, err = p.journal.Replay(st, true)
	if err != nil {
		return nil, 0, 0, err
	}
	saved = st.lastSnapshot().Seq
	// With a planted bug the two may differ on purpose, and the judge has to find the bug.
	if saved > 0 && p.journal.bug == "" {
		whole, err := p.journal.Replay(st, false)
		if err != nil {
			return nil, 0, 0, err
		}
		if err := enginetest.CompareStates(state, whole); err != nil {
			return nil, 0, 0, fmt.Errorf("snapshot at %d and tail to %d: %w", saved, st.Head, err)
		}
	}
	return state, st.Head, saved, state.Check()
}

// Replay is the state that a stream's facts come to, from its snapshot or from
// the start.
func (j *Journal) Replay(st *Stream, fromSnapshot bool) (engine.State, error) {
	kind, err := all.Kind(st.ref.Kind)
	if err != nil {
		return nil, err
	}
	state, seq := kind.New(st.ref), int64(0)
	if snap := st.lastSnapshot(); fromSnapshot && snap.Seq > 0 {
		v := kind.Frozen()
		if err := codec.Unmarshal(snap.State, v); err != nil {
			return nil, err
		}
		if state, err = kind.Thaw(st.ref, v); err != nil {
			return nil, err
		}
		// Rows up to the snapshot are skipped. A row may reach beyond it, so its facts are counted one by one.
		seq = snap.Seq
		if j.bug == bugs.ShortSnapshot {
			seq++
		}
	}
	for _, r := range st.rows {
		if r.Last <= seq {
			continue
		}
		facts, err := codec.Facts(st.ref.Kind, r.Bytes)
		if err != nil {
			return nil, err
		}
		for i, f := range facts {
			if r.First+int64(i) > seq {
				state.Apply(f)
			}
		}
	}
	return state, nil
}
