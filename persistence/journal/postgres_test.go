package journal_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// open starts a node's journal on the pool, stopped when the test ends.
func open(t testing.TB, pool *pgxpool.Pool, node string, change ...func(*journal.Config)) *journal.Postgres {
	t.Helper()
	cfg := journal.Config{Pool: pool, Node: node, Log: slog.New(slog.DiscardHandler), AllowUnsafe: true}
	for _, c := range change {
		c(&cfg)
	}
	j, err := journal.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	})
	return j
}

func TestPostgresJournal(t *testing.T) {
	t.Parallel()
	for name, pool := range map[string]func(testing.TB) *pgxpool.Pool{"at home": persisttest.Migrated, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			persisttest.Journal(t, func(t *testing.T) persisttest.Fixture {
				pool, batches := pool(t), &persisttest.Batches{}
				own := open(t, pool, "own", func(c *journal.Config) {
					c.Sink = batches.Sink
					c.Lanes = 1 // one order over all streams
				})
				return persisttest.Fixture{Journal: own, Rival: open(t, pool, "rival"), Stop: own.Stop, Batches: batches.All}
			})
		})
	}
}

// openShards starts a node's journal over shards, stopped when the test ends.
func openShards(t testing.TB, shards []journal.Shard, node string, change ...func(*journal.Config)) *journal.Shards {
	t.Helper()
	cfg := journal.Config{Node: node, Log: slog.New(slog.DiscardHandler), AllowUnsafe: true}
	for _, c := range change {
		c(&cfg)
	}
	j, err := journal.OpenShards(t.Context(), cfg, shards)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	})
	return j
}

// apart is a database with a journal and nothing else.
func apart(t testing.TB) *pgxpool.Pool {
	_, pool := persisttest.Apart(t)
	return pool
}
