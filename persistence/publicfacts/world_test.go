package publicfacts_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

const (
	within = 30 * time.Second
	org    = 7
)

// vault seals by inverting bytes.
type vault struct{}

func (vault) Seal(_ string, context, text []byte) []byte {
	sealed := append([]byte{byte(len(context))}, text...)
	for i := range sealed {
		sealed[i] ^= 0xff
	}
	return sealed
}

func (vault) Open(_ string, context, sealed []byte) ([]byte, error) {
	text := make([]byte, len(sealed))
	for i := range sealed {
		text[i] = sealed[i] ^ 0xff
	}
	if len(text) == 0 || int(text[0]) != len(context) {
		return nil, errors.New("not sealed here")
	}
	return text[1:], nil
}

// teller publishes facts about events and orders, and two for each order that is completed.
type teller struct{}

func (teller) Covers(kind engine.Kind, t engine.FactType) bool {
	if kind == engine.KindEvent {
		return t != new(event.Removed).FactType() && t != new(order.PaymentBegun).FactType()
	}
	return kind == engine.KindInventory && t == new(inventory.Created).FactType()
}

func (teller) Build(_ context.Context, s *publicfacts.Enriched) ([]publicfacts.Draft, error) {
	data := map[string]any{"title": s.Event.Details.Title, "event": s.Event.Status}
	typ, n := fmt.Sprintf("%T", s.Fact), 1
	if s.Order != nil {
		data["order"], data["email"] = s.Order.Status, s.Order.Email
	}
	switch s.Fact.(type) {
	case *order.Completed:
		n = 2
	case *inventory.Created:
		data["type"] = s.Type.Details.Name
	case *admission.CheckedIn:
		data["gate"], data["email"] = s.Ticket.Gate, s.Ticket.Order.Email
	case *admission.CheckInDenied:
		data["known"] = s.Ticket != nil
	}
	b, err := json.Marshal(data)
	var all []publicfacts.Draft
	for range n {
		all = append(all, publicfacts.Draft{Type: typ, At: time.UnixMilli(1_900_000_000_000 + s.Seq), Data: b})
	}
	return all, err
}

// world is a journal with its read model, whose facts a follower publishes.
type world struct {
	t       testing.TB
	pool    *pgxpool.Pool
	log     *slog.Logger
	journal *journal.Postgres
	model   *follower.Follower
	offer   func(*journal.Batch) // passes a batch to the follower that publishes
	streams map[engine.Ref]*stream
}

type stream struct {
	claim journal.Claim
	next  int64
}

func newWorld(t testing.TB, pool *pgxpool.Pool) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	w := &world{t: t, log: log, pool: pool, offer: func(*journal.Batch) {}, streams: map[engine.Ref]*stream{}}
	w.model = follower.New(follower.Config{
		Name: readmodel.Follower, Pool: pool, Apply: readmodel.NewWriter().Apply, Log: log, Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	})
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "node", Log: log, AllowUnsafe: true, Sink: func(b *journal.Batch) {
		w.model.Offer(b)
		w.offer(b)
	}})
	require.NoError(t, err)
	w.journal = j
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
		require.NoError(t, w.model.Stop(ctx))
	})
	return w
}

// follow makes a follower that publishes; it is killed when the test ends.
func (w *world) follow(s *publicfacts.Store, change ...func(*follower.Config)) *follower.Follower {
	cfg := follower.Config{Name: publicfacts.Follower, Pool: w.pool, Apply: s.Apply, Log: w.log, Pace: time.Millisecond, Poll: 20 * time.Millisecond}
	for _, c := range change {
		c(&cfg)
	}
	f := follower.New(cfg)
	w.t.Cleanup(func() { kill(f) })
	return f
}

// kill ends a follower without letting it finish.
func kill(f *follower.Follower) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = f.Stop(ctx) // returns that it was not done
}

func (w *world) passed(f *follower.Follower) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	require.NoError(w.t, f.Passed(ctx))
}

// settled gets a journal's outcome of an entry.
type settled chan error

func (s settled) Settled(err error) { s <- err }

// append appends facts to a stream, in one entry.
func (w *world) append(ref engine.Ref, facts ...engine.Fact) settled {
	w.t.Helper()
	st := w.streams[ref]
	if st == nil {
		claim, err := w.journal.Claim(w.t.Context(), ref)
		require.NoError(w.t, err)
		st = &stream{claim: claim, next: 1}
		w.streams[ref] = st
	}
	e := &journal.Entry{Ref: ref, Claim: st.claim, First: st.next, Facts: facts}
	for _, f := range facts {
		var err error
		e.Bytes, err = codec.AppendFact(e.Bytes, f)
		require.NoError(w.t, err)
	}
	st.next += int64(len(facts))
	done := make(settled, 1)
	e.Owner = done
	w.journal.Append(e)
	return done
}

// write appends facts and waits until they are durable.
func (w *world) write(ref engine.Ref, facts ...engine.Fact) {
	w.t.Helper()
	require.NoError(w.t, <-w.append(ref, facts...))
}

func created(number int64) *event.Created {
	return &event.Created{Details: details(number), At: 1}
}

func details(number int64) *event.Details {
	return &event.Details{
		Org: org, PublicID: orderID(number, 0), Slug: fmt.Sprint(number), Title: fmt.Sprintf("Event %d", number), Category: "music",
		Visibility: "public", StartAt: 2, EndAt: 3, Timezone: "UTC", VenueType: "physical", Currency: "USD",
	}
}

func orderID(number int64, n int) engine.OrderID {
	var tail [10]byte
	binary.BigEndian.PutUint64(tail[:], uint64(n))
	return engine.NewID(number, tail[:])
}

func orderOf(number int64, n int) *order.Created {
	return &order.Created{Order: &order.Order{
		ID: orderID(number, n), Status: order.StatusPending, Email: fmt.Sprintf("%d@example.org", n), Currency: "USD",
		Lines: []order.Line{{Type: 1, Name: "GA", Quantity: 1}}, CreatedAt: 5,
	}}
}

func complete(number int64, n int, first uint32) *order.Completed {
	return &order.Completed{ID: orderID(number, n), First: first, At: 6}
}

// row is a published fact in the form that a test compares.
type row struct {
	Type string
	Seq  int64
	Data string
}

// told returns the facts of a stream in the order in which they were published.
func (w *world) told(s *publicfacts.Store, ref engine.Ref) []row {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), `SELECT position FROM facts WHERE aggregate = $1`, ref.Name())
	require.NoError(w.t, err)
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(w.t, err)
	facts, err := s.Load(w.t.Context(), positions)
	require.NoError(w.t, err)
	var all []row
	for _, f := range facts {
		require.Equal(w.t, int64(org), f.Org)
		require.Equal(w.t, w.streams[ref].claim.Stream, f.Stream)
		require.Equal(w.t, time.UnixMilli(1_900_000_000_000+f.Seq), f.At.Local())
		all = append(all, row{f.Type, f.Seq, string(f.Data)})
	}
	return all
}
