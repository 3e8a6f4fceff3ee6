package crowd

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFullOnlyForWantOfProcessors fills a gate beyond its bound with requests that wait for nothing, and
// then takes the processors away.
func TestFullOnlyForWantOfProcessors(t *testing.T) {
	var g Gate
	most := perProcessor * runtime.GOMAXPROCS(0)
	release := spin(t, 32*runtime.GOMAXPROCS(0))
	for range most {
		require.True(t, g.Enter(time.Now()), "below the bound everybody enters, however busy the processors are")
	}
	entered := 0
	require.Eventually(t, func() bool {
		if !g.Enter(time.Now()) {
			return true
		}
		entered++
		return false
	}, time.Minute, lookEvery, "goroutines wait for a processor, and nobody is refused")
	for range entered + 1 {
		g.Leave()
	}
	require.True(t, g.Enter(time.Now()), "a place has come free")
	release()
	require.Eventually(t, func() bool { return g.Enter(time.Now()) }, time.Minute, lookEvery, "the processors are free again")
}

// spin keeps the processors busy until the function that it returns is called.
func spin(t *testing.T, goroutines int) (release func()) {
	t.Helper()
	var over atomic.Bool
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for !over.Load() {
				runtime.Gosched()
				for began := time.Now(); time.Since(began) < time.Millisecond; {
				}
			}
		})
	}
	release = func() {
		over.Store(true)
		all.Wait()
	}
	t.Cleanup(release)
	return release
}

func TestMedianSince(t *testing.T) {
	t.Parallel()
	h := &metrics.Float64Histogram{Buckets: []float64{math.Inf(-1), 0.001, 0.02, 1}, Counts: []uint64{100, 4, 5}}
	for _, test := range []struct {
		before []uint64
		median time.Duration
	}{
		{nil, 0},
		{[]uint64{100, 4, 5}, 0},
		{[]uint64{100, 0, 2}, time.Millisecond},
		{[]uint64{98, 4, 0}, 20 * time.Millisecond},
	} {
		require.Equal(t, test.median, medianSince(h, test.before), "%v", test.before)
	}
}
