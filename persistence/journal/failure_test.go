package journal_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

const failWithin = time.Minute

func requireFailed(t *testing.T, j *journal.Postgres, want error) {
	t.Helper()
	select {
	case err := <-j.Failed():
		require.ErrorIs(t, err, want)
	case <-time.After(failWithin):
		require.FailNow(t, "the journal did not fail")
	}
}

func impatient(c *journal.Config) { c.FailAfter = 700 * time.Millisecond }

// A lane that reaches no server gives up after FailAfter: the node must exit.
func TestFailsWhenTheServerIsAway(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	p := newProxy(t, pool.Config().ConnConfig, func() (cut, time.Duration) { return noCut, 0 })
	j := open(t, pool, "a", impatient, func(c *journal.Config) { c.Lane = p.lane(pool) })
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, s.Append(1).Wait(t))
	p.close()
	began := time.Now()
	v := s.Append(1)
	requireFailed(t, j, journal.ErrStalled)
	require.GreaterOrEqual(t, time.Since(began), 700*time.Millisecond)
	require.ErrorIs(t, v.Wait(t), journal.ErrClosed)
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrClosed)
	_, err := j.Claim(t.Context(), s.Ref)
	require.ErrorIs(t, err, journal.ErrClosed)
	require.Zero(t, j.Backlog())
}

// The same when the server takes the append and never answers.
func TestFailsWhenTheServerIsSilent(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var silent atomic.Bool
	over := make(chan struct{})
	p := newProxy(t, pool.Config().ConnConfig, func() (cut, time.Duration) {
		if silent.Load() {
			<-over
		}
		return noCut, 0
	})
	t.Cleanup(func() { close(over) })
	j := open(t, pool, "a", impatient, func(c *journal.Config) { c.Lane = p.lane(pool) })
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, s.Append(1).Wait(t))
	silent.Store(true)
	v := s.Append(1)
	require.Eventually(t, func() bool { return j.Waiting() > 100*time.Millisecond }, failWithin, 10*time.Millisecond)
	require.Equal(t, 1, j.Backlog())
	requireFailed(t, j, journal.ErrStalled)
	require.ErrorIs(t, v.Wait(t), journal.ErrClosed)
}

// Stop gives up what it cannot flush when its context ends.
func TestStopInAHurry(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	p := newProxy(t, pool.Config().ConnConfig, func() (cut, time.Duration) { return noCut, 0 })
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Lane: p.lane(pool), Node: "a", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true})
	require.NoError(t, err)
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	p.close()
	v := s.Append(1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, j.Stop(ctx), context.DeadlineExceeded)
	require.ErrorIs(t, v.Wait(t), journal.ErrClosed)
}

// endLanes ends the sessions of the lanes on the pool's schema. Lanes bear their
// node's name.
func endLanes(t *testing.T, pool *pgxpool.Pool, node string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'boxoffice journal ' || $1`, node)
	require.NoError(t, err)
}

func TestLaneOutlivesItsSession(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, t.Name())
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	for range 3 {
		require.NoError(t, s.Append(1).Wait(t))
		endLanes(t, pool, t.Name())
	}
	require.NoError(t, s.Append(1).Wait(t))
	require.Equal(t, persisttest.Tokens(1, 1, 4), persisttest.LoadTokens(t, j, s.Claim.Stream, 0))
}

// A node that stops in order leaves no writer open, though its lane's connection has
// died since the last batch: its next lifetime may have another name.
func TestStopAfterACut(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, t.Name(), oneLane)
	require.NoError(t, persisttest.NewScribe(t, j, engine.EventRef(1)).Append(1).Wait(t))
	endLanes(t, pool, t.Name())
	require.NoError(t, j.Stop(t.Context()))
	writers, err := j.Writers(t.Context())
	require.NoError(t, err)
	require.Len(t, writers, 1)
	require.True(t, writers[0].Closed)
}

// What follows a refused entry is refused, too, though the lane has forgotten the streams
// that it knew.
func TestRefusalIsNotForgotten(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, "a", oneLane)
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	const unknown = 1_000_000_000 // streams
	for i := range int64(journal.MaxStreams) {
		j.Append(&journal.Entry{Ref: s.Ref, Claim: journal.Claim{Stream: unknown + i, Epoch: 1}, Owner: nobody{}}) // a barrier: nothing is sent
	}
	require.ErrorIs(t, s.AppendNeeding(1, journal.Claim{Stream: unknown - 1, Epoch: 1}).Wait(t), journal.ErrFenced)
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrFenced)
	require.Zero(t, count(t, pool, `SELECT count(*) FROM records`))
}

type nobody struct{}

// Settled does nothing.
func (nobody) Settled(error) {}

// A server that comes back without what it acknowledged must not be served from.
func TestFailsWhenTheServerForgot(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, t.Name())
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	for range 3 {
		require.NoError(t, s.Append(1).Wait(t))
	}
	_, err := pool.Exec(t.Context(), `DELETE FROM journal WHERE lasts = '{3}'`)
	require.NoError(t, err)
	endLanes(t, pool, t.Name())
	v := s.Append(1)
	requireFailed(t, j, journal.ErrLost)
	require.ErrorIs(t, v.Wait(t), journal.ErrClosed)
}

// Facts that stand where our lane wants to write mean a broken invariant.
func TestFailsOnConflict(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, "a")
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, s.Append(1).Wait(t))
	_, err := pool.Exec(t.Context(), `UPDATE journal SET batch = 2`)
	require.NoError(t, err)
	v := s.Append(1)
	requireFailed(t, j, journal.ErrConflict)
	require.ErrorIs(t, v.Wait(t), journal.ErrClosed)
}

// Whoever closes a node's writer takes the node for dead: it must be.
func TestFailsWhenItsWriterIsClosed(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j, other := open(t, pool, "a"), open(t, pool, "b")
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, s.Append(1).Wait(t))
	writers, err := other.Writers(t.Context())
	require.NoError(t, err)
	for _, w := range writers {
		require.False(t, w.Closed)
		if w.Node == "a" {
			require.NoError(t, other.CloseWriter(t.Context(), w.ID))
		}
	}
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrFenced)
	requireFailed(t, j, journal.ErrWriterClosed)
	require.Error(t, s.Append(1).Wait(t))
	require.Len(t, persisttest.LoadTokens(t, other, s.Claim.Stream, 0), 1)
}

// A second process under a node's name fences the first.
func TestOpenFencesEarlierLifetimes(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	first := open(t, pool, "a")
	s := persisttest.NewScribe(t, first, engine.EventRef(1))
	second := open(t, pool, "a")
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrFenced)
	require.NoError(t, persisttest.NewScribe(t, second, s.Ref).Append(1).Wait(t))
}
