package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

const (
	clusterNodes = 3
	// remoteGoal is the most CPU, in microseconds, by which an order may cost more through another
	// node than through the one that has its event.
	remoteGoal = 40
)

// clusterResult is what orders of one hot type cost a cluster: through the node that has its event, through the
// others, and through all. CPU is the CPU of all nodes for each order, including the read model.
type clusterResult struct {
	LocalRPS  float64 `json:"local_rps"`
	LocalCPU  float64 `json:"local_cpu_us_servers"`
	RemoteRPS float64 `json:"remote_rps"`
	RemoteCPU float64 `json:"remote_cpu_us_servers"`
	SpreadRPS float64 `json:"spread_rps"`
	SpreadCPU float64 `json:"spread_cpu_us_servers"`
}

// measureCluster measures three nodes on this machine, on a Postgres of their own.
func (b *bench) measureCluster(ctx context.Context) (err error) {
	dir := filepath.Join(b.dir, "cluster")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	cl, err := rig.StartCluster(ctx, rig.ClusterConfig{
		Binary: b.cmd.Binary, Dir: dir, Nodes: clusterNodes, Log: slog.New(slog.DiscardHandler),
		Env: []string{"BOXOFFICE_LIMITS_SCALE=1000000", "BOXOFFICE_HEAP_ROOM=-1", "BOXOFFICE_LOG_LEVEL=WARN"},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.Stop(), cl.Close()) }()
	svc, err := client.ParseTarget(cl.Members[0].URL)
	if err != nil {
		return err
	}
	organizer, err := rush.Register(ctx, svc, b.net.Source(0))
	if err != nil {
		return err
	}
	s, err := organizer.OpenSale(ctx, []rush.SaleType{{Name: "General", Quantity: plenty, MaxPerOrder: 100, MaxPerCustomer: 1000}})
	if err != nil {
		return err
	}
	owners, err := cl.Owners(ctx, s.EventID)
	if err != nil {
		return err
	}
	owner := owners[s.EventID]
	if owner == nil {
		return errors.New("cluster: nobody has the event")
	}
	var all []string
	for _, m := range cl.Members {
		all = append(all, m.Host())
	}
	others := slices.DeleteFunc(slices.Clone(all), func(host string) bool { return host == owner.Host() })

	r, placed := &clusterResult{}, int64(0)
	for _, way := range []struct {
		name     string
		hosts    []string
		rps, cpu *float64
	}{
		{"through the node that has the event", []string{owner.Host()}, &r.LocalRPS, &r.LocalCPU},
		{"through the other nodes", others, &r.RemoteRPS, &r.RemoteCPU},
		{"through all nodes", all, &r.SpreadRPS, &r.SpreadCPU},
	} {
		done, err := b.measureThrough(ctx, cl, s, way.hosts)
		if err != nil {
			return fmt.Errorf("cluster, %s: %w", way.name, err)
		}
		for i := range cl.Members {
			*way.cpu += done.micros(i)
		}
		*way.rps, *way.cpu = round(done.rps()), round(*way.cpu)
		placed += done.total
		say("orders, three nodes, %s: %.0f/s; servers %.1f us, Postgres %.1f us", way.name, *way.rps, *way.cpu, done.micros(len(cl.Members)))
	}
	b.result.Cluster = r
	say("a remote order costs %.1f us more, three nodes %.1f us (goal: %d at most)", r.RemoteCPU-r.LocalCPU, r.SpreadCPU-r.LocalCPU, remoteGoal)
	return b.auditStock(ctx, svc, []*rush.Sale{s}, placed)
}

// measureThrough saturates the cluster through some of its nodes.
func (b *bench) measureThrough(ctx context.Context, cl *rig.Cluster, s *rush.Sale, hosts []string) (*closedResult, error) {
	c := &closed{
		net: b.net, hosts: hosts, conns: b.cmd.Conns, want: 201, numbers: &b.numbers,
		make: orders(hosts[0], "/api/v1/orders", []string{s.Types[0].ID}, newKeys()), warm: b.cmd.Warm, measure: b.cmd.Measure,
		cpu: cl.Targets(), drained: func(ctx context.Context) error {
			var err error
			for _, m := range cl.Members {
				err = errors.Join(err, b.idle(ctx, m.URL, catchUpTime, "readmodel_lag"))
			}
			return err
		},
	}
	r, err := c.run(ctx)
	b.disturbed("cluster", r)
	return r, err
}
