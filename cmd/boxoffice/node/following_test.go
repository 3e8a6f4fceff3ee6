package node

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// TestAFollowerFailsAgain has a follower that fails for good come back to its node: it ends each time that its context
// does, although nobody reads why it failed.
func TestAFollowerFailsAgain(t *testing.T) {
	t.Parallel()
	pool, log := persisttest.Migrated(t), slog.New(slog.DiscardHandler)
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "a", Log: log, AllowUnsafe: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Stop(context.Background())) })
	require.NoError(t, persisttest.NewScribe(t, j, engine.EventRef(1)).Append(1).Wait(t))
	broken := errors.New("broken")
	f := &following{failed: make(chan error, 1), from: func() follower.Journal { return j }, cfg: follower.Config{
		Name: "test", Pool: pool, Log: log, Apply: func(context.Context, pgx.Tx, []journal.Batch) error { return broken },
	}}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.run(ctx)
		}()
		require.Eventually(t, func() bool { return f.stopped() == 1 }, time.Minute, 5*time.Millisecond)
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			require.FailNow(t, "the follower does not end")
		}
	}
	require.ErrorIs(t, <-f.failed, broken)
}

// TestNobodyWaitsForAShardThatIsAway makes sure that a caller who waits for a follower is told within seconds that a
// shard is away, and does not wait until the follower can go on.
func TestNobodyWaitsForAShardThatIsAway(t *testing.T) {
	t.Parallel()
	home, shards := persisttest.Sharded(t, 2)
	log := slog.New(slog.DiscardHandler)
	j, err := journal.OpenShards(t.Context(), journal.Config{Node: "a", Log: log, AllowUnsafe: true}, shards)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Stop(context.Background())) })
	behind := &following{}
	behind.active.Store(follower.New(follower.Config{Name: "test", Pool: home, Log: log})) // it never starts
	n := &Node{cfg: &Config{}, log: log, journal: j}

	brief, cancel := context.WithTimeout(t.Context(), 2*awayPatience)
	defer cancel()
	require.ErrorIs(t, n.awaitPassed(brief, behind), context.DeadlineExceeded, "a caller waits as long as it likes while all answer")
	_, err = shards[0].Pool.Exec(t.Context(), `UPDATE journal_mark SET version = version + 1`) // the shard is where this node does not know
	require.NoError(t, err)
	<-shards[0].Valve.Shut()
	long, cancel := context.WithTimeout(t.Context(), 20*awayPatience)
	defer cancel()
	require.ErrorIs(t, n.awaitPassed(long, behind), persistence.ErrAway)
}
