// Command bench measures, in one run on one machine, what an order costs: an echo through the edge (the ceiling),
// ours, and a row-lock design behind the same edge on the same Postgres (the baseline), the whole checkout, scans at
// a gate, holds of seats, reads of their map, the log of requests, a start, and a waiting room. It prints its
// progress to standard error and ends with one line of JSON.
//
//	go run ./loadtest/bench [--binary ./boxoffice] [--seconds 10]
//
// It runs a Postgres, a node and a process with the two other designs, all on loopback with their data in a temporary
// directory, and stops them all. Each design is first saturated by a closed loop of cheap clients, for its peak and
// its CPU, and then loaded with half of its peak by an open loop, for its latency. The acknowledged orders are
// compared with the stock that is gone, and with the seats that are held; a difference fails the run. Orders of one
// hot type, of many events and of a type of 1,000,000 are measured several times in turn, and the medians are taken,
// because a shared machine may be a third faster in one minute than in the next.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"boxoffice/loadtest/client"
)

type cli struct {
	Run    runCmd    `cmd:"" default:"withargs" help:"Run the benchmark (the default)."`
	Server serverCmd `cmd:"" hidden:"" help:"Serve the echo and the row-lock design."`
	Kafka  kafkaCmd  `cmd:"" hidden:"" help:"Serve a fake Kafka."`
}

// runCmd are the benchmark's knobs.
type runCmd struct {
	Binary   string        `help:"boxoffice binary; built when not given."`
	Measure  time.Duration `name:"seconds" default:"6s" help:"Of each closed and each open loop."`
	Warm     time.Duration `default:"2s" help:"Load before each measurement."`
	Conns    int           `default:"256" help:"Connections of a closed loop."`
	Events   int           `default:"1000" help:"Events of the many-events case."`
	Scans    int           `default:"100000" help:"Tickets to scan."`
	Keep     bool          `help:"Keep the data directory."`
	Relay    string        `enum:",fake,real" default:"" help:"Measure only what the facts' way through Kafka costs orders: with a fake broker in a process of its own, or a real one (.ci/kafka)."`
	Rounds   int           `default:"3" help:"How often the cases of orders are measured, in turn; and orders without and with Kafka."`
	Only     []string      `help:"Measure only these cases: echo, orders, many, million, promo, lines, seated, checkout, scans, holds, map, keyed, start, wait, room, cluster, shards, commits, rowlock."`
	Visitors int           `default:"1000000" help:"Visitors of the waiting room."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	k := kong.Parse(&c, kong.Name("bench"), kong.BindTo(ctx, (*context.Context)(nil)))
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // the deferred stop only restores signals
	}
}

// Run measures everything and prints the JSON.
func (c *runCmd) Run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "boxoffice-bench-")
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if !c.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := os.Chmod(dir, 0o755); err != nil { // so that Postgres's user may enter
		return fmt.Errorf("data directory: %w", err)
	}
	if c.Binary == "" {
		c.Binary = filepath.Join(dir, "boxoffice")
		build := exec.CommandContext(ctx, "go", "build", "-o", c.Binary, "./cmd/boxoffice")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	net, err := client.NewNetwork(client.Config{Sources: sources, PerIdle: waiting, Timeout: 30 * time.Second})
	if err != nil {
		return err
	}
	defer net.Close()
	b := &bench{cmd: c, net: net, dir: dir}
	defer func() { err = errors.Join(err, b.stop(context.WithoutCancel(ctx))) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	line, err := json.Marshal(b.result)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	_, err = fmt.Fprintln(os.Stdout, string(line))
	return err
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
