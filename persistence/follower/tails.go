package follower

import (
	"fmt"
	"math"
	"slices"

	"boxoffice/persistence/journal"
)

const (
	// final is the position in a closed writer that has been read to its end.
	final = math.MaxInt64
	// dropped is the batch of a fact that the journal no longer has; all followers have applied it.
	dropped = -1
	// maxStreams bounds the seqs that are remembered. Beyond it all are forgotten at once, and
	// looked up when their streams come again.
	maxStreams = 1 << 18
)

// tail is the part of one writer that has not been applied yet.
type tail struct {
	writer  int32
	pos     int64            // the last batch applied
	pending []*journal.Batch // the batches after pos
	fed     bool             // batches come by Offer
	behind  bool             // the journal may have more than pending and the feed
	wanted  bool             // other batches wait for what the journal has of this writer
	closed  bool             // nothing will be added to the writer
}

func (t *tail) lastBatch() int64 {
	if n := len(t.pending); n > 0 {
		return t.pending[n-1].Seq
	}
	return t.pos
}

// tails merges the writers into one order, in which the seqs of every stream follow one another.
type tails struct {
	byWriter map[int32]*tail
	order    []int32 // writers, oldest first
	facts    int     // pending
	seqs     map[int64]int64
}

func newTails() tails {
	return tails{byWriter: make(map[int32]*tail), seqs: make(map[int64]int64)}
}

func (ts *tails) get(writer int32) *tail {
	t := ts.byWriter[writer]
	if t == nil {
		t = &tail{writer: writer}
		ts.byWriter[writer] = t
		i, _ := slices.BinarySearch(ts.order, writer)
		ts.order = slices.Insert(ts.order, i, writer)
	}
	return t
}

func (ts *tails) add(t *tail, b *journal.Batch) (facts int) {
	t.pending = append(t.pending, b)
	facts = factsIn(b)
	ts.facts += facts
	return facts
}

// leaveOut forgets what is pending of a writer. It is read from the journal when the writer is listed
// again.
func (ts *tails) leaveOut(t *tail) {
	for _, b := range t.pending {
		ts.facts -= factsIn(b)
	}
	t.pending, t.fed, t.behind, t.wanted = nil, false, false, false
}

func (ts *tails) isBehind() bool {
	for _, t := range ts.byWriter {
		if t.behind {
			return true
		}
	}
	return false
}

// move is a writer's step from one position to another.
type move struct {
	writer    int32
	since, to int64
}

// gather takes batches that may be applied next, up to about limit facts.
func (ts *tails) gather(limit int) (group []journal.Batch, moves []move) {
	if len(ts.seqs) > maxStreams {
		clear(ts.seqs)
	}
	steps := make(map[int32]int) // place in moves, from 1
	facts := 0
	for more := true; more; {
		more = false
		for _, w := range ts.order {
			t := ts.byWriter[w]
			for len(t.pending) > 0 && facts < limit && ts.takeNext(t.pending[0]) {
				b := t.pending[0]
				t.pending[0] = nil
				t.pending = t.pending[1:]
				facts += factsIn(b)
				group = append(group, *b)
				if steps[w] == 0 {
					moves = append(moves, move{writer: w, since: t.pos})
					steps[w] = len(moves)
				}
				moves[steps[w]-1].to = b.Seq
				more = true
			}
		}
	}
	ts.facts -= facts
	return group, moves
}

// takeNext notes the batch's seqs if all of them are next in their streams.
func (ts *tails) takeNext(b *journal.Batch) bool {
	for i := range b.Records {
		if r := &b.Records[i]; r.First > 1 || ts.seqs[r.Stream] > 0 {
			if ts.seqs[r.Stream] != r.First-1 {
				return false
			}
		}
	}
	for i := range b.Records {
		ts.seqs[b.Records[i].Stream] = b.Records[i].Last
	}
	return true
}

// fact names a fact that must be applied before a pending batch.
type fact struct{ stream, seq int64 }

// listMissing lists the facts that pending batches need and that no pending batch has.
func (ts *tails) listMissing() []fact {
	var missing []fact
	brought := make(map[int64]int64)
	for _, w := range ts.order {
		clear(brought)
		for _, b := range ts.byWriter[w].pending {
			for i := range b.Records {
				r := &b.Records[i]
				known := brought[r.Stream]
				if known == 0 {
					known = ts.seqs[r.Stream]
				}
				if known != r.First-1 {
					missing = append(missing, fact{r.Stream, r.First - 1})
				}
				brought[r.Stream] = r.Last
			}
		}
	}
	return missing
}

// resolve takes in where the missing facts are: they have been applied, or must be read. A fact
// that exists nowhere is a gap, and so is a fact that was applied already.
func (ts *tails) resolve(missing []fact, found []position) error {
	resolved := false
	for i, m := range missing {
		at, known := found[i], ts.seqs[m.stream]
		if at.batch == dropped && known == 0 {
			ts.seqs[m.stream] = m.seq
			resolved = true
			continue
		}
		if at.batch == 0 || known > m.seq {
			return permanent{fmt.Errorf("%w: stream %d: fact %d needed, %d applied", ErrGap, m.stream, m.seq, known)}
		}
		switch t := ts.get(at.writer); {
		case at.batch <= t.pos && known == 0:
			ts.seqs[m.stream] = m.seq
			resolved = true
		case at.batch <= t.pos:
			return permanent{fmt.Errorf("%w: stream %d: fact %d was not applied after %d", ErrGap, m.stream, m.seq, known)}
		case at.batch > t.lastBatch():
			t.behind, t.wanted = true, true
			resolved = resolved || len(t.pending) == 0
		}
	}
	if !resolved {
		return permanent{fmt.Errorf("%w: nothing follows, though all of %d facts are there", ErrGap, len(missing))}
	}
	return nil
}
