package follower_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

const (
	within = 30 * time.Second
	name   = "test"
)

// stage is a database whose follower notes every fact that it applies.
type stage struct {
	t       testing.TB
	pool    *pgxpool.Pool
	entries *pgxpool.Pool // with the journal
}

func newStage(t testing.TB, pool *pgxpool.Pool) *stage {
	t.Helper()
	// The key refuses a fact that comes twice, n tells the order.
	const effects = `
CREATE TABLE effects (n bigint GENERATED ALWAYS AS IDENTITY, stream bigint, seq bigint, PRIMARY KEY (stream, seq))`
	_, err := pool.Exec(t.Context(), effects)
	require.NoError(t, err)
	return &stage{t, pool, pool}
}

func note(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	var rows [][]any
	for _, b := range batches {
		for _, r := range b.Records {
			for seq := r.First; seq <= r.Last; seq++ {
				rows = append(rows, []any{r.Stream, seq})
			}
		}
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"effects"}, []string{"stream", "seq"}, pgx.CopyFromRows(rows))
	return err
}

// follower makes one that is stopped when the test ends.
func (s *stage) follower(change ...func(*follower.Config)) *follower.Follower {
	s.t.Helper()
	cfg := follower.Config{
		Name: name, Pool: s.pool, Log: slog.New(slog.DiscardHandler), Apply: note, Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	}
	for _, c := range change {
		c(&cfg)
	}
	f := follower.New(cfg)
	s.t.Cleanup(func() { kill(f) })
	return f
}

// kill ends a follower without letting it finish.
func kill(f *follower.Follower) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = f.Stop(ctx) // says that it was not done
}

func (s *stage) journal(node string, sink func(*journal.Batch)) *journal.Postgres {
	s.t.Helper()
	j, err := journal.Open(s.t.Context(), journal.Config{
		Pool: s.entries, Node: node, Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Sink: sink, FailAfter: time.Minute,
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { s.stop(j) })
	return j
}

func (s *stage) stop(j *journal.Postgres) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	require.NoError(s.t, j.Stop(ctx))
}

func (s *stage) passed(f *follower.Follower) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	require.NoError(s.t, f.Passed(ctx))
}

// effects are the seqs of each stream in the order in which they were applied.
func (s *stage) effects() map[int64][]int64 {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `SELECT stream, seq FROM effects ORDER BY n`)
	require.NoError(s.t, err)
	all := make(map[int64][]int64)
	var stream, seq int64
	_, err = pgx.ForEachRow(rows, []any{&stream, &seq}, func() error {
		all[stream] = append(all[stream], seq)
		return nil
	})
	require.NoError(s.t, err)
	return all
}

// written are the seqs of each stream in the journal.
func (s *stage) written(j *journal.Postgres) map[int64][]int64 {
	s.t.Helper()
	all := make(map[int64][]int64)
	for st, err := range j.Streams(s.t.Context()) {
		require.NoError(s.t, err)
		for seq := range st.Head {
			all[st.ID] = append(all[st.ID], seq+1)
		}
	}
	return all
}

// caughtUp waits until as many facts are applied as are in the journal, then
// requires that they are the same, once each and in order.
func (s *stage) caughtUp(j *journal.Postgres) {
	s.t.Helper()
	written := s.written(j)
	n := 0
	for _, seqs := range written {
		n += len(seqs)
	}
	require.Positive(s.t, n)
	require.Eventually(s.t, func() bool { // other nodes' facts come without a signal
		var applied int
		return s.pool.QueryRow(s.t.Context(), `SELECT count(*) FROM effects`).Scan(&applied) == nil && applied >= n
	}, within, 5*time.Millisecond)
	require.Equal(s.t, written, s.effects())
}

// write appends n entries of one to three facts to each of the streams.
func write(t testing.TB, scribes []*persisttest.Scribe, n int) {
	t.Helper()
	var verdicts []*persisttest.Verdict
	for i := range n {
		for k, s := range scribes {
			verdicts = append(verdicts, s.Append(1+(i+k)%3))
		}
	}
	for _, v := range verdicts {
		require.NoError(t, v.Wait(t))
	}
}

func scribes(t testing.TB, j journal.Journal, n int) []*persisttest.Scribe {
	t.Helper()
	var all []*persisttest.Scribe
	for i := range n {
		all = append(all, persisttest.NewScribe(t, j, engine.InventoryRef(1, int64(i))))
	}
	return all
}

func TestFollowsInMemory(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	f := s.follower(func(c *follower.Config) { c.Poll = time.Hour })
	j := s.journal("a", f.Offer)
	f.Start(noReads{j})
	streams := scribes(t, j, 20)
	for range 10 {
		write(t, streams, 5)
		s.passed(f)
		require.Equal(t, s.written(j), s.effects())
	}
	require.Zero(t, f.Lag().Batches)
}

// noReads is a journal that must not be read.
type noReads struct{ *journal.Postgres }

func (noReads) Writers(context.Context) ([]journal.Writer, error) { return nil, nil }

// TestCatchesUp starts the follower after the facts, in several lifetimes of
// two nodes that take the streams from each other.
func TestCatchesUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	var last *journal.Postgres
	for life := range 4 {
		j := s.journal([]string{"a", "b"}[life%2], nil)
		write(t, scribes(t, j, 10), 20)
		last = j
	}
	f := s.follower(func(c *follower.Config) { c.MaxBatch = 37 })
	f.Start(last)
	s.caughtUp(last)
	kill(f)

	s.stop(last) // closes its writers
	f = s.follower()
	f.Start(last)
	const open = `SELECT count(*) FROM writers w WHERE NOT EXISTS (
  SELECT FROM followers f WHERE f.name = $1 AND f.writer = w.writer AND f.batch = 9223372036854775807)`
	require.Eventually(t, func() bool {
		var n int
		return s.pool.QueryRow(t.Context(), open, name).Scan(&n) == nil && n == 2
	}, within, 5*time.Millisecond, "of four lifetimes with two lanes each only node a's last is open")
	j := s.journal("b", f.Offer)
	write(t, scribes(t, j, 10), 5)
	s.passed(f)
	s.caughtUp(j)
}

// TestOverflow holds the follower up until its queue has overflowed many times.
func TestOverflow(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	began, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f := s.follower(func(c *follower.Config) {
		c.MaxQueue, c.MaxBatch = 50, 40
		c.Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			once.Do(func() { close(began) })
			<-release
			return note(ctx, tx, batches)
		}
	})
	j := s.journal("a", f.Offer)
	f.Start(j)
	streams := scribes(t, j, 8)
	write(t, streams, 1)
	<-began
	for range 30 {
		write(t, streams, 3)
	}
	require.Positive(t, f.Lag().Batches)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, f.Passed(short), context.DeadlineExceeded)
	close(release)
	s.passed(f)
	require.Equal(t, s.written(j), s.effects())
	write(t, streams, 3)
	s.passed(f)
	require.Equal(t, s.written(j), s.effects())
}

// TestOverflowAtTheEnd drops batches after which none comes.
func TestOverflowAtTheEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	began, release := make(chan struct{}, 10), make(chan struct{})
	f := s.follower(func(c *follower.Config) {
		c.MaxQueue, c.Poll = 1, time.Hour
		c.Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			began <- struct{}{}
			<-release
			return note(ctx, tx, batches)
		}
	})
	j := s.journal("a", f.Offer)
	f.Start(j)
	stream := scribes(t, j, 1)
	write(t, stream, 1)
	<-began
	write(t, stream, 1) // waits in the queue
	write(t, stream, 1) // empties it
	close(release)
	s.passed(f)
	require.Equal(t, s.written(j), s.effects())
}

// TestRivalWriters follows two nodes that take streams from each other, one fed
// in memory and one read.
func TestRivalWriters(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	f := s.follower(func(c *follower.Config) { c.MaxBatch = 200 })
	a, b := s.journal("a", f.Offer), s.journal("b", nil)
	f.Start(a)
	tally := persisttest.Rivalry{
		Nodes: []func() persisttest.Node{
			func() persisttest.Node { return persisttest.Node{Journal: a} },
			func() persisttest.Node { return persisttest.Node{Journal: b} },
		},
		Reader: a, Streams: 6, Events: 2, Writers: 3, For: 2 * time.Second, Seed: 3,
	}.Run(t)
	s.caughtUp(a)
	t.Logf("%+v", tally)
	require.Positive(t, tally.Fenced)
}

// TestOfferedOutOfOrder feeds what a later owner wrote before what it builds on.
func TestOfferedOutOfOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	f := s.follower(func(c *follower.Config) { c.Poll = time.Hour })
	var early persisttest.Batches
	a, b := s.journal("a", early.Sink), s.journal("b", f.Offer)
	f.Start(noReads{a})
	write(t, scribes(t, a, 5), 10)
	write(t, scribes(t, b, 5), 10)
	for _, batch := range early.All() {
		f.Offer(batch)
	}
	s.passed(f)
	require.Equal(t, s.written(a), s.effects())
}

// TestExactlyOnce cuts the follower's connection within transactions, right
// before and right after they commit, and replaces the follower itself.
func TestExactlyOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	var mu sync.Mutex
	calls, cuts := 0, 0
	apply := func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if err := note(ctx, tx, batches); err != nil {
			return err
		}
		if calls%3 != 0 {
			return nil
		}
		cuts++
		if calls%2 == 0 { // from outside: the commit meets a dead connection
			_, err := s.pool.Exec(ctx, `SELECT pg_terminate_backend($1)`, tx.Conn().PgConn().PID())
			return err
		}
		_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
		return err
	}
	var current *follower.Follower
	sink := func(b *journal.Batch) {
		mu.Lock()
		f := current
		mu.Unlock()
		f.Offer(b)
	}
	current = s.follower(func(c *follower.Config) { c.Apply, c.MaxBatch = apply, 30 })
	j := s.journal("a", sink)
	current.Start(j)
	streams := scribes(t, j, 6)
	for range 8 {
		write(t, streams, 20)
		next := s.follower(func(c *follower.Config) { c.Apply, c.MaxBatch = apply, 30 })
		mu.Lock()
		old := current
		current = next
		mu.Unlock()
		kill(old)
		next.Start(j)
	}
	write(t, streams, 1)
	s.passed(current)
	require.Equal(t, s.written(j), s.effects())
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, cuts, 3)
}

// TestTwoCopies runs two at once, which must never be: they hinder each other
// and apply nothing twice.
func TestTwoCopies(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	f, g := s.follower(), s.follower()
	j := s.journal("a", func(b *journal.Batch) {
		f.Offer(b)
		g.Offer(b)
	})
	f.Start(j)
	g.Start(j)
	streams := scribes(t, j, 6)
	for range 20 {
		write(t, streams, 3)
	}
	s.passed(f)
	s.passed(g)
	require.Equal(t, s.written(j), s.effects())
}

func TestGaps(t *testing.T) {
	t.Parallel()
	for what, tear := range map[string]string{
		"a stream's record": `DELETE FROM journal WHERE streams = '{1}' AND firsts = '{3}'`,
		"a writer's batch":  `DELETE FROM journal WHERE streams = '{1}' AND firsts = '{6}'`, // its last
		"a stream's start":  `DELETE FROM journal WHERE streams = '{1}' AND firsts = '{1}'`,
		"a repeated fact":   `UPDATE journal SET firsts = '{2}', lasts = '{2}' WHERE streams = '{1}' AND firsts = '{3}'`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, persisttest.Migrated(t))
			j := s.journal("a", nil)
			streams := scribes(t, j, 4) // two in each lane
			for range 6 {
				for _, st := range streams {
					require.NoError(t, st.Append(1).Wait(t))
				}
			}
			if what == "a repeated fact" {
				_, err := s.pool.Exec(t.Context(), `DELETE FROM journal WHERE streams = '{1}' AND firsts = '{2}'`)
				require.NoError(t, err)
			}
			_, err := s.pool.Exec(t.Context(), tear)
			require.NoError(t, err)
			f := s.follower()
			f.Start(j)
			select {
			case err := <-f.Failed():
				require.ErrorIs(t, err, follower.ErrGap)
			case <-time.After(within):
				require.FailNow(t, "the gap was not noticed")
			}
		})
	}
}

// TestPassedKnowsWhatWasThereBefore starts a follower on a journal that others have written: it has
// not passed before it has applied all of that.
func TestPassedKnowsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	before := s.journal("a", func(*journal.Batch) {})
	for range 3 {
		write(t, scribes(t, before, 5), 7)
	}
	f := s.follower(func(c *follower.Config) { c.MaxBatch = 10 })
	f.Start(s.journal("b", f.Offer))
	s.passed(f)
	require.Equal(t, s.written(before), s.effects())
}

func TestApplyFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	bad := errors.New("can't make sense of this")
	f := s.follower(func(c *follower.Config) {
		c.Apply = func(context.Context, pgx.Tx, []journal.Batch) error { return bad }
	})
	j := s.journal("a", f.Offer)
	f.Start(j)
	v := scribes(t, j, 1)[0].Append(1)
	require.NoError(t, v.Wait(t))
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	require.ErrorIs(t, f.Passed(ctx), follower.ErrStopped)
	require.ErrorIs(t, <-f.Failed(), bad)
	require.True(t, f.Lag().Stopped)
	require.NoError(t, f.Stop(ctx))
	require.Empty(t, s.effects())
}

// TestStopApplies has Stop finish what was offered, and a follower that was
// never started stop too.
func TestStopApplies(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	f := s.follower(func(c *follower.Config) { c.Pace = time.Hour })
	j := s.journal("a", f.Offer)
	f.Start(j)
	streams := scribes(t, j, 3)
	for range 3 {
		write(t, streams, 2)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	require.NoError(t, f.Stop(ctx))
	require.Equal(t, s.written(j), s.effects())
	write(t, streams, 1) // offered to nobody

	idle := s.follower()
	idle.Offer(&journal.Batch{Writer: 1, Seq: 1})
	require.NoError(t, idle.Stop(ctx))
}
