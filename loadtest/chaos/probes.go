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

// probesPerEvent is how many probes of one event may wait for an answer while its recovery is
// measured. In a planned move, a probe is sent every pauseEvery. All events together get one probe
// every probeShare, from the first one on. Otherwise the probes of a thousand events would be the very load
// that they measure.
const (
	probesPerEvent = 6
	pauseEvery     = 50 * time.Millisecond
	probeShare     = 2 * time.Millisecond
)

// measureRecovery measures for each event the time from a moment until an order that was placed
// later is acknowledged. Any ready node may acknowledge it, except the given ones.
func (c *chaosRun) measureRecovery(ctx context.Context, what string, since time.Time, events []*rush.Sale, but ...*rig.Member) error {
	took, err := c.timeFirstWrites(ctx, since, events, but...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recovered[what] = append(c.recovered[what], took...)
	return err
}

// timeFirstWrites returns the times that measureRecovery measures, the shortest first. Of many events, the time of a
// later one includes the time until it is probed first.
func (c *chaosRun) timeFirstWrites(ctx context.Context, since time.Time, events []*rush.Sale, but ...*rig.Member) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, c.conf.GiveUp)
	defer cancel()
	svc := c.throughReadyNodes(but...)
	// Each of many events is probed less often, so that all together get no more than one probe in probeShare.
	pause := max(rush.ProbeEvery, time.Duration(len(events))*probeShare)
	took, errs := make([]time.Duration, len(events)), make([]error, len(events))
	var all sync.WaitGroup
	for i, h := range events {
		all.Go(func() {
			rig.Wait(ctx, time.Duration(i)*probeShare)
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

// throughReadyNodes returns the API through nodes that are ready, except the given ones. If none is
// ready it uses any.
func (c *chaosRun) throughReadyNodes(but ...*rig.Member) client.API {
	svc := c.API
	svc.Pick = func() string {
		if m := c.cluster.Pick(but...); m != nil {
			return m.Host()
		}
		// No node is ready. Asking any of them is how the first one that comes back is noticed.
		others := slices.DeleteFunc(slices.Clone(c.cluster.Members[:c.conf.Nodes]), func(m *rig.Member) bool { return slices.Contains(but, m) })
		return others[rig.RandomBelow(len(others))].Host()
	}
	return svc
}

// watchPauses sends probes to events until the returned function is called. That function returns
// for each event the longest time without an acknowledged write.
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

// watchPause places small orders at one event all the time, and returns the longest time in which
// none was acknowledged.
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
	// The slots bound how many probes wait at the same time while the event pauses.
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
	// The wait that has not ended counts too.
	heard()
	mu.Lock()
	defer mu.Unlock()
	return longest
}
