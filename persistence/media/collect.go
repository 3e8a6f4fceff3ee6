package media

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Name returns the ones among the files that belong to the organization and are ready. The caller
// is about to write a record that names them. Name notes the time, and Unneeded then leaves the
// files alone for unnamedDays, so that the record can be written in the meantime.
func (s *Store) Name(ctx context.Context, org int64, ids []int64) ([]int64, error) {
	rows, _ := s.pool.Query(ctx, `UPDATE media SET named_at = now() WHERE id = ANY($2) AND org = $1 AND ready RETURNING id`, org, ids) // CollectRows returns its error
	own, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("name media: %w", err)
	}
	return own, nil
}

// Own returns the ones among the files that belong to the organization and are ready. Unlike Name,
// it notes nothing.
func (s *Store) Own(ctx context.Context, org int64, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, `SELECT id FROM media WHERE id = ANY($2) AND org = $1 AND ready`, org, ids) // CollectRows returns its error
	own, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("own media: %w", err)
	}
	return own, nil
}

const (
	unnamedDays   = 7   // days for which a file that nothing names is kept
	unfinishedFor = "1" // hours after which a file that is not ready counts as given up
	atATime       = 100 // most files that are looked for at once
)

// silent are the tables in which findNamed does not look. Those that hold facts, or what was published about
// facts, name a file for ever. The others are big and name none.
var silent = []string{
	"media", "journal", "snapshots", "streams", "spans", "tails", "writers", "wakes", "applied", "set_aside", "facts", "webhook_deliveries", "mails",
	"idempotency", "command_numbers", "sessions", "orders", "tickets", "payments", "refunds", "receipts", "wallet_entries", "river_job", "requests",
}

// Unneeded returns some files whose bytes and rows may be removed. Either no record has named them
// for unnamedDays, or their upload was begun and given up. It marks them as not ready, so that no
// record can name them any more. The caller must remove the bytes first, and then the row (Forget).
func (s *Store) Unneeded(ctx context.Context) ([]*File, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id FROM media WHERE ready AND named_at < now() - make_interval(days => $1)
		ORDER BY named_at LIMIT $2`, unnamedDays, atATime) // CollectRows returns its error
	old, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("old media: %w", err)
	}
	// A file counts as named if Name was called for it, or if a record still names it. In the
	// second case its time moves to now, so that it is looked for again only after unnamedDays.
	named, err := s.findNamed(ctx, old)
	if err != nil {
		return nil, err
	}
	const mark = `
WITH kept AS (UPDATE media SET named_at = now() WHERE id = ANY($2)),
gone AS (UPDATE media SET ready = false WHERE id = ANY($1) AND NOT id = ANY($2) AND named_at < now() - make_interval(days => $3) RETURNING id)
SELECT id, org, kind, filename, mime, bytes, variants, sha256, private, ready, created_at FROM media
WHERE id IN (SELECT id FROM gone) OR NOT ready AND created_at < now() - interval '` + unfinishedFor + ` hour' LIMIT $4`
	rows, _ = s.pool.Query(ctx, mark, old, named, unnamedDays, atATime) // CollectRows returns its error
	files, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("unneeded media: %w", err)
	}
	return files, nil
}

// findNamed returns the files that some record names. It searches all columns of texts, JSON or
// bytes in all tables except the silent ones. A table that is added later therefore needs no change
// here.
func (s *Store) findNamed(ctx context.Context, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, `
SELECT c.table_name, c.column_name, c.data_type = 'bytea' FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND NOT c.table_name = ANY($1)
  AND (c.data_type IN ('text', 'json', 'jsonb', 'bytea') OR c.udt_name = '_text')`, silent) // CollectRows returns its error
	type column struct {
		Table, Column string
		Bytes         bool
	}
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	if err != nil {
		return nil, fmt.Errorf("columns that name media: %w", err)
	}
	var found []int64
	for _, c := range columns {
		table, name := pgx.Identifier{c.Table}.Sanitize(), pgx.Identifier{c.Column}.Sanitize()
		// A path that is the beginning of another path matches that one too. So a file may
		// be kept too long, but is never deleted too early.
		has := `position('/media/' || id in r.` + name + `::text) > 0`
		if c.Bytes {
			has = `position(convert_to('/media/' || id, 'UTF8') in r.` + name + `) > 0`
		}
		rows, _ := s.pool.Query(ctx, `SELECT id FROM unnest($1::bigint[]) id WHERE EXISTS (SELECT FROM `+table+` r WHERE `+has+`)`, ids) // CollectRows returns its error
		more, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, fmt.Errorf("media named by %s: %w", c.Table, err)
		}
		found = append(found, more...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// Forget removes the row of a file whose bytes are gone. It leaves a file that is ready.
func (s *Store) Forget(ctx context.Context, id int64) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM media WHERE id = $1 AND NOT ready`, id); err != nil {
		return fmt.Errorf("forget media: %w", err)
	}
	return nil
}
