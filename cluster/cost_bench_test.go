package cluster_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/persistence/persisttest"
)

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkOrder is an order of one free ticket, with 256 buyers: asked for on the
// node that owns the event, and on another one, both in this process, so that the
// CPU of both ends of the link is counted. The journal is in memory.
func BenchmarkOrder(b *testing.B) {
	for _, bench := range []struct {
		name  string
		there bool
	}{{"here", false}, {"there", true}} {
		b.Run(bench.name, func(b *testing.B) {
			p := newParty(b, "a", "b")
			number := int64(1)
			p.onSaleFrom("a", number, 100_000_000)
			for p.nodes["a"].Actors() == 0 { // one that a owns
				number++
				p.onSaleFrom("a", number, 100_000_000)
			}
			for n := int64(1); n < number; n++ {
				p.from("a", engine.EventRef(n), event.Move{To: event.StatusCancelled})
			}
			from := p.nodes["a"]
			if bench.there {
				from = p.nodes["b"]
			}
			var next atomic.Int64
			var buyers sync.WaitGroup
			before := cpu()
			b.ResetTimer()
			for range 256 {
				buyers.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if _, err := from.Ask(context.Background(), engine.EventRef(number), placeIn(number, int(i))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			buyers.Wait()
			b.StopTimer()
			b.ReportMetric(float64((cpu()-before).Nanoseconds())/1e3/float64(b.N), "cpu-us/op")
		})
	}
}

// BenchmarkIdle is what an actor takes that is loaded and has nothing to do: heap
// beyond its state, of 100,000 events. The journal and its facts are not counted.
func BenchmarkIdle(b *testing.B) {
	const events = 100_000
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range b.N {
		w := newWorld()
		j := w.store.Open(nil)
		state := statesOf(events, heap)
		n := w.nodeOn(j)
		before := heap()
		var loading sync.WaitGroup
		slots := make(chan struct{}, 64)
		for i := range events {
			slots <- struct{}{}
			loading.Go(func() {
				defer func() { <-slots }()
				_, err := n.Ask(context.Background(), engine.EventRef(int64(i+1)), event.Get{})
				var r *engine.Refusal
				if !errors.As(err, &r) || r.Code != engine.EventNotFound {
					b.Error(err)
				}
			})
		}
		loading.Wait()
		require.Equal(b, events, n.Actors())
		grown := heap() - before
		b.ReportMetric(float64(state)/events, "B/state")
		b.ReportMetric((float64(grown)-float64(state))/events, "B/actor-beyond-state")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		stopped := time.Now()
		require.NoError(b, n.Stop(ctx))
		b.ReportMetric(float64(time.Since(stopped).Milliseconds()), "ms/put-all-away")
		cancel()
		require.NoError(b, j.Stop(context.Background()))
	}
}

// statesOf is the heap of as many states of new events.
func statesOf(events int, heap func() uint64) uint64 {
	states := make([]engine.State, events)
	before := heap()
	for i := range states {
		states[i] = event.New(engine.EventRef(int64(i + 1)))
	}
	defer runtime.KeepAlive(states)
	return heap() - before
}

// BenchmarkReactivation is the first answer of a small event (a few orders) that
// was put away, on Postgres: claim, snapshot, tail, decision.
func BenchmarkReactivation(b *testing.B) {
	pool := persisttest.Migrated(b)
	n, leave := onPostgres(b, pool)
	onSale(b, n, 0, 100)
	for i := range 5 {
		ask(b, n, engine.EventRef(eventNo), place(i, 1))
	}
	leave(true)
	n, leave = onPostgres(b, pool)
	b.ResetTimer()
	var worst time.Duration
	for range b.N {
		start := time.Now()
		r, err := n.Ask(context.Background(), engine.EventRef(eventNo), admission.GateStats{})
		require.NoError(b, err)
		require.EqualValues(b, 5, r.(*admission.Stats).Issued)
		worst = max(worst, time.Since(start))
		b.StopTimer()
		leave(true)
		n, leave = onPostgres(b, pool)
		b.StartTimer()
	}
	b.ReportMetric(float64(worst.Microseconds())/1e3, "ms/worst")
	b.StopTimer()
	leave(true)
}
