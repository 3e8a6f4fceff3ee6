package persisttest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

func TestMemoryJournal(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]persisttest.Faults{
		"perfect": {},
		"faulty":  {Delay: 2 * time.Millisecond, Unknown: 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			persisttest.Journal(t, func(t *testing.T) persisttest.Fixture {
				store, batches := persisttest.NewStore(1, faults), &persisttest.Batches{}
				own, rival := store.Open(batches.Sink), store.Open(nil)
				t.Cleanup(own.Crash)
				t.Cleanup(rival.Crash)
				return persisttest.Fixture{Journal: own, Rival: rival, Stop: own.Stop, Batches: batches.All}
			})
		})
	}
}

// TestMemoryRivals checks the same invariants of the in-memory journal as of the real one, with
// every fault that it knows and with nodes that crash.
func TestMemoryRivals(t *testing.T) {
	t.Parallel()
	store := persisttest.NewStore(7, persisttest.Faults{Delay: time.Millisecond, Unknown: 0.3, Fence: 0.05})
	var nodes []func() persisttest.Node
	for range 3 {
		n := &crashing{store: store}
		n.start()
		t.Cleanup(n.crash)
		nodes = append(nodes, n.present)
	}
	reader := store.Open(nil)
	t.Cleanup(reader.Crash)
	tally := persisttest.Rivalry{
		Nodes: nodes, Reader: reader, Streams: 4, Events: 2, Writers: 4, For: 2 * time.Second, Seed: 7,
	}.Run(t)
	t.Logf("%+v", tally)
	require.Positive(t, tally.Acked)
	require.Positive(t, tally.Fenced)
	require.Positive(t, tally.Unknown)
}

// crashing is a node that crashes regularly, after some number of calls.
type crashing struct {
	store *persisttest.Store
	mu    sync.Mutex
	calls int
	node  *persisttest.Memory
	gone  chan struct{}
}

func (c *crashing) start() { c.node, c.gone = c.store.Open(nil), make(chan struct{}) }

func (c *crashing) crash() {
	c.node.Crash()
	close(c.gone)
}

func (c *crashing) present() persisttest.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; c.calls%50 == 0 {
		c.crash()
		c.start()
	}
	return persisttest.Node{Journal: c.node, Gone: c.gone}
}
