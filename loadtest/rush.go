package loadtest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
)

// settleTime bounds how long unanswered requests are repeated after a run.
const settleTime = 60 * time.Second

// probeBuyers is where the numbers of probe's buyers start, above all others.
const probeBuyers = 1 << 30

// rush is one run of buyers against one sale. Run drives it, settle clears up
// what is in doubt, the audit reads acks.
type rush struct {
	cfg  RushConfig
	svc  client.API
	net  *client.Network
	sale *Sale   // types on offer to buyers, and after them the reserve
	also []*Sale // of other clients, whom the audit believes as well
	acks *AckLog

	count    counters
	probes   atomic.Int64   // buyers made by probe
	probing  sync.WaitGroup // tries of probe still under way
	settling atomic.Bool    // the run is over: buyers go no further

	ops     []string      // names of the operations in the report
	placeAs atomic.Uint32 // the operation that placing an order counts as; opPlace but in a run with phases

	mu     sync.Mutex
	doubts map[*buyer]struct{} // those waiting for a definite answer
	paysim string              // http://host:port where buyers are sent to pay
}

// counters are what became of the buyers.
type counters struct {
	Placed, Free, Paid, Abandoned, Cancelled, Refused, GaveUp, Duplicates atomic.Int64
}

func newRush(cfg RushConfig, svc client.API, net *client.Network, s *Sale, acks *AckLog) *rush {
	r := &rush{cfg: cfg, svc: svc, net: net, sale: s, acks: acks, ops: opNames, doubts: make(map[*buyer]struct{})}
	r.placeAs.Store(uint32(opPlace))
	return r
}

// run lets the buyers in, as scheduled.
func (r *rush) run(ctx context.Context, engine openloop.Config) (*openloop.Stats, error) {
	rng := rand.New(rand.NewPCG(r.cfg.Seed, 0))
	st, err := openloop.Run(ctx, engine, r.cfg.schedule(), rng, func(n int) openloop.Actor { return r.newBuyer(n) })
	if err != nil {
		return st, fmt.Errorf("rush: %w", err)
	}
	return st, nil
}

// settle repeats every request that got no definite answer until it gets one,
// with the buyers' own bytes and keys, and notes those that never do.
func (r *rush) settle(ctx context.Context, log *slog.Logger) {
	r.settling.Store(true)
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	work := make(chan *buyer)
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for b := range work {
				b.settleUp(ctx)
			}
		})
	}
	open := r.doubtfuls()
	for _, b := range open {
		work <- b
	}
	close(work)
	workers.Wait()
	left := r.doubtfuls()
	log.InfoContext(ctx, "settled what was in doubt", slog.Int("requests", len(open)), slog.Int("unresolved", len(left)))
	for _, b := range left {
		r.acks.add(Entry{What: ackUnresolved, Buyer: b.n, Key: b.key, Order: b.order.ID})
	}
}

// settleUp steps one buyer on until it is in no doubt.
func (b *buyer) settleUp(ctx context.Context) {
	b.since, b.tries = time.Now(), 0
	for b.doubt {
		r := b.Step(ctx)
		if r.Done {
			return
		}
		select {
		case <-time.After(r.Wait):
		case <-ctx.Done():
			return
		}
	}
}

func (r *rush) doubtful(b *buyer) {
	r.mu.Lock()
	r.doubts[b] = struct{}{}
	r.mu.Unlock()
}

func (r *rush) undoubtful(b *buyer) {
	r.mu.Lock()
	delete(r.doubts, b)
	r.mu.Unlock()
}

func (r *rush) doubtfuls() []*buyer {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*buyer
	for b := range r.doubts {
		all = append(all, b)
	}
	return all
}

// paysimSeen remembers where the service sends buyers to pay.
func (r *rush) paysimSeen(u *url.URL) {
	r.mu.Lock()
	r.paysim = u.Scheme + "://" + u.Host
	r.mu.Unlock()
}

func (r *rush) paysimURL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paysim
}

// outcome is what became of the buyers, for the report.
func (r *rush) outcome() []report.Count {
	c := &r.count
	return []report.Count{
		{Name: "orders acknowledged", Count: c.Placed.Load()},
		{Name: "of them free, completed", Count: c.Free.Load()},
		{Name: "of them paid, completed", Count: c.Paid.Load()},
		{Name: "of them cancelled", Count: c.Cancelled.Load()},
		{Name: "of them never paid", Count: c.Abandoned.Load()},
		{Name: "orders refused", Count: c.Refused.Load()},
		{Name: "orders sent twice at once", Count: c.Duplicates.Load()},
		{Name: "requests given up", Count: c.GaveUp.Load()},
	}
}
