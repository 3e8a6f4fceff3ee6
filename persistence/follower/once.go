package follower

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Apply takes batches in within tx. A batch may lack some records of the batch in the journal, and
// may have only parts of others.
type Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error

// Once makes an Apply that passes each fact to apply only once, in the order of its stream, for all callers that
// use the same name, whether they follow the journal or read from Kafka. It drops facts that were passed on
// before. If the predecessor of a fact is missing, it applies nothing and returns ErrGap. But if the relay to
// Kafka has set the predecessor aside, it reads the predecessor from the journal. How far each stream has come
// is a row of the table applied. The row moves in the same transaction, and only from where this call found it.
func Once(name string, from Past, apply Apply) Apply {
	return func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		o := once{name: name, from: from, was: make(map[int64]int64), now: make(map[int64]int64)}
		if err := o.read(ctx, tx, batches); err != nil {
			return err
		}
		fresh, err := o.dropApplied(batches)
		if errors.Is(err, ErrGap) {
			if batches, err = o.readMissing(ctx, tx, batches); err == nil {
				fresh, err = o.dropApplied(batches)
			}
		}
		if err != nil || len(fresh) == 0 {
			return err
		}
		if err := o.save(ctx, tx); err != nil {
			return err
		}
		return apply(ctx, tx, fresh)
	}
}

// once is one call, with the last seq of each of its streams before and after.
type once struct {
	name     string
	from     Past
	was, now map[int64]int64
}

// read reads into was how far each stream of the batches has come, or 0 if nothing of the stream was applied.
func (o *once) read(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	// This is a join, because = ANY would compare each row with each of a thousand streams.
	const applied = `
SELECT a.stream_id, a.seq FROM unnest($2::bigint[]) AS m(stream_id) JOIN applied a USING (stream_id) WHERE a.name = $1`
	for i := range batches {
		for j := range batches[i].Records {
			o.was[batches[i].Records[j].Stream] = 0
		}
	}
	streams := make([]int64, 0, len(o.was))
	for stream := range o.was {
		streams = append(streams, stream)
	}
	rows, err := tx.Query(ctx, applied, o.name, streams)
	if err != nil {
		return fmt.Errorf("follower: read applied: %w", err)
	}
	var stream, seq int64
	if _, err := pgx.ForEachRow(rows, []any{&stream, &seq}, func() error {
		o.was[stream] = seq
		return nil
	}); err != nil {
		return fmt.Errorf("follower: read applied: %w", err)
	}
	return nil
}

// dropApplied removes the facts that were applied before, and notes in o.now how far the rest gets. It returns
// ErrGap if a fact's predecessor is missing.
func (o *once) dropApplied(batches []journal.Batch) (fresh []journal.Batch, err error) {
	clear(o.now)
	for _, b := range batches {
		var records []journal.Record
		for _, r := range b.Records {
			last, ok := o.now[r.Stream]
			if !ok {
				last = o.was[r.Stream]
			}
			if r.Last <= last {
				continue
			}
			if r.First > last+1 {
				return nil, fmt.Errorf("%w: %s, stream %d: fact %d came after %d", ErrGap, r.Ref.Name(), r.Stream, r.First, last)
			}
			o.now[r.Stream] = r.Last
			if r, err = recordAfter(r, last); err != nil {
				return nil, err
			}
			records = append(records, r)
		}
		if len(records) > 0 {
			b.Records = records
			fresh = append(fresh, b)
		}
	}
	return fresh, nil
}

// readMissing reads facts that are missing because the relay to Kafka has set them aside, and inserts them
// before the facts that follow them. Facts that are missing for another reason stay missing.
func (o *once) readMissing(ctx context.Context, tx pgx.Tx, batches []journal.Batch) ([]journal.Batch, error) {
	const unsent = `
SELECT coalesce(sum(least(last_seq, $2) - greatest(seq, $1) + 1), 0)
FROM set_aside WHERE starts_with(follower, 'kafka:') AND stream_id = $3 AND seq <= $2 AND last_seq >= $1`
	last := make(map[int64]int64)
	var filled []journal.Batch
	for _, b := range batches {
		for _, r := range b.Records {
			from, ok := last[r.Stream]
			if !ok {
				from = o.was[r.Stream]
			}
			last[r.Stream] = max(from, r.Last)
			if r.First <= from+1 {
				continue
			}
			var n int64
			if err := tx.QueryRow(ctx, unsent, from+1, r.First-1, r.Stream).Scan(&n); err != nil {
				return nil, fmt.Errorf("follower: look for what is missing: %w", err)
			}
			if n < r.First-1-from {
				continue // dropApplied will say what is missing
			}
			missing, err := readSpan(ctx, o.from, r.Ref, r.Stream, from, r.First-1)
			if err != nil {
				return nil, fmt.Errorf("%w: read what is missing: %w", ErrAgain, err)
			}
			filled = append(filled, missing...)
		}
		filled = append(filled, b)
	}
	return filled, nil
}

// recordAfter returns the record without its facts up to and including last.
func recordAfter(r journal.Record, last int64) (journal.Record, error) {
	for ; r.First <= last; r.First++ {
		_, _, rest, err := codec.Split(r.Bytes)
		if err != nil {
			return r, fmt.Errorf("follower: stream %d: fact %d: %w", r.Stream, r.First, err)
		}
		r.Bytes = rest
		if r.Facts != nil {
			r.Facts = r.Facts[1:]
		}
	}
	return r, nil
}

// save moves the rows of the streams, each only from where read found it. If another copy has moved one of them,
// save returns ErrAgain, and nothing is applied.
func (o *once) save(ctx context.Context, tx pgx.Tx) error {
	const save = `
WITH m AS (SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS m(stream_id, was, seq)),
fresh AS (
  INSERT INTO applied (name, stream_id, seq) SELECT $1, stream_id, seq FROM m WHERE was = 0
  ON CONFLICT DO NOTHING RETURNING stream_id),
moved AS (
  UPDATE applied a SET seq = m.seq FROM m
  WHERE a.name = $1 AND a.stream_id = m.stream_id AND a.seq = m.was AND m.was > 0 RETURNING a.stream_id)
SELECT (SELECT count(*) FROM fresh) + (SELECT count(*) FROM moved)`
	streams := make([]int64, 0, len(o.now))
	for stream := range o.now {
		streams = append(streams, stream)
	}
	was, now := make([]int64, len(streams)), make([]int64, len(streams))
	for i, stream := range streams {
		was[i], now[i] = o.was[stream], o.now[stream]
	}
	var saved int
	if err := tx.QueryRow(ctx, save, o.name, streams, was, now).Scan(&saved); err != nil {
		return fmt.Errorf("follower: save applied: %w", err)
	}
	if saved != len(streams) {
		return fmt.Errorf("%w: another copy has applied the same", ErrAgain)
	}
	return nil
}
