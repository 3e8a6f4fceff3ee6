// Package loadtest rushes a service with buyers, as at the opening of a sale,
// and then audits what they were told, all over public HTTP. Onsale runs against
// any node, Crash against one of its own that it kills again and again.
//
// A rush owns the buyers (state machines on an open arrival process, see package
// openloop), the append-only log of what was acknowledged to them, and the audit
// that asks the service about every line of it. cmd/boxoffice calls Onsale and
// Crash; both return when every goroutine and process that they started has
// ended. Sending load to anything but loopback is refused unless asked for.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/procstat"
	"boxoffice/loadtest/report"
)

// ErrFindings is returned, with the report, when the audit found something.
var ErrFindings = errors.New("the audit found something")

// Onsale runs the opening of a sale against a service and audits it. Progress
// and the report's tables go to out, the report's files to cfg.Out. The error
// is ErrFindings, or why there is no report.
func Onsale(ctx context.Context, cfg OnsaleConfig, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("onsale: %w", err)
	}
	targets := []procstat.Target{
		{Name: "server", PID: procstat.Fixed(cfg.ServerPID)},
		{Name: "postgres", PID: procstat.Fixed(cfg.PostgresPID), Tree: true},
	}
	if cfg.Target == "" {
		node, stop, err := startNode(ctx, cfg.Out, out, log, cfg.nodeEnv()...)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		cfg.Target, cfg.Paysim = node.URL, node.Paysim
		targets = node.targets()
	}
	svc, err := client.ParseTarget(cfg.Target)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, cfg.RushConfig, svc, cfg.Remote, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	r := s.newReport("On-sale rush", cfg.Target, cfg)
	if err := s.measure(ctx, r, targets, out, nil); err != nil {
		return nil, err
	}
	return r, s.conclude(ctx, r, cfg.Paysim, cfg.Out, out, log)
}

// startNode starts a node for one run, in a directory that goes with it. Its
// log stays in dir. Stopping it ends with the audit of its journal. env is of the
// node's environment, KEY=value.
func startNode(ctx context.Context, dir string, out io.Writer, log *slog.Logger, env ...string) (*Node, func() error, error) {
	data, err := os.MkdirTemp("", "boxoffice-loadtest-")
	if err != nil {
		return nil, nil, fmt.Errorf("node: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, "node.log"))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("node: %w", err), os.RemoveAll(data))
	}
	log.InfoContext(ctx, "starting a node", slog.String("data", data), slog.String("log", file.Name()))
	node, err := StartNode(ctx, NodeConfig{Dir: data, Log: file, Env: env})
	if err != nil {
		return nil, nil, errors.Join(err, file.Close(), os.RemoveAll(data))
	}
	return node, func() error {
		return errors.Join(node.Stop(), node.Audit(context.WithoutCancel(ctx), out), file.Close(), os.RemoveAll(data))
	}, nil
}

// session is a rush with what it stands on.
type session struct {
	*rush
	started   time.Time
	organizer *Organizer
	room      *mailroom // nil: no webhooks
	arrivals  time.Time // when the last buyer was in
}

// openSession checks the service's address, makes the client addresses, puts an event on
// sale, with a reserve of free tickets that buyers are not offered, and opens
// the AckLog.
func openSession(
	ctx context.Context, cfg RushConfig, svc client.API, remote bool, reserve int,
) (*session, error) {
	network, err := client.NewNetwork(client.Config{Sources: cfg.Clients, Timeout: cfg.Timeout, Remote: remote})
	if err != nil {
		return nil, err
	}
	if err := network.Check(ctx, svc.Host); err != nil {
		return nil, err
	}
	s := &session{started: time.Now()}
	event, err := s.putOnSale(ctx, svc, network.Source(0), &cfg, reserve)
	var acks *AckLog
	if err == nil {
		acks, err = CreateAckLog(filepath.Join(cfg.Out, "acknowledged.jsonl"))
	}
	if err != nil {
		network.Close()
		return nil, errors.Join(err, s.closeRoom(ctx))
	}
	s.rush = newRush(cfg, svc, network, event, acks)
	return s, nil
}

func (s *session) putOnSale(
	ctx context.Context, svc client.API, from *client.Source, cfg *RushConfig, reserve int,
) (_ *Sale, err error) {
	if s.organizer, err = Register(ctx, svc, from); err != nil {
		return nil, err
	}
	if cfg.Webhooks {
		s.room = openMailroom()
		if err := s.room.open(ctx, s.organizer, healthy); err != nil {
			return nil, err
		}
	}
	types := planTypes(cfg)
	if reserve > 0 {
		types = append(types, SaleType{Name: "Reserve", Quantity: reserve, Free: true, MaxPerOrder: 1, MaxPerCustomer: 1})
	}
	return s.organizer.OpenSale(ctx, types)
}

func (s *session) close(ctx context.Context) error {
	s.net.Close()
	return errors.Join(s.acks.Close(), s.closeRoom(ctx))
}

func (s *session) closeRoom(ctx context.Context) error {
	if s.room == nil {
		return nil
	}
	return s.room.close(ctx)
}

// measure lets the buyers in and fills the report with what was measured. stop,
// when closed, ends the arrivals early.
func (s *session) measure(
	ctx context.Context, r *report.Report, targets []procstat.Target, out io.Writer, stop <-chan struct{},
) error {
	engine := s.cfg.engine()
	engine.Ops = s.ops
	shown := newProgress(out, s.cfg.Plain, s.cfg.Duration, &s.count)
	engine.OnSecond, engine.Stop = shown.tell, stop
	sampler := procstat.Start(append(targets, procstat.Target{Name: "generator", PID: procstat.Fixed(os.Getpid())})...)
	st, err := s.run(ctx, engine)
	usage := sampler.Stop()
	shown.end()
	s.arrivals = time.Now()
	if err != nil {
		return err
	}
	r.Measure(st, engine)
	r.MeasureCPU(usage, s.count.Placed.Load())
	return nil
}

// conclude settles what is in doubt, audits, prints and saves the report.
func (s *session) conclude(
	ctx context.Context, r *report.Report, paysim, dir string, out io.Writer, log *slog.Logger,
) error {
	s.settle(ctx, log)
	if paysim == "" {
		paysim = s.paysimURL()
	}
	var err error
	if r.Audit, err = runAudit(ctx, s.rush, paysim); err != nil {
		return err
	}
	r.Audit.Checks = append(r.Audit.Checks, neverInternal(r))
	if s.room != nil {
		if err := s.auditWebhooks(ctx, r); err != nil {
			return err
		}
	}
	r.Orders = s.outcome()
	fmt.Fprint(out, "\n", r.Text())
	page, err := r.Save(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nreport: %s\n", page)
	if n := r.Audit.Failed(); n > 0 {
		return fmt.Errorf("%w: %d findings", ErrFindings, n)
	}
	return nil
}

// auditWebhooks waits for what is still to be delivered, and adds to the report
// what was.
func (s *session) auditWebhooks(ctx context.Context, r *report.Report) error {
	placed := map[string]bool{}
	for _, e := range s.acks.Entries() {
		if e.What == ackPlaced {
			placed[e.Order] = true
		}
	}
	checks, err := s.room.audit(ctx, map[*Organizer]map[string]bool{s.organizer: placed}, s.cfg.HookPatience)
	if err != nil {
		return err
	}
	r.Audit.Checks = append(r.Audit.Checks, checks...)
	h := s.room.hooks[0]
	events, again := h.arrived()
	r.Deliveries = &report.Deliveries{
		Events: events, Again: again, Delay: delays(s.room.hooks), Behind: max(0, h.latest.Sub(s.arrivals)),
	}
	return nil
}

// neverInternal checks that no answer was a 500: what cannot be done now is a 503
// that says when to come back (docs/rules.md, Errors).
func neverInternal(r *report.Report) report.Check {
	c := report.Check{Name: "no answer is a 500", Checked: r.All.Count}
	for _, e := range r.Errors {
		if e.Status == 500 {
			c.Failed += e.Count
			c.Findings = append(c.Findings, fmt.Sprintf("%s answered 500 %s %d times", e.Op, e.Code, e.Count))
		}
	}
	return c
}

func (s *session) newReport(title, target string, cfg any) *report.Report {
	return &report.Report{
		Title: title, Started: s.started, Target: target, Version: version(), Config: cfg,
		Machine: procstat.ReadMachine(runtime.NumCPU()),
	}
}

// version is the git revision that this program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	return revision + dirty
}
