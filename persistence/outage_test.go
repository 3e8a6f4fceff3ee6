package persistence_test

import (
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestOutage(t *testing.T) {
	t.Parallel()
	dsn := persisttest.DB(t)
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, conn.PgConn().PID())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `SELECT 1`)
	require.Error(t, err)
	require.True(t, persistence.Outage(err), "%v", err)
	_, err = conn.Exec(t.Context(), `SELECT 1`)
	require.True(t, persistence.Outage(err), "closed: %v", err)

	_, err = pgx.Connect(t.Context(), "host=/nowhere user=none")
	require.True(t, persistence.Outage(err), "%v", err)

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = full.WriteString("more")
	require.True(t, persistence.Outage(err), "%v", err)
	require.NoError(t, full.Close())

	_, err = pool.Exec(t.Context(), `SELECT nonsense`)
	require.False(t, persistence.Outage(err))
	require.False(t, persistence.Outage(pgx.ErrNoRows))
	require.False(t, persistence.Outage(errors.New("else")))
	require.False(t, persistence.Outage(nil))
}
