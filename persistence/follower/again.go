package follower

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// This file lists facts that were set aside (Digester), and applies them again on request.

// Aside is a fact that was set aside.
type Aside struct {
	Follower  string    `json:"follower"`
	Stream    int64     `json:"stream"`
	Seq       int64     `json:"seq"`
	Last      int64     `json:"lastSeq"` // Seq, or the last fact of a record that cannot be read
	Writer    int32     `json:"writer"`
	Batch     int64     `json:"batch"`
	Aggregate string    `json:"aggregate"` // the stream's name
	Type      string    `json:"type"`
	Error     string    `json:"error"` // the last attempt's error
	Attempts  int32     `json:"attempts"`
	Since     time.Time `json:"since"`
	TriedAt   time.Time `json:"triedAt"`
	Retry     bool      `json:"retry"` // whether an operator has asked for another attempt
}

// Selection picks facts that were set aside. An empty field selects all.
type Selection struct {
	Follower string
	Stream   int64
}

// selected is the condition by which a Selection picks rows, with its fields as the first two parameters.
const selected = ` WHERE done_at IS NULL AND ($1 = '' OR follower = $1) AND ($2 = 0 OR stream_id = $2)`

// Asides lists at most limit of the facts that are set aside. Facts of one follower and stream are in order.
func Asides(ctx context.Context, pool *pgxpool.Pool, s Selection, limit int) ([]Aside, error) {
	const list = `
SELECT follower, stream_id, seq, last_seq, writer, batch, aggregate, type, error, attempts, since, tried_at, retry FROM set_aside` +
		selected + ` ORDER BY follower, stream_id, seq LIMIT $3`
	rows, _ := pool.Query(ctx, list, s.Follower, s.Stream, limit) // CollectRows returns its error
	asides, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Aside])
	if err != nil {
		return nil, fmt.Errorf("follower: facts set aside: %w", err)
	}
	return asides, nil
}

// CountAsides counts what is set aside, by follower.
func CountAsides(ctx context.Context, pool *pgxpool.Pool) (map[string]int64, error) {
	rows, _ := pool.Query(ctx, `SELECT follower, count(*) FROM set_aside WHERE done_at IS NULL GROUP BY follower`) // ForEachRow returns its error
	counts := make(map[string]int64)
	var name string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		counts[name] = n
		return nil
	}); err != nil {
		return nil, fmt.Errorf("follower: facts set aside: %w", err)
	}
	return counts, nil
}

// RequestRetry makes the followers, wherever they run, try the selected facts again. It returns how
// many facts those are. Asides shows the result: facts that went well are gone, the others have one
// attempt more.
func RequestRetry(ctx context.Context, pool *pgxpool.Pool, s Selection) (int64, error) {
	tag, err := pool.Exec(ctx, `UPDATE set_aside SET retry = true`+selected, s.Follower, s.Stream)
	if err != nil {
		return 0, fmt.Errorf("follower: request another attempt: %w", err)
	}
	return tag.RowsAffected(), nil
}

// Requested counts the facts for which a requested attempt is still to be made.
func Requested(ctx context.Context, pool *pgxpool.Pool, s Selection) (n int64, err error) {
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM set_aside`+selected+` AND retry`, s.Follower, s.Stream).Scan(&n); err != nil {
		return 0, fmt.Errorf("follower: requested attempts: %w", err)
	}
	return n, nil
}

const (
	lookEvery = time.Second // between two looks at what is set aside
	maxCount  = 10_000      // rows are counted only up to this many, because a disaster may set millions of facts aside
	chunk     = 10_000      // how many facts of a stream are applied together when the stream is rebuilt
)

// Tend counts the facts that are set aside, once a second, and makes the attempts that somebody asked for
// (RequestRetry). It reads the facts from the journal by means of from. Each stream has a transaction of its
// own, which begin opens on a connection that works. An attempt in it may take as long as within. Only the
// goroutine that calls Apply may call Tend.
func (d *Digester) Tend(ctx context.Context, from Past, begin func(context.Context) (pgx.Tx, error), within time.Duration) error {
	if time.Since(d.looked) < lookEvery {
		return nil
	}
	var streams []int64
	look := func(ctx context.Context, tx pgx.Tx) error {
		const count = `SELECT count(*) FROM (SELECT FROM set_aside WHERE follower = $1 AND done_at IS NULL LIMIT $2) n`
		const requested = `SELECT DISTINCT stream_id FROM set_aside WHERE follower = $1 AND retry ORDER BY stream_id LIMIT $2`
		var n int64
		if err := tx.QueryRow(ctx, count, d.name, maxCount).Scan(&n); err != nil {
			return err
		}
		d.waiting.Store(n)
		rows, _ := tx.Query(ctx, requested, d.name, maxCount) // CollectRows returns its error
		var err error
		streams, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	}
	if err := transact(ctx, begin, look); err != nil {
		return fmt.Errorf("follower: facts set aside: %w", err)
	}
	d.looked = time.Now()
	for _, stream := range streams {
		again := func(ctx context.Context, tx pgx.Tx) error { return d.tellAgain(ctx, tx, from, within, stream) }
		// This transaction may have a new connection, so facts that broke an earlier connection get another try.
		clear(d.broke)
		if err := transactAgain(ctx, begin, again); err != nil {
			return fmt.Errorf("follower: tell stream %d again: %w", stream, err)
		}
		d.looked = time.Time{}
	}
	return nil
}

// tellAgain makes the attempts that were asked for at one stream, in the order of its facts, and notes how each
// ended. For a follower with forget it rebuilds the stream's rows from the first fact on instead (rebuildStream),
// or gives up if the journal no longer has that fact. Requests that another node has locked, because it makes the
// same attempts, are left out.
func (d *Digester) tellAgain(ctx context.Context, tx pgx.Tx, from Past, within time.Duration, stream int64) error {
	const mine = `
SELECT seq, last_seq, aggregate FROM set_aside WHERE follower = $1 AND stream_id = $2 AND retry ORDER BY seq FOR UPDATE SKIP LOCKED`
	const done = `
UPDATE set_aside SET retry = false, done_at = now(), attempts = attempts + 1, tried_at = now()
WHERE follower = $1 AND stream_id = $2 AND (seq = ANY ($3) OR $4) AND done_at IS NULL AND tried_at < now()`
	rows, _ := tx.Query(ctx, mine, d.name, stream) // ForEachRow returns its error
	var seqs, lasts []int64
	var seq, last int64
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&seq, &last, &name}, func() error {
		seqs, lasts = append(seqs, seq), append(lasts, last)
		return nil
	}); err != nil || len(seqs) == 0 {
		return err
	}
	ref, err := engine.ParseRef(name)
	if err != nil {
		return err
	}
	// A follower with forget keeps rows in which later facts overwrite earlier ones. An old fact can't be applied
	// alone then, because it would undo what later facts did. All rows of the stream are deleted and made again
	// from its first fact on.
	if d.forget != nil {
		if beheaded, err := d.giveUp(ctx, tx, from, stream); err != nil || beheaded {
			return err
		}
		if err := d.rebuildStream(ctx, tx, from, within, ref, stream); err != nil {
			return err
		}
	} else {
		for i := range seqs {
			if err := d.applySpan(ctx, tx, from, within, ref, stream, seqs[i]-1, lasts[i]); err != nil {
				return err
			}
		}
	}
	// A fact that failed again was set aside in this transaction, so its tried_at is now() and the update leaves
	// it out.
	_, err = tx.Exec(ctx, done, d.name, stream, seqs, d.forget != nil)
	return err
}

// giveUp reports whether the journal has dropped a stream's first facts. If so, the stream can't be rebuilt, and
// giveUp writes that as the error into the rows for which an attempt was asked for.
func (d *Digester) giveUp(ctx context.Context, tx pgx.Tx, from Past, stream int64) (beheaded bool, err error) {
	const note = `
UPDATE set_aside SET retry = false, attempts = attempts + 1, tried_at = now(), error = 'the first facts of the stream are past their retention'
WHERE follower = $1 AND stream_id = $2 AND retry`
	if beheaded, err = from.IsBeheaded(ctx, stream); err != nil || !beheaded {
		return false, err
	}
	_, err = tx.Exec(ctx, note, d.name, stream)
	return true, err
}

// rebuildStream deletes what the follower's tables have of the stream, and applies the stream's facts again from the
// first on, up to the follower's saved positions, chunk by chunk in the one transaction. The follower applies later
// facts itself.
func (d *Digester) rebuildStream(ctx context.Context, tx pgx.Tx, from Past, within time.Duration, ref engine.Ref, stream int64) error {
	rows, _ := tx.Query(ctx, `SELECT writer, batch FROM followers WHERE name = $1`, d.name) // ForEachRow returns its error
	var writers []int32
	var batches []int64
	var at position
	if _, err := pgx.ForEachRow(rows, []any{&at.writer, &at.batch}, func() error {
		writers, batches = append(writers, at.writer), append(batches, at.batch)
		return nil
	}); err != nil {
		return err
	}
	upto, err := from.LastWithin(ctx, stream, writers, batches)
	if err != nil {
		return err
	}
	if err := d.forget(ctx, tx, ref); err != nil {
		return err
	}
	for after := int64(0); after < upto; after += chunk {
		if err := d.applySpan(ctx, tx, from, within, ref, stream, after, min(after+chunk, upto)); err != nil {
			return err
		}
	}
	return nil
}

// applySpan applies the stream's facts with seqs above after, up to and including upto. Facts that can't be
// applied are set aside again.
func (d *Digester) applySpan(ctx context.Context, tx pgx.Tx, from Past, within time.Duration, ref engine.Ref, stream, after, upto int64) error {
	batches, err := readSpan(ctx, from, ref, stream, after, upto)
	if err != nil || len(batches) == 0 {
		return err
	}
	return d.digestFacts(ctx, tx, within, splitBatches(batches))
}

// readSpan reads from the journal exactly the stream's facts with seqs above after, up to and including upto.
// Only a record that can't be split is returned whole.
func readSpan(ctx context.Context, from Past, ref engine.Ref, stream, after, upto int64) ([]journal.Batch, error) {
	batches, err := from.ReadSpan(ctx, ref, stream, after, upto)
	if err != nil {
		return nil, err
	}
	for i := range batches {
		r := &batches[i].Records[0]
		if r.First <= after {
			if *r, err = recordAfter(*r, after); err != nil {
				continue // the record cannot be read, and is applied or set aside as a whole
			}
		}
		if r.Last > upto {
			if head, _, err := splitRecord(*r, int(upto-r.First+1)); err == nil {
				*r = head
			}
		}
	}
	return batches, nil
}
