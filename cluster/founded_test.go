package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/audit"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/snapshot"
	"boxoffice/persistence/wakes"
)

// requireSound audits a database, and makes sure that no snapshot is ahead of its
// stream.
func requireSound(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	report, err := audit.Run(t.Context(), journal.NewReader(pool))
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	var ahead int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM snapshots WHERE seq > head_of(stream_id)`).Scan(&ahead))
	require.Zero(t, ahead)
}

// A data directory may hold a snapshot of facts that never happened. Who loads from it
// finds out, and goes by the snapshot before it, or by all facts.
func TestASnapshotThatTheJournalContradictsIsPassedOver(t *testing.T) {
	t.Parallel()
	empty, err := codec.Marshal(event.New(engine.EventRef(eventNo)).Freeze())
	require.NoError(t, err)
	const insert = `
INSERT INTO snapshots (stream_id, epoch, seq, part, parts, state)
SELECT stream_id, $1, head_of(stream_id) + $2, 0, 1, $3 FROM streams WHERE name = 'event/42/42'`
	for name, spoil := range map[string]struct {
		epoch, beyond int
		state         []byte
		alone         bool // there is no other snapshot
	}{
		"ahead of the journal":               {epoch: 2, beyond: 2, state: empty},
		"ahead, and the only one":            {epoch: 2, beyond: 2, state: empty, alone: true},
		"overtaken by the next activation":   {epoch: 1, beyond: 0, state: empty},
		"not a snapshot of this kind at all": {epoch: 2, beyond: 0, state: []byte("no state")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := persisttest.Migrated(t)
			sell := func(n *cluster.Node, from, to int) {
				for i := from; i < to; i++ {
					ask(t, n, engine.EventRef(eventNo), place(i, 1))
				}
			}
			n, leave := onPostgres(t, pool)
			onSale(t, n, 0, 100)
			sell(n, 0, 3)
			leave(true)
			n, leave = onPostgres(t, pool)
			sell(n, 3, 6)
			leave(false)
			if spoil.alone {
				_, err := pool.Exec(t.Context(), `DELETE FROM snapshots WHERE stream_id = (SELECT stream_id FROM streams WHERE name = 'event/42/42')`)
				require.NoError(t, err)
			}
			_, err := pool.Exec(t.Context(), insert, spoil.epoch, spoil.beyond, spoil.state)
			require.NoError(t, err)

			n, leave = onPostgres(t, pool)
			require.Equal(t, int64(6), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
			sell(n, 6, 8)
			require.Equal(t, int64(8), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
			require.Equal(t, int64(1), n.Stats().Unfounded)
			leave(true)

			n, leave = onPostgres(t, pool)
			require.Equal(t, int64(8), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
			require.Zero(t, n.Stats().Unfounded, "the next snapshot took its place")
			leave(true)
			requireSound(t, pool)
		})
	}
}

// An event whose facts the journal has dropped is only in its snapshot. If that can't be read, the event is not
// available: it does not begin anew, and what it has sold is still there when the snapshot can be read again.
func TestAnEventIsNotEmptyBecauseItsSnapshotIsUnreadable(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	n, leave := onPostgres(t, pool)
	onSale(t, n, 0, 100)
	ask(t, n, engine.EventRef(eventNo), place(0, 1))
	leave(true)
	const drop = `
INSERT INTO floors (stream_id, epoch, seq) SELECT stream_id, epoch, seq FROM snapshots WHERE part = parts - 1;
DELETE FROM spans;
DELETE FROM journal`
	_, err := pool.Exec(t.Context(), drop)
	require.NoError(t, err)
	const spoil = `UPDATE snapshots SET state = state || $1 WHERE stream_id = (SELECT stream_id FROM streams WHERE name = 'event/42/42')`
	_, err = pool.Exec(t.Context(), spoil, []byte("no state"))
	require.NoError(t, err)

	n, leave = onPostgres(t, pool)
	_, err = n.Ask(t.Context(), engine.EventRef(eventNo), admission.GateStats{})
	refusal, ok := errors.AsType[*engine.Refusal](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, engine.Unavailable, refusal.Code)
	const mend = `UPDATE snapshots SET state = substr(state, 1, length(state) - $1) WHERE stream_id = (SELECT stream_id FROM streams WHERE name = 'event/42/42')`
	_, err = pool.Exec(t.Context(), mend, len("no state"))
	require.NoError(t, err)
	require.Equal(t, int64(1), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
	leave(true)
}

// An activation whose facts the journal refuses for what they rest on is ahead of its
// stream, which is still its own: it saves no snapshot, not even when it asks for one
// after every fact.
func TestARefusedActivationSavesNoSnapshot(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j, n := openOn(t, pool, nil, func(c *cluster.Config) { c.SnapshotEvery = 1 })
	onSale(t, n, 0, 1_000)
	untilIdle(t, n)
	rival, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "rival", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Lanes: 1})
	require.NoError(t, err)
	refused := 0
	for i := range 20 {
		_, err := rival.Claim(t.Context(), engine.InventoryRef(eventNo, typeNo))
		require.NoError(t, err)
		if _, err := n.Ask(t.Context(), engine.EventRef(eventNo), place(i, 1)); err != nil {
			refused++
		}
		eventually(t, n, place(i, 1))
	}
	require.Positive(t, refused)
	require.Equal(t, int64(20), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
	require.NoError(t, n.Stop(t.Context()))
	require.Zero(t, n.Stats().Unfounded)
	require.NoError(t, j.Stop(t.Context()))
	require.NoError(t, rival.Stop(t.Context()))
	requireSound(t, pool)
}

// openOn is a node on a real database, with a look at what it commits.
func openOn(t *testing.T, pool *pgxpool.Pool, sink func(*journal.Batch), change func(*cluster.Config)) (*journal.Postgres, *cluster.Node) {
	t.Helper()
	j, err := journal.Open(context.Background(), journal.Config{Pool: pool, Node: "node-1", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Lanes: 1, Sink: sink})
	require.NoError(t, err)
	cfg := cluster.Config{
		Journal: j, Snapshots: snapshot.New(pool), Wakes: wakes.New(pool), Log: slog.New(slog.DiscardHandler), Backlog: j.Backlog,
	}
	if change != nil {
		change(&cfg)
	}
	return j, cluster.Start(cfg)
}

// While a refusal waits for the facts before it, stock comes back and the buyer asks
// again: the order that this makes is committed after the refusal is out, never with
// what it waits for.
func TestARepeatedPlaceDoesNotOvertakeItsRefusal(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var mu sync.Mutex
	batches := make(map[string]int64) // that made an order, or ended one
	note := func(b *journal.Batch) {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range b.Records {
			for _, f := range r.Facts {
				switch f := f.(type) {
				case *order.Created:
					batches["made "+f.Order.ID.String()] = b.Seq
				case *order.Ended:
					batches["ended "+f.ID.String()] = b.Seq
				}
			}
		}
	}
	j, n := openOn(t, pool, note, nil)
	onSale(t, n, 2_000, 1_000)
	untilIdle(t, n)
	book := ask(t, n, engine.EventRef(eventNo), event.Get{}).(*event.Record)
	details := *book.Details
	details.Capacity = 1
	ask(t, n, engine.EventRef(eventNo), event.Update{Details: details, Revision: book.Revision})
	ann, bob := place(1, 1), place(2, 1)
	ask(t, n, engine.EventRef(eventNo), ann)
	// An entry counts for a moment after its reply is out.
	require.Eventually(t, func() bool { return j.Backlog() == 0 }, time.Minute, time.Millisecond)

	lock, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) }) // or the pool waits for it, if the test fails
	_, err = lock.Exec(t.Context(), `LOCK TABLE journal IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	var wg sync.WaitGroup
	send := func(cmd engine.Command, then func(engine.Reply, error)) {
		before := j.Backlog()
		wg.Go(func() { then(n.Ask(t.Context(), engine.EventRef(eventNo), cmd)) })
		require.Eventually(t, func() bool { return j.Backlog() > before }, time.Minute, time.Millisecond)
	}
	send(ledger.BeginPayment{Order: ann.Order, Number: "ann", Provider: "paystack"}, func(_ engine.Reply, err error) { require.NoError(t, err) })
	send(bob, func(_ engine.Reply, err error) {
		var r *engine.Refusal
		require.ErrorAs(t, err, &r)
		require.Equal(t, engine.TicketSoldOut, r.Code)
	})
	send(ledger.CancelOrder{Order: ann.Order}, func(_ engine.Reply, err error) { require.NoError(t, err) })
	send(bob, func(r engine.Reply, err error) {
		require.NoError(t, err)
		require.Equal(t, bob.Order, r.(*ledger.OrderReply).Order.ID)
	})
	require.NoError(t, lock.Rollback(t.Context()))
	wg.Wait()
	mu.Lock()
	require.Greater(t, batches["made "+bob.Order.String()], batches["ended "+ann.Order.String()])
	mu.Unlock()
	require.NoError(t, n.Stop(t.Context()))
	require.NoError(t, j.Stop(t.Context()))
}
