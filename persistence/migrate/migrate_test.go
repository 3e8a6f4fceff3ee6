package migrate_test

import (
	"context"
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

// Nodes that start at once on an empty database must all come up.
func TestManyStartersAtOnce(t *testing.T) {
	t.Parallel()
	dsn := persisttest.DB(t)
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
	dsn := persisttest.DB(t)
	conn := connect(t, dsn)
	require.NoError(t, migrate.Up(t.Context(), conn))
	_, err := conn.Exec(t.Context(), `INSERT INTO streams (name) VALUES ('event/1/1')`)
	require.NoError(t, err)
	require.NoError(t, migrate.Up(t.Context(), conn))
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM streams`).Scan(&n))
	require.Equal(t, 1, n)
}

// Everything, the version table included, goes to the connection's schema.
func TestTablesGoToTheSearchPath(t *testing.T) {
	t.Parallel()
	conn := connect(t, persisttest.DB(t))
	require.NoError(t, migrate.Up(t.Context(), conn))
	for _, table := range []string{"schema_version", "writers", "streams", "journal", "snapshots", "followers", "wakes"} {
		var here bool
		require.NoError(t, conn.QueryRow(t.Context(),
			`SELECT relnamespace::regnamespace::text = current_schema() FROM pg_class WHERE oid = $1::text::regclass`, table).Scan(&here))
		require.True(t, here, table)
	}
}

// A binary older than the database must not touch it.
func TestUpRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	conn := connect(t, persisttest.DB(t))
	require.NoError(t, migrate.Up(t.Context(), conn))
	_, err := conn.Exec(t.Context(), `UPDATE schema_version SET version = 1000`)
	require.NoError(t, err)
	require.Error(t, migrate.Up(t.Context(), conn))
}
