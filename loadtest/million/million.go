// Package million is the scenario of a million requests of buyers after the areas of a few events, of
// which nearly all come too late. Run returns when every goroutine and process that it started has ended.
package million

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

// Config is `boxoffice loadtest million`.
type Config struct {
	Requests    int     `default:"1000000" help:"Orders, for one ticket each."`
	Events      int     `default:"5" help:"Events on sale."`
	Areas       int     `default:"400" help:"Areas of all events together, each a ticket type of general admission."`
	Share       float64 `default:"0.07" help:"Tickets, as a share of the orders."`
	Rate        float64 `default:"5000" help:"Orders a second."`
	Connections int     `default:"4096" help:"Connections of the buyers, each for one order at a time. All are open before the first order."`
	Seed        uint64  `default:"1" help:"Of the areas that buyers choose."`
	Out         string  `default:"loadtest-report" type:"path" help:"Directory of the result and of the node's log."`
}

// orderTime is how long an order that is not paid keeps its ticket. The run and its audit end before the
// first order does.
const orderTime = 15 * time.Minute

// Validate is called by kong when the flags are read.
func (c *Config) Validate() error {
	switch {
	case c.Events < 1 || c.Areas < c.Events || c.Areas > typesOfEvent*c.Events:
		return fmt.Errorf("an event has 1 to %d areas", typesOfEvent)
	case c.Requests < c.Areas || c.Share <= 0 || c.Rate <= 0:
		return errors.New("every area needs a request, and stock and rate are above 0")
	case float64(c.Requests)/c.Rate > (orderTime / 2).Seconds():
		return fmt.Errorf("the orders would come for more than %v, and the first run out of time", orderTime/2)
	}
	return nil
}

// typesOfEvent is how many ticket types an event may have.
const typesOfEvent = 200

// sources is the number of client addresses. The service bounds the connections of one address, so the buyers come
// from many.
const sources = 256

// perSource returns how many connections a client address has.
func (c *Config) perSource() int { return max(1, c.Connections/sources) }

// stock returns how many tickets each area has.
func (c *Config) stock() int { return max(1, int(c.Share*float64(c.Requests))/c.Areas) }

// latencyGoal is for the p99 of all answers, in milliseconds from when the orders were due. The run prints it; it
// does not fail by it.
const latencyGoal = 100

// Outcome is what a run has come to.
type Outcome struct {
	Stats *openloop.Stats
	CPU   rig.Usage

	Stock   int // how many tickets each area has
	Areas   []area
	Orders  []placed
	Answers int64
	Odd     []string // answers that are neither an order nor a refusal because the area is sold out; the first of them
	Odds    int64    // how many such answers there were
}

// area is a ticket type with the outcome of the orders for it.
type area struct {
	ticketType string
	sale       int // the index of its event
	asked      int // how many orders were answered
	accepted   int
	taken      int // how many tickets its stock lacks afterwards
}

// placed is an accepted order.
type placed struct {
	rush.Order
	area  int
	wrong string // about how the node shows it afterwards
}

// Run sends the orders to a node of its own.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *contest.Result, err error) {
	single, stop, err := contest.OpenSingle(ctx, cfg.Out, client.Config{
		Sources: sources, Timeout: 15 * time.Second, IdleFor: time.Minute, PerIdle: cfg.perSource(),
	}, out, log, "BOXOFFICE_LOG_LEVEL=WARN")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s := &scene{Single: single, cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0)), out: &Outcome{Stock: cfg.stock()}}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"opening the sales", s.openSales}, {"the orders", s.sendOrders}, {"reading what was accepted", s.readBack}} {
		log.InfoContext(ctx, "part of the run", slog.String("part", part.name))
		if err := part.run(ctx); err != nil {
			return nil, fmt.Errorf("million: %s: %w", part.name, err)
		}
	}
	r := &contest.Result{Notes: s.out.describeFigures(), Checks: Audit(s.out)}
	return r, r.Print(out, cfg.Out, "million")
}

// sendOrders sends the orders at the rate, whether or not earlier ones were answered. Each is for an area drawn at
// random. The connections are open before the first order, so that no latency contains the opening of one.
func (s *scene) sendOrders(ctx context.Context) error {
	if err := s.OpenConnections(ctx, s.cfg.perSource()); err != nil {
		return err
	}
	whole := time.Duration(float64(s.cfg.Requests) / s.cfg.Rate * float64(time.Second))
	schedule := openloop.Poisson(s.cfg.Rate, 2*whole) // ends with the last request
	// A Poisson schedule of the exact length would come out some orders short or long. Twice the time is enough for
	// all requests, and the limit ends it.
	schedule.Limit = s.cfg.Requests
	sampler := rig.StartSampler(append(s.Node.Targets(), rig.Target{Name: "clients", PID: rig.FixedPID(os.Getpid())})...)
	var err error
	s.out.Stats, err = openloop.Run(ctx, openloop.Config{
		Ops: []string{"accepted", "sold out", "odd"}, MaxInFlight: sources * s.cfg.perSource(), MaxWaiting: s.cfg.Requests, Drain: 30 * time.Second,
	}, schedule, s.rng, func(n int) openloop.Actor { return &buyer{s, n, s.rng.IntN(len(s.out.Areas))} })
	s.out.CPU = sampler.Stop()
	return err
}

// describeFigures tells what was measured, in a table and in sentences.
func (o *Outcome) describeFigures() string {
	out, st := new(strings.Builder), o.Stats
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tanswers\tp50 ms\tp99\tmax\t")
	for _, op := range append(st.Ops, st.All) {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.1f\t\n", op.Op, op.Count, op.Corrected.P50, op.Corrected.P99, op.Corrected.Max)
	}
	fmt.Fprintf(w, "all, from when they were sent\t%d\t%.1f\t%.1f\t%.1f\t\n", st.All.Count, st.All.Service.P50, st.All.Service.P99, st.All.Service.Max)
	fmt.Fprintf(w, "lateness of the clients\t\t%.1f\t%.1f\t%.1f\t\n", st.Lag.P50, st.Lag.P99, st.Lag.Max)
	_ = w.Flush() // a builder takes everything
	// The drain may have seconds without any answer. They would lower the rate of answers although nothing was due
	// then.
	seconds := 0
	for _, second := range st.Seconds {
		if second.Done > 0 {
			seconds++
		}
	}
	fmt.Fprintf(out, "%d areas of %d tickets; %.1f%% of the orders accepted, %.0f answers a second\n",
		len(o.Areas), o.Stock, 100*float64(len(o.Orders))/float64(max(1, o.Answers)), float64(o.Answers)/float64(max(1, seconds)))
	fmt.Fprintf(out, "p99 of all answers %.1f ms from when the orders were due (goal: %d)\n", st.All.Corrected.P99, latencyGoal)
	fmt.Fprint(out, "CPU seconds:")
	for i, name := range o.CPU.Names {
		fmt.Fprintf(out, " %s %.1f", name, o.CPU.Total[i].Seconds())
	}
	fmt.Fprintf(out, ", others %.1f cores\n", o.CPU.Others)
	return out.String()
}

// Audit judges what a run has come to. Times and rates are told and not judged: they depend on the machine. The
// first check compares three things that must agree for each area: the accepted orders, the tickets that its stock
// lacks, and what demand and stock allow.
func Audit(o *Outcome) []report.Check {
	sold := report.Check{Name: "every area has sold its stock, or every ticket that was asked for"}
	for _, a := range o.Areas {
		sold.Checked++
		if want := min(o.Stock, a.asked); a.accepted != want || a.taken != want {
			sold.Found("area %s: %d orders, %d accepted, %d of %d tickets gone", a.ticketType, a.asked, a.accepted, a.taken, o.Stock)
		}
	}
	once := report.Check{Name: "every accepted order is there once, with its ticket"}
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
	answered := report.Check{Name: "every order was accepted, or refused because its area is sold out", Checked: o.Answers, Failed: o.Odds, Findings: o.Odd}
	if unsent := o.Stats.Unsent + o.Stats.Dropped; unsent > 0 {
		answered.Found("%d orders were not sent", unsent)
	}
	return []report.Check{sold, once, answered}
}
