package follower_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// newApartStage is a stage whose journal is in a database of its own.
func newApartStage(t *testing.T) *stage {
	t.Helper()
	home, entries := persisttest.Apart(t)
	s := newStage(t, home)
	s.entries = entries
	return s
}

// TestFollowsAJournalApart makes sure that a follower whose journal is in another database applies
// each fact once and in order, over nodes, kills and starts, and that positions are those of both.
func TestFollowsAJournalApart(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	f := s.follower()
	first := s.journal("a", f.Offer)
	write(t, scribes(t, first, 3), 5)
	f.Start(first)
	s.caughtUp(first)
	kill(f)
	second := s.journal("b", nil)
	write(t, scribes(t, second, 3), 5)  // the same streams, which go on under another writer
	require.Eventually(t, func() bool { // loading goes by the spans
		return second.Unindexed() < time.Second
	}, within, 5*time.Millisecond)
	behind := int64(0)
	all, err := follower.Positions(t.Context(), s.pool, journal.NewReader(s.entries))
	require.NoError(t, err)
	for _, p := range all {
		behind += p.Head - p.Batch
	}
	require.Positive(t, behind)
	again := s.follower()
	again.Start(second)
	s.caughtUp(second)
}

// TestToldAgainFromAJournalApart makes sure that facts are told again, one by one and by whole
// streams, from a journal in another database.
func TestToldAgainFromAJournalApart(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]follower.Forget{
		"one by one": nil,
		"whole streams": func(ctx context.Context, tx pgx.Tx, _ engine.Ref) error {
			_, err := tx.Exec(ctx, `DELETE FROM effects`) // there is one stream
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newApartStage(t)
			var healed atomic.Bool
			spoil := map[place]func(context.Context, pgx.Tx) error{}
			f := s.follower(func(c *follower.Config) {
				d := follower.NewDigester(c.Name, slog.New(slog.DiscardHandler), spoiled(&healed, spoil), forget)
				c.Apply, c.Digesters = follower.Once(c.Name, journal.NewReader(s.entries), d.Apply), []*follower.Digester{d}
			})
			j := s.journal("a", f.Offer)
			s.writeFacts(s.pens(j, 1), 6)
			spoil[place{firstOf(s.written(j)), 4}] = func(context.Context, pgx.Tx) error { return errors.New("indigestible") }
			f.Start(j)
			s.passed(f)
			require.Len(t, s.asides(), 1)
			healed.Store(true)
			s.retry()
			require.Empty(t, s.asides())
			stream := firstOf(s.written(j))
			require.ElementsMatch(t, s.written(j)[stream], s.effects()[stream])
		})
	}
}
