package loadtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"boxoffice/loadtest/client"
)

// While an event's recovery is measured, it is tried every probeEvery, with at most
// hallProbes orders waiting for their answer. In a planned move, it is tried every
// pauseEvery.
const (
	hallProbes = 6
	pauseEvery = 50 * time.Millisecond
)

// recover measures for each of the events how long it is from a moment until an
// order that was placed after it is acknowledged, by any node that is ready but
// for those named.
func (c *chaos) recover(ctx context.Context, what string, since time.Time, halls []*Sale, but ...*Member) error {
	ctx, cancel := context.WithTimeout(ctx, c.conf.GiveUp)
	defer cancel()
	svc := c.to(but...)
	took, errs := make([]time.Duration, len(halls)), make([]error, len(halls))
	var all sync.WaitGroup
	for i, h := range halls {
		all.Go(func() {
			once := func(ctx context.Context) bool { return c.probeOnce(ctx, svc, c.typeOf(h, probeType)) }
			if c.probe(ctx, hallProbes, once) != nil {
				errs[i] = fmt.Errorf("event %s took no write for %v", h.EventID, time.Since(since).Round(time.Millisecond))
			}
			took[i] = time.Since(since)
		})
	}
	all.Wait()
	slices.Sort(took)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recovered[what] = append(c.recovered[what], took...)
	return errors.Join(errs...)
}

// to is the service through nodes that are ready, but for those named.
func (c *chaos) to(but ...*Member) client.API {
	svc := c.svc
	svc.Pick = func() string {
		if m := c.cluster.Pick(but...); m != nil {
			return m.Host()
		}
		others := slices.DeleteFunc(slices.Clone(c.cluster.Members[:c.conf.Nodes]), func(m *Member) bool { return slices.Contains(but, m) })
		return others[random(len(others))].Host()
	}
	return svc
}

// watchPauses tries events over and over, until the returned function is called,
// which tells the longest time without an acknowledged write of each.
func (c *chaos) watchPauses(ctx context.Context, halls []*Sale) (end func() []time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	longest := make([]time.Duration, len(halls))
	svc := c.to()
	var all sync.WaitGroup
	for i, h := range halls {
		all.Go(func() { longest[i] = c.watchPause(ctx, svc, h) })
	}
	return func() []time.Duration {
		cancel()
		all.Wait()
		return longest
	}
}

func (c *chaos) watchPause(ctx context.Context, svc client.API, h *Sale) (longest time.Duration) {
	var mu sync.Mutex
	last := time.Now()
	heard := func() {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		longest, last = max(longest, now.Sub(last)), now
	}
	ticketType := c.typeOf(h, probeType)
	slots := make(chan struct{}, 2*hallProbes)
	tick := time.NewTicker(pauseEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			continue
		}
		select {
		case slots <- struct{}{}:
			c.probing.Go(func() {
				if c.probeOnce(context.WithoutCancel(ctx), svc, ticketType) && ctx.Err() == nil {
					heard()
				}
				<-slots
			})
		default: // all wait
		}
	}
	heard() // or the wait that has not ended
	mu.Lock()
	defer mu.Unlock()
	return longest
}
