// Package migrate brings a database up to the schema that this binary knows. It
// owns the numbered .sql files beside it, which are only ever added to: a file
// that has been released is never changed. A node runs Up when it starts, before
// anything else touches the database, and so does `boxoffice migrate`.
package migrate

import (
	"context"
	"embed"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed *.sql
var files embed.FS

// versionTable holds the number of the last file that ran, in the schema that
// the connection's search_path names first.
const versionTable = "schema_version"

// Up runs the files that the database has not seen, each in a transaction of its
// own. Starters that come at once wait for one another on an advisory lock. A
// database that is ahead of this binary is an error. The tables of the jobs
// (River's) follow, by the library's own numbers.
func Up(ctx context.Context, conn *pgx.Conn) error {
	m, err := migrate.NewMigrator(ctx, conn, versionTable)
	if err != nil {
		return fmt.Errorf("migrate: version table: %w", err)
	}
	if err := m.LoadMigrations(files); err != nil {
		return fmt.Errorf("migrate: read files: %w", err)
	}
	if err := m.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return jobs(ctx, conn)
}

// jobs brings River's tables up to date, one starter at a time and each version in
// a transaction of its own: one uses what the one before it has made.
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
	return nil
}
