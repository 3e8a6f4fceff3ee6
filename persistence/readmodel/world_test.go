package readmodel_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

const within = 30 * time.Second

// start is the world's first moment: clean milliseconds, not the wall clock's.
var start = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

// world is a node without a cluster: the real actors, one command at a time, on
// the real journal, followed by the read model.
type world struct {
	t       testing.TB
	pool    *pgxpool.Pool
	journal *journal.Postgres
	follow  *follower.Follower
	stock   *committed.Stock
	model   *readmodel.Model
	actors  map[engine.Ref]*actor
	answers map[engine.OrderID]engine.Reply // to commands that were held
	now     time.Time
	orders  int
}

type actor struct {
	state engine.State
	claim journal.Claim
	next  int64
}

// Settled makes an actor the owner of its entries.
func (*actor) Settled(error) {}

func newWorld(t testing.TB) *world {
	t.Helper()
	pool := persisttest.Migrated(t)
	w := &world{
		t: t, pool: pool, stock: committed.NewStock(1000), model: readmodel.New(pool),
		actors: make(map[engine.Ref]*actor), answers: make(map[engine.OrderID]engine.Reply), now: start,
	}
	w.follow = w.follower()
	j, err := journal.Open(t.Context(), journal.Config{
		Pool: pool, Node: "node", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true,
		Sink: func(b *journal.Batch) {
			w.stock.Observe(b)
			w.follow.Offer(b)
		},
	})
	require.NoError(t, err)
	w.journal = j
	w.follow.Start(j)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
		require.NoError(t, w.follow.Stop(ctx))
	})
	return w
}

func (w *world) follower() *follower.Follower {
	return follower.New(follower.Config{
		Name: readmodel.Follower, Pool: w.pool, Apply: readmodel.NewWriter().Apply, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
		Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	})
}

// settled waits until the read model has taken in all that the actors wrote.
func (w *world) settled() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	for ref, a := range w.actors {
		b := &barrier{done: make(chan error, 1)}
		w.journal.Append(&journal.Entry{Ref: ref, Claim: a.claim, First: a.next, Owner: b})
		require.NoError(w.t, <-b.done)
	}
	require.NoError(w.t, w.follow.Passed(ctx))
}

type barrier struct{ done chan error }

func (b *barrier) Settled(err error) { b.done <- err }

func (w *world) actor(ref engine.Ref) *actor {
	a := w.actors[ref]
	if a == nil {
		kind, err := all.Kind(ref.Kind)
		require.NoError(w.t, err)
		claim, err := w.journal.Claim(w.t.Context(), ref)
		require.NoError(w.t, err)
		a = &actor{state: kind.New(ref), claim: claim, next: 1}
		w.actors[ref] = a
		w.do(ref, engine.Wake{Epoch: claim.Epoch})
	}
	return a
}

// do has an actor decide, journals its facts, delivers what it sends, and
// returns the reply to the command, held or not.
func (w *world) do(ref engine.Ref, c engine.Command) engine.Reply {
	w.t.Helper()
	d := w.actor(ref).state.Decide(c, w.now)
	w.take(ref, d.Facts...)
	for _, answer := range d.Answers {
		w.answers[answer.Key] = answer.Reply
	}
	for _, s := range slices.Concat(d.Asks, d.Joint, d.Sends) {
		w.do(s.To, s.Cmd)
	}
	if d.WaitKey != nil {
		return w.answers[*d.WaitKey]
	}
	return d.Reply
}

// take has an actor apply facts, and journals them.
func (w *world) take(ref engine.Ref, all ...engine.Fact) {
	w.t.Helper()
	a := w.actor(ref)
	var facts []engine.Fact
	var bytes []byte
	for _, f := range all {
		if f.FactType().Volatile() {
			continue
		}
		var err error
		bytes, err = codec.AppendFact(bytes, f)
		require.NoError(w.t, err)
		facts = append(facts, f)
	}
	for _, f := range all {
		a.state.Apply(f)
	}
	if len(facts) > 0 {
		w.journal.Append(&journal.Entry{Ref: ref, Claim: a.claim, First: a.next, Facts: facts, Bytes: bytes, Owner: a})
		a.next += int64(len(facts))
	}
}

// event makes a published event with details of its own.
func (w *world) event(number int64, change ...func(*event.Details)) int64 {
	w.t.Helper()
	d := event.Details{
		Org: 7, PublicID: publicID(number), Slug: fmt.Sprintf("event-%d", number), Title: fmt.Sprintf("Event %d", number),
		Category: "music", Visibility: "public", StartAt: start.Add(240 * time.Hour).UnixMilli(), EndAt: start.Add(243 * time.Hour).UnixMilli(),
		Timezone: "UTC", VenueType: "physical", Capacity: event.NoCapacity, Currency: "USD", OrderWindow: 900_000,
	}
	for _, c := range change {
		c(&d)
	}
	require.IsType(w.t, new(event.Record), w.do(engine.EventRef(number), event.Create{Details: d}))
	return number
}

func publicID(number int64) engine.EventID { return engine.NewID(number, []byte("0123456789")) }

func (w *world) publish(number int64) {
	w.t.Helper()
	require.IsType(w.t, new(event.Record), w.do(engine.EventRef(number), event.Move{To: event.StatusPublished}))
}

// publishedBefore makes an event public that an earlier release let be published.
func (w *world) publishedBefore(number int64) {
	w.t.Helper()
	w.take(engine.EventRef(number), &event.Moved{From: event.StatusDraft, To: event.StatusPublished, At: w.now.UnixMilli()})
}

func (w *world) ticketType(number, kind int64, change ...func(*inventory.Details)) engine.Ref {
	w.t.Helper()
	d := inventory.Details{
		Name: fmt.Sprintf("Tier %d", kind), Type: "general", SaleStart: start.Add(-time.Hour).UnixMilli(),
		SaleEnd: start.Add(200 * time.Hour).UnixMilli(), Price: 4500, Currency: "USD", Quantity: 1000, MaxPerOrder: 1000, MaxPerCustomer: 1000,
	}
	for _, c := range change {
		c(&d)
	}
	ref := engine.InventoryRef(number, kind)
	require.IsType(w.t, new(inventory.Record), w.do(ref, inventory.Create{Details: d}))
	return ref
}

// place buys so many of each of the ticket types.
func (w *world) place(number int64, quantity int64, kinds ...int64) *order.Order {
	w.t.Helper()
	w.orders++
	var tail [10]byte
	binary.BigEndian.PutUint64(tail[:], uint64(w.orders)*0x9E3779B97F4A7C15)
	c := ledger.Place{
		Order: engine.NewID(number, tail[:]), Email: fmt.Sprintf("buyer%d@example.com", w.orders), Name: "Ada Lovelace",
		Customer: uint64(w.orders) << 60, Fingerprint: 1<<63 + uint64(w.orders),
	}
	for i, k := range kinds {
		l := order.Line{Type: k, Quantity: quantity}
		if i > 0 {
			l.AttendeeName = "Grace Hopper"
		}
		c.Lines = append(c.Lines, l)
	}
	return w.ordered(w.do(engine.EventRef(number), c))
}

func (w *world) ordered(r engine.Reply) *order.Order {
	w.t.Helper()
	require.IsType(w.t, new(ledger.OrderReply), r, "%v", r)
	return r.(*ledger.OrderReply).Order
}

// tell sends a command about an order to its event.
func (w *world) tell(o *order.Order, c engine.Command) *order.Order {
	w.t.Helper()
	return w.ordered(w.do(engine.EventRef(o.ID.Event()), c))
}

// begin opens an attempt to pay the order and returns its reference.
func (w *world) begin(o *order.Order) string {
	w.t.Helper()
	paid := w.tell(o, ledger.BeginPayment{Order: o.ID, Provider: "paystack", Number: fmt.Sprintf("BX-%x", o.ID[6:]), WindowMillis: 1_800_000})
	reference := paid.Attempts[len(paid.Attempts)-1].Reference
	w.tell(o, ledger.OpenPayment{Order: o.ID, Reference: reference, URL: "https://pay.example/" + reference})
	return reference
}

func (w *world) report(o *order.Order, reference, status string, received int64) *order.Order {
	w.t.Helper()
	return w.tell(o, ledger.ReportPayment{Order: o.ID, Reference: reference, Status: status, Received: received, Currency: "USD"})
}

// later moves the clock and wakes the actors.
func (w *world) later(d time.Duration) {
	w.now = w.now.Add(d)
	for ref := range w.actors {
		for range 3 { // one brings out what is due, the next acts on it
			w.do(ref, engine.Wake{})
		}
	}
}
