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
	// ErrApart means that the journal of this database is in other databases, and not exactly these were configured.
	ErrApart = errors.New("migrate: the journal of this database is not in it")
	// ErrJournalHere means that the database has a journal with entries, and the configuration names another database
	// for the journal. The entries would be left behind.
	ErrJournalHere = errors.New("migrate: BOXOFFICE_JOURNAL_URL is set, and the journal's entries are still in the database of BOXOFFICE_DATABASE_URL: " +
		"unset it, or move them as docs/operations.md says (\"The journal on a Postgres of its own\")")
	// ErrNotCopied means that the copy of a moved journal has not everything that the journal has.
	ErrNotCopied = errors.New("migrate: the journal was not moved: the copy is not the same")
	// ErrForeign means that the journal in the configured database belongs to another deployment.
	ErrForeign = errors.New("migrate: the database of BOXOFFICE_JOURNAL_URL or BOXOFFICE_JOURNAL_URLS has not the journal of this deployment")
)

// UpApart brings several databases up to date: conn, which is called home, and one or more databases with the
// journal. It also divides home from its journal, when that was not done before: the journal's tables are dropped at
// home. A statement that looks for them in the wrong database then fails, and does not silently find empty tables. If
// the journal at home has entries, the tables are only dropped if moved is set and the one other database has a copy
// of all entries. No node may run during such a move.
func UpApart(ctx context.Context, conn *pgx.Conn, journals []*pgx.Conn, moved bool) error {
	// Each check that may refuse a wrong configuration comes before the change that would then do harm.
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
		// New files of the journal's list must run even if the journal was divided from home long ago.
		if err := apart.up(ctx, journal); err != nil {
			return err
		}
	}
	d, err := readDeployment(ctx, conn)
	if err != nil {
		return err
	}
	// The databases may have been listed in another order, or restored from a backup, since the last start.
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

// part drops the journal's tables at home, and writes the deployment's mark into the databases that have the journal.
// If both was done before, it only checks the number of databases. It locks the deployment's row, because several
// nodes may start at once and only one may do this.
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
		// A journal that was never used can be dropped without a copy.
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

// refuseSame returns an error if two connections lead to one database. It compares what the servers say about
// themselves, because two different URLs may name one server.
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

// hasStreams reports whether a journal was ever used: every actor that writes facts has a row in streams.
func hasStreams(ctx context.Context, q persistence.Querier) (has bool, err error) {
	if err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM streams)`).Scan(&has); err != nil {
		return false, fmt.Errorf("migrate: streams: %w", err)
	}
	return has, nil
}

// refuseForeignMark refuses a journal that does not have the deployment's mark.
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

// refuseOlder returns an error if followers have read batches of a writer that the journal does not know. Then the
// journal was restored from a backup that is older than home. It would give that writer's number to a new writer, and
// followers would skip the new writer's batches as read.
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

// tables are the journal's tables. refuseUnlike compares them and dropAtHome drops them.
var tables = []string{"writers", "streams", "journal", "spans", "tails", "snapshots", "floors", "wakes"}

// letGo gives the journal the deployment's mark, and drops the journal's tables at home. The mark comes first: if the
// transaction at home fails after it, the next start finds the mark and goes on.
func letGo(ctx context.Context, tx pgx.Tx, journal *pgx.Conn, mark string) error {
	// The lock keeps out a node that still runs on the journal at home, until the tables are gone.
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

// dropAtHome drops the journal's tables at home, and notes there that the journal is apart and which release is
// needed from now on. If the journal was never used, it also forgets the followers' positions.
func dropAtHome(ctx context.Context, tx pgx.Tx) error {
	// The followers know the writers of the unused journal by number. The new journal counts its writers from 1
	// again, so those numbers must be forgotten.
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

// refuseUnlike returns ErrNotCopied unless the copy of the journal has as much as the journal at home. It compares
// the number of rows of each table, the bytes of all facts, and the last numbers given to writers and streams. If
// neither journal was ever used, there is nothing to compare.
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
