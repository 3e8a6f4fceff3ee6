package loadtest

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
)

// FactsTally is how the journal compares with what was done about its facts, as
// `boxoffice consume --tally` prints it.
type FactsTally struct {
	Facts      int64 // in the journal
	Effects    int64 // rows of the processes that take them in
	Lost       int64 // facts without a row
	Duplicates int64 // rows beyond the first of a fact
	Misplaced  int64 // rows that are not next in their stream
	Backlog    int64 // facts of the last mark that the processes, or the node, have not taken in
	Untold     int64 // facts that the node has not taken in
	Told       int64 // what the node has told the world of them
	ToldTwice  int64
}

// What placing an order counts as while the broker is away, and when it comes back.
const (
	opPlaceAway openloop.Op = opCancel + 1 + iota
	opPlaceBack
)

var factsOps = append(slices.Clip(opNames), "POST order, Kafka away", "POST order, Kafka starting, back")

// readyTime is how long before the outage, and after it, there must be for kills.
const readyTime = 20 * time.Second

// tallyEvery is the pause between two looks at the backlog.
const tallyEvery = time.Second

// Facts follows every fact of a rush on a node of its own to its effect, a row in
// Postgres, while what is on the way is killed: the processes that take the facts
// in, and the broker, or without Kafka the node itself. The error is ErrFindings,
// or why there is no result.
func Facts(ctx context.Context, cfg FactsConfig, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	kafka, err := startBroker(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kafka.stop(context.WithoutCancel(ctx))) }()
	node, stopNode, err := startNode(ctx, cfg.Out, out, log, kafka.env()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopNode()) }()
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, cfg.RushConfig, svc, false, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	s.ops = factsOps
	f := &factsRun{session: s, cfg: &cfg, node: node, kafka: kafka, log: log}
	defer func() { err = errors.Join(err, f.stopConsumers()) }()
	for range cfg.Consumers {
		if err := f.addConsumer(ctx); err != nil {
			return nil, err
		}
	}
	r := s.newReport("The way of the facts", node.URL, cfg)
	if err := f.letIn(ctx, r, out); err != nil {
		return nil, err
	}
	found := s.conclude(ctx, r, node.Paysim, cfg.Out, out, log)
	if found != nil && !errors.Is(found, ErrFindings) {
		return nil, found
	}
	t, err := f.arrived(ctx)
	if err != nil {
		return nil, err
	}
	return r, errors.Join(found, f.print(out, r, t))
}

// complete makes the rush one that suits: constant, of as many orders as buyers.
func (c *FactsConfig) complete() error {
	if c.Buyers <= 0 || c.Rate <= 0 {
		return fmt.Errorf("%d buyers at %g a second: facts needs both", c.Buyers, c.Rate)
	}
	c.Shape, c.Returning = "constant", 0
	c.Tickets = max(c.Tickets, (maxPerOrder+1)*c.Types*c.Buyers)
	c.Duration = time.Duration(float64(c.Buyers) / c.Rate * float64(time.Second))
	if c.through() && c.Duration < c.Outage+2*readyTime {
		return fmt.Errorf("%d buyers at %g a second come within %v, which leaves too little around an outage of %v", c.Buyers, c.Rate, c.Duration, c.Outage)
	}
	if !c.through() {
		c.Consumers, c.Freezes = 1, 0
	}
	if c.Consumers < 1 || c.Freezes/2+c.Freezes%2 >= c.Consumers && c.Freezes > 0 {
		return fmt.Errorf("%d consumers, of which up to %d are frozen at once: none would be left to kill", c.Consumers, c.Freezes/2+c.Freezes%2)
	}
	return c.Validate()
}

// through says whether the facts go through Kafka.
func (c *FactsConfig) through() bool { return c.Kafka != "off" }

// factsRun is one run.
type factsRun struct {
	*session
	cfg       *FactsConfig
	node      *Node
	kafka     *broker // nil without Kafka
	log       *slog.Logger
	consumers []*exec.Cmd

	// What the disturbances saw, read when they are over.
	kills, freezes int
	backlog        int64         // when the broker was back
	drained        time.Duration // until the backlog was gone; 0: it never was
}

// letIn lets the buyers in, and the disturbances loose.
func (f *factsRun) letIn(ctx context.Context, r *report.Report, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := f.disturb(ctx); err != nil {
			cancel(err)
		}
	}()
	err := f.measure(ctx, r, f.node.targets(), out, nil)
	if err != nil {
		cancel(err)
	}
	<-over
	return context.Cause(ctx)
}

// tally compares the journal with the effects.
func (f *factsRun) tally(ctx context.Context) (t FactsTally, err error) {
	cmd := f.node.serve.command(ctx, "consume", "--tally")
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

// until looks at the tally until it is as wanted or the time that there is to drain
// has passed.
func (f *factsRun) until(ctx context.Context, wanted func(FactsTally) bool) (t FactsTally, took time.Duration, err error) {
	began := time.Now()
	for {
		t, err = f.tally(ctx)
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

// arrived waits until every fact has its effect, ends the processes in order, and
// compares once more.
func (f *factsRun) arrived(ctx context.Context) (FactsTally, error) {
	if _, _, err := f.until(ctx, func(t FactsTally) bool { return t.Lost == 0 && t.Untold == 0 }); err != nil {
		return FactsTally{}, err
	}
	if err := f.stopConsumers(); err != nil {
		return FactsTally{}, err
	}
	return f.tally(ctx)
}

// print prints the table. The error says how many of its lines are not as they
// must be.
func (f *factsRun) print(out io.Writer, r *report.Report, t FactsTally) error {
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
	zero := func(name string, n int64) { row(name, n, "0", n == 0) }
	placed := f.count.Placed.Load()
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
		return fmt.Errorf("%w: %d lines are not as they must be", ErrFindings, wrong)
	}
	return nil
}

// printOutage adds what the broker's absence did to buyers, and how long its
// backlog took.
func (f *factsRun) printOutage(row func(name string, value any, must string, ok bool), r *report.Report) {
	at := make(map[string]openloop.Percentiles)
	for _, op := range r.Operations {
		at[op.Op] = op.Corrected
	}
	before, away := at[factsOps[opPlace]], at[factsOps[opPlaceAway]]
	most := max(2*before.P99, float64(f.cfg.SLO.Milliseconds()))
	for _, op := range []openloop.Op{opPlace, opPlaceAway, opPlaceBack} {
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
