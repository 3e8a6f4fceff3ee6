package loadtest

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
)

// The injuries, as the report names them.
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

// goals are what must hold on a machine of its own (issue 5, must show 3).
const (
	goalP50     = 2500 * time.Millisecond
	goalWorst   = 5 * time.Second
	goalPlanned = time.Second
)

// steady is how long a node must have been ready to count as recovered.
const steady = time.Second

// moved counts what clients were told during planned moves.
type moved struct{ gaveUp, told503 int64 }

// injury is one thing that is done to the cluster. It returns when the cluster has
// recovered.
type injury struct {
	what string
	do   func(ctx context.Context, what string) error
}

// plan is all injuries of the run, in the order of the seed.
func (c *chaos) plan() []injury {
	var all []injury
	add := func(n int, do func(context.Context, string) error, names ...string) {
		for i := range n {
			all = append(all, injury{names[i%len(names)], do})
		}
	}
	add(c.conf.Kills, c.kill, killedShort, killedLong)
	add(c.conf.Stalls, c.stall, stalled)
	add(c.conf.Crashes, c.crash, crashed)
	add(c.conf.Partitions, c.part, unheard, databaseless, unanswering)
	add(c.conf.Cuts, c.cutOff, connectionCut)
	add(c.conf.Joins, c.joinAndLeave, joined)
	add(c.conf.Rolls, c.roll, rolled)
	c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// injure does one thing after the other, spread over the run, and leaves the
// cluster whole.
func (c *chaos) injure(ctx context.Context) {
	plan := c.plan()
	for i, next := range plan {
		calm := c.conf.Calm/2 + time.Duration(c.rng.ExpFloat64()*float64(c.conf.Calm)/2)
		due := c.began.Add(c.conf.Duration * time.Duration(i) / time.Duration(len(plan)))
		if wait(ctx, max(calm, time.Until(due))); ctx.Err() != nil {
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
	wait(ctx, time.Until(c.began.Add(c.conf.Duration)))
}

// owners asks which node owns which of the events.
func (c *chaos) owners(ctx context.Context) (map[string]*Member, error) {
	var events []string
	for _, h := range c.halls {
		events = append(events, h.EventID)
	}
	for _, h := range c.seated {
		events = append(events, h.EventID)
	}
	return c.cluster.Owners(ctx, events...)
}

// victim is a node, and the halls that it owns: every other time one that owns
// seats which are contended for.
func (c *chaos) victim(ctx context.Context) (*Member, []*Sale, error) {
	owners, err := c.owners(ctx)
	if err != nil {
		return nil, nil, err
	}
	of := make(map[*Member][]*Sale)
	for _, h := range c.halls {
		if m := owners[h.EventID]; m != nil && slices.Contains(c.cluster.Members[:c.conf.Nodes], m) {
			of[m] = append(of[m], h)
		}
	}
	seats := c.rng.IntN(2) == 0
	var candidates []*Member
	for _, m := range c.cluster.Members[:c.conf.Nodes] {
		if of[m] != nil && (!seats || slices.ContainsFunc(c.seated, func(h *seated) bool { return owners[h.EventID] == m })) {
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

// kill ends a node with SIGKILL.
func (c *chaos) kill(ctx context.Context, what string) error {
	m, halls, err := c.victim(ctx)
	if err != nil {
		return err
	}
	if what == killedLong {
		m.down()
	}
	at, life := time.Now(), m.lives.Load()
	m.ready.Store(false)
	if err := m.serve.signal(syscall.SIGKILL); err != nil {
		return err
	}
	err = c.recover(ctx, what, at, halls, m)
	if what == killedLong {
		wait(ctx, time.Until(at.Add(c.conf.Shortest)))
		m.Up()
	}
	return errors.Join(err, c.wholeAgain(ctx, what, at, func() bool { return m.lives.Load() > life }))
}

// stall has a node stand still while others take its events over, and then go on
// as if nothing had been.
func (c *chaos) stall(ctx context.Context, what string) error {
	m, halls, err := c.victim(ctx)
	if err != nil {
		return err
	}
	length := c.between(c.conf.Shortest, c.conf.Longest)
	c.suspect.Store(m)
	defer c.suspect.Store(nil)
	at := time.Now()
	if err := m.serve.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err = c.recover(ctx, what, at, halls, m)
	wait(ctx, time.Until(at.Add(length)))
	goOn := func() error { return m.serve.signal(syscall.SIGCONT) }
	err = errors.Join(err, c.askStale(ctx, m, halls, goOn))
	return errors.Join(err, c.wholeAgain(ctx, what, time.Now(), nil))
}

// crash kills all of Postgres.
func (c *chaos) crash(ctx context.Context, what string) error {
	at := time.Now()
	if err := c.cluster.KillPostgres(); err != nil {
		return err
	}
	return errors.Join(c.recover(ctx, what, at, c.halls), c.wholeAgain(ctx, what, at, nil))
}

// part holds up what goes one way between a node and others.
func (c *chaos) part(ctx context.Context, what string) error {
	m, halls, err := c.victim(ctx)
	if err != nil {
		return err
	}
	gates := map[string][]*gate{
		unheard: {&m.links.there}, unanswering: {&m.links.back}, databaseless: {&m.database.there, &m.database.back},
	}[what]
	c.suspect.Store(m)
	defer c.suspect.Store(nil)
	at := time.Now()
	for _, g := range gates {
		g.close()
	}
	err = c.recover(ctx, what, at, halls)
	wait(ctx, time.Until(at.Add(c.between(c.conf.Shortest, c.conf.Longest/2))))
	for _, g := range gates {
		g.open()
	}
	return errors.Join(err, c.wholeAgain(ctx, what, time.Now(), nil))
}

// cutOff resets a node's connections to Postgres.
func (c *chaos) cutOff(ctx context.Context, what string) error {
	m, halls, err := c.victim(ctx)
	if err != nil {
		return err
	}
	at := time.Now()
	if m.database.cut() == 0 {
		return errors.New("the node had no connections")
	}
	return errors.Join(c.recover(ctx, what, at, halls), c.wholeAgain(ctx, what, at, nil))
}

// joinAndLeave has one more node take its share for a while.
func (c *chaos) joinAndLeave(ctx context.Context, _ string) error {
	m := c.cluster.Members[c.conf.Nodes]
	err := c.move(ctx, joined, c.halls, func() error {
		m.Up()
		return c.wholeAgain(ctx, joined, time.Now(), m.ready.Load)
	})
	wait(ctx, c.conf.Shortest)
	return errors.Join(err, c.move(ctx, left, c.halls, func() error {
		m.down()
		at := time.Now()
		m.ready.Store(false)
		return errors.Join(m.serve.end(syscall.SIGTERM), c.wholeAgain(ctx, left, at, nil))
	}))
}

// roll restarts every node in turn.
func (c *chaos) roll(ctx context.Context, what string) error {
	for _, m := range c.cluster.Members[:c.conf.Nodes] {
		owners, err := c.owners(ctx)
		if err != nil {
			return err
		}
		var halls []*Sale
		for _, h := range c.halls {
			if owners[h.EventID] == m {
				halls = append(halls, h)
			}
		}
		if err := c.move(ctx, what, halls, func() error {
			at, life := time.Now(), m.lives.Load()
			if err := m.serve.signal(syscall.SIGTERM); err != nil {
				return err
			}
			return c.wholeAgain(ctx, what, at, func() bool { return m.lives.Load() > life })
		}); err != nil {
			return err
		}
	}
	return nil
}

// move makes a planned move, and measures the pauses of events meanwhile.
func (c *chaos) move(ctx context.Context, what string, halls []*Sale, do func() error) error {
	gaveUp, told := c.count.GaveUp.Load(), c.told503.Load()
	pauses := c.watchPauses(ctx, halls)
	err := do()
	longest := pauses()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses[what] = append(c.pauses[what], longest...)
	c.moves.gaveUp += c.count.GaveUp.Load() - gaveUp
	c.moves.told503 += c.told503.Load() - told
	return err
}

// wholeAgain waits until every node that is to be up has been ready for a while,
// and the condition holds, if there is one.
func (c *chaos) wholeAgain(ctx context.Context, what string, since time.Time, also func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, c.conf.GiveUp)
	defer cancel()
	var from time.Time // since when all is well
	for {
		well := also == nil || also()
		for _, m := range c.cluster.Members {
			well = well && (!m.wanted() || m.ready.Load())
		}
		switch {
		case !well:
			from = time.Time{}
		case from.IsZero():
			from = time.Now()
		case time.Since(from) >= steady:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ready[what] = max(c.ready[what], from.Sub(since))
			return nil
		}
		if wait(ctx, healthEvery/2); ctx.Err() != nil {
			return fmt.Errorf("not all nodes were ready within %v of %s", c.conf.GiveUp, what)
		}
	}
}

func (c *chaos) between(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(c.rng.Int64N(int64(most-least)))
}
