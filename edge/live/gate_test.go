package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

// TestReadGate fills a gate of two places and three that wait.
func TestReadGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newReadGate(2, 3)
		var leave []func()
		for range 2 {
			one, err := g.enter(t.Context())
			require.NoError(t, err)
			leave = append(leave, one)
		}
		began := time.Now()
		enter := func(ctx context.Context) <-chan error {
			done := make(chan error, 1)
			go func() {
				out, err := g.enter(ctx)
				if err == nil {
					out()
				}
				done <- err
			}()
			synctest.Wait()
			return done
		}
		gone, cancel := context.WithCancel(t.Context())
		first, second, third := enter(t.Context()), enter(gone), enter(t.Context())
		refused := func(err error) {
			t.Helper()
			r, ok := err.(*engine.Refusal) //nolint:errorlint // it is told as it is
			require.True(t, ok, "%v", err)
			require.Equal(t, engine.Overloaded, r.Code)
		}
		refused(<-enter(t.Context()))
		require.Zero(t, time.Since(began), "one more does not wait")
		cancel()
		require.ErrorIs(t, <-second, context.Canceled)
		leave[0]()
		synctest.Wait()
		require.NoError(t, <-first, "the place of one who leaves")
		require.NoError(t, <-third)
		one, err := g.enter(t.Context())
		require.NoError(t, err)
		late := enter(t.Context())
		refused(<-late)
		require.Equal(t, readWait, time.Since(began))
		one()
		leave[1]()
		require.Empty(t, g.places)
		require.Empty(t, g.waiting)
	})
}
