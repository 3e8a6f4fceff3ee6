package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

var (
	// ErrApart says that a database is used without its journal.
	ErrApart = errors.New("migrate: the journal of this database is not in it")
	// ErrJournalHere says that a journal with entries would be left behind.
	ErrJournalHere = errors.New("migrate: BOXOFFICE_JOURNAL_URL is set, and the journal's entries are still in the database of BOXOFFICE_DATABASE_URL: " +
		"unset it, or move them as docs/operations.md says (\"The journal on a Postgres of its own\")")
	// ErrNotCopied says that a moved journal lacks something.
	ErrNotCopied = errors.New("migrate: the journal was not moved: the copy is not the same")
	// ErrForeign says that the journal is not this deployment's.
	ErrForeign = errors.New("migrate: the database of BOXOFFICE_JOURNAL_URL or BOXOFFICE_JOURNAL_URLS has not the journal of this deployment")
)

// UpApart brings several databases up to date, one or more with the journal and one with everything
// else. A database at home that has never sold anything lets go of the journal's tables: a statement
// that looks for them in the wrong place fails, instead of finding them empty. Entries are only let go
// of if moved is set and the other database has a copy of them all; no node may be running then.
func UpApart(ctx context.Context, conn *pgx.Conn, journals []*pgx.Conn, moved bool) error {
	if err := refuseSame(ctx, append([]*pgx.Conn{conn}, journals...)); err != nil {
		return err
	}
	if err := home.up(ctx, conn); err != nil {
		return err
	}
	if err := part(ctx, conn, journals, moved); err != nil {
		return err
	}
	for _, journal := range journals {
		if err := apart.up(ctx, journal); err != nil {
			return err
		}
	}
	d, err := readDeployment(ctx, conn)
	if err != nil {
		return err
	}
	for shard, journal := range journals {
		if err := d.refuseForeign(ctx, journal, shard); err != nil {
			return err
		}
		if err := refuseOlder(ctx, conn, journal, shard, len(journals)); err != nil {
			return err
		}
	}
	return jobs(ctx, conn)
}

// part makes sure that home has let go of the journal, and that the databases that have it bear the
// deployment's mark. Nodes that start at once take turns.
func part(ctx context.Context, conn *pgx.Conn, journals []*pgx.Conn, moved bool) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM deployment FOR UPDATE`); err != nil {
			return fmt.Errorf("migrate: deployment: %w", err)
		}
		d, err := readDeployment(ctx, tx)
		switch {
		case err != nil:
			return err
		case len(d.shards) > 0 || d.apart && len(journals) == 1:
			return d.refuseOtherNumber(len(journals))
		case len(journals) > 1:
			return d.divideJournal(ctx, tx, journals)
		}
		if !moved {
			if sold, err := hasStreams(ctx, tx); err != nil {
				return err
			} else if sold {
				return ErrJournalHere
			}
		}
		if err := apart.up(ctx, journals[0]); err != nil {
			return err
		}
		return letGo(ctx, tx, journals[0], d.mark)
	})
}

// refuseSame refuses two connections to one database, by whatever way they go there.
func refuseSame(ctx context.Context, conns []*pgx.Conn) error {
	const place = `SELECT concat_ws(' ', pg_postmaster_start_time(), current_setting('port'), current_database(), current_schema())`
	known := make(map[string]bool)
	for _, conn := range conns {
		var here string
		if err := conn.QueryRow(ctx, place).Scan(&here); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		if known[here] {
			return errors.New("migrate: two of BOXOFFICE_DATABASE_URL and BOXOFFICE_JOURNAL_URL or BOXOFFICE_JOURNAL_URLS name the same database")
		}
		known[here] = true
	}
	return nil
}

func hasStreams(ctx context.Context, q persistence.Querier) (has bool, err error) {
	if err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM streams)`).Scan(&has); err != nil {
		return false, fmt.Errorf("migrate: streams: %w", err)
	}
	return has, nil
}

// refuseForeignMark refuses a journal that does not bear the deployment's mark.
func refuseForeignMark(ctx context.Context, journal persistence.Querier, mark string) error {
	var same bool
	if err := journal.QueryRow(ctx, `SELECT EXISTS (SELECT FROM journal_mark WHERE mark = $1::uuid)`, mark).Scan(&same); err != nil {
		return fmt.Errorf("migrate: mark: %w", err)
	}
	if !same {
		return ErrForeign
	}
	return nil
}

// refuseOlder refuses a journal that does not know a writer whose batches have been followed, because
// it was restored from an older backup.
func refuseOlder(ctx context.Context, conn, journal *pgx.Conn, shard, shards int) error {
	var followed, known int32
	err := errors.Join(conn.QueryRow(ctx, `SELECT coalesce(max(writer), 0) FROM followers WHERE $2 = 1 OR writer % 64 = $1`, shard, shards).Scan(&followed),
		journal.QueryRow(ctx, `SELECT coalesce(max(writer), 0) FROM writers`).Scan(&known))
	if err != nil {
		return fmt.Errorf("migrate: writers: %w", err)
	}
	if followed > known {
		return fmt.Errorf("%w as it was: it knows writers up to %d, and writer %d has been followed. Restore a backup that is not older than that of BOXOFFICE_DATABASE_URL",
			ErrForeign, known, followed)
	}
	return nil
}

// tables are the journal's tables.
var tables = []string{"writers", "streams", "journal", "spans", "tails", "snapshots", "floors", "wakes"}

// letGo gives the journal the deployment's mark, and drops its tables at home.
func letGo(ctx context.Context, tx pgx.Tx, journal *pgx.Conn, mark string) error {
	if _, err := tx.Exec(ctx, `LOCK TABLE writers, streams, journal, tails, wakes`); err != nil {
		return fmt.Errorf("migrate: lock the journal: %w", err)
	}
	if err := refuseUnlike(ctx, tx, journal); err != nil {
		return err
	}
	if _, err := journal.Exec(ctx, `INSERT INTO journal_mark (mark) VALUES ($1::uuid) ON CONFLICT DO NOTHING`, mark); err != nil {
		return fmt.Errorf("migrate: mark: %w", err)
	}
	if err := refuseForeignMark(ctx, journal, mark); err != nil {
		return err
	}
	return dropAtHome(ctx, tx)
}

// dropAtHome drops the journal's tables at home.
func dropAtHome(ctx context.Context, tx pgx.Tx) error {
	// Writers of an unused journal were followed to their end, and the new one counts from 1 again.
	drop := `
DELETE FROM followers WHERE NOT EXISTS (SELECT FROM streams);
DROP FUNCTION records_of(bigint, bigint, bigint);
DROP FUNCTION head_of(bigint);
DROP VIEW records;
DROP TABLE ` + strings.Join(tables, ", ") + `;
DROP FUNCTION count_loss();
DROP TABLE IF EXISTS journal_version, journal_mark;
UPDATE schema_version SET needs = greatest(needs, 63);
UPDATE deployment SET apart = true`
	if _, err := tx.Exec(ctx, drop); err != nil {
		return fmt.Errorf("migrate: let the journal go: %w", err)
	}
	return nil
}

// refuseUnlike compares the journal at home with its copy, by what each table has and by the last
// identities that were given out. Of a journal that was never used only the streams matter.
func refuseUnlike(ctx context.Context, tx pgx.Tx, journal *pgx.Conn) error {
	used, err := hasStreams(ctx, tx)
	if err != nil {
		return err
	}
	usedThere, err := hasStreams(ctx, journal)
	if err != nil {
		return err
	}
	if !used && !usedThere {
		return nil
	}
	var counts []string
	for _, table := range tables {
		counts = append(counts, `SELECT count(*) FROM `+table)
	}
	counts = append(counts, `SELECT coalesce(sum(length(facts)), 0) FROM journal`, `
SELECT sum(coalesce(last_value, 0)) FROM pg_sequences
WHERE schemaname = current_schema() AND sequencename IN ('writers_writer_seq', 'streams_stream_id_seq')`)
	for _, count := range counts {
		var here, there int64
		if err := errors.Join(tx.QueryRow(ctx, count).Scan(&here), journal.QueryRow(ctx, count).Scan(&there)); err != nil {
			return fmt.Errorf("migrate: compare the copy: %w", err)
		}
		if here != there {
			return fmt.Errorf("%w: %s: %d, and %d in the copy", ErrNotCopied, count, here, there)
		}
	}
	return nil
}
