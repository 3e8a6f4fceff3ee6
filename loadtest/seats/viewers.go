package seats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// ViewersConfig is `boxoffice loadtest viewers`.
type ViewersConfig struct {
	Nodes   int           `default:"1" help:"Nodes that share the viewers; from two on, each has a process of viewers of its own, and none of them is slow."`
	Viewers int           `default:"20000" help:"Viewers of the live map; as many as the limit of open files allows, if that is less."`
	GOGC    int           `name:"gogc" default:"100" help:"How seldom several nodes collect garbage, so that their memory is what viewers hold and not what their requests have left; 0: as nodes do by default."`
	Slow    int           `default:"1000" help:"Viewers who stop reading, in every second phase; with one node only."`
	Rate    float64       `default:"10" help:"Updates per second, of all nodes together."`
	Sample  string        `default:"arena" enum:"theatre,arena,stadium" help:"The house: ${enum}."`
	Free    int           `default:"10000" help:"Seats that are available; the others are withheld, and make snapshots long."`
	Phase   time.Duration `default:"15s" help:"How long delays are measured without, and then with, slow viewers."`
	Rounds  int           `default:"3" help:"How often both are measured, in turn."`
	Out     string        `default:"loadtest-report" type:"path" help:"Directory of the log of a single node."`
}

// nodeFiles is how many files a node may need besides its viewers' connections.
const nodeFiles = 150

// Validate refuses numbers with which nothing can be measured.
func (cfg ViewersConfig) Validate() error {
	if cfg.Nodes < 1 || cfg.Viewers < cfg.Nodes || cfg.Rate <= 0 || cfg.Rounds < 1 {
		return errors.New("--nodes, --rate and --rounds must be above 0, and each node needs a viewer")
	}
	return nil
}

// ViewersResult is what viewers cost the node, and what slow viewers cost the others. The delays
// are the medians of the rounds, in milliseconds.
type ViewersResult struct {
	Viewers   int
	PerViewer int64   // the resident bytes of a node that each of its viewers costs; with several nodes, their mean
	Nodes     []phase // what was measured at each of several nodes; the fields below are of one node only
	Quiet     phase
	Slowed    phase
	Rejoins   int64 // how often slow viewers that were cut off came back
	Jumps     int64 // how many snapshots the others got in the place of updates
	CutOff    int64 // how many viewers were cut off, as the node counts them
	Resyncs   int64 // how many viewers were resynchronised, as the node counts them
}

// phase is what was measured in one phase: with all viewers reading (Quiet), or with some that do
// not (Slowed).
type phase struct {
	Asked, Granted    openloop.Percentiles // from the request for a change, and from its answer, to the viewer
	Frames            float64              // updates to viewers in a second
	Updates, Bytes    float64              // bytes that a viewer was sent in a second: of updates, and of everything
	Server, Generator float64              // how many cores the node and the harness kept busy
	Others            float64              // how many cores other processes kept busy
}

// RunViewers lets many viewers watch one map, on a node of its own. In every second phase some of
// them stop reading. In the end RunViewers compares the map that every viewer knows with what the
// service says; a difference is a finding.
//
// With several nodes it measures each of them with viewers who all read.
func RunViewers(ctx context.Context, cfg ViewersConfig, out io.Writer, log *slog.Logger) (_ *ViewersResult, err error) {
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("viewers: %w", err)
	}
	// Every viewer is an open connection of its node, and of the process that reads for it. Fewer viewers
	// than asked for still make a good run, so it only says so.
	if most := viewers.MostViewers(nodeFiles); most < cfg.Viewers/cfg.Nodes {
		fmt.Fprintf(out, "%d viewers instead of %d: a process here has no more open files\n", most*cfg.Nodes, cfg.Viewers)
		cfg.Viewers = most * cfg.Nodes
	}
	if cfg.Nodes > 1 {
		return runViewersCluster(ctx, cfg, out, log)
	}
	node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, viewersEnv(cfg.Viewers, 50)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	w := &viewersRun{cfg: cfg, node: node}
	defer func() { w.close() }()
	if w.stage, err = openStage(ctx, cfg, node.URL); err != nil {
		return nil, err
	}
	if err := w.gatherAudience(ctx); err != nil {
		return nil, err
	}
	if err := w.comparePhases(ctx); err != nil {
		return nil, err
	}
	w.result.print(out)
	compared, err := compareMaps(ctx, w.audience, w.stage)
	return &w.result, errors.Join(compared.print(out), err)
}

// viewersRun is a run of RunViewers.
type viewersRun struct {
	*stage
	cfg      ViewersConfig
	node     *rig.Node
	audience *viewers.Audience
	result   ViewersResult
}

// stage is the house that viewers watch, and the way to the service that shows it.
type stage struct {
	svc   client.API
	net   *client.Network
	house *rush.House
	event string // the id of the event in the house
}

// openStage puts a house on sale at the service with the given URL, and withholds most of its seats.
// Nobody but a probe asks for seats; withheld seats make the snapshots long that viewers get when they
// come. The caller closes the stage's net.
func openStage(ctx context.Context, cfg ViewersConfig, url string) (_ *stage, err error) {
	s := new(stage)
	if s.svc, err = client.ParseTarget(url); err != nil {
		return nil, err
	}
	if s.net, err = client.NewNetwork(client.Config{Sources: 10, Timeout: 10 * time.Second}); err != nil {
		return nil, err
	}
	if err := s.putOnSale(ctx, cfg); err != nil {
		s.net.Close()
		return nil, err
	}
	return s, nil
}

// putOnSale registers an organizer, and puts the house on sale.
func (s *stage) putOnSale(ctx context.Context, cfg ViewersConfig) error {
	organizer, err := rush.Register(ctx, s.svc, s.net.Source(0))
	if err != nil {
		return err
	}
	sale, err := organizer.OpenSale(ctx, seatTypes)
	if err != nil {
		return err
	}
	s.event = sale.EventID
	if s.house, err = organizer.SeatBy(ctx, sale, cfg.Sample, 60); err != nil {
		return err
	}
	return organizer.Withhold(ctx, sale, s.house, cfg.Free, rand.New(rand.NewPCG(1, 1)))
}

// close ends the audience and the clients, as far as there are any.
func (w *viewersRun) close() {
	if w.audience != nil {
		w.audience.Close()
	}
	if w.stage != nil {
		w.net.Close()
	}
}

// gatherAudience brings the viewers, and notes how much memory each costs the node.
func (w *viewersRun) gatherAudience(ctx context.Context) (err error) {
	w.audience, w.result.PerViewer, err = gatherAudience(ctx, w.node.PID(), viewers.Config{
		Host: w.svc.Host, Path: w.house.LivePath(), Viewers: w.cfg.Viewers, Slow: w.cfg.Slow, Seats: w.house.Seats,
	})
	w.result.Viewers = w.cfg.Viewers
	return err
}

// gatherAudience brings an audience. It returns how many bytes each viewer costs the process with
// the id pid, or 0 if pid is 0. It reads the memory before and after, each time after a pause in
// which the process can come to rest.
func gatherAudience(ctx context.Context, pid int, cfg viewers.Config) (audience *viewers.Audience, perViewer int64, err error) {
	memory := func() int64 {
		if pid == 0 {
			return 0
		}
		rig.Wait(ctx, settleMemory)
		return rig.ResidentBytes(pid)
	}
	// The difference is divided by the viewers: what the node needs besides them is in both readings.
	before := memory()
	if audience, err = viewers.Gather(cfg); err != nil {
		return nil, 0, err
	}
	within, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	if err := audience.Joined(within); err != nil {
		audience.Close()
		return nil, 0, err
	}
	return audience, (memory() - before) / int64(cfg.Viewers), nil
}

// comparePhases measures phases with and without slow viewers in turn. Turns keep what changes
// slowly on the machine from falling on one sort of phase only.
func (w *viewersRun) comparePhases(ctx context.Context) error {
	beat := startSeatProbe(ctx, w.svc, w.net.Source(0), w.house, w.audience, seatProbeHolder, time.Duration(float64(time.Second)/w.cfg.Rate))
	var quiet, slowed []phase
	for range w.cfg.Rounds {
		quiet = append(quiet, w.measurePhase(ctx))
		w.audience.Slow(true)
		slowed = append(slowed, w.measurePhase(ctx))
		w.audience.Slow(false)
		// Slow viewers that the node cut off must be back before the next quiet phase.
		within, cancel := context.WithTimeout(ctx, joinTime)
		err := w.audience.Joined(within)
		cancel()
		if err != nil {
			return errors.Join(err, beat.stopProbing(ctx))
		}
	}
	after, err := rig.ReadMetrics(ctx, w.svc, w.net.Source(0))
	if err != nil {
		return errors.Join(err, beat.stopProbing(ctx))
	}
	w.result.CutOff, w.result.Resyncs = int64(after["boxoffice_sse_cut_off_total"]), int64(after["boxoffice_sse_resyncs_total"])
	w.result.Quiet, w.result.Slowed = mediansOfPhases(quiet), mediansOfPhases(slowed)
	if err := beat.stopProbing(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// measurePhase measures for one phase, after a pause: viewers who have just come or gone would
// disturb the figures.
func (w *viewersRun) measurePhase(ctx context.Context) phase {
	rig.Wait(ctx, calm)
	sampler := rig.StartSampler(w.node.Targets()[0], rig.Target{Name: "generator", PID: rig.FixedPID(os.Getpid())})
	w.audience.Begin()
	rig.Wait(ctx, w.cfg.Phase)
	m, usage := w.audience.End(), sampler.Stop()
	w.result.Rejoins += m.Rejoins
	w.result.Jumps += m.Jumps
	p := readMeasures(m, w.cfg.Viewers-w.cfg.Slow)
	p.Server, p.Generator, p.Others = usage.Total[0].Seconds()/m.Span.Seconds(), usage.Total[1].Seconds()/m.Span.Seconds(), usage.Others
	return p
}

// readMeasures returns the phase that the given number of viewers have measured, without what it cost.
func readMeasures(m *viewers.Measures, measured int) phase {
	span := m.Span.Seconds()
	each := span * float64(max(measured, 1))
	return phase{
		Asked: openloop.PercentilesOf(m.Asked), Granted: openloop.PercentilesOf(m.Granted), Frames: float64(m.Frames) / span,
		Updates: float64(m.Updates) / each, Bytes: float64(m.Bytes) / each,
	}
}

// mediansOfPhases returns a phase made of the median of each figure. The medians may come from
// different phases.
func mediansOfPhases(all []phase) phase {
	var asked, granted []openloop.Percentiles
	of := func(get func(phase) float64) float64 {
		var values []float64
		for _, p := range all {
			values = append(values, get(p))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	for _, p := range all {
		asked, granted = append(asked, p.Asked), append(granted, p.Granted)
	}
	return phase{
		Asked: openloop.Medians(asked), Granted: openloop.Medians(granted), Frames: of(func(p phase) float64 { return p.Frames }),
		Updates: of(func(p phase) float64 { return p.Updates }), Bytes: of(func(p phase) float64 { return p.Bytes }),
		Server: of(func(p phase) float64 { return p.Server }), Generator: of(func(p phase) float64 { return p.Generator }),
		Others: of(func(p phase) float64 { return p.Others }),
	}
}

// comparison is how an audience's map compares with the service's after the last change.
type comparison struct {
	viewers.Standing
	Differ []string // the seats at which the maps differ
}

// compareMaps compares every viewer's map with the service's, once nothing changes any more. It waits
// a while for viewers that are behind.
func compareMaps(ctx context.Context, audience *viewers.Audience, s *stage) (comparison, error) {
	st, _, differ, err := waitUntilSameMap(ctx, audience, func(states *seatStates) error {
		return s.svc.Do(ctx, s.net.Source(0), client.Call{Method: "GET", Path: s.house.Path}, states).Err()
	}, 15*time.Second)
	return comparison{st, differ}, err
}

// print writes the comparison. Every difference, every viewer that is behind and everything that a
// viewer found wrong is a finding, and makes an error.
func (c *comparison) print(out io.Writer) error {
	for _, f := range c.Findings {
		fmt.Fprintln(out, "FOUND", f)
	}
	fmt.Fprintf(out, "audit: %d of %d viewers are at the last update, %d; their map and the service's differ at %d seats; %d findings\n",
		c.Current, c.Viewers, c.Number, len(c.Differ), c.Found)
	if c.Found > 0 || len(c.Differ) > 0 || c.Current < c.Viewers {
		return fmt.Errorf("%w: %d findings", rush.ErrFindings, c.Found+int64(len(c.Differ)+c.Viewers-c.Current))
	}
	return nil
}

// print writes the figures of both sorts of phases, and beside them the goals of the project.
func (r *ViewersResult) print(out io.Writer) {
	printPhases(out, []string{"all read", "some do not"}, []phase{r.Quiet, r.Slowed})
	fmt.Fprintf(out, "%d viewers at %d bytes of the node's memory each (goal: 8192 at most); the node cut %d off and resynchronised %d\n",
		r.Viewers, r.PerViewer, r.CutOff, r.Resyncs)
	fmt.Fprintf(out, "those who read took %d snapshots in the place of updates; those who do not came back %d times\n", r.Jumps, r.Rejoins)
	fmt.Fprintf(out, "p99 of those who read, beside those who do not: %+.1f %% (goal: less than 10 %%)\n", 100*(r.Slowed.Granted.P99/r.Quiet.Granted.P99-1))
}

// printPhases writes a table with a row for each phase.
func printPhases(out io.Writer, names []string, phases []phase) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ms from a change to a viewer\tp50\tp99\tp99.9\tmax\tasked p50\tp99\tupdates/s\tserver cores\tgenerator\tothers\t")
	for i, p := range phases {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t%.2f\t%.2f\t%.2f\t\n", names[i], p.Granted.P50, p.Granted.P99,
			p.Granted.P999, p.Granted.Max, p.Asked.P50, p.Asked.P99, p.Frames, p.Server, p.Generator, p.Others)
	}
	_ = w.Flush() // out's errors are its owner's
}

// What runs with viewers wait for.
const (
	calm         = 3 * time.Second // the pause before a phase
	settleMemory = 2 * time.Second // the pause before a node's memory is read
	joinTime     = 2 * time.Minute // how long all viewers may take to come
	holdGrace    = 5 * time.Second // how much longer than its time a hold may last
)

// viewersEnv returns the environment of a node that must let in the given numbers of viewers and of
// other clients. All come from this machine, so the limits for one address must allow them too.
func viewersEnv(viewers, others int) []string {
	return []string{
		fmt.Sprintf("BOXOFFICE_MAX_VIEWERS=%d", viewers+10),
		fmt.Sprintf("BOXOFFICE_MAX_VIEWERS_PER_ADDRESS=%d", viewers+10),
		fmt.Sprintf("BOXOFFICE_MAX_CONNS=%d", viewers+others+50),
		fmt.Sprintf("BOXOFFICE_MAX_CONNS_PER_ADDRESS=%d", viewers+others),
		"BOXOFFICE_LOG_LEVEL=WARN",
	}
}
