package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCollectAtRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Bool
		var waste, live atomic.Uint64
		var collections atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		go collectAtRest(ctx, busy.Load,
			func() (uint64, uint64) { return waste.Load(), live.Load() },
			func() {
				collections.Add(1)
				waste.Store(0)
			})
		for _, then := range []struct {
			name        string
			busy        bool
			waste, live uint64
			collections int64
		}{
			{"nothing to collect", false, worthCollecting - 1, 0, 0},
			{"a rush", true, 100 * worthCollecting, worthCollecting, 0},
			{"after it", false, 100 * worthCollecting, worthCollecting, 1},
			{"and then no more", false, 0, worthCollecting, 1},
			{"little beside what lives", false, 10 * worthCollecting, 30 * worthCollecting, 1},
		} {
			busy.Store(then.busy)
			waste.Store(then.waste)
			live.Store(then.live)
			<-time.After(time.Minute)
			synctest.Wait()
			require.Equal(t, then.collections, collections.Load(), then.name)
		}
		busy.Store(true)
		waste.Store(100 * worthCollecting)
		for range 100 { // pauses of a rush are no rest
			<-time.After(restTick)
			synctest.Wait()
			busy.Store(!busy.Load())
		}
		require.Equal(t, int64(1), collections.Load())
		cancel()
		synctest.Wait()
	})
}

// TestGarbage takes memory: whether it is garbage, the next collection tells.
func TestGarbage(t *testing.T) { //nolint:paralleltest // others make some too
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	before, _ := garbage()
	some := make([]byte, 1<<28)
	after, live := garbage()
	runtime.KeepAlive(some)
	require.Greater(t, after, before+1<<27)
	require.NotZero(t, live)
}
