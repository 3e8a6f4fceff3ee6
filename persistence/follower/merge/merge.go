// Package merge puts the batches of a journal's writers into one order, in which the facts of every
// stream follow one another. Two writers know nothing of each other, but a stream moves from one to
// another when its actor does, so a batch may have to wait for a batch of another writer.
//
// The package reads and stores nothing: package follower does that around it, and so does the
// simulator, with a simulated journal. The package has no goroutine and no lock.
package merge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"boxoffice/persistence/journal"
)

// ErrGap says that the journal lacks facts on which later ones build, or that it has some twice. A
// follower can't go on then, because it would apply facts to a wrong state.
var ErrGap = errors.New("follower: gap in a stream")

const (
	// Final is the position in a closed writer that has been read to its end.
	Final = math.MaxInt64
	// maxStreams bounds how many streams' seqs are remembered. Beyond it all are forgotten at
	// once. A stream that comes again is then looked up in the journal (ListMissing).
	maxStreams = 1 << 18
)

// Tail is the part of one writer that has not been applied yet.
type Tail struct {
	Writer  int32
	Pos     int64            // the last batch applied
	Pending []*journal.Batch // the batches after Pos
	Fed     bool             // batches of this writer are offered in memory when they are committed
	Behind  bool             // the journal may have batches that are neither in Pending nor in the feed
	Wanted  bool             // other batches wait for what the journal has of this writer
	Closed  bool             // nothing will be added to the writer
}

// LastBatch returns the number of the last batch of this writer that has been applied or is
// pending. The next one to add is the one after it.
func (t *Tail) LastBatch() int64 {
	if n := len(t.Pending); n > 0 {
		return t.Pending[n-1].Seq
	}
	return t.Pos
}

// Tails merges the tails of all writers into one order, in which the seqs of every stream follow
// one another.
type Tails struct {
	ByWriter map[int32]*Tail
	Order    []int32 // the numbers of the writers, ascending
	Facts    int     // number of facts in all Pending
	seqs     map[int64]int64
}

// NewTails makes tails without writers.
func NewTails() Tails {
	return Tails{ByWriter: make(map[int32]*Tail), seqs: make(map[int64]int64)}
}

// Get returns a writer's tail, and makes an empty one for a writer that is not known yet.
func (ts *Tails) Get(writer int32) *Tail {
	t := ts.ByWriter[writer]
	if t == nil {
		t = &Tail{Writer: writer}
		ts.ByWriter[writer] = t
		i, _ := slices.BinarySearch(ts.Order, writer)
		ts.Order = slices.Insert(ts.Order, i, writer)
	}
	return t
}

// Add appends a batch to a tail, and returns how many facts it has. The batch must be the one after
// LastBatch.
func (ts *Tails) Add(t *Tail, b *journal.Batch) (facts int) {
	t.Pending = append(t.Pending, b)
	facts = FactsIn(b)
	ts.Facts += facts
	return facts
}

// NoteWriter notes that the journal lists a writer. The batches of a writer that is not fed must be
// read from the journal, unless it has been read to its end.
func (ts *Tails) NoteWriter(writer int32, closed bool) {
	t := ts.Get(writer)
	t.Closed = closed
	if !t.Fed && t.Pos != Final {
		t.Behind = true
	}
}

// TakeOffered takes a batch that was offered as it was committed. If the batch does not follow its
// tail, something between them was not offered, and the tail must be read from the journal.
func (ts *Tails) TakeOffered(b *journal.Batch) {
	t := ts.Get(b.Writer)
	t.Fed = true
	switch next := t.LastBatch() + 1; {
	case b.Seq < next: // it was read already
	case b.Seq == next && !t.Behind:
		ts.Add(t, b)
	default:
		t.Behind = true
	}
}

// LoseFeed notes that some of the batches that were offered are lost. All writers that are fed must
// be read, because nobody knows whose batches they were.
func (ts *Tails) LoseFeed() {
	for _, t := range ts.ByWriter {
		t.Behind = t.Behind || t.Fed
	}
}

// LeaveOut forgets what is pending of a writer that can't be read at the moment, so that the other
// writers go on without it. The writer is read from Pos on when the journal lists it again.
func (ts *Tails) LeaveOut(t *Tail) {
	for _, b := range t.Pending {
		ts.Facts -= FactsIn(b)
	}
	t.Pending, t.Fed, t.Behind, t.Wanted = nil, false, false, false
}

// IsBehind reports whether some writer must be read from the journal.
func (ts *Tails) IsBehind() bool {
	for _, t := range ts.ByWriter {
		if t.Behind {
			return true
		}
	}
	return false
}

// Move says that the batches of one writer after Since and up to To are applied. The follower
// stores it as its position, and Since lets it notice that another follower has moved the position.
type Move struct {
	Writer    int32
	Since, To int64
}

// Gather takes batches that may be applied next, up to about limit facts, and the moves of their
// writers. The order of the group is the order in which they must be applied.
func (ts *Tails) Gather(limit int) (group []journal.Batch, moves []Move) {
	// Forgotten seqs are looked up in the journal again (ListMissing, Resolve).
	if len(ts.seqs) > maxStreams {
		clear(ts.seqs)
	}
	steps := make(map[int32]int) // place in moves, from 1
	facts := 0
	// A batch that is taken may be what a batch of an earlier writer in the list waits for, so the
	// loop goes round until nothing more can be taken.
	for more := true; more; {
		more = false
		for _, w := range ts.Order {
			t := ts.ByWriter[w]
			for len(t.Pending) > 0 && facts < limit && ts.takeNext(t.Pending[0]) {
				b := t.Pending[0]
				// A batch that has been taken must not stay in memory, in the slice's array.
				t.Pending[0] = nil
				t.Pending = t.Pending[1:]
				facts += FactsIn(b)
				group = append(group, *b)
				if steps[w] == 0 {
					moves = append(moves, Move{Writer: w, Since: t.Pos})
					steps[w] = len(moves)
				}
				moves[steps[w]-1].To = b.Seq
				more = true
			}
		}
	}
	ts.Facts -= facts
	return group, moves
}

// takeNext notes the batch's seqs if all of its records are next in their streams, and reports
// whether that was so. A batch is taken whole or not at all, because its facts are atomic.
func (ts *Tails) takeNext(b *journal.Batch) bool {
	for i := range b.Records {
		// A stream that is not remembered may begin only with its first fact.
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

// Fact names a fact that must have been applied before a pending batch can be.
type Fact struct{ Stream, Seq int64 }

// ListMissing lists the facts that pending batches need and that neither the remembered seqs nor an
// earlier batch of the same writer provides. Resolve takes the answers, which the caller looks up
// in the journal.
func (ts *Tails) ListMissing() []Fact {
	var missing []Fact
	brought := make(map[int64]int64)
	for _, w := range ts.Order {
		clear(brought)
		for _, b := range ts.ByWriter[w].Pending {
			for i := range b.Records {
				r := &b.Records[i]
				known := brought[r.Stream]
				if known == 0 {
					known = ts.seqs[r.Stream]
				}
				if known != r.First-1 {
					missing = append(missing, Fact{r.Stream, r.First - 1})
				}
				brought[r.Stream] = r.Last
			}
		}
	}
	return missing
}

// Resolve uses the places of the missing facts: found[i] is the place of missing[i]. A fact that was applied
// before is remembered as the last of its stream. So is a fact that the journal has dropped: facts are dropped
// only when all followers have applied them. If a fact is not in memory yet, its writer will be read up to it.
//
// Resolve returns ErrGap if the journal does not have one of the facts, if the stream's remembered seq shows
// that the fact was passed over, or if no answer helps, because then Gather would never go on.
func (ts *Tails) Resolve(missing []Fact, found []journal.Place) error {
	resolved := false
	for i, m := range missing {
		at, known := found[i], ts.seqs[m.Stream]
		if at.Dropped && known == 0 {
			ts.seqs[m.Stream] = m.Seq
			resolved = true
			continue
		}
		if at.Batch == 0 || known > m.Seq {
			return fmt.Errorf("%w: stream %d: fact %d needed, %d applied", ErrGap, m.Stream, m.Seq, known)
		}
		switch t := ts.Get(at.Writer); {
		// The fact was applied before, by us or before we started, and its stream was forgotten
		// since.
		case at.Batch <= t.Pos && known == 0:
			ts.seqs[m.Stream] = m.Seq
			resolved = true
		case at.Batch <= t.Pos:
			return fmt.Errorf("%w: stream %d: fact %d was not applied after %d", ErrGap, m.Stream, m.Seq, known)
		// The batch is in the journal and not yet in memory: its writer must be read first.
		case at.Batch > t.LastBatch():
			t.Behind, t.Wanted = true, true
			resolved = resolved || len(t.Pending) == 0
		}
	}
	if !resolved {
		return fmt.Errorf("%w: nothing follows, though all of %d facts are there", ErrGap, len(missing))
	}
	return nil
}

// FactsIn counts the facts of a batch.
func FactsIn(b *journal.Batch) int {
	n := 0
	for i := range b.Records {
		n += int(b.Records[i].Last - b.Records[i].First + 1)
	}
	return n
}
