package seats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// WatchCommand is the name of the program's command that calls Watch.
const WatchCommand = "watch"

// viewersCluster is a run of RunViewers with several nodes. Each node has a process of viewers, because
// a process may have too few open files for all of them.
type viewersCluster struct {
	*stage
	cfg     ViewersConfig
	cluster *rig.Cluster
	crowds  []*crowd // one for each member of the cluster
	result  ViewersResult
}

// runViewersCluster lets the viewers of each node watch the same map, while each of their processes
// holds seats through its node. A node that does not own the event gets all updates from the one that
// does. In the end every process compares its map with what its node says.
func runViewersCluster(ctx context.Context, cfg ViewersConfig, out io.Writer, log *slog.Logger) (_ *ViewersResult, err error) {
	data, err := os.MkdirTemp("", "boxoffice-viewers-")
	if err != nil {
		return nil, fmt.Errorf("viewers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	w := &viewersCluster{cfg: cfg}
	// No node keeps room in its heap for orders: it would count as memory of the viewers.
	env := append(viewersEnv(cfg.Viewers/cfg.Nodes+1, 50), "BOXOFFICE_HEAP_ROOM=0")
	if cfg.GOGC > 0 {
		env = append(env, fmt.Sprintf("GOGC=%d", cfg.GOGC))
	}
	if w.cluster, err = rig.StartCluster(ctx, rig.ClusterConfig{Dir: data, Nodes: cfg.Nodes, Env: env, Log: log}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stopAudited(ctx, out)) }()
	if w.stage, err = openStage(ctx, cfg, w.cluster.URL); err != nil {
		return nil, err
	}
	defer w.net.Close()
	defer func() { err = errors.Join(err, w.endCrowds()) }()
	if err := w.gatherCrowds(ctx); err != nil {
		return nil, err
	}
	if err := w.measurePhases(ctx); err != nil {
		return nil, err
	}
	if err := w.print(ctx, out); err != nil {
		return nil, err
	}
	return &w.result, w.compareMaps(out)
}

// stopAudited stops the nodes, audits their journal, and ends the rest of the cluster.
func (w *viewersCluster) stopAudited(ctx context.Context, out io.Writer) error {
	err := w.cluster.Stop()
	if err == nil {
		err = w.cluster.RunTool(context.WithoutCancel(ctx), out, "audit")
	}
	return errors.Join(err, w.cluster.Close())
}

// gatherCrowds starts the processes, lets all viewers come, and notes how much memory a viewer costs the
// node that serves it. As in gatherAudience, both readings come after a pause.
func (w *viewersCluster) gatherCrowds(ctx context.Context) error {
	tasks := w.shareTasks()
	for _, m := range w.cluster.Members {
		c, err := startCrowd(ctx, m)
		if err != nil {
			return err
		}
		w.crowds = append(w.crowds, c)
	}
	memory := func() (bytes int64) {
		rig.Wait(ctx, settleMemory)
		for _, m := range w.cluster.Members {
			bytes += rig.ResidentBytes(m.PID())
		}
		return bytes
	}
	before := memory()
	if _, err := w.orderAll(func(i int) order { return order{Do: doGather, Task: &tasks[i]} }); err != nil {
		return err
	}
	w.result.Viewers = w.cfg.Viewers
	w.result.PerViewer = (memory() - before) / int64(w.cfg.Viewers)
	return context.Cause(ctx)
}

// shareTasks shares the viewers, the rate of updates and the harness's own rows of seats evenly among
// the processes.
func (w *viewersCluster) shareTasks() []task {
	tasks := make([]task, w.cfg.Nodes)
	for i := range tasks {
		m := w.cluster.Members[i]
		tasks[i] = task{
			Node: m.URL, Holder: seatProbeHolder + "-" + m.Name, House: rush.House{Path: w.house.Path, Seats: w.house.Seats},
			Viewers: (w.cfg.Viewers + i) / w.cfg.Nodes, Every: time.Duration(float64(w.cfg.Nodes) / w.cfg.Rate * float64(time.Second)),
		}
	}
	for i, row := range w.house.Own {
		t := &tasks[i%len(tasks)]
		t.House.Own = append(t.House.Own, row)
	}
	return tasks
}

// measurePhases measures as many phases as there are rounds, at all nodes at the same time, and takes
// the medians for each node.
func (w *viewersCluster) measurePhases(ctx context.Context) error {
	// The probes begin in turn, because a node sends changes of the same moment as one update.
	for _, c := range w.crowds {
		if _, err := c.give(order{Do: doProbe}); err != nil {
			return err
		}
		rig.Wait(ctx, time.Duration(float64(time.Second)/w.cfg.Rate))
	}
	rounds := make([][]phase, w.cfg.Nodes)
	for range w.cfg.Rounds {
		measured, err := w.measurePhase(ctx)
		if err != nil {
			return err
		}
		for i, p := range measured {
			rounds[i] = append(rounds[i], p)
		}
	}
	for _, phases := range rounds {
		w.result.Nodes = append(w.result.Nodes, mediansOfPhases(phases))
	}
	_, err := w.orderAll(func(int) order { return order{Do: doStop} })
	return errors.Join(err, context.Cause(ctx))
}

// measurePhase measures one phase at every node, after a pause as in a run with one node.
func (w *viewersCluster) measurePhase(ctx context.Context) ([]phase, error) {
	rig.Wait(ctx, calm)
	var targets []rig.Target
	for i, m := range w.cluster.Members {
		targets = append(targets, rig.Target{Name: m.Name, PID: m.PID}, rig.Target{Name: "viewers", PID: rig.FixedPID(w.crowds[i].cmd.Process.Pid)})
	}
	if _, err := w.orderAll(func(int) order { return order{Do: doBegin} }); err != nil {
		return nil, err
	}
	sampler, began := rig.StartSampler(targets...), time.Now()
	rig.Wait(ctx, w.cfg.Phase)
	usage, span := sampler.Stop(), time.Since(began).Seconds()
	answers, err := w.orderAll(func(int) order { return order{Do: doEnd} })
	if err != nil {
		return nil, err
	}
	phases := make([]phase, len(answers))
	for i := range answers {
		p := *answers[i].Phase
		p.Server, p.Generator, p.Others = usage.Total[2*i].Seconds()/span, usage.Total[2*i+1].Seconds()/span, usage.Others
		phases[i] = p
	}
	return phases, nil
}

// print writes the figures of each node, and beside them the goals of the project.
func (w *viewersCluster) print(ctx context.Context, out io.Writer) error {
	owners, err := w.cluster.Owners(ctx, w.event)
	if err != nil {
		return err
	}
	var names []string
	var all phase
	for i, m := range w.cluster.Members {
		name := m.Name
		if owners[w.event] == m {
			name += ", which owns the event"
		}
		names = append(names, name)
		share, p := float64(w.crowds[i].viewers)/float64(w.cfg.Viewers), w.result.Nodes[i]
		all.Frames += p.Frames / float64(w.cfg.Viewers)
		all.Updates += p.Updates * share
		all.Bytes += p.Bytes * share
	}
	printPhases(out, names, w.result.Nodes)
	fmt.Fprintf(out, "%d viewers of %d nodes, at %d bytes of a node's resident memory each (goal: 4096 at most), with GOGC=%d (0: the default of nodes)\n",
		w.cfg.Viewers, w.cfg.Nodes, w.result.PerViewer, w.cfg.GOGC)
	fmt.Fprintf(out, "live updates: %.0f bytes/s to each viewer (goal: 2048 at most), in %.1f updates/s of %g changes/s that were asked for; with snapshots and all else %.0f bytes/s\n",
		all.Updates, all.Frames, w.cfg.Rate, all.Bytes)
	return nil
}

// compareMaps compares the map of each process with what its node says.
func (w *viewersCluster) compareMaps(out io.Writer) error {
	answers, err := w.orderAll(func(int) order { return order{Do: doCompare} })
	for _, a := range answers {
		if a.Comparison != nil {
			err = errors.Join(err, a.Comparison.print(out))
		}
	}
	return err
}

// orderAll gives every process an order, which of returns, at the same time. It waits for all answers,
// and also returns them if there is an error.
func (w *viewersCluster) orderAll(of func(crowd int) order) ([]answer, error) {
	answers, errs := make([]answer, len(w.crowds)), make([]error, len(w.crowds))
	var all sync.WaitGroup
	for i, c := range w.crowds {
		all.Go(func() { answers[i], errs[i] = c.give(of(i)) })
	}
	all.Wait()
	return answers, errors.Join(errs...)
}

// endCrowds ends all processes of viewers.
func (w *viewersCluster) endCrowds() error {
	var errs []error
	for _, c := range w.crowds {
		errs = append(errs, c.end())
	}
	return errors.Join(errs...)
}

// crowd is a process of viewers, as the process sees it that has started it.
type crowd struct {
	name    string // of the node that the viewers watch
	viewers int
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	orders  *json.Encoder
	answers *json.Decoder
	spare   func() bool // lets the process go on when the context ends
}

// startCrowd starts the process of viewers of a node. The process ends with end, and is killed if ctx
// ends before. Its standard error goes into the node's log.
func startCrowd(ctx context.Context, m *rig.Member) (*crowd, error) {
	c := &crowd{name: m.Name, cmd: m.Process.Command(ctx, WatchCommand)}
	c.cmd.Stdout = nil
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("viewers: %w", err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("viewers: %w", err)
	}
	c.orders, c.answers = json.NewEncoder(c.stdin), json.NewDecoder(stdout)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("viewers: %w", err)
	}
	c.spare = context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() }) // an error means that the process has ended
	return c, nil
}

// give gives the process an order and waits for the answer.
func (c *crowd) give(o order) (a answer, err error) {
	if o.Task != nil {
		c.viewers = o.Task.Viewers
	}
	if err := c.orders.Encode(o); err != nil {
		return a, fmt.Errorf("viewers of %s: %s: %w", c.name, o.Do, err)
	}
	if err := c.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("viewers of %s: %s: %w", c.name, o.Do, err)
	}
	if a.Fault != "" {
		return a, fmt.Errorf("viewers of %s: %s: %s", c.name, o.Do, a.Fault) //nolint:err113 // an error of another process
	}
	return a, nil
}

// end closes the process's standard input, which ends it, and waits for that.
func (c *crowd) end() error {
	c.spare()
	err := c.stdin.Close()
	if waited := c.cmd.Wait(); waited != nil {
		err = errors.Join(err, fmt.Errorf("viewers of %s: %w", c.name, waited))
	}
	return err
}
