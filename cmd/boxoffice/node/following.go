package node

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
	from   func() follower.Journal
	active atomic.Pointer[follower.Follower] // nil: on another node
	failed chan error
}

func (n *Node) newFollowing(cfg follower.Config) *following {
	cfg.Pool, cfg.Log, cfg.Room = n.pool, n.log, n.disk.Await
	if n.cfg.clustered() {
		cfg.Poll = pollOthers
	}
	return &following{cfg: cfg, from: func() follower.Journal { return n.journal }, failed: make(chan error, 1)}
}

// pollOthers is how often followers look at what other nodes have committed.
const pollOthers = 100 * time.Millisecond

// offer hands a batch of this node over.
func (f *following) offer(b *journal.Batch) {
	if a := f.active.Load(); a != nil {
		a.Offer(b)
	}
}

// run follows until the context ends; what was offered by then is applied.
func (f *following) run(ctx context.Context) {
	a := follower.New(f.cfg)
	f.active.Store(a)
	a.Start(f.from())
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

// stopped is 1 when the follower has failed for good.
func (f *following) stopped() float64 {
	if a := f.active.Load(); a != nil && a.Lag().Stopped {
		return 1
	}
	return 0
}

// delay is how many seconds the last facts were old when they were applied.
func (f *following) delay() float64 {
	if a := f.active.Load(); a != nil {
		return a.Lag().Delay.Seconds()
	}
	return 0
}

// Settled waits until the read model has all that this node knows to be committed.
func (n *Node) Settled(ctx context.Context) error { return n.passed(ctx, n.reading) }

// AwaitTold waits until the world has been told of all that this node knows to be
// committed, or until Kafka has it.
func (n *Node) AwaitTold(ctx context.Context) error { return n.passed(ctx, n.telling) }

// awaitFollowers waits until all followers have what this node knows to be committed. Behind
// Kafka, those who consume may have it a little later.
func (n *Node) awaitFollowers(ctx context.Context) error {
	for _, f := range []*following{n.reading, n.attending, n.telling} {
		if err := n.passed(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// IsBehind reports whether the followers that run on this node have facts of its own left
// to apply.
func (n *Node) IsBehind() bool {
	return n.reading.lag() > 0 || n.telling.lag() > 0 || n.attending.lag() > 0
}

// passed waits until a follower has all that this node knows to be committed.
func (n *Node) passed(ctx context.Context, f *following) error {
	if a := f.active.Load(); a != nil && !n.cfg.clustered() {
		return a.Passed(ctx)
	}
	return follower.Await(ctx, n.pool, f.cfg.Name, n.cluster.Positions())
}
