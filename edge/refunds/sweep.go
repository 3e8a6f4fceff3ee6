package refunds

import (
	"context"
	"log/slog"
	"time"

	"boxoffice/persistence/panics"
)

const (
	sweepEvery   = 2 * time.Second  // how often the sweep looks for work
	sweepBatch   = 64               // most refunds that one round checks
	sweepAtATime = 8                // how many refunds are checked at the same time
	sweepCall    = 15 * time.Second // how long the check of one refund may take
)

// sweep sends money that is due, and asks providers about money that is on its way.
type sweep struct{ *Handlers }

// Sweep sends refunds and works on runs (refundAll), in a round every two seconds, until the context ends. It runs on
// only one node of a cluster. Refunds that this node has seen granted (Nudge) don't wait for the next round.
func (h *Handlers) Sweep(ctx context.Context) {
	w := sweep{h}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.run(ctx, w.refundEvents)
			w.run(ctx, w.checkRefunds)
		case <-h.nudged:
			w.run(ctx, w.awaitGranted)
			w.run(ctx, w.checkRefunds)
		case <-ctx.Done():
			return
		}
	}
}

// run does one part of a round. If that part fails or panics, the sweep still does the others.
func (w sweep) run(ctx context.Context, do func(context.Context, time.Time) error) {
	err := panics.Catch(w.Log, "refund sweep", func() error { return do(ctx, time.Now()) })
	if err != nil && ctx.Err() == nil {
		w.Log.WarnContext(ctx, "refund sweep", slog.Any("error", err))
	}
}

// awaitGranted waits until the table of refunds has the refunds that this node has seen granted. It
// waits no longer than the pause between two rounds.
func (w sweep) awaitGranted(ctx context.Context, _ time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sweepEvery)
	defer cancel()
	return w.Settled(ctx)
}
