package deliveries_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// world is a database with an organization.
type world struct {
	*deliveries.Store
	t    *testing.T
	pool *pgxpool.Pool
	org  int64
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: persisttest.Migrated(t)}
	var err error
	w.Store, err = deliveries.New(w.pool)
	require.NoError(t, err)
	w.org = w.organization()
	return w
}

func (w *world) organization() (org int64) {
	w.t.Helper()
	w.scan(&org, `INSERT INTO organizations (name, slug) VALUES ('x', $1) RETURNING id`, rand.Text())
	return org
}

func (w *world) scan(into any, sql string, args ...any) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), sql, args...).Scan(into))
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.pool.Exec(w.t.Context(), sql, args...)
	require.NoError(w.t, err)
}

// draft returns an endpoint to be made.
func (w *world) draft(events ...string) *deliveries.Endpoint {
	if len(events) == 0 {
		events = []string{deliveries.All}
	}
	return &deliveries.Endpoint{Org: w.org, URL: "https://hook.example.org/", Events: events, Secret: []byte("sealed"), Hint: "whsec_ab"}
}

func (w *world) create(events ...string) *deliveries.Endpoint {
	w.t.Helper()
	e, err := w.Create(w.t.Context(), uuid.New(), w.draft(events...))
	require.NoError(w.t, err)
	return e
}

// fact returns a fact of the organization.
func (w *world) fact(typ string, stream, seq int64) publicfacts.Fact {
	return publicfacts.Fact{
		ID: fmt.Sprintf("evt_%d_%d_%s", stream, seq, typ), Org: w.org, Type: typ, Stream: stream, Aggregate: "event/1/1", Seq: seq,
		At: time.UnixMilli(1_900_000_000_000).UTC(), Data: []byte(`{"n":1}`),
	}
}

// tell adds facts to their table and fans them out.
func (w *world) tell(facts ...publicfacts.Fact) {
	w.t.Helper()
	require.NoError(w.t, pgx.BeginFunc(w.t.Context(), w.pool, func(tx pgx.Tx) error {
		for i := range facts {
			f := &facts[i]
			if err := tx.QueryRow(w.t.Context(), `INSERT INTO facts (org, stream, seq, at, id, type, aggregate, data)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING position`,
				f.Org, f.Stream, f.Seq, f.At, f.ID, f.Type, f.Aggregate, []byte(f.Data)).Scan(&f.Position); err != nil {
				return err
			}
		}
		return w.FanOut(w.t.Context(), tx, facts)
	}))
}

// jobs counts River's jobs of a kind.
func (w *world) jobs(kind string) (n int) {
	w.t.Helper()
	w.scan(&n, `SELECT count(*) FROM river_job WHERE kind = $1`, kind)
	return n
}

// history returns what an endpoint was sent, the oldest first.
func (w *world) history(endpoint int64) []*deliveries.Delivery {
	w.t.Helper()
	all, err := w.Deliveries(w.t.Context(), endpoint, 0, 1_000)
	require.NoError(w.t, err)
	out := make([]*deliveries.Delivery, len(all))
	for i, d := range all {
		out[len(all)-1-i] = d
	}
	return out
}

// claim leases the endpoints that have something due at a time.
func (w *world) claim(holder string, now time.Time) []int64 {
	w.t.Helper()
	ids, err := w.Claim(w.t.Context(), holder, now, 100)
	require.NoError(w.t, err)
	return ids
}

// load returns the only page of an endpoint, or nil.
func (w *world) load(endpoint int64, now time.Time) *deliveries.Page {
	w.t.Helper()
	pages, err := w.Load(w.t.Context(), []int64{endpoint}, now)
	require.NoError(w.t, err)
	if len(pages) == 0 {
		return nil
	}
	require.Len(w.t, pages, 1)
	return pages[0]
}

// record claims, loads and records answers to everything that is due for an endpoint.
func (w *world) record(endpoint int64, now time.Time, answer func(*deliveries.Attempt) deliveries.Result) {
	w.t.Helper()
	require.Contains(w.t, w.claim("one", now), endpoint)
	p := w.load(endpoint, now)
	require.NotNil(w.t, p)
	var results []deliveries.Result
	for _, a := range p.Attempts {
		r := answer(a)
		r.Delivery, r.Number, r.At = a.Delivery, a.Number, now
		results = append(results, r)
	}
	require.NoError(w.t, w.Record(w.t.Context(), "one", map[int64][]deliveries.Result{endpoint: results}))
}

func succeed(*deliveries.Attempt) deliveries.Result {
	return deliveries.Result{Status: deliveries.Succeeded, ResponseStatus: 204, Latency: 12 * time.Millisecond}
}
