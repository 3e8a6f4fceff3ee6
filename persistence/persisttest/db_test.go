package persisttest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestDBGivesEachTestItsOwnSchema(t *testing.T) {
	t.Parallel()
	var schemas []string
	for range 2 {
		conn, err := pgx.Connect(t.Context(), persisttest.DB(t))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE mine (n int)")
		require.NoError(t, err, "a table of another test must not be in the way")
		var schema string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_schema()").Scan(&schema))
		schemas = append(schemas, schema)
		require.NoError(t, conn.Close(t.Context()))
	}
	require.NotEqual(t, schemas[0], schemas[1])
}

func TestDBDropsTheSchema(t *testing.T) {
	t.Parallel()
	admin, err := pgx.Connect(t.Context(), persisttest.DB(t))
	require.NoError(t, err)
	var schema string
	t.Run("user", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), persisttest.DB(t))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE mine (n int)")
		require.NoError(t, err)
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_schema()").Scan(&schema))
		require.NoError(t, conn.Close(t.Context()))
	})
	var exists bool
	require.NoError(t, admin.QueryRow(t.Context(), "SELECT to_regnamespace($1) IS NOT NULL", schema).Scan(&exists))
	require.False(t, exists)
	require.NoError(t, admin.Close(t.Context()))
}

func TestMigratedHasTheTables(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var schema string
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'streams'::regclass").Scan(&schema))
	var mine string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_schema()").Scan(&mine))
	require.Equal(t, mine, schema)
}
