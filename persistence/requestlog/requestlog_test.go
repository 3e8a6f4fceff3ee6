package requestlog_test

import (
	"fmt"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/quota"
	"boxoffice/persistence/requestlog"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// world is a log on a database of its own, in which there are the organizations 7 and 8.
type world struct {
	*requestlog.Log
	t      *testing.T
	pool   *pgxpool.Pool
	quota  *quota.Counter
	full   atomic.Bool
	passed atomic.Int64 // how far the clock is ahead, in nanoseconds
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: persisttest.Migrated(t)}
	_, err := w.pool.Exec(t.Context(), `INSERT INTO organizations (id, name, slug) OVERRIDING SYSTEM VALUE VALUES (7, 'Hill', 'hill'), (8, 'Vale', 'vale')`)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	w.quota = quota.Start(quota.Config{Pool: w.pool, Log: log, Full: w.full.Load, Scale: 1, Paid: 1 << 30})
	w.Log = requestlog.Start(requestlog.Config{
		Pool: w.pool, Log: log, Full: w.full.Load, Quota: w.quota, Vault: vault(), Now: func() time.Time { return time.Now().Add(time.Duration(w.passed.Load())) },
	})
	return w
}

// stop ends the log, and thereby writes everything that it could keep.
func (w *world) stop() {
	w.t.Helper()
	require.NoError(w.t, w.Stop(w.t.Context()))
	require.NoError(w.t, w.quota.Stop(w.t.Context()))
}

// add logs a request of organization 7.
func (w *world) add(changes func(*requestlog.Entry)) requestlog.Entry {
	e := requestlog.Entry{
		Org: 7, Key: 3, At: time.Now().Round(time.Microsecond), Took: 1500 * time.Microsecond, Status: 200,
		Method: "GET", Route: "/things", RequestID: "req_1", Client: netip.MustParseAddr("2001:db8::7"),
	}
	if changes != nil {
		changes(&e)
	}
	w.Add(&e)
	return e
}

func (w *world) list(f requestlog.Filter) []requestlog.Entry {
	w.t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	entries, err := w.List(w.t.Context(), f)
	require.NoError(w.t, err)
	return entries
}

func TestEntriesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	w := open(t)
	want := w.add(nil)
	w.add(func(e *requestlog.Entry) { e.Org = 8 })
	w.stop()
	got := w.list(requestlog.Filter{Org: 7})
	require.Len(t, got, 1)
	require.True(t, want.At.Equal(got[0].At))
	want.At, want.Number = got[0].At, got[0].Number
	require.Equal(t, want, got[0])
	require.Zero(t, w.Dropped())
}

// TestPagesOfOneMoment makes sure that pages follow one another, even if requests come meanwhile,
// and if all have the same time.
func TestPagesOfOneMoment(t *testing.T) {
	t.Parallel()
	w := open(t)
	at := time.Now()
	for i := range 25 {
		w.add(func(e *requestlog.Entry) { e.At, e.RequestID = at, fmt.Sprint(i) })
	}
	w.stop()
	seen := map[string]bool{}
	f := requestlog.Filter{Org: 7, Limit: 10}
	for page := w.list(f); len(page) > 0; page = w.list(f) {
		for _, e := range page {
			require.False(t, seen[e.RequestID])
			seen[e.RequestID] = true
		}
		last := page[len(page)-1].Place()
		f.Before = &last
	}
	require.Len(t, seen, 25)
}

// TestWhatDoesNotFitIsCounted makes sure that an entry for which the queue or the disk has no room
// is dropped and counted.
func TestWhatDoesNotFitIsCounted(t *testing.T) {
	t.Parallel()
	w := open(t)
	tx, err := w.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE requests`)
	require.NoError(t, err)
	const sent = 60_000
	for range sent {
		w.add(nil)
	}
	dropped := w.Dropped()
	require.Positive(t, dropped)
	require.NoError(t, tx.Rollback(t.Context()))
	w.stop()
	var kept int64
	require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT count(*) FROM requests`).Scan(&kept))
	require.Equal(t, int64(sent), kept+w.Dropped())

	full := open(t)
	full.full.Store(true)
	full.add(nil)
	full.stop()
	require.Empty(t, full.list(requestlog.Filter{Org: 7}))
	require.EqualValues(t, 1, full.Dropped())
}

func TestOldRequestsGo(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.add(func(e *requestlog.Entry) { e.At = e.At.Add(-requestlog.Kept - time.Minute) })
	young := w.add(func(e *requestlog.Entry) { e.At, e.RequestID = e.At.Add(-requestlog.Kept+time.Minute), "young" })
	w.stop()
	require.Len(t, w.list(requestlog.Filter{Org: 7}), 1, "what is old is not shown even before it is deleted")
	require.NoError(t, w.Prune(t.Context()))
	var left []string
	require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT array_agg(request_id) FROM requests`).Scan(&left))
	require.Equal(t, []string{young.RequestID}, left)
}

func TestFigures(t *testing.T) {
	t.Parallel()
	w := open(t)
	none, err := w.Summarize(t.Context(), 7, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Empty(t, none)
	for i := 1; i <= 100; i++ {
		w.add(func(e *requestlog.Entry) {
			e.Took = time.Duration(i) * time.Millisecond
			switch {
			case i <= 10:
				e.Status = 404
			case i == 11:
				e.Status = 503
			}
		})
	}
	w.add(func(e *requestlog.Entry) { e.Method, e.Took = "POST", time.Second })
	w.add(func(e *requestlog.Entry) { e.At = e.At.Add(-2 * time.Hour) })
	w.add(func(e *requestlog.Entry) { e.Org = 8 })
	w.stop()
	got, err := w.Summarize(t.Context(), 7, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	require.Equal(t, []requestlog.Figures{
		{Requests: 101, ClientErrors: 10, ServerErrors: 1, P50: ms(51), P95: ms(96), P99: ms(100)},
		{Method: "GET", Route: "/things", Requests: 100, ClientErrors: 10, ServerErrors: 1, P50: ms(50), P95: ms(95), P99: ms(99)},
		{Method: "POST", Route: "/things", Requests: 1, P50: time.Second, P95: time.Second, P99: time.Second},
	}, got)
}
