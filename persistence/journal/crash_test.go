package journal_test

import (
	"context"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

// ownServer starts a Postgres that the test may crash, with our tables and settings of its own.
func ownServer(t *testing.T, settings map[string]string) (*persisttest.OwnServer, *pgxpool.Pool) {
	t.Helper()
	server := persisttest.StartOwn(t, settings)
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	require.NoError(t, migrate.Up(t.Context(), conn))
	require.NoError(t, conn.Close(t.Context()))
	pool, err := pgxpool.New(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return server, pool
}

// TestPostgresKilled kills every process of the server while two nodes write,
// again and again. Nothing acknowledged may be missing afterwards.
func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	server, pool := ownServer(t, nil)
	patient := func(c *journal.Config) { c.FailAfter = time.Minute }
	a, b := open(t, pool, "a", patient), open(t, pool, "b", patient)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	kills := 0
	kill := func() {
		server.Signal(syscall.SIGKILL)
		kills++
	}
	wg.Go(func() {
		for awaitBatches(ctx, a, 40) && awaitBatches(ctx, b, 40) {
			kill()
		}
	})
	tally := persisttest.Rivalry{
		Nodes: []func() persisttest.Node{
			func() persisttest.Node { return persisttest.Node{Journal: a} },
			func() persisttest.Node { return persisttest.Node{Journal: b} },
		},
		Reader: a, Streams: 8, Events: 2, Writers: 4, For: 6 * time.Second, Seed: 5,
		Ended: func() { // once more, after the last entry
			cancel()
			wg.Wait()
			kill()
			pool.Reset()
			require.Eventually(t, func() bool { return pool.Ping(t.Context()) == nil }, failWithin, 5*time.Millisecond)
		},
	}.Run(t)
	t.Logf("%d crashes, %+v, %d attempts sent again", kills, tally, a.Stats().Retries+b.Stats().Retries)
	require.Greater(t, kills, 1)
	require.Positive(t, tally.Acked)
	require.Zero(t, tally.Unknown, "no node gave up")
}

// awaitBatches waits until n more batches have committed.
func awaitBatches(ctx context.Context, j *journal.Postgres, n int64) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for until := j.Stats().Batches + n; j.Stats().Batches < until; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func TestOpenRefusesAnUnsafeServer(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]string{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			settings := map[string]string{"fsync": "on"}
			settings[setting] = value
			_, pool := ownServer(t, settings)
			_, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "a", Log: slog.New(slog.DiscardHandler)})
			require.ErrorIs(t, err, journal.ErrUnsafe)
			require.ErrorContains(t, err, setting)
			j := open(t, pool, "a", func(c *journal.Config) { c.AllowUnsafe = true })
			require.NoError(t, persisttest.NewScribe(t, j, engine.EventRef(1)).Append(1).Wait(t))
		})
	}
}

// A commit that did not reach the standby it should have waited for counts as
// unknown, though the server reports success.
func TestCommitOnOneMachineOnly(t *testing.T) {
	t.Parallel()
	_, pool := ownServer(t, nil)
	j := open(t, pool, "a", func(c *journal.Config) { c.Lanes, c.FailAfter = 1, time.Minute })
	s := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, s.Append(1).Wait(t))
	waiting := func() (n int) {
		const lanes = `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'boxoffice journal%'`
		require.NoError(t, pool.QueryRow(t.Context(), lanes).Scan(&n))
		return n
	}
	standby := func(name string) {
		t.Helper()
		_, err := pool.Exec(t.Context(), `ALTER SYSTEM SET synchronous_standby_names = '`+name+`'`)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), `SELECT pg_reload_conf()`)
		require.NoError(t, err)
	}
	standby("nobody")
	// Commits wait from when the checkpointer has read that, whatever the session that
	// asks has.
	var v *persisttest.Verdict
	require.Eventually(t, func() bool {
		if j.Backlog() == 0 {
			v = s.Append(1)
		}
		return waiting() == 1
	}, failWithin, 5*time.Millisecond)
	for n := range int64(2) {
		_, err := pool.Exec(t.Context(), `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return j.Stats().Retries > n && waiting() == 1 }, failWithin, 5*time.Millisecond)
	}
	require.Equal(t, 1, j.Backlog(), "settled without the standby")
	standby("")
	require.NoError(t, v.Wait(t))
	require.Equal(t, persisttest.Tokens(1, 1, s.Next-1), persisttest.LoadTokens(t, j, s.Claim.Stream, 0))
}
