package velocity

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTally compares a tally with a plain list of what was done: its counts of a doer are exact,
// also after a snapshot, and it forgets old deeds.
func TestTally(t *testing.T) {
	t.Parallel()
	type act struct {
		by    [2]uint64
		slots [2]uint32
		at    int64
	}
	rapid.Check(t, func(t *rapid.T) {
		tally := newTally(1_000)
		var all, begun []act
		var now int64
		open := make(map[uint64]int64)
		for range rapid.IntRange(1, 300).Draw(t, "turns") {
			now += rapid.Int64Range(0, 200).Draw(t, "pause")
			by := [2]uint64{rapid.Uint64Range(1, 4).Draw(t, "buyer"), rapid.Uint64Range(1, 3).Draw(t, "address")}
			switch what := rapid.IntRange(0, 5).Draw(t, "what"); {
			case what < 3:
				begun = append(begun, act{by, tally.begin(by), now})
			case what < 5 && len(begun) > 0: // the first deed begun need not be the first done
				i := rapid.IntRange(0, len(begun)-1).Draw(t, "which")
				a := begun[i]
				begun = slices.Delete(begun, i, i+1)
				if what == 3 {
					tally.takeBack(a.by, a.slots)
					break
				}
				tally.finish(a.by, a.slots, a.at)
				if n := len(all); n > 0 {
					a.at = max(a.at, all[n-1].at)
				}
				all = append(all, a)
			case what == 5:
				n := int64(1)
				if open[by[0]] > 0 {
					n = -1
				}
				tally.countUnpaid(by[0], int32(n))
				open[by[0]] += n
			}
			if rapid.IntRange(0, 20).Draw(t, "saved") == 0 && len(begun) == 0 {
				tally = thawed(&tally, open)
			}
			sum := int64(0)
			for _, n := range open {
				sum += n
			}
			require.NoError(t, tally.checkCounts(sum, int64(len(begun))))
			for side := range by {
				limit := rapid.Int64Range(1, 6).Draw(t, "limit")
				var at []int64 // of the doer's deeds that still count
				for _, d := range all {
					if d.by[side] == by[side] && d.at > now-1_000 {
						at = append(at, d.at)
					}
				}
				taken := int64(len(at))
				for _, d := range begun {
					if d.by[side] == by[side] {
						taken++
					}
				}
				wait := tally.waitTime(side, tally.find(side, by[side]), limit, now)
				switch over := taken + 1 - limit; {
				case over <= 0:
					require.Zero(t, wait)
				case over <= int64(len(at)):
					require.Equal(t, at[over-1]+1_000-now, wait)
				default:
					require.Positive(t, wait)
				}
			}
		}
	})
}

// thawed returns a tally as it is after a snapshot.
func thawed(t *tally, open map[uint64]int64) tally {
	fresh := newTally(t.span)
	for i := range t.deeds.Len() {
		d := t.deeds.At(i)
		fresh.append(d.who, fresh.begin(d.who), d.at)
	}
	for who, n := range open {
		if n > 0 {
			fresh.countUnpaid(who, int32(n))
		}
	}
	return fresh
}

// TestTallyBound gives a tally more deeds than it can remember: it forgets the oldest.
func TestTallyBound(t *testing.T) {
	t.Parallel()
	tally := newTally(1_000)
	const more = 1_000
	for n := range uint64(maxTally + more) {
		by := [2]uint64{n, n}
		tally.finish(by, tally.begin(by), 0)
	}
	require.NoError(t, tally.checkCounts(0, 0))
	require.Zero(t, tally.find(buyer, more-1))
	require.NotZero(t, tally.find(address, more))
	require.Equal(t, maxTally, tally.deeds.Len())
	for n := range uint64(maxTally) { // much later
		by := [2]uint64{n % 2, 0}
		tally.finish(by, tally.begin(by), 5_000+int64(n))
	}
	require.NoError(t, tally.checkCounts(0, 0))
	require.Len(t, tally.slots[buyer], 2)
	require.LessOrEqual(t, tally.deeds.Len(), 1_001)
}

// BenchmarkTally measures what the velocity rules cost an order, for buyers with an address each
// and for buyers who share one address.
func BenchmarkTally(b *testing.B) {
	for name, addresses := range map[string]uint64{"an address each": 1 << 62, "one address": 1} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			t := newTally(orderSpan)
			for n := uint64(0); b.Loop(); n++ {
				who := n * 0x9e3779b97f4a7c15
				by := [2]uint64{who, who % addresses}
				for side := range by {
					t.waitTime(side, t.find(side, by[side]), 1<<40, int64(n/25))
				}
				t.finish(by, t.begin(by), int64(n/25))
				t.countUnpaid(who, 1)
			}
		})
	}
}
