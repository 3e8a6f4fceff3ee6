package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// shardedEvents is how many events the orders are for, so that each shard has some.
const shardedEvents = 64

// shardedGoals are the most CPU that an order may cost with its journal in so many databases of their own, of nodes and
// all databases together, as a multiple of its cost with the journal at home.
var shardedGoals = []struct {
	shards int
	goal   float64
}{{0, 1}, {1, 1.03}, {4, 1.05}}

// shardedResult is what orders of many events cost where the journal is in so many databases of its own. Zero: it is
// in the database that has all else.
type shardedResult struct {
	Shards      int     `json:"shards"`
	RPS         float64 `json:"rps"`
	ServerCPU   float64 `json:"cpu_us_server"`
	PostgresCPU float64 `json:"cpu_us_postgres"` // of all databases
}

// measureShards measures one node in turn with each number of databases, each time on fresh ones.
func (b *bench) measureShards(ctx context.Context) error {
	rounds := make([][]shardedResult, len(shardedGoals))
	for round := range b.cmd.Rounds {
		for i, c := range shardedGoals {
			r, err := b.measureSharded(ctx, c.shards, filepath.Join(b.dir, fmt.Sprintf("shards-%d-%d", c.shards, round)))
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
			Shards: c.shards, RPS: of(func(r shardedResult) float64 { return r.RPS }),
			ServerCPU: of(func(r shardedResult) float64 { return r.ServerCPU }), PostgresCPU: of(func(r shardedResult) float64 { return r.PostgresCPU }),
		}
		b.result.Shards = append(b.result.Shards, r)
		home := b.result.Shards[0]
		say("orders, journal in %d databases of its own: %.0f/s; server %.1f us, all Postgres %.1f us; %.2f times the journal at home (goal: %.2f)",
			c.shards, r.RPS, r.ServerCPU, r.PostgresCPU, (r.ServerCPU+r.PostgresCPU)/(home.ServerCPU+home.PostgresCPU), c.goal)
	}
	return nil
}

func (b *bench) measureSharded(ctx context.Context, shards int, dir string) (r *shardedResult, err error) {
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
	c := &closed{
		net: b.net, hosts: []string{node.Host()}, conns: b.cmd.Conns, want: 201, numbers: &b.numbers,
		make: orders(node.Host(), "/api/v1/orders", types, newKeys()), warm: b.cmd.Warm, measure: b.cmd.Measure, cpu: cl.Targets(),
		drained: func(ctx context.Context) error { return b.idle(ctx, node.URL, catchUpTime, "readmodel_lag") },
	}
	done, err := c.run(ctx)
	b.disturbed(fmt.Sprintf("%d shards", shards), done)
	if err != nil {
		return nil, err
	}
	r = &shardedResult{Shards: shards, RPS: round(done.rps()), ServerCPU: round(done.micros(0))}
	for i := range shards + 1 { // the journal's databases, and home
		r.PostgresCPU += done.micros(1 + i)
	}
	r.PostgresCPU = round(r.PostgresCPU)
	return r, b.auditStock(ctx, svc, sales, done.total)
}
