// Package facts is the scenario that follows every fact of a rush to its effect, while parts of the
// way are killed: consumers, the broker, or the node. Run returns when every goroutine and process
// that it started has ended.
package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"text/tabwriter"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest facts`.
type Config struct {
	rush.Config `embed:""`
	Kafka       string        `default:".ci/kafka" help:"The program that starts, kills and stops a broker; off: the facts go without Kafka."`
	KafkaPort   int           `default:"19092" help:"The broker's port; the one above it is taken too."`
	Consumers   int           `default:"3" help:"Processes that take the facts in through Kafka; without it there is one."`
	Kills       int           `default:"20" help:"How many times one of them is killed with -9, without Kafka together with the node."`
	Freezes     int           `default:"2" help:"How many times one of them is stopped for so long that the group gives its partitions away."`
	Outage      time.Duration `default:"2m" help:"How long the broker is away, in the midst of the rush."`
	Drain       time.Duration `default:"2m" help:"By when what came together in the meantime must have arrived."`
}

// Tally compares the journal with the effects of its facts, as `boxoffice consume --tally` prints
// it.
type Tally struct {
	Facts      int64 // facts in the journal
	Effects    int64 // rows that the consuming processes have written
	Lost       int64 // facts without a row
	Duplicates int64 // rows beyond the first of a fact
	Misplaced  int64 // rows that are out of order within their stream
	Backlog    int64 // facts up to the last mark that the processes, or the node, have not consumed
	Untold     int64 // facts that the node has not consumed
	Told       int64 // public facts that the node has made of them
	// Public facts that the node has made more than once of the same fact.
	ToldTwice int64
}

// These are the operations as which placing an order counts while the broker is away, and while it
// comes back.
const (
	opPlaceAway openloop.Op = rush.OpCancel + 1 + iota
	opPlaceBack
)

var factsOps = append(slices.Clip(rush.OpNames), "POST order, Kafka away", "POST order, Kafka starting, back")

// readyTime is how long the run must last at least before the outage, and again after it, so that there is time for
// kills.
const readyTime = 20 * time.Second

// tallyEvery is the pause between two looks at the backlog.
const tallyEvery = time.Second

// Run follows every fact of a rush on a node of its own to its effect, a row in Postgres, while
// parts of the way are killed: the processes that consume the facts, and the broker, or without
// Kafka the node itself. The error is rush.ErrFindings, or the reason why there is no result.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.completeConfig(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	kafka, err := startBroker(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	// The deferred calls end things in the opposite order of their starts: the consumers, the clients, the node,
	// the broker. An interrupt has cancelled ctx by then, so what ends them must not depend on it.
	defer func() { err = errors.Join(err, kafka.stop(context.WithoutCancel(ctx))) }()
	node, stopNode, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, kafka.env()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopNode()) }()
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return nil, err
	}
	s, err := rush.OpenSession(ctx, cfg.Config, svc, false, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	s.Ops = factsOps
	f := &run{Session: s, cfg: &cfg, node: node, kafka: kafka, log: log}
	defer func() { err = errors.Join(err, f.stopConsumers()) }()
	for range cfg.Consumers {
		if err := f.addConsumer(ctx); err != nil {
			return nil, err
		}
	}
	r := s.NewReport("The way of the facts", node.URL, cfg)
	if err := f.letBuyersIn(ctx, r, out); err != nil {
		return nil, err
	}
	// Findings of the rush's own audit do not end the run: the way of the facts is judged too, and both are
	// returned together.
	found := s.Conclude(ctx, r, node.Paysim, cfg.Out, out, log)
	if found != nil && !errors.Is(found, rush.ErrFindings) {
		return nil, found
	}
	t, err := f.waitForEffects(ctx)
	if err != nil {
		return nil, err
	}
	return r, errors.Join(found, f.print(out, r, t))
}

// completeConfig makes the rush suitable: at a constant rate, with as many orders as buyers.
func (c *Config) completeConfig() error {
	if c.Buyers <= 0 || c.Rate <= 0 {
		return fmt.Errorf("%d buyers at %g a second: facts needs both", c.Buyers, c.Rate)
	}
	// A rush that sells out or whose rate changes would place fewer orders, and the outage would meet an idle node.
	// So there are more tickets than all buyers can order, and the duration follows from the rate.
	c.Shape, c.Returning = "constant", 0
	c.Tickets = max(c.Tickets, (rush.MaxPerOrder+1)*c.Types*c.Buyers)
	c.Duration = time.Duration(float64(c.Buyers) / c.Rate * float64(time.Second))
	if c.usesKafka() && c.Duration < c.Outage+2*readyTime {
		return fmt.Errorf("%d buyers at %g a second come within %v, which leaves too little around an outage of %v", c.Buyers, c.Rate, c.Duration, c.Outage)
	}
	// Without Kafka there is one process beside the node, and no group that could take its partitions away.
	if !c.usesKafka() {
		c.Consumers, c.Freezes = 1, 0
	}
	// The freezes are split over the two halves of the run, so the larger half is the most that is frozen at once.
	if c.Consumers < 1 || c.Freezes/2+c.Freezes%2 >= c.Consumers && c.Freezes > 0 {
		return fmt.Errorf("%d consumers, of which up to %d are frozen at once: none would be left to kill", c.Consumers, c.Freezes/2+c.Freezes%2)
	}
	return c.Validate()
}

// usesKafka reports whether the facts go through Kafka.
func (c *Config) usesKafka() bool { return c.Kafka != "off" }

// run is one run.
type run struct {
	*rush.Session
	cfg       *Config
	node      *rig.Node
	kafka     *broker // nil: there is no Kafka
	log       *slog.Logger
	consumers []*exec.Cmd

	// These fields are written by the disturbances and read when they are over.
	kills, freezes int
	backlog        int64         // how large the backlog was when the broker was back
	drained        time.Duration // how long it took until the backlog was gone; 0: it never was
}

// letBuyersIn runs the buyers and the disturbances at the same time, and returns when both are over. If one of them
// fails, the other is ended. The cause of the context is the first failure, or nil.
func (f *run) letBuyersIn(ctx context.Context, r *report.Report, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := f.disturbRun(ctx); err != nil {
			cancel(err)
		}
	}()
	err := f.Measure(ctx, r, f.node.Targets(), out, nil)
	if err != nil {
		cancel(err)
	}
	<-over
	return context.Cause(ctx)
}

// readTally compares the journal with the effects. A process of its own does that with the service's own command,
// which reads the node's database.
func (f *run) readTally(ctx context.Context) (t Tally, err error) {
	cmd := f.node.Process.Command(ctx, "consume", "--tally")
	var text bytes.Buffer
	cmd.Stdout = &text
	if err := cmd.Run(); err != nil {
		return t, fmt.Errorf("tally: %w", err)
	}
	if err := json.Unmarshal(text.Bytes(), &t); err != nil {
		return t, fmt.Errorf("tally: %w", err)
	}
	return t, nil
}

// waitForTally reads the tally until it is as wanted or cfg.Drain has passed. Running out of time is no error: the
// caller judges the last tally.
func (f *run) waitForTally(ctx context.Context, wanted func(Tally) bool) (t Tally, took time.Duration, err error) {
	began := time.Now()
	for {
		t, err = f.readTally(ctx)
		took = time.Since(began)
		if err != nil || wanted(t) || took > f.cfg.Drain {
			return t, took, err
		}
		select {
		case <-time.After(tallyEvery):
		case <-ctx.Done():
			return t, took, context.Cause(ctx)
		}
	}
}

// waitForEffects waits until every fact has its effect, stops the processes in an orderly way, and compares once
// more. The last comparison comes after the stop, because a process that ends might still write an effect twice.
func (f *run) waitForEffects(ctx context.Context) (Tally, error) {
	if _, _, err := f.waitForTally(ctx, func(t Tally) bool { return t.Lost == 0 && t.Untold == 0 }); err != nil {
		return Tally{}, err
	}
	if err := f.stopConsumers(); err != nil {
		return Tally{}, err
	}
	return f.readTally(ctx)
}

// print prints the table. The error says how many of its lines are wrong.
func (f *run) print(out io.Writer, r *report.Report, t Tally) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nthe way of the facts\tis\tmust be\t\n")
	wrong := 0
	row := func(name string, value any, must string, ok bool) {
		mark := ""
		if !ok {
			mark = "VIOLATED"
			wrong++
		}
		fmt.Fprintf(w, "%s\t%v\t%s\t%s\n", name, value, must, mark)
	}
	// zero is for figures that must be 0: any other number is a fact that was lost, repeated or put out of order.
	zero := func(name string, n int64) { row(name, n, "0", n == 0) }
	placed := f.Count.Placed.Load()
	row("orders acknowledged", placed, fmt.Sprint(f.cfg.Buyers), placed >= int64(f.cfg.Buyers))
	row("facts in the journal", t.Facts, "", t.Facts > placed)
	row("processes killed with -9", f.kills, fmt.Sprint(f.cfg.Kills), f.kills == f.cfg.Kills)
	if f.kafka != nil {
		row("processes frozen past their session", f.freezes, fmt.Sprint(f.cfg.Freezes), f.freezes == f.cfg.Freezes)
	}
	zero("facts lost", t.Lost)
	zero("effects twice", t.Duplicates)
	zero("effects out of their stream's order", t.Misplaced)
	zero("facts that the node has not told", t.Untold)
	row("told by the node", t.Told, "", t.Told > 0)
	zero("told twice by the node", t.ToldTwice)
	if f.kafka != nil {
		f.printOutage(row, r)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%w: %d lines are not as they must be", rush.ErrFindings, wrong)
	}
	return nil
}

// printOutage adds the effect of the broker's absence on buyers, and how long its backlog took. Orders do not need
// Kafka, so while it is away the p99 may at most double, or reach the goal for orders. While Kafka starts again on
// the same cores the latency is only shown.
func (f *run) printOutage(row func(name string, value any, must string, ok bool), r *report.Report) {
	at := make(map[string]openloop.Percentiles)
	for _, op := range r.Operations {
		at[op.Op] = op.Corrected
	}
	before, away := at[factsOps[rush.OpPlace]], at[factsOps[opPlaceAway]]
	most := max(2*before.P99, float64(f.cfg.SLO.Milliseconds()))
	for _, op := range []openloop.Op{rush.OpPlace, opPlaceAway, opPlaceBack} {
		p := at[factsOps[op]]
		must := ""
		if op == opPlaceAway {
			must = fmt.Sprintf("p99 at most %.0f", most)
		}
		row(factsOps[op]+", ms", fmt.Sprintf("p50 %.1f, p99 %.1f", p.P50, p.P99), must, op != opPlaceAway || away.P99 <= most)
	}
	row("Kafka was away for", f.cfg.Outage, "", true)
	row("facts that waited when it was back", f.backlog, "", true)
	drained := "never"
	if f.drained > 0 {
		drained = f.drained.Round(100 * time.Millisecond).String()
	}
	row("until they had arrived", drained, fmt.Sprintf("at most %v", f.cfg.Drain), f.drained > 0 && f.drained <= f.cfg.Drain)
}
