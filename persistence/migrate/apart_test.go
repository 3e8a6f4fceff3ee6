package migrate_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

// shape describes the journal's tables, indexes, triggers and functions of a database.
func shape(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, _ := conn.Query(t.Context(), `
WITH t AS (SELECT unnest('{writers,streams,journal,spans,tails,snapshots,floors,wakes,records,journal_mark,journal_version}'::text[]) AS name)
SELECT concat_ws(' ', 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attstorage, c.reloptions,
    CASE WHEN a.atthasdef THEN (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = c.oid AND adnum = a.attnum) END)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN t ON t.name = c.relname WHERE a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'index ' || replace(indexdef, 'journal_pkey1', 'journal_pkey') FROM pg_indexes JOIN t ON t.name = tablename
UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = 'streams'::regclass
UNION ALL SELECT 'view ' || pg_get_viewdef('records'::regclass)
UNION ALL SELECT concat_ws(' ', 'function', proname, pg_get_function_arguments(oid), prosrc, proconfig) FROM pg_proc
  WHERE proname IN ('records_of', 'head_of', 'count_loss') ORDER BY 1`) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(all), 50)
	return all
}

// TestBothListsMakeOneJournal makes sure that a journal in a database of its own is what the list of
// everything has made.
func TestBothListsMakeOneJournal(t *testing.T) {
	t.Parallel()
	own := connect(t, persisttest.Empty(t))
	require.NoError(t, migrate.JournalUp(t.Context(), own))
	require.Equal(t, shape(t, connect(t, persisttest.DB(t))), shape(t, own))
	require.NoError(t, migrate.JournalUp(t.Context(), own))
}

// TestApart makes sure that a journal goes into a database of its own only where nothing is left
// behind, and that the two belong together from then on.
func TestApart(t *testing.T) {
	t.Parallel()
	home, entries := connect(t, persisttest.DB(t)), connect(t, persisttest.Empty(t))
	require.ErrorContains(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{home}, false), "name the same database")
	_, err := home.Exec(t.Context(), `INSERT INTO writers (node) VALUES ('a'); INSERT INTO followers VALUES ('facts', 1, 9223372036854775807)`)
	require.NoError(t, err, "a node was started, and sold nothing")
	for range 2 {
		require.NoError(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, false))
	}
	var there bool
	require.NoError(t, home.QueryRow(t.Context(), `SELECT to_regclass('streams') IS NOT NULL OR EXISTS (SELECT FROM followers)`).Scan(&there))
	require.False(t, there, "nothing of it is at home, and the new journal's first writer is not taken for the old one's")
	require.ErrorIs(t, migrate.Up(t.Context(), home), migrate.ErrApart)

	require.ErrorIs(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{connect(t, persisttest.Empty(t))}, false), migrate.ErrForeign, "an empty one")
	_, err = home.Exec(t.Context(), `INSERT INTO followers VALUES ('facts', 7, 1)`)
	require.NoError(t, err)
	require.ErrorContains(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, false), "writer 7 has been followed", "an old backup")

	other := connect(t, persisttest.DB(t))
	_, err = other.Exec(t.Context(), `UPDATE deployment SET mark = gen_random_uuid()`) // tests copy one template
	require.NoError(t, err)
	require.ErrorIs(t, migrate.UpApart(t.Context(), other, []*pgx.Conn{entries}, false), migrate.ErrForeign, "another deployment's")
	_, err = entries.Exec(t.Context(), `INSERT INTO streams (name) VALUES ('event/1/1')`)
	require.NoError(t, err)
	require.ErrorIs(t, migrate.UpApart(t.Context(), other, []*pgx.Conn{entries}, false), migrate.ErrNotCopied)
	require.NoError(t, migrate.Up(t.Context(), other), "a refusal changes nothing")
}

// TestApartAtOnce makes sure that nodes that start at once on two fresh databases all start, also those
// that look for the journal at home while the first one lets go of it.
func TestApartAtOnce(t *testing.T) {
	t.Parallel()
	from, to := persisttest.DB(t), persisttest.Empty(t)
	entries := connect(t, to)
	require.NoError(t, migrate.JournalUp(t.Context(), entries))
	hold, err := entries.Begin(t.Context())
	require.NoError(t, err)
	_, err = hold.Exec(t.Context(), `LOCK TABLE streams`) // nobody can let go
	require.NoError(t, err)
	const starting = 3
	var nodes errgroup.Group
	var pids []uint32
	for range starting {
		home, entries := connect(t, from), connect(t, to)
		pids = append(pids, home.PgConn().PID(), entries.PgConn().PID())
		nodes.Go(func() error { return migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, false) })
	}
	watch := connect(t, from)
	require.Eventually(t, func() bool {
		var waiting int
		const query = `SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1) AND wait_event_type = 'Lock'`
		require.NoError(t, watch.QueryRow(t.Context(), query, pids).Scan(&waiting))
		return waiting == starting
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, hold.Rollback(t.Context()))
	require.NoError(t, nodes.Wait())
}

// TestMoved rehearses what docs/operations.md says about moving a journal with entries.
func TestMoved(t *testing.T) {
	t.Parallel()
	from, to := persisttest.DB(t), persisttest.Empty(t)
	home, entries := connect(t, from), connect(t, to)
	_, err := home.Exec(t.Context(), `
INSERT INTO writers (node) VALUES ('a');
INSERT INTO streams (name, epoch, writer) VALUES ('event/1/1', 1, 1);
CREATE TABLE journal_20261121 PARTITION OF journal FOR VALUES FROM ('2026-11-21') TO ('2026-11-22');
INSERT INTO journal VALUES (1, 1, '2026-11-21', '{1}', '{1}', '{1}', '{2}', '{5}', 'facts');
INSERT INTO tails (writer) VALUES (1);
INSERT INTO followers VALUES ('facts', 1, 1);
INSERT INTO wakes VALUES ('event/1/1', now())`)
	require.NoError(t, err)
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, false), migrate.ErrJournalHere)

	dump := persisttest.Program(t, "apt-get install postgresql-client", "pg_dump")
	psql := persisttest.Program(t, "apt-get install postgresql-client", "psql")
	args := []string{"-d", from, "--no-owner", "-T", "journal_version", "-T", "journal_mark"}
	for _, table := range []string{"writers", "streams", "journal*", "spans", "tails", "snapshots", "floors", "wakes"} {
		args = append(args, "-t", table)
	}
	file := t.TempDir() + "/journal.sql"
	out, err := exec.CommandContext(t.Context(), dump, append(args, "-f", file)...).CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), psql, "-q", "-d", to, "-f", file).CombinedOutput()
	require.NoError(t, err, string(out))

	_, err = home.Exec(t.Context(), `UPDATE journal SET facts = 'facts and more'`)
	require.NoError(t, err)
	require.ErrorIs(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, true), migrate.ErrNotCopied, "somebody went on selling")
	_, err = home.Exec(t.Context(), `UPDATE journal SET facts = 'facts'`)
	require.NoError(t, err)
	require.NoError(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, true))
	require.NoError(t, migrate.UpApart(t.Context(), home, []*pgx.Conn{entries}, false))
	var facts string
	require.NoError(t, entries.QueryRow(t.Context(), `SELECT convert_from(facts, 'UTF8') FROM records_of(1, 0)`).Scan(&facts))
	require.Equal(t, "facts", facts)
	_, err = entries.Exec(t.Context(), `UPDATE streams SET epoch = 2; INSERT INTO streams (name) VALUES ('event/2/2')`)
	require.NoError(t, err)
	var losses, followed int
	require.NoError(t, entries.QueryRow(t.Context(), `SELECT losses FROM writers`).Scan(&losses))
	require.Equal(t, 1, losses, "claims are counted there")
	require.NoError(t, home.QueryRow(t.Context(), `SELECT count(*) FROM followers`).Scan(&followed))
	require.Equal(t, 1, followed, "followers go on where they were")
}
