package journal_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// The clock may jump to a day without a partition: the append makes one, beside
// a reader that holds on to the journal, and with other lanes doing the same.
func TestDayWithoutPartition(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var now atomic.Pointer[time.Time]
	set := func(s string) {
		at, err := time.Parse(time.RFC3339, s)
		require.NoError(t, err)
		now.Store(&at)
	}
	set("2031-02-28T23:59:59Z")
	j := open(t, pool, "a", func(c *journal.Config) {
		c.Lanes, c.Now = 4, func() time.Time { return *now.Load() }
	})
	require.Equal(t, []string{"journal_20310228", "journal_20310301"}, partitions(t, pool))

	reader, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Rollback(t.Context())) }()
	_, err = reader.Exec(t.Context(), "SELECT count(*) FROM journal")
	require.NoError(t, err)

	scribes := make([]*persisttest.Scribe, 8)
	for i := range scribes {
		scribes[i] = persisttest.NewScribe(t, j, engine.EventRef(int64(i)))
	}
	for _, day := range []string{
		"2031-02-28T23:59:59Z", "2031-03-01T00:00:00Z", "2031-03-05T12:00:00Z", "2030-12-31T23:59:59Z", "2031-03-05T00:30:00+01:00",
	} {
		set(day)
		var verdicts []*persisttest.Verdict
		for _, s := range scribes {
			verdicts = append(verdicts, s.Append(1))
		}
		for _, v := range verdicts {
			require.NoError(t, v.Wait(t))
		}
	}
	for _, s := range scribes {
		require.Equal(t, persisttest.Tokens(1, 1, 5), persisttest.LoadTokens(t, j, s.Claim.Stream, 0))
	}
	require.Equal(t, []string{
		"journal_20301231", "journal_20310228", "journal_20310301", "journal_20310304", "journal_20310305",
	}, partitions(t, pool))
}

// A partition has what the journal's declaration says.
func TestPartitionInherits(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	open(t, pool, "a")
	var storage string
	require.NoError(t, pool.QueryRow(t.Context(), `
SELECT DISTINCT attstorage::text FROM pg_attribute a JOIN pg_inherits i ON i.inhrelid = a.attrelid
WHERE i.inhparent = 'journal'::regclass AND attlen < 0`).Scan(&storage))
	require.Equal(t, "e", storage, "EXTERNAL")
	var options []string
	require.NoError(t, pool.QueryRow(t.Context(), `
SELECT DISTINCT reloptions FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid WHERE i.inhparent = 'journal'::regclass`).Scan(&options))
	require.Equal(t, []string{"toast_tuple_target=8160"}, options)
	rows, err := pool.Query(t.Context(), `
SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'journal_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')`)
	require.NoError(t, err)
	indexes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Len(t, indexes, 1)
	require.Contains(t, indexes[0], "USING btree (writer, batch, day)")
}

func TestReadWriter(t *testing.T) {
	t.Parallel()
	pool, batches := persisttest.Migrated(t), &persisttest.Batches{}
	j := open(t, pool, "a", func(c *journal.Config) { c.Lanes, c.Sink = 1, batches.Sink })
	a, b := persisttest.NewScribe(t, j, engine.EventRef(1)), persisttest.NewScribe(t, j, engine.InventoryRef(1, 2))
	for range 100 {
		require.NoError(t, a.Append(1).Wait(t))
		require.NoError(t, b.Append(2).Wait(t))
	}
	// A hole, as if the batches 41 to 120 had been on a day that is gone.
	_, err := pool.Exec(t.Context(), `DELETE FROM journal WHERE batch BETWEEN 41 AND 120`)
	require.NoError(t, err)
	writers, err := j.Writers(t.Context())
	require.NoError(t, err)
	require.Len(t, writers, 1)
	for _, after := range []int64{0, 7, 40, 100, 199, 200, 5000} {
		want := after + 1
		for got, err := range j.ReadWriter(t.Context(), writers[0].ID, after) {
			require.NoError(t, err)
			if want > 40 && want <= 120 {
				want = 121
			}
			require.Equal(t, want, got.Seq)
			handed := batches.All()[got.Seq-1]
			require.Equal(t, handed.Writer, got.Writer)
			requireSameRecords(t, got.Records, handed.Records)
			want++
		}
		require.Equal(t, max(after, 200)+1, want)
	}
}

// However batches grow, a reader holds few of them: what it has not read yet can go.
func TestReadWriterHoldsFew(t *testing.T) {
	t.Parallel()
	const small, big = 1016, 50 // the windows of 8, 16 ... 512 batches, and some of the next one
	pool := persisttest.Migrated(t)
	j := open(t, pool, "a", oneLane)
	require.NoError(t, persisttest.NewScribe(t, j, engine.EventRef(1)).Append(1).Wait(t))
	_, err := pool.Exec(t.Context(), `
INSERT INTO journal SELECT writer, n, day, streams, epochs, ARRAY[n], ARRAY[n], ARRAY[size], decode(repeat('00', size), 'hex')
FROM journal, generate_series(2, $1::int) n, LATERAL (SELECT CASE WHEN n > $2 THEN 200000 ELSE 8 END AS size) s`, small+big, small)
	require.NoError(t, err)
	var last int64
	for b, err := range j.ReadWriter(t.Context(), 1, 0) {
		require.NoError(t, err)
		if last = b.Seq; last == small+1 {
			_, err = pool.Exec(t.Context(), `DELETE FROM journal WHERE batch > $1`, last)
			require.NoError(t, err)
		}
	}
	require.Equal(t, int64(small+8), last)
}

func TestStreamsAndWakes(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	j := open(t, pool, "a")
	want := make(map[engine.Ref]int64)
	for i := range 1500 {
		ref := engine.InventoryRef(9, int64(i))
		c, err := j.Claim(t.Context(), ref)
		require.NoError(t, err)
		want[ref] = 0
		if i%500 == 0 {
			s := persisttest.NewScribe(t, j, ref)
			require.Equal(t, c.Stream, s.Claim.Stream)
			require.NoError(t, s.Append(3).Wait(t))
			want[ref] = 3
		}
	}
	got := make(map[engine.Ref]int64)
	for s, err := range j.Streams(t.Context()) {
		require.NoError(t, err)
		got[s.Ref] = s.Head
		require.Equal(t, s.Head > 0, s.Epoch == 2)
	}
	require.Equal(t, want, got)
	var wakes int
	require.NoError(t, pool.QueryRow(t.Context(), `
SELECT count(*) FROM wakes JOIN streams USING (name) WHERE at <= now() AND at > now() - interval '1 minute'`).Scan(&wakes))
	require.Equal(t, len(want), wakes)
}

// The plans of a lane must not depend on what the statistics say: they are made once,
// when the tables are empty, and kept.
func TestLanePlans(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	open(t, pool, "a")
	cfg := journal.LaneConfig(journal.Config{Pool: pool})
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	plan := func(execute string) string {
		rows, err := conn.Query(t.Context(), `EXPLAIN EXECUTE `+execute, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return strings.Join(lines, "\n")
	}
	for _, prepare := range []string{
		"PREPARE a (int, bigint, date, bigint[], int[], bigint[], bigint[], int[], bytea, int) AS " + journal.AppendFirst,
		"PREPARE s (bigint[], int[], int) AS " + journal.Standing,
	} {
		_, err = conn.Exec(t.Context(), prepare)
		require.NoError(t, err)
	}
	for _, streams := range []int{0, 10, 300, 100_000} {
		_, err = conn.Exec(t.Context(), `INSERT INTO streams (name, epoch) SELECT 's' || $1::int || n, 1 FROM generate_series(1, $1::int) n`, streams)
		require.NoError(t, err)
		if streams > 0 {
			_, err = conn.Exec(t.Context(), `ANALYZE streams`)
			require.NoError(t, err)
		}
		appends := plan(`a (1, 1, current_date, '{1}', '{1}', '{1}', '{1}', '{1}', 'x', 0)`)
		require.Contains(t, appends, "Index Scan using writers_pkey on writers", "%d streams", streams)
		require.NotContains(t, appends, "Join", "%d streams", streams)
		stands := plan(`s ('{1}', '{1}', 1)`)
		require.Contains(t, stands, "Index Scan using streams_pkey on streams", "%d streams", streams)
		require.Contains(t, stands, "Index Cond: (stream_id = b.stream_id)", "%d streams", streams)
		require.NotContains(t, stands, "Join", "%d streams", streams)
	}
}

// What a writer's batches cost to read does not grow with the journal.
func TestReadRecentBatches(t *testing.T) {
	t.Parallel()
	const records = 100
	pool := persisttest.Migrated(t)
	open(t, pool, "a")
	_, err := pool.Exec(t.Context(), `INSERT INTO streams (name, epoch) SELECT 'event-' || n, 1 FROM generate_series(1, $1::int) n`, records)
	require.NoError(t, err)
	fill := func(from, upto int) {
		_, err = pool.Exec(t.Context(), `
INSERT INTO journal (writer, batch, day, streams, epochs, firsts, lasts, ends, facts)
SELECT 1, b, (now() AT TIME ZONE 'UTC')::date, array_agg(s), array_agg(1), array_agg(b), array_agg(b), array_agg(150 * s), decode(repeat('00', 150 * $3), 'hex')
FROM generate_series($1::bigint, $2::bigint) b, generate_series(1, $3::int) s GROUP BY b ORDER BY b`, from, upto, records)
		require.NoError(t, err)
	}
	fill(1, 100)

	conn, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Rollback(t.Context())) }()
	_, err = conn.Exec(t.Context(), journal.ByIndex)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "PREPARE read (int, bigint, bigint) AS "+journal.BatchesBetween)
	require.NoError(t, err)
	pages := func(after int) int {
		var plan []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
				Rows int `json:"Actual Rows"`
			} `json:"Plan"`
		}
		explain := fmt.Sprintf(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE read (1, %d, %d)`, after, after+8)
		require.NoError(t, conn.QueryRow(t.Context(), explain, pgx.QueryExecModeSimpleProtocol).Scan(&plan))
		require.Equal(t, 8, plan[0].Plan.Rows)
		return plan[0].Plan.Hit + plan[0].Plan.Read
	}
	few := pages(50)
	fill(101, 2_000)
	for range 10 { // the plan may become a generic one
		require.Less(t, pages(1_900), few+30)
	}
}

func partitions(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'journal'::regclass ORDER BY 1`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}
