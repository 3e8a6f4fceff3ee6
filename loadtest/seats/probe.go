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

// seatProbe changes a seat of the harness's own again and again, so that the viewers'
// delay can be measured: each hold gives the last seat back and takes the next.
type seatProbe struct {
	svc      client.API
	from     *client.Source
	house    *rush.House
	audience *viewers.Audience
	every    time.Duration

	stopped chan struct{}
	done    sync.WaitGroup

	mu  sync.Mutex
	err error // the first failure of a hold
}

// seatProbeHolder is the checkout session of the probe.
const seatProbeHolder = "loadtest-pulse"

// startSeatProbe begins to hold seats. stopProbing ends it.
func startSeatProbe(ctx context.Context, svc client.API, from *client.Source, h *rush.House, audience *viewers.Audience, every time.Duration) *seatProbe {
	p := &seatProbe{svc: svc, from: from, house: h, audience: audience, every: every, stopped: make(chan struct{})}
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
		// The first of a row leaves no single seat beside it.
		seat := p.house.Own[n%len(p.house.Own)].Seats[0]
		granted := p.audience.Mark(seat)
		var s rush.Selection
		a := p.svc.Do(ctx, p.from, client.Call{
			Method: "POST", Path: p.house.Path + "/hold", Body: rush.Encode(rush.HoldSeats{Holder: seatProbeHolder, SeatIDs: []string{seat}}),
		}, &s)
		granted()
		p.mu.Lock()
		if p.err == nil && ctx.Err() == nil && (!a.OK() || len(s.Failed) > 0) {
			p.err = fmt.Errorf("probe: seat %s was not held: %w, %v", seat, a.Err(), s.Reasons)
		}
		p.mu.Unlock()
	}
}

// stopProbing gives the seat back. The error is the first of a hold.
func (p *seatProbe) stopProbing(ctx context.Context) error {
	close(p.stopped)
	p.done.Wait()
	a := p.svc.Do(ctx, p.from, client.Call{Method: "DELETE", Path: p.house.Path + "/hold", Body: rush.Encode(rush.HoldSeats{Holder: seatProbeHolder})}, nil)
	if p.err == nil {
		p.err = a.Err()
	}
	return p.err
}
