package cluster

import (
	"runtime"
	"sync"
)

// workers run the strands that no caller runs. The goroutines live long, because a goroutine's
// stack that has once grown stays grown.
type workers struct {
	queue chan *strand // nil ends the worker that takes it
	count int
	wg    sync.WaitGroup
}

// workerQueue is how many strands may wait for a worker.
const workerQueue = 1_024

// startWorkers starts two workers for each processor. One would do, because strands never block. But the kernel may put
// a worker off, and then another one should take its processor.
func startWorkers() *workers {
	w := &workers{queue: make(chan *strand, workerQueue), count: 2 * runtime.GOMAXPROCS(0)}
	for range w.count {
		w.wg.Go(w.run)
	}
	return w
}

// run gives each strand of the queue one turn. Nil ends the worker.
func (w *workers) run() {
	for s := range w.queue {
		if s == nil {
			return
		}
		s.run(strandTurn)
	}
}

// schedule makes a worker run the strand. If all workers are busy and many strands wait, the strand
// gets a goroutine of its own.
func (w *workers) schedule(s *strand) {
	select {
	case w.queue <- s:
	default:
		w.wg.Go(func() { s.run(strandTurn) })
	}
}

// stop returns when every worker and every strand with a goroutine of its own has ended its turn. A strand that is
// scheduled later may never run.
func (w *workers) stop() {
	for range w.count {
		w.queue <- nil
	}
	w.wg.Wait()
}
