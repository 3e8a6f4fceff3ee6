package node

import (
	"context"
	"sync/atomic"
	"time"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// following is a follower of the journal that runs on one node of the cluster at a time.
type following struct {
	cfg    follower.Config
	from   func() follower.Journal           // returns the journal, which does not exist yet when the follower is configured
	active atomic.Pointer[follower.Follower] // the running follower; nil if it runs on another node
	failed chan error                        // gets the error that has ended the follower for good; it has room for one
}

// newFollowing completes a follower's configuration with what all followers of the node share. In a cluster it must
// look for the facts of other nodes, which nobody offers it.
func (n *Node) newFollowing(cfg follower.Config) *following {
	cfg.Pool, cfg.Log, cfg.Room = n.pool, n.log, n.disk.Await
	if n.cfg.clustered() {
		cfg.Poll = pollOthers
	}
	return &following{cfg: cfg, from: func() follower.Journal { return n.journal }, failed: make(chan error, 1)}
}

// pollOthers is how often followers look at what other nodes have committed.
const pollOthers = 100 * time.Millisecond

// offer passes a batch of this node to the follower.
func (f *following) offer(b *journal.Batch) {
	if a := f.active.Load(); a != nil {
		a.Offer(b)
	}
}

// run follows until the context ends, and then applies what has been offered.
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
	_ = a.Stop(stop) // the next follower reads the rest from the journal
}

// followerStopTime bounds how long a follower that stops still applies what it was offered. It
// stops when another node takes over, or when the node stops.
const followerStopTime = 5 * time.Second

// lag returns how many batches of this node the follower has not applied; 0 if it runs on another
// node.
func (f *following) lag() float64 {
	if a := f.active.Load(); a != nil {
		return float64(a.Lag().Batches)
	}
	return 0
}

// stopped returns 1 if the follower has failed permanently.
func (f *following) stopped() float64 {
	if a := f.active.Load(); a != nil && a.Lag().Stopped {
		return 1
	}
	return 0
}

// delay returns how many seconds old the last facts were when they were applied.
func (f *following) delay() float64 {
	if a := f.active.Load(); a != nil {
		return a.Lag().Delay.Seconds()
	}
	return 0
}

// Settled waits until the read model has everything that this node knows to be committed.
func (n *Node) Settled(ctx context.Context) error { return n.awaitPassed(ctx, n.reading) }

// AwaitLists waits until all lists have everything that this node knows to be committed.
func (n *Node) AwaitLists(ctx context.Context) error {
	if err := n.Settled(ctx); err != nil {
		return err
	}
	return n.awaitPassed(ctx, n.attending)
}

// AwaitTold waits until everything that this node knows to be committed has been published, or
// until Kafka has it.
func (n *Node) AwaitTold(ctx context.Context) error { return n.awaitPassed(ctx, n.telling) }

// awaitFollowers waits until all followers have everything that this node knows to be committed.
// Behind Kafka, consumers may have it a little later.
func (n *Node) awaitFollowers(ctx context.Context) error {
	for _, f := range []*following{n.reading, n.attending, n.telling} {
		if err := n.awaitPassed(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// IsBehind reports whether the followers that run on this node still have facts of its own to
// apply.
func (n *Node) IsBehind() bool {
	return n.reading.lag() > 0 || n.telling.lag() > 0 || n.attending.lag() > 0
}

// ShowOwn waits until lists have what a caller has written, through whatever node, and reports
// whether they have. It does not wait for what others have written since.
func (n *Node) ShowOwn(ctx context.Context, caller string) bool {
	until, err := n.cluster.WrittenBy(ctx, caller)
	if len(until) == 0 {
		return err == nil
	}
	for _, f := range []*following{n.reading, n.attending} {
		if n.passedTo(ctx, f, until) != nil {
			return false
		}
	}
	return err == nil
}

// passedTo waits until a follower has the given batches, one per writer.
func (n *Node) passedTo(ctx context.Context, f *following, until map[int32]int64) error {
	if a := f.active.Load(); a != nil && !n.cfg.clustered() {
		return a.PassedTo(ctx, until)
	}
	return follower.Await(ctx, n.pool, f.cfg.Name, until)
}

// awaitPassed waits until a follower has everything that this node knows to be committed.
func (n *Node) awaitPassed(ctx context.Context, f *following) error {
	if a := f.active.Load(); a != nil && !n.cfg.clustered() {
		return a.Passed(ctx)
	}
	return follower.Await(ctx, n.pool, f.cfg.Name, n.cluster.Positions())
}
