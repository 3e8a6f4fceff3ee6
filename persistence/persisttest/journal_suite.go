package persisttest

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Fixture is a journal under test, on an empty store of its own.
type Fixture struct {
	Journal journal.Journal
	Stop    func(context.Context) error // stops Journal
	Rival   journal.Journal             // another node's journal on the same store
	Batches func() []*journal.Batch     // what Journal's sink has got so far
}

// Batches collects the batches that a journal's sink gets. It may be used by any goroutine.
type Batches struct {
	mu  sync.Mutex
	all []*journal.Batch
}

// Sink takes a batch; it is what a journal is configured with.
func (b *Batches) Sink(batch *journal.Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, batch)
}

// All returns the batches that have come so far.
func (b *Batches) All() []*journal.Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clip(b.all)
}

// Journal checks that an implementation of a journal keeps its contract. open is called once for
// each of the tests, which run in parallel.
func Journal(t *testing.T, open func(t *testing.T) Fixture) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, f Fixture)
	}{
		{"ClaimRaisesTheEpoch", claimRaisesTheEpoch},
		{"AppendedFactsAreLoaded", appendedFactsAreLoaded},
		{"EntriesSettleInOrder", entriesSettleInOrder},
		{"BarrierFollowsItsStream", barrierFollowsItsStream},
		{"RivalFences", rivalFences},
		{"FenceSparesOtherStreams", fenceSparesOtherStreams},
		{"NeedsAreMetOrRefused", needsAreMetOrRefused},
		{"SameNodeClaimsAgain", sameNodeClaimsAgain},
		{"DisorderIsRefused", disorderIsRefused},
		{"StandingNamesTheFenced", standingNamesTheFenced},
		{"FollowersComeBeforeReplies", followersComeBeforeReplies},
		{"FollowersSeeEverythingOnce", followersSeeEverythingOnce},
		{"StopFlushesAndRefuses", stopFlushesAndRefuses},
		{"LoadStops", loadStops},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}

// claimRaisesTheEpoch makes sure that each claim of a stream has the next epoch, whichever node claims, and that
// streams are apart.
func claimRaisesTheEpoch(t *testing.T, f Fixture) {
	a, b := engine.EventRef(1), engine.InventoryRef(1, 2)
	one, err := f.Journal.Claim(t.Context(), a)
	require.NoError(t, err)
	other, err := f.Journal.Claim(t.Context(), b)
	require.NoError(t, err)
	two, err := f.Rival.Claim(t.Context(), a)
	require.NoError(t, err)
	require.NotEqual(t, one.Stream, other.Stream)
	require.Equal(t, int32(1), one.Epoch)
	require.Equal(t, int32(1), other.Epoch)
	require.Equal(t, one.Stream, two.Stream)
	require.EqualValues(t, 2, two.Epoch)
}

// appendedFactsAreLoaded makes sure that any node loads the facts of a stream that are durable, from any fact on.
func appendedFactsAreLoaded(t *testing.T, f Fixture) {
	s := NewScribe(t, f.Journal, engine.EventRef(1))
	require.Empty(t, LoadTokens(t, f.Journal, s.Claim.Stream, 0))
	require.NoError(t, s.Append(2).Wait(t))
	require.NoError(t, s.Append(3).Wait(t))
	require.Equal(t, Tokens(1, 1, 5), LoadTokens(t, f.Journal, s.Claim.Stream, 0))
	require.Equal(t, Tokens(1, 3, 5), LoadTokens(t, f.Rival, s.Claim.Stream, 2))
	require.Empty(t, LoadTokens(t, f.Rival, s.Claim.Stream, 5))
}

// entriesSettleInOrder makes sure that a stream hears of its entries in the order in which it appended them,
// however they are batched.
func entriesSettleInOrder(t *testing.T, f Fixture) {
	const streams, entries = 7, 200
	var mu sync.Mutex
	order := make([][]int, streams)
	var last []*Verdict
	for i := range streams {
		s := NewScribe(t, f.Journal, engine.InventoryRef(1, int64(i)))
		for n := range entries {
			e, v := s.entry(1 + n%3)
			// The outcome is noted within Settled, because a channel for each entry would not show the order.
			v.first = func(err error) {
				mu.Lock()
				defer mu.Unlock()
				order[i] = append(order[i], n)
			}
			f.Journal.Append(e)
			last = append(last, v)
		}
	}
	for _, v := range last {
		require.NoError(t, v.Wait(t))
	}
	for _, got := range order {
		for n := range entries {
			require.Equal(t, n, got[n])
		}
	}
}

// barrierFollowsItsStream makes sure that an entry without facts is settled after the facts before it, and leaves
// nothing behind.
func barrierFollowsItsStream(t *testing.T, f Fixture) {
	s := NewScribe(t, f.Journal, engine.EventRef(1))
	require.NoError(t, s.Append(0).Wait(t), "a barrier alone")
	for range 20 {
		write, barrier := s.Append(1), s.Append(0)
		require.NoError(t, barrier.Wait(t))
		select {
		case err := <-write.heard:
			require.NoError(t, err)
		default:
			require.FailNow(t, "the barrier was settled before the facts that it follows")
		}
	}
	require.Len(t, LoadTokens(t, f.Journal, s.Claim.Stream, 0), 20, "barriers leave nothing behind")
}

// rivalFences makes sure that a claim ends what the stream's former owner may append, for good.
func rivalFences(t *testing.T, f Fixture) {
	s := NewScribe(t, f.Journal, engine.EventRef(1))
	require.NoError(t, s.Append(2).Wait(t))
	rival := NewScribe(t, f.Rival, engine.EventRef(1))
	require.NoError(t, rival.Append(1).Wait(t))
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrFenced)
	require.ErrorIs(t, s.Append(0).Wait(t), journal.ErrFenced, "a barrier after a fence")
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrFenced, "a fence is for good")
	require.NoError(t, rival.Append(1).Wait(t))
	require.Equal(t, append(Tokens(1, 1, 2), Tokens(2, 3, 4)...), LoadTokens(t, f.Journal, s.Claim.Stream, 0))
}

// fenceSparesOtherStreams makes sure that a refused entry takes no entry of another stream with it, even if both
// are in one batch.
func fenceSparesOtherStreams(t *testing.T, f Fixture) {
	const streams = 20
	scribes := make([]*Scribe, streams)
	for i := range scribes {
		scribes[i] = NewScribe(t, f.Journal, engine.InventoryRef(1, int64(i)))
		// A rival has claimed every second stream.
		if i%2 == 1 {
			NewScribe(t, f.Rival, scribes[i].Ref)
		}
	}
	verdicts := make([]*Verdict, streams)
	for i, s := range scribes {
		verdicts[i] = s.Append(1)
	}
	for i, v := range verdicts {
		if i%2 == 1 {
			require.ErrorIs(t, v.Wait(t), journal.ErrFenced)
			require.Empty(t, LoadTokens(t, f.Journal, scribes[i].Claim.Stream, 0))
		} else {
			require.NoError(t, v.Wait(t))
			require.Len(t, LoadTokens(t, f.Journal, scribes[i].Claim.Stream, 0), 1)
		}
	}
}

// needsAreMetOrRefused makes sure that an entry which needs another stream's facts gets in only with those. A
// ledger's entries need facts of two keepers. The rival, or the same node again, claims the stream of one of
// the two.
func needsAreMetOrRefused(t *testing.T, f Fixture) {
	sound, keeper := NewScribe(t, f.Journal, engine.InventoryRef(1, 1)), NewScribe(t, f.Journal, engine.InventoryRef(1, 2))
	for i := range 20 {
		ledger := NewScribe(t, f.Journal, engine.EventRef(1))
		head := len(LoadTokens(t, f.Journal, ledger.Claim.Stream, 0))
		sound.Append(1)
		require.NoError(t, ledger.AppendNeeding(1, sound.Claim).Wait(t))
		require.NoError(t, ledger.AppendNeeding(1, sound.Claim).Wait(t), "what has long been durable")
		// The other node, or the same node again, takes the keeper's stream.
		if i%2 == 0 {
			NewScribe(t, f.Rival, keeper.Ref)
		} else {
			NewScribe(t, f.Journal, keeper.Ref)
		}
		lost := keeper.Append(1)
		// Now and then the keeper has heard that it is fenced before the ledger needs it.
		if i%3 == 0 {
			require.ErrorIs(t, lost.Wait(t), journal.ErrFenced)
			lost = keeper.Append(1)
		}
		before, rests, after := ledger.AppendNeeding(1, sound.Claim), ledger.AppendNeeding(1, keeper.Claim), ledger.Append(1)
		require.ErrorIs(t, rests.Wait(t), journal.ErrFenced)
		require.ErrorIs(t, after.Wait(t), journal.ErrFenced)
		// A fence is for good, so what the ledger appends after the refused entry is refused too.
		kept := 2
		if before.Wait(t) == nil { // it got into an earlier batch
			kept = 3
		}
		require.Len(t, LoadTokens(t, f.Journal, ledger.Claim.Stream, 0), head+kept)
		require.ErrorIs(t, lost.Wait(t), journal.ErrFenced)
		keeper = NewScribe(t, f.Journal, keeper.Ref)
	}
	require.Empty(t, LoadTokens(t, f.Journal, keeper.Claim.Stream, 0))
	require.Len(t, LoadTokens(t, f.Journal, sound.Claim.Stream, 0), 20)
}

// sameNodeClaimsAgain makes sure that a second claim by the same node fences the first one too, also for entries
// that are appended at the same time.
func sameNodeClaimsAgain(t *testing.T, f Fixture) {
	old := NewScribe(t, f.Journal, engine.EventRef(1))
	require.NoError(t, old.Append(1).Wait(t))
	// Of three entries that are appended together, the two of the old claim fail.
	young := NewScribe(t, f.Journal, engine.EventRef(1))
	stale, fresh, staler := old.Append(1), young.Append(2), old.Append(1)
	require.ErrorIs(t, stale.Wait(t), journal.ErrFenced)
	require.NoError(t, fresh.Wait(t))
	require.ErrorIs(t, staler.Wait(t), journal.ErrFenced)
	require.Equal(t, append(Tokens(1, 1, 1), Tokens(2, 2, 3)...), LoadTokens(t, f.Journal, old.Claim.Stream, 0))
}

// disorderIsRefused makes sure that an entry which does not follow the one before it is refused, that the claim is
// spent then, and that other streams do not notice.
func disorderIsRefused(t *testing.T, f Fixture) {
	s, other := NewScribe(t, f.Journal, engine.EventRef(1)), NewScribe(t, f.Journal, engine.EventRef(2))
	require.NoError(t, s.Append(1).Wait(t))
	s.Next++
	gap, beside := s.Append(1), other.Append(1)
	require.ErrorIs(t, gap.Wait(t), journal.ErrOrder)
	require.NoError(t, beside.Wait(t))
	s.Next = 2
	require.Error(t, s.Append(1).Wait(t), "the claim is spent")
	require.NoError(t, NewScribe(t, f.Journal, s.Ref).Append(1).Wait(t))
	require.Len(t, LoadTokens(t, f.Journal, s.Claim.Stream, 0), 2)
}

// standingNamesTheFenced makes sure that a node can ask which of its claims were fenced.
func standingNamesTheFenced(t *testing.T, f Fixture) {
	a, b := NewScribe(t, f.Journal, engine.EventRef(1)), NewScribe(t, f.Journal, engine.EventRef(2))
	both := []journal.Claim{a.Claim, b.Claim}
	gone, err := f.Journal.Standing(t.Context(), both)
	require.NoError(t, err)
	require.Empty(t, gone)
	NewScribe(t, f.Rival, engine.EventRef(2))
	gone, err = f.Journal.Standing(t.Context(), both)
	require.NoError(t, err)
	require.Equal(t, []journal.Claim{b.Claim}, gone)
}

// followersComeBeforeReplies makes sure that the sink has a batch before the entries in it are settled. A caller that
// has its answer then finds the facts in what is shown from memory.
func followersComeBeforeReplies(t *testing.T, f Fixture) {
	s := NewScribe(t, f.Journal, engine.EventRef(1))
	for range 20 {
		e, v := s.entry(1)
		var delivered bool
		v.first = func(error) {
			all := f.Batches()
			last := all[len(all)-1]
			delivered = last.Records[len(last.Records)-1].Last == e.First
		}
		f.Journal.Append(e)
		require.NoError(t, v.Wait(t))
		require.True(t, delivered, "settled before the sink had the batch")
	}
}

// followersSeeEverythingOnce makes sure that the sink gets each fact once, and the facts of a stream in order.
func followersSeeEverythingOnce(t *testing.T, f Fixture) {
	const streams, entries = 5, 100
	var last []*Verdict
	refs := make(map[int64]engine.Ref)
	for i := range streams {
		s := NewScribe(t, f.Journal, engine.InventoryRef(7, int64(i)))
		refs[s.Claim.Stream] = s.Ref
		for range entries {
			last = append(last, s.Append(2))
		}
	}
	for _, v := range last {
		require.NoError(t, v.Wait(t))
	}
	// Of each writer the batches are numbered from 1 without gaps, and of each stream the facts.
	writers, heads := make(map[int32]int64), make(map[int64]int64)
	for _, b := range f.Batches() {
		writers[b.Writer]++
		require.Equal(t, writers[b.Writer], b.Seq)
		require.NotEmpty(t, b.Records)
		for _, r := range b.Records {
			require.Equal(t, refs[r.Stream], r.Ref)
			require.Equal(t, heads[r.Stream]+1, r.First)
			require.Len(t, r.Facts, int(r.Last-r.First+1))
			for i, fact := range r.Facts {
				require.Equal(t, noted{Token: uint64(r.Epoch)<<32 | uint64(r.First+int64(i))}, fact)
				require.Equal(t, fact.(noted).Token, binary.BigEndian.Uint64(r.Bytes[i*tokenSize:]))
			}
			heads[r.Stream] = r.Last
		}
	}
	require.Len(t, heads, streams)
	for _, head := range heads {
		require.Equal(t, int64(2*entries), head)
	}
}

// stopFlushesAndRefuses makes sure that a stopped journal has committed what it had accepted, and accepts nothing
// more.
func stopFlushesAndRefuses(t *testing.T, f Fixture) {
	s := NewScribe(t, f.Journal, engine.EventRef(1))
	var verdicts []*Verdict
	for range 100 {
		verdicts = append(verdicts, s.Append(1))
	}
	require.NoError(t, f.Stop(context.WithoutCancel(t.Context())))
	for _, v := range verdicts {
		require.NoError(t, v.Wait(t))
	}
	require.ErrorIs(t, s.Append(1).Wait(t), journal.ErrClosed)
	_, err := f.Journal.Claim(t.Context(), s.Ref)
	require.ErrorIs(t, err, journal.ErrClosed)
	require.Len(t, LoadTokens(t, f.Rival, s.Claim.Stream, 0), 100)
}

// loadStops makes sure that a reader may stop before a stream's end, and that one whose context has ended gets
// an error.
func loadStops(t *testing.T, f Fixture) {
	s := NewScribe(t, f.Journal, engine.EventRef(1))
	for range 3 {
		require.NoError(t, s.Append(1).Wait(t))
	}
	for r, err := range f.Journal.Load(t.Context(), s.Claim.Stream, 0) {
		require.NoError(t, err)
		require.Equal(t, int64(1), r.First)
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range f.Journal.Load(ctx, s.Claim.Stream, 0) {
		require.ErrorIs(t, err, context.Canceled, "an ended context must not look like the stream's end")
	}
}
