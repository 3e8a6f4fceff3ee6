package cluster_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/snapshot"
	"boxoffice/persistence/wakes"
)

// onPostgres is a node on a real database. Leave ends it: with stop in order, or
// as a crash does.
func onPostgres(tb testing.TB, pool *pgxpool.Pool) (n *cluster.Node, leave func(stop bool)) {
	tb.Helper()
	j, err := journal.Open(context.Background(), journal.Config{Pool: pool, Node: "node-1", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Lanes: 1})
	require.NoError(tb, err)
	n = cluster.Start(cluster.Config{
		Journal: j, Snapshots: snapshot.New(pool), Wakes: wakes.New(pool),
		Log: slog.New(slog.DiscardHandler), Backlog: j.Backlog,
	})
	return n, func(stop bool) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if !stop {
			cancel() // nothing is put away: the next node has snapshots of earlier and the tail
		}
		defer cancel()
		_ = n.Stop(ctx)
		require.NoError(tb, j.Stop(context.Background()))
	}
}

// BenchmarkFirstAnswer is how long an event with 100,000 tickets, each of an
// order of its own, takes from its first message after a restart to the answer:
// claim, snapshot, tail, decision. After a stop the snapshot is complete, after a
// crash up to half of the facts are in the tail.
func BenchmarkFirstAnswer(b *testing.B) {
	const orders = 100_000
	pool := persisttest.Migrated(b)
	n, leave := onPostgres(b, pool)
	sellOut(b, n, orders)
	for _, how := range []struct {
		name string
		stop bool
	}{{"crash", false}, {"stop", true}} {
		ask(b, n, engine.EventRef(eventNo), admission.GateStats{}) // it is loaded, so a stop puts it away
		leave(how.stop)
		n, leave = onPostgres(b, pool)
		b.Run(how.name, func(b *testing.B) {
			for range b.N {
				start := time.Now()
				r, err := n.Ask(context.Background(), engine.EventRef(eventNo), admission.GateStats{})
				require.NoError(b, err)
				require.Equal(b, int64(orders), r.(*admission.Stats).Issued)
				b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/first-answer")
				b.StopTimer()
				leave(false)
				n, leave = onPostgres(b, pool)
				b.StartTimer()
			}
		})
	}
	leave(true)
}

// sellOut places free orders of one ticket each until all are sold.
func sellOut(b *testing.B, n *cluster.Node, orders int) {
	b.Helper()
	onSale(b, n, 0, int64(orders))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 256 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(orders); i = next.Add(1) {
				if _, err := n.Ask(context.Background(), engine.EventRef(eventNo), place(int(i), 1)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
