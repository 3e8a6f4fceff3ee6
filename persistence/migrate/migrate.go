// Package migrate brings a database up to the schema that this binary knows. It
// owns the numbered .sql files beside it, which are only ever added to: a file
// that has been released is never changed. A node runs Up when it starts, before
// anything else touches the database, and so does `boxoffice migrate`.
package migrate

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
)

//go:embed *.sql
var files embed.FS

// versionTable holds the number of the last file that ran, in the schema that
// the connection's search_path names first.
const versionTable = "schema_version"

// Up runs the files that the database has not seen, each in a transaction of its
// own. Starters that come at once wait for one another on an advisory lock. A
// database that is ahead of this binary is an error.
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
	return nil
}
