package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// maxStreams bounds how many streams a lane remembers. Beyond it, the lane forgets all of them except the lost
// ones. A lost stream must be remembered: the server does not know that an entry was refused for its order or
// its needs, and would accept the next one. For the others, the lane forgets which epochs have passed, but the
// server knows that too. An entry that needs a forgotten stream's entry (Entry.Needs) is refused, because the
// lane can't tell whether that entry is durable.
const maxStreams = 1 << 17

// lane is one goroutine with one connection and one row in the table writers. It sends everything that is ready as
// one statement, waits for the verdict, and begins again. Under load more entries gather while it waits, so the
// batches grow by themselves, and no timer is needed that would add latency.
type lane struct {
	j      *Postgres
	writer int32

	mu      sync.Mutex
	ready   []*Entry
	idle    bool  // whether the lane waits on wake
	last    bool  // whether the lane ends once nothing is ready
	refusal error // the verdict on entries that Append gets after the lane has ended
	wake    chan struct{}

	backlog atomic.Int64
	due     atomic.Int64 // since when the batch in flight has waited, Unix ns; 0 if none does
	stats   struct{ batches, entries, facts, bytes, retries, fences atomic.Int64 }

	// The fields below belong to the lane's goroutine.
	conn          *pgx.Conn // nil: the next attempt connects first
	warning       string    // last warning of the server since the field was cleared
	first, retry  *pgconn.StatementDescription
	standing      *pgconn.StatementDescription
	lookup        *pgconn.StatementDescription
	losses        int32 // the writer's count of losses, as last heard, or more than that (see doubtClaims)
	taken         []*Entry
	next          int // index of the next entry in taken
	batches       int64
	batch, before *batch // the batch being formed or in flight; the last one acknowledged
	streams       map[int64]*stream
	formed        uint64 // how many batches were formed; tells whether a stream's record is in the current one
	closed        bool   // whether the writer was found closed
}

// stream is what a lane remembers of a stream between entries.
type stream struct {
	epoch  int32
	lost   bool   // whether every entry under the epoch is refused: the epoch is fenced, or an entry was refused
	losses int32  // the writer's losses when the epoch was last known not to be fenced
	next   int64  // the seq that must come next under epoch; 0 if unknown
	formed uint64 // the batch in which record is the stream's record
	record int32
}

// openLane connects a lane and adds its rows to writers and tails. The caller starts its goroutine (run). In a shard
// that was closed to be moved it returns ErrOtherMap.
func openLane(ctx context.Context, j *Postgres) (*lane, error) {
	l := &lane{
		j: j, wake: make(chan struct{}, 1), streams: make(map[int64]*stream),
		batch: &batch{}, before: &batch{},
	}
	if err := l.connect(ctx); err != nil {
		l.leave(ctx)
		return nil, err
	}
	// A closed shard must get no new writer. The shard's new place will give the same number to another writer, and
	// followers, which know a writer by its number, would mix the two up.
	const (
		open    = `WITH w AS (INSERT INTO writers (node) SELECT $1`
		ofShard = ` FROM journal_mark WHERE version = $2 FOR SHARE`
		tailed  = ` RETURNING writer) INSERT INTO tails (writer) SELECT writer FROM w RETURNING writer`
	)
	query, args := open+tailed, []any{j.cfg.Node}
	if j.cfg.Version != 0 {
		query, args = open+ofShard+tailed, append(args, j.cfg.Version)
	}
	err := l.conn.QueryRow(ctx, query, args...).Scan(&l.writer)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrOtherMap
	}
	if err != nil {
		l.leave(ctx)
		return nil, fmt.Errorf("journal: open writer: %w", err)
	}
	return l, nil
}

// append takes an entry over. Any goroutine may call it. After the lane has left, it settles the entry at once with
// the lane's refusal.
func (l *lane) append(e *Entry) {
	l.backlog.Add(1)
	l.mu.Lock()
	if refusal := l.refusal; refusal != nil {
		l.mu.Unlock()
		l.backlog.Add(-1)
		e.Owner.Settled(refusal)
		return
	}
	l.ready = append(l.ready, e)
	l.rouse()
}

// finish lets the lane's goroutine end once nothing is ready. Entries handed over before are still written.
func (l *lane) finish() {
	l.mu.Lock()
	l.last = true
	l.rouse()
}

// rouse unlocks mu, which the caller has locked, and wakes the lane if it sleeps. Only the caller that finds idle set
// sends to wake, so the channel's one place is always free.
func (l *lane) rouse() {
	idle := l.idle
	l.idle = false
	l.mu.Unlock()
	if idle {
		l.wake <- struct{}{}
	}
}

// run is the lane's goroutine. When serve ends, run reports the failure to the journal if there is one, refuses
// all entries that are left, and closes the writer.
func (l *lane) run() {
	err := l.serve()
	rest := ErrClosed
	// Another node took this one for dead, and may have claimed the streams of these entries.
	if errors.Is(err, ErrWriterClosed) {
		rest = ErrFenced
	}
	if err != nil && l.j.ctx.Err() == nil {
		l.j.fail(err)
	}
	l.refuseAll(rest)
	l.leave(l.j.ctx)
}

// serve commits batch after batch. It returns nil if the lane was told to finish and nothing is left, or if the
// journal's context ends, and otherwise the error that ends the lane.
func (l *lane) serve() error {
	for l.take() {
		b := l.batch
		if len(b.records) > 0 {
			b.formed, b.day = time.Now(), dayOf(l.j.cfg.Now())
			if err := l.commitBatch(b); err != nil {
				l.tellOwners(b, ErrClosed)
				return err
			}
			l.publishVerdict(b)
		}
		l.tellOwners(b, nil)
		if l.closed {
			return ErrWriterClosed
		}
	}
	return nil
}

// take forms a batch of the entries that are ready, up to the configured limits, and waits if there are none. It
// returns false if the lane must leave.
func (l *lane) take() bool {
	b := l.batch
	b.reset(l.batches + 1)
	l.formed++
	// Between batches no record of a stream is open, so streams can be forgotten.
	if len(l.streams) > maxStreams {
		maps.DeleteFunc(l.streams, func(_ int64, s *stream) bool { return !s.lost })
	}
	for {
		for ; l.next < len(l.taken); l.next++ {
			if len(b.entries) >= l.j.cfg.BatchEntries || b.size >= l.j.cfg.BatchBytes {
				return true
			}
			e := l.taken[l.next]
			l.taken[l.next] = nil
			b.add(e, l.placeEntry(e))
		}
		l.mu.Lock()
		// The two lists change places, so that append never waits for the lane's work on an entry.
		l.taken, l.ready, l.next = l.ready, l.taken[:0], 0
		if len(l.taken) > 0 {
			l.mu.Unlock()
			continue
		}
		if len(b.entries) > 0 || l.last {
			l.mu.Unlock()
			return len(b.entries) > 0
		}
		// idle is set under the lock under which append looks at it, so no entry can come unnoticed before the wait.
		l.idle = true
		l.mu.Unlock()
		select {
		case <-l.wake:
		case <-l.j.ctx.Done():
			return false
		}
	}
}

// placeEntry returns the index of the batch's record to which the entry belongs, and adds the record if necessary. An
// entry without a record gets one of the negative constants, which give the reason.
func (l *lane) placeEntry(e *Entry) int32 {
	s := l.streams[e.Claim.Stream]
	if s == nil {
		s = &stream{}
		l.streams[e.Claim.Stream] = s
	}
	switch {
	case e.Claim.Epoch > s.epoch:
		*s = stream{epoch: e.Claim.Epoch, losses: e.Claim.losses}
	case e.Claim.Epoch < s.epoch || s.lost:
		return recordFenced
	}
	// If an entry is refused, its stream counts as lost, because the entries after it build on its facts.
	on, met := l.findNeeded(e.Needs)
	if !met {
		s.lost = true
		return recordFenced
	}
	placed := s.formed == l.formed
	if len(e.Facts) == 0 {
		if placed {
			return s.record
		}
		return recordNone
	}
	// The first entry under a claim sets the number from which the stream goes on.
	if s.next != 0 && e.First != s.next {
		s.lost = true
		return recordOrder
	}
	s.next = e.First + int64(len(e.Facts))
	if !placed {
		s.formed, s.record = l.formed, l.batch.addRecord(e)
		// The writer's losses have changed since the epoch was known not to be fenced, so a claim may have come.
		l.batch.doubtful = l.batch.doubtful || s.losses != l.losses
	}
	if on >= 0 {
		l.batch.needs = append(l.batch.needs, need{s.record, on})
	}
	return s.record
}

// findNeeded reports whether the claim that an entry needs still stands, as far as the lane knows. If the needed
// entry is in the batch being formed, findNeeded also returns its record, without which the entry must not get in;
// otherwise it returns -1. If the epoch of the needed claim has passed, the needed entry may have been fenced, so the
// entry is refused.
func (l *lane) findNeeded(c Claim) (record int32, met bool) {
	if c == (Claim{}) {
		return -1, true
	}
	s := l.streams[c.Stream]
	switch {
	case s == nil || s.lost || s.epoch != c.Epoch: // nil: the lane has forgotten the stream
		return -1, false
	case s.formed == l.formed:
		return s.record, true
	default:
		return -1, true
	}
}

// publishVerdict counts what was committed, remembers the fenced streams as lost, and hands the committed
// records to Config.Sink. It must come before tellOwners: the Sink is promised every batch before its entries
// are settled.
func (l *lane) publishVerdict(b *batch) {
	for i := range b.records {
		r := &b.records[i]
		if !r.fenced {
			continue
		}
		l.stats.fences.Add(1)
		if s := l.streams[r.claim.Stream]; s != nil && s.epoch == r.claim.Epoch {
			s.lost = true
		}
	}
	if b.committed == 0 {
		return // no row has the batch's number, so the next batch may use it
	}
	l.batches = b.seq
	l.stats.batches.Add(1)
	l.j.cfg.Committed(time.Since(b.formed))
	facts, bytes := b.countFacts()
	l.stats.facts.Add(facts)
	l.stats.bytes.Add(bytes)
	if l.j.cfg.Sink != nil {
		l.j.cfg.Sink(b.handover(l.writer))
	}
	// The lane keeps its last committed batch, to look for it after a reconnect.
	l.batch, l.before = l.before, l.batch
}

// tellOwners settles the batch's entries in order, each with its own verdict, or all with err if err is set.
func (l *lane) tellOwners(b *batch, err error) {
	n := int64(len(b.entries))
	for i, e := range b.entries {
		b.entries[i] = nil
		if err != nil {
			e.Owner.Settled(err)
		} else {
			e.Owner.Settled(b.verdictOf(i))
		}
	}
	b.entries = b.entries[:0]
	l.stats.entries.Add(n)
	l.backlog.Add(-n)
}

// refuseAll settles all entries that are left with the error, in order. It ends by setting the refusal under the
// lock, so that append refuses every later entry itself.
func (l *lane) refuseAll(err error) {
	for {
		for ; l.next < len(l.taken); l.next++ {
			l.taken[l.next].Owner.Settled(err)
			l.backlog.Add(-1)
		}
		l.mu.Lock()
		l.taken, l.ready, l.next = l.ready, nil, 0
		if len(l.taken) == 0 {
			l.refusal = err
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

// leave closes the writer and the connection, even if the context has ended. If it can't close the writer, the node
// does so at its next start, or another node does when it takes over.
func (l *lane) leave(ctx context.Context) {
	if l.writer != 0 && !l.closed {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		// Use the pool, because the lane's connection may have died since the last batch.
		if err := l.j.CloseWriter(ctx, l.writer); err != nil {
			l.j.log.Warn("journal writer left open", slog.Int("writer", int(l.writer)), slog.Any("error", err))
		}
	}
	l.drop(ctx)
}
