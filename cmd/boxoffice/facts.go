package main

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/told"
)

const (
	// factsPace lets the read model, which paces itself at half of that, go
	// first.
	factsPace = 100 * time.Millisecond
	// factsQueue of facts wait in memory; those of a rush are read back.
	factsQueue = 50_000
	// factsBatch facts are told in one transaction.
	factsBatch = 4_000
	// factsYield is how many times as long as it worked the follower rests
	// while the node is busy.
	factsYield = 4
	// busyRate is how many facts are committed in a second when the node is
	// busy.
	busyRate = 2_000
)

// newFacts is what tells the world. startFacts starts it.
func (n *node) newFacts() *following {
	busy := meter{count: func() int64 { return n.journal.Stats().Facts }, limit: busyRate}
	return n.newFollowing(follower.Config{
		Name: told.Follower, Apply: n.tell,
		Pace: factsPace, MaxQueue: factsQueue, MaxBatch: factsBatch, Yield: factsYield, Busy: busy.exceeded,
	})
}

// tell is everything that is done about facts outside the sale. It is one
// transaction with the position of whoever calls it.
func (n *node) tell(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	return n.told.Apply(ctx, tx, batches)
}

// startFacts has the world told of what is committed from here on, and of what
// was before and is not told yet. Its failure is not the node's: sales go on.
func (n *node) startFacts(context.Context) error {
	n.told = told.New(n.pool, n.desk.Secrets, n.desk.Teller())
	n.desk.Facts = n.told
	n.started(told.StartPruner(n.told, n.log).Stop)
	n.started(n.cluster.Once("facts", n.telling.run)) // before the actors: a seat's place is asked of one
	return nil
}

// meter says whether something that is counted goes faster than a limit.
type meter struct {
	count func() int64
	limit float64 // a second

	mu   sync.Mutex
	at   time.Time
	last int64
	fast bool
}

// meterSpan is the least time over which a meter measures.
const meterSpan = 200 * time.Millisecond

// exceeded says whether the rate since it was asked before is above the limit.
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
