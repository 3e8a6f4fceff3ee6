package fleet

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	nodes  = flag.Int("nodes", 100, "how many nodes there are")
	events = flag.Int("events", 10_000, "how many events there are")
	seeds  = flag.Uint64("seeds", 3, "how many storms there are, each with a seed of its own")
	storm  = flag.Int64("storm", 30, "how many seconds each storm lasts")
)

// TestFleet measures single changes of members in a quiet world, and then has everything go wrong at once.
func TestFleet(t *testing.T) {
	t.Parallel()
	f := New(Options{Seed: 1, Nodes: *nodes, Events: *events})
	t.Logf("%d nodes, %d events", *nodes, *events)
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"a node dies", func() { f.kill(0) }},
		{"it starts again", func() { f.nodes[0].join() }},
		{"a node leaves in order, and starts again", func() { f.leave(f.nodes[1]) }},
		{"one in fifty dies", func() {
			for i := range max(1, *nodes/50) {
				f.kill(2 + i)
			}
		}},
	} {
		came, err := f.Measure(c.change)
		require.NoError(t, err, c.name)
		t.Logf("%s: %s", c.name, came)
	}
	for seed := range *seeds {
		f := New(Options{Seed: seed + 1, Nodes: *nodes, Events: *events, Storm: *storm * second})
		require.NoError(t, f.Storm(), "seed %d", seed+1)
		t.Logf("storm %d: %+v", seed+1, f.Counts())
	}
}

// TestFleetFindsALateTakeOver makes sure that the storm is red when members wait too long before they take
// another one for dead.
func TestFleetFindsALateTakeOver(t *testing.T) {
	t.Parallel()
	f := New(Options{Seed: 1, Nodes: 30, Events: 1_000, Storm: 30 * second, Lease: 3 * time.Second})
	require.ErrorContains(t, f.Storm(), "has no owner")
}

// TestFleetRepeats makes sure that a seed is the same world every time.
func TestFleetRepeats(t *testing.T) {
	t.Parallel()
	var came [2]Counts
	for i := range came {
		f := New(Options{Seed: 5, Nodes: 30, Events: 1_000, Storm: 10 * second})
		require.NoError(t, f.Storm())
		came[i] = f.Counts()
	}
	require.Equal(t, came[0], came[1])
}

// kill ends a node for good.
func (f *Fleet) kill(i int) {
	n := f.nodes[i]
	n.end()
	n.stays = true
}
