package rush

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
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
)

// Session is a rush together with its organizer, its network and its log.
type Session struct {
	*Rush
	started     time.Time
	Organizer   *Organizer
	receiver    *Receiver // nil: the run has no webhooks
	lastArrival time.Time // when the last buyer had come
}

// OpenSession prepares a run. It checks that the service may be loaded, makes the client addresses,
// puts an event on sale and opens the AckLog. The event also has a reserve of free tickets that
// buyers are not offered, for probes.
func OpenSession(
	ctx context.Context, cfg Config, svc client.API, remote bool, reserve int,
) (*Session, error) {
	network, err := client.NewNetwork(client.Config{Sources: cfg.Clients, Timeout: cfg.Timeout, Remote: remote})
	if err != nil {
		return nil, err
	}
	if err := network.Check(ctx, svc.Host); err != nil {
		return nil, err
	}
	// Everything that is opened below has to be closed again if a later step fails.
	s := &Session{started: time.Now()}
	event, err := s.putOnSale(ctx, svc, network.Source(0), &cfg, reserve)
	var acks *AckLog
	if err == nil {
		acks, err = CreateAckLog(filepath.Join(cfg.Out, "acknowledged.jsonl"))
	}
	if err != nil {
		network.Close()
		return nil, errors.Join(err, s.closeReceiver(ctx))
	}
	s.Rush = NewRush(cfg, svc, network, event, acks)
	return s, nil
}

// putOnSale registers an organizer and puts an event on sale. It subscribes to webhooks first, so
// that no fact about a sale is missed.
func (s *Session) putOnSale(
	ctx context.Context, svc client.API, from *client.Source, cfg *Config, reserve int,
) (_ *Sale, err error) {
	if s.Organizer, err = Register(ctx, svc, from); err != nil {
		return nil, err
	}
	if cfg.Webhooks {
		s.receiver = StartReceiver()
		if err := s.receiver.AddEndpoint(ctx, s.Organizer, Healthy); err != nil {
			return nil, err
		}
	}
	types := planTypes(cfg)
	if reserve > 0 {
		types = append(types, SaleType{Name: "Reserve", Quantity: reserve, Free: true, MaxPerOrder: 1, MaxPerCustomer: 1})
	}
	return s.Organizer.OpenSale(ctx, types)
}

// Close ends the clients and the receiver of webhooks, and makes the log durable.
func (s *Session) Close(ctx context.Context) error {
	s.Network.Close()
	return errors.Join(s.Acks.Close(), s.closeReceiver(ctx))
}

// closeReceiver ends the receiver of webhooks, if there is one.
func (s *Session) closeReceiver(ctx context.Context) error {
	if s.receiver == nil {
		return nil
	}
	return s.receiver.Close(ctx)
}

// Measure lets the buyers in and fills the report with what was measured. Closing stop ends the
// arrivals early.
func (s *Session) Measure(
	ctx context.Context, r *report.Report, targets []rig.Target, out io.Writer, stop <-chan struct{},
) error {
	engine := s.Config.engine()
	engine.Ops = s.Ops
	shown := NewProgress(out, s.Config.Plain, s.Config.Duration, &s.Count)
	engine.OnSecond, engine.Stop = shown.ShowSecond, stop
	sampler := rig.StartSampler(append(targets, rig.Target{Name: "generator", PID: rig.FixedPID(os.Getpid())})...)
	st, err := s.letBuyersIn(ctx, engine)
	usage := sampler.Stop()
	shown.End()
	s.lastArrival = time.Now()
	if err != nil {
		return err
	}
	r.Measure(st, engine)
	r.MeasureCPU(usage, s.Count.Placed.Load())
	return nil
}

// Conclude settles the doubtful requests, audits, and prints and saves the report. It returns
// ErrFindings if the audit found a fault.
func (s *Session) Conclude(
	ctx context.Context, r *report.Report, paysim, dir string, out io.Writer, log *slog.Logger,
) error {
	s.SettleDoubts(ctx, log)
	// A target that the harness has not started tells by its checkout pages where its simulator is.
	if paysim == "" {
		paysim = s.PaysimSeen()
	}
	var err error
	if r.Audit, err = RunAudit(ctx, s.Rush, paysim); err != nil {
		return err
	}
	r.Audit.Checks = append(r.Audit.Checks, CheckNoInternalErrors(r))
	if s.receiver != nil {
		if err := s.auditWebhooks(ctx, r); err != nil {
			return err
		}
	}
	r.Orders = s.CountOutcomes()
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

// auditWebhooks waits for webhooks that are still under way, and adds to the report what was
// delivered.
func (s *Session) auditWebhooks(ctx context.Context, r *report.Report) error {
	placed := map[string]bool{}
	for _, e := range s.Acks.Entries() {
		if e.What == AckPlaced {
			placed[e.Order] = true
		}
	}
	checks, err := s.receiver.AuditDeliveries(ctx, map[*Organizer]map[string]bool{s.Organizer: placed}, s.Config.HookPatience)
	if err != nil {
		return err
	}
	r.Audit.Checks = append(r.Audit.Checks, checks...)
	// A session has one endpoint, which hears of everything.
	h := s.receiver.endpoints[0]
	events, again := h.CountArrived()
	r.Deliveries = &report.Deliveries{
		Events: events, Again: again, Delay: DeliveryDelays(s.receiver.endpoints), Behind: max(0, h.latest.Sub(s.lastArrival)),
	}
	return nil
}

// CheckNoInternalErrors checks that no answer was a 500. A request that cannot be carried out now
// must be answered 503 with the time to come back (docs/rules.md, Errors).
func CheckNoInternalErrors(r *report.Report) report.Check {
	c := report.Check{Name: "no answer is a 500", Checked: r.All.Count}
	for _, e := range r.Errors {
		if e.Status == 500 {
			c.Failed += e.Count
			c.Findings = append(c.Findings, fmt.Sprintf("%s answered 500 %s %d times", e.Op, e.Code, e.Count))
		}
	}
	return c
}

// NewReport begins the report of a run. The configuration cfg is shown in it.
func (s *Session) NewReport(title, target string, cfg any) *report.Report {
	return &report.Report{
		Title: title, Started: s.started, Target: target, Version: Version(), Config: cfg,
		Machine: rig.ReadMachine(runtime.NumCPU()),
	}
}

// Version returns the git revision from which this program was built, with a mark if there were
// changes.
func Version() string {
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
