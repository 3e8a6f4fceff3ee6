package migrate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	return conn
}

// TestManyStartersAtOnce makes sure that nodes which start at once on an empty database all come
// up.
func TestManyStartersAtOnce(t *testing.T) {
	t.Parallel()
	dsn := persisttest.Empty(t)
	const starters = 6
	errs := make([]error, starters)
	var wg sync.WaitGroup
	for i := range starters {
		conn := connect(t, dsn)
		wg.Go(func() { errs[i] = migrate.Up(t.Context(), conn) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestUpTwice(t *testing.T) {
	t.Parallel()
	dsn := persisttest.Empty(t)
	conn := connect(t, dsn)
	require.NoError(t, migrate.Up(t.Context(), conn))
	_, err := conn.Exec(t.Context(), `INSERT INTO streams (name) VALUES ('event/1/1')`)
	require.NoError(t, err)
	require.NoError(t, migrate.Up(t.Context(), conn))
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM streams`).Scan(&n))
	require.Equal(t, 1, n)
}

// TestTablesGoToTheSearchPath makes sure that all tables, including the version table, are made in
// the connection's schema.
func TestTablesGoToTheSearchPath(t *testing.T) {
	t.Parallel()
	dsn := persisttest.Empty(t)
	_, err := connect(t, dsn).Exec(t.Context(), `CREATE SCHEMA ours`)
	require.NoError(t, err)
	conn := connect(t, dsn+"&search_path=ours")
	require.NoError(t, migrate.Up(t.Context(), conn))
	var elsewhere int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`).Scan(&elsewhere))
	require.Zero(t, elsewhere)
	for _, table := range []string{"schema_version", "writers", "streams", "journal", "snapshots", "followers", "wakes"} {
		var here bool
		require.NoError(t, conn.QueryRow(t.Context(),
			`SELECT relnamespace::regnamespace::text = current_schema() FROM pg_class WHERE oid = $1::text::regclass`, table).Scan(&here))
		require.True(t, here, table)
	}
}

// TestUpOnANewerDatabase makes sure that a binary older than the database starts if the schema was
// only added to, leaves it as it is, and otherwise says what to do.
func TestUpOnANewerDatabase(t *testing.T) {
	t.Parallel()
	conn := connect(t, persisttest.Empty(t))
	require.NoError(t, migrate.Up(t.Context(), conn))
	_, known, err := migrate.Versions(t.Context(), conn)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `UPDATE schema_version SET version = 1000`)
	require.NoError(t, err)
	require.NoError(t, migrate.Up(t.Context(), conn))
	version, _, err := migrate.Versions(t.Context(), conn)
	require.NoError(t, err)
	require.EqualValues(t, 1000, version)

	_, err = conn.Exec(t.Context(), `UPDATE schema_version SET needs = 999`)
	require.NoError(t, err)
	require.ErrorContains(t, migrate.Up(t.Context(), conn), fmt.Sprintf("needs a program that knows 999; this one knows %d. Start the later release again", known))
}

// TestContractionsRaiseNeeds makes sure that a file which takes something away says so. Otherwise a
// node of the previous release would start on the schema and fail later.
func TestContractionsRaiseNeeds(t *testing.T) {
	t.Parallel()
	takesAway := regexp.MustCompile(`(?i)\b(DROP (TABLE|COLUMN|VIEW)|RENAME|SET NOT NULL|ALTER (COLUMN )?\w+ (SET DATA )?TYPE)\b`)
	files, err := filepath.Glob("*.sql")
	require.NoError(t, err)
	for _, file := range files {
		if file < "050" {
			continue // the first program that knows "needs" has seen these
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if takesAway.Match(text) {
			require.Contains(t, string(text), "SET needs = "+strings.TrimLeft(file[:3], "0"), file)
		}
	}
}
