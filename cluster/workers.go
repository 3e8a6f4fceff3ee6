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

const workerQueue = 1_024

func startWorkers() *workers {
	w := &workers{queue: make(chan *strand, workerQueue), count: 2 * runtime.GOMAXPROCS(0)}
	for range w.count {
		w.wg.Go(w.run)
	}
	return w
}

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

func (w *workers) stop() {
	for range w.count {
		w.queue <- nil
	}
	w.wg.Wait()
}
