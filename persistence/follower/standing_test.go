package follower_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	positions := func() map[int32]follower.Position {
		all, err := follower.Positions(t.Context(), s.pool, journal.NewReader(s.pool))
		require.NoError(t, err)
		by := make(map[int32]follower.Position)
		for _, p := range all {
			require.Equal(t, name, p.Follower)
			by[p.Writer] = p
		}
		return by
	}
	require.Empty(t, positions(), "nobody follows")
	f := s.follower()
	first := s.journal("a", f.Offer)
	write(t, scribes(t, first, 3), 5)
	f.Start(first)
	s.caughtUp(first)
	s.passed(f)
	for _, p := range positions() {
		require.Equal(t, p.Head, p.Batch)
	}
	kill(f)
	before := positions()
	write(t, scribes(t, s.journal("b", nil), 1), 3)
	behind := 0
	for writer, p := range positions() {
		if old, known := before[writer]; known && old.Head > 0 {
			require.Equal(t, old, p)
			continue
		}
		require.Zero(t, p.Batch)
		behind += int(p.Head)
	}
	require.Positive(t, behind)
}
