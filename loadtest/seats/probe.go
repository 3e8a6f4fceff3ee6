package seats

import (
	"context"
	"fmt"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// seatProbe changes a seat of the harness's own again and again, so that the viewers' delay can be
// measured. Each hold asks for one seat: the service gives the last one back and takes the next, so
// every hold makes one update. No shopper wants these seats, because they are of a type of their
// own.
type seatProbe struct {
	svc      client.API
	from     *client.Source
	house    *rush.House
	audience *viewers.Audience
	holder   string // by which the probe holds seats, as shoppers do by their checkout sessions
	every    time.Duration

	stopped chan struct{}
	done    sync.WaitGroup

	mu  sync.Mutex
	err error // the first failure of a hold
}

// seatProbeHolder is the holder of a probe that is the only one of its event. Probes of one event
// need different holders, because a hold gives back what its holder had before.
const seatProbeHolder = "loadtest-pulse"

// startSeatProbe begins to hold seats, in a goroutine of its own. The caller must end it with
// stopProbing.
func startSeatProbe(ctx context.Context, svc client.API, from *client.Source, h *rush.House, audience *viewers.Audience, holder string, every time.Duration) *seatProbe {
	p := &seatProbe{svc: svc, from: from, house: h, audience: audience, holder: holder, every: every, stopped: make(chan struct{})}
	p.done.Go(func() { p.run(ctx) })
	return p
}

// run holds the next seat again and again. A mark on the audience measures how long it takes until viewers see it.
func (p *seatProbe) run(ctx context.Context) {
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
		case <-p.stopped:
			return
		case <-ctx.Done():
			return
		}
		// The service may refuse a choice that leaves a single free seat between taken ones. The
		// first seat of a row can't leave one on its other side.
		seat := p.house.Own[n%len(p.house.Own)].Seats[0]
		// The mark begins before the request is sent, so that the measured time includes the
		// request. granted notes the moment of the answer, for the delay from there.
		granted := p.audience.Mark(seat)
		var s rush.Selection
		a := p.svc.Do(ctx, p.from, client.Call{
			Method: "POST", Path: p.house.Path + "/hold", Body: rush.Encode(rush.HoldSeats{Holder: p.holder, SeatIDs: []string{seat}}),
		}, &s)
		granted()
		p.mu.Lock()
		// Only the first failure is kept. A failure after the run has been stopped means nothing.
		if p.err == nil && ctx.Err() == nil && (!a.OK() || len(s.Failed) > 0) {
			p.err = fmt.Errorf("probe: seat %s was not held: %w, %v", seat, a.Err(), s.Reasons)
		}
		p.mu.Unlock()
	}
}

// stopProbing ends the probe and gives its last seat back, so that no seat is held at the audit. It
// returns the first error of a hold, because a probe that failed has measured nothing.
func (p *seatProbe) stopProbing(ctx context.Context) error {
	close(p.stopped)
	p.done.Wait()
	a := p.svc.Do(ctx, p.from, client.Call{Method: "DELETE", Path: p.house.Path + "/hold", Body: rush.Encode(rush.HoldSeats{Holder: p.holder})}, nil)
	if p.err == nil {
		p.err = a.Err()
	}
	return p.err
}
