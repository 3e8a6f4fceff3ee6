// Package follower reads the journal in order, each fact exactly once, and stores its position
// together with the effect. The journal may be in another database than position and effect: a fact
// that was read is committed, and stays so, so that nothing depends on reading both at one moment.
//
// A follower is handed the batches of this node's lanes in memory (Offer, from the journal's sink).
// It reads the rest from the journal: after a start, when the queue in memory overflowed, and what
// other nodes wrote. It applies batches of one writer in commit order, and facts of one stream in
// the order of their seqs, across writers; a missing seq stops it (Failed). Effect and position
// commit in one transaction, which moves the position only from where this follower believes it to
// be. So a second copy, or a server that came back without the last transactions, makes it read its
// position again; it never applies facts twice and never skips any. These transactions do not wait
// for the disk, because what a crash loses is applied again.
//
// A fact that a follower can't apply is set aside by a Digester, and applied again when somebody asks for it; in
// the meantime the follower goes on.
//
// Each follower owns its rows in the table followers and one goroutine, with one connection of the pool. Call
// New, and then Start. Stop applies what was offered, ends the goroutine and waits for it. One copy of a
// follower runs in a cluster.
package follower

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/panics"
)

// Config says what a follower does. A limit of zero means the default that is named.
type Config struct {
	Name string // names its rows in the table followers
	Pool *pgxpool.Pool
	Log  *slog.Logger

	// Apply takes the batches in, in order, within tx. An error undoes the transaction. If the server or the
	// connection is to blame, or the error is ErrAgain, the follower tries again. Any other error ends the
	// follower, because the same facts would fail again. A Digester's Apply sets such facts aside instead.
	Apply func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error
	// Digesters are those that Apply uses. Between its transactions the follower lets them make the attempts
	// that somebody asked for (Digester.Tend).
	Digesters []*Digester

	MaxQueue int           // 200,000 facts wait in memory; with more the journal is read instead
	MaxBatch int           // 10,000 facts in one transaction
	Pace     time.Duration // 50 ms from one transaction to the next, unless MaxBatch facts or a caller wait
	Poll     time.Duration // 1 s between looks at writers that are not fed in memory

	// Room waits until there is room for what Apply writes, or its context ends. Nil: there always
	// is room.
	Room func(context.Context)

	// Yield makes the follower rest after each transaction while Busy returns true, for Yield times
	// as long as reading and applying took. BusyBatch, if it is not 0, then replaces MaxBatch. In a
	// rush what the follower writes can wait, and the sale cannot. A caller that waits for the
	// follower (Passed, Stop) ends the rest. With a Yield of 0 it never rests.
	Yield     int
	BusyBatch int
	Busy      func() bool
}

// Journal is read by a follower when its feed in memory is not enough. A writer that is reported
// closed gets no more batches.
type Journal interface {
	Writers(ctx context.Context) ([]journal.Writer, error)
	ReadWriter(ctx context.Context, writer int32, after int64) iter.Seq2[journal.Batch, error]
	Locate(ctx context.Context, streams, seqs []int64) ([]journal.Place, error)
	Past
}

// Past is the part of the journal that is read when facts that were set aside are applied again, or when facts
// are missing in Kafka.
type Past interface {
	ReadSpan(ctx context.Context, ref engine.Ref, stream, after, upto int64) ([]journal.Batch, error)
	LastWithin(ctx context.Context, stream int64, writers []int32, batches []int64) (int64, error)
	IsBeheaded(ctx context.Context, stream int64) (bool, error)
}

var (
	// ErrGap is merge.ErrGap.
	ErrGap = merge.ErrGap
	// ErrAgain is returned by Apply for facts that cannot be applied now. They are tried again,
	// from the saved position, for as long as it takes.
	ErrAgain = errors.New("follower: try again")
	// ErrStopped says that the follower is not running any more.
	ErrStopped = errors.New("follower: stopped")
)

// Follower is one reader of the journal. Its methods may be called by any
// goroutine.
type Follower struct {
	cfg Config
	feed

	ctx    context.Context
	cancel context.CancelFunc
	start  sync.Once
	done   chan struct{} // closed when the goroutine has ended
	failed chan error
}

// New makes a follower. It takes batches from now on.
func New(cfg Config) *Follower {
	setDefault(&cfg.MaxQueue, 200_000)
	setDefault(&cfg.MaxBatch, 10_000)
	setDefault(&cfg.Pace, 50*time.Millisecond)
	setDefault(&cfg.Poll, time.Second)
	if cfg.Room == nil {
		cfg.Room = func(context.Context) {}
	}
	f := &Follower{cfg: cfg, done: make(chan struct{}), failed: make(chan error, 1)}
	f.feed = newFeed(cfg.MaxQueue, cfg.MaxBatch)
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// setDefault sets a value that was left out.
func setDefault[T comparable](p *T, d T) {
	var zero T
	if *p == zero {
		*p = d
	}
}

// Start begins to follow, from the saved position on.
func (f *Follower) Start(from Journal) {
	f.start.Do(func() { go f.run(from) })
}

// Stop waits until everything offered has been applied or ctx ends, then ends the follower and
// waits for it.
func (f *Follower) Stop(ctx context.Context) error {
	f.start.Do(func() { close(f.done) }) // it was never started
	err := f.awaitOffered(ctx)
	f.cancel()
	<-f.done
	f.close()
	if errors.Is(err, ErrStopped) {
		return nil
	}
	return err
}

// Failed receives one error if the follower had to give up: ErrGap, or an error of Apply.
func (f *Follower) Failed() <-chan error { return f.failed }

// permanent marks an error that another attempt would meet again.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

const (
	firstPause = 20 * time.Millisecond
	longPause  = 2 * time.Second
)

// run follows until Stop or a permanent error. After any other error it starts again from the saved
// position.
func (f *Follower) run(from Journal) {
	defer close(f.done)
	pause := firstPause
	for {
		began := time.Now()
		err := panics.Catch(f.cfg.Log, "follower "+f.cfg.Name, func() error { return f.follow(from) })
		if f.ctx.Err() != nil {
			return
		}
		if _, ok := errors.AsType[permanent](err); ok {
			f.cfg.Log.Error("follower failed", slog.String("follower", f.cfg.Name), slog.Any("error", err))
			f.failed <- err
			f.close()
			return
		}
		if time.Since(began) > longPause {
			pause = firstPause
		}
		f.cfg.Log.Warn("follower starts over", slog.String("follower", f.cfg.Name), slog.Any("error", err), slog.Duration("pause", pause))
		select {
		case <-f.ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longPause)
	}
}
