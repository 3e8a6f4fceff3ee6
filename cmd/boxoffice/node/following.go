package node

import (
	"context"
	"sync/atomic"
	"time"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// following is a follower of the journal that runs on one node of the cluster at a time. Every node
// has a following for each follower, and it is active where the cluster lets the follower run.
type following struct {
	cfg    follower.Config
	from   func() follower.Journal           // returns the journal, which does not exist yet when the follower is configured
	active atomic.Pointer[follower.Follower] // the running follower; nil if it runs on another node
	failed chan error                        // gets the error that has ended the follower for good; it has room for one, and only Wait reads it, for the read model
}

// newFollowing completes a follower's configuration with the settings that all followers of the
// node share. In a cluster a follower must look for the facts of other nodes, because only this
// node's facts are offered to it.
func (n *Node) newFollowing(cfg follower.Config) *following {
	cfg.Pool, cfg.Log, cfg.Room = n.pool, n.log, n.disk.Await
	if n.cfg.clustered() {
		cfg.Poll = pollOthers
	}
	return &following{cfg: cfg, from: func() follower.Journal { return n.journal }, failed: make(chan error, 1)}
}

// pollOthers is how often a follower looks for what other nodes have committed.
const pollOthers = 100 * time.Millisecond

// offer passes a batch that this node has committed to the follower, if the follower runs here. A
// follower on another node finds the batch in the journal.
func (f *following) offer(b *journal.Batch) {
	if a := f.active.Load(); a != nil {
		a.Offer(b)
	}
}

// run follows the journal until the context ends, and then applies what has been offered, for followerStopTime at most.
// After a failure it waits for the end, so that the cluster does not start it again at once.
func (f *following) run(ctx context.Context) {
	a := follower.New(f.cfg)
	f.active.Store(a)
	a.Start(f.from())
	select {
	case <-ctx.Done():
	case err := <-a.Failed():
		select {
		case f.failed <- err:
		default: // the error of an earlier run on this node is still there
		}
		<-ctx.Done()
	}
	f.active.Store(nil)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), followerStopTime)
	defer cancel()
	_ = a.Stop(stop) // the next follower reads the rest from the journal
}

// followerStopTime bounds how long a stopping follower still applies what it was offered. A
// follower stops when another node takes over, or when the node stops.
const followerStopTime = 5 * time.Second

// lag returns how many batches the follower knows of and has not applied. It is 0 if the follower runs on another
// node.
func (f *following) lag() float64 {
	if a := f.active.Load(); a != nil {
		return float64(a.Lag().Batches)
	}
	return 0
}

// stopped returns 1 if the follower runs on this node and has failed for good, else 0, for a metric.
func (f *following) stopped() float64 {
	if a := f.active.Load(); a != nil && a.Lag().Stopped {
		return 1
	}
	return 0
}

// delay returns how many seconds passed from the commit of the last facts until they were applied. It is 0 if the
// follower runs on another node.
func (f *following) delay() float64 {
	if a := f.active.Load(); a != nil {
		return a.Lag().Delay.Seconds()
	}
	return 0
}

// Settled waits until the read model has everything that this node knows to be committed. A handler
// calls it before it reads something that a client may just have written.
func (n *Node) Settled(ctx context.Context) error { return n.awaitPassed(ctx, n.reading) }

// AwaitLists waits until the read model and the table of attendees have everything that this node
// knows to be committed.
func (n *Node) AwaitLists(ctx context.Context) error {
	if err := n.Settled(ctx); err != nil {
		return err
	}
	return n.awaitPassed(ctx, n.attending)
}

// AwaitTold waits until everything that this node knows to be committed has been published. With
// Kafka it only waits until Kafka has it.
func (n *Node) AwaitTold(ctx context.Context) error { return n.awaitPassed(ctx, n.telling) }

// awaitFollowers waits until all three followers have everything that this node knows to be
// committed. With Kafka, the third only waits until Kafka has it, and consumers get it a little later.
func (n *Node) awaitFollowers(ctx context.Context) error {
	for _, f := range []*following{n.reading, n.attending, n.telling} {
		if err := n.awaitPassed(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// IsBehind reports whether the followers that run on this node still have facts of this node to
// apply.
func (n *Node) IsBehind() bool {
	return n.reading.lag() > 0 || n.telling.lag() > 0 || n.attending.lag() > 0
}

// ShowOwn waits until lists have what a caller has written through any node, and reports whether they certainly have it:
// if a node could not be asked, it returns false. It does not wait for what others have written since.
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

// passedTo waits until a follower has the given batches: for each writer the number of the last
// batch.
func (n *Node) passedTo(ctx context.Context, f *following, until map[int32]int64) error {
	// On a node that is alone the follower itself knows how far it is. In a cluster it may move to
	// another node at any time, so the database is asked.
	if a := f.active.Load(); a != nil && !n.cfg.clustered() {
		return a.PassedTo(ctx, until)
	}
	return follower.Await(ctx, n.pool, f.cfg.Name, until)
}

// awaitPassed waits until a follower has everything that this node knows to be committed. If a shard of the
// journal is away, it waits for awayPatience at most, and then returns the shard's error: what the shard has committed
// last may be out of the follower's reach until the shard is back, and no caller must wait so long.
func (n *Node) awaitPassed(ctx context.Context, f *following) error {
	away := n.findAway()
	waiting := ctx
	if away != nil {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, awayPatience)
		defer cancel()
	}
	var err error
	if a := f.active.Load(); a != nil && !n.cfg.clustered() {
		err = a.Passed(waiting)
	} else {
		err = follower.Await(waiting, n.pool, f.cfg.Name, n.cluster.Positions())
	}
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return away
	}
	return err
}

// awayPatience is how long a caller waits for a follower while a shard of the journal is away.
const awayPatience = time.Second

// findAway returns why a shard of the journal does not answer, or nil if all answer.
func (n *Node) findAway() error {
	for _, state := range n.journal.States() {
		if state.Err != nil {
			return state.Err
		}
	}
	return nil
}
