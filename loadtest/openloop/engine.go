// Package openloop drives load at times that a schedule fixed beforehand,
// whether or not earlier requests were answered, so that a stalled server
// cannot slow the load down and hide its own stall (coordinated omission).
//
// It owns the clock of a run, the waiting steps and the statistics. A scenario
// hands it actors; an actor sends one request per Step. Run returns when the
// schedule is over and every actor is done, or the drain time has passed; no
// goroutine outlives it.
package openloop

import (
	"container/heap"
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"time"
)

// Tick is how often the dispatcher looks for due steps. On two cores a finer
// clock costs more than it tells (measured: 60-135 us of CPU per arrival).
const Tick = time.Millisecond

// Op is an index into Config.Ops.
type Op uint8

// Result is what one step did and what comes next.
type Result struct {
	Op     Op
	Status int           // the HTTP status; 0: no answer came
	Code   string        // the error's code or class; empty if the answer was as wanted
	Done   bool          // the actor is finished
	Wait   time.Duration // how long after now the next step is due, unless it is done
	Also   Actor         // another actor that starts at once; usually nil
}

// Actor is a small state machine: one request per Step. The engine never calls
// Step of one actor concurrently with itself.
type Actor interface {
	Step(ctx context.Context) Result
}

// Config is how a run is driven and judged. Zero values get the defaults named.
type Config struct {
	Ops         []string      // the names of the operations, indexed by Op
	MaxInFlight int           // how many steps run at once, 4096; above it they wait and lag
	MaxWaiting  int           // how many actors may be alive, 1,000,000; above it arrivals are dropped
	Drain       time.Duration // how long after the schedule actors may finish, 30 s
	SLO         time.Duration // the p99 by which the run is judged, 100 ms
	MaxLagShare float64       // the run is invalid if the p99 of the send lag is above this share of SLO, 0.05
	// Warm is how much of the schedule passes before latencies are kept:
	// connections are opened in the meantime, and caches filled.
	Warm time.Duration

	// Stop, when closed, ends the arrivals early. May be nil.
	Stop <-chan struct{}
	// OnSecond is told about each second as it ends, from one goroutine.
	OnSecond func(Second)
}

// setDefaults fills in what the configuration leaves at zero.
func (c *Config) setDefaults() {
	if c.MaxInFlight == 0 {
		c.MaxInFlight = 4096
	}
	if c.MaxWaiting == 0 {
		c.MaxWaiting = 1_000_000
	}
	if c.Drain == 0 {
		c.Drain = 30 * time.Second
	}
	if c.SLO == 0 {
		c.SLO = 100 * time.Millisecond
	}
	if c.MaxLagShare == 0 {
		c.MaxLagShare = 0.05
	}
}

// step is one due request of an actor.
type step struct {
	at    time.Duration // when it is to be sent, since the start of the run; the corrected latency counts from then
	actor Actor
}

// stepHeap is a heap of steps by their times.
type stepHeap []step

func (h stepHeap) Len() int           { return len(h) }
func (h stepHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h stepHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *stepHeap) Push(x any)        { *h = append(*h, x.(step)) } //nolint:errcheck // only push puts things in
func (h *stepHeap) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = step{}
	*h = (*h)[:last]
	return s
}

// engine is one run. A dispatcher hands steps that are due to workers.
type engine struct {
	cfg   Config
	start time.Time
	rec   *recorder
	work  chan step // unbuffered, so that only an idle worker receives

	mu      sync.Mutex
	waiting stepHeap
	alive   int // how many actors are not done

	// The dispatcher's own.
	workers sync.WaitGroup
	started int   // how many workers there are
	dropped int64 // how many arrivals came beyond MaxWaiting
}

// Run drives the actors that spawn makes, one per arrival, and returns the
// statistics. A cancelled ctx ends the run early and is returned as an error
// together with what was measured.
func Run(
	ctx context.Context, cfg Config, schedule Schedule, rng *rand.Rand, spawn func(n int) Actor,
) (*Stats, error) {
	cfg.setDefaults()
	rec := newRecorder(cfg, schedule.Duration())
	e := &engine{cfg: cfg, start: time.Now(), work: make(chan step), rec: rec}

	// The collector ends after the last worker, so that it has all samples.
	stopCollecting := make(chan struct{})
	collected := make(chan struct{})
	go func() { defer close(collected); rec.collectSamples(stopCollecting) }()

	// The dispatcher pulls one arrival at a time, so a schedule of millions needs no memory.
	next, stop := iter.Pull(schedule.Arrivals(rng))
	defer stop()
	err := e.runDispatcher(ctx, next, spawn)
	close(e.work)
	e.workers.Wait()
	close(stopCollecting)
	<-collected
	return e.stats(), err
}

// runDispatcher is the one loop that makes arrivals and starts due steps, a batch
// per tick. It returns when nothing is left to do or to wait for.
func (e *engine) runDispatcher(
	ctx context.Context, next func() (time.Duration, bool), spawn func(n int) Actor,
) error {
	ticker := time.NewTicker(Tick)
	defer ticker.Stop()
	// at is the time of the next arrival, and more is false when there is none.
	at, more := next()
	stop, deadline := e.cfg.Stop, time.Duration(e.rec.window.Load())+e.cfg.Drain
	for n := 0; ; {
		now := time.Since(e.start)
		// The actor is due at its scheduled time and not now. If the dispatcher is late, the corrected latency
		// counts that.
		for more && at <= now {
			if e.admitActor(at, spawn, n) {
				n++
			}
			at, more = next()
		}
		e.startDue(ctx, now)
		// Actors that are not done by the deadline are given up. Those of their steps that were due within the
		// window count as unsent.
		if (!more && e.idle()) || now > deadline {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		// An early end shortens the window to the time that has passed, so that the rates stay right.
		case <-stop:
			if more {
				e.rec.window.Store(int64(now))
				more, deadline = false, now+e.cfg.Drain
			}
			stop = nil
		case <-ticker.C:
		}
	}
}

// admitActor lets the n-th actor in, unless too many are alive.
func (e *engine) admitActor(at time.Duration, spawn func(n int) Actor, n int) bool {
	e.mu.Lock()
	full := e.alive >= e.cfg.MaxWaiting
	e.mu.Unlock()
	if full {
		e.dropped++
		return false
	}
	e.push(step{at, spawn(n)}, 1)
	return true
}

// startDue gives due steps to idle workers, or to new ones while there may be
// more. A request that finds no worker stays due: its lag grows and is reported.
func (e *engine) startDue(ctx context.Context, now time.Duration) {
	for {
		e.mu.Lock()
		if len(e.waiting) == 0 || e.waiting[0].at > now {
			e.mu.Unlock()
			return
		}
		s := heap.Pop(&e.waiting).(step) //nolint:errcheck // only steps are in it
		e.mu.Unlock()
		select {
		case e.work <- s:
			continue
		default:
		}
		// All workers are busy. The step goes back with its old time, and is tried again at the next tick.
		if e.started == e.cfg.MaxInFlight {
			e.push(s, 0)
			return
		}
		shard := e.started
		e.started++
		e.workers.Go(func() { e.runWorker(ctx, shard, s) })
	}
}

// runWorker carries out steps, first the one it was started for, until the
// dispatcher has ended.
func (e *engine) runWorker(ctx context.Context, id int, s step) {
	for more := true; more; s, more = <-e.work {
		sent := time.Since(e.start)
		r := s.actor.Step(ctx)
		done := time.Since(e.start)
		e.rec.add(id, sample{
			op: r.Op, status: int16(r.Status), code: r.Code, intended: s.at, sent: sent, done: done,
		})
		if r.Also != nil {
			e.push(step{done, r.Also}, 1)
		}
		if r.Done {
			e.mu.Lock()
			e.alive--
			e.mu.Unlock()
		} else {
			e.push(step{done + r.Wait, s.actor}, 0)
		}
	}
}

// push makes a step wait for its time; born is 1 for a new actor.
func (e *engine) push(s step, born int) {
	e.mu.Lock()
	heap.Push(&e.waiting, s)
	e.alive += born
	e.mu.Unlock()
}

// idle reports whether all actors are done.
func (e *engine) idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.alive == 0
}

// stats closes the books: what was due within the window and never sent counts
// as offered and not achieved.
func (e *engine) stats() *Stats {
	var unsent []time.Duration
	for _, s := range e.waiting {
		if s.at <= time.Duration(e.rec.window.Load()) {
			unsent = append(unsent, s.at)
		}
	}
	return e.rec.closeBooks(unsent, e.dropped)
}
