package wakes_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/wakes"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestTable(t *testing.T) {
	t.Parallel()
	table := wakes.Table{Pool: persisttest.Migrated(t)}
	noon := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	first, second, third := engine.EventRef(1), engine.InventoryRef(1, 11), engine.EventRef(2)
	park := func(ref engine.Ref, at time.Time) {
		t.Helper()
		require.NoError(t, table.Park(t.Context(), ref, at))
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
	requireDue(0, time.Minute, second) // after the one bound, up to the other
	requireDue(-time.Microsecond, time.Minute-time.Microsecond, first)

	park(first, noon.Add(time.Minute)) // another time takes the place of the first
	requireDue(-time.Hour, 0)
	requireDue(0, time.Minute, first, second)

	park(first, time.Time{})
	park(first, time.Time{}) // nothing left to forget
	requireDue(-time.Hour, time.Hour, second, third)
}

// TestClaimNotes requires that an actor which a node has claimed and not parked
// is due at once, whatever was noted before.
func TestClaimNotes(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	table := wakes.Table{Pool: pool}
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "node", Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	})
	fresh, parked, away := engine.EventRef(1), engine.InventoryRef(1, 11), engine.EventRef(2)
	later := time.Now().Add(time.Hour)
	require.NoError(t, table.Park(t.Context(), parked, later))
	for _, ref := range []engine.Ref{fresh, parked, away} {
		_, err := j.Claim(t.Context(), ref)
		require.NoError(t, err)
	}
	require.NoError(t, table.Park(t.Context(), away, time.Time{}))
	due, err := table.Due(t.Context(), time.Unix(0, 0), later.Add(-time.Minute))
	require.NoError(t, err)
	require.ElementsMatch(t, []engine.Ref{fresh, parked}, due)
}

func TestDueRefusesStrangeNames(t *testing.T) {
	t.Parallel()
	table := wakes.Table{Pool: persisttest.Migrated(t)}
	_, err := table.Pool.Exec(t.Context(), `INSERT INTO wakes (name, at) VALUES ('event/one', now())`)
	require.NoError(t, err)
	_, err = table.Due(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour))
	require.ErrorIs(t, err, engine.ErrRef)
}
