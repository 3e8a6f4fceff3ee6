package cluster

import (
	"context"
	"log/slog"
	"time"

	"boxoffice/cluster/activation"
	"boxoffice/cluster/host"
	"boxoffice/engine"
)

const (
	// wakeEvery is how often parked actors are looked for, and how long a Wake is put off while its actor's part of
	// the journal does not answer.
	wakeEvery = 2 * time.Second
	// idleEvery is the longest time between two looks for idle activations.
	idleEvery = 30 * time.Second
	// refreshEvery is how often activations whose last snapshot is older than snapshotAge are asked
	// for a new one: days of the journal that no snapshot covers can't be dropped.
	refreshEvery = 30 * time.Minute
	snapshotAge  = 24 * time.Hour
)

// sweepActors wakes parked actors, puts idle ones away and renews old snapshots, each at its own interval, until ctx
// ends. It wakes all parked actors that are due at its start and when actors have come to this node (reshuffled), and
// otherwise those that have become due since its last look.
func (n *Node) sweepActors(ctx context.Context) {
	wake := time.NewTicker(wakeEvery)
	idle := time.NewTicker(min(idleEvery, n.cfg.IdleAfter))
	refresh := time.NewTicker(refreshEvery)
	defer refresh.Stop()
	defer wake.Stop()
	defer idle.Stop()
	last := n.wakeParked(ctx, time.Time{})
	for {
		select {
		case <-wake.C:
			last = n.wakeParked(ctx, last)
		case <-n.reshuffled: // actors that lived on a node that is gone are ours to wake
			last = n.wakeParked(ctx, time.Time{})
		case <-idle.C:
			n.putAway(ctx)
		case <-refresh.C:
			// Each activation decides whether its last snapshot is older than snapshotAge.
			n.slots.Range(func(_ engine.Ref, s *slot) bool {
				s.PostUserMessage(activation.Refresh{Before: n.Now().Add(-snapshotAge)})
				return true
			})
		case <-ctx.Done():
			return
		}
	}
}

// wakeParked wakes the actors of this node whose time has come since the last look, and returns the time at which the
// next look begins. With the zero time, it wakes all whose time has come, and those that were loaded when their node
// ended.
func (n *Node) wakeParked(ctx context.Context, last time.Time) time.Time {
	now := n.Now()
	refs, err := n.cfg.Wakes.Due(ctx, last, now)
	if err != nil && ctx.Err() == nil {
		n.cfg.Log.WarnContext(ctx, "parked actors not looked up", slog.Any("error", err))
	}
	p := n.placement.Load()
	for _, ref := range refs {
		if !p.ownsHome(ref.Home) {
			continue
		}
		if _, alive := n.slots.Load(ref); !alive {
			n.Tell(ref, engine.Wake{})
		}
	}
	if err != nil {
		return last // some of the databases have not answered
	}
	// The next look begins one interval earlier, so that an actor that was parked during this look is found too.
	return now.Add(-wakeEvery)
}

// putAway retires the activations that have had no command for a long time (IdleAfter) and have none now. It waits for
// each before it goes on to the next.
func (n *Node) putAway(ctx context.Context) {
	before := n.Now().Add(-n.cfg.IdleAfter).UnixMilli()
	n.slots.Range(func(_ engine.Ref, s *slot) bool {
		if s.act.Used.Load() > before || s.act.Load.Load() > 0 {
			return true
		}
		msg, done := host.Retire(false)
		s.PostUserMessage(msg)
		select {
		case <-done:
		case <-ctx.Done():
		}
		return ctx.Err() == nil
	})
}
