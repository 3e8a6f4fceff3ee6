package main

import (
	"context"
	"sync/atomic"
	"time"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// following is a follower of the journal that runs once in the cluster, on
// whichever node's turn it is.
type following struct {
	cfg    follower.Config
	active atomic.Pointer[follower.Follower] // nil: on another node
	failed chan error
}

func newFollowing(cfg follower.Config) *following {
	return &following{cfg: cfg, failed: make(chan error, 1)}
}

// offer hands a batch of this node over.
func (f *following) offer(b *journal.Batch) {
	if a := f.active.Load(); a != nil {
		a.Offer(b)
	}
}

// run follows until the context ends; what was offered by then is applied.
func (f *following) run(ctx context.Context, from follower.Journal) {
	a := follower.New(f.cfg)
	f.active.Store(a)
	a.Start(from)
	select {
	case <-ctx.Done():
	case err := <-a.Failed():
		f.failed <- err
		<-ctx.Done()
	}
	f.active.Store(nil)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), followerStopTime)
	defer cancel()
	_ = a.Stop(stop) // what is left is read from the journal, by the next
}

// followerStopTime bounds how long a follower applies what it was handed when it
// is another node's turn, or the node stops.
const followerStopTime = 5 * time.Second

// lag is how many batches of this node the follower has not applied; 0 when it runs
// on another node.
func (f *following) lag() float64 {
	if a := f.active.Load(); a != nil {
		return float64(a.Lag().Batches)
	}
	return 0
}

// settled waits until the follower has all that this node knows to be committed.
func (n *node) settled(ctx context.Context) error {
	if a := n.reading.active.Load(); a != nil && !n.cfg.clustered() {
		return a.Passed(ctx)
	}
	return follower.Await(ctx, n.pool, n.reading.cfg.Name, n.cluster.Positions())
}
