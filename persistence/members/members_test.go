package members_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/members"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// join makes a member, and tells of the names on each list.
func join(t *testing.T, pool *pgxpool.Pool, name string) (*members.Lease, <-chan []string) {
	t.Helper()
	lists := make(chan []string, 100)
	l, err := members.Join(t.Context(), members.Config{
		Conn: pool.Config().ConnConfig, Self: members.Member{ID: members.NewID(name), Name: name}, Log: slog.New(slog.DiscardHandler),
		Changed: func(list []members.Member) {
			var names []string
			for _, m := range list {
				names = append(names, m.Name)
			}
			lists <- names
		},
		Beat: 20 * time.Millisecond, Lease: 300 * time.Millisecond,
	})
	require.NoError(t, err)
	return l, lists
}

// until waits for a list.
func until(t *testing.T, lists <-chan []string, want ...string) {
	t.Helper()
	for {
		select {
		case names := <-lists:
			if len(names) == len(want) {
				require.ElementsMatch(t, want, names)
				return
			}
		case <-time.After(20 * time.Second):
			require.Fail(t, "no such list", "%v", want)
		}
	}
}

// TestTheSilentAreBuried: a member that beats no more is deleted by another, and
// its writers are closed.
func TestTheSilentAreBuried(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	_, err := pool.Exec(t.Context(), `INSERT INTO nodes (id, name, link, http) VALUES ('silent#1', 'silent', '', '')`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO writers (node) VALUES ('silent#1'), ('silent#0')`)
	require.NoError(t, err)
	l, lists := join(t, pool, "alive")
	until(t, lists, "alive", "silent")
	until(t, lists, "alive")
	var open []string
	rows, err := pool.Query(t.Context(), `SELECT node FROM writers WHERE closed_at IS NULL`)
	require.NoError(t, err)
	for rows.Next() {
		var node string
		require.NoError(t, rows.Scan(&node))
		open = append(open, node)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"silent#0"}, open, "of another lifetime")
	require.NoError(t, l.Stop(t.Context()))
}

// TestARestartTakesThePlace: a node that comes again ends its earlier lifetime at
// once, which hears of it.
func TestARestartTakesThePlace(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	first, lists := join(t, pool, "a")
	until(t, lists, "a")
	other, seen := join(t, pool, "b")
	until(t, seen, "a", "b")
	second, again := join(t, pool, "a")
	until(t, again, "a", "b")
	select {
	case err := <-first.Lost():
		require.ErrorIs(t, err, members.ErrLost)
	case <-time.After(20 * time.Second):
		require.Fail(t, "it has not heard")
	}
	for _, l := range []*members.Lease{first, second, other} {
		require.NoError(t, l.Stop(t.Context()))
	}
}
