// Package rush lets buyers rush a sale and then audits what they were told, all over the public
// API. It has the buyers (state machines that arrive at their own times, see package openloop), the
// organizer who puts events on sale, the log of what was acknowledged, the receiver of webhooks,
// and the audit that asks the service about every line of the log.
//
// The scenarios call it. A Session is for one run: OpenSession puts an event on sale,
// Measure lets the buyers in, Conclude settles what is in doubt and audits, Close ends
// it. Sending load to anything but loopback is refused unless asked for.
package rush

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

// probeBuyers is where the numbers of probes begin. It is above the numbers of all buyers.
const probeBuyers = 1 << 30

// Rush is one run of buyers against one sale.
type Rush struct {
	Config     Config
	API        client.API
	Network    *client.Network
	Sale       *Sale   // the types that buyers are offered, and after them the reserve
	AlsoOnSale []*Sale // the sales of other clients, which the audit counts as well
	Acks       *AckLog

	Count   counters
	probes  atomic.Int64   // how many buyers probes have made
	Probing sync.WaitGroup // waits for tries of probes that are still under way
	// The run is over, and buyers begin nothing new.
	Settling atomic.Bool

	Ops []string // the names of the operations in the report
	// The operation as which placing an order is counted: OpPlace, except in a run with phases.
	PlaceAs atomic.Uint32

	mu sync.Mutex
	// The buyers that wait for a definite answer.
	doubts map[*Buyer]struct{}
	paysim string // http://host:port of the pages where buyers are sent to pay
}

// counters count how it ended for the buyers.
type counters struct {
	Placed, Free, Paid, Abandoned, Cancelled, Refused, GaveUp, Duplicates atomic.Int64
}

// NewRush makes a rush whose buyers have not come yet. The caller closes the network and the log.
func NewRush(cfg Config, svc client.API, net *client.Network, s *Sale, acks *AckLog) *Rush {
	r := &Rush{Config: cfg, API: svc, Network: net, Sale: s, Acks: acks, Ops: OpNames, doubts: make(map[*Buyer]struct{})}
	r.PlaceAs.Store(uint32(OpPlace))
	return r
}

// letBuyersIn lets the buyers arrive as scheduled, and returns what was measured.
func (r *Rush) letBuyersIn(ctx context.Context, engine openloop.Config) (*openloop.Stats, error) {
	rng := rand.New(rand.NewPCG(r.Config.Seed, 0))
	st, err := openloop.Run(ctx, engine, r.Config.schedule(), rng, func(n int) openloop.Actor { return r.NewBuyer(n) })
	if err != nil {
		return st, fmt.Errorf("rush: %w", err)
	}
	return st, nil
}

// SettleDoubts repeats every request that got no definite answer until it gets one, with the same
// bytes and keys. Requests that never get one are noted as unresolved.
func (r *Rush) SettleDoubts(ctx context.Context, log *slog.Logger) {
	// From here on a buyer who gets an answer does nothing more than note it.
	r.Settling.Store(true)
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	work := make(chan *Buyer)
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for b := range work {
				b.settleDoubt(ctx)
			}
		})
	}
	open := r.listDoubts()
	for _, b := range open {
		work <- b
	}
	close(work)
	workers.Wait()
	// What is still open now was not answered for the whole time of settling.
	left := r.listDoubts()
	log.InfoContext(ctx, "settled what was in doubt", slog.Int("requests", len(open)), slog.Int("unresolved", len(left)))
	for _, b := range left {
		r.Acks.Add(Entry{What: AckUnresolved, Buyer: b.Number, Key: b.key, Order: b.order.ID})
	}
}

// settleDoubt repeats one buyer's request until there is a definite answer or ctx ends.
func (b *Buyer) settleDoubt(ctx context.Context) {
	b.since, b.Tries = time.Now(), 0
	for b.InDoubt {
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

// addDoubt notes a buyer whose request may have been carried out without an answer.
func (r *Rush) addDoubt(b *Buyer) {
	r.mu.Lock()
	r.doubts[b] = struct{}{}
	r.mu.Unlock()
}

// removeDoubt notes that a buyer has got a definite answer.
func (r *Rush) removeDoubt(b *Buyer) {
	r.mu.Lock()
	delete(r.doubts, b)
	r.mu.Unlock()
}

// listDoubts returns the buyers that still wait for a definite answer.
func (r *Rush) listDoubts() []*Buyer {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Buyer
	for b := range r.doubts {
		all = append(all, b)
	}
	return all
}

// notePaysim remembers the provider to which the service sends buyers. The audit compares with its
// list.
func (r *Rush) notePaysim(u *url.URL) {
	r.mu.Lock()
	r.paysim = u.Scheme + "://" + u.Host
	r.mu.Unlock()
}

// PaysimSeen returns where the service has sent buyers to pay; empty: it has sent nobody.
func (r *Rush) PaysimSeen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paysim
}

// CountOutcomes returns the outcome of the buyers, for the report.
func (r *Rush) CountOutcomes() []report.Count {
	c := &r.Count
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
