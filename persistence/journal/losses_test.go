package journal_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/wakes"
)

func oneLane(c *journal.Config) { c.Lanes = 1 }

// lossesOf is how many streams the node's one writer has lost.
func lossesOf(t *testing.T, pool *pgxpool.Pool, node string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT losses FROM writers WHERE node = $1`, node).Scan(&n))
	return n
}

// A claim counts as a loss of the writer that has the stream, unless that one has let
// go of it or is closed. What was lost is fenced, and nothing else.
func TestLosses(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	table := wakes.New(pool)
	a, b := open(t, pool, "a", oneLane), open(t, pool, "b", oneLane)
	requireLosses := func(ofA, ofB int) {
		t.Helper()
		require.Equal(t, [2]int{ofA, ofB}, [2]int{lossesOf(t, pool, "a"), lossesOf(t, pool, "b")})
	}
	stays := persisttest.NewScribe(t, a, engine.EventRef(2))
	first := persisttest.NewScribe(t, a, engine.EventRef(1))
	require.NoError(t, first.Append(1).Wait(t))
	require.NoError(t, stays.Append(1).Wait(t))
	requireLosses(0, 0)

	stolen := persisttest.NewScribe(t, b, first.Ref)
	requireLosses(1, 0)
	require.ErrorIs(t, first.Append(1).Wait(t), journal.ErrFenced)
	require.NoError(t, stays.Append(1).Wait(t))
	require.NoError(t, stolen.Append(1).Wait(t))

	require.NoError(t, table.Park(t.Context(), first.Ref, first.Claim, time.Time{})) // it is not his
	require.NoError(t, table.Park(t.Context(), stolen.Ref, stolen.Claim, time.Time{}))
	back := persisttest.NewScribe(t, a, first.Ref)
	requireLosses(1, 0)
	require.NoError(t, back.Append(1).Wait(t))

	anew := persisttest.NewScribe(t, a, first.Ref) // on the same node
	requireLosses(2, 0)
	require.ErrorIs(t, back.Append(1).Wait(t), journal.ErrFenced)
	require.NoError(t, anew.Append(1).Wait(t))

	writers, err := b.Writers(t.Context())
	require.NoError(t, err)
	for _, w := range writers {
		if w.Node == "a" {
			require.NoError(t, b.CloseWriter(t.Context(), w.ID))
		}
	}
	heir := persisttest.NewScribe(t, b, first.Ref)
	requireLosses(2, 0)
	require.NoError(t, heir.Append(1).Wait(t))
	require.ErrorIs(t, anew.Append(1).Wait(t), journal.ErrFenced)
	require.Len(t, persisttest.LoadTokens(t, b, first.Claim.Stream, 0), 5)
}

// An append waits for a claim that has not been committed, and is fenced by it: also by
// one of the release before, which knows of no writers. One that is taken back fences
// nothing.
func TestAppendWaitsForClaims(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, t.Name(), oneLane)
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, s.Append(1).Wait(t))
	claimed := func(commits bool) error {
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }() // when a requirement fails
		_, err = tx.Exec(t.Context(), `UPDATE streams SET epoch = epoch + 1 WHERE stream_id = $1`, s.Claim.Stream)
		require.NoError(t, err)
		v := s.Append(1)
		const waits = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'boxoffice journal ' || $1`
		require.Eventually(t, func() bool {
			var n int
			require.NoError(t, pool.QueryRow(t.Context(), waits, t.Name()).Scan(&n))
			return n > 0
		}, failWithin, 5*time.Millisecond)
		require.Equal(t, 1, j.Backlog())
		if commits {
			require.NoError(t, tx.Commit(t.Context()))
		} else {
			require.NoError(t, tx.Rollback(t.Context()))
		}
		return v.Wait(t)
	}
	require.NoError(t, claimed(false))
	require.ErrorIs(t, claimed(true), journal.ErrFenced)
}

// A server that came back with all batches but without the last claims, or without what
// they cost others, has two nodes hold a stream, under one epoch even. Only the one that
// it knows of may write.
func TestServerForgotClaims(t *testing.T) {
	t.Parallel()
	const back = `UPDATE streams SET epoch = 1, writer = NULL WHERE name = $1`
	for name, test := range map[string]struct {
		forgets string
		losses  int // that it keeps
	}{
		"a stream":            {`DELETE FROM streams WHERE name = $1`, 1},
		"an epoch":            {back, 1},
		"an epoch and a loss": {back, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := persisttest.Migrated(t)
			node := t.Name()
			a, b := open(t, pool, node, oneLane), open(t, pool, "b", oneLane)
			stays := persisttest.NewScribe(t, a, engine.EventRef(1))
			ref := engine.InventoryRef(1, 2)
			first := persisttest.NewScribe(t, b, ref)
			require.NoError(t, first.Append(1).Wait(t))
			require.NoError(t, wakes.New(pool).Park(t.Context(), ref, first.Claim, time.Time{}))
			require.NoError(t, stays.Append(1).Wait(t)) // the lane's last batch, which the server keeps
			taken := persisttest.NewScribe(t, a, engine.InventoryRef(1, 3))
			persisttest.NewScribe(t, b, taken.Ref) // a loss, of which the lane does not hear

			former := persisttest.NewScribe(t, a, ref)
			_, err := pool.Exec(t.Context(), test.forgets, ref.Name())
			require.NoError(t, err)
			_, err = pool.Exec(t.Context(), `UPDATE writers SET losses = $1 WHERE node = $2`, test.losses, node)
			require.NoError(t, err)
			endLanes(t, pool, node)
			heir := persisttest.NewScribe(t, b, ref)
			require.NoError(t, heir.Append(1).Wait(t))
			require.NoError(t, stays.Append(1).Wait(t))
			require.ErrorIs(t, former.Append(1).Wait(t), journal.ErrFenced)
			require.NoError(t, stays.Append(1).Wait(t))
			require.NoError(t, heir.Append(1).Wait(t))
		})
	}
}
