package mailqueue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

const within = 30 * time.Second

// number is the event of these tests.
const number = 42

// world is an event's stream, read by the read model and by a queue.
type world struct {
	t      testing.TB
	pool   *pgxpool.Pool
	queue  *Queue
	writer *readmodel.Writer
	seq    int64
	batch  int64
	now    time.Time
	serial uint32
	sent   *tray
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{
		t: t, pool: persisttest.Migrated(t), writer: readmodel.NewWriter(), seq: 1, serial: 1, now: time.Now().Truncate(time.Millisecond), sent: new(tray),
	}
	w.queue = w.open()
	return w
}

func (w *world) open() *Queue {
	w.t.Helper()
	o, err := New(Config{Pool: w.pool, Log: slog.New(slog.DiscardHandler), Settle: time.Millisecond})
	require.NoError(w.t, err)
	return o
}

// happen makes a batch of facts and has both readers take it in.
func (w *world) happen(facts ...engine.Fact) journal.Batch {
	w.t.Helper()
	b := w.batchOf(facts...)
	w.tx(func(tx pgx.Tx) error { return w.writer.Apply(w.t.Context(), tx, []journal.Batch{b}) })
	w.tx(func(tx pgx.Tx) error { return w.queue.Apply(w.t.Context(), tx, []journal.Batch{b}) })
	return b
}

// batchOf makes the next batch of the event's stream.
func (w *world) batchOf(facts ...engine.Fact) journal.Batch {
	w.t.Helper()
	w.batch++
	r := journal.Record{Ref: engine.EventRef(number), Stream: 7, First: w.seq, Last: w.seq + int64(len(facts)) - 1, Facts: facts}
	for _, f := range facts {
		var err error
		r.Bytes, err = codec.AppendFact(r.Bytes, f)
		require.NoError(w.t, err)
	}
	w.seq += int64(len(facts))
	return journal.Batch{Writer: 1, Seq: w.batch, Records: []journal.Record{r}}
}

func (w *world) tx(do func(pgx.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, pgx.BeginFunc(w.t.Context(), w.pool, do))
}

func (w *world) at() int64 {
	w.now = w.now.Add(time.Millisecond)
	return w.now.UnixMilli()
}

// details are the event's record, changed.
func details(change ...func(*event.Details)) *event.Details {
	d := &event.Details{
		Org: 1, PublicID: engine.NewID(number, make([]byte, 10)), Slug: "friday", Title: "Friday Night", Category: "music", Visibility: "public",
		StartAt: 1_900_000_000_000, EndAt: 1_900_010_000_000, Timezone: "Europe/Berlin", VenueType: "physical", VenueName: "Arena", Currency: "USD",
	}
	for _, c := range change {
		c(d)
	}
	return d
}

func (w *world) created() { w.happen(&event.Created{Details: details(), At: w.at()}) }

func (w *world) updated(change ...func(*event.Details)) {
	w.happen(&event.Updated{Details: details(change...), At: w.at()})
}

// bought are the facts of orders that are complete, one for each buyer.
func (w *world) bought(buyers ...string) []engine.Fact {
	var facts []engine.Fact
	for _, email := range buyers {
		facts = append(facts, w.order(email), &order.Completed{ID: w.id(), First: w.serial, At: w.at()})
		w.serial++
	}
	return facts
}

// id is of the order that has the next ticket.
func (w *world) id() engine.OrderID {
	var tail [10]byte
	binary.BigEndian.PutUint32(tail[6:], w.serial)
	return engine.NewID(number, tail[:])
}

func (w *world) order(email string) *order.Created {
	return &order.Created{Order: &order.Order{
		ID: w.id(), Status: order.StatusPending, Email: email, Name: "Ada\x00", Currency: "USD", CreatedAt: w.at(), UpdatedAt: w.at(),
		Lines: []order.Line{{Type: 1, Name: "Floor", Quantity: 1}},
	}}
}

// put are the mails that were put out, the oldest first.
func (w *world) put() []Mail {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), `SELECT args FROM river_job WHERE kind = 'mail' ORDER BY id`)
	require.NoError(w.t, err)
	mails, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Mail, err error) { return l, row.Scan(&l) })
	require.NoError(w.t, err)
	return mails
}

// states counts the jobs of each state.
func (w *world) states() map[string]int {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), `SELECT state::text, count(*) FROM river_job GROUP BY 1`)
	require.NoError(w.t, err)
	out := map[string]int{}
	var state string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error {
		out[state] = n
		return nil
	})
	require.NoError(w.t, err)
	return out
}

// work has a client work the jobs, as fast as it can, until it is stopped.
func (w *world) work(send Send) (stop func()) {
	w.t.Helper()
	workers, queues := river.NewWorkers(), map[string]river.QueueConfig{}
	w.queue.Register(workers, queues, send)
	for name, q := range queues {
		q.FetchCooldown, q.FetchPollInterval, q.MaxWorkers = time.Millisecond, 20*time.Millisecond, 50
		queues[name] = q
	}
	client, err := river.NewClient(riverpgxv5.New(w.pool), &river.Config{
		Workers: workers, Queues: queues, Logger: slog.New(slog.DiscardHandler), TestOnly: true,
	})
	require.NoError(w.t, err)
	require.NoError(w.t, client.Start(context.WithoutCancel(w.t.Context())))
	var once sync.Once
	stop = func() {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			require.NoError(w.t, client.StopAndCancel(ctx))
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// done waits until no job is left to do.
func (w *world) done() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		s := w.states()
		return s["available"]+s["running"]+s["scheduled"]+s["retryable"] == 0
	}, within, 10*time.Millisecond, "%v", w.states())
}

// tray is what was carried.
type tray struct {
	mu    sync.Mutex
	mails []Mail
}

func (t *tray) send(_ context.Context, l *Mail) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mails = append(t.mails, *l)
	return true, nil
}

func (t *tray) all() []Mail {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.mails)
}

// addresses are those of the mails of a mail, in alphabetical order.
func (t *tray) addresses(m Template) []string {
	var out []string
	for _, l := range t.all() {
		if l.Template == m {
			out = append(out, l.To)
		}
	}
	slices.Sort(out)
	return out
}

var errLater = errors.New("later")

func people(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("p%05d@example.org", i))
	}
	return out
}
