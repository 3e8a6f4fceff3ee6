package persisttest

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Faults say how badly a Store behaves. The zero value means that it behaves perfectly.
type Faults struct {
	Delay   time.Duration // an attempt to commit takes up to this long
	Unknown float64       // share of attempts with an unknown outcome: done, not done, or done later
	Fence   float64       // share of attempts just before which one of the streams is claimed, by nobody
}

// Store stands in for Postgres in tests. The in-memory journals of several nodes share it, and it survives
// them. Its faults are drawn from one seed.
type Store struct {
	mu      sync.Mutex
	rng     *rand.Rand
	faults  Faults
	byRef   map[engine.Ref]*memStream
	byID    []*memStream // the stream with the id n is at n - 1
	writers int32        // how many writers were opened; each has the next number
}

// memStream is what the store has of a stream.
type memStream struct {
	name  string
	claim journal.Claim // the claim that stands
	rows  []journal.Record
}

// NewStore makes an empty store.
func NewStore(seed uint64, faults Faults) *Store {
	return &Store{
		rng: rand.New(rand.NewPCG(seed, 0)), faults: faults, byRef: make(map[engine.Ref]*memStream),
	}
}

// SetFaults changes the store's behaviour from now on. The zero Faults heal it.
func (s *Store) SetFaults(faults Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

// claim raises the epoch of a stream, which fences all earlier claims. It makes the stream if there
// is none.
func (s *Store) claim(ref engine.Ref) journal.Claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.byRef[ref]
	if st == nil {
		st = &memStream{name: ref.Name(), claim: journal.Claim{Stream: int64(len(s.byID)) + 1}}
		s.byRef[ref] = st
		s.byID = append(s.byID, st)
	}
	st.claim.Epoch++
	return st.claim
}

// fate is what happens to one attempt to commit. A node can't tell the last three apart.
type fate int

const (
	heard   fate = iota // it is carried out, and the node hears of that
	unheard             // it is carried out, and the node does not hear of that
	lost                // it never arrives
	late                // it arrives later, perhaps after the node has tried again
)

// draw draws what happens to an attempt, and after how long.
func (s *Store) draw() (f fate, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rng.Float64() < s.faults.Unknown {
		f = unheard + fate(s.rng.IntN(3))
	}
	if s.faults.Delay > 0 {
		delay = time.Duration(s.rng.Int64N(int64(s.faults.Delay)))
	}
	return f, delay
}

// claimNowAndThen claims one of the rows' streams from time to time, without any node behind it.
// The rows of that stream are then fenced at the worst moment, just before they are inserted.
func (s *Store) claimNowAndThen(rows []*memRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rng.Float64() < s.faults.Fence {
		s.byID[rows[s.rng.IntN(len(rows))].Stream-1].claim.Epoch++
	}
}

// insert is one attempt to commit rows. Of the rows that are not in the store yet, it inserts those whose epoch
// stands and whose needed rows get in too, and returns the others as fenced. A first attempt must not find one
// of its own rows in the store. If it does, insert changes nothing and returns false, as Postgres would refuse
// the key.
func (s *Store) insert(rows []*memRow, again bool) (fenced map[*memRow]bool, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fenced = make(map[*memRow]bool)
	var fresh []*memRow
	for _, r := range rows {
		st := s.byID[r.Stream-1]
		there := st.has(r.Record)
		switch {
		case there && !again:
			return nil, false
		// A repeated attempt finds the rows that an earlier attempt has inserted.
		case there:
		case st.claim.Epoch != r.Epoch:
			fenced[r] = true
		default:
			fresh = append(fresh, r)
		}
	}
	// A row that needs a fenced row is fenced too, and so are the rows that need that one. The
	// loop goes on until no more are found.
	for more := true; more; {
		n := len(fresh)
		fresh = slices.DeleteFunc(fresh, func(r *memRow) bool {
			fenced[r] = fenced[r] || slices.ContainsFunc(r.needs, func(on *memRow) bool { return fenced[on] })
			return fenced[r]
		})
		more = len(fresh) < n
	}
	for _, r := range fresh {
		// A gap can't come from a fault: it would be a mistake of the lane.
		st := s.byID[r.Stream-1]
		if head := st.head(); r.First != head+1 {
			panic(fmt.Sprintf("%s torn: %d..%d of epoch %d after %d", st.name, r.First, r.Last, r.Epoch, head))
		}
		st.rows = append(st.rows, r.Record)
	}
	return fenced, true
}

// head returns the sequence number of the stream's last fact, or 0 if it has none.
func (st *memStream) head() int64 {
	if len(st.rows) == 0 {
		return 0
	}
	return st.rows[len(st.rows)-1].Last
}

// has reports whether the store has a row of this epoch that ends with this fact.
func (st *memStream) has(r journal.Record) bool {
	for i := len(st.rows) - 1; i >= 0 && st.rows[i].Last >= r.Last; i-- {
		if st.rows[i].Last == r.Last && st.rows[i].Epoch == r.Epoch {
			return true
		}
	}
	return false
}

// Memory is one node's journal on a Store, with one goroutine as its lane. It keeps the same
// promises as journal.Postgres. Stop or Crash ends it.
type Memory struct {
	store  *Store
	sink   func(*journal.Batch)
	writer int32

	mu      sync.Mutex
	ready   []*journal.Entry
	refusal error
	stopped bool
	crashed bool // whether owners are no longer told outcomes
	wake    chan struct{}
	dead    chan struct{}
	crash   sync.Once
	wg      sync.WaitGroup

	// The fields below belong to the lane's goroutine.
	seq int64
	// epoch is the highest epoch under which this node has appended, by stream. bad has the claims that were refused,
	// with the reason; next is the number of the next fact of each claim.
	epoch map[int64]int32
	bad   map[journal.Claim]error
	next  map[journal.Claim]int64
}

var _ journal.Journal = (*Memory)(nil)

// Open starts a node's journal; sink may be nil.
func (s *Store) Open(sink func(*journal.Batch)) *Memory {
	s.mu.Lock()
	s.writers++
	m := &Memory{
		store: s, sink: sink, writer: s.writers, wake: make(chan struct{}, 1), dead: make(chan struct{}),
		epoch: make(map[int64]int32), bad: make(map[journal.Claim]error), next: make(map[journal.Claim]int64),
	}
	s.mu.Unlock()
	m.wg.Go(m.run)
	return m
}

// Stop settles the entries that it was given and waits until that is done. When ctx ends, it
// settles the rest with ErrClosed.
func (m *Memory) Stop(ctx context.Context) error {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.rouse()
	defer context.AfterFunc(ctx, m.die)()
	m.wg.Wait()
	return ctx.Err()
}

// Crash ends the node at once. Entries in flight may become durable or not, and their owners are told nothing. Crash
// waits for attempts that land late, so that the store does not change after Crash has returned.
func (m *Memory) Crash() {
	m.mu.Lock()
	m.crashed, m.refusal, m.ready = true, journal.ErrClosed, nil
	m.mu.Unlock()
	m.die()
	m.wg.Wait()
}

// die ends the lane's goroutine, whatever it waits for. It may be called more than once.
func (m *Memory) die() { m.crash.Do(func() { close(m.dead) }) }

// rouse makes the lane's goroutine look for entries.
func (m *Memory) rouse() {
	select {
	case m.wake <- struct{}{}:
	default: // It is roused already.
	}
}

// Claim raises the stream's epoch. After the end it returns ErrClosed.
func (m *Memory) Claim(ctx context.Context, ref engine.Ref) (journal.Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refusal != nil {
		return journal.Claim{}, journal.ErrClosed
	}
	return m.store.claim(ref), ctx.Err()
}

// Append accepts an entry. After the end it settles the entry at once with ErrClosed.
func (m *Memory) Append(e *journal.Entry) {
	m.mu.Lock()
	refusal := m.refusal
	if refusal == nil {
		m.ready = append(m.ready, e)
	}
	m.mu.Unlock()
	if refusal != nil {
		e.Owner.Settled(refusal)
		return
	}
	m.rouse()
}

// Load reads a stream as it is when the iteration begins.
func (m *Memory) Load(ctx context.Context, stream, after int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		m.store.mu.Lock()
		rows := m.store.byID[stream-1].rows
		m.store.mu.Unlock()
		for _, r := range rows {
			if err := ctx.Err(); err != nil {
				yield(journal.Record{}, err)
				return
			}
			if r.Last <= after {
				continue
			}
			// The real journal returns neither of these, so a caller must not depend on them.
			r.Ref, r.Facts = engine.Ref{}, nil
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Standing returns the claims, of the given ones, that were fenced.
func (m *Memory) Standing(ctx context.Context, claims []journal.Claim) ([]journal.Claim, error) {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	var gone []journal.Claim
	for _, c := range claims {
		if m.store.byID[c.Stream-1].claim != c {
			gone = append(gone, c)
		}
	}
	return gone, ctx.Err()
}
