package journal

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
)

// Reader reads a journal without writing facts, for the audit and the followers. If one of several databases does
// not answer, methods about a writer or stream in it return an error. Writers then lists the writers of the others,
// together with an error. Facts succeeds if the others have all of its streams. Records, Streams and IsBeheaded (of
// any stream) need all databases.
type Reader struct{ pools Pools }

// NewReader returns a reader of a journal in one database or in several.
func NewReader(pools ...*pgxpool.Pool) *Reader { return &Reader{pools} }

// Load reads the stream's records after the given seq, in order. It keeps a
// connection of the pool while the caller iterates.
func (j *Reader) Load(ctx context.Context, stream, after int64) iter.Seq2[Record, error] {
	const tail = `SELECT stream_id, first_seq, last_seq, epoch, facts FROM records_of($1, $2) ORDER BY last_seq`
	return func(yield func(Record, error) bool) {
		rows, err := j.pools.Of(stream).Query(ctx, tail, stream, after)
		if err != nil {
			yield(Record{}, fmt.Errorf("journal: load stream %d: %w", stream, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var r Record
			if err := rows.Scan(&r.Stream, &r.First, &r.Last, &r.Epoch, &r.Bytes); err != nil {
				yield(Record{}, fmt.Errorf("journal: load stream %d: %w", stream, err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Record{}, fmt.Errorf("journal: load stream %d: %w", stream, err))
		}
	}
}

// Writer is one lane of one process of a node.
type Writer struct {
	ID     int32
	Node   string
	Opened time.Time
	Closed bool // whether the writer is closed, so that nothing will be added to its tail
}

// Writers lists all writers, the oldest of each shard first.
func (j *Reader) Writers(ctx context.Context) ([]Writer, error) {
	const all = `SELECT writer, node, opened_at, closed_at IS NOT NULL FROM writers ORDER BY writer`
	writers, err := collectLists(ctx, j.pools, func(ctx context.Context, pool *pgxpool.Pool) ([]Writer, error) {
		rows, _ := pool.Query(ctx, all) // CollectRows returns its error
		return pgx.CollectRows(rows, pgx.RowToStructByPos[Writer])
	})
	if err != nil {
		return writers, fmt.Errorf("journal: writers: %w", err)
	}
	return writers, nil
}

// CloseWriter closes a writer, and so fences its lane: of a node that is taken for dead, or of this node when
// the lane ends. Once it returns, nothing more is written under that writer. Closing a closed writer changes
// nothing.
func (j *Reader) CloseWriter(ctx context.Context, writer int32) error {
	const close = `UPDATE writers SET closed_at = now() WHERE writer = $1 AND closed_at IS NULL`
	if _, err := j.pools.Of(int64(writer)).Exec(ctx, close, writer); err != nil {
		return fmt.Errorf("journal: close writer %d: %w", writer, err)
	}
	return nil
}

// These bound how many batches ReadWriter reads at a time. It reads fewer if they are big, because it keeps all of
// them in memory.
const (
	minWindow = 8
	maxWindow = 1024
	bigWindow = 1 << 20 // bytes of facts
)

// ReadWriter reads the writer's batches after the given one, in commit order. Records carry Ref and
// Bytes. Batches that are committed while it reads may be left out, but only at the end. It keeps
// no connection while the caller iterates.
func (j *Reader) ReadWriter(ctx context.Context, writer int32, after int64) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		window := int64(minWindow)
		for {
			batches, size, err := j.readWindow(ctx, writer, after, after+window)
			if err == nil && len(batches) == 0 {
				after, err = j.nextBatch(ctx, writer, after)
				if err == nil && after < 0 {
					return
				}
			}
			if err != nil {
				yield(Batch{}, fmt.Errorf("journal: read writer %d: %w", writer, err))
				return
			}
			for _, b := range batches {
				if !yield(b, nil) {
					return
				}
				after = b.Seq
			}
			// Small windows double, so that a long tail takes few queries. After a window that was too big, the next
			// one is as long as the part that was read.
			if size < bigWindow/4 {
				window = min(2*window, maxWindow)
			} else if size > bigWindow {
				window = max(int64(len(batches)), minWindow)
			}
		}
	}
}

// byIndex makes the planner use the index. The planner has no statistics for a partition that was never analyzed. It
// would plan to read all of it, in parallel, and a follower would take processor time from the sale that it follows.
const byIndex = `
SELECT set_config(name, 'off', true) FROM unnest('{enable_seqscan, enable_hashjoin, enable_mergejoin}'::text[]) AS name
UNION ALL SELECT set_config('max_parallel_workers_per_gather', '0', true)`

// queryByIndex runs a query about a writer with byIndex's settings, and passes its rows to read. Both statements
// are in one transaction, and the settings end with it.
func (j *Reader) queryByIndex(ctx context.Context, writer int32, read func(pgx.Rows) error, query string, args ...any) error {
	var once pgx.Batch // one transaction
	once.Queue(byIndex)
	once.Queue(query, args...).Query(read)
	return j.pools.Of(int64(writer)).SendBatch(ctx, &once).Close()
}

// batchesBetween is the query of readWindow.
const batchesBetween = `
SELECT j.batch, j.streams, j.epochs, j.firsts, j.lasts, j.ends, j.facts, (
  SELECT array_agg(s.name ORDER BY r.n) FROM unnest(j.streams) WITH ORDINALITY AS r(stream_id, n) JOIN streams s USING (stream_id))
FROM journal j WHERE j.writer = $1 AND j.batch > $2 AND j.batch <= $3 ORDER BY j.batch`

// readWindow reads the batches with numbers above after and up to last, and returns how many bytes of facts they
// have. It stops beyond bigWindow, but not before minWindow batches: batches that are small in a quiet time may be so
// large in a rush that a window of them has gigabytes.
func (j *Reader) readWindow(ctx context.Context, writer int32, after, last int64) (batches []Batch, size int, err error) {
	read := func(rows pgx.Rows) error {
		var r batchRow
		for rows.Next() {
			b := Batch{Writer: writer}
			r.facts = nil // the records keep this memory
			if err := rows.Scan(&b.Seq, &r.streams, &r.epochs, &r.firsts, &r.lasts, &r.ends, &r.facts, &r.names); err != nil {
				return err
			}
			if b.Records, err = r.records(); err != nil {
				return err
			}
			batches, size = append(batches, b), size+len(r.facts)
			if size > bigWindow && len(batches) >= minWindow {
				break // the rest comes with the next window
			}
		}
		return rows.Err()
	}
	err = j.queryByIndex(ctx, writer, read, batchesBetween, writer, after, last)
	return batches, size, err
}

// batchRow is one row of the journal as it is read back.
type batchRow struct {
	streams, firsts, lasts []int64
	epochs, ends           []int32
	facts                  []byte
	names                  []string // names of the streams
}

// records divides the row into records. Record i has the facts from the end of the one before it up to ends[i]. A
// stream that the database does not know is an error.
func (r *batchRow) records() ([]Record, error) {
	if len(r.names) != len(r.streams) {
		return nil, fmt.Errorf("%d streams, %d of them known", len(r.streams), len(r.names))
	}
	records := make([]Record, len(r.streams))
	begin := int32(0)
	for i, stream := range r.streams {
		ref, err := engine.ParseRef(r.names[i])
		if err != nil {
			return nil, fmt.Errorf("stream %q: %w", r.names[i], err)
		}
		end := r.ends[i]
		records[i] = Record{
			Ref: ref, Stream: stream, First: r.firsts[i], Last: r.lasts[i], Epoch: r.epochs[i], Bytes: r.facts[begin:end:end],
		}
		begin = end
	}
	return records, nil
}

// nextBatch returns where to go on after a window without batches: the number just before the next batch, or -1 if
// there is none. Numbers may be missing, because days are dropped.
func (j *Reader) nextBatch(ctx context.Context, writer int32, after int64) (next int64, err error) {
	const first = `SELECT coalesce(min(batch), 0) - 1 FROM journal WHERE writer = $1 AND batch > $2`
	err = j.queryByIndex(ctx, writer, func(rows pgx.Rows) error {
		next, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
		return err
	}, first, writer, after)
	return next, err
}

// Records counts the journal's records, including those that the spans do not cover yet.
func (j *Reader) Records(ctx context.Context) (n int64, err error) {
	const all = `SELECT coalesce(sum(cardinality(streams)), 0) FROM journal`
	for _, pool := range j.pools {
		var some int64
		if err := pool.QueryRow(ctx, all).Scan(&some); err != nil {
			return 0, fmt.Errorf("journal: records: %w", err)
		}
		n += some
	}
	return n, nil
}

// Stream is one actor's stream as it stands.
type Stream struct {
	ID    int64
	Ref   engine.Ref
	Epoch int32
	Head  int64 // seq of the stream's last fact; 0 if it has none
}

// Streams reads all streams, by shard and id, for the audit. It reads them page by page, so streams that are made
// while it reads may or may not be among them. An error is the last element.
func (j *Reader) Streams(ctx context.Context) iter.Seq2[Stream, error] {
	const page = `
SELECT s.stream_id, s.name, s.epoch, head_of(s.stream_id) FROM streams s WHERE s.stream_id > $1 ORDER BY s.stream_id LIMIT 1000`
	scan := func(row pgx.CollectableRow) (s Stream, err error) {
		var name string
		if err = row.Scan(&s.ID, &name, &s.Epoch, &s.Head); err != nil {
			return s, err
		}
		if s.Ref, err = engine.ParseRef(name); err != nil {
			return s, fmt.Errorf("stream %q: %w", name, err)
		}
		return s, nil
	}
	return func(yield func(Stream, error) bool) {
		for _, pool := range j.pools {
			for after, more := int64(0), true; more; {
				rows, _ := pool.Query(ctx, page, after) // CollectRows returns its error
				streams, err := pgx.CollectRows(rows, scan)
				if err != nil {
					yield(Stream{}, fmt.Errorf("journal: streams: %w", err))
					return
				}
				for _, s := range streams {
					if !yield(s, nil) {
						return
					}
					after = s.ID
				}
				more = len(streams) > 0
			}
		}
	}
}
