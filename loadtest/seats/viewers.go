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
	Viewers int           `default:"20000" help:"Viewers of the live map; as many as the limit of open files allows, if that is less."`
	Slow    int           `default:"1000" help:"Viewers who stop reading, in every second phase."`
	Rate    float64       `default:"10" help:"Updates per second."`
	Sample  string        `default:"arena" enum:"theatre,arena,stadium" help:"The house: ${enum}."`
	Free    int           `default:"10000" help:"Seats that are available; the others are withheld, and make snapshots long."`
	Phase   time.Duration `default:"15s" help:"How long delays are measured without, and then with, slow viewers."`
	Rounds  int           `default:"3" help:"How often both are measured, in turn."`
	Out     string        `default:"loadtest-report" type:"path" help:"Directory of the node's log."`
}

// nodeFiles is how many files a node may need besides its viewers' connections.
const nodeFiles = 150

// ViewersResult is what viewers cost the node, and what slow viewers cost the others. The delays
// are the medians of the rounds, in milliseconds.
type ViewersResult struct {
	Viewers   int
	PerViewer int64 // the resident bytes of the node that each viewer costs
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
	Server, Generator float64              // how many cores the node and the harness kept busy
	Others            float64              // how many cores other processes kept busy
}

// RunViewers lets many viewers watch one map, on a node of its own. In every second phase some of
// them stop reading. In the end RunViewers compares the map that every viewer knows with what the
// service says; a difference is a finding.
func RunViewers(ctx context.Context, cfg ViewersConfig, out io.Writer, log *slog.Logger) (_ *ViewersResult, err error) {
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("viewers: %w", err)
	}
	// Every viewer is an open connection of this process. Fewer viewers than asked for still make a
	// good run, so it only says so.
	if most := viewers.MostViewers(nodeFiles); most < cfg.Viewers {
		fmt.Fprintf(out, "%d viewers instead of %d: a process here has no more open files\n", most, cfg.Viewers)
		cfg.Viewers = most
	}
	node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, viewersEnv(cfg.Viewers, 50)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	w := &viewersRun{cfg: cfg, node: node}
	defer func() { w.close() }()
	if err := w.putOnSale(ctx); err != nil {
		return nil, err
	}
	if err := w.gatherAudience(ctx); err != nil {
		return nil, err
	}
	if err := w.comparePhases(ctx); err != nil {
		return nil, err
	}
	w.result.print(out)
	return &w.result, w.compareMaps(ctx, out)
}

// viewersRun is a run of RunViewers.
type viewersRun struct {
	cfg      ViewersConfig
	node     *rig.Node
	svc      client.API
	net      *client.Network
	house    *rush.House
	audience *viewers.Audience
	result   ViewersResult
}

// putOnSale puts a house on sale and withholds most of its seats. Nobody but the probe asks for
// seats; withheld seats make the snapshots long that viewers get when they come.
func (w *viewersRun) putOnSale(ctx context.Context) (err error) {
	if w.svc, err = client.ParseTarget(w.node.URL); err != nil {
		return err
	}
	if w.net, err = client.NewNetwork(client.Config{Sources: 10, Timeout: 10 * time.Second}); err != nil {
		return err
	}
	organizer, err := rush.Register(ctx, w.svc, w.net.Source(0))
	if err != nil {
		return err
	}
	sale, err := organizer.OpenSale(ctx, seatTypes)
	if err != nil {
		return err
	}
	if w.house, err = organizer.SeatBy(ctx, sale, w.cfg.Sample, 60); err != nil {
		return err
	}
	return organizer.Withhold(ctx, sale, w.house, w.cfg.Free, rand.New(rand.NewPCG(1, 1)))
}

// close ends the audience and the clients, as far as there are any.
func (w *viewersRun) close() {
	if w.audience != nil {
		w.audience.Close()
	}
	if w.net != nil {
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
	beat := startSeatProbe(ctx, w.svc, w.net.Source(0), w.house, w.audience, time.Duration(float64(time.Second)/w.cfg.Rate))
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
	// how long the pause is
	const calm = 3 * time.Second
	rig.Wait(ctx, calm)
	sampler := rig.StartSampler(w.node.Targets()[0], rig.Target{Name: "generator", PID: rig.FixedPID(os.Getpid())})
	w.audience.Begin()
	rig.Wait(ctx, w.cfg.Phase)
	m, usage := w.audience.End(), sampler.Stop()
	w.result.Rejoins += m.Rejoins
	w.result.Jumps += m.Jumps
	span := m.Span.Seconds()
	return phase{
		Asked: openloop.PercentilesOf(m.Asked), Granted: openloop.PercentilesOf(m.Granted), Frames: float64(m.Frames) / span,
		Server: usage.Total[0].Seconds() / span, Generator: usage.Total[1].Seconds() / span, Others: usage.Others,
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
		Server: of(func(p phase) float64 { return p.Server }), Generator: of(func(p phase) float64 { return p.Generator }),
		Others: of(func(p phase) float64 { return p.Others }),
	}
}

// compareMaps compares every viewer's map with the service's, after the last change. Every
// difference, every viewer that is behind and everything that a viewer found wrong is a finding.
func (w *viewersRun) compareMaps(ctx context.Context, out io.Writer) error {
	st, _, differ, err := waitUntilSameMap(ctx, w.audience, func(states *seatStates) error {
		return w.svc.Do(ctx, w.net.Source(0), client.Call{Method: "GET", Path: w.house.Path}, states).Err()
	}, 15*time.Second)
	for _, f := range st.Findings {
		fmt.Fprintln(out, "FOUND", f)
	}
	fmt.Fprintf(out, "audit: %d of %d viewers are at the last update, %d; their map and the service's differ at %d seats; %d findings\n",
		st.Current, st.Viewers, st.Number, len(differ), st.Found)
	if err != nil {
		return err
	}
	if st.Found > 0 || len(differ) > 0 || st.Current < st.Viewers {
		return fmt.Errorf("%w: %d findings", rush.ErrFindings, st.Found+int64(len(differ)+st.Viewers-st.Current))
	}
	return nil
}

// print writes the figures of both sorts of phases, and beside them the goals of the project.
func (r *ViewersResult) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ms from a change to a viewer\tp50\tp99\tp99.9\tmax\tasked p50\tp99\tupdates/s\tserver cores\tgenerator\tothers\t")
	row := func(name string, p phase) {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t%.2f\t%.2f\t%.2f\t\n", name, p.Granted.P50, p.Granted.P99,
			p.Granted.P999, p.Granted.Max, p.Asked.P50, p.Asked.P99, p.Frames, p.Server, p.Generator, p.Others)
	}
	row("all read", r.Quiet)
	row("some do not", r.Slowed)
	_ = w.Flush() // out's errors are its owner's
	fmt.Fprintf(out, "%d viewers at %d bytes of the node's memory each (goal: 8192 at most); the node cut %d off and resynchronised %d\n",
		r.Viewers, r.PerViewer, r.CutOff, r.Resyncs)
	fmt.Fprintf(out, "those who read took %d snapshots in the place of updates; those who do not came back %d times\n", r.Jumps, r.Rejoins)
	fmt.Fprintf(out, "p99 of those who read, beside those who do not: %+.1f %% (goal: less than 10 %%)\n", 100*(r.Slowed.Granted.P99/r.Quiet.Granted.P99-1))
}

// What runs with viewers wait for.
const (
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
