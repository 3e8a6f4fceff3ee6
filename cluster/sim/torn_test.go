package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// TestApplyIsTotal replays streams that facts are missing from, or stand in twice
// or in another order, as no journal should have them. A kind passes over what it
// can't place: whatever became of a journal, its actors can be loaded.
func TestApplyIsTotal(t *testing.T) {
	t.Parallel()
	replays := 0
	for seed := uint64(1); seed <= 8; seed++ {
		s := newSim(seed, "", nil)
		s.runWorld()
		require.NoError(t, s.Err(), "seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 0x7ea5))
		for _, ref := range s.journal.Refs {
			facts, err := s.journal.Stream(ref).Facts()
			require.NoError(t, err)
			for range 20 {
				torn := tear(rng, facts)
				require.NotPanics(t, func() { replayTorn(t, rng, ref, torn) }, "seed %d, %s", seed, ref.Name())
				replays++
			}
		}
	}
	t.Logf("%d torn streams", replays)
}

// TestFoldIsTotal folds facts about an order of which nothing is known.
func TestFoldIsTotal(t *testing.T) {
	t.Parallel()
	kind, err := all.Kind(engine.KindEvent)
	require.NoError(t, err)
	for _, def := range kind.Facts {
		require.NotPanics(t, func() { order.Fold(nil, def.New()) }, def.Name)
	}
	require.NotPanics(t, func() { order.Fold(&order.Order{}, &order.RefundReported{Position: 3}) })
}

// tear damages a stream: every tenth fact is lost, doubled, or changes its place
// with another. Some streams lose their beginning.
func tear(rng *rand.Rand, facts []engine.Fact) (torn []engine.Fact) {
	if rng.IntN(3) == 0 && len(facts) > 0 {
		facts = facts[rng.IntN(len(facts)):]
	}
	for _, f := range facts {
		switch rng.IntN(30) {
		case 0:
		case 1:
			torn = append(torn, f, f)
		case 2:
			torn = append(torn, f)
			i := rng.IntN(len(torn))
			torn[i], torn[len(torn)-1] = torn[len(torn)-1], torn[i]
		default:
			torn = append(torn, f)
		}
	}
	return torn
}

// replayTorn applies a torn stream, half of the times with a snapshot in the midst.
func replayTorn(t *testing.T, rng *rand.Rand, ref engine.Ref, facts []engine.Fact) {
	t.Helper()
	kind, err := all.Kind(ref.Kind)
	require.NoError(t, err)
	state := kind.New(ref)
	cut := rng.IntN(2 * (len(facts) + 1))
	for i, f := range facts {
		if i == cut {
			b, err := codec.Marshal(state.Freeze())
			require.NoError(t, err)
			v := kind.Frozen()
			require.NoError(t, codec.Unmarshal(b, v))
			if thawed, err := kind.Thaw(ref, v); err == nil { // a broken invariant is refused
				state = thawed
			}
		}
		state.Apply(f)
	}
	_, _, _ = state.Check(), state.Next(), state.Freeze()
}
