package live

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
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

// TestCrowdMakesAPageOnce has a crowd ask at once for what the cache does not have: it is
// made for those who have a place, and the others are given it when their turn comes.
func TestCrowdMakesAPageOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, err := OpenPages(PagesDeps{})
		require.NoError(t, err)
		defer p.Close()
		p.reads = newReadGate(2, 200)
		var made atomic.Int64
		errs := make(chan error, 200)
		for range cap(errs) {
			go func() {
				c := route.NewCall(t.Context(), &route.Op{Method: "GET", Tier: route.TierPublic}, time.Now())
				defer c.End()
				_, err := KeepPage(c.Context, p, 1, "a map", func() (int, error) {
					made.Add(1)
					<-time.After(readWait / 4)
					return 1, nil
				})
				errs <- err
			}()
		}
		for range cap(errs) {
			require.NoError(t, <-errs)
		}
		require.LessOrEqual(t, made.Load(), int64(8))
	})
}

// TestForgottenWhileMade forgets a page while it is being read: the reader gets it, and the next
// reader has it made again, as the organizer's write may have come after the page was read.
func TestForgottenWhileMade(t *testing.T) {
	t.Parallel()
	p, err := OpenPages(PagesDeps{})
	require.NoError(t, err)
	defer p.Close()
	made := 0
	read := func(during func()) int {
		got, err := KeepPage(t.Context(), p, 1, "a page", func() (int, error) {
			made++
			during()
			return made, nil
		})
		require.NoError(t, err)
		p.cache.Wait()
		return got
	}
	require.Equal(t, 1, read(func() { p.Forget("a page") }))
	require.Equal(t, 2, read(func() {}), "what was read before is not shown")
	require.Equal(t, 2, read(func() {}), "and what was read after is")
	p.Forget("a page")
	require.Equal(t, 3, read(func() {}))
}
