package wakes_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/wakes"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestTable(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	table := wakes.New(pool)
	j := opened(t, pool)
	noon := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	first, second, third := engine.EventRef(1), engine.InventoryRef(1, 11), engine.EventRef(2)
	claims := make(map[engine.Ref]journal.Claim)
	for _, ref := range []engine.Ref{first, second, third} {
		var err error
		claims[ref], err = j.Claim(t.Context(), ref)
		require.NoError(t, err)
	}
	_, err := pool.Exec(t.Context(), `TRUNCATE wakes`)
	require.NoError(t, err)
	park := func(ref engine.Ref, at time.Time) {
		t.Helper()
		require.NoError(t, table.Park(t.Context(), ref, claims[ref], at))
	}
	requireDue := func(after, until time.Duration, want ...engine.Ref) {
		t.Helper()
		due, err := table.Due(t.Context(), noon.Add(after), noon.Add(until))
		require.NoError(t, err)
		require.ElementsMatch(t, want, due)
	}
	requireDue(-time.Hour, time.Hour)

	park(first, noon)
	park(second, noon.Add(time.Minute))
	park(third, noon.Add(2*time.Minute))
	requireDue(-time.Hour, time.Hour, first, second, third)
	requireDue(0, time.Minute, second) // later than the one bound, up to the other
	requireDue(-time.Microsecond, time.Minute-time.Microsecond, first)

	park(first, noon.Add(time.Minute)) // a new time replaces the old one
	requireDue(-time.Hour, 0)
	requireDue(0, time.Minute, first, second)

	park(first, time.Time{})
	park(first, time.Time{}) // nothing left to forget
	requireDue(-time.Hour, time.Hour, second, third)

	_, err = j.Claim(t.Context(), second) // another activation has claimed it, and thereby noted that it is alive
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `UPDATE wakes SET at = $1 WHERE name = $2`, noon, second.Name())
	require.NoError(t, err)
	park(second, time.Time{})
	park(second, noon.Add(time.Hour))
	requireDue(-time.Hour, 0, second)
}

// opened returns the journal of a node, which is stopped when the test ends.
func opened(t *testing.T, pool *pgxpool.Pool) *journal.Postgres {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "node", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	})
	return j
}

// TestClaimNotes makes sure that an actor that a node has claimed and not parked is due at once,
// whatever was noted before.
func TestClaimNotes(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	table := wakes.New(pool)
	j := opened(t, pool)
	fresh, parked, away := engine.EventRef(1), engine.InventoryRef(1, 11), engine.EventRef(2)
	later := time.Now().Add(time.Hour)
	claims := make(map[engine.Ref]journal.Claim)
	for _, ref := range []engine.Ref{fresh, parked, away} {
		var err error
		claims[ref], err = j.Claim(t.Context(), ref)
		require.NoError(t, err)
	}
	require.NoError(t, table.Park(t.Context(), parked, claims[parked], later))
	_, err := j.Claim(t.Context(), parked)
	require.NoError(t, err)
	require.NoError(t, table.Park(t.Context(), away, claims[away], time.Time{}))
	due, err := table.Due(t.Context(), time.Unix(0, 0), later.Add(-time.Minute))
	require.NoError(t, err)
	require.ElementsMatch(t, []engine.Ref{fresh, parked}, due)
}

func TestDueRefusesStrangeNames(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	table := wakes.New(pool)
	_, err := pool.Exec(t.Context(), `INSERT INTO wakes (name, at) VALUES ('event/one', now())`)
	require.NoError(t, err)
	_, err = table.Due(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour))
	require.ErrorIs(t, err, engine.ErrRef)
}
