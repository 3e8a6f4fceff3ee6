package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"boxoffice/engine"
	"boxoffice/persistence"
	"boxoffice/persistence/journal"
)

var (
	// ErrSold means that a journal with entries would have to be divided among several databases, which is not
	// possible.
	ErrSold = errors.New("migrate: BOXOFFICE_JOURNAL_URLS lists several databases, and the journal of this deployment has entries in one: they cannot be divided. " +
		"List that one alone, or unset it")
	// ErrOtherShard means that the databases are listed in an order other than the one they were set up in.
	ErrOtherShard = errors.New("migrate: BOXOFFICE_JOURNAL_URLS must list the databases in the order in which they were set up")
	// ErrMoved means that a shard is not in the database that is listed for it: the shard was moved, or is being
	// moved.
	ErrMoved = errors.New("migrate: the shard has been moved")
)

// undefinedTable is the SQLSTATE for a table that does not exist.
const undefinedTable = "42P01"

// Range is the buckets of a shard, from First to Last. Version is the version of the shard's place: it rises when the
// shard moves to another server.
type Range struct {
	First, Last int
	Version     int32
}

// deployment is what home knows about the place of the journal. mark is a random id of the deployment, and its
// journal has the same one. apart is true if the journal is not in home.
type deployment struct {
	mark   string
	apart  bool
	shards []Range // none if the journal has only one database
}

// readDeployment reads home's rows about the journal.
func readDeployment(ctx context.Context, q persistence.Querier) (d deployment, err error) {
	if err := q.QueryRow(ctx, `SELECT apart, mark::text FROM deployment`).Scan(&d.apart, &d.mark); err != nil {
		return d, fmt.Errorf("migrate: deployment: %w", err)
	}
	rows, _ := q.Query(ctx, `SELECT first_bucket, last_bucket, version FROM shards ORDER BY shard`) // CollectRows returns its error
	if d.shards, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Range]); err != nil {
		return d, fmt.Errorf("migrate: shards: %w", err)
	}
	return d, nil
}

// Ranges returns the ranges of the shards, in order. For a journal in only one database it returns one range with all
// buckets and version 0.
func Ranges(ctx context.Context, q persistence.Querier) ([]Range, error) {
	d, err := readDeployment(ctx, q)
	if err == nil && len(d.shards) == 0 {
		d.shards = []Range{{Last: engine.Buckets - 1}}
	}
	return d.shards, err
}

// RefuseOtherNumber returns an error unless the journal is in as many databases as are listed; 0 means in home. If
// the journal is in other databases, the error is ErrApart with the setting to change. A database with the schema
// of an earlier release, without these tables, is not refused: it can't tell.
func RefuseOtherNumber(ctx context.Context, q persistence.Querier, listed int) error {
	d, err := readDeployment(ctx, q)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == undefinedTable {
		return nil
	}
	if err != nil {
		return err
	}
	return d.refuseOtherNumber(listed)
}

// refuseOtherNumber does the work of RefuseOtherNumber for a deployment that has been read.
func (d *deployment) refuseOtherNumber(listed int) error {
	switch {
	case len(d.shards) > 0 && listed != len(d.shards):
		return fmt.Errorf("%w but in %d others: set BOXOFFICE_JOURNAL_URLS to these, in their order (%d are listed)", ErrApart, len(d.shards), listed)
	case len(d.shards) == 0 && d.apart && listed != 1:
		return fmt.Errorf("%w but in another: set BOXOFFICE_JOURNAL_URL to that", ErrApart)
	case !d.apart && listed > 0:
		return errors.New("migrate: the journal of this database is in it: unset BOXOFFICE_JOURNAL_URL and BOXOFFICE_JOURNAL_URLS, or start a node with it first")
	}
	return nil
}

// RefuseForeign returns an error unless the database that is listed as a shard is that shard of home's
// journal, in its newest place.
func RefuseForeign(ctx context.Context, home, journal persistence.Querier, shard int) error {
	d, err := readDeployment(ctx, home)
	if err != nil {
		return err
	}
	return d.refuseForeign(ctx, journal, shard)
}

// refuseForeign does the work of RefuseForeign for a deployment that has been read. A version behind home's
// means that the shard has moved away from this database. A version ahead of home's means that CloseShard ran
// and OpenShard did not yet.
func (d *deployment) refuseForeign(ctx context.Context, journal persistence.Querier, shard int) error {
	if err := refuseForeignMark(ctx, journal, d.mark); err != nil {
		return fmt.Errorf("shard %d: %w", shard, err)
	}
	is, err := readIdentity(ctx, journal)
	switch {
	case err != nil:
		return err
	case is.shards != max(1, len(d.shards)):
		return fmt.Errorf("%w: it is one of %d shards, and this deployment has %d", ErrForeign, is.shards, max(1, len(d.shards)))
	case is.shard != shard:
		return fmt.Errorf("%w: the one in place %d is shard %d", ErrOtherShard, shard, is.shard)
	case len(d.shards) == 0 || is.version == d.shards[shard].Version:
		return nil
	case is.version < d.shards[shard].Version:
		return fmt.Errorf("%w: this is where shard %d was before: list the database where it is now", ErrMoved, shard)
	}
	return fmt.Errorf("%w: shard %d was closed to be moved: finish that with boxoffice shards open", ErrMoved, shard)
}

// identity is what a journal's database says about itself: which shard it is, one of how many shards, and the version
// of its place.
type identity struct {
	shard, shards int
	version       int32
}

// readIdentity reads a database's identity from its mark.
func readIdentity(ctx context.Context, journal persistence.Querier) (is identity, err error) {
	if err := journal.QueryRow(ctx, `SELECT shard, shards, version FROM journal_mark`).Scan(&is.shard, &is.shards, &is.version); err != nil {
		return is, fmt.Errorf("migrate: shard: %w", err)
	}
	return is, nil
}

// divideJournal divides a journal that was never used among several databases, with equal ranges of the buckets. It
// returns ErrSold if the journal was used. tx is the one transaction on home, the database of everything but the
// journal. An interrupted call can be repeated: home is as before, and the other databases accept the same identity
// again.
func (d *deployment) divideJournal(ctx context.Context, tx pgx.Tx, journals []*pgx.Conn) error {
	if len(journals) > journal.MaxShards {
		return fmt.Errorf("migrate: BOXOFFICE_JOURNAL_URLS lists %d databases: %d at most", len(journals), journal.MaxShards)
	}
	if d.apart {
		if err := d.refuseWithout(ctx, journals); err != nil {
			return err
		}
	} else {
		if _, err := tx.Exec(ctx, `LOCK TABLE writers, streams, journal, tails, wakes`); err != nil {
			return fmt.Errorf("migrate: lock the journal: %w", err)
		}
		if sold, err := hasStreams(ctx, tx); err != nil {
			return err
		} else if sold {
			return ErrSold
		}
		if err := dropAtHome(ctx, tx); err != nil {
			return err
		}
	}
	for shard, conn := range journals {
		if err := apart.up(ctx, conn); err != nil {
			return err
		}
		if err := d.identifyShard(ctx, conn, shard, len(journals)); err != nil {
			return err
		}
		first, next := engine.Buckets*shard/len(journals), engine.Buckets*(shard+1)/len(journals)
		if _, err := tx.Exec(ctx, `INSERT INTO shards (shard, first_bucket, last_bucket) VALUES ($1, $2, $3)`, shard, first, next-1); err != nil {
			return fmt.Errorf("migrate: shards: %w", err)
		}
	}
	// The followers know the writers of the unused journal by number. The shards give those numbers again, so they
	// must be forgotten.
	if _, err := tx.Exec(ctx, `DELETE FROM followers; UPDATE schema_version SET needs = greatest(needs, 67)`); err != nil {
		return fmt.Errorf("migrate: shards: %w", err)
	}
	return nil
}

// refuseWithout returns an error unless one of the databases has the deployment's mark, because that one has had the
// whole journal. It may have entries, which would be left behind if it were not listed. To look for
// the mark, it brings the databases up to date, one after another.
func (d *deployment) refuseWithout(ctx context.Context, journals []*pgx.Conn) error {
	for _, conn := range journals {
		if err := apart.up(ctx, conn); err != nil {
			return err
		}
		if err := refuseForeignMark(ctx, conn, d.mark); !errors.Is(err, ErrForeign) {
			return err
		}
	}
	return fmt.Errorf("%w: the database of BOXOFFICE_JOURNAL_URL until now must be one of them", ErrForeign)
}

// identifyShard makes an unused database a shard, and returns ErrSold for one that was used. It writes the database's
// identity, and lets writers and streams count in steps of MaxShards from the shard's number. So no two shards give
// the same number, and a number tells its shard. Shard 0 begins at MaxShards, because 0 is no valid number.
func (d *deployment) identifyShard(ctx context.Context, conn *pgx.Conn, shard, shards int) error {
	const mark = `
INSERT INTO journal_mark (mark, shard, shards) VALUES ($1::uuid, $2, $3)
ON CONFLICT (one) DO UPDATE SET shard = excluded.shard, shards = excluded.shards WHERE journal_mark.mark = excluded.mark`
	first := shard
	if first == 0 {
		first = journal.MaxShards
	}
	number := fmt.Sprintf(`
DELETE FROM tails;
DELETE FROM writers;
ALTER TABLE writers ALTER writer SET INCREMENT BY %[1]d SET START WITH %[2]d RESTART;
ALTER TABLE streams ALTER stream_id SET INCREMENT BY %[1]d SET START WITH %[2]d RESTART;
UPDATE journal_version SET needs = greatest(needs, 2)`, journal.MaxShards, first)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// The lock keeps others from adding a writer or a stream before the numbers are set.
		if _, err := tx.Exec(ctx, `LOCK TABLE writers, streams, tails`); err != nil {
			return fmt.Errorf("migrate: lock shard %d: %w", shard, err)
		}
		if _, err := tx.Exec(ctx, mark, d.mark, shard, shards); err != nil {
			return fmt.Errorf("migrate: mark: %w", err)
		}
		if err := refuseForeignMark(ctx, tx, d.mark); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		if sold, err := hasStreams(ctx, tx); err != nil {
			return err
		} else if sold {
			return ErrSold
		}
		if _, err := tx.Exec(ctx, number); err != nil {
			return fmt.Errorf("migrate: numbers of shard %d: %w", shard, err)
		}
		return nil
	})
}

// noticeWithin is how long CloseShard gives the nodes to see that a shard is about to be closed. A node that has not
// seen it by then is not a danger, but it ends when it writes to a closed writer.
const noticeWithin = time.Second

// CloseShard ends all writing to a shard, before the shard is moved to another server. First it raises the version of
// the shard's place: no node can claim a stream there any more, and nodes leave the shard alone. Then it closes the
// writers, so that a node that has not noticed can't write either. It returns the position in the server's log up to
// which a replica must have followed. After an interruption it can be called again.
func CloseShard(ctx context.Context, conn, journal *pgx.Conn, shard int) (upto string, err error) {
	const (
		leave = `UPDATE journal_mark SET version = version + 1 WHERE version = $1`
		fence = `UPDATE writers SET closed_at = now() WHERE closed_at IS NULL`
	)
	d, err := readDeployment(ctx, conn)
	if err != nil {
		return "", err
	}
	if err := d.refuseOtherIdentity(ctx, journal, shard, 0, 1); err != nil {
		return "", err
	}
	if _, err := journal.Exec(ctx, leave, d.shards[shard].Version); err != nil {
		return "", fmt.Errorf("migrate: close shard %d: %w", shard, err)
	}
	select {
	case <-time.After(noticeWithin):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if _, err = journal.Exec(ctx, fence); err == nil {
		err = journal.QueryRow(ctx, `SELECT pg_current_wal_flush_lsn()::text`).Scan(&upto)
	}
	if err != nil {
		return "", fmt.Errorf("migrate: close shard %d: %w", shard, err)
	}
	return upto, nil
}

// OpenShard makes a database the new place of a shard that was closed. The database must have been a replica of
// the old place, and must take writes by now. Its version becomes two above the version that home knows, because
// CloseShard has raised the version of the old place by one. A node that knows an older version can claim
// nothing in the new place, and a node that knows the new version can claim nothing in the old one.
func OpenShard(ctx context.Context, conn, journal *pgx.Conn, shard int) error {
	d, err := readDeployment(ctx, conn)
	if err != nil {
		return err
	}
	if err := d.refuseOtherIdentity(ctx, journal, shard, 1, 2); err != nil {
		return err
	}
	var standby, open bool
	const state = `SELECT pg_is_in_recovery(), EXISTS (SELECT FROM writers WHERE closed_at IS NULL)`
	if err := journal.QueryRow(ctx, state).Scan(&standby, &open); err != nil {
		return fmt.Errorf("migrate: open shard %d: %w", shard, err)
	}
	if standby {
		return fmt.Errorf("migrate: open shard %d: it is a standby: promote it first", shard)
	}
	if open {
		return fmt.Errorf("migrate: open shard %d: it has a writer that is not closed: it has not followed far enough", shard)
	}
	version := d.shards[shard].Version + 2
	// The database comes before home: if home's update fails, refuseOtherIdentity accepts a version that is 2 ahead,
	// and OpenShard can be called again.
	if _, err := journal.Exec(ctx, `UPDATE journal_mark SET version = $1`, version); err != nil {
		return fmt.Errorf("migrate: open shard %d: %w", shard, err)
	}
	if _, err := conn.Exec(ctx, `UPDATE shards SET version = $2 WHERE shard = $1`, shard, version); err != nil {
		return fmt.Errorf("migrate: open shard %d: %w", shard, err)
	}
	return nil
}

// refuseOtherIdentity returns an error unless the database is the given shard, and its version is ahead of home's by
// one of the steps.
func (d *deployment) refuseOtherIdentity(ctx context.Context, journal persistence.Querier, shard int, steps ...int32) error {
	if shard < 0 || shard >= len(d.shards) {
		return fmt.Errorf("migrate: there is no shard %d", shard)
	}
	if err := refuseForeignMark(ctx, journal, d.mark); err != nil {
		return err
	}
	is, err := readIdentity(ctx, journal)
	if err != nil {
		return err
	}
	if is.shard != shard {
		return fmt.Errorf("%w: this is shard %d, not %d", ErrOtherShard, is.shard, shard)
	}
	for _, step := range steps {
		if is.version == d.shards[shard].Version+step {
			return nil
		}
	}
	return fmt.Errorf("%w: shard %d is at version %d of its place here, and at home at %d", ErrMoved, shard, is.version, d.shards[shard].Version)
}
