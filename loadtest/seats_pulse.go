package loadtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/viewers"
)

// pulse changes a seat of the harness's own again and again, so that the viewers'
// delay can be measured: each hold gives the last seat back and takes the next.
type pulse struct {
	svc   client.API
	from  *client.Source
	house *House
	crowd *viewers.Crowd
	every time.Duration

	stop chan struct{}
	done sync.WaitGroup

	mu  sync.Mutex
	err error // the first failure
}

// pulseHolder is the checkout session of the pulse.
const pulseHolder = "loadtest-pulse"

func startPulse(ctx context.Context, svc client.API, from *client.Source, h *House, crowd *viewers.Crowd, every time.Duration) *pulse {
	p := &pulse{svc: svc, from: from, house: h, crowd: crowd, every: every, stop: make(chan struct{})}
	p.done.Go(func() { p.run(ctx) })
	return p
}

func (p *pulse) run(ctx context.Context) {
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
		case <-p.stop:
			return
		case <-ctx.Done():
			return
		}
		// The first of a row leaves no single seat beside it.
		seat := p.house.Own[n%len(p.house.Own)].Seats[0]
		granted := p.crowd.Mark(seat)
		var s selection
		a := p.svc.Do(ctx, p.from, client.Call{
			Method: "POST", Path: p.house.Path + "/hold", Body: encode(holdSeats{Holder: pulseHolder, SeatIDs: []string{seat}}),
		}, &s)
		granted()
		p.mu.Lock()
		if p.err == nil && ctx.Err() == nil && (!a.OK() || len(s.Failed) > 0) {
			p.err = fmt.Errorf("pulse: seat %s was not held: %w, %v", seat, a.Err(), s.Reasons)
		}
		p.mu.Unlock()
	}
}

// end gives the seat back. The error is the first of a hold.
func (p *pulse) end(ctx context.Context) error {
	close(p.stop)
	p.done.Wait()
	a := p.svc.Do(ctx, p.from, client.Call{Method: "DELETE", Path: p.house.Path + "/hold", Body: encode(holdSeats{Holder: pulseHolder})}, nil)
	if p.err == nil {
		p.err = a.Err()
	}
	return p.err
}

// percentiles are of a histogram of microseconds.
func percentiles(h *hdrhistogram.Histogram) openloop.Percentiles {
	at := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }
	return openloop.Percentiles{P50: at(50), P90: at(90), P95: at(95), P99: at(99), P999: at(99.9), Max: at(100)}
}
