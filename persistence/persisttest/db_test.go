package persisttest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestDBGivesEachTestItsOwnDatabase(t *testing.T) {
	t.Parallel()
	var databases []string
	for range 2 {
		conn, err := pgx.Connect(t.Context(), persisttest.DB(t))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE mine (n int)")
		require.NoError(t, err, "a table of another test must not be in the way")
		databases = append(databases, conn.Config().Database)
		require.NoError(t, conn.Close(t.Context()))
	}
	require.NotEqual(t, databases[0], databases[1])
}

func TestDBDropsTheDatabase(t *testing.T) {
	t.Parallel()
	admin, err := pgx.Connect(t.Context(), persisttest.DB(t))
	require.NoError(t, err)
	exists := func(database string) (is bool) {
		require.NoError(t, admin.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).Scan(&is))
		return is
	}
	var database string
	t.Run("user", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), persisttest.DB(t))
		require.NoError(t, err)
		database = conn.Config().Database
		require.True(t, exists(database))
		require.NoError(t, conn.Close(t.Context()))
	})
	require.False(t, exists(database))
	require.NoError(t, admin.Close(t.Context()))
}

func TestTablesOfADatabase(t *testing.T) {
	t.Parallel()
	count := func(dsn string) (tables int) {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables))
		require.NoError(t, conn.Close(t.Context()))
		return tables
	}
	require.Zero(t, count(persisttest.Empty(t)))
	require.Greater(t, count(persisttest.DB(t)), 50)
}
