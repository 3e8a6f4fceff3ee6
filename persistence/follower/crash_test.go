package follower_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

// TestPostgresKilled kills every process of the server while the follower is at
// work. The server forgets the last transactions of the follower, which do not
// wait for the disk, and not the journal's.
func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server := persisttest.StartOwn(t, map[string]string{"wal_writer_delay": "10s"})
	conn, err := pgx.Connect(ctx, server.URL())
	require.NoError(t, err)
	require.NoError(t, migrate.Up(ctx, conn))
	require.NoError(t, conn.Close(ctx))
	pool, err := pgxpool.New(ctx, server.URL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	s := newStage(t, pool)
	f := s.follower(func(c *follower.Config) { c.MaxBatch = 50 })
	j := s.journal("a", f.Offer)
	f.Start(j)
	streams := scribes(t, j, 6)
	for range 3 {
		write(t, streams, 40)
		s.passed(f)
		server.Signal(syscall.SIGKILL)
		write(t, streams, 10)
		s.passed(f)
		s.caughtUp(j)
	}
}
