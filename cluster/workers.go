package cluster

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// workers is a dispatcher of long-lived goroutines: their stacks have grown once
// and stay so, where the library's own dispatcher starts a goroutine each time a
// mailbox wakes up (reading/protoactor.md section 2).
type workers struct {
	queue chan func() // nil ends the worker that takes it
	count int
	wg    sync.WaitGroup
}

const (
	workerQueue      = 1_024
	workerThroughput = 300 // messages of one actor before the next has its turn
)

func startWorkers() *workers {
	w := &workers{queue: make(chan func(), workerQueue), count: 2 * runtime.GOMAXPROCS(0)}
	for range w.count {
		w.wg.Go(w.run)
	}
	return w
}

func (w *workers) run() {
	for f := range w.queue {
		if f == nil {
			return
		}
		f()
	}
}

// Schedule runs f on a worker, or on a goroutine of its own when all are busy.
func (w *workers) Schedule(f func()) {
	select {
	case w.queue <- f:
	default:
		w.wg.Go(f)
	}
}

// Throughput is how many messages of an actor are dealt with in a row.
func (w *workers) Throughput() int { return workerThroughput }

func (w *workers) stop() {
	for range w.count {
		w.queue <- nil
	}
	w.wg.Wait()
}

// stopOnFailure ends an actor that fails: restarting it in place would bring it
// back with an empty state. Activations recover their own panics.
type stopOnFailure struct{}

// HandleFailure stops the child.
func (stopOnFailure) HandleFailure(_ *actor.ActorSystem, s actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	s.StopChildren(child)
}
