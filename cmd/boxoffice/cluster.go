package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/loadtest/rig"
	"boxoffice/persistence/embedded"
)

// postgresCmd runs a private Postgres that several nodes share. A node without a database URL also
// starts one, but only for itself.
type postgresCmd struct {
	DataDir      string `env:"BOXOFFICE_DATA_DIR" default:"./data" help:"Where it lives."`
	AllowInstall bool   `env:"BOXOFFICE_ALLOW_INSTALL" default:"true" negatable:"" help:"Install Debian's Postgres when there is none and we may."`
}

// Run keeps a private Postgres running until a signal, for nodes that share it. The first line of
// its output is the database's URL, which scripts read.
func (c *postgresCmd) Run(ctx context.Context) error {
	srv, err := embedded.Start(ctx, embedded.Config{
		Dir: filepath.Join(c.DataDir, "postgres"), Log: logger(0), Install: c.AllowInstall,
	})
	if err != nil {
		return err
	}
	// Attached means that another process has started the Postgres in this folder. That process
	// would also stop it, so nobody could rely on ours.
	if srv.Attached() {
		return fmt.Errorf("another process uses %s", c.DataDir)
	}
	fmt.Fprintln(os.Stdout, srv.URL())
	<-ctx.Done()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.StopTime)
	defer cancel()
	return srv.Stop(stop)
}

// clusterCmd runs several nodes on this machine, together with a Postgres, a balancer and a payment
// simulator.
type clusterCmd struct {
	Nodes       int     `default:"3" help:"How many nodes."`
	Shards      int     `help:"How many databases the journal is divided over, each a Postgres of its own; 0: it is in the nodes' Postgres. A data directory keeps what it began with."`
	DataDir     string  `default:"./data/cluster" type:"path" help:"Where its Postgres, its master key, its mail and the nodes' logs are kept."`
	Port        int     `default:"8080" help:"Of the balancer, on the loopback address; the simulator and the nodes take the next ones. Where one of these is taken, all move on to the next that are free."`
	LimitsScale float64 `default:"1000" help:"Multiplies every rate limit: the clients of a local cluster are few, or load tests."`
}

// Run keeps a cluster on this machine running until a signal.
func (c *clusterCmd) Run(ctx context.Context) error {
	if err := os.MkdirAll(c.DataDir, 0o755); err != nil { //nolint:gosec // Postgres's user must get through
		return fmt.Errorf("cluster: %w", err)
	}
	// The key is kept in the data directory: ticket codes and sessions are derived from it, and
	// must still be valid after a restart.
	key, err := node.KeptKey(filepath.Join(c.DataDir, "master.key"))
	if err != nil {
		return err
	}
	cl, err := rig.StartCluster(ctx, rig.ClusterConfig{
		Dir: c.DataDir, Nodes: c.Nodes, Shards: c.Shards, Port: c.Port, Log: logger(0),
		Env: []string{"BOXOFFICE_MASTER_KEY=" + strings.TrimSpace(key), fmt.Sprint("BOXOFFICE_LIMITS_SCALE=", c.LimitsScale)},
	})
	if err != nil {
		return err
	}
	c.show(cl)
	<-ctx.Done()
	return errors.Join(cl.Stop(), cl.Close())
}

// show prints the addresses of everything that runs, and commands to try with it.
func (c *clusterCmd) show(cl *rig.Cluster) {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
	say("\n%d nodes on one Postgres are ready. All of it is kept in %s; each node's log is there.\n", len(cl.Members), c.DataDir)
	say("  balancer   %s    (new connections go to nodes that are ready)", cl.URL)
	for _, m := range cl.Members {
		say("  %-10s %s    links %s    pid %d", m.Name, m.URL, m.Link, m.PID())
	}
	say("  Payments   %s    (a simulator: no money moves)", cl.Paysim)
	say("  Mail       %s/dev/mail    (captured: none is sent)", cl.Members[0].URL)
	say("  Postgres   %s", cl.DatabaseURL)
	for i, url := range cl.JournalURLs {
		say("  Shard %d    %s", i, url)
	}
	say("\nTry:")
	say("  curl %s/api/v1/events", cl.URL)
	say("  boxoffice status --database-url '%s'%s", cl.DatabaseURL, journalFlag(cl.JournalURLs))
	say("  boxoffice loadtest onsale --target %s", cl.URL)
	say("  curl -s %s/metrics | grep boxoffice_commands_total    # of each node", cl.Members[0].URL)
	say("  kill -9 %d    # %s; it is started again at once", cl.Members[0].PID(), cl.Members[0].Name)
	say("\nCtrl-C stops all of it.\n")
}

// journalFlag returns the flag by which tools find the journal's databases, or "" if the journal is
// in the nodes' database.
func journalFlag(urls []string) string {
	if len(urls) == 0 {
		return ""
	}
	return " --journal-urls '" + strings.Join(urls, " ") + "'"
}
