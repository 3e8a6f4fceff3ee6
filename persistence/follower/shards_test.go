package follower_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// TestFollowsOtherShards makes sure that a follower goes on with the facts of the shards that answer
// while one does not, also one that begins meanwhile, and then has those of that one too, once each and
// in order.
func TestFollowsOtherShards(t *testing.T) {
	t.Parallel()
	home, shards := persisttest.Sharded(t, 2)
	s := newStage(t, home)
	lost := shards[0]
	j, err := journal.OpenShards(t.Context(), journal.Config{Node: "a", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, FailAfter: time.Hour}, shards)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	})
	here, there := scribesIn(t, j, lost), scribesIn(t, j, shards[1])
	write(t, append(here, there...), 5)
	f := s.follower(func(c *follower.Config) { c.MaxBatch = 10 })
	f.Start(j)
	applied := func(of ...*persisttest.Scribe) func() bool {
		return func() bool {
			effects := s.effects()
			for _, w := range of {
				if int64(len(effects[w.Claim.Stream])) < w.Next-1 {
					return false
				}
			}
			return true
		}
	}
	require.Eventually(t, applied(append(here, there...)...), within, 5*time.Millisecond)

	write(t, here, 5) // some of it may be pending
	var away atomic.Bool
	away.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	look := func(ctx context.Context, conn *pgx.Conn) error {
		if away.Load() {
			return errors.New("the test says so")
		}
		return journal.LookAt(lost.Version)(ctx, conn)
	}
	valve := persistence.NewValve("shard 0")
	cfg := lost.Pool.Config()
	valve.Join(cfg)
	behind, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(behind.Close)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		valve.Watch(ctx, lost.Pool.Config().ConnConfig, slog.New(slog.DiscardHandler), look)
	}()
	<-valve.Shut()
	from := journal.NewReader(behind, shards[1].Pool)
	kill(f)
	again := s.follower(func(c *follower.Config) { c.MaxBatch = 10 })
	again.Start(from)
	write(t, there, 5)
	require.Eventually(t, applied(there...), within, 5*time.Millisecond)
	behindNow, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	require.Error(t, again.Passed(behindNow), "it does not say that it has what it could not read")
	away.Store(false)
	require.Eventually(t, applied(append(here, there...)...), within, 5*time.Millisecond)
	s.passed(again)
	for _, w := range append(here, there...) {
		seqs := s.effects()[w.Claim.Stream]
		require.Len(t, seqs, int(w.Next-1))
		for i, seq := range seqs {
			require.EqualValues(t, i+1, seq)
		}
	}
	cancel()
	<-watched
}

// scribesIn makes writers of three actors that are in a shard.
func scribesIn(t *testing.T, j journal.Journal, shard journal.Shard) (all []*persisttest.Scribe) {
	t.Helper()
	for event := int64(1); len(all) < 3; event++ {
		if bucket := engine.BucketOf(event); bucket >= shard.First && bucket <= shard.Last {
			all = append(all, persisttest.NewScribe(t, j, engine.EventRef(event)))
		}
	}
	return all
}
