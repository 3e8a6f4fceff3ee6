package node

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"boxoffice/cmd/boxoffice/node/heap"
	"boxoffice/persistence/panics"
)

// meter reports whether a count grows faster than a limit. It measures at most every meterSpan, and
// in between repeats its last result.
type meter struct {
	count func() int64 // returns a count that only grows
	limit float64      // how much it may grow in a second

	mu sync.Mutex
	// at and last are the time and the count of the last measurement, and fast is its result.
	at   time.Time
	last int64
	fast bool
}

// meterSpan is the shortest time over which a meter measures. Over a shorter time a single batch
// would look like a rush.
const meterSpan = 200 * time.Millisecond

// exceeded reports whether the count grew faster than the limit since the measurement before. It measures now,
// unless the last measurement is younger than meterSpan; then it repeats the result of that one.
func (m *meter) exceeded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if passed := now.Sub(m.at); passed >= meterSpan {
		n := m.count()
		m.fast = float64(n-m.last) > m.limit*passed.Seconds()
		m.at, m.last = now, n
	}
	return m.fast
}

const (
	// busyRate is how many facts a second each core commits on a busy node, about half of what it
	// can.
	busyRate = 2_000
	// sellingRate is how many facts a second each core commits when a sale goes on.
	sellingRate = 50
	// restRate is how many commands a second a node at rest has at most. That is so few that a
	// garbage collection delays only one or two of them.
	restRate = 20
)

// faster returns a function that reports whether this node commits more than rate facts a second
// for each core. Work that can wait asks it before it begins.
func (n *Node) faster(rate int) func() bool {
	m := &meter{count: func() int64 { return n.journal.Stats().Facts }, limit: float64(rate * runtime.GOMAXPROCS(0))}
	return m.exceeded
}

// startCollecting starts a goroutine that keeps memory free for a rush (heap.Room), so that no garbage
// collection falls into it. It does nothing if heap.NewRoom gives no room. If a room can't be made, it
// only logs that, and the error is nil.
func (n *Node) startCollecting(ctx context.Context) error {
	commands := &meter{count: func() int64 { s := n.cluster.Stats(); return s.Here + s.There }, limit: restRate}
	var err error
	// The room is made only while the node rests, because making it needs a garbage collection.
	n.room, err = heap.NewRoom(n.cfg.HeapRoom, func() bool { return commands.exceeded() || n.reading.lag() > 0 })
	if err != nil {
		n.log.WarnContext(ctx, "no room in the heap is kept", slog.Any("error", err))
	}
	if n.room == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		panics.Keep(ctx, n.log, "room in the heap", func() { n.room.KeepReady(ctx) })
	})
	n.started(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}
