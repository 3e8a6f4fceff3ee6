package seats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// The orders that a process of viewers carries out, in the order in which it gets them. begin and end
// may come several times.
const (
	doGather  = "gather"  // let the viewers come, and wait until each has a map
	doProbe   = "probe"   // begin to hold seats
	doBegin   = "begin"   // begin to measure
	doEnd     = "end"     // report what was measured since begin
	doStop    = "stop"    // stop holding seats
	doCompare = "compare" // compare the viewers' map with the service's
)

// order is what runViewersCluster tells a process of viewers, as a line of JSON.
type order struct {
	Do   string
	Task *task // only of gather
}

// task is what a process of viewers watches, at which node, and which seats it holds.
type task struct {
	Node    string // the URL of the node
	House   rush.House
	Holder  string // by which the process holds seats of the house's own rows
	Viewers int
	Every   time.Duration // between two holds
}

// answer is the answer to an order, as a line of JSON.
type answer struct {
	Fault      string      // why the order could not be carried out; empty if it was
	Phase      *phase      // of end, without what the phase cost
	Comparison *comparison // of compare
}

// watcher is a process of viewers. It has everything in one process that a delay is measured by: the
// viewers of a node, and a probe that holds seats through the same node.
type watcher struct {
	task     task
	stage    stage
	audience *viewers.Audience
	probe    *seatProbe // nil while no seats are held
}

// Watch is what a process of viewers does: it reads orders and writes an answer to each, until in ends.
func Watch(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	w := new(watcher)
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("viewers: order: %w", err)
		}
		var a answer
		if err := w.carryOut(ctx, o, &a); err != nil {
			a.Fault = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return fmt.Errorf("viewers: answer: %w", err)
		}
	}
}

// carryOut carries out one order.
func (w *watcher) carryOut(ctx context.Context, o order, a *answer) (err error) {
	switch {
	case o.Do == doGather && o.Task != nil:
		w.task = *o.Task
		return w.gather(ctx)
	case w.audience == nil:
		return fmt.Errorf("%q without an audience", o.Do)
	case o.Do == doProbe:
		w.probe = startSeatProbe(ctx, w.stage.svc, w.stage.net.Source(0), w.stage.house, w.audience, w.task.Holder, w.task.Every)
		return nil
	case o.Do == doBegin:
		w.audience.Begin()
		return nil
	case o.Do == doEnd:
		measured := readMeasures(w.audience.End(), w.task.Viewers)
		a.Phase = &measured
		return nil
	case o.Do == doStop:
		return w.stopProbe(ctx)
	case o.Do == doCompare:
		compared, err := compareMaps(ctx, w.audience, &w.stage)
		a.Comparison = &compared
		return err
	}
	return fmt.Errorf("no order is called %q", o.Do)
}

// gather brings the viewers.
func (w *watcher) gather(ctx context.Context) (err error) {
	if w.stage.svc, err = client.ParseTarget(w.task.Node); err != nil {
		return err
	}
	if w.stage.net, err = client.NewNetwork(client.Config{Sources: 1, Timeout: 10 * time.Second}); err != nil {
		return err
	}
	w.stage.house = &w.task.House
	// The node's memory is read by the process that runs the node.
	w.audience, _, err = gatherAudience(ctx, 0, viewers.Config{
		Host: w.stage.svc.Host, Path: w.stage.house.LivePath(), Viewers: w.task.Viewers, Seats: w.stage.house.Seats,
	})
	return err
}

// stopProbe gives back what the probe holds. It does nothing if no probe runs.
func (w *watcher) stopProbe(ctx context.Context) error {
	probe := w.probe
	w.probe = nil
	if probe == nil {
		return nil
	}
	return probe.stopProbing(ctx)
}

// close ends what the process has started.
func (w *watcher) close(ctx context.Context) error {
	err := w.stopProbe(ctx)
	if w.audience != nil {
		w.audience.Close()
	}
	if w.stage.net != nil {
		w.stage.net.Close()
	}
	return err
}
