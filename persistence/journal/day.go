package journal

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// keepDays opens partitions ahead of need until ctx ends. A lane that finds one
// missing opens it by itself; this only saves it the delay.
func (j *Postgres) keepDays(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := j.openDays(ctx); err != nil {
			j.log.Warn("journal partitions not opened", slog.Any("error", err))
		}
	}
}

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

// openDay creates the day's partition unless it is there. It attaches a finished
// table, which lets appends and readers go on; CREATE TABLE ... PARTITION OF
// would wait for every reader and hold up every append meanwhile.
func openDay(ctx context.Context, conn *pgx.Conn, day int32) error {
	name := pgx.Identifier{"journal_" + dayStart(day).Format("20060102")}.Sanitize()
	const there = `
SELECT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'journal'::regclass AND c.relname = $1)`
	const create = `
CREATE TABLE %[1]s (LIKE journal INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE);
ALTER TABLE journal ATTACH PARTITION %[1]s FOR VALUES FROM ('%[2]s') TO ('%[3]s')`
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		const lock = `SELECT pg_advisory_xact_lock(hashtext('partitions of ' || 'journal'::regclass::oid))`
		if _, err := tx.Exec(ctx, lock); err != nil {
			return err
		}
		var done bool
		if err := tx.QueryRow(ctx, there, "journal_"+dayStart(day).Format("20060102")).Scan(&done); err != nil || done {
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
