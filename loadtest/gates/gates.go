// Package gates is the scenario of an evening at many gates, whose devices lose their network and
// have wrong clocks, and where some people with a code have no right to come in. Run returns when
// every goroutine and process that it started has ended.
package gates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest gates`.
type Config struct {
	Devices  int           `default:"100" help:"Devices, ten at a gate."`
	Holders  int           `default:"20000" help:"Tickets, and as many people who show them once or more."`
	Duration time.Duration `default:"6m" help:"How long people come."`
	Away     time.Duration `default:"2m" help:"How long each third device is offline, at a time of its own."`
	Skew     time.Duration `default:"3m" help:"The most that a device's clock is wrong."`
	Copied   float64       `default:"0.03" help:"Share of tickets that somebody else shows too, at another device."`
	Refunded float64       `default:"0.02" help:"Share of tickets that are refunded before they are shown."`
	Passed   float64       `default:"0.02" help:"Share of tickets that are passed on, and shown by both."`
	Strolls  float64       `default:"0.1" help:"Share of tickets whose holders go out and come in again, once or twice, each time at any device."`
	Wrong    float64       `default:"0.03" help:"People with codes of no ticket, as a share of the holders."`
	Every    time.Duration `default:"3s" help:"How often a device syncs."`
	Patience time.Duration `default:"1500ms" help:"How long a device waits for the service."`
	Agree    time.Duration `default:"60s" help:"How long, in the audit, devices and the feed of facts may take to have told everything."`
	Seed     uint64        `default:"1" help:"Of everything random."`
	Out      string        `default:"loadtest-report" type:"path" help:"Directory of the result, the devices' files and the node's log."`
	Target   string        `help:"http://127.0.0.1:port of the service. Without it, a node is started for the run, and killed with -9 in the middle of it."`
}

// Validate is called by kong, and by the run itself.
func (c *Config) Validate() error {
	switch {
	case c.Devices < 3 || c.Holders < 1:
		return fmt.Errorf("%d holders at %d devices: at least three devices, of which one is offline", c.Holders, c.Devices)
	case c.Away > c.Duration*8/10:
		return fmt.Errorf("%v offline within %v: too long", c.Away, c.Duration)
	case c.Copied+c.Refunded+c.Passed+c.Strolls > 1:
		return errors.New("copied, refunded, passed on and strolling are more than all tickets")
	}
	return nil
}

// Result is the outcome of a run.
type Result struct {
	Counts []report.Count
	Checks []report.Check
}

// Run lets people in at the gates of one event. The order of the steps matters: the tickets are
// sold first, then each device gets a manifest with all of them, then the witnesses begin to watch,
// and only then do people come. Run returns an error if the audit finds something.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *Result, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("gates: %w", err)
	}
	e := &evening{
		cfg: cfg, random: rand.New(rand.NewPCG(cfg.Seed, 0)), //nolint:gosec // not for secrets
		online: hdrhistogram.New(1, 60_000_000, 3), alone: hdrhistogram.New(1, 60_000_000, 3),
	}
	if cfg.Target == "" {
		// Every device has connections of its own, from one address, so the node's limits must
		// allow them all.
		connections := fmt.Sprint(4*cfg.Devices + 100)
		node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, rush.PrivateWebhooks, "BOXOFFICE_DEMO=false", "BOXOFFICE_LOG_LEVEL=WARN",
			"BOXOFFICE_MAX_CONNS="+connections, "BOXOFFICE_MAX_CONNS_PER_ADDRESS="+connections)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		e.node, cfg.Target = node, node.URL
	}
	if e.svc, err = client.ParseTarget(cfg.Target); err != nil {
		return nil, err
	}
	if e.net, err = client.NewNetwork(client.Config{Sources: 16, Timeout: 20 * time.Second}); err != nil {
		return nil, err
	}
	defer e.net.Close()
	if err := e.sell(ctx); err != nil {
		return nil, err
	}
	if err := e.openGates(ctx, cfg.Target); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.closeGates()) }()
	witnesses, err := e.callWitnesses(ctx, cfg.Target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, witnesses.close(ctx)) }()
	e.plan()
	if err := e.letIn(ctx, log); err != nil {
		return nil, err
	}
	r := &Result{}
	if r.Checks, err = e.audit(ctx, witnesses); err != nil {
		return nil, err
	}
	r.Counts = e.counts()
	return r, e.print(out, r)
}

// counts returns what happened, as counts.
func (e *evening) counts() []report.Count {
	all := []report.Count{
		{Name: "tickets", Count: int64(len(e.holders))},
		{Name: "devices", Count: int64(len(e.devices))},
		{Name: "codes shown", Count: e.shown.Load()},
		{Name: "refunded meanwhile", Count: e.refunded.Load()},
		{Name: "passed on meanwhile", Count: e.passed.Load()},
		{Name: "ways of those who went out and came in again", Count: e.countWays()},
		// A device counts what it decided with the service and, of that, what it decided alone.
		{Name: "times a node was killed", Count: e.killed},
	}
	var admitted, alone, denied, deniedAlone, unanswered, wrong int
	for _, d := range e.devices {
		c := d.Counts()
		admitted, alone, denied, deniedAlone = admitted+c.Admitted, alone+c.AdmittedAlone, denied+c.Denied, deniedAlone+c.DeniedAlone
		unanswered, wrong = unanswered+c.Unanswered, wrong+len(d.LetInWrongly())
	}
	return append(all,
		report.Count{Name: "let in", Count: int64(admitted)}, report.Count{Name: "of them offline", Count: int64(alone)},
		report.Count{Name: "of them wrongly, and named", Count: int64(wrong)},
		report.Count{Name: "denied", Count: int64(denied)}, report.Count{Name: "of them offline", Count: int64(deniedAlone)},
		report.Count{Name: "requests whose answer never came", Count: int64(unanswered)},
	)
}

// print prints the measurements and the audit's findings to out and into gates.txt. The list of
// people who were let in wrongly is long, so it goes only into the file.
func (e *evening) print(out io.Writer, r *Result) error {
	file, err := os.Create(filepath.Join(e.cfg.Out, "gates.txt"))
	if err != nil {
		return fmt.Errorf("gates: %w", err)
	}
	defer func() { _ = file.Close() }() // the terminal has it too
	out = io.MultiWriter(out, file)
	for _, c := range r.Counts {
		fmt.Fprintf(out, "%8d %s\n", c.Count, c.Name)
	}
	for _, h := range []struct {
		name string
		*hdrhistogram.Histogram
	}{{"online", e.online}, {"offline", e.alone}} {
		p := openloop.PercentilesOf(h.Histogram)
		fmt.Fprintf(out, "%d scans %s: ms p50 %.1f p90 %.1f p99 %.1f max %.1f\n", h.TotalCount(), h.name, p.P50, p.P90, p.P99, p.Max)
	}
	for _, d := range e.devices {
		for _, w := range d.LetInWrongly() {
			if _, err := fmt.Fprintf(file, "LET IN WRONGLY by %s: %s at %s: %s, first at %q %s\n",
				d.name, w.Scan.Code, w.Scan.At.Format(time.TimeOnly), w.Told.Status, w.Told.FirstGate, w.Told.FirstAt.Format(time.TimeOnly)); err != nil {
				return fmt.Errorf("gates: %w", err)
			}
		}
	}
	return rush.PrintChecks(out, r.Checks)
}
