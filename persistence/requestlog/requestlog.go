// Package requestlog keeps the requests of API keys for a week: method, route, status, latency, key, client and
// time of each. For some requests that failed it also keeps, for a day, what was sent and what was answered. It
// owns the tables requests and failed_requests.
//
// A request must not wait for its own row. The server calls Add, which puts an entry into a queue in memory and
// never blocks; one goroutine writes the queued entries. An entry is dropped, and counted, if the queue is full,
// if the disk has no room or if a batch can't be written. So the log may have gaps; Dropped says how many
// entries are missing. Stop writes what is left.
package requestlog

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/panics"
	"boxoffice/persistence/quota"
)

// Kept is how long a request is shown.
const Kept = 7 * 24 * time.Hour

// Entries are written every writeEvery, and old rows are deleted every pruneEvery. A batch of deletions is small, so
// that no transaction holds its locks for long.
const (
	queued     = 16_384 // entries in the queue; 2 MB
	writeEvery = 500 * time.Millisecond
	writeTime  = 5 * time.Second
	pruneEvery = 10 * time.Minute
	pruneBatch = 5_000 // rows in one transaction
)

// Entry is one request of an API key.
type Entry struct {
	Number    int64 // number of the row; Add ignores it
	Org, Key  int64
	At        time.Time     // when the request's headers had come
	Took      time.Duration // time from At until the request was answered
	Status    int
	Method    string
	Route     string // as in the document: /api/v1/events/{eventId}
	RequestID string
	Client    netip.Addr
	Kept      bool     // whether its Failure can be read; Add ignores it
	Failure   *Failure `db:"-"` // what Add keeps of a failed request; nil if nothing. List does not read it
}

// Config is what a Log works with.
type Config struct {
	Pool *pgxpool.Pool
	Log  *slog.Logger
	Full func() bool // whether there is no room for more on the disk
	// Quota counts the bytes of failures for their organizations. A failure for which there is no room
	// is not kept.
	Quota *quota.Counter
	Vault Vault
	Now   func() time.Time // the time; nil stands for the machine's clock
}

// Log writes entries, and reads them. Its methods may be called by any goroutine.
type Log struct {
	cfg     Config
	queue   chan Entry
	dropped atomic.Int64
	budget  budget
	cancel  context.CancelFunc
	done    chan struct{}
}

// Start starts writing. Stop ends it.
func Start(cfg Config) *Log {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Log{cfg: cfg, queue: make(chan Entry, queued), cancel: cancel, done: make(chan struct{})}
	go l.run(ctx)
	return l
}

// Add queues an entry to be written soon, or drops it.
func (l *Log) Add(e *Entry) {
	select {
	case l.queue <- *e:
	default:
		l.dropped.Add(1)
	}
}

// Dropped returns how many entries have been dropped.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Stop writes the queued entries, and ends the log. Nothing may be added after that.
func (l *Log) Stop(ctx context.Context) error {
	l.cancel()
	<-l.done
	l.writeQueued(ctx)
	return nil
}

// run writes queued entries and prunes old rows until ctx ends. A failure is logged and does not end it.
func (l *Log) run(ctx context.Context) {
	defer close(l.done)
	write, prune := time.NewTicker(writeEvery), time.NewTicker(pruneEvery)
	defer write.Stop()
	defer prune.Stop()
	for {
		select {
		case <-write.C:
			l.writeQueued(ctx)
		case <-prune.C:
			err := panics.Catch(l.cfg.Log, "deletion of old requests", func() error { return l.Prune(ctx) })
			if err != nil && ctx.Err() == nil {
				l.cfg.Log.WarnContext(ctx, "old requests not deleted", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// writeQueued writes the entries that are queued now, and before them what is kept of requests that failed
// (writeFailures). If the disk is full, or the entries can't be written, they are dropped and counted. If only
// the failures can't be written, that is logged. The end of ctx does not cut the writing off: each of its three
// steps has writeTime instead (sealing the failures, copying them, copying the entries).
func (l *Log) writeQueued(ctx context.Context) {
	entries := make([]Entry, len(l.queue))
	if len(entries) == 0 {
		return
	}
	for i := range entries { // nothing else reads the queue
		entries[i] = <-l.queue
	}
	// The log gives up its entries before it fills the disk.
	if l.cfg.Full() {
		l.dropped.Add(int64(len(entries)))
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := panics.Catch(l.cfg.Log, "failed requests", func() error { return l.writeFailures(ctx, entries) }); err != nil {
		l.cfg.Log.WarnContext(ctx, "failed requests not kept", slog.Any("error", err))
	}
	err := panics.Catch(l.cfg.Log, "request log", func() error { return l.writeRequests(ctx, entries) })
	if err != nil {
		l.dropped.Add(int64(len(entries)))
		l.cfg.Log.WarnContext(ctx, "requests not logged", slog.Int("requests", len(entries)), slog.Any("error", err))
	}
}

// columns are the columns that writeRequests fills, in its order.
var columns = []string{"org", "key", "at", "took", "status", "method", "route", "request_id", "client"}

// writeRequests copies entries into the table.
func (l *Log) writeRequests(ctx context.Context, entries []Entry) error {
	return l.copyRows(ctx, "requests", columns, pgx.CopyFromSlice(len(entries), func(i int) ([]any, error) {
		e := &entries[i]
		// The column has 32 bits: 36 minutes at most.
		took := int32(min(e.Took.Microseconds(), math.MaxInt32))                                               //nolint:gosec // bounded
		return []any{e.Org, e.Key, e.At, took, int16(e.Status), e.Method, e.Route, e.RequestID, e.Client}, nil //nolint:gosec // three digits
	}))
}

// copyRows copies rows into a table, within writeTime. A crash of Postgres may lose the last ones, because
// copyRows does not wait until they are durable.
func (l *Log) copyRows(ctx context.Context, table string, columns []string, rows pgx.CopyFromSource) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return pgx.BeginFunc(ctx, l.cfg.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns, rows)
		return err
	})
}

// Prune deletes the requests and the failures that are no longer kept.
func (l *Log) Prune(ctx context.Context) error {
	const (
		requests = `DELETE FROM requests WHERE ctid = ANY (ARRAY(SELECT ctid FROM requests WHERE at < $1 LIMIT $2))`
		failures = `DELETE FROM failed_requests WHERE ctid = ANY (ARRAY(SELECT ctid FROM failed_requests WHERE at < $1 LIMIT $2))`
	)
	if err := l.deleteOlder(ctx, requests, Kept); err != nil {
		return err
	}
	return l.deleteOlder(ctx, failures, FailuresKept)
}

// deleteOlder deletes what is older than kept, in batches.
func (l *Log) deleteOlder(ctx context.Context, sql string, kept time.Duration) error {
	for {
		tag, err := l.cfg.Pool.Exec(ctx, sql, l.cfg.Now().Add(-kept), pruneBatch)
		if err != nil {
			return fmt.Errorf("delete old requests: %w", err)
		}
		if tag.RowsAffected() < pruneBatch {
			return nil
		}
	}
}
