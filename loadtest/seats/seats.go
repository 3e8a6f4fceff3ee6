// Package seats has the scenarios of one house with numbered seats: Run has shoppers
// contend for the seats while an audience watches, RunViewers measures what an
// audience costs. Both return when every goroutine and process that they started has
// ended.
package seats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// Config is `boxoffice loadtest seats`.
type Config struct {
	Viewers  int           `default:"10000" help:"Viewers of the live map."`
	Shoppers int           `default:"2000" help:"Shoppers who come in all."`
	Sample   string        `default:"arena" enum:"theatre,arena,stadium" help:"The house: ${enum}."`
	Free     int           `default:"7000" help:"Seats that are left to the shoppers when they come; the others are withheld, in pieces."`
	Duration time.Duration `default:"60s" help:"How long shoppers arrive."`
	Think    time.Duration `default:"3s" help:"Mean pause between two steps of a shopper."`
	Best     float64       `default:"0.2" help:"Share of changes that ask for the best seats available."`
	Blind    float64       `default:"0.1" help:"Share of choices made without a look at the map."`
	Leave    float64       `default:"0.25" help:"Share of shoppers who leave their seats held."`
	Abandon  float64       `default:"0.3" help:"Share of orders that are never paid."`
	Cancel   float64       `default:"0.2" help:"Share of orders that the shopper cancels."`
	Hold     int           `default:"60" help:"How long the service holds seats, in seconds."`
	Clients  int           `default:"1000" help:"Client addresses of the shoppers."`
	Timeout  time.Duration `default:"10s" help:"Of one request."`
	Patience time.Duration `default:"30s" help:"How long a shopper repeats one request."`
	Agree    time.Duration `default:"15s" help:"How long, in the audit, map, stock and money may take to agree with the orders."`
	Seed     uint64        `default:"1" help:"Of everything random."`
	SLO      time.Duration `name:"slo" default:"500ms" help:"The p99 that the run is judged by."`
	MaxLag   float64       `default:"0.05" help:"Send-lag p99, as a share of the SLO, above which the run is invalid."`
	Out      string        `default:"loadtest-report" type:"path" help:"Directory of the report."`
	Plain    bool          `env:"CI" help:"Plain lines instead of a progress bar."`
	Target   string        `help:"http://127.0.0.1:port of the service. Without it, a node is started for the run."`
}

// Validate is called by kong, and by the run itself.
func (c *Config) Validate() error {
	if c.Viewers < 1 || c.Shoppers < 1 || c.Duration <= 0 {
		return fmt.Errorf("%d viewers, and %d shoppers within %v: some must come", c.Viewers, c.Shoppers, c.Duration)
	}
	if c.Abandon+c.Cancel > 1 {
		return fmt.Errorf("abandon %g and cancel %g are more than all orders", c.Abandon, c.Cancel)
	}
	return nil
}

// rush is the part of the configuration that shoppers share with other buyers.
func (c *Config) rush() rush.Config {
	return rush.Config{
		Types: len(seatTypes) - 1, Think: c.Think, Abandon: c.Abandon, Cancel: c.Cancel, Timeout: c.Timeout,
		Patience: c.Patience, Agree: c.Agree, Seed: c.Seed,
	}
}

// seatTypes are the ticket types that the house is sold as. The last one is the harness's own:
// shoppers draw their type from the others, so they never ask for its seats.
var seatTypes = []rush.SaleType{
	{Name: "Paid seat", Quantity: 1, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: 1000},
	{Name: "Free seat", Quantity: 1, Free: true, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: 1000},
	{Name: "House seat", Quantity: 1, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: 1000},
}

// seatProbeEvery makes ten updates a second, which gives enough samples of the viewers' delay.
const seatProbeEvery = 100 * time.Millisecond

// seatsRun is one sale of a house: the rush of its shoppers, and the audience that watches. mu
// guards reasons, which shoppers count at the same time.
type seatsRun struct {
	*rush.Rush
	seats    Config
	server   []rig.Target // the service's processes; the first is the node
	paysim   string       // empty: it is where the service sends buyers
	house    *rush.House
	audience *viewers.Audience

	// conflicts counts seats that were asked for and not held; gone counts shoppers who left
	// without an order.
	conflicts, gone atomic.Int64
	mu              sync.Mutex
	reasons         map[string]int64 // how often seats were not held, by reason
}

// countReason counts why a seat was not held.
func (r *seatsRun) countReason(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons[why]++
}

// Run lets shoppers change their minds about the seats of one house, and then buy them, while an
// audience watches, all on a node of its own. Then it audits what shoppers and viewers were told.
// Before the audit it settles requests whose answers never came, and waits until no seat is held: a
// hold that runs out during the audit would look like a difference. The error is rush.ErrFindings
// if the audit found something, or else the reason why there is no report.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *report.Report, failed error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("seats: %w", err)
	}
	// Without a node of its own the run knows no process to measure: the process id 0 stands for
	// that.
	server, paysim := []rig.Target{{Name: "server", PID: rig.FixedPID(0)}}, ""
	if cfg.Target == "" {
		node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, viewersEnv(cfg.Viewers, 2*cfg.Clients)...)
		if err != nil {
			return nil, err
		}
		defer func() { failed = errors.Join(failed, stop()) }()
		cfg.Target, paysim, server = node.URL, node.Paysim, node.Targets()
	}
	r, err := openHouse(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r.server, r.paysim = server, paysim
	defer func() { failed = errors.Join(failed, r.close()) }()
	rep := &report.Report{
		Title: "Seats", Started: time.Now(), Target: cfg.Target, Version: rush.Version(), Config: cfg,
		Machine: rig.ReadMachine(runtime.NumCPU()),
	}
	if err := r.measure(ctx, rep, out); err != nil {
		return nil, err
	}
	r.SettleDoubts(ctx, log)
	if err := r.waitUntilNoneHeld(ctx); err != nil {
		return nil, err
	}
	if rep.Audit, err = r.auditSeats(ctx); err != nil {
		return nil, err
	}
	rep.Audit.Checks = append(rep.Audit.Checks, rush.CheckNoInternalErrors(rep))
	fmt.Fprint(out, "\n", rep.Text())
	page, err := rep.Save(cfg.Out)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "\nreport: %s\n", page)
	if n := rep.Audit.Failed(); n > 0 {
		return rep, fmt.Errorf("%w: %d findings", rush.ErrFindings, n)
	}
	return rep, nil
}

// openHouse puts the house on sale and withholds most of it, so that shoppers contend for few
// seats. The seats are withheld in pieces.
func openHouse(ctx context.Context, cfg Config) (_ *seatsRun, err error) {
	svc, err := client.ParseTarget(cfg.Target)
	if err != nil {
		return nil, err
	}
	network, err := client.NewNetwork(client.Config{Sources: cfg.Clients, Timeout: cfg.Timeout, PerIdle: 1})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			network.Close()
		}
	}()
	organizer, err := rush.Register(ctx, svc, network.Source(0))
	if err != nil {
		return nil, err
	}
	sale, err := organizer.OpenSale(ctx, seatTypes)
	if err != nil {
		return nil, err
	}
	house, err := organizer.SeatBy(ctx, sale, cfg.Sample, cfg.Hold)
	if err != nil {
		return nil, err
	}
	if err := organizer.Withhold(ctx, sale, house, cfg.Free, rand.New(rand.NewPCG(cfg.Seed, 1))); err != nil {
		return nil, err
	}
	acks, err := rush.CreateAckLog(filepath.Join(cfg.Out, "acknowledged.jsonl"))
	if err != nil {
		return nil, err
	}
	return &seatsRun{
		Rush: rush.NewRush(cfg.rush(), svc, network, sale, acks), seats: cfg, house: house, reasons: map[string]int64{},
	}, nil
}

// close ends the audience and the clients, and makes the log of what shoppers were told durable.
func (r *seatsRun) close() error {
	if r.audience != nil {
		r.audience.Close()
	}
	r.Network.Close()
	return r.Acks.Close()
}

// measure lets the viewers and then the shoppers in, and fills the report with what was measured.
// The viewers come first, because their share of the node's memory is only seen while nothing else
// happens.
func (r *seatsRun) measure(ctx context.Context, rep *report.Report, out io.Writer) error {
	audience, perViewer, err := gatherAudience(ctx, r.server[0].PID(), viewers.Config{
		Host: r.API.Host, Path: r.house.LivePath(), Viewers: r.seats.Viewers, Seats: r.house.Seats,
	})
	if err != nil {
		return err
	}
	r.audience = audience
	// The node's counters count from its start, so the report takes the difference of two readings.
	before, err := rig.ReadMetrics(ctx, r.API, r.Network.Source(0))
	if err != nil {
		return err
	}
	beat := startSeatProbe(ctx, r.API, r.Network.Source(0), r.house, r.audience, seatProbeHolder, seatProbeEvery)
	shown := rush.NewProgress(out, r.seats.Plain, r.seats.Duration, &r.Count)
	engine := openloop.Config{
		Ops: shopperOps, SLO: r.seats.SLO, MaxLagShare: r.seats.MaxLag, OnSecond: shown.ShowSecond,
		// After the last arrival a shopper may need this long: twice the pauses of the most
		// changes, and one request that is repeated until its time is over.
		Drain: 2*mostChanges*r.seats.Think + r.seats.Patience + r.seats.Timeout,
	}
	sampler := rig.StartSampler(append(r.server, rig.Target{Name: "generator", PID: rig.FixedPID(os.Getpid())})...)
	r.audience.Begin()
	arrivals := openloop.Constant(float64(r.seats.Shoppers)/r.seats.Duration.Seconds(), r.seats.Duration)
	st, err := openloop.Run(ctx, engine, arrivals, rand.New(rand.NewPCG(r.seats.Seed, 0)), r.newShopper)
	seen, usage := r.audience.End(), sampler.Stop()
	shown.End()
	if err = errors.Join(err, beat.stopProbing(ctx)); err != nil {
		return fmt.Errorf("seats: %w", err)
	}
	after, err := rig.ReadMetrics(ctx, r.API, r.Network.Source(0))
	if err != nil {
		return err
	}
	rep.Measure(st, engine)
	rep.MeasureCPU(usage, r.Count.Placed.Load())
	// These two rows are measured on the viewers' side. They have no send lag, so both columns show
	// the same.
	rep.Operations = append(rep.Operations, openloop.OpStats{
		Op: "change, asked -> seen", Count: seen.Marks, Corrected: openloop.PercentilesOf(seen.Asked), Service: openloop.PercentilesOf(seen.Asked),
	}, openloop.OpStats{
		Op: "granted -> seen", Count: seen.Marks, Corrected: openloop.PercentilesOf(seen.Granted), Service: openloop.PercentilesOf(seen.Granted),
	})
	rep.Orders = append(r.CountOutcomes(), r.countViewing(seen, perViewer, before, after)...)
	return nil
}

// waitUntilNoneHeld waits until the viewers see no seat held, but no longer than the last hold may
// last. Shoppers who left seats held give nothing back, so only time ends those holds.
func (r *seatsRun) waitUntilNoneHeld(ctx context.Context) error {
	// The last hold that any shopper was told of ends last.
	var end time.Time
	for _, e := range r.Acks.Entries() {
		if e.Until.After(end) {
			end = e.Until
		}
	}
	for held := 1; held > 0 && time.Now().Before(end.Add(2*holdGrace)) && ctx.Err() == nil; rig.Wait(ctx, 100*time.Millisecond) {
		r.audience.View(func(m *viewers.Map) { held = len(m.In(viewers.Held)) })
	}
	return context.Cause(ctx)
}

// countViewing returns what the viewers saw, and how often the service refused seats and why, for
// the report.
func (r *seatsRun) countViewing(m *viewers.Measures, perViewer int64, before, after rig.Metrics) []report.Count {
	list := []report.Count{
		{Name: "shoppers who left seats held", Count: r.gone.Load()},
		{Name: "seats asked for and not held", Count: r.conflicts.Load()},
	}
	r.mu.Lock()
	var reasons []string
	for why := range r.reasons {
		reasons = append(reasons, why)
	}
	slices.Sort(reasons)
	for _, why := range reasons {
		list = append(list, report.Count{Name: "of them " + why, Count: r.reasons[why]})
	}
	r.mu.Unlock()
	span := m.Span.Seconds()
	return append(list,
		report.Count{Name: "viewers", Count: int64(r.seats.Viewers)},
		report.Count{Name: "resident bytes of the node per viewer", Count: perViewer},
		report.Count{Name: "updates per second", Count: int64((after["boxoffice_sse_frames_total"] - before["boxoffice_sse_frames_total"]) / span)},
		report.Count{Name: "updates to viewers per second", Count: int64(float64(m.Frames) / span)},
		report.Count{Name: "bytes to viewers per second", Count: int64(float64(m.Bytes) / span)},
		report.Count{Name: "snapshots in the place of updates", Count: m.Jumps},
		report.Count{Name: "of them to viewers who had fallen behind", Count: int64(after["boxoffice_sse_resyncs_total"] - before["boxoffice_sse_resyncs_total"])},
		report.Count{Name: "viewers cut off", Count: int64(after["boxoffice_sse_cut_off_total"] - before["boxoffice_sse_cut_off_total"])},
		report.Count{Name: "snapshots of what viewers knew", Count: m.Again},
		report.Count{Name: "viewers that came back", Count: m.Rejoins},
	)
}
