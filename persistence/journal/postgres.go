package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/persistence"
)

// Config says how a node journals. A limit of zero means the default that is named.
type Config struct {
	Pool *pgxpool.Pool   // for claims and reads
	Lane *pgx.ConnConfig // how lanes connect, never through a pooler; nil: as Pool connects
	Node string          // this node's name; only one process at a time may use it
	// Version is the version of the shard's place (Shard.Version), or 0 for a journal in one database. While the
	// database has another version, it takes no claim and no new writer.
	Version int32
	Valve   *persistence.Valve // valve before the database of a shard; nil without shards
	Log     *slog.Logger

	// Sink is handed every batch that has become durable, in the commit order of each lane, before
	// the batch's entries are settled. It must not block.
	Sink func(*Batch)
	// Committed is called with the time that each batch took, from when it was formed until it was
	// known to be durable. It must not block.
	Committed func(time.Duration)

	Lanes            int           // how many lanes there are (default 2); more than one per core adds nothing
	BatchEntries     int           // most entries in one statement (default 4,096)
	BatchBytes       int           // most bytes of facts in one statement (default 4 MB)
	StatementTimeout time.Duration // longest time of a statement, by the server's clock (default 5 s)
	FailAfter        time.Duration // the journal fails if no append succeeds for so long while one is due (default 10 s)
	AllowUnsafe      bool          // whether to run on a server that may forget commits

	Now func() time.Time // the time, which gives a batch its day; nil stands for time.Now
}

// These are the reasons for which a journal fails; Failed reports them. ErrOtherMap does not end a journal: Open,
// Claim and the question of LookAt return it. Open returns ErrUnsafe too.
var (
	// ErrUnsafe means that the server's settings let it forget what it has committed.
	ErrUnsafe = errors.New("journal: server does not keep commits")
	// ErrStalled means that no append succeeded for Config.FailAfter.
	ErrStalled = errors.New("journal: stalled")
	// ErrLost means that the server no longer has facts that it has acknowledged.
	ErrLost = errors.New("journal: acknowledged facts are gone")
	// ErrWriterClosed means that another node took this node for dead, and closed its writer.
	ErrWriterClosed = errors.New("journal: writer closed by another")
	// ErrOtherMap says that the database is not the shard that this node takes it for, because it was
	// moved after the node read where the shards are. Nothing can be claimed there.
	ErrOtherMap = errors.New("journal: the shard has been moved, and this node knows where it was: restart the node")
	// ErrConflict means that the journal has other facts in the place to which this node's claim entitles it: an
	// invariant of the journal or of its caller is broken.
	ErrConflict = errors.New("journal: facts already there under our own epoch")
)

// Postgres is the journal of one node, or one shard of it. Any goroutine may call its methods, but the entries of one
// stream must come from one goroutine at a time.
type Postgres struct {
	Reader
	pool  *pgxpool.Pool
	cfg   Config
	log   *slog.Logger
	lanes []*lane

	ctx    context.Context // ends when the journal fails or Stop runs out of time
	cancel context.CancelFunc
	failed chan error
	wg     sync.WaitGroup // waits for the lanes

	tending     sync.WaitGroup // waits for the goroutine that tends partitions and spans
	indexed     atomic.Int64   // when the spans were last up to date, in unix nanoseconds
	answered    atomic.Int64   // when the server last said which tails there are, in unix nanoseconds
	stopTending context.CancelFunc
}

var _ Journal = (*Postgres)(nil)

// Open fences the earlier processes of the node, opens a writer for each lane and starts. It
// returns ErrUnsafe on a server with fsync, synchronous_commit or full_page_writes switched off,
// unless Config allows that.
func Open(ctx context.Context, cfg Config) (*Postgres, error) {
	return open(ctx, cfg, make(chan error, 1))
}

// open does what Open says: first it closes the writers of the node's earlier processes, so that what they have in
// flight is refused; then it opens all lanes and starts them. It also opens the partitions of today and tomorrow, and
// starts the goroutine that tends partitions. failed gets the failures, and may be shared with the journals of other
// shards.
func open(ctx context.Context, cfg Config, failed chan error) (*Postgres, error) {
	j := &Postgres{Reader: Reader{Pools{cfg.Pool}}, pool: cfg.Pool, cfg: withDefaults(cfg), log: cfg.Log, failed: failed}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j.ctx, j.cancel = life, cancel
	const closeOwn = `UPDATE writers SET closed_at = now() WHERE node = $1 AND closed_at IS NULL`
	// Whatever an earlier process of this node still has in flight is refused from here on.
	if _, err := j.pool.Exec(ctx, closeOwn, cfg.Node); err != nil {
		j.cancel()
		return nil, fmt.Errorf("journal: close earlier writers of %s: %w", cfg.Node, err)
	}
	if err := j.openDays(ctx); err != nil {
		j.cancel()
		return nil, err
	}
	j.answered.Store(time.Now().UnixNano())
	j.indexed.Store(time.Now().UnixNano())    // if indexing fails, the age of the spans counts from now
	if err := j.indexTails(ctx); err != nil { // only makes the first loads faster: facts that no span covers are found in the tails
		j.log.Warn("journal not indexed", slog.Any("error", err))
	}
	for range j.cfg.Lanes {
		l, err := openLane(ctx, j)
		if err != nil {
			for _, l := range j.lanes {
				l.leave(ctx)
			}
			j.cancel()
			return nil, err
		}
		j.lanes = append(j.lanes, l)
	}
	// The goroutines start only when all lanes are connected, because after an error no goroutine may be left.
	for _, l := range j.lanes {
		j.wg.Go(l.run)
	}
	tended, stop := context.WithCancel(life)
	j.stopTending = stop
	j.tending.Go(func() { j.tendPartitions(tended) })
	return j, nil
}

// withDefaults fills in what Config leaves out, and makes the lanes' connection settings.
func withDefaults(cfg Config) Config {
	if cfg.Lane == nil {
		cfg.Lane = cfg.Pool.Config().ConnConfig
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg = withCommitted(cfg)
	setDefault(&cfg.Lanes, 2)
	setDefault(&cfg.BatchEntries, 4096)
	setDefault(&cfg.BatchBytes, 4<<20)
	setDefault(&cfg.StatementTimeout, 5*time.Second)
	setDefault(&cfg.FailAfter, 10*time.Second)
	cfg.Lane = laneConfig(cfg)
	return cfg
}

// withCommitted makes Committed callable if it was not set.
func withCommitted(cfg Config) Config {
	if cfg.Committed == nil {
		cfg.Committed = func(time.Duration) {}
	}
	return cfg
}

// setDefault sets a value that is zero.
func setDefault[T comparable](p *T, d T) {
	var zero T
	if *p == zero {
		*p = d
	}
}

// Stop writes the entries that were handed over, closes this node's writers, and waits. If ctx ends first, Stop
// gives up the remaining entries, their owners get ErrClosed, and it returns the context's error.
func (j *Postgres) Stop(ctx context.Context) error {
	j.stopTending()
	j.tending.Wait()
	for _, l := range j.lanes {
		l.finish()
	}
	done := make(chan struct{})
	go func() {
		j.wg.Wait()
		close(done)
	}()
	defer j.cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		j.cancel()
		<-done
		return fmt.Errorf("journal: stop: %w", ctx.Err())
	}
}

// Failed receives one error if the journal can no longer keep its promises. By then it takes no
// more entries, and the node must exit.
func (j *Postgres) Failed() <-chan error { return j.failed }

// fail reports the first failure and ends the journal. Lanes and shards share the channel, which has one place, so
// later failures are dropped.
func (j *Postgres) fail(err error) {
	select {
	case j.failed <- err:
		j.log.Error("journal failed", slog.String("node", j.cfg.Node), slog.Any("error", err))
	default: // a lane or a shard failed before
	}
	j.cancel()
}

// Claim raises the epoch of the actor's stream. It also notes the actor in wakes, so that the actor is woken if the
// node crashes. If the shard has moved to another place, it returns ErrOtherMap and claims nothing. After any other
// error the claim may or may not have been made, so the caller claims again.
func (j *Postgres) Claim(ctx context.Context, ref engine.Ref) (Claim, error) {
	if j.ctx.Err() != nil {
		return Claim{}, ErrClosed
	}
	// The statement is autocommitted and alone in its transaction, because the lane of the stream's
	// former owner waits for its row locks.
	const (
		claim = `
WITH c AS (
  INSERT INTO streams (name, epoch, writer) SELECT $1, 1, $2`
		ofShard = ` FROM journal_mark WHERE version = $3`
		noted   = `
  ON CONFLICT (name) DO UPDATE SET epoch = streams.epoch + 1, writer = excluded.writer
  RETURNING name, stream_id, epoch),
w AS (
  INSERT INTO wakes (name, at) SELECT name, now() FROM c
  ON CONFLICT (name) DO UPDATE SET at = excluded.at)
SELECT stream_id, epoch, (SELECT losses FROM writers WHERE writer = $2) FROM c`
	)
	query, args := claim+noted, []any{ref.Name(), j.laneOf(ref).writer}
	if j.cfg.Version != 0 {
		query, args = claim+ofShard+noted, append(args, j.cfg.Version)
	}
	var c Claim
	err := j.pool.QueryRow(ctx, query, args...).Scan(&c.Stream, &c.Epoch, &c.losses)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrOtherMap
	}
	if err != nil {
		return Claim{}, fmt.Errorf("journal: claim %s: %w", ref.Name(), err)
	}
	return c, nil
}

// Append takes an entry over and returns at once. It has no limit of its own: callers look at Backlog, and refuse
// work before they decide it.
func (j *Postgres) Append(e *Entry) { j.laneOf(e.Ref).append(e) }

// laneOf returns the lane of the actor's event.
func (j *Postgres) laneOf(ref engine.Ref) *lane {
	// Ids are given out in order. Mixing the bits spreads the events that are sold at the same time over the lanes.
	h := uint64(ref.Home) * 0x9e3779b97f4a7c15 >> 32
	return j.lanes[h%uint64(len(j.lanes))]
}

// Backlog returns how many entries have been handed over and not settled yet.
func (j *Postgres) Backlog() int {
	var n int64
	for _, l := range j.lanes {
		n += l.backlog.Load()
	}
	return int(n)
}

// Waiting returns how long the oldest batch in flight has been waiting for its verdict; 0 if none is in flight.
// Callers refuse work when this grows to seconds.
func (j *Postgres) Waiting() time.Duration {
	var longest time.Duration
	for _, l := range j.lanes {
		if since := l.due.Load(); since != 0 {
			longest = max(longest, time.Duration(time.Now().UnixNano()-since))
		}
	}
	return longest
}

// Unindexed returns how long ago the spans covered everything committed. A reader that loads a stream has to
// go through all that was committed since.
func (j *Postgres) Unindexed() time.Duration { return time.Since(time.Unix(0, j.indexed.Load())) }

// Silent returns how long ago the server last answered the question that this node asks it every second,
// whether or not something is to be committed.
func (j *Postgres) Silent() time.Duration { return time.Since(time.Unix(0, j.answered.Load())) }

// Stats are counters since Open, over all lanes.
type Stats struct {
	Batches int64 // statements that committed
	Entries int64 // entries that got their verdict with a batch, those without facts included
	Facts   int64 // facts made durable
	Bytes   int64 // bytes of those facts
	Retries int64 // attempts after the first of a batch
	Fences  int64 // records refused because of a later claim, or because they need a refused record
}

// Stats reads the counters.
func (j *Postgres) Stats() Stats {
	var s Stats
	for _, l := range j.lanes {
		s.Batches += l.stats.batches.Load()
		s.Entries += l.stats.entries.Load()
		s.Facts += l.stats.facts.Load()
		s.Bytes += l.stats.bytes.Load()
		s.Retries += l.stats.retries.Load()
		s.Fences += l.stats.fences.Load()
	}
	return s
}
