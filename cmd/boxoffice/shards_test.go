package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

// TestToolsFindTheJournal makes sure that tools which read the journal name the knob that is missing,
// refuse databases that are not what they are taken for, and show what is away.
func TestToolsFindTheJournal(t *testing.T) {
	t.Parallel()
	at := func(home string, urls ...string) databases {
		return databases{database: database{DatabaseURL: home}, JournalURLs: urls}
	}
	audit := func(d databases) error { return (&auditCmd{databases: d}).Run(t.Context()) }
	status := func(d databases) error { return (&statusCmd{databases: d, JSON: true}).Run(t.Context()) }

	alone, entries := persisttest.Apart(t)
	home, one := alone.Config().ConnString(), entries.Config().ConnString()
	for _, run := range []func(databases) error{audit, status} {
		require.ErrorIs(t, run(at(home)), migrate.ErrApart)
		require.ErrorContains(t, run(at(home)), "set BOXOFFICE_JOURNAL_URL to that")
		require.NoError(t, run(at(home, one)), "a list of one is that one")
		require.ErrorContains(t, run(databases{database: database{DatabaseURL: home}, JournalURL: one, JournalURLs: []string{one}}), "exclude each other")
		require.ErrorContains(t, run(at(persisttest.DB(t), one)), "unset BOXOFFICE_JOURNAL_URL")
	}

	several, shards := persisttest.Sharded(t, 2)
	home = several.Config().ConnString()
	first, second := shards[0].Pool.Config().ConnString(), shards[1].Pool.Config().ConnString()
	const nowhere = "postgres://nobody@/nothing?host=/nowhere"
	for _, run := range []func(databases) error{audit, status} {
		require.ErrorContains(t, run(at(home)), "set BOXOFFICE_JOURNAL_URLS")
		require.ErrorContains(t, run(at(home, first)), "set BOXOFFICE_JOURNAL_URLS")
		require.ErrorIs(t, run(at(home, second, first)), migrate.ErrOtherShard)
		require.ErrorIs(t, run(at(home, first, one)), migrate.ErrForeign)
		require.NoError(t, run(at(home, first, second)))
	}
	require.Error(t, audit(at(home, first, nowhere)), "an audit of a half would say nothing")
	require.NoError(t, status(at(home, first, nowhere)))

	d := at(home, first, nowhere)
	seen, done, err := d.openChecked(t.Context())
	require.NoError(t, err)
	defer done()
	s, err := readStatus(t.Context(), seen, nil)
	require.NoError(t, err)
	require.Len(t, s.Shards, 2)
	require.Empty(t, s.Shards[0].Away)
	require.Contains(t, s.Shards[1].Away, "shard 1 of the journal does not answer")
	require.Equal(t, []int{512, 1023}, []int{s.Shards[1].First, s.Shards[1].Last})
}
