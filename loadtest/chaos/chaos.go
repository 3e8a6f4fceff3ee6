// Package chaos is the scenario of a cluster that is injured in every way while clients use it: its
// nodes, its Postgres and its network. The answers that the clients got are audited, and the
// package history judges if they could come from a correct service. Run returns when every
// goroutine and process that it started has ended.
package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/history"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config has the flags of `boxoffice loadtest chaos`.
type Config struct {
	Duration   time.Duration `default:"10m" help:"How long the run lasts at least; injuries are spread over it."`
	Nodes      int           `default:"3" help:"Nodes of the cluster; one more comes and goes."`
	Kills      int           `default:"20" help:"Nodes killed with -9: every second comes back at once, the others after a while."`
	Stalls     int           `default:"10" help:"Nodes that stand still (SIGSTOP) and go on."`
	Crashes    int           `default:"5" help:"Times that all of Postgres is killed with -9."`
	Partitions int           `default:"5" help:"One-sided partitions of a node: from those who ask it, from those whom it answers, from Postgres, in turn."`
	Cuts       int           `default:"5" help:"Times that all of a node's connections to Postgres are reset."`
	Joins      int           `default:"2" help:"Times that one more node joins, and leaves."`
	Rolls      int           `default:"2" help:"Rolling restarts of all nodes."`
	Former     string        `help:"boxoffice of another release. Every second node begins with it, and each rolling restart gives each node the other program: nodes of both releases run side by side, and upgrades are made and taken back." type:"existingfile" optional:""`
	Shards     int           `help:"Shards of the journal, each on a Postgres of its own; 0: it is in the nodes' Postgres."`
	Outages    int           `default:"8" help:"Times that one of the shards, if there are any, is away: killed with -9, stalled, cut off, killed with a node beside it, in turn."`
	Shortest   time.Duration `default:"5s" help:"Of stalls and partitions."`
	Longest    time.Duration `default:"30s" help:"Of stalls; of partitions, half of it."`
	Calm       time.Duration `default:"1s" help:"Mean time from one recovery to the next injury, if there is no more of it."`
	Rate       float64       `default:"20" help:"Buyers per second, all over the run."`
	Tickets    int           `default:"60000" help:"Tickets that the buyers are after."`
	Events     int           `default:"12" help:"Events whose recovery is measured."`
	Contests   int           `default:"2" help:"Seats, tickets and stocks contended for at a time, of each."`
	Contest    time.Duration `default:"8s" help:"How long a seat or a stock is contended for."`
	Clients    int           `default:"200" help:"Client addresses."`
	Timeout    time.Duration `default:"3s" help:"Of one request."`
	Hasty      time.Duration `default:"700ms" help:"Of one request of those who contend: the sooner they ask another node, the more a stale one misses."`
	Patience   time.Duration `default:"60s" help:"How long a client repeats one request."`
	Agree      time.Duration `default:"60s" help:"How long, in the audit, stock and money may take to agree with the orders."`
	GiveUp     time.Duration `default:"60s" help:"How long an event may take no writes, and a node not be ready, before that is a finding."`
	Judge      time.Duration `default:"20s" help:"How long porcupine may take for one history."`
	Beat       time.Duration `default:"400ms" help:"Of the nodes' leases."`
	Lease      time.Duration `default:"1500ms" help:"Of the nodes' leases."`
	Seed       uint64        `default:"1" help:"Of the order and the victims of the injuries, and of what clients do."`
	Out        string        `default:"loadtest-report" type:"path" help:"Directory of the report."`
	Plain      bool          `env:"CI" help:"Plain lines instead of a progress bar."`
}

// overrun bounds a run whose injuries take longer than planned, as a multiple of the planned
// duration.
const overrun = 10

// rush returns the configuration of the buyers. They buy during all injuries.
func (c *Config) rush() rush.Config {
	return rush.Config{
		Tickets: c.Tickets, Types: 3, Rate: c.Rate, Shape: "poisson", Duration: overrun * c.Duration, Think: 500 * time.Millisecond,
		Abandon: 0.1, Cancel: 0.1, Duplicate: 0.05, Returning: 0.05, Clients: c.Clients, Timeout: c.Timeout, Patience: c.Patience,
		Agree: c.Agree, Seed: c.Seed, SLO: time.Second, MaxLag: 0.05, Out: c.Out, Plain: c.Plain,
	}
}

// Validate refuses a run that could not work. kong calls it, and so does the run itself.
func (c *Config) Validate() error {
	if c.Nodes < 2 || c.Events < 1 {
		return fmt.Errorf("%d nodes and %d events: there must be another node to take over, and something to measure", c.Nodes, c.Events)
	}
	if c.Shards == 1 || c.Shards < 0 {
		return fmt.Errorf("%d shards: there must be another one, which is spared", c.Shards)
	}
	if c.Shortest > c.Longest || c.Shortest <= 0 {
		return fmt.Errorf("stalls of %v to %v", c.Shortest, c.Longest)
	}
	return nil
}

// chaosRun is one run: a cluster, the clients that use it, and the injurer, which does the injuries
// one after another.
type chaosRun struct {
	*rush.Session
	conf    Config
	log     *slog.Logger
	cluster *rig.Cluster
	// The events whose recovery is measured. Clients also contend for their tickets.
	measured []*rush.Sale
	// The events for whose seats clients contend.
	seatedEvents []*seatedEvent
	// The network of the contending clients, which give up a request sooner than buyers.
	hasty *client.Network
	// All calls, for people who look for the cause of a finding.
	history *callLog
	// The shard of each measured event, by the event's id.
	shardOf map[string]int
	began   time.Time
	// Only the injurer draws from it, so that the order of injuries depends on the seed alone.
	rng *rand.Rand

	mu        sync.Mutex
	histories []*history.History
	// How many tickets of each event were admitted.
	admitted map[*rush.Sale]int
	// Answers that no client should ever get.
	surprising []string
	// Orders that were refused while an earlier try of the same order was still under way.
	lateRefusals []rush.Entry
	// How many of the late refusals turned out to be granted.
	granted      int64
	outages      []report.Outage
	shardOutages []report.ShardOutage
	spared       []hurtOrders // the orders at other shards' events around each outage of a shard alone
	// For how long each event took no writes, by injury.
	recovered map[string][]time.Duration
	// After what time nodes were ready again at the latest, by injury.
	ready map[string]time.Duration
	// For how long each event paused, by planned move.
	pauses map[string][]time.Duration
	moves  moveCounts
	// How many calls were answered 503.
	told503 atomic.Int64
	// A node that may be stale; nil if there is none.
	suspect atomic.Pointer[rig.Member]
}

// Run runs clients against a cluster of its own and injures the cluster in every way. It then
// audits the answers that the clients got. The error is rush.ErrFindings, or the reason why there
// is no report.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("chaos: %w", err)
	}
	// The deferred calls run in the opposite order: the clients end first, then the cluster, and at last its
	// directory. The logs are copied before it goes.
	dir, err := os.MkdirTemp("", "boxoffice-chaos-")
	if err != nil {
		return nil, fmt.Errorf("chaos: %w", err)
	}
	defer func() { err = errors.Join(err, keepLogs(dir, cfg.Out), os.RemoveAll(dir)) }()
	log.InfoContext(ctx, "starting a cluster", slog.String("data", dir), slog.Int("nodes", cfg.Nodes))
	cl, err := rig.StartCluster(ctx, rig.ClusterConfig{Former: cfg.Former, Dir: dir, Nodes: cfg.Nodes, Spares: 1, Shards: cfg.Shards, Wires: true, Log: log, Env: []string{
		fmt.Sprint("BOXOFFICE_BEAT=", cfg.Beat), fmt.Sprint("BOXOFFICE_LEASE=", cfg.Lease),
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cl.Stop(), cl.Close()) }()
	c, err := openChaos(ctx, cfg, cl, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx)), c.history.close()) }()
	r := c.NewReport("Chaos", cl.URL, cfg)
	defer c.hasty.Close()
	if err := c.run(ctx, r, out); err != nil {
		return nil, err
	}
	return r, c.conclude(ctx, r, out)
}

// keepLogs copies the logs of the processes into the folder of the report, because the cluster's
// own folder is deleted.
func keepLogs(from, to string) error {
	logs, err := filepath.Glob(filepath.Join(from, "*.log"))
	for _, path := range logs {
		text, rerr := os.ReadFile(path)
		err = errors.Join(err, rerr, os.WriteFile(filepath.Join(to, filepath.Base(path)), text, 0o600))
	}
	return err
}

// openChaos opens the clients and puts everything on sale that they contend for.
func openChaos(ctx context.Context, cfg Config, cl *rig.Cluster, log *slog.Logger) (_ *chaosRun, err error) {
	c := &chaosRun{
		conf: cfg, log: log, cluster: cl, rng: rand.New(rand.NewPCG(cfg.Seed, 1<<63)), admitted: make(map[*rush.Sale]int),
		recovered: make(map[string][]time.Duration), ready: make(map[string]time.Duration), pauses: make(map[string][]time.Duration),
	}
	if c.history, err = createCallLog(filepath.Join(cfg.Out, "history.jsonl"), cl); err != nil {
		return nil, err
	}
	// The clients do not go through the balancer: they choose the nodes themselves, so that they can ask nodes that
	// no balancer would.
	svc, err := client.ParseTarget(cl.URL)
	if err == nil {
		svc.Pick, svc.Told = c.anyNode, c.noteCall
		c.Session, err = rush.OpenSession(ctx, cfg.rush(), svc, false, 0)
	}
	if err != nil {
		return nil, errors.Join(err, c.history.close())
	}
	c.hasty, err = client.NewNetwork(client.Config{Sources: cfg.Clients, Timeout: cfg.Hasty})
	if err == nil {
		err = c.setUp(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close(context.WithoutCancel(ctx)), c.history.close())
	}
	return c, nil
}

// openingAtOnce is how many events are put on sale at a time. Each takes a third of a second, so a
// thousand one by one would take minutes.
const openingAtOnce = 16

// setUp puts the measured events and the seats on sale while the cluster is still whole.
func (c *chaosRun) setUp(ctx context.Context) error {
	if err := c.Organizer.UseKey(ctx); err != nil {
		return err
	}
	if err := contest.ForAll(openingAtOnce, c.conf.Events, func(int, int) error { return c.openMeasured(ctx) }); err != nil {
		return err
	}
	if c.conf.Shards > 0 {
		if err := c.locateShards(ctx); err != nil {
			return err
		}
	}
	for range c.conf.Contests {
		h, err := c.openSeats(ctx)
		if err != nil {
			return err
		}
		c.seatedEvents = append(c.seatedEvents, h)
	}
	return nil
}

// openMeasured puts an event on sale whose recovery is measured. The audit counts its stock as
// well.
func (c *chaosRun) openMeasured(ctx context.Context) error {
	s, err := c.Organizer.OpenSale(ctx, []rush.SaleType{
		probeType: {Name: "Probe", Quantity: 1_000_000, Free: true, MaxPerOrder: 1, MaxPerCustomer: 1},
		gateType:  {Name: "Gate", Quantity: 1_000_000, Free: true, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerOrder},
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.measured = append(c.measured, s)
	c.AlsoOnSale = append(c.AlsoOnSale, s)
	return nil
}

// These are the indexes of the ticket types that a measured event has from the beginning: one for
// probes and one for contests at the gate.
const (
	probeType = iota
	gateType
)

// blindly is the share of calls that go to any node, even to one that is not ready. suspiciously is
// the share of calls that go to a node that may be stale, if there is one. Such a node would answer
// wrongly in the moments before it hears of the others, so it must be asked then.
const (
	blindly      = 0.1
	suspiciously = 0.5
)

// anyNode returns the node to which a client sends its next call. Mostly it is a ready node, as a
// balancer would choose, but not always.
func (c *chaosRun) anyNode() string {
	members := c.cluster.Members[:c.conf.Nodes]
	if m := c.suspect.Load(); m != nil && rand.Float64() < suspiciously {
		return m.Host()
	}
	if rand.Float64() >= blindly {
		if m := c.cluster.Pick(); m != nil {
			return m.Host()
		}
	}
	return members[rig.RandomBelow(len(members))].Host()
}

// noteCall adds a call to the history. Every client of the run reports its calls here.
func (c *chaosRun) noteCall(t *client.Told) {
	if t.Status == 503 {
		c.told503.Add(1)
	}
	c.history.addCall(t)
}

// run lets clients use the cluster until the injurer has done its work. Contests end with the
// injuries, and buyers with the measurement.
func (c *chaosRun) run(ctx context.Context, r *report.Report, out io.Writer) error {
	c.began = time.Now()
	// The injurer decides when the run is over. finished ends the arrivals of buyers, and rest the contests.
	finished := make(chan struct{})
	injuring, cancel := context.WithTimeout(ctx, overrun*c.conf.Duration)
	defer cancel()
	contending, rest := context.WithCancel(ctx)
	defer rest()
	var all sync.WaitGroup
	all.Go(func() {
		defer close(finished)
		c.injureCluster(injuring)
		rest()
	})
	all.Go(func() { c.runContests(ctx, contending) })
	err := c.Measure(ctx, r, c.cluster.Targets(), out, finished)
	cancel()
	rest()
	all.Wait()
	// Probes that are still under way may make orders, which the audit must find in the log.
	c.Probing.Wait()
	return errors.Join(err, context.Cause(ctx))
}

// callLog is a file with all calls, one JSON object on a line. It may be written by any goroutine.
type callLog struct {
	// The name of each node, by its address.
	names map[string]string
	mu    sync.Mutex
	file  *os.File
	out   *bufio.Writer
	// The first error of writing, which close returns.
	err error
}

// createCallLog opens the file of the history.
func createCallLog(path string, cl *rig.Cluster) (*callLog, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	p := &callLog{names: make(map[string]string), file: f, out: bufio.NewWriterSize(f, 1<<20)}
	for _, m := range cl.Members {
		p.names[m.Host()] = m.Name
	}
	return p, nil
}

// addCall writes one call: its client, the node, the request, the time, the duration and the answer.
func (p *callLog) addCall(t *client.Told) {
	// The names of the fields are short, because every call of the run is a line of the file.
	line, err := json.Marshal(struct {
		At     time.Time `json:"at"`
		Micros int64     `json:"us"`
		From   string    `json:"from"`
		Node   string    `json:"node"`
		Call   string    `json:"call"`
		Key    string    `json:"key,omitempty"`
		Status int       `json:"status"`
		Code   string    `json:"code,omitempty"`
	}{t.At, t.Within.Microseconds(), t.From.String(), p.names[t.Host], t.Method + " " + t.Path, t.Key, t.Status, t.Code})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		_, err = p.out.Write(append(line, '\n'))
	}
	if p.err == nil {
		p.err = err
	}
}

// close writes what is still in the buffer, closes the file, and returns the first error of writing.
func (p *callLog) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := errors.Join(p.err, p.out.Flush(), p.file.Close()); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}
