package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"syscall"
	"time"

	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// These are the injuries, by their names in the report.
const (
	killedShort   = "kill -9, restarted at once"
	killedLong    = "kill -9, away for a while"
	stalled       = "stall (SIGSTOP), then resumed"
	crashed       = "kill -9 of Postgres"
	unheard       = "partition: nobody reaches the node"
	unanswering   = "partition: its answers are lost"
	databaseless  = "partition: it has no Postgres"
	connectionCut = "connections to Postgres reset"
	joined        = "a node joins"
	left          = "a node leaves (SIGTERM)"
	rolled        = "rolling restart, per node (SIGTERM)"
)

// These are goals for a machine that does nothing else.
const (
	goalP50     = 2500 * time.Millisecond
	goalWorst   = 5 * time.Second
	goalPlanned = time.Second
)

// steady is how long a node must have been ready without a break to count as recovered.
const steady = time.Second

// moveCounts counts what clients were told during planned moves, in which nothing should fail.
type moveCounts struct{ gaveUp, told503 int64 }

// injury is one thing that is done to the cluster. do injures the cluster and returns when it has
// recovered.
type injury struct {
	what string
	do   func(ctx context.Context, what string) error
}

// planInjuries returns all injuries of the run in a random order that depends on the seed.
func (c *chaosRun) planInjuries() []injury {
	var all []injury
	add := func(n int, do func(context.Context, string) error, names ...string) {
		for i := range n {
			all = append(all, injury{names[i%len(names)], do})
		}
	}
	add(c.conf.Kills, c.killNode, killedShort, killedLong)
	add(c.conf.Stalls, c.stallNode, stalled)
	add(c.conf.Crashes, c.crashPostgres, crashed)
	add(c.conf.Partitions, c.partitionNode, unheard, databaseless, unanswering)
	add(c.conf.Cuts, c.cutConnections, connectionCut)
	add(c.conf.Joins, c.joinAndLeave, joined)
	add(c.conf.Rolls, c.restartAll, rolled)
	if c.conf.Shards > 0 {
		add(c.conf.Outages, c.injureShard, shardInjuries...)
	}
	c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// injureCluster does one injury after another, spread evenly over the run. It leaves the cluster
// whole.
func (c *chaosRun) injureCluster(ctx context.Context) {
	plan := c.planInjuries()
	for i, next := range plan {
		// An injury is due at its share of the duration. If the ones before took longer than planned, it comes
		// after a short calm.
		calm := c.conf.Calm/2 + time.Duration(c.rng.ExpFloat64()*float64(c.conf.Calm)/2)
		due := c.began.Add(c.conf.Duration * time.Duration(i) / time.Duration(len(plan)))
		if rig.Wait(ctx, max(calm, time.Until(due))); ctx.Err() != nil {
			return
		}
		o := report.Outage{What: next.what, At: time.Since(c.began)}
		if err := next.do(ctx, next.what); err != nil {
			o.Trouble = err.Error()
		}
		if ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		if list := c.recovered[next.what]; o.Trouble == "" && len(list) > 0 {
			o.WritesAgain = list[len(list)-1]
		}
		c.outages = append(c.outages, o)
		c.mu.Unlock()
		c.log.InfoContext(ctx, "injured and healed", slog.Int("number", i+1), slog.Int("of", len(plan)), slog.String("what", next.what),
			slog.Duration("writes", o.WritesAgain), slog.Duration("healed", time.Since(c.began)-o.At), slog.String("trouble", o.Trouble))
	}
	rig.Wait(ctx, time.Until(c.began.Add(c.conf.Duration)))
}

// readOwners returns the node that owns each of the run's events.
func (c *chaosRun) readOwners(ctx context.Context) (map[string]*rig.Member, error) {
	var events []string
	for _, h := range c.measured {
		events = append(events, h.EventID)
	}
	for _, h := range c.seatedEvents {
		events = append(events, h.EventID)
	}
	return c.cluster.Owners(ctx, events...)
}

// pickVictim picks a node that owns at least one measured event, and returns it with its events.
// Every other time it prefers a node that owns seats for which clients contend.
func (c *chaosRun) pickVictim(ctx context.Context) (*rig.Member, []*rush.Sale, error) {
	owners, err := c.readOwners(ctx)
	if err != nil {
		return nil, nil, err
	}
	of := make(map[*rig.Member][]*rush.Sale)
	for _, h := range c.measured {
		if m := owners[h.EventID]; m != nil && slices.Contains(c.cluster.Members[:c.conf.Nodes], m) {
			of[m] = append(of[m], h)
		}
	}
	// A wish that no node fulfils is dropped: any node that owns events is better than none.
	seats := c.rng.IntN(2) == 0
	var candidates []*rig.Member
	for _, m := range c.cluster.Members[:c.conf.Nodes] {
		if of[m] != nil && (!seats || slices.ContainsFunc(c.seatedEvents, func(h *seatedEvent) bool { return owners[h.EventID] == m })) {
			candidates = append(candidates, m)
		}
	}
	if len(candidates) == 0 {
		candidates = slices.Collect(maps.Keys(of))
	}
	if len(candidates) == 0 {
		return nil, nil, errors.New("no node owns any of the events")
	}
	m := candidates[c.rng.IntN(len(candidates))]
	return m, of[m], nil
}

// killNode ends a node with SIGKILL, and measures how long its events take no writes. In a long
// kill the node stays away for a while.
func (c *chaosRun) killNode(ctx context.Context, what string) error {
	m, events, err := c.pickVictim(ctx)
	if err != nil {
		return err
	}
	if what == killedLong {
		m.Down()
	}
	at, life := time.Now(), m.Starts.Load()
	m.Ready.Store(false)
	if err := m.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	err = c.measureRecovery(ctx, what, at, events, m)
	if what == killedLong {
		rig.Wait(ctx, time.Until(at.Add(c.conf.Shortest)))
		m.Up()
	}
	return errors.Join(err, c.waitUntilWhole(ctx, what, at, func() bool { return m.Starts.Load() > life }))
}

// stallNode stops a node's process while other nodes take over its events, and then lets it go on
// as if nothing had happened. Such a node is stale until it hears of the others, and must not
// decide anything.
func (c *chaosRun) stallNode(ctx context.Context, what string) error {
	m, events, err := c.pickVictim(ctx)
	if err != nil {
		return err
	}
	length := c.drawDuration(c.conf.Shortest, c.conf.Longest)
	c.suspect.Store(m)
	defer c.suspect.Store(nil)
	at := time.Now()
	if err := m.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err = c.measureRecovery(ctx, what, at, events, m)
	rig.Wait(ctx, time.Until(at.Add(length)))
	goOn := func() error { return m.Process.Signal(syscall.SIGCONT) }
	err = errors.Join(err, c.askStale(ctx, m, events, goOn))
	return errors.Join(err, c.waitUntilWhole(ctx, what, time.Now(), nil))
}

// crashPostgres kills all processes of Postgres. No node can write until it has recovered.
func (c *chaosRun) crashPostgres(ctx context.Context, what string) error {
	at := time.Now()
	if err := c.cluster.KillPostgres(); err != nil {
		return err
	}
	return errors.Join(c.measureRecovery(ctx, what, at, c.measured), c.waitUntilWhole(ctx, what, at, nil))
}

// partitionNode holds up everything that goes in one direction between a node and others.
func (c *chaosRun) partitionNode(ctx context.Context, what string) error {
	m, events, err := c.pickVictim(ctx)
	if err != nil {
		return err
	}
	// Forth is what goes to the node or to its database, and Back is what comes from there.
	gates := map[string][]*rig.Gate{
		unheard: {&m.Links.Forth}, unanswering: {&m.Links.Back}, databaseless: {&m.Database.Forth, &m.Database.Back},
	}[what]
	c.suspect.Store(m)
	defer c.suspect.Store(nil)
	at := time.Now()
	for _, g := range gates {
		g.Shut()
	}
	err = c.measureRecovery(ctx, what, at, events)
	rig.Wait(ctx, time.Until(at.Add(c.drawDuration(c.conf.Shortest, c.conf.Longest/2))))
	for _, g := range gates {
		g.Open()
	}
	return errors.Join(err, c.waitUntilWhole(ctx, what, time.Now(), nil))
}

// cutConnections resets all of a node's connections to Postgres.
func (c *chaosRun) cutConnections(ctx context.Context, what string) error {
	m, events, err := c.pickVictim(ctx)
	if err != nil {
		return err
	}
	at := time.Now()
	if m.Database.Cut() == 0 {
		return errors.New("the node had no connections")
	}
	return errors.Join(c.measureRecovery(ctx, what, at, events), c.waitUntilWhole(ctx, what, at, nil))
}

// joinAndLeave lets one more node join the cluster, take its share of the events for a while, and
// leave in order.
func (c *chaosRun) joinAndLeave(ctx context.Context, _ string) error {
	// The only spare is the last member.
	m := c.cluster.Members[c.conf.Nodes]
	err := c.measureMove(ctx, joined, c.measured, func() error {
		m.Up()
		return c.waitUntilWhole(ctx, joined, time.Now(), m.Ready.Load)
	})
	rig.Wait(ctx, c.conf.Shortest)
	return errors.Join(err, c.measureMove(ctx, left, c.measured, func() error {
		m.Down()
		at := time.Now()
		m.Ready.Store(false)
		return errors.Join(m.Process.End(syscall.SIGTERM), c.waitUntilWhole(ctx, left, at, nil))
	}))
}

// restartAll restarts every node in turn, in order. If there is a program of another release, the
// node comes back with the other program.
func (c *chaosRun) restartAll(ctx context.Context, what string) error {
	for _, m := range c.cluster.Members[:c.conf.Nodes] {
		owners, err := c.readOwners(ctx)
		if err != nil {
			return err
		}
		var events []*rush.Sale
		for _, h := range c.measured {
			if owners[h.EventID] == m {
				events = append(events, h)
			}
		}
		if err := c.measureMove(ctx, what, events, func() error {
			// Without a program of another release this changes nothing.
			m.SwapProgram()
			at, life := time.Now(), m.Starts.Load()
			if err := m.Process.Signal(syscall.SIGTERM); err != nil {
				return err
			}
			return c.waitUntilWhole(ctx, what, at, func() bool { return m.Starts.Load() > life })
		}); err != nil {
			return err
		}
	}
	return nil
}

// measureMove makes a planned move and measures how long events pause during it.
func (c *chaosRun) measureMove(ctx context.Context, what string, events []*rush.Sale, do func() error) error {
	gaveUp, told := c.Count.GaveUp.Load(), c.told503.Load()
	pauses := c.watchPauses(ctx, events)
	err := do()
	longest := pauses()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses[what] = append(c.pauses[what], longest...)
	// Only what was given up during the move counts. Injuries do not overlap, so nothing else is to blame for it.
	c.moves.gaveUp += c.Count.GaveUp.Load() - gaveUp
	c.moves.told503 += c.told503.Load() - told
	return err
}

// waitUntilWhole waits until every node that should run has been ready for the time steady. If also
// is set, that condition must hold as well.
func (c *chaosRun) waitUntilWhole(ctx context.Context, what string, since time.Time, also func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, c.conf.GiveUp)
	defer cancel()
	var from time.Time // since when everything has been well; zero: it is not
	for {
		well := also == nil || also()
		for _, m := range c.cluster.Members {
			well = well && (!m.Wanted() || m.Ready.Load())
		}
		switch {
		case !well:
			from = time.Time{}
		case from.IsZero():
			from = time.Now()
		case time.Since(from) >= steady:
			c.mu.Lock()
			defer c.mu.Unlock()
			// The time ends when everything began to be well, and not when that was sure.
			c.ready[what] = max(c.ready[what], from.Sub(since))
			return nil
		}
		if rig.Wait(ctx, rig.HealthEvery/2); ctx.Err() != nil {
			return fmt.Errorf("not all nodes were ready within %v of %s", c.conf.GiveUp, what)
		}
	}
}

// drawDuration draws a duration between two bounds.
func (c *chaosRun) drawDuration(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(c.rng.Int64N(int64(most-least)))
}
