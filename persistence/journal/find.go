package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
)

// These queries are about single facts, streams, writers and days. The tables of a follower may be in another database,
// so no query here may join them.

// Place is where a fact was committed.
type Place struct {
	Writer  int32
	Batch   int64 // number of the batch; 0 if the journal does not have the fact yet
	Dropped bool  // whether the fact is gone with its day; Writer and Batch are 0 then
}

// Locate returns where facts were committed. Fact i is fact number seqs[i] of the stream streams[i], and must be the
// last fact of its record. The i-th place of the result is the place of fact i: Dropped if the journal has dropped the
// fact, and zero if it has no such fact.
func (j *Reader) Locate(ctx context.Context, streams, seqs []int64) ([]Place, error) {
	const written = `
SELECT b.n, coalesce(r.writer, 0), coalesce(r.batch, 0), r.batch IS NULL
FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS b(stream_id, last_seq, n)
LEFT JOIN LATERAL (SELECT writer, batch FROM records_of(b.stream_id, b.last_seq - 1, b.last_seq) r WHERE r.last_seq = b.last_seq) r ON true
LEFT JOIN floors f ON f.stream_id = b.stream_id AND f.seq >= b.last_seq WHERE r.batch IS NOT NULL OR f.seq IS NOT NULL`
	found := make([]Place, len(streams))
	for shard, places := range groupByShard(j.pools, streams) {
		if len(places) == 0 {
			continue
		}
		rows, _ := j.pools[shard].Query(ctx, written, pickPlaces(streams, places), pickPlaces(seqs, places)) // ForEachRow returns its error
		var n int
		var at Place
		if _, err := pgx.ForEachRow(rows, []any{&n, &at.Writer, &at.Batch, &at.Dropped}, func() error {
			found[places[n-1]] = at
			return nil
		}); err != nil {
			return nil, fmt.Errorf("journal: locate facts: %w", err)
		}
	}
	return found, nil
}

// ReadSpan reads the records of a stream that have a fact after one seq and up to another, in order. Each is in a
// batch of its own. The first and the last record may have facts outside of that range, because records are returned
// whole.
func (j *Reader) ReadSpan(ctx context.Context, ref engine.Ref, stream, after, upto int64) ([]Batch, error) {
	const read = `SELECT writer, batch, epoch, first_seq, last_seq, facts FROM records_of($1, $2, $3) ORDER BY last_seq`
	rows, _ := j.pools.Of(stream).Query(ctx, read, stream, after, upto) // CollectRows returns its error
	batches, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b Batch, err error) {
		r := Record{Ref: ref, Stream: stream}
		err = row.Scan(&b.Writer, &b.Seq, &r.Epoch, &r.First, &r.Last, &r.Bytes)
		b.Records = []Record{r}
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("journal: read stream %d: %w", stream, err)
	}
	return batches, nil
}

// LastWithin returns the last seq of a stream that was committed within the given batches: for each of the writers,
// its batches up to the one with the same index. It returns 0 if there is none.
func (j *Reader) LastWithin(ctx context.Context, stream int64, writers []int32, batches []int64) (seq int64, err error) {
	const last = `
SELECT coalesce(max(r.last_seq), 0) FROM records_of($1, 0) r JOIN unnest($2::int[], $3::bigint[]) AS u(writer, batch)
ON u.writer = r.writer AND u.batch >= r.batch`
	if err := j.pools.Of(stream).QueryRow(ctx, last, stream, writers, batches).Scan(&seq); err != nil {
		return 0, fmt.Errorf("journal: last fact of stream %d: %w", stream, err)
	}
	return seq, nil
}

// IsBeheaded reports whether the journal has dropped the first facts of a stream. For stream 0, which does not exist,
// it reports whether the journal has dropped the first facts of any stream.
func (j *Reader) IsBeheaded(ctx context.Context, stream int64) (beheaded bool, err error) {
	const floor = `SELECT EXISTS (SELECT FROM floors WHERE $1::bigint = 0 OR stream_id = $1::bigint)`
	asked := j.pools
	if stream != 0 {
		asked = Pools{j.pools.Of(stream)}
	}
	for _, pool := range asked {
		if err := pool.QueryRow(ctx, floor, stream).Scan(&beheaded); err != nil {
			return false, fmt.Errorf("journal: floors: %w", err)
		}
		if beheaded {
			return true, nil
		}
	}
	return false, nil
}

// Standing returns the given claims that no longer allow to write: a later claim has fenced them, or their
// writer is closed. A writer is closed if its node was taken for dead, or if its shard has moved. In the new place of
// the shard there may be later claims, which this database does not know.
func (j *Reader) Standing(ctx context.Context, claims []Claim) ([]Claim, error) {
	const fenced = `
SELECT b.n FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS b(stream_id, epoch, n)
WHERE NOT EXISTS (SELECT FROM streams s WHERE s.stream_id = b.stream_id AND s.epoch = b.epoch
  AND NOT EXISTS (SELECT FROM writers w WHERE w.writer = s.writer AND w.closed_at IS NOT NULL))`
	streams, epochs := make([]int64, len(claims)), make([]int32, len(claims))
	for i, c := range claims {
		streams[i], epochs[i] = c.Stream, c.Epoch
	}
	var lost []Claim
	for shard, places := range groupByShard(j.pools, streams) {
		if len(places) == 0 {
			continue
		}
		rows, _ := j.pools[shard].Query(ctx, fenced, pickPlaces(streams, places), pickPlaces(epochs, places)) // CollectRows returns its error
		some, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			return nil, fmt.Errorf("journal: standing: %w", err)
		}
		for _, n := range some {
			lost = append(lost, claims[places[n-1]])
		}
	}
	return lost, nil
}

// Facts returns the bytes of facts for the streams with the given names, by name: one slice for each record that
// begins at or before upto, in order. Records that the journal has dropped are missing. An error of one database is
// only returned if the others do not have all of the streams.
func (j *Reader) Facts(ctx context.Context, names []string, upto int64) (map[string][][]byte, error) {
	const first = `
SELECT s.name, r.facts FROM streams s CROSS JOIN LATERAL records_of(s.stream_id, 0, $2) r WHERE s.name = ANY($1) ORDER BY s.name, r.last_seq`
	type record struct {
		Name  string
		Facts []byte
	}
	records, err := collectLists(ctx, j.pools, func(ctx context.Context, pool *pgxpool.Pool) ([]record, error) {
		rows, _ := pool.Query(ctx, first, names, upto) // CollectRows returns its error
		return pgx.CollectRows(rows, pgx.RowToStructByPos[record])
	})
	all := make(map[string][][]byte, len(names))
	for _, r := range records {
		all[r.Name] = append(all[r.Name], r.Facts)
	}
	if err != nil && len(all) < len(names) {
		return nil, fmt.Errorf("journal: facts by name: %w", err)
	}
	return all, nil
}

// Heads returns the number of the last batch that the journal has of each writer, in the order of the given
// writers. The number is 0 for a writer without a batch.
func (j *Reader) Heads(ctx context.Context, writers []int32) ([]int64, error) {
	const heads = `
SELECT coalesce((SELECT max(j.batch) FROM journal j WHERE j.writer = w.writer), 0)
FROM unnest($1::int[]) WITH ORDINALITY AS w(writer, n) ORDER BY w.n`
	all := make([]int64, len(writers))
	for shard, places := range groupByShard(j.pools, writers) {
		if len(places) == 0 {
			continue
		}
		rows, _ := j.pools[shard].Query(ctx, heads, pickPlaces(writers, places)) // CollectRows returns its error
		some, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, fmt.Errorf("journal: heads: %w", err)
		}
		for i, place := range places {
			all[place] = some[i]
		}
	}
	return all, nil
}

// Stretch is what a writer has committed on a day: the batches from First to Last.
type Stretch struct {
	Writer      int32
	First, Last int64
}

// DayStretches returns what the writers in a database have committed on a day.
func DayStretches(ctx context.Context, pool *pgxpool.Pool, day time.Time) ([]Stretch, error) {
	const stretches = `SELECT writer, min(batch), max(batch) FROM journal WHERE day = $1 GROUP BY writer ORDER BY writer`
	rows, _ := pool.Query(ctx, stretches, day) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Stretch])
	if err != nil {
		return nil, fmt.Errorf("journal: writers of a day: %w", err)
	}
	return all, nil
}
