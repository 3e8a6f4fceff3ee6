package journal

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/panics"
)

// indexEvery is the time between two updates of the spans.
const indexEvery = time.Second

// tendPartitions creates partitions before they are needed, every hour, and updates the spans, every second,
// until ctx ends. A lane that finds a partition missing creates it itself. Creating it early only saves the lane
// that delay.
func (j *Postgres) tendPartitions(ctx context.Context) {
	hour, second := time.NewTicker(time.Hour), time.NewTicker(indexEvery)
	defer hour.Stop()
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hour.C:
			if err := panics.Catch(j.log, "partitions of the journal", func() error { return j.openDays(ctx) }); err != nil {
				j.log.Warn("journal partitions not opened", slog.Any("error", err))
			}
		case <-second.C:
			err := panics.Catch(j.log, "spans of the journal", func() error { return j.indexTails(ctx) })
			if err != nil && ctx.Err() == nil {
				j.log.Warn("journal not indexed", slog.Any("error", err))
			}
		}
	}
}

// partitionOf returns the name of the day's partition.
func partitionOf(day int32) string { return "journal_" + dayStart(day).Format("20060102") }

// openDays opens the partitions of today and tomorrow.
func (j *Postgres) openDays(ctx context.Context) error {
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("journal: open partitions: %w", err)
	}
	defer conn.Release()
	today := dayOf(j.cfg.Now())
	for _, day := range []int32{today, today + 1} {
		if err := openDay(ctx, conn.Conn(), day); err != nil {
			return err
		}
	}
	return nil
}

// openDay creates the day's partition, unless it exists. It first creates a table and then attaches it, which lets
// appends and readers go on. CREATE TABLE ... PARTITION OF would wait for every reader, and every append would wait
// behind it.
func openDay(ctx context.Context, conn *pgx.Conn, day int32) error {
	name := pgx.Identifier{partitionOf(day)}.Sanitize()
	const there = `
SELECT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'journal'::regclass AND c.relname = $1)`
	const create = `
CREATE TABLE %[1]s (LIKE journal INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE) WITH (toast_tuple_target = 8160);
ALTER TABLE journal ATTACH PARTITION %[1]s FOR VALUES FROM ('%[2]s') TO ('%[3]s')`
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockPartitions); err != nil {
			return err
		}
		var done bool
		if err := tx.QueryRow(ctx, there, partitionOf(day)).Scan(&done); err != nil || done {
			return err
		}
		from, to := dayStart(day).Format(time.DateOnly), dayStart(day+1).Format(time.DateOnly)
		_, err := tx.Exec(ctx, fmt.Sprintf(create, name, from, to))
		return err
	})
	if err != nil {
		return fmt.Errorf("journal: open partition %s: %w", name, err)
	}
	return nil
}
