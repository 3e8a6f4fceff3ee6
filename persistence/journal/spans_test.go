package journal_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// count asks for one number.
func count(t *testing.T, pool *pgxpool.Pool, query string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&n))
	return n
}

// A stream is read whole wherever its records are: in spans of several writers, in the
// tail of a live one and of a dead one, and beside others that do the indexing.
func TestSpans(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	a, b := open(t, pool, "a", oneLane), open(t, pool, "b", oneLane)
	var scribes []*persisttest.Scribe
	for i := range int64(3) {
		scribes = append(scribes, persisttest.NewScribe(t, a, engine.InventoryRef(1, i)))
	}
	moved := scribes[0].Claim.Stream
	write := func() {
		t.Helper()
		var verdicts []*persisttest.Verdict
		for range 5 {
			for _, s := range scribes {
				verdicts = append(verdicts, s.Append(2))
			}
		}
		for _, v := range verdicts {
			require.NoError(t, v.Wait(t))
		}
	}
	var epochs []int32 // of the moved stream's facts, ten of each
	requireWhole := func() {
		t.Helper()
		for after := range int64(len(epochs)*10 + 1) {
			var want []uint64
			for seq := after + 1; seq <= int64(len(epochs)*10); seq++ {
				want = append(want, persisttest.Tokens(epochs[(seq-1)/10], seq, seq)...)
			}
			got := tokensAfter(t, a, moved, after)
			require.Equal(t, want, got, "after %d", after)
		}
		for s, err := range a.Streams(t.Context()) {
			require.NoError(t, err)
			require.EqualValues(t, len(epochs)*10, s.Head)
		}
	}
	for range 3 {
		write()
		epochs = append(epochs, scribes[0].Claim.Epoch)
		requireWhole()
		require.NoError(t, a.IndexTails(t.Context()))
		require.Zero(t, count(t, pool, `SELECT count(*) FROM journal j JOIN tails t ON t.writer = j.writer AND j.batch > t.batch`))
		requireWhole()
	}
	scribes[0] = persisttest.NewScribe(t, b, scribes[0].Ref)
	write() // in two tails
	epochs = append(epochs, scribes[0].Claim.Epoch)
	requireWhole()

	for _, w := range writersOf(t, a, "b") {
		require.NoError(t, a.CloseWriter(t.Context(), w))
	}
	var both sync.WaitGroup
	var errs [2]error
	for i, j := range []*journal.Postgres{a, b} {
		both.Go(func() { errs[i] = j.IndexTails(t.Context()) })
	}
	both.Wait()
	require.NoError(t, errors.Join(errs[:]...))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM tails`), "b's is in the spans, and its row gone")
	require.Zero(t, count(t, pool, `SELECT count(*) FROM (SELECT writer, unnest(batches), stream_id FROM spans GROUP BY 1, 2, 3 HAVING count(*) > 1) twice`))
	requireWhole()
}

// Whoever keeps the spans from being written is seen, also one who is not waited for.
func TestUnindexed(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]string{"table": `LOCK TABLE tails`, "row": `SELECT FROM tails FOR UPDATE`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := persisttest.Migrated(t)
			j := open(t, pool, "a", oneLane)
			require.Less(t, j.Unindexed(), time.Minute)
			hold, err := pool.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = hold.Rollback(context.WithoutCancel(t.Context())) }() // when a requirement fails
			_, err = hold.Exec(t.Context(), lock)
			require.NoError(t, err)
			within := func(ok func(time.Duration) bool) {
				t.Helper()
				require.Eventually(t, func() bool { return ok(j.Unindexed()) }, failWithin, 10*time.Millisecond)
			}
			within(func(d time.Duration) bool { return d > 2*time.Second })
			require.NoError(t, hold.Rollback(t.Context()))
			within(func(d time.Duration) bool { return d < time.Second })
		})
	}
}

// A writer whose facts do not go into the spans holds up no other, and no node's start.
func TestIndexGoesOn(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	a, b := open(t, pool, "a", oneLane), open(t, pool, "b", oneLane)
	bad, good := persisttest.NewScribe(t, a, engine.EventRef(1)), persisttest.NewScribe(t, b, engine.EventRef(2))
	_, err := pool.Exec(t.Context(), `
INSERT INTO spans (stream_id, first_seq, last_seq, writer, day, batches) VALUES ($1, 1, 1, 1000, '2026-01-01', '{1}')`, bad.Claim.Stream)
	require.NoError(t, err)
	require.NoError(t, bad.Append(1).Wait(t))
	require.NoError(t, good.Append(1).Wait(t))
	for _, node := range []string{"a", "b"} {
		for _, w := range writersOf(t, a, node) {
			require.NoError(t, a.CloseWriter(t.Context(), w))
		}
	}
	c := open(t, pool, "c", oneLane)
	require.ErrorContains(t, c.IndexTails(t.Context()), "index writer")
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM tails t JOIN writers w USING (writer) WHERE w.closed_at IS NOT NULL`))
	require.Len(t, persisttest.LoadTokens(t, c, bad.Claim.Stream, 0), 1)
	require.NoError(t, persisttest.NewScribe(t, c, bad.Ref).Append(1).Wait(t))
}

func writersOf(t *testing.T, j *journal.Postgres, node string) (ids []int32) {
	t.Helper()
	writers, err := j.Writers(t.Context())
	require.NoError(t, err)
	for _, w := range writers {
		if w.Node == node {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// tokensAfter reads the tokens of a stream behind a seq, also of a record that began
// before it.
func tokensAfter(t *testing.T, j journal.Journal, stream, after int64) []uint64 {
	t.Helper()
	for r, err := range j.Load(t.Context(), stream, after) {
		require.NoError(t, err)
		all := persisttest.LoadTokens(t, j, stream, r.First-1)
		if len(all) == 0 {
			return nil
		}
		return all[after-r.First+1:]
	}
	return nil
}
