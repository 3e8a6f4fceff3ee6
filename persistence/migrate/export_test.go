package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
)

// UpTo migrates a database to the schema of an earlier release.
func UpTo(ctx context.Context, conn *pgx.Conn, version int32) error {
	m, err := migrate.NewMigrator(ctx, conn, home.version)
	if err != nil {
		return err
	}
	if err := m.LoadMigrations(files); err != nil {
		return err
	}
	return m.MigrateTo(ctx, version)
}

// UpToBefore migrates a database to the schema before the file with a name, given without its
// number.
func UpToBefore(ctx context.Context, conn *pgx.Conn, name string) error {
	matches, err := fs.Glob(files, "*_"+name+".sql")
	if err != nil || len(matches) != 1 {
		return fmt.Errorf("migrate: files %q: %w", matches, err)
	}
	number, err := strconv.Atoi(strings.SplitN(matches[0], "_", 2)[0])
	if err != nil {
		return err
	}
	return UpTo(ctx, conn, int32(number)-1)
}

// JournalUp migrates a database that has only the journal.
func JournalUp(ctx context.Context, conn *pgx.Conn) error { return apart.up(ctx, conn) }
