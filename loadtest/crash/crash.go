// Package crash is the scenario of a sale whose node and Postgres are killed again and again. Run
// returns when every goroutine and process that it started has ended.
package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest crash`.
type Config struct {
	rush.Config   `embed:""`
	NodeKills     int           `default:"20" help:"How many times the node is killed with -9."`
	PostgresKills int           `default:"5" help:"How many times all of Postgres is killed with -9."`
	Within        time.Duration `default:"5s" help:"By when the node must be ready, and writes work, again."`
	Calm          time.Duration `default:"2s" help:"Mean time from one recovery to the next kill."`
}

// While an outage is measured, at most probesAtOnce writes wait for their answer. They buy from a
// stock of reserve tickets that are not offered to other buyers.
const (
	probesAtOnce = 32
	reserve      = 100_000
)

// forgiveness bounds, as a multiple of what is allowed, how long the harness waits for something to
// come back before it gives up the run.
const forgiveness = 6

// Run runs the opening of a sale against a node of its own. It kills the node and its Postgres with
// -9 again and again while buyers buy, and then audits every acknowledged answer. Arrivals go on
// until the last recovery.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("crash: %w", err)
	}
	// The arrivals end with the kills and not with a number of buyers. The duration is only a bound: each kill may
	// take its calm and three times the allowed recovery.
	cfg.Buyers = 0
	cfg.Duration = max(cfg.Duration, time.Duration(cfg.NodeKills+cfg.PostgresKills)*(2*cfg.Calm+3*cfg.Within))
	node, stopNode, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, cfg.NodeEnv()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopNode()) }()
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return nil, err
	}
	s, err := rush.OpenSession(ctx, cfg.Config, svc, false, reserve)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()

	r := s.NewReport("On-sale rush with crashes", node.URL, cfg)
	k := &killer{cfg: &cfg, node: node, rush: s.Rush, log: log, began: time.Now(), finished: make(chan struct{})}
	var killing sync.WaitGroup
	// If measuring fails, the killing is ended as well; otherwise the killer has ended the arrivals itself.
	killCtx, cancel := context.WithCancel(ctx)
	killing.Go(func() { k.killAll(killCtx) })
	err = s.Measure(ctx, r, node.Targets(), out, k.finished)
	cancel()
	killing.Wait()
	// Probes that are still under way may have made orders, which the audit has to find in the log.
	s.Probing.Wait()
	if err := errors.Join(err, k.err); err != nil {
		return nil, err
	}
	r.Outages = k.outages
	r.Invalid = append(r.Invalid, "the node was being killed: latencies are those of a service that comes and goes")
	err = s.Conclude(ctx, r, node.Paysim, cfg.Out, out, log)
	if n := k.countTroubles(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d outages that were too long", rush.ErrFindings, n))
	}
	return r, err
}

// killer kills, waits for the recovery and measures it, one kill at a time.
type killer struct {
	cfg      *Config
	node     *rig.Node
	rush     *rush.Rush
	log      *slog.Logger
	began    time.Time
	finished chan struct{} // closed after the last recovery

	// These fields may be read after finished is closed.
	outages []report.Outage
	err     error // why the killing was given up
}

// killAll makes all kills in the order that the seed determines. It stops at the first from which the node does not
// recover.
func (k *killer) killAll(ctx context.Context) {
	defer close(k.finished)
	rng := rand.New(rand.NewPCG(k.cfg.Seed, 1<<63))
	kills := slices.Concat(
		slices.Repeat([]func(context.Context) (report.Outage, error){k.killNode}, k.cfg.NodeKills),
		slices.Repeat([]func(context.Context) (report.Outage, error){k.killPostgres}, k.cfg.PostgresKills))
	rng.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
	for _, kill := range kills {
		// Half of the mean is fixed, so that buyers get somewhere; the rest is random, so that
		// kills hit every stage of a commit.
		calm := k.cfg.Calm/2 + time.Duration(rng.ExpFloat64()*float64(k.cfg.Calm)/2)
		select {
		case <-time.After(min(calm, 2*k.cfg.Calm)):
		case <-ctx.Done():
			return
		}
		o, err := kill(ctx)
		if err != nil {
			k.err = fmt.Errorf("crash: after %d kills: %w", len(k.outages), err)
			return
		}
		k.outages = append(k.outages, o)
		k.log.InfoContext(ctx, "killed and back", slog.String("what", o.What), slog.Duration("ready", o.Ready),
			slog.Duration("writes", o.WritesAgain), slog.String("trouble", o.Trouble))
	}
}

// killNode kills the node and starts it again at once.
func (k *killer) killNode(ctx context.Context) (report.Outage, error) {
	killed := time.Now()
	if err := k.node.Kill(); err != nil {
		return report.Outage{}, err
	}
	// The time to be ready counts from the start, and the time without writes from the kill.
	started := time.Now()
	if err := k.node.Start(ctx, forgiveness*k.cfg.Within); err != nil {
		return report.Outage{}, err
	}
	o := k.newOutage("node", killed)
	o.Ready = time.Since(started)
	return k.untilWrites(ctx, o, killed)
}

// killPostgres kills the postmaster and every process below it; the node must bring it back by
// itself.
func (k *killer) killPostgres(ctx context.Context) (report.Outage, error) {
	pid := k.node.PostgresPID()
	if pid == 0 {
		return report.Outage{}, errors.New("no postmaster.pid in the data directory")
	}
	killed := time.Now()
	if err := rig.KillTree(pid); err != nil {
		return report.Outage{}, err
	}
	return k.untilWrites(ctx, k.newOutage("postgres", killed), killed)
}

// newOutage begins the record of an outage, whose times count from the beginning of the run.
func (k *killer) newOutage(what string, killed time.Time) report.Outage {
	return report.Outage{What: what, At: killed.Sub(k.began)}
}

// untilWrites completes the outage when an order that was placed after the kill has been
// acknowledged.
func (k *killer) untilWrites(ctx context.Context, o report.Outage, killed time.Time) (report.Outage, error) {
	ctx, cancel := context.WithTimeout(ctx, forgiveness*k.cfg.Within)
	defer cancel()
	r := k.rush
	// The reserve is the last type of the sale.
	free := r.Sale.Types[len(r.Sale.Types)-1]
	if err := r.ProbeUntilAcknowledged(ctx, rush.ProbeEvery, probesAtOnce, func(ctx context.Context) bool { return r.PlaceProbe(ctx, r.API, free.ID) }); err != nil {
		return o, fmt.Errorf("no write for %v after %s was killed: %w", time.Since(killed).Round(time.Millisecond), o.What, err)
	}
	o.WritesAgain = time.Since(killed)
	switch {
	case o.Ready > k.cfg.Within:
		o.Trouble = fmt.Sprintf("ready after more than %v", k.cfg.Within)
	case o.WritesAgain > k.cfg.Within:
		o.Trouble = fmt.Sprintf("writes after more than %v", k.cfg.Within)
	}
	return o, nil
}

// countTroubles returns how many outages took longer than they may.
func (k *killer) countTroubles() int {
	n := 0
	for _, o := range k.outages {
		if o.Trouble != "" {
			n++
		}
	}
	return n
}
