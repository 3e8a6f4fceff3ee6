package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// db is a connection or a pool.
type db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Add adds a member to the table of nodes, and buries its earlier lifetimes.
func Add(ctx context.Context, conn db, m Member, apart bool, log *slog.Logger) error {
	const earlier = `SELECT id FROM nodes WHERE name = $1`
	rows, err := conn.Query(ctx, earlier, m.Name)
	if err != nil {
		return fmt.Errorf("members: join: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("members: join: %w", err)
	}
	for _, id := range ids {
		if _, err := Bury(ctx, conn, id, AnyBeat, apart, log); err != nil {
			return err
		}
	}
	const insert = `INSERT INTO nodes (id, name, link, http) VALUES ($1, $2, $3, $4)`
	if _, err := conn.Exec(ctx, insert, m.ID, m.Name, m.Link, m.HTTP); err != nil {
		return fmt.Errorf("members: join: %w", err)
	}
	return nil
}

// Beat raises a member's beat, and reads the table: the members, sorted by ID, and their beats. It
// returns ErrLost if the member is not in the table.
func Beat(ctx context.Context, conn db, id string, leaving bool, info []byte) (list []Member, beats map[string]int64, err error) {
	const (
		beat = `UPDATE nodes SET beat = beat + 1, seen = now(), leaving = $2, info = $3 WHERE id = $1`
		all  = `SELECT id, name, link, http, leaving, beat FROM nodes ORDER BY id COLLATE "C"`
	)
	var b pgx.Batch
	b.Queue(beat, id, leaving, info)
	b.Queue(all)
	results := conn.SendBatch(ctx, &b)
	tag, err := results.Exec()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("members: beat: %w", err), results.Close())
	}
	rows, err := results.Query()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("members: list: %w", err), results.Close())
	}
	beats = make(map[string]int64)
	list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Member, err error) {
		var n int64
		err = row.Scan(&m.ID, &m.Name, &m.Link, &m.HTTP, &m.Leaving, &n)
		beats[m.ID] = n
		return m, err
	})
	if err := errors.Join(err, results.Close()); err != nil {
		return nil, nil, fmt.Errorf("members: list: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, nil, ErrLost
	}
	return list, beats, nil
}

// AnyBeat makes Bury ignore the beat.
const AnyBeat = -1

// Bury deletes a dead member if its beat is still the given one, and closes its journal's writers,
// so that everything it may still send is fenced. If the journal is apart, in another database, Bury
// notes the member in the table burials instead, and CloseBuried closes its writers. Until then, what
// it sends is fenced as soon as another node has claimed the stream (docs/adr/0021). Bury reports whether
// it was the member's end: it is not if the member lives, or if another node was faster.
func Bury(ctx context.Context, conn db, id string, beat int64, apart bool, log *slog.Logger) (buried bool, err error) {
	const (
		dead  = `WITH dead AS (DELETE FROM nodes WHERE id = $1 AND $2::bigint IN (beat, -1) RETURNING id), `
		close = dead + `closed AS (UPDATE writers SET closed_at = now() FROM dead WHERE node = dead.id AND closed_at IS NULL) SELECT id FROM dead`
		note  = dead + `noted AS (INSERT INTO burials (node) SELECT id FROM dead) SELECT id FROM dead`
	)
	bury := close
	if apart {
		bury = note
	}
	rows, err := conn.Query(ctx, bury, id, beat)
	if err != nil {
		return false, fmt.Errorf("members: bury %s: %w", id, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return false, fmt.Errorf("members: bury %s: %w", id, err)
	}
	if len(ids) > 0 {
		log.WarnContext(ctx, "member taken for dead", slog.String("member", id))
	}
	return len(ids) > 0, nil
}

// Remove deletes a member that has left.
func Remove(ctx context.Context, conn db, id string) error {
	const remove = `DELETE FROM nodes WHERE id = $1`
	if _, err := conn.Exec(ctx, remove, id); err != nil {
		return fmt.Errorf("members: leave: %w", err)
	}
	return nil
}

// CloseBuried closes the writers of buried members in all databases of a journal that is apart. What is
// interrupted, or fails in one of them, is done again by the next call: a member is never alive again
// under its ID, and opened its writers before it became a member.
func CloseBuried(ctx context.Context, home *pgxpool.Pool, journals []*pgxpool.Pool) error {
	rows, _ := home.Query(ctx, `SELECT node FROM burials`) // CollectRows returns its error
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("members: burials: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	const close = `UPDATE writers SET closed_at = now() WHERE node = ANY($1) AND closed_at IS NULL`
	var errs []error
	for _, journal := range journals {
		if _, err := journal.Exec(ctx, close, ids); err != nil {
			errs = append(errs, fmt.Errorf("members: close the writers of %v: %w", ids, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if _, err := home.Exec(ctx, `DELETE FROM burials WHERE node = ANY($1)`, ids); err != nil {
		return fmt.Errorf("members: burials: %w", err)
	}
	return nil
}
