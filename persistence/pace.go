package persistence

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// unpaced is how many attempts to connect may begin without a pause since the last success, so that a pool can
	// fill at once.
	unpaced = 32
	// paceGap is the time between further attempts, while none succeeds.
	paceGap = 50 * time.Millisecond
)

// Pace slows down a pool's attempts to connect to a server that accepts none. Each attempt costs
// the server a process: a few hundred a second took three quarters of the machine away from the
// recovery that they waited for. Its methods are pgxpool's hooks.
type Pace struct {
	failed atomic.Int64  // attempts that have begun since the last success
	turn   chan struct{} // lets one attempt at a time wait
}

// NewPace makes a Pace for a pool.
func NewPace() *Pace { return &Pace{turn: make(chan struct{}, 1)} }

// Before waits until the next attempt is due, if more than unpaced attempts have begun since the last success.
func (p *Pace) Before(ctx context.Context, _ *pgx.ConnConfig) error {
	if p.failed.Add(1) <= unpaced {
		return nil
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.failed.Load() <= unpaced {
		return nil // the server is back
	}
	timer := time.NewTimer(paceGap)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// After notes that an attempt to connect has succeeded.
func (p *Pace) After(context.Context, *pgx.Conn) error {
	p.failed.Store(0)
	return nil
}
