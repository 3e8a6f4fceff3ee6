package follower

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// feed is the part of a follower that its goroutine shares with lanes and waiting callers.
type feed struct {
	maxQueue, maxBatch int

	wake  chan struct{} // something was offered
	hurry chan struct{} // a full transaction is there, or a caller waits: ends the pause before a transaction (Config.Pace)
	asked chan struct{} // a caller waits: ends the rest after a transaction (Config.Yield)

	// endKnown is closed when the follower has read every writer to its end once. From then on, offered also has
	// the batches that were in the journal before this follower began.
	endKnown chan struct{}

	mu       sync.Mutex
	queue    []*journal.Batch
	facts    int       // number of facts in queue
	since    time.Time // when the first batch in queue was offered
	overflow bool      // batches were dropped and must be read
	closed   bool
	offered  map[int32]int64 // the last batch offered or found at the end of each writer
	applied  map[int32]int64
	delay    time.Duration
	waiters  []*waiter
}

// waiter is a caller that waits until the follower has passed some positions.
type waiter struct {
	until []position
	done  chan struct{}
}

// position is a batch of a writer.
type position struct {
	writer int32
	batch  int64
}

// newFeed makes a feed that knows of no batches.
func newFeed(maxQueue, maxBatch int) feed {
	return feed{
		maxQueue: maxQueue, maxBatch: maxBatch,
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), asked: make(chan struct{}, 1), endKnown: make(chan struct{}),
		offered: make(map[int32]int64), applied: make(map[int32]int64),
	}
}

// Offer hands over a batch that has been committed, in commit order per writer. It never blocks. If
// the queue is full, Offer empties it, and the follower reads those batches from the journal.
func (f *feed) Offer(b *journal.Batch) {
	n := merge.FactsIn(b)
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return
	}
	f.offered[b.Writer] = b.Seq
	switch {
	case len(f.queue) == 0:
		f.since = time.Now()
		fallthrough
	case f.facts+n <= f.maxQueue:
		f.queue = append(f.queue, b)
		f.facts += n
	default:
		f.queue, f.facts, f.overflow = nil, 0, true
	}
	full := f.facts >= f.maxBatch
	f.mu.Unlock()
	// Signals are sent without the lock: the follower takes it when it wakes.
	signal(f.wake)
	if full {
		signal(f.hurry)
	}
}

// signal wakes a receiver. It never blocks: one signal that waits is enough.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // a signal is waiting already
	}
}

// Passed waits until the follower has applied everything that was offered before the call, and everything that
// was in the journal when the follower began. It returns the context's error if the context ends first, and
// ErrStopped if the follower ends.
func (f *Follower) Passed(ctx context.Context) error {
	signal(f.asked)
	select {
	case <-f.endKnown:
		return f.awaitOffered(ctx)
	case <-ctx.Done():
		return fmt.Errorf("follower %s: %w", f.cfg.Name, ctx.Err())
	case <-f.done:
		return ErrStopped
	}
}

// awaitOffered waits until everything in offered at the time of the call has been applied.
func (f *Follower) awaitOffered(ctx context.Context) error { return f.await(ctx, f.addWaiter(nil)) }

// PassedTo waits as Passed does, but only until the given batches have been applied: until has the number of a
// batch for each writer that matters.
func (f *Follower) PassedTo(ctx context.Context, until map[int32]int64) error {
	return f.await(ctx, f.addWaiter(until))
}

// await waits until a waiter is released, and returns the errors of Passed. A nil waiter has nothing to wait
// for.
func (f *Follower) await(ctx context.Context, w *waiter) error {
	if w == nil {
		return nil
	}
	signal(f.hurry)
	signal(f.asked)
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		f.removeWaiter(w)
		return fmt.Errorf("follower %s: %w", f.cfg.Name, ctx.Err())
	case <-f.done:
		f.removeWaiter(w)
		return ErrStopped
	}
}

// Await waits until the follower of that name, on whatever node it runs, has applied the given
// batches, one per writer. It reads the saved positions.
func Await(ctx context.Context, pool *pgxpool.Pool, name string, until map[int32]int64) error {
	writers, batches := make([]int32, 0, len(until)), make([]int64, 0, len(until))
	for w, b := range until {
		writers, batches = append(writers, w), append(batches, b)
	}
	const behind = `
SELECT EXISTS (SELECT FROM unnest($2::int[], $3::bigint[]) AS u(writer, batch)
LEFT JOIN followers f ON f.name = $1 AND f.writer = u.writer WHERE coalesce(f.batch, 0) < u.batch)`
	look := time.NewTicker(awaitEvery)
	defer look.Stop()
	for {
		var wait bool
		if err := pool.QueryRow(ctx, behind, name, writers, batches).Scan(&wait); err != nil {
			return fmt.Errorf("follower %s: %w", name, err)
		}
		if !wait {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("follower %s: %w", name, ctx.Err())
		}
	}
}

// awaitEvery is the pause between two looks at saved positions.
const awaitEvery = 20 * time.Millisecond

// addWaiter notes a waiter for the given batches, or for everything offered so far if they are nil.
// It returns nil if all of these have been applied.
func (f *feed) addWaiter(until map[int32]int64) *waiter {
	f.mu.Lock()
	defer f.mu.Unlock()
	if until == nil {
		until = f.offered
	}
	w := &waiter{done: make(chan struct{})}
	for writer, batch := range until {
		if f.applied[writer] < batch {
			w.until = append(w.until, position{writer, batch})
		}
	}
	if w.until == nil {
		return nil
	}
	f.waiters = append(f.waiters, w)
	return w
}

// removeWaiter forgets a waiter whose caller waits no more. Otherwise waiters would pile up while the follower can't
// reach their positions, and the follower would not rest for callers that are gone.
func (f *feed) removeWaiter(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiters = slices.DeleteFunc(f.waiters, func(o *waiter) bool { return o == w })
}

// Lag is how far a follower is behind the batches that its feed knows of: those that were offered, and those that
// were in the journal when it began.
type Lag struct {
	Batches int64         // how many of them are not applied
	Delay   time.Duration // time from the commit of the last transaction's oldest batch to its application; 0 if that was read from the journal
	Stopped bool          // it no longer follows: it was stopped, or gave up
}

// Lag reads the lag, for metrics.
func (f *feed) Lag() Lag {
	f.mu.Lock()
	defer f.mu.Unlock()
	lag := Lag{Delay: f.delay, Stopped: f.closed}
	for writer, batch := range f.offered {
		lag.Batches += max(0, batch-f.applied[writer])
	}
	return lag
}

// isAwaited reports whether a caller waits.
func (f *feed) isAwaited() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiters) > 0
}

// take empties the queue. It also returns when the first batch was offered, and whether batches had to be dropped.
func (f *feed) take() (batches []*journal.Batch, since time.Time, overflow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	batches, since, overflow = f.queue, f.since, f.overflow
	f.queue, f.facts, f.overflow = nil, 0, false
	return batches, since, overflow
}

// knowsEnd reports whether the ends of all writers are known (noteEnd).
func (f *feed) knowsEnd() bool {
	select {
	case <-f.endKnown:
		return true
	default:
		return false
	}
}

// noteEnd is called once, when all writers have been read to their ends for the first time. It notes these ends
// in offered, and closes endKnown.
func (f *feed) noteEnd(tails *merge.Tails) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range tails.ByWriter {
		f.offered[t.Writer] = max(f.offered[t.Writer], t.LastBatch())
	}
	close(f.endKnown)
}

// advance notes what has been applied, and releases the callers that waited for it.
func (f *feed) advance(to []position, delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range to {
		f.applied[p.writer] = p.batch
	}
	f.delay = delay
	waiting := f.waiters[:0]
	for _, w := range f.waiters {
		if f.hasPassed(w.until) {
			close(w.done)
		} else {
			waiting = append(waiting, w)
		}
	}
	clear(f.waiters[len(waiting):])
	f.waiters = waiting
}

// hasPassed reports whether all of these positions have been applied.
func (f *feed) hasPassed(until []position) bool {
	for _, p := range until {
		if f.applied[p.writer] < p.batch {
			return false
		}
	}
	return true
}

// close ends the feed: it takes no more batches, and forgets its waiters. Their callers notice the end by
// Follower.done.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.queue, f.facts, f.waiters = true, nil, 0, nil
}
