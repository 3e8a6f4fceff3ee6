package quota_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/quota"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// TestCountersOfNodes: what one node has counted the others know once it is in the table, and until
// then they overrun the quota by little; the next day begins with nothing.
func TestCountersOfNodes(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	start := func() *quota.Counter {
		c := quota.Start(quota.Config{Pool: pool, Log: slog.Default(), Full: func() bool { return false }, Scale: 1, Paid: 1 << 40})
		t.Cleanup(func() { require.NoError(t, c.Stop(t.Context())) })
		return c
	}
	const write = 1 << 20
	now := time.Now()
	one, two := start(), start()
	total := func(c *quota.Counter, now time.Time) (n int64) {
		for c.Count(t.Context(), 7, write, now) == nil {
			n += write
			require.Less(t, n, int64(2*quota.Unproven))
		}
		return n
	}
	require.NoError(t, two.Count(t.Context(), 7, write, now))
	first := total(one, now)
	require.InDelta(t, quota.Unproven, first, 2*write)
	var over *quota.Exceeded
	require.ErrorAs(t, one.Count(t.Context(), 7, write, now), &over)
	require.EqualValues(t, quota.Unproven, over.Quota)
	require.LessOrEqual(t, first+write+total(two, now), int64(quota.Unproven+5<<20), "both nodes together")
	require.NoError(t, one.Count(t.Context(), 8, write, now), "another organization")
	one.Note(7, write)

	require.NoError(t, one.Count(t.Context(), 7, write, now.Add(24*time.Hour)))
	unlimited := quota.Start(quota.Config{Pool: pool, Log: slog.Default(), Full: func() bool { return false }})
	require.NoError(t, unlimited.Count(t.Context(), 7, 1<<50, now))
	require.NoError(t, unlimited.Stop(t.Context()))
}
