package migrate_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

func empties(t *testing.T, n int) (conns []*pgx.Conn) {
	t.Helper()
	for range n {
		conns = append(conns, connect(t, persisttest.Empty(t)))
	}
	return conns
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// TestDivided makes sure that a journal is divided only where nothing is left behind, with equal ranges
// and numbers that are unique, and that from then on each database is taken for the shard that it is.
func TestDivided(t *testing.T) {
	t.Parallel()
	home, shards := connect(t, persisttest.DB(t)), empties(t, 3)
	execute(t, home, `INSERT INTO writers (node) VALUES ('a'); INSERT INTO followers VALUES ('facts', 1, 9223372036854775807)`)
	require.ErrorContains(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{shards[0], shards[1], shards[0]}, false), "name the same database")
	dead := connect(t, persisttest.Empty(t))
	require.NoError(t, dead.Close(t.Context()))
	require.Error(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{shards[1], shards[0], dead}, false), "one is away")
	require.NoError(t, migrate.Up(t.Context(), home), "a failure changes nothing at home")
	for range 2 {
		require.NoError(t, migrate.UpApart(t.Context(), home, shards, false), "the failure before it does not matter")
	}
	ranges, err := migrate.Ranges(t.Context(), home)
	require.NoError(t, err)
	require.Equal(t, []migrate.Range{{First: 0, Last: 340, Version: 1}, {First: 341, Last: 681, Version: 1}, {First: 682, Last: engine.Buckets - 1, Version: 1}}, ranges)
	for i, first := range []int{64, 1, 2} {
		for n := range 2 {
			var writer, stream int
			require.NoError(t, shards[i].QueryRow(t.Context(), `INSERT INTO writers (node) VALUES ('a') RETURNING writer`).Scan(&writer))
			require.NoError(t, shards[i].QueryRow(t.Context(), `INSERT INTO streams (name) VALUES (gen_random_uuid()::text) RETURNING stream_id`).Scan(&stream))
			require.Equal(t, []int{first + 64*n, first + 64*n}, []int{writer, stream})
		}
	}
	var there bool
	require.NoError(t, home.QueryRow(t.Context(), `SELECT to_regclass('streams') IS NOT NULL OR EXISTS (SELECT FROM followers)`).Scan(&there))
	require.False(t, there)

	swapped := []*pgx.Conn{shards[1], shards[0], shards[2]}
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, swapped, false), migrate.ErrOtherShard)
	for listed, refused := range map[int]error{0: migrate.Up(t.Context(), home), 1: migrate.UpApart(t.Context(), home, shards[:1], false), 2: migrate.UpApart(t.Context(), home, shards[:2], false)} {
		require.ErrorIs(t, refused, migrate.ErrApart, listed)
		require.ErrorContains(t, refused, "in 3 others: set BOXOFFICE_JOURNAL_URLS", listed)
		require.ErrorIs(t, migrate.RefuseOtherNumber(t.Context(), home, listed), migrate.ErrApart)
	}
	require.NoError(t, migrate.RefuseOtherNumber(t.Context(), home, 3))
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, append(empties(t, 1), shards...), false), migrate.ErrApart)
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, append(empties(t, 1), shards[1:]...), false), migrate.ErrForeign)

	other := connect(t, persisttest.DB(t))
	execute(t, other, `UPDATE deployment SET mark = gen_random_uuid()`) // tests copy one template
	theirs := empties(t, 3)
	require.NoError(t, migrate.UpApart(t.Context(), other, theirs, false))
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{shards[0], theirs[1], shards[2]}, false), migrate.ErrForeign)
	execute(t, home, `INSERT INTO followers VALUES ('facts', 321, 1)`)
	require.ErrorContains(t, migrate.UpApart(t.Context(), home, shards, false), "writer 321 has been followed", "an old backup of shard 1")
}

// TestNoEntriesAreDivided makes sure that a journal with entries stays in one database.
func TestNoEntriesAreDivided(t *testing.T) {
	t.Parallel()
	sold := connect(t, persisttest.DB(t))
	execute(t, sold, `INSERT INTO streams (name) VALUES ('event/1/1')`)
	require.ErrorIs(t, migrate.UpApart(t.Context(), sold, empties(t, 2), false), migrate.ErrSold)
	require.NoError(t, migrate.Up(t.Context(), sold))

	home, entries := connect(t, persisttest.DB(t)), empties(t, 3)
	require.NoError(t, migrate.UpApart(t.Context(), home, entries[:1], false))
	require.ErrorIs(t, migrate.Up(t.Context(), home), migrate.ErrApart)
	require.ErrorContains(t, migrate.Up(t.Context(), home), "set BOXOFFICE_JOURNAL_URL to that")
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, entries[1:], false), migrate.ErrForeign, "the one that may have entries is not listed")
	execute(t, entries[0], `INSERT INTO streams (name) VALUES ('event/1/1')`)
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, entries, false), migrate.ErrSold)
	require.NoError(t, migrate.UpApart(t.Context(), home, entries[:1], false), "a refusal changes nothing")
	execute(t, entries[0], `DELETE FROM streams`)
	require.NoError(t, migrate.UpApart(t.Context(), home, entries, false))
}

// TestAnOlderJournalApart makes sure that a deployment of the release before, which knew only one
// database for the journal, goes on with that one.
func TestAnOlderJournalApart(t *testing.T) {
	t.Parallel()
	home, entries := connect(t, persisttest.DB(t)), empties(t, 1)
	require.NoError(t, migrate.UpApart(t.Context(), home, entries, false))
	execute(t, home, `
DROP TABLE shards, gate_enrolments, failed_requests;
ALTER TABLE events DROP COLUMN title_words, DROP COLUMN city_words, DROP COLUMN venue_words;
CREATE INDEX events_unsearchable ON events (number) WHERE search IS NULL;
ALTER TABLE api_keys DROP COLUMN events, DROP COLUMN gate;
ALTER TABLE webhook_deliveries DROP COLUMN tries;
ALTER TABLE organizations DROP COLUMN embed_origins;
ALTER TABLE refunds DROP COLUMN claimed_until;
UPDATE schema_version SET version = 66`)
	execute(t, entries[0], `
ALTER TABLE journal_mark DROP COLUMN shard, DROP COLUMN shards, DROP COLUMN version;
UPDATE journal_version SET version = 1;
INSERT INTO writers (node) VALUES ('a');
INSERT INTO streams (name, writer) VALUES ('event/1/1', 1)`)
	require.NoError(t, migrate.RefuseOtherNumber(t.Context(), home, 0), "it says nothing")
	for range 2 {
		require.NoError(t, migrate.UpApart(t.Context(), home, entries, false))
	}
	ranges, err := migrate.Ranges(t.Context(), home)
	require.NoError(t, err)
	require.Equal(t, []migrate.Range{{Last: engine.Buckets - 1}}, ranges)
	var writer int
	require.NoError(t, entries[0].QueryRow(t.Context(), `INSERT INTO writers (node) VALUES ('b') RETURNING writer`).Scan(&writer))
	require.Equal(t, 2, writer)
}

// TestAShardIsMoved rehearses what docs/operations.md says about moving a shard. A copy of its database
// stands for the replica.
func TestAShardIsMoved(t *testing.T) {
	t.Parallel()
	home, first, from := connect(t, persisttest.DB(t)), connect(t, persisttest.Empty(t)), persisttest.Empty(t)
	old := connect(t, from)
	require.NoError(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{first, old}, false))
	execute(t, old, `INSERT INTO writers (node) VALUES ('a'); INSERT INTO streams (name, writer) VALUES ('event/1/1', 1)`)
	require.NoError(t, old.Close(t.Context()))
	early := connect(t, persisttest.Copy(t, from))
	old = connect(t, from)
	require.ErrorIs(t, migrate.OpenShard(t.Context(), home, old, 1), migrate.ErrMoved, "it is not closed")
	_, err := migrate.CloseShard(t.Context(), home, first, 1)
	require.ErrorIs(t, err, migrate.ErrOtherShard)
	for range 2 {
		upto, err := migrate.CloseShard(t.Context(), home, old, 1)
		require.NoError(t, err)
		require.NotEmpty(t, upto)
	}
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{first, old}, false), migrate.ErrMoved, "no node starts meanwhile")
	require.ErrorIs(t, migrate.OpenShard(t.Context(), home, early, 1), migrate.ErrMoved, "it has not followed far enough")
	require.NoError(t, old.Close(t.Context()))
	next := connect(t, persisttest.Copy(t, from))
	old = connect(t, from)
	for range 2 {
		require.NoError(t, migrate.OpenShard(t.Context(), home, next, 1))
		execute(t, home, `UPDATE shards SET version = 1`) // as if it had been interrupted before
	}
	require.NoError(t, migrate.OpenShard(t.Context(), home, next, 1))
	require.NoError(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{first, next}, false))
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{first, old}, false), migrate.ErrMoved, "nobody goes back")
	var version, writer int
	require.NoError(t, next.QueryRow(t.Context(), `SELECT version FROM journal_mark`).Scan(&version))
	require.Equal(t, 3, version)
	require.NoError(t, next.QueryRow(t.Context(), `INSERT INTO writers (node) VALUES ('b') RETURNING writer`).Scan(&writer))
	require.Equal(t, 65, writer, "its numbers go on")
}
