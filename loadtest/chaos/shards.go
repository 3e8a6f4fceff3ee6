package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// These are the injuries of the journal's shards, by their names in the report.
const (
	shardKilled  = "kill -9 of a shard's Postgres"
	shardStalled = "stall (SIGSTOP) of a shard's Postgres"
	shardCut     = "cut between all nodes and a shard's Postgres"
	shardAndNode = "kill -9 of a shard's Postgres and of a node"
)

// shardInjuries are done in this order, again and again.
var shardInjuries = []string{shardKilled, shardStalled, shardCut, shardAndNode}

// backWithin is how long the events of a shard may take no orders after its database answers again
// (docs/operations.md).
const backWithin = 3 * time.Second

// orderEvery is the pause between two orders at each half of the events while a shard is injured:
// the events of that shard, and all others. The orders go round the events of a half.
const orderEvery = 25 * time.Millisecond

// locateShards reads which shard has which measured event. It puts more events on sale until every
// shard has at least one.
func (c *chaosRun) locateShards(ctx context.Context) error {
	for {
		var events []string
		for _, h := range c.measured {
			events = append(events, h.EventID)
		}
		var err error
		if c.shardOf, err = c.cluster.ShardsOf(ctx, events...); err != nil {
			return err
		}
		have := make(map[int]bool)
		for _, shard := range c.shardOf {
			have[shard] = true
		}
		if len(have) == c.conf.Shards {
			return nil
		}
		if err := c.openMeasured(ctx); err != nil {
			return err
		}
	}
}

// injureShard takes a shard of the journal away, in some cases together with a node. Orders at the
// shard's events and at all others are timed from some time before until the events are back.
func (c *chaosRun) injureShard(ctx context.Context, what string) error {
	o := report.ShardOutage{What: what, Shard: c.rng.IntN(c.conf.Shards)}
	var killed []*rig.Member
	// The events of the killed node. They come back only when another node owns them.
	var moved []*rush.Sale
	if what == shardAndNode {
		m, events, err := c.pickVictim(ctx)
		if err != nil {
			return err
		}
		o.Node, killed, moved = m.Name, []*rig.Member{m}, events
	}
	var lost, others, stayed []*rush.Sale
	for _, h := range c.measured {
		if c.shardOf[h.EventID] != o.Shard {
			others = append(others, h)
			continue
		}
		lost = append(lost, h)
		if !slices.Contains(moved, h) {
			stayed = append(stayed, h)
		}
	}
	// The network is new, so that its clients hold no connection that an earlier kill of a node has
	// broken.
	network, err := client.NewNetwork(client.Config{Sources: c.conf.Clients, Timeout: c.conf.Timeout})
	if err != nil {
		return err
	}
	defer network.Close()
	svc := c.throughReadyNodes(killed...)
	// Orders go on at both halves from before the injury, so that the latencies before and during it are measured
	// in the same way.
	lostOrders, otherOrders := c.placeOrders(ctx, svc, network, lost), c.placeOrders(ctx, svc, network, others)
	rig.Wait(ctx, c.conf.Shortest)

	at, life := time.Now(), countStarts(killed)
	err = errors.Join(killMembers(killed), c.takeShardAway(ctx, what, o.Shard))
	// The times until events are back count from here: nothing can be written before the database answers.
	answered := time.Now()
	took, backErr := c.timeFirstWrites(ctx, answered, stayed, killed...)
	_, movedErr := c.timeFirstWrites(ctx, answered, moved, killed...)
	// A killed Postgres may be back before there is much to count.
	rig.Wait(ctx, time.Until(at.Add(c.conf.Shortest)))
	spared := hurtOrders{otherOrders(), at}
	o.Lost, o.Others = tallyOrders(hurtOrders{lostOrders(), at}), tallyOrders(spared)
	o.Away = answered.Sub(at)
	if len(took) > 0 {
		o.Timed, o.First, o.Back = len(took), took[0], took[len(took)-1]
	}
	c.mu.Lock()
	c.recovered[what] = append(c.recovered[what], took...)
	c.shardOutages = append(c.shardOutages, o)
	if o.Node == "" {
		c.spared = append(c.spared, spared)
	}
	c.mu.Unlock()
	return errors.Join(err, backErr, movedErr, c.waitUntilWhole(ctx, what, at, func() bool { return countStarts(killed) >= life+int64(len(killed)) }))
}

// takeShardAway takes a shard's database away, and returns when it answers again.
func (c *chaosRun) takeShardAway(ctx context.Context, what string, shard int) error {
	// What was killed comes back by its supervisor. A stall and a cut end after a time that is drawn.
	switch what {
	case shardStalled:
		return c.cluster.StallShard(ctx, shard, c.drawDuration(c.conf.Shortest, c.conf.Longest))
	case shardCut:
		c.cluster.IsolateShard(ctx, shard, c.drawDuration(c.conf.Shortest, c.conf.Longest))
		return nil
	default:
		return c.cluster.KillShard(ctx, shard)
	}
}

// killMembers kills nodes with SIGKILL. They count as not ready at once, and not only after the
// next look at their health.
func killMembers(members []*rig.Member) (err error) {
	for _, m := range members {
		m.Ready.Store(false)
		err = errors.Join(err, m.Process.Signal(syscall.SIGKILL))
	}
	return err
}

// countStarts returns how often the given nodes have been started in all.
func countStarts(members []*rig.Member) (n int64) {
	for _, m := range members {
		n += m.Starts.Load()
	}
	return n
}

// timedOrder is an order that was placed while a shard was injured, or shortly before.
type timedOrder struct {
	at     time.Time
	took   time.Duration
	answer openloop.Result
}

// placeOrders places orders at the events at a steady pace, whatever the answers are, until the
// returned function is called. That function waits for the last answers and returns all orders. The
// timeout of a request bounds how many orders are under way.
func (c *chaosRun) placeOrders(ctx context.Context, svc client.API, network *client.Network, events []*rush.Sale) (end func() []timedOrder) {
	until, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	var orders []timedOrder
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(orderEvery)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-tick.C:
			case <-until.Done():
				return
			}
			ticketType := c.typeOf(events[n%len(events)], probeType)
			all.Go(func() {
				at := time.Now()
				answer := c.SendProbe(ctx, svc, network, ticketType)
				mu.Lock()
				defer mu.Unlock()
				orders = append(orders, timedOrder{at, time.Since(at), answer})
			})
		}
	})
	return func() []timedOrder {
		cancel()
		all.Wait()
		return orders
	}
}

// hurtOrders are the orders of one half of the events around an outage, which began at the moment hurt.
type hurtOrders struct {
	orders []timedOrder
	hurt   time.Time
}

// tallyOrders adds up how the orders before and during some outages went.
func tallyOrders(outages ...hurtOrders) report.Half {
	half := report.Half{Failures: make(map[string]int64)}
	var before, during []time.Duration
	for _, outage := range outages {
		for _, o := range outage.orders {
			if o.at.Before(outage.hurt) {
				before = append(before, o.took)
				continue
			}
			during = append(during, o.took)
			half.Orders++
			if o.answer.Code != "" {
				half.Errors++
				half.Failures[fmt.Sprint(o.answer.Status, " ", o.answer.Code)]++
			}
		}
	}
	half.Before, half.During = findP99(before), findP99(during)
	return half
}

// findP99 returns the 99th percentile. If there are fewer than a hundred values it is the longest.
func findP99(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// checkShards checks that a missing shard costs the events of other shards no error, and that its
// own events are back soon after its database. The events of a killed node are left out, because
// they also wait for another node.
func checkShards(outages []report.ShardOutage) []report.Check {
	spared := report.Check{Name: "a shard that is away costs other shards' events no error"}
	back := report.Check{Name: fmt.Sprintf("a shard's events are sold again within %v of its database", backWithin)}
	for i, o := range outages {
		name := fmt.Sprintf("outage %d, %s, shard %d", i+1, o.What, o.Shard)
		spared.Checked += o.Others.Orders
		switch {
		// A check that had nothing to look at must not pass.
		case o.Others.Orders == 0:
			spared.Failed++
			spared.Findings = append(spared.Findings, name+": nobody ordered elsewhere, so nothing is shown")
		case o.Node == "" && o.Others.Errors > 0:
			spared.Failed += o.Others.Errors
			spared.Findings = append(spared.Findings, fmt.Sprintf("%s: orders at other events failed: %v", name, o.Others.Failures))
		case o.Node != "" && o.Others.Errors > 0:
			spared.Note = "not counted: errors while a node was killed too"
		}
		back.Checked += int64(o.Timed)
		if o.Back > backWithin {
			back.Failed++
			back.Findings = append(back.Findings, fmt.Sprintf("%s: its events were back only after %v", name, o.Back.Round(time.Millisecond)))
		}
	}
	return []report.Check{spared, back}
}
