// Package crowd turns requests away early while a node has more of them than its processors can do.
//
// An order that waits for Postgres costs nothing while it waits, and thousands may. An order that waits
// for a processor makes everybody wait, because what has begun needs the processors too. Without a bound
// the node of a rush then spends its time on requests that are refused in the end, each at nearly the
// price of an order. A Gate refuses them before anything of them was read.
package crowd

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// perProcessor is how many requests of a gate are handled at a time, whatever else goes on. They
	// are several times those of a node at its peak, so that most of them wait for Postgres.
	perProcessor = 512
	// longWait is how long half of the goroutines wait for a processor where there are too few. At the
	// peak it is a few milliseconds.
	longWait = 10 * time.Millisecond
	// lookEvery is how often the waits are looked at. It is much shorter than what a client notices.
	lookEvery = 20 * time.Millisecond
	// stale is the age at which waits say nothing of the present.
	stale = time.Second
)

// A Gate admits the requests that begin a purchase. Requests that go on with one do not pass through it,
// so that what was begun can be ended. The zero Gate is ready. A Gate starts no goroutine.
type Gate struct {
	inside atomic.Int64 // requests that have entered and not left
	looked atomic.Int64 // when the waits were looked at last, in Unix nanoseconds
	full   atomic.Bool  // whether goroutines waited long then

	mu    sync.Mutex // held by the one request that looks
	waits waits
}

// Enter reports whether a request that comes now may be handled. If so, Leave follows.
func (g *Gate) Enter(now time.Time) bool {
	if g.inside.Add(1) > int64(perProcessor*runtime.GOMAXPROCS(0)) && g.isFull(now) {
		g.inside.Add(-1)
		return false
	}
	return true
}

// Leave ends a request that has entered.
func (g *Gate) Leave() { g.inside.Add(-1) }

// isFull reports whether goroutines wait long for a processor. It is asked only while there are many
// requests, so that a node at ease pays nothing for it; the first look of a rush only begins the count.
func (g *Gate) isFull(now time.Time) bool {
	age := time.Duration(now.UnixNano() - g.looked.Load())
	if age < lookEvery || !g.mu.TryLock() {
		return g.full.Load()
	}
	defer g.mu.Unlock()
	median := g.waits.readMedian()
	g.full.Store(age < stale && median > longWait)
	g.looked.Store(now.UnixNano())
	return g.full.Load()
}

// waits are the times for which goroutines that could run waited for a processor, as the runtime samples
// them (runtime/metrics, /sched/latencies:seconds).
type waits struct {
	sample [1]metrics.Sample
	before []uint64 // the counts of the last reading
}

// readMedian returns the median of the waits since the last reading.
func (w *waits) readMedian() time.Duration {
	w.sample[0].Name = "/sched/latencies:seconds"
	metrics.Read(w.sample[:])
	h := w.sample[0].Value.Float64Histogram()
	median := medianSince(h, w.before)
	w.before = append(w.before[:0], h.Counts...)
	return median
}

// medianSince returns the lower border of the bucket with the median of what a histogram counts beyond
// the counts of before, or 0 if that is nothing.
func medianSince(h *metrics.Float64Histogram, before []uint64) time.Duration {
	counts := slices.Clone(h.Counts)
	var all, sum uint64
	for i := range counts {
		if i < len(before) {
			counts[i] -= before[i]
		}
		all += counts[i]
	}
	for i, n := range counts {
		if sum += n; 2*sum >= all && all > 0 {
			return time.Duration(math.Max(0, h.Buckets[i]) * float64(time.Second)) // the first border is -Inf
		}
	}
	return 0
}
