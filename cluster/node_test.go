package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/snapshot"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// keptState is a snapshot on the shelf.
type keptState struct {
	snapshot.Version
	state []byte
}

// shelf keeps snapshots and wakes in memory.
type shelf struct {
	mu     sync.Mutex
	kept   map[int64][]keptState // of each stream, the latest last
	parked map[engine.Ref]time.Time
	saves  int
	before func() // a Save, if not nil
}

func newShelf() *shelf {
	return &shelf{kept: make(map[int64][]keptState), parked: make(map[engine.Ref]time.Time)}
}

func (s *shelf) Load(_ context.Context, stream int64, before snapshot.Version) (snapshot.Version, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Backward(s.kept[stream]) {
		if later(before, k.Version) {
			return k.Version, k.state, nil
		}
	}
	return snapshot.Version{}, nil, nil
}

// later reports whether one version is later than another.
func later(a, b snapshot.Version) bool {
	return a.Epoch > b.Epoch || a.Epoch == b.Epoch && a.Seq > b.Seq
}

func (s *shelf) Save(_ context.Context, stream, seq int64, epoch int32, write func(io.Writer) error) error {
	if s.before != nil {
		s.before()
	}
	var state bytes.Buffer
	if err := write(&state); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := snapshot.Version{Epoch: epoch, Seq: seq}
	if n := len(s.kept[stream]); n == 0 || later(v, s.kept[stream][n-1].Version) {
		s.kept[stream] = append(s.kept[stream], keptState{v, state.Bytes()})
	}
	s.saves++
	return nil
}

// latest is the latest snapshot of a stream.
func (s *shelf) latest(stream int64) keptState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[stream][len(s.kept[stream])-1]
}

func (s *shelf) Park(_ context.Context, ref engine.Ref, _ journal.Claim, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked[ref] = at
	return nil
}

func (s *shelf) Due(_ context.Context, after, until time.Time) ([]engine.Ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var refs []engine.Ref
	for ref, at := range s.parked {
		if !at.IsZero() && at.After(after) && !at.After(until) {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// world is a store that outlives its nodes.
type world struct {
	store *persisttest.Store
	shelf *shelf
}

func newWorld() *world {
	return &world{store: persisttest.NewStore(1, persisttest.Faults{}), shelf: newShelf()}
}

func (w *world) node(t *testing.T, change func(*cluster.Config)) (*cluster.Node, *persisttest.Memory) {
	t.Helper()
	j := w.store.Open(nil)
	cfg := cluster.Config{Journal: j, Snapshots: w.shelf, Wakes: w.shelf, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	n := cluster.Start(cfg)
	return n, j
}

// nodeOn is a node on a journal.
func (w *world) nodeOn(j *persisttest.Memory) *cluster.Node {
	return cluster.Start(cluster.Config{Journal: j, Snapshots: w.shelf, Wakes: w.shelf, Log: slog.New(slog.DiscardHandler)})
}

func stop(t testing.TB, n *cluster.Node, j *persisttest.Memory) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, n.Stop(ctx))
	require.NoError(t, j.Stop(ctx))
}

const eventNo, typeNo = 42, 7

// onSale makes an event with one ticket type on sale.
func onSale(t testing.TB, n *cluster.Node, price, quantity int64) {
	t.Helper()
	now := n.Now()
	ask(t, n, engine.EventRef(eventNo), event.Create{Details: event.Details{
		Title: "Night", Category: "music", StartAt: now.Add(time.Hour).UnixMilli(), EndAt: now.Add(2 * time.Hour).UnixMilli(),
		Capacity: event.NoCapacity, Currency: "USD", OrderWindow: 900_000,
	}})
	r, _ := ask(t, n, engine.InventoryRef(eventNo, typeNo), inventory.Create{Details: inventory.Details{
		Name: "Floor", Type: "general", SaleStart: now.Add(-time.Hour).UnixMilli(), SaleEnd: now.Add(time.Hour).UnixMilli(),
		Price: price, Currency: "USD", Quantity: quantity, MaxPerOrder: 10, MaxPerCustomer: 10,
	}}).(*inventory.Record)
	ask(t, n, engine.EventRef(eventNo), r.Offer())
	ask(t, n, engine.EventRef(eventNo), event.Move{To: event.StatusPublished})
}

func ask(t testing.TB, n *cluster.Node, to engine.Ref, cmd engine.Command) engine.Reply {
	t.Helper()
	r, err := n.Ask(context.Background(), to, cmd)
	require.NoError(t, err)
	return r
}

// usurp has a rival claim an actor, and do nothing with it.
func (w *world) usurp(t *testing.T, ref engine.Ref) {
	t.Helper()
	rival := w.store.Open(nil)
	_, err := rival.Claim(t.Context(), ref)
	require.NoError(t, err)
	require.NoError(t, rival.Stop(t.Context()))
}

// untilIdle waits until a new event has moved to on_sale by itself.
func untilIdle(t *testing.T, n *cluster.Node) {
	t.Helper()
	require.Eventually(t, func() bool {
		return ask(t, n, engine.EventRef(eventNo), event.Get{}).(*event.Record).Status == event.StatusOnSale
	}, time.Minute, time.Millisecond)
}

// eventually asks until the next activation serves.
func eventually(t *testing.T, n *cluster.Node, cmd engine.Command) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := n.Ask(t.Context(), engine.EventRef(eventNo), cmd)
		return err == nil
	}, time.Minute, time.Millisecond)
}

func place(i, quantity int) ledger.Place {
	return ledger.Place{
		Order: engine.NewID(eventNo, fmt.Appendf(nil, "%010d", i)), Email: "a@example.org", Customer: uint64(i + 1),
		Lines: []order.Line{{Type: typeNo, Quantity: int64(quantity)}},
	}
}

func TestOrdersSellOutAndSurviveARestart(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 0, 50)
	var wg sync.WaitGroup
	var mu sync.Mutex
	sold, refused := 0, 0
	for i := range 80 {
		wg.Go(func() {
			r, err := n.Ask(t.Context(), engine.EventRef(eventNo), place(i, 1))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				require.ErrorContains(t, err, string(engine.TicketSoldOut))
				refused++
				return
			}
			require.Equal(t, order.StatusCompleted, r.(*ledger.OrderReply).Status)
			sold++
		})
	}
	wg.Wait()
	require.Equal(t, 50, sold)
	require.Equal(t, 30, refused)
	stop(t, n, j)

	n, j = w.node(t, nil)
	defer stop(t, n, j)
	stats := ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats)
	require.Equal(t, int64(50), stats.Issued)
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), place(100, 1))
	require.ErrorContains(t, err, string(engine.TicketSoldOut))
}

func TestARepeatedCommandHasOneOutcome(t *testing.T) {
	t.Parallel()
	n, j := newWorld().node(t, nil)
	defer stop(t, n, j)
	onSale(t, n, 0, 5)
	first := ask(t, n, engine.EventRef(eventNo), place(1, 2)).(*ledger.OrderReply)
	again := ask(t, n, engine.EventRef(eventNo), place(1, 2)).(*ledger.OrderReply)
	require.Equal(t, first.Order.FirstTicket, again.Order.FirstTicket)
	require.Equal(t, int64(2), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
}

func TestACrashForgetsOnlyWhatWasNotAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 500, 5)
	o := ask(t, n, engine.EventRef(eventNo), place(1, 3)).(*ledger.OrderReply).Order
	j.Crash()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = n.Stop(ctx) // its journal is gone: nothing can be put away in order

	n, j = w.node(t, nil)
	defer stop(t, n, j)
	got := ask(t, n, engine.EventRef(eventNo), ledger.GetOrder{Order: o.ID}).(*ledger.OrderReply).Order
	require.Equal(t, o, got)
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), place(2, 3))
	require.ErrorContains(t, err, string(engine.TicketSoldOut))
}

func TestAFencedActivationAnswersUnavailableAndTheNextServes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	defer stop(t, n, j)
	onSale(t, n, 0, 5)
	untilIdle(t, n)
	w.usurp(t, engine.EventRef(eventNo))
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), event.Move{To: event.StatusCancelled})
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.Unavailable, r.Code)
	eventually(t, n, event.Move{To: event.StatusCancelled})
}

// settledTo says what became of an entry.
type settledTo chan error

func (s settledTo) Settled(err error) { s <- err }

// addToStream has a stranger write to an actor's stream that was put away.
func (w *world) addToStream(t *testing.T, ref engine.Ref, encoded []byte, facts ...engine.Fact) {
	t.Helper()
	j := w.store.Open(nil)
	claim, err := j.Claim(t.Context(), ref)
	require.NoError(t, err)
	settled := make(settledTo, 1)
	j.Append(&journal.Entry{
		Ref: ref, Claim: claim, First: w.shelf.latest(claim.Stream).Seq + 1, Facts: facts, Bytes: encoded, Owner: settled,
	})
	require.NoError(t, <-settled)
	require.NoError(t, j.Stop(t.Context()))
}

// Whose facts can't be read is not served, and takes nobody down.
func TestAStreamThatCannotBeReplayedEndsItsActorOnly(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 0, 5)
	untilIdle(t, n)
	stop(t, n, j)
	w.addToStream(t, engine.EventRef(eventNo), []byte("no fact"), &order.Completed{})

	n, j = w.node(t, nil)
	defer stop(t, n, j)
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), event.Get{})
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.Unavailable, r.Code)
	ask(t, n, engine.InventoryRef(eventNo, typeNo), inventory.Get{})
}

// A fact that has no place in the state is passed over: its actor is served.
func TestAStreamWithAStrayFactIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 0, 5)
	untilIdle(t, n)
	stop(t, n, j)
	stray := &order.Completed{ID: engine.NewID(eventNo, []byte("of nobody ")), First: 1}
	encoded, err := codec.AppendFact(nil, stray)
	require.NoError(t, err)
	w.addToStream(t, engine.EventRef(eventNo), encoded, stray)

	n, j = w.node(t, nil)
	defer stop(t, n, j)
	ask(t, n, engine.EventRef(eventNo), place(1, 1))
	require.Equal(t, int64(1), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
}

// An order is made while its reservation is not yet durable: it must not outlive it.
func TestAnOrderNeedsItsReservation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	defer stop(t, n, j)
	onSale(t, n, 0, 5)
	untilIdle(t, n)
	w.usurp(t, engine.InventoryRef(eventNo, typeNo))
	lost := place(1, 1)
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), lost)
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.Unavailable, r.Code)
	eventually(t, n, admission.GateStats{})
	_, err = n.Ask(t.Context(), engine.EventRef(eventNo), ledger.GetOrder{Order: lost.Order})
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.OrderNotFound, r.Code)
	eventually(t, n, lost)
	require.Equal(t, int64(1), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
}

// What an order takes and the order itself become durable together, unless the
// journal had just nothing else to do.
func TestAnOrderIsOneCommit(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.store.SetFaults(persisttest.Faults{Delay: 2 * time.Millisecond})
	var mu sync.Mutex
	var apart, together int
	j := w.store.Open(func(b *journal.Batch) {
		mu.Lock()
		defer mu.Unlock()
		orders := make(map[engine.OrderID]int)
		for _, r := range b.Records {
			for _, f := range r.Facts {
				switch f := f.(type) {
				case *keeper.ReservedFact:
					orders[f.Claim.Order]++
				case *order.Created:
					orders[f.Order.ID]++
				}
			}
		}
		for _, n := range orders {
			apart, together = apart+2-n, together+n-1
		}
	})
	n := w.nodeOn(j)
	defer stop(t, n, j)
	onSale(t, n, 2000, 1000)
	var buyers sync.WaitGroup
	for i := range 25 {
		buyers.Go(func() {
			for k := range 40 {
				ask(t, n, engine.EventRef(eventNo), place(40*i+k, 1))
			}
		})
	}
	buyers.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 1000, together+apart/2)
	require.Positive(t, together)
}

func TestIdleActorsAreSnapshottedAndPutAway(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var idle atomic.Int64
	n, j := w.node(t, func(c *cluster.Config) {
		c.IdleAfter = 20 * time.Millisecond
		c.Now = func() time.Time { return time.Now().Add(time.Duration(idle.Load())) }
	})
	defer stop(t, n, j)
	onSale(t, n, 0, 5)
	ask(t, n, engine.EventRef(eventNo), place(1, 1))
	idle.Store(int64(10 * time.Minute)) // long since the claim was proven
	require.Eventually(t, func() bool { return n.Actors() == 0 }, time.Minute, 10*time.Millisecond)
	require.Equal(t, int64(1), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
	require.Eventually(t, func() bool {
		w.shelf.mu.Lock()
		defer w.shelf.mu.Unlock()
		_, noted := w.shelf.parked[engine.EventRef(eventNo)]
		return w.shelf.saves > 0 && noted
	}, time.Minute, 10*time.Millisecond)
}

// A commit writes the facts of many decisions as one record, and a snapshot may
// end in the middle of it.
func TestSnapshotsEndAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld()
	const orders = 200
	for round := range 3 {
		n, j := w.node(t, func(c *cluster.Config) { c.SnapshotEvery = 7 })
		if round == 0 {
			onSale(t, n, 0, 3*orders)
		}
		var wg sync.WaitGroup
		for i := range orders {
			wg.Go(func() {
				_, err := n.Ask(t.Context(), engine.EventRef(eventNo), place(round*orders+i, 1))
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Equal(t, int64((round+1)*orders), ask(t, n, engine.EventRef(eventNo), admission.GateStats{}).(*admission.Stats).Issued)
		j.Crash()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Stop(ctx) // a crash puts nothing away
	}
	require.Positive(t, w.shelf.saves)
}

// A node that stops does not finish a snapshot that the actor's last one makes
// needless: it may be a large one.
func TestTheLastSnapshotIsEnough(t *testing.T) {
	t.Parallel()
	w := newWorld()
	began, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	w.shelf.before = func() {
		first.Do(func() {
			close(began)
			<-goOn
		})
	}
	n, j := w.node(t, func(c *cluster.Config) { c.SnapshotEvery = 1 })
	onSale(t, n, 0, 5)
	<-began
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, n, j)
	}()
	require.Eventually(t, func() bool { return n.Actors() == 0 }, time.Minute, time.Millisecond)
	close(goOn)
	<-stopped
	require.Equal(t, 2, w.shelf.saves, "one of the event, one of its ticket type")
}

// stuck is a shelf on a disk that gives no answer.
type stuck struct{ *shelf }

func (stuck) Save(ctx context.Context, _, _ int64, _ int32, _ func(io.Writer) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// A node's stop ends in its time even if a snapshot can't be written.
func TestStopGivesUpSnapshots(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, func(c *cluster.Config) { c.Snapshots = stuck{w.shelf} })
	onSale(t, n, 0, 5)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- n.Stop(ctx) }()
	select {
	case err := <-stopped:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-time.After(time.Minute):
		require.Fail(t, "it does not stop")
	}
	require.NoError(t, j.Stop(t.Context()))
}

func TestAnOverloadedActorShedsAtOnce(t *testing.T) {
	t.Parallel()
	n, j := newWorld().node(t, func(c *cluster.Config) { c.Backlog = func() int { return 1 << 20 } })
	defer stop(t, n, j)
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), event.Get{})
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.Overloaded, r.Code)
}

// An answer that needs no fact leaves only while the stream is known to be ours:
// a rival's claim is noticed by the first answer a second later (docs/adr/0004).
func TestAStaleActivationAnswersNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var idle atomic.Int64
	n, j := w.node(t, func(c *cluster.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(idle.Load())) }
	})
	defer stop(t, n, j)
	onSale(t, n, 0, 5)
	untilIdle(t, n)
	w.usurp(t, engine.EventRef(eventNo))
	idle.Store(int64(10 * time.Second)) // nothing has proven the claim since
	_, err := n.Ask(t.Context(), engine.EventRef(eventNo), admission.GateStats{})
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.Unavailable, r.Code)
	eventually(t, n, admission.GateStats{})
}
