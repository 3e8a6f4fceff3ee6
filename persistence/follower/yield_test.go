package follower_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// TestYields has a follower rest for hours unless it is let go: when the node is
// not busy any more, when somebody waits, and when it stops.
func TestYields(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	var busy atomic.Bool
	looks := make(chan struct{})
	f := s.follower(func(c *follower.Config) {
		c.Yield = 1 << 30
		c.Busy = func() bool {
			select {
			case looks <- struct{}{}:
			default:
			}
			return busy.Load()
		}
	})
	rests := func() {
		t.Helper()
		for range 3 {
			select {
			case <-looks:
			case <-time.After(within):
				require.FailNow(t, "it does not rest")
			}
		}
	}
	busy.Store(true)
	j := s.journal("a", f.Offer)
	f.Start(j)
	streams := scribes(t, j, 2)
	write(t, streams, 1)
	rests()
	before := s.effects()
	write(t, streams, 1)
	rests()
	require.Equal(t, before, s.effects())
	require.Positive(t, f.Lag().Batches)

	busy.Store(false)
	s.caughtUp(j)
	busy.Store(true)
	write(t, streams, 1)
	rests()
	write(t, streams, 1)
	s.passed(f)
	require.Equal(t, s.written(j), s.effects())
	rests()
	write(t, streams, 1)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	require.NoError(t, f.Stop(ctx))
	require.Equal(t, s.written(j), s.effects())
}

// TestBusyBatch: what a follower takes in at once is little while the node is busy.
func TestBusyBatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	j := s.journal("a", nil)
	streams := scribes(t, j, 1)
	for range 10 { // a batch each
		write(t, streams, 1)
	}
	most := func(busy bool) int {
		var most int
		f := s.follower(func(c *follower.Config) {
			c.Yield, c.BusyBatch, c.Busy = 1, 1, func() bool { return busy }
			c.Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
				most = max(most, len(batches))
				return note(ctx, tx, batches)
			}
		})
		f.Start(j)
		s.caughtUp(j)
		kill(f)
		return most
	}
	require.Equal(t, 1, most(true))
	for _, table := range []string{"effects", "followers"} {
		_, err := s.pool.Exec(t.Context(), `TRUNCATE `+table)
		require.NoError(t, err)
	}
	require.Equal(t, 10, most(false))
}
