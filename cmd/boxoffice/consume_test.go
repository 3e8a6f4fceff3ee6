package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/facts"
	"boxoffice/persistence/persisttest"
)

// TestTally makes sure that the comparison finds everything that may be wrong with effects.
func TestTally(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	require.NoError(t, prepareEffects(ctx, pool))
	is := func(want facts.Tally) {
		t.Helper()
		got, err := tallyEffects(ctx, pool)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	is(facts.Tally{})
	exec(`CREATE TABLE journal_ever PARTITION OF journal DEFAULT`)
	exec(`INSERT INTO journal (writer, batch, day, streams, epochs, firsts, lasts, ends, facts)
VALUES (1, 1, current_date, '{1}', '{1}', '{1}', '{3}', '{0}', ''), (1, 2, current_date, '{1,2}', '{1,1}', '{4,1}', '{4,2}', '{0,0}', '')`)
	require.NoError(t, markJournal(ctx, pool))
	is(facts.Tally{Facts: 6, Lost: 6, Backlog: 6, Untold: 6})
	exec(`INSERT INTO effects (stream_id, seq) VALUES (1, 1), (1, 2), (2, 1), (1, 4)`)
	exec(`INSERT INTO applied VALUES ('effects', 1, 4), ('effects', 2, 1), ('facts', 1, 4), ('facts', 2, 2)`)
	is(facts.Tally{Facts: 6, Effects: 4, Lost: 2, Misplaced: 1, Backlog: 1})
	exec(`INSERT INTO effects (stream_id, seq) VALUES (1, 3), (2, 2), (2, 2)`)
	exec(`UPDATE applied SET seq = 2 WHERE stream_id = 2`)
	is(facts.Tally{Facts: 6, Effects: 7, Duplicates: 1, Misplaced: 3})
	exec(`INSERT INTO journal (writer, batch, day, streams, epochs, firsts, lasts, ends, facts) VALUES (1, 3, current_date, '{3}', '{1}', '{1}', '{1}', '{0}', '')`)
	is(facts.Tally{Facts: 7, Effects: 7, Lost: 1, Duplicates: 1, Misplaced: 3, Untold: 1})
	exec(`INSERT INTO facts (org, stream, seq, at, id, type, aggregate, data) SELECT 1, 1, 1, now(), 'evt_' || n / 2, 'x', 'x', '' FROM generate_series(1, 3) n`)
	is(facts.Tally{Facts: 7, Effects: 7, Lost: 1, Duplicates: 1, Misplaced: 3, Untold: 1, Told: 3, ToldTwice: 1})
}
