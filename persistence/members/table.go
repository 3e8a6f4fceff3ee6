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

// db is a connection or a pool, whichever the caller has.
type db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Add adds a member to the table of nodes. It first buries earlier lifetimes of the same name,
// whatever their beats: a node that starts again knows that they have ended.
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
	earlierLives := make(map[string]int64, len(ids))
	for _, id := range ids {
		earlierLives[id] = AnyBeat
	}
	if _, err := Bury(ctx, conn, earlierLives, apart, log); err != nil {
		return err
	}
	const insert = `INSERT INTO nodes (id, name, link, http) VALUES ($1, $2, $3, $4)`
	if _, err := conn.Exec(ctx, insert, m.ID, m.Name, m.Link, m.HTTP); err != nil {
		return fmt.Errorf("members: join: %w", err)
	}
	return nil
}

// Beat raises a member's beat, and reads the table in the same exchange with the server. It returns
// the members, sorted by ID, and their beats. The error is ErrLost if the member is not in the
// table.
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

// AnyBeat makes Bury bury a member whatever its beat is.
const AnyBeat = -1

// Bury deletes the dead members whose beats are still the given ones, and closes the writers of
// their journals, so that everything they may still send is fenced. If the journal is apart, in
// another database, Bury notes the members in the table burials instead, and CloseBuried closes
// their writers. Until that has happened, a stream is fenced as soon as another node claims it
// (docs/adr/0021).
//
// Bury returns how many members it has buried. That may be fewer than given: a member may have
// raised its beat, or another node may have been faster.
func Bury(ctx context.Context, conn db, dead map[string]int64, apart bool, log *slog.Logger) (buried int, err error) {
	if len(dead) == 0 {
		return 0, nil
	}
	// Several members may bury the same dead members at the same time, so all of them lock the rows in the
	// same order.
	const (
		locked = `
WITH locked AS (
  SELECT n.id FROM nodes n JOIN unnest($1::text[], $2::bigint[]) AS d(id, beat) ON d.id = n.id AND d.beat IN (n.beat, -1)
  ORDER BY n.id FOR UPDATE OF n),
dead AS (DELETE FROM nodes n USING locked WHERE n.id = locked.id RETURNING n.id), `
		closing = locked + `closed AS (UPDATE writers SET closed_at = now() FROM dead WHERE node = dead.id AND closed_at IS NULL) SELECT id FROM dead`
		noting  = locked + `noted AS (INSERT INTO burials (node) SELECT id FROM dead) SELECT id FROM dead`
	)
	bury := closing
	if apart {
		bury = noting
	}
	ids, beats := make([]string, 0, len(dead)), make([]int64, 0, len(dead))
	for id, beat := range dead {
		ids, beats = append(ids, id), append(beats, beat)
	}
	rows, err := conn.Query(ctx, bury, ids, beats)
	if err != nil {
		return 0, fmt.Errorf("members: bury %v: %w", ids, err)
	}
	ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("members: bury: %w", err)
	}
	if len(ids) > 0 {
		log.WarnContext(ctx, "members taken for dead", slog.Any("members", ids))
	}
	return len(ids), nil
}

// Remove deletes a member that has left.
func Remove(ctx context.Context, conn db, id string) error {
	const remove = `DELETE FROM nodes WHERE id = $1`
	if _, err := conn.Exec(ctx, remove, id); err != nil {
		return fmt.Errorf("members: leave: %w", err)
	}
	return nil
}

// CloseBuried closes the writers of buried members in all databases of a journal that is apart. If
// a call is interrupted, or fails in one database, the next call does the rest. It is safe at any
// later time, because a buried member never comes back under its ID, and opened all its writers
// before it became a member.
func CloseBuried(ctx context.Context, home *pgxpool.Pool, journals []*pgxpool.Pool) error {
	rows, _ := home.Query(ctx, `SELECT node FROM burials`) // CollectRows returns its error
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("members: burials: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	versions, err := readVersions(ctx, home, len(journals))
	if err != nil {
		return err
	}
	var errs []error
	for i, journal := range journals {
		if err := closeWriters(ctx, journal, ids, versions[i]); err != nil {
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

// readVersions returns the version of each of n shards, or 0 for the one database of a journal
// without shards. It returns an error if home knows of another number of shards, because the dead
// may have writers in a database that the caller has not given.
func readVersions(ctx context.Context, home *pgxpool.Pool, n int) ([]int32, error) {
	rows, _ := home.Query(ctx, `SELECT version FROM shards ORDER BY shard`) // CollectRows returns its error
	versions, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	switch {
	case err != nil:
		return nil, fmt.Errorf("members: versions of the shards: %w", err)
	case len(versions) == 0 && n == 1:
		return []int32{0}, nil
	case len(versions) != n:
		return nil, fmt.Errorf("members: home knows of %d shards, and %d databases were given", len(versions), n)
	}
	return versions, nil
}

// closeWriters closes the writers of the dead in one database. If this database does not have the
// given version of the shard, the shard is in another place by now, and the dead may have writers
// there. closeWriters then closes nothing and returns an error. With version 0 the journal has no
// shards.
func closeWriters(ctx context.Context, journal *pgxpool.Pool, dead []string, version int32) error {
	const (
		all    = `UPDATE writers SET closed_at = now() WHERE node = ANY($1) AND closed_at IS NULL`
		inHere = `
WITH here AS (SELECT 1 FROM journal_mark WHERE version = $2 FOR SHARE),
closed AS (UPDATE writers SET closed_at = now() FROM here WHERE node = ANY($1) AND closed_at IS NULL)
SELECT EXISTS (SELECT FROM here)`
	)
	if version == 0 { // the journal is in one database
		_, err := journal.Exec(ctx, all, dead)
		return err
	}
	var here bool
	if err := journal.QueryRow(ctx, inHere, dead, version).Scan(&here); err != nil {
		return err
	}
	if !here {
		return errors.New("the shard is in another place")
	}
	return nil
}
