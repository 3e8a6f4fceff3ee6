package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// shardedEvents is how many events the orders are for, so that each shard has some.
const shardedEvents = 64

// shardedGoals limit the CPU that an order may cost nodes and all databases together, if the journal is in a
// number of databases of its own. A goal is a multiple of the cost with the journal at home. Four databases are
// measured twice: with as many buyers as one database has, whose orders then go in four times as many commits, and
// with as many for each, which is what somebody has who needs four.
var shardedGoals = []struct {
	shards int
	crowds int // how many times the buyers of one database order
	goal   float64
}{{0, 1, 1}, {1, 1, 1.03}, {4, 1, 1.05}, {4, 4, 1.05}}

// shardedResult is what orders of many events cost if the journal is in as many databases of its own as Shards
// says. If Shards is 0, the journal is in the database that has all else.
type shardedResult struct {
	Shards      int     `json:"shards"`
	Conns       int     `json:"conns"` // buyers of all databases together
	RPS         float64 `json:"rps"`
	ServerCPU   float64 `json:"cpu_us_server"`
	PostgresCPU float64 `json:"cpu_us_postgres"` // of all databases
}

// measureShards measures one node in turn with each number of databases, each time on fresh ones.
func (b *bench) measureShards(ctx context.Context) error {
	rounds := make([][]shardedResult, len(shardedGoals))
	for round := range b.cmd.Rounds {
		for i, c := range shardedGoals {
			r, err := b.measureSharded(ctx, sharding{shards: c.shards, conns: c.crowds * b.cmd.Conns}, fmt.Sprintf("shards-%d-%d-%d", c.shards, c.crowds, round))
			if err != nil {
				return fmt.Errorf("%d shards: %w", c.shards, err)
			}
			rounds[i] = append(rounds[i], *r)
		}
	}
	for i, c := range shardedGoals {
		of := func(number func(shardedResult) float64) float64 {
			var all []float64
			for _, r := range rounds[i] {
				all = append(all, number(r))
			}
			return median(all)
		}
		r := shardedResult{
			Shards: c.shards, Conns: c.crowds * b.cmd.Conns, RPS: of(func(r shardedResult) float64 { return r.RPS }),
			ServerCPU: of(func(r shardedResult) float64 { return r.ServerCPU }), PostgresCPU: of(func(r shardedResult) float64 { return r.PostgresCPU }),
		}
		b.result.Shards = append(b.result.Shards, r)
		home := b.result.Shards[0]
		say("orders of %d buyers, journal in %d databases of its own: %.0f/s; server %.1f us, all Postgres %.1f us; %.2f times the journal at home (goal: %.2f)",
			r.Conns, c.shards, r.RPS, r.ServerCPU, r.PostgresCPU, (r.ServerCPU+r.PostgresCPU)/(home.ServerCPU+home.PostgresCPU), c.goal)
	}
	return nil
}

// commitDelay is how long each commit waits where commits are made slow: the most that Postgres's commit_delay takes.
const commitDelay = 100 * time.Millisecond

// slowGoals say by what factor the accepted orders must grow from one database to a number of databases, if each
// database has as many buyers and each commit is slow.
var slowGoals = []struct {
	shards int
	goal   float64
}{{1, 1}, {2, 1.9}, {4, 3.5}}

// measureCommits measures what slow commits leave of several databases, each with buyers of its own. As many buyers of one
// database would share its commits, and be no slower: what is measured is that no database waits for another's commits.
func (b *bench) measureCommits(ctx context.Context) error {
	for _, c := range slowGoals {
		r, err := b.measureSharded(ctx, sharding{shards: c.shards, conns: c.shards * b.cmd.Conns, delay: commitDelay}, fmt.Sprintf("commits-%d", c.shards))
		if err != nil {
			return fmt.Errorf("slow commits in %d shards: %w", c.shards, err)
		}
		b.result.Commits = append(b.result.Commits, *r)
		say("orders, commits of %v in %d databases, %d buyers each: %.0f/s, %.2f times one database (goal: %.1f)",
			commitDelay, c.shards, b.cmd.Conns, r.RPS, r.RPS/b.result.Commits[0].RPS, c.goal)
	}
	return nil
}

// sharding is how the journal of a measurement is kept, and who writes into it.
type sharding struct {
	shards int
	conns  int           // buyers who order one after the other, of all shards together
	delay  time.Duration // of each commit in a shard
}

func (b *bench) measureSharded(ctx context.Context, how sharding, name string) (r *shardedResult, err error) {
	dir, shards := filepath.Join(b.dir, name), how.shards
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	cl, err := rig.StartCluster(ctx, rig.ClusterConfig{
		Binary: b.cmd.Binary, Dir: dir, Nodes: 1, Shards: shards, Log: slog.New(slog.DiscardHandler),
		Env: []string{"BOXOFFICE_LIMITS_SCALE=1000000", "BOXOFFICE_HEAP_ROOM=-1", "BOXOFFICE_LOG_LEVEL=WARN"},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cl.Stop(), cl.Close()) }()
	node := cl.Members[0]
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return nil, err
	}
	organizer, err := rush.Register(ctx, svc, b.net.Source(0))
	if err != nil {
		return nil, err
	}
	var sales []*rush.Sale
	var types []string
	for range shardedEvents {
		s, err := organizer.OpenSale(ctx, []rush.SaleType{{Name: "General", Quantity: plenty, MaxPerOrder: 100, MaxPerCustomer: 1000}})
		if err != nil {
			return nil, err
		}
		sales, types = append(sales, s), append(types, s.Types[0].ID)
	}
	if err := delayCommits(ctx, cl.JournalURLs, how.delay); err != nil {
		return nil, err
	}
	c := &closed{
		net: b.net, hosts: []string{node.Host()}, conns: how.conns, want: 201, numbers: &b.numbers,
		make: orders(node.Host(), "/api/v1/orders", types, newKeys()), warm: b.cmd.Warm, measure: b.cmd.Measure, cpu: cl.Targets(),
		drained: func(ctx context.Context) error { return b.idle(ctx, node.URL, catchUpTime, "readmodel_lag") },
	}
	done, err := c.run(ctx)
	err = errors.Join(err, delayCommits(context.WithoutCancel(ctx), cl.JournalURLs, 0)) // a node ends with many commits
	b.disturbed(fmt.Sprintf("%d shards", shards), done)
	if err != nil {
		return nil, err
	}
	r = &shardedResult{Shards: shards, Conns: how.conns, RPS: round(done.rps()), ServerCPU: round(done.micros(0))}
	for i := range shards + 1 { // the journal's databases, and home
		r.PostgresCPU += done.micros(1 + i)
	}
	r.PostgresCPU = round(r.PostgresCPU)
	return r, b.auditStock(ctx, svc, sales, done.total)
}

// delayCommits has databases wait before each commit's write reaches the disk, also where nothing else is to be committed.
func delayCommits(ctx context.Context, urls []string, delay time.Duration) error {
	for _, url := range urls {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return fmt.Errorf("connect to a shard: %w", err)
		}
		for _, set := range []string{
			fmt.Sprintf(`ALTER SYSTEM SET commit_delay = %d`, delay.Microseconds()), `ALTER SYSTEM SET commit_siblings = 0`, `SELECT pg_reload_conf()`,
		} {
			if err == nil {
				_, err = conn.Exec(ctx, set)
			}
		}
		if err = errors.Join(err, conn.Close(ctx)); err != nil {
			return fmt.Errorf("delay commits: %w", err)
		}
	}
	return nil
}
