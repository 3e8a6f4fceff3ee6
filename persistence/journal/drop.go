package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrBusy means that a day was not dropped, because somebody reads or writes it, or a node makes or drops another
// day. Try again later.
var ErrBusy = errors.New("journal: somebody is at it")

// lockTimeout is the SQLSTATE that says that a lock was not free within lock_timeout.
const lockTimeout = "55P03"

// lockPartitions makes nodes take turns when they make and drop partitions.
const lockPartitions = `SELECT pg_advisory_xact_lock(hashtext('partitions of ' || 'journal'::regclass::oid))`

// Days lists the days for which the journal in a database has a partition, oldest first.
func Days(ctx context.Context, pool *pgxpool.Pool) ([]time.Time, error) {
	const days = `
SELECT to_date(right(c.relname, 8), 'YYYYMMDD') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'journal'::regclass AND c.relname ~ '^journal_[0-9]{8}$' ORDER BY 1`
	rows, _ := pool.Query(ctx, days) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return nil, fmt.Errorf("journal: days: %w", err)
	}
	return list, nil
}

// DropDay drops a day with its facts from a database, unless check returns an error. It is one transaction: if the
// node dies in the middle, all of the day stays. The drop waits for a lock for 200 ms at most, because appends that
// come later wait behind it. Then it gives up with ErrBusy.
func DropDay(ctx context.Context, pool *pgxpool.Pool, day time.Time, check func(context.Context, pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, sql := range []string{`SET LOCAL lock_timeout = '200ms'`, lockPartitions} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		if err := check(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM spans WHERE day = $1`, day); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DROP TABLE `+pgx.Identifier{partitionOf(dayOf(day))}.Sanitize())
		return err
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == lockTimeout {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("journal: drop %s: %w", day.Format(time.DateOnly), err)
	}
	return nil
}

// Base returns the snapshot with which a stream begins if its first facts were dropped, and the seq of the last fact
// in it. For a stream that still has its first facts, seq is 0 and there is no snapshot.
func (j *Reader) Base(ctx context.Context, stream int64) (seq int64, state []byte, err error) {
	const base = `
SELECT f.seq, (SELECT string_agg(s.state, '' ORDER BY s.part) FROM snapshots s WHERE (s.stream_id, s.epoch, s.seq) = (f.stream_id, f.epoch, f.seq))
FROM floors f WHERE f.stream_id = $1`
	err = j.pools.Of(stream).QueryRow(ctx, base, stream).Scan(&seq, &state)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("journal: base of stream %d: %w", stream, err)
	}
	return seq, state, nil
}
