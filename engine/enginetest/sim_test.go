package enginetest

import (
	"flag"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	seeds   = flag.Uint64("seeds", 50, "how many seeds TestSim runs")
	oneSeed = flag.Uint64("seed", 0, "run this seed alone and print its event log")
	planted = flag.String("bug", "", "plant a bug: no-fence, early-reply, ...")
)

// TestSim runs the simulator over many seeds, or over one with its event log.
func TestSim(t *testing.T) {
	t.Parallel()
	bug, err := ParseBug(*planted)
	require.NoError(t, err)
	if *oneSeed != 0 {
		r := Simulate(*oneSeed, bug, os.Stdout)
		require.NoError(t, r.Err, "seed %d", r.Seed)
		return
	}
	start, steps := time.Now(), 0
	reached := make(map[string]int)
	for seed := uint64(1); seed <= *seeds; seed++ {
		r := Simulate(seed, bug, nil)
		steps += r.Steps
		for what, n := range r.Reached {
			reached[what] += n
		}
		require.NoError(t, r.Err, "seed %d: see it with -run TestSim -args -seed=%d -bug=%s", seed, seed, bug)
	}
	spent := time.Since(start).Seconds()
	t.Logf("%d seeds, %.1f seeds/s, %d steps, %.0f steps/s", *seeds, float64(*seeds)/spent, steps, float64(steps)/spent)
	for _, what := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%8d  %s", reached[what], what)
	}
}

// TestSimReplays makes sure that a seed is the same run every time.
func TestSimReplays(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 8; seed++ {
		a, b := Simulate(seed, "", nil), Simulate(seed, "", nil)
		require.Equal(t, a.Hash, b.Hash, "seed %d", seed)
		require.Equal(t, a.Steps, b.Steps, "seed %d", seed)
	}
}

// TestSimFinds plants bugs that the simulator has to find.
func TestSimFinds(t *testing.T) {
	t.Parallel()
	const most = 500
	for _, bug := range Bugs {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= most; seed++ {
				if r := Simulate(seed, bug, nil); r.Err != nil {
					t.Logf("found by seed %d: %.300s", seed, r.Err)
					return
				}
			}
			t.Fatalf("not found in %d seeds", most)
		})
	}
}
