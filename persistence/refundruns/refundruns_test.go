package refundruns_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/refundruns"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// TestStart makes sure that a run goes on as it is until it has finished.
func TestStart(t *testing.T) {
	t.Parallel()
	s := refundruns.New(persisttest.Migrated(t))
	run, err := s.Start(t.Context(), 7, "flood", 3)
	require.NoError(t, err)
	run.Refunded = 2
	require.NoError(t, s.Note(t.Context(), run))
	same, err := s.Start(t.Context(), 7, "fire", 4)
	require.NoError(t, err)
	require.Equal(t, run, same)

	now := time.Now()
	run.FinishedAt = &now
	require.NoError(t, s.Note(t.Context(), run))
	next, err := s.Start(t.Context(), 7, "fire", 4)
	require.NoError(t, err)
	require.Equal(t, refundruns.Run{Event: 7, Reason: "fire", Total: 4, After: run.After, StartedAt: next.StartedAt}, *next)
}

// TestOpen makes sure that runs which do not go on keep no other run from being chosen.
func TestOpen(t *testing.T) {
	t.Parallel()
	s := refundruns.New(persisttest.Migrated(t))
	for event := range int64(5) {
		_, err := s.Start(t.Context(), event, "flood", 1)
		require.NoError(t, err)
	}
	seen := map[int64]bool{}
	for range 1000 {
		runs, err := s.Open(t.Context(), 2)
		require.NoError(t, err)
		require.Len(t, runs, 2)
		seen[runs[0].Event], seen[runs[1].Event] = true, true
		if len(seen) == 5 {
			return
		}
	}
	require.Len(t, seen, 5)
}
