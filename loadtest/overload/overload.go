// Package overload is the scenario of orders at a multiple of the rate that a node takes. Nothing
// in front of the node holds the orders back, so the node itself must refuse what it can't do. Run
// returns when every goroutine and process that it started has ended.
package overload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest overload`.
type Config struct {
	Times       float64       `default:"3" help:"How many orders come, as a multiple of those that the node takes in a second."`
	Clients     int           `default:"128" help:"Clients that order one after the other, while the peak is measured."`
	Phase       time.Duration `default:"10s" help:"How long the peak is measured, and how long the overload goes on."`
	Connections int           `default:"12288" help:"Connections of the overload, each for one order at a time. All are open before it begins."`
	Out         string        `default:"loadtest-report" type:"path" help:"Directory of the result and of the node's log."`
}

// Outcome is what a run has measured, and what it has read back.
type Outcome struct {
	// The orders a second of clients that wait for each answer before they order again.
	Peak        float64
	PeakLatency openloop.Percentiles

	Offered  float64 // orders a second that were sent in the overload
	Goodput  float64 // orders a second that were accepted in it
	Accepted openloop.OpStats
	Refused  openloop.OpStats
	Lag      openloop.Percentiles // how late the clients sent
	Unsent   int64                // orders that the clients could not send, for want of a connection
	Unknown  int                  // orders whose answer left open whether they were placed; they were sent again
	CPU      rig.Usage            // what the processes used in the overload

	Orders []placed // the accepted orders, as the node shows them afterwards
	// The number of tickets that the stock lacks afterwards.
	Taken   int64
	Refuses []refusal // all refusals
	Answers int64     // how many orders were answered
	Odd     []string  // answers that are neither an order nor a refusal for now
}

// The goals of the run (README, "Rush it").
const (
	goodputGoal = 0.8 // the share of the peak that must still be accepted
	refusalGoal = 50  // the p99 of refusals, in milliseconds
)

// warmUp is how long orders come before the peak is measured. The first orders meet a node whose
// memory and connections are new.
const warmUp = 2 * time.Second

// stock is more than any machine sells in a run, so no order is refused because tickets are gone.
const stock = 1_000_000

// sources is the number of client addresses. The connections are shared out among them.
const sources = 256

// Run measures what a node of its own takes, sends it a multiple of that, and checks afterwards
// what the node has promised. Figures are only reported; a wrong answer is a finding.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *contest.Result, err error) {
	single, stop, err := contest.OpenSingle(ctx, cfg.Out, client.Config{
		Sources: sources, Timeout: 15 * time.Second, IdleFor: time.Minute, PerIdle: cfg.perSource(),
	}, out, log, "BOXOFFICE_LOG_LEVEL=WARN")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s := &scene{Single: single, cfg: cfg, out: &Outcome{}}
	if err := s.runParts(ctx, log); err != nil {
		return nil, err
	}
	r := &contest.Result{Notes: s.out.describeFigures(), Checks: Audit(s.out)}
	return r, r.Print(out, cfg.Out, "overload")
}

// perSource returns how many connections a client address has.
func (c *Config) perSource() int { return max(1, c.Connections/sources) }

// scene is what the parts of a run share.
type scene struct {
	*contest.Single
	cfg   Config
	sale  *rush.Sale
	crowd *crowd
	out   *Outcome
}

// runParts runs the peak and the overload one after the other, each with a sale of its own, so that
// the stock of the second shows only its own orders.
func (s *scene) runParts(ctx context.Context, log *slog.Logger) error {
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"the peak", s.measurePeak}, {"the overload", s.sendOverload}} {
		log.InfoContext(ctx, "part of the run", slog.String("part", part.name))
		var err error
		if s.sale, err = s.Organizer.OpenSale(ctx, []rush.SaleType{{Name: "Floor", Quantity: stock, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer}}); err != nil {
			return err
		}
		// The part's name stands in the buyers' addresses, so that the second part has other buyers than the first.
		s.crowd = &crowd{scene: s, name: strings.ReplaceAll(part.name, " ", "-")}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("overload: %s: %w", part.name, err)
		}
	}
	log.InfoContext(ctx, "reading what was accepted")
	return s.readBack(ctx)
}

// sendOverload sends the multiple of the peak at a constant rate, whether or not earlier orders
// were answered: people in a rush do not wait for each other.
func (s *scene) sendOverload(ctx context.Context) error {
	// All connections are open before the first order, so the figures do not contain their opening.
	if err := s.OpenConnections(ctx, s.cfg.perSource()); err != nil {
		return err
	}
	rate := s.cfg.Times * s.out.Peak
	// The room for all answers is made at once, so that no growth of the list disturbs the clients.
	s.crowd.answers = make([]answer, 0, int(rate*s.cfg.Phase.Seconds()))
	sampler := rig.StartSampler(append(s.Node.Targets(), rig.Target{Name: "clients", PID: rig.FixedPID(os.Getpid())})...)
	s.crowd.began = time.Now()
	st, err := openloop.Run(ctx, openloop.Config{
		Ops: []string{"accepted", "refused", "odd"}, MaxInFlight: sources * s.cfg.perSource(), Drain: 15 * time.Second,
	}, openloop.Constant(rate, s.cfg.Phase), rand.New(rand.NewPCG(1, 0)), func(n int) openloop.Actor { return &buyer{s.crowd, n} })
	s.out.CPU = sampler.Stop()
	if err != nil {
		return err
	}
	s.out.takeStats(st)
	// An order that was accepted after the end has met a node that nobody floods any more, so it is
	// not goodput.
	for i := range s.crowd.answers {
		if a := &s.crowd.answers[i]; a.op == opAccepted && a.after <= s.cfg.Phase {
			s.out.Goodput += 1 / s.cfg.Phase.Seconds()
		}
	}
	return nil
}

// takeStats takes the figures of the clients. An order that the clients dropped was not sent
// either.
func (o *Outcome) takeStats(st *openloop.Stats) {
	for _, op := range st.Ops {
		switch op.Op {
		case "accepted":
			o.Accepted = op
		case "refused":
			o.Refused = op
		}
	}
	o.Offered = float64(st.Offered) / st.Window.Seconds()
	o.Lag, o.Unsent = st.Lag, st.Unsent+st.Dropped
}

// describeFigures describes what was measured, in a table and in sentences.
func (o *Outcome) describeFigures() string {
	out := new(strings.Builder)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\ta second\tp50 ms\tp99\tmax\t")
	row := func(name string, rate float64, p openloop.Percentiles) {
		fmt.Fprintf(w, "%s\t%.0f\t%.1f\t%.1f\t%.1f\t\n", name, rate, p.P50, p.P99, p.Max)
	}
	// The rate of refusals is their share of all orders, because refusals are not counted by the second.
	refused := o.Offered * float64(o.Refused.Count) / float64(max(1, o.Answers+o.Unsent))
	row("clients one after the other", o.Peak, o.PeakLatency)
	row("accepted, from when it was sent", o.Goodput, o.Accepted.Service)
	row("accepted, from when it was due", o.Goodput, o.Accepted.Corrected)
	row("refused, from when it was sent", refused, o.Refused.Service)
	row("refused, from when it was due", refused, o.Refused.Corrected)
	row("lateness of the clients", o.Offered, o.Lag)
	_ = w.Flush() // a builder takes everything
	fmt.Fprintf(out, "%.0f orders/s offered, %.1f times the peak; %d accepted, %d refused, %d of them without saying whether the order was placed, %d not sent for want of a connection\n",
		o.Offered, o.Offered/o.Peak, o.Accepted.Count, o.Refused.Count, o.Unknown, o.Unsent)
	fmt.Fprintf(out, "goodput %.1f%% of the peak (goal: %.0f%%)\n", 100*o.Goodput/o.Peak, 100*goodputGoal)
	fmt.Fprintf(out, "refusals p99 %.1f ms from when they were sent, %.1f ms from when they were due (goal: %d)\n",
		o.Refused.Service.P99, o.Refused.Corrected.P99, refusalGoal)
	fmt.Fprint(out, "CPU seconds:")
	for i, name := range o.CPU.Names {
		fmt.Fprintf(out, " %s %.1f", name, o.CPU.Total[i].Seconds())
	}
	fmt.Fprintf(out, ", others %.1f cores\n", o.CPU.Others)
	return out.String()
}

// Audit judges the answers of a run. It reports times and rates but does not judge them, because
// they depend on the machine.
func Audit(o *Outcome) []report.Check {
	once := report.Check{Name: "every accepted order is there once, as it was answered"}
	seen := map[string]bool{}
	for _, p := range o.Orders {
		once.Checked++
		switch {
		case seen[p.ID]:
			once.Found("order %s was the answer to two orders", p.ID)
		case p.wrong != "":
			once.Found("order %s: %s", p.ID, p.wrong)
		}
		seen[p.ID] = true
	}
	stock := report.Check{Name: "the stock lacks the accepted tickets and no others", Checked: o.Taken}
	if o.Taken != int64(len(seen)) {
		stock.Found("%d tickets are gone, %d orders were accepted", o.Taken, len(seen))
	}
	answered := report.Check{Name: "every order was accepted, or refused with a time to come back, in the envelope", Checked: o.Answers}
	for i := range o.Refuses {
		if why := o.Refuses[i].findFault(); why != "" {
			answered.Found("a refusal with status %d: %s", o.Refuses[i].status, why)
		}
	}
	for _, odd := range o.Odd {
		answered.Found("an order was answered %s", odd)
	}
	return []report.Check{once, stock, answered}
}
