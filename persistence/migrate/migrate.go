// Package migrate brings a database up to the schema that this binary knows. It owns two lists of
// numbered .sql files, one for the journal and one for everything else, which are only ever added
// to: a file that has been released is never changed. A node runs Up when it starts, or UpApart if
// its journal is in a database of its own, before anything else touches the database, and `boxoffice
// migrate` does so too.
//
// Home is the database that has everything but the journal. The journal is in home too, or apart: in one database of
// its own, or divided over several, its shards.
package migrate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed *.sql
var files embed.FS

//go:embed journal/*.sql
var journalFiles embed.FS

// list is a sequence of numbered files, with the table that has the number of the last file that ran. The table
// is in the schema that comes first in the connection's search_path.
type list struct {
	files   fs.FS
	version string
}

var (
	// home is the list of the database that has everything but the journal. Its first files made
	// the journal, too; what changes in the journal now is in the list of the journal.
	home = list{files, "schema_version"}
	// apart is the list of the journal, which may be in the same database or in one of its own.
	apart = list{journalAt(journalFiles), "journal_version"}
)

// journalAt returns the journal's files with their directory as root, because tern reads the root only.
func journalAt(f embed.FS) fs.FS {
	dir, err := fs.Sub(f, "journal")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return dir
}

// migrator returns tern's migrator for the list. It creates the version table if there is none.
func (l list) migrator(ctx context.Context, conn *pgx.Conn) (*migrate.Migrator, error) {
	m, err := migrate.NewMigrator(ctx, conn, l.version)
	if err != nil {
		return nil, fmt.Errorf("migrate: version table: %w", err)
	}
	if err := m.LoadMigrations(l.files); err != nil {
		return nil, fmt.Errorf("migrate: read files: %w", err)
	}
	return m, nil
}

// up runs the files of the list that the database has not seen. If the database has seen more files than this binary
// has, up changes nothing and returns an error only if the schema needs a later binary.
func (l list) up(ctx context.Context, conn *pgx.Conn) error {
	m, err := l.migrator(ctx, conn)
	if err != nil {
		return err
	}
	err = m.Migrate(ctx)
	if _, ahead := errors.AsType[migrate.BadVersionError](err); ahead {
		return l.refuseIfTooOld(ctx, conn, len(m.Migrations))
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Up brings up to date a database that has everything, the journal too. Of each list it runs the files that the
// database has not seen, each in a transaction of its own. It leaves a list as it is if the database has seen
// more of its files than this binary knows. Nodes that start at once wait for each other on an advisory lock. Up
// returns an error if the schema no longer has something that this binary uses, or if the journal is in another
// database. The tables of the jobs come last; they belong to the library River, which has version numbers of its
// own.
func Up(ctx context.Context, conn *pgx.Conn) error {
	if err := home.up(ctx, conn); err != nil {
		return err
	}
	if err := RefuseOtherNumber(ctx, conn, 0); err != nil {
		return err
	}
	if err := apart.up(ctx, conn); err != nil {
		return err
	}
	return jobs(ctx, conn)
}

// refuseIfTooOld returns an error if a binary that knows the given number of files can't run on the schema, which has
// seen more files. That happens when a node of the previous release is started again in the middle of an upgrade, or
// when an upgrade is taken back. The file that removes something writes into the column needs how many files a binary
// must know from then on.
func (l list) refuseIfTooOld(ctx context.Context, conn *pgx.Conn, known int) error {
	var version, needs int
	if err := conn.QueryRow(ctx, `SELECT version, needs FROM `+l.version).Scan(&version, &needs); err != nil {
		return fmt.Errorf("migrate: version table: %w", err)
	}
	if needs <= known {
		return nil
	}
	return fmt.Errorf("migrate: a later release has brought the schema to version %d, which needs a program that knows %d; this one knows %d. "+
		"Start the later release again, or restore the backup from before it: docs/operations.md, \"The way back\"", version, needs, known)
}

// Versions returns the number of the last file that ran at home, and of the last file that this
// binary knows.
func Versions(ctx context.Context, conn *pgx.Conn) (version, known int32, err error) {
	m, err := home.migrator(ctx, conn)
	if err == nil {
		version, err = m.GetCurrentVersion(ctx)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("migrate: version: %w", err)
	}
	return version, int32(len(m.Migrations)), nil //nolint:gosec // a few dozen
}

// jobs migrates River's tables, and drops the indexes that nobody needs (dropUnread). An advisory lock lets one
// starting node do it at a time. Each version has a transaction of its own, because a version may use what the
// version before it made.
func jobs(ctx context.Context, conn *pgx.Conn) error {
	const lock, unlock = `SELECT pg_advisory_lock(hashtext(current_schema() || ' jobs'))`, `SELECT pg_advisory_unlock_all()`
	if _, err := conn.Exec(ctx, lock); err != nil {
		return fmt.Errorf("migrate: jobs: %w", err)
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), unlock) }()
	m, err := rivermigrate.New(riverpgxv5.New(nil), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate: jobs: %w", err)
	}
	for more := true; more; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			done, err := m.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{MaxSteps: 1}) //nolint:staticcheck // one version in a transaction
			more = err == nil && len(done.Versions) > 0
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate: jobs: %w", err)
		}
	}
	if _, err := conn.Exec(ctx, dropUnread); err != nil {
		return fmt.Errorf("migrate: jobs: %w", err)
	}
	return nil
}

// dropUnread drops River's indexes on kind, arguments and metadata of jobs. Only River's web interface searches by
// these, and nobody uses it here. Every mail is a job that changes three times, and each change would write all three
// indexes.
const dropUnread = `DROP INDEX IF EXISTS river_job_kind, river_job_args_index, river_job_metadata_index`
