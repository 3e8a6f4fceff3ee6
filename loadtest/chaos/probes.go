package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// While an event's recovery is measured, probes are sent to it regularly, with at most
// probesPerEvent orders waiting for their answer. In a planned move, one is sent every pauseEvery.
// All events together get one every probeShare, because probes of a thousand events at the pace of one
// event's would be the load that they measure.
const (
	probesPerEvent = 6
	pauseEvery     = 50 * time.Millisecond
	probeShare     = time.Millisecond
)

// measureRecovery measures, for each of the events, how long it takes from a moment until an order
// that was placed after it is acknowledged, by any ready node except those given.
func (c *chaosRun) measureRecovery(ctx context.Context, what string, since time.Time, events []*rush.Sale, but ...*rig.Member) error {
	took, err := c.timeFirstWrites(ctx, since, events, but...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recovered[what] = append(c.recovered[what], took...)
	return err
}

// timeFirstWrites returns how long it takes each of the events, the quickest first, as measureRecovery does.
func (c *chaosRun) timeFirstWrites(ctx context.Context, since time.Time, events []*rush.Sale, but ...*rig.Member) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, c.conf.GiveUp)
	defer cancel()
	svc := c.throughReadyNodes(but...)
	pause := max(rush.ProbeEvery, time.Duration(len(events))*probeShare)
	took, errs := make([]time.Duration, len(events)), make([]error, len(events))
	var all sync.WaitGroup
	for i, h := range events {
		all.Go(func() {
			once := func(ctx context.Context) bool { return c.PlaceProbe(ctx, svc, c.typeOf(h, probeType)) }
			if c.ProbeUntilAcknowledged(ctx, pause, probesPerEvent, once) != nil {
				errs[i] = fmt.Errorf("event %s took no write for %v", h.EventID, time.Since(since).Round(time.Millisecond))
			}
			took[i] = time.Since(since)
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, errors.Join(errs...)
}

// throughReadyNodes returns the API through nodes that are ready, except those given.
func (c *chaosRun) throughReadyNodes(but ...*rig.Member) client.API {
	svc := c.API
	svc.Pick = func() string {
		if m := c.cluster.Pick(but...); m != nil {
			return m.Host()
		}
		others := slices.DeleteFunc(slices.Clone(c.cluster.Members[:c.conf.Nodes]), func(m *rig.Member) bool { return slices.Contains(but, m) })
		return others[rig.RandomBelow(len(others))].Host()
	}
	return svc
}

// watchPauses sends probes to events until the returned function is called. That function returns,
// for each event, the longest time without an acknowledged write.
func (c *chaosRun) watchPauses(ctx context.Context, events []*rush.Sale) (end func() []time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	longest := make([]time.Duration, len(events))
	svc := c.throughReadyNodes()
	var all sync.WaitGroup
	for i, h := range events {
		all.Go(func() { longest[i] = c.watchPause(ctx, svc, h) })
	}
	return func() []time.Duration {
		cancel()
		all.Wait()
		return longest
	}
}

// watchPause places small orders at an event all the time, and returns the longest time in which none was
// acknowledged.
func (c *chaosRun) watchPause(ctx context.Context, svc client.API, h *rush.Sale) (longest time.Duration) {
	var mu sync.Mutex
	last := time.Now()
	heard := func() {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		longest, last = max(longest, now.Sub(last)), now
	}
	ticketType := c.typeOf(h, probeType)
	slots := make(chan struct{}, 2*probesPerEvent)
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
			c.Probing.Go(func() {
				if c.PlaceProbe(context.WithoutCancel(ctx), svc, ticketType) && ctx.Err() == nil {
					heard()
				}
				<-slots
			})
		default: // all slots are waiting for an answer
		}
	}
	heard() // counts the wait that has not ended, too
	mu.Lock()
	defer mu.Unlock()
	return longest
}
