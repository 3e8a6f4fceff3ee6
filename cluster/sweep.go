package cluster

import (
	"context"
	"log/slog"
	"time"

	"boxoffice/cluster/host"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

const (
	// proveEvery is how often activations that answered without appending
	// are checked against the journal: law 1's one second.
	proveEvery = time.Second
	// wakeEvery is how often parked actors are looked for.
	wakeEvery = 2 * time.Second
	// idleEvery is how often idle activations are looked for, at most.
	idleEvery = 30 * time.Second
)

// sweep proves claims, wakes parked actors and puts idle ones away.
func (n *Node) sweep(ctx context.Context) {
	prove, wake := time.NewTicker(proveEvery), time.NewTicker(wakeEvery)
	idle := time.NewTicker(min(idleEvery, n.cfg.IdleAfter))
	defer prove.Stop()
	defer wake.Stop()
	defer idle.Stop()
	last := n.wakeParked(ctx, time.Time{})
	for {
		select {
		case <-prove.C:
			n.proveClaims(ctx)
		case <-wake.C:
			last = n.wakeParked(ctx, last)
		case <-idle.C:
			n.putAway(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// proveClaims stops the activations whose streams others have claimed.
func (n *Node) proveClaims(ctx context.Context) {
	var claims []journal.Claim
	acts := make(map[journal.Claim]*slot)
	n.slots.Range(func(_ engine.Ref, s *slot) bool {
		if c, ok := s.act.Claim(); ok && s.act.Unproven.CompareAndSwap(true, false) {
			claims = append(claims, c)
			acts[c] = s
		}
		return true
	})
	if len(claims) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, proveEvery)
	defer cancel()
	lost, err := n.cfg.Journal.Standing(ctx, claims)
	if err != nil {
		n.cfg.Log.WarnContext(ctx, "claims not proven", slog.Any("error", err))
		for _, s := range acts {
			s.act.Unproven.Store(true)
		}
		return
	}
	for _, c := range lost {
		n.system.Root.Send(acts[c].pid, host.Fenced)
	}
}

// wakeParked wakes the actors whose time has come since the last look. The first
// look after a start finds all that were alive when the node last ended.
func (n *Node) wakeParked(ctx context.Context, last time.Time) time.Time {
	now := n.Now()
	refs, err := n.cfg.Wakes.Due(ctx, last, now)
	if err != nil {
		if ctx.Err() == nil {
			n.cfg.Log.WarnContext(ctx, "parked actors not looked up", slog.Any("error", err))
		}
		return last
	}
	for _, ref := range refs {
		if _, alive := n.slots.Load(ref); !alive {
			n.Tell(ref, engine.Wake{})
		}
	}
	return now.Add(-wakeEvery)
}

// putAway retires the activations that have had no command for long.
func (n *Node) putAway(ctx context.Context) {
	before := n.Now().Add(-n.cfg.IdleAfter).UnixMilli()
	n.slots.Range(func(_ engine.Ref, s *slot) bool {
		if s.act.Used.Load() > before || s.act.Load.Load() > 0 {
			return true
		}
		msg, done := host.Retire(false)
		n.system.Root.Send(s.pid, msg)
		select {
		case <-done:
		case <-ctx.Done():
		}
		return ctx.Err() == nil
	})
}
