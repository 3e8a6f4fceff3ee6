package journal_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestShardedJournal(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 4} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			persisttest.Journal(t, func(t *testing.T) persisttest.Fixture {
				_, shards := persisttest.Sharded(t, count)
				batches := &persisttest.Batches{}
				own := openShards(t, shards, "own", func(c *journal.Config) { c.Sink, c.Lanes = batches.Sink, 1 })
				return persisttest.Fixture{Journal: own, Rival: openShards(t, shards, "rival"), Stop: own.Stop, Batches: batches.All}
			})
		})
	}
}

// eventIn returns the n-th event, from 0, whose actors are in a shard.
func eventIn(shard journal.Shard, n int) int64 {
	for event := int64(1); ; event++ {
		if bucket := engine.BucketOf(event); bucket >= shard.First && bucket <= shard.Last {
			if n == 0 {
				return event
			}
			n--
		}
	}
}

// TestNumbersAreUnique makes sure that the numbers of writers and streams tell the shard, and that what
// is asked by number is found over all shards.
func TestNumbersAreUnique(t *testing.T) {
	t.Parallel()
	_, shards := persisttest.Sharded(t, 4)
	j := openShards(t, shards, "a")
	var claims []journal.Claim
	var streams, seqs []int64
	var names []string
	for n := range 3 {
		for i, shard := range shards {
			s := persisttest.NewScribe(t, j, engine.EventRef(eventIn(shard, n)))
			require.NoError(t, s.Append(2).Wait(t))
			require.EqualValues(t, i, s.Claim.Stream%journal.MaxShards)
			claims, streams, seqs, names = append(claims, s.Claim), append(streams, s.Claim.Stream), append(seqs, 2), append(names, s.Ref.Name())
		}
	}
	writers, err := j.Writers(t.Context())
	require.NoError(t, err)
	require.Len(t, writers, 8, "two lanes in each")
	var ids []int32
	known := make(map[int32]bool)
	for _, w := range writers {
		ids, known[w.ID] = append(ids, w.ID), true
	}
	require.Len(t, known, len(writers))
	heads, err := j.Heads(t.Context(), ids)
	require.NoError(t, err)
	committed := int64(0)
	for i, w := range ids {
		read := int64(0)
		for b, err := range j.ReadWriter(t.Context(), w, 0) {
			require.NoError(t, err)
			read = b.Seq
		}
		require.Equal(t, heads[i], read)
		committed += read
	}
	require.EqualValues(t, len(claims), committed)
	places, err := j.Locate(t.Context(), streams, seqs)
	require.NoError(t, err)
	for i, at := range places {
		require.Equal(t, streams[i]%journal.MaxShards, int64(at.Writer)%journal.MaxShards)
		require.Positive(t, at.Batch)
	}
	facts, err := j.Facts(t.Context(), names, 2)
	require.NoError(t, err)
	require.Len(t, facts, len(names))
	lost, err := j.Standing(t.Context(), claims)
	require.NoError(t, err)
	require.Empty(t, lost)
	again, err := j.Claim(t.Context(), engine.EventRef(eventIn(shards[2], 1)))
	require.NoError(t, err)
	lost, err = j.Standing(t.Context(), claims)
	require.NoError(t, err)
	require.Len(t, lost, 1)
	require.Equal(t, again.Stream, lost[0].Stream)
}

// TestNothingIsClaimedByAnotherMap makes sure that a node which knows another version of a shard's place
// claims nothing there, and everything elsewhere.
func TestNothingIsClaimedByAnotherMap(t *testing.T) {
	t.Parallel()
	_, shards := persisttest.Sharded(t, 2)
	for i := range shards {
		shards[i].Valve = nil // it is the claim that refuses
	}
	j := openShards(t, shards, "a")
	here, there := engine.EventRef(eventIn(shards[0], 0)), engine.EventRef(eventIn(shards[1], 0))
	first, err := j.Claim(t.Context(), there)
	require.NoError(t, err)
	_, err = shards[1].Pool.Exec(t.Context(), `UPDATE journal_mark SET version = version + 1`)
	require.NoError(t, err)
	_, err = j.Claim(t.Context(), there)
	require.ErrorIs(t, err, journal.ErrOtherMap)
	_, err = j.Claim(t.Context(), here)
	require.NoError(t, err)
	_, err = shards[1].Pool.Exec(t.Context(), `UPDATE journal_mark SET version = version - 1`)
	require.NoError(t, err)
	second, err := j.Claim(t.Context(), there)
	require.NoError(t, err)
	require.Equal(t, first.Epoch+1, second.Epoch, "the refused claim has changed nothing")
}

// TestNothingIsOpenedByAnotherMap makes sure that a node which knows another version of a shard's place opens
// no writer there. Where the shard is opened, another writer gets the number that it would have had.
func TestNothingIsOpenedByAnotherMap(t *testing.T) {
	t.Parallel()
	_, shards := persisttest.Sharded(t, 2)
	_, err := shards[1].Pool.Exec(t.Context(), `UPDATE journal_mark SET version = version + 1`)
	require.NoError(t, err)
	_, err = journal.OpenShards(t.Context(), journal.Config{Node: "a", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true}, shards)
	require.ErrorIs(t, err, journal.ErrOtherMap)
	var writers int
	require.NoError(t, shards[1].Pool.QueryRow(t.Context(), `SELECT count(*) FROM writers`).Scan(&writers))
	require.Zero(t, writers)
}

// TestNothingIsProvenByAClosedWriter makes sure that a node which was taken for dead, or a shard that has moved,
// proves no claims: others may have claimed the streams where the first cannot see it.
func TestNothingIsProvenByAClosedWriter(t *testing.T) {
	t.Parallel()
	_, shards := persisttest.Sharded(t, 2)
	j := openShards(t, shards, "a")
	here, there := engine.EventRef(eventIn(shards[0], 0)), engine.EventRef(eventIn(shards[1], 0))
	first, err := j.Claim(t.Context(), here)
	require.NoError(t, err)
	second, err := j.Claim(t.Context(), there)
	require.NoError(t, err)
	lost, err := j.Standing(t.Context(), []journal.Claim{first, second})
	require.NoError(t, err)
	require.Empty(t, lost)
	_, err = shards[1].Pool.Exec(t.Context(), `UPDATE writers SET closed_at = now()`)
	require.NoError(t, err)
	lost, err = j.Standing(t.Context(), []journal.Claim{first, second})
	require.NoError(t, err)
	require.Equal(t, []journal.Claim{second}, lost)
}

// TestAShardIsAway makes sure that a shard that is not what it should be holds nobody up, and is used
// again once it is.
func TestAShardIsAway(t *testing.T) {
	t.Parallel()
	_, shards := persisttest.Sharded(t, 2)
	j := openShards(t, shards, "a", func(c *journal.Config) { c.FailAfter = time.Hour })
	here, there := engine.EventRef(eventIn(shards[0], 0)), engine.EventRef(eventIn(shards[1], 0))
	s := persisttest.NewScribe(t, j, there)
	require.NoError(t, s.Append(1).Wait(t))
	conn, err := pgx.Connect(t.Context(), shards[1].Pool.Config().ConnString())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	_, err = conn.Exec(t.Context(), `UPDATE journal_mark SET version = version + 1`)
	require.NoError(t, err)
	<-j.Shut(there.Home)
	require.ErrorIs(t, j.States()[1].Err, journal.ErrOtherMap)
	require.NoError(t, j.States()[0].Err)
	waits := s.Append(1)
	_, err = j.Claim(t.Context(), there)
	require.ErrorIs(t, err, persistence.ErrAway)
	require.True(t, persistence.Outage(err))
	require.NoError(t, persisttest.NewScribe(t, j, here).Append(1).Wait(t))
	writers, err := j.Writers(t.Context())
	require.ErrorIs(t, err, persistence.ErrAway)
	require.Len(t, writers, 2, "those of the other shard")
	require.Zero(t, j.Backlog(), "what waits there is no reason to refuse work")
	_, err = conn.Exec(t.Context(), `UPDATE journal_mark SET version = version - 1`)
	require.NoError(t, err)
	require.NoError(t, waits.Wait(t))
}

// TestAShardThatReadsAndDoesNotCommitIsAway makes sure that a shard which answers questions and commits
// nothing counts as one that does not answer, and is used again once it commits.
func TestAShardThatReadsAndDoesNotCommitIsAway(t *testing.T) {
	t.Parallel()
	server := persisttest.StartOwn(t, nil)
	_, shards := persisttest.ShardedOn(t, persisttest.Empty(t), server.URL())
	j := openShards(t, shards, "a", func(c *journal.Config) { c.FailAfter = time.Hour })
	here, there := engine.EventRef(eventIn(shards[0], 0)), engine.EventRef(eventIn(shards[1], 0))
	answering, waiting := persisttest.NewScribe(t, j, here), persisttest.NewScribe(t, j, there)
	operator, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	defer func() { require.NoError(t, operator.Close(context.WithoutCancel(t.Context()))) }()
	set := func(statement string) {
		_, err := operator.Exec(t.Context(), statement)
		require.NoError(t, err)
		_, err = operator.Exec(t.Context(), `SELECT pg_reload_conf()`)
		require.NoError(t, err)
	}
	for _, setting := range []string{"default_transaction_read_only = on", "synchronous_standby_names = 'gone'"} {
		name, _, _ := strings.Cut(setting, " ")
		require.NoError(t, waiting.Append(1).Wait(t), setting)
		set(`ALTER SYSTEM SET ` + setting)
		<-j.Shut(there.Home)
		require.ErrorIs(t, j.Away(there.Home), persistence.ErrAway, setting)
		late := waiting.Append(1)
		require.NoError(t, answering.Append(1).Wait(t), setting)
		require.NoError(t, j.Away(here.Home), setting)
		set(`ALTER SYSTEM RESET ` + name)
		require.NoError(t, late.Wait(t), setting)
	}
}
