package publicfacts_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

// feeding is a store whose read model is ahead of all facts.
type feeding struct {
	t    testing.TB
	pool *pgxpool.Pool
	*publicfacts.Store
}

// newFeeding makes a feeding with so many events; each belongs to the organization with the event's
// number.
func newFeeding(t testing.TB, events int64) *feeding {
	t.Helper()
	pool := persisttest.Migrated(t)
	_, err := pool.Exec(t.Context(), `INSERT INTO followers VALUES ('readmodel', 1, $1)`, int64(math.MaxInt64))
	require.NoError(t, err)
	b := journal.Batch{Writer: 1, Seq: 1}
	for number := int64(1); number <= events; number++ {
		f := created(number)
		f.Details.Org = number
		r := journal.Record{Ref: engine.EventRef(number), Facts: []engine.Fact{f}}
		r.Bytes, err = codec.AppendFact(nil, f)
		require.NoError(t, err)
		b.Records = append(b.Records, r)
	}
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		return readmodel.NewWriter().Apply(t.Context(), tx, []journal.Batch{b})
	}))
	return &feeding{t, pool, publicfacts.New(pool, journal.NewReader(pool), vault{}, teller{})}
}

// begin publishes n facts of an event from seq on, in a transaction that is still open.
func (f *feeding) begin(number, seq int64, n int) pgx.Tx {
	f.t.Helper()
	tx, err := f.pool.Begin(f.t.Context())
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(f.t.Context())) }) // for a test that fails
	r := journal.Record{Ref: engine.EventRef(number), Stream: number, First: seq, Last: seq + int64(n) - 1}
	for i := range n {
		var fact engine.Fact = &event.Moved{At: 1}
		if i%2 == 1 {
			fact = &admission.CheckInDenied{At: 1}
		}
		r.Facts = append(r.Facts, fact)
	}
	require.NoError(f.t, f.Apply(f.t.Context(), tx, []journal.Batch{{Writer: 1, Seq: 1, Records: []journal.Record{r}}}))
	return tx
}

func (f *feeding) tell(number, seq int64, n int) {
	f.t.Helper()
	require.NoError(f.t, f.begin(number, seq, n).Commit(f.t.Context()))
}

// read reads the feed from a cursor to its end.
func (f *feeding) read(q publicfacts.Query) (seqs []int64, end publicfacts.Cursor) {
	f.t.Helper()
	for {
		page, err := f.Feed(f.t.Context(), q)
		require.NoError(f.t, err)
		require.LessOrEqual(f.t, len(page.Facts), q.Limit)
		for _, fact := range page.Facts {
			require.Equal(f.t, q.Org, fact.Org)
			seqs = append(seqs, fact.Seq)
		}
		if q.After = page.End; !page.More {
			return seqs, page.End
		}
	}
}

// reads waits until the feed from a cursor is as wanted, because transactions of other tests on the
// same server hold it up.
func (f *feeding) reads(want []int64, q publicfacts.Query) (end publicfacts.Cursor) {
	f.t.Helper()
	var got []int64
	for began := time.Now(); time.Since(began) < within; {
		if got, end = f.read(q); slices.Equal(got, want) {
			return end
		}
	}
	require.Equal(f.t, want, got)
	return end
}

func seqs(from, to int64) (all []int64) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

func TestFeed(t *testing.T) {
	t.Parallel()
	f := newFeeding(t, 2)
	none := f.reads(nil, publicfacts.Query{Org: 1, Limit: 10})
	require.Zero(t, none)
	none, err := f.End(t.Context(), 1)
	require.NoError(t, err)
	require.Zero(t, none)
	f.tell(1, 1, 25)
	f.tell(2, 1, 3)
	var end publicfacts.Cursor
	for _, limit := range []int{1, 7, 24, 25, 26, 100} {
		end = f.reads(seqs(1, 25), publicfacts.Query{Org: 1, Limit: limit})
	}
	require.Equal(t, end, f.reads(nil, publicfacts.Query{Org: 1, After: end, Limit: 10}))
	f.tell(1, 26, 2)
	f.reads(seqs(26, 27), publicfacts.Query{Org: 1, After: end, Limit: 1})
	f.reads(seqs(1, 3), publicfacts.Query{Org: 2, Limit: 2})
	f.reads(nil, publicfacts.Query{Org: 3, Limit: 2})
	f.reads([]int64{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27}, publicfacts.Query{Org: 1, Types: []string{"*admission.CheckInDenied"}, Limit: 5})
	f.reads(nil, publicfacts.Query{Org: 1, Types: []string{"none"}, Limit: 5})
	f.reads(seqs(1, 27), publicfacts.Query{Org: 1, Types: []string{"*admission.CheckInDenied", "*event.Moved"}, Limit: 5})

	t.Log("from now on")
	for _, org := range []int64{1, 2, 3} {
		end, err := f.End(t.Context(), org)
		require.NoError(t, err)
		require.NotZero(t, end)
		f.reads(nil, publicfacts.Query{Org: org, After: end, Limit: 5})
		if org == 1 {
			f.tell(1, 28, 1)
			f.reads([]int64{28}, publicfacts.Query{Org: org, After: end, Limit: 5})
		}
	}

	page, err := f.Feed(t.Context(), publicfacts.Query{Org: 1, Limit: 25})
	require.NoError(t, err)
	require.True(t, page.More)
	require.JSONEq(t, `{"title":"Event 1","event":"draft"}`, string(page.Facts[0].Data))
	var stored []byte
	require.NoError(t, f.pool.QueryRow(t.Context(), `SELECT data FROM facts LIMIT 1`).Scan(&stored))
	require.NotContains(t, string(stored), "Event 1", "it is sealed")

	t.Log("a cursor of nowhere")
	for _, c := range []publicfacts.Cursor{{XID: math.MaxInt64}, {XID: 1 << 40, Position: 3}} {
		_, err := f.Feed(t.Context(), publicfacts.Query{Org: 1, After: c, Limit: 5})
		require.ErrorIs(t, err, publicfacts.ErrCursor)
	}
}

// TestFeedOfFew looks for a rare type among more facts than a page looks through.
func TestFeedOfFew(t *testing.T) {
	t.Parallel()
	f := newFeeding(t, 1)
	f.tell(1, 1, 1)
	_, err := f.pool.Exec(t.Context(), `INSERT INTO facts (org, stream, seq, at, id, type, aggregate, data)
		SELECT 1, 1, n, now(), '', 'common', '', '' FROM generate_series(2, 20001) n`)
	require.NoError(t, err)
	f.tell(1, 20_002, 1)
	f.reads([]int64{1, 20_002}, publicfacts.Query{Org: 1, Types: []string{"*event.Moved"}, Limit: 1})
	f.reads([]int64{1, 20_002}, publicfacts.Query{Org: 1, Types: []string{"*event.Moved"}, Limit: 100})
	page, err := f.Feed(t.Context(), publicfacts.Query{Org: 1, Types: []string{"none"}, Limit: 100})
	require.NoError(t, err)
	require.Empty(t, page.Facts)
	require.True(t, page.More)
}

// TestFeedWaits makes a transaction that began earlier commit later.
func TestFeedWaits(t *testing.T) {
	t.Parallel()
	f := newFeeding(t, 2)
	slow := f.begin(1, 1, 2)
	_, err := slow.Exec(t.Context(), `UPDATE facts SET org = 2 WHERE org = 1`)
	require.NoError(t, err)
	f.tell(2, 1, 2)
	seqs, end := f.read(publicfacts.Query{Org: 2, Limit: 10})
	require.Empty(t, seqs, "what comes later must not be read before")
	require.Zero(t, end)
	require.NoError(t, slow.Commit(t.Context()))
	f.reads([]int64{1, 2, 1, 2}, publicfacts.Query{Org: 2, Limit: 10})
}

// TestFeedMissesNothing lets many writers write at once, some of which give up, while readers
// follow them page by page.
func TestFeedMissesNothing(t *testing.T) {
	t.Parallel()
	const writers, rounds, readers = 5, 60, 3
	f := newFeeding(t, writers)
	var written atomic.Bool
	var writing, reading sync.WaitGroup
	for number := int64(1); number <= writers; number++ {
		writing.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(number), 1)) //nolint:gosec // any dice do
			for seq := int64(1); seq <= rounds; {
				n := 1 + dice.IntN(4)
				tx := f.begin(number, seq, n)
				_, err := tx.Exec(t.Context(), `UPDATE facts SET org = 1 WHERE org = $1 AND xid = pg_current_xact_id()`, number)
				require.NoError(t, err)
				_, err = tx.Exec(t.Context(), `SELECT pg_sleep($1)`, dice.Float64()/200) // others overtake it
				require.NoError(t, err)
				if dice.IntN(5) == 0 {
					require.NoError(t, tx.Rollback(t.Context()))
					continue
				}
				require.NoError(t, tx.Commit(t.Context()))
				seq += int64(n)
			}
		})
	}
	got := make([]map[string][]int64, readers)
	follow := func(i int) {
		q := publicfacts.Query{Org: 1, Limit: 1 + i*10}
		for {
			done := written.Load()
			page, err := f.Feed(t.Context(), q)
			require.NoError(t, err)
			for _, fact := range page.Facts {
				got[i][fact.Aggregate] = append(got[i][fact.Aggregate], fact.Seq)
			}
			if q.After = page.End; done && !page.More {
				return
			}
		}
	}
	for i := range got {
		got[i] = map[string][]int64{}
		reading.Go(func() { follow(i) })
	}
	writing.Wait()
	want := map[string][]int64{}
	for number := int64(1); number <= writers; number++ {
		var last int64
		name := engine.EventRef(number).Name()
		require.NoError(t, f.pool.QueryRow(t.Context(), `SELECT max(seq) FROM facts WHERE aggregate = $1`, name).Scan(&last))
		want[name] = seqs(1, last)
	}
	f.settled()
	written.Store(true)
	reading.Wait()
	for i := range got {
		require.Equal(t, want, got[i], "reader %d", i)
	}
}

// settled waits until the feed has nothing to wait for.
func (f *feeding) settled() {
	f.t.Helper()
	const open = `SELECT count(*) FROM facts WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())`
	require.Eventually(f.t, func() bool {
		var n int
		return f.pool.QueryRow(f.t.Context(), open).Scan(&n) == nil && n == 0
	}, within, time.Millisecond)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	f := newFeeding(t, 2)
	f.tell(1, 1, 10)
	f.settled()
	old, err := f.Feed(t.Context(), publicfacts.Query{Org: 1, Limit: 5})
	require.NoError(t, err)
	f.tell(1, 11, 10)
	f.tell(2, 1, 1)
	f.settled()
	quiet := f.reads(seqs(1, 1), publicfacts.Query{Org: 2, Limit: 5})
	require.NoError(t, f.Prune(t.Context()))
	f.reads(seqs(1, 20), publicfacts.Query{Org: 1, Limit: 5})

	_, err = f.pool.Exec(t.Context(), `UPDATE facts SET told_at = now() - interval '31 days' WHERE org = 1 AND seq <= 10`)
	require.NoError(t, err)
	require.NoError(t, f.Prune(t.Context()))
	f.settled()
	end := f.reads(seqs(11, 20), publicfacts.Query{Org: 1, Limit: 5})
	_, err = f.Feed(t.Context(), publicfacts.Query{Org: 1, After: old.End, Limit: 5})
	require.ErrorIs(t, err, publicfacts.ErrPruned)
	f.reads(nil, publicfacts.Query{Org: 1, After: end, Limit: 5})
	f.reads(nil, publicfacts.Query{Org: 2, After: quiet, Limit: 5})

	t.Log("more than a batch, until nothing is left")
	_, err = f.pool.Exec(t.Context(), `INSERT INTO facts (org, stream, seq, at, id, type, aggregate, data)
		SELECT 1, 1, n, now(), '', 'common', '', '' FROM generate_series(1, 12000) n`)
	require.NoError(t, err)
	_, err = f.pool.Exec(t.Context(), `UPDATE facts SET told_at = now() - interval '31 days'`)
	require.NoError(t, err)
	require.NoError(t, f.Prune(t.Context()))
	var left int
	require.NoError(t, f.pool.QueryRow(t.Context(), `SELECT count(*) FROM facts`).Scan(&left))
	require.Zero(t, left)
	_, err = f.Feed(t.Context(), publicfacts.Query{Org: 2, After: quiet, Limit: 5})
	require.ErrorIs(t, err, publicfacts.ErrPruned, "nobody knows whose they were")
	f.tell(2, 2, 1)
	f.reads(seqs(2, 2), publicfacts.Query{Org: 2, Limit: 5})
}
