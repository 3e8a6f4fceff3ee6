// Package timers says what time it is for commands, and sends actors the Wakes that they have asked for.
// The maker of Timers starts a goroutine that calls Run, which returns when its context ends; the other
// methods may be called by any goroutine.
package timers

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"boxoffice/engine"
)

// Timers sends Wakes. At most one is outstanding per actor: the one that it asked for last. Tasks
// run on the goroutine of Run and must not block.
type Timers struct {
	now  func() time.Time
	wake func(engine.Ref)

	mu    sync.Mutex
	heap  timerHeap
	armed map[engine.Ref]time.Time
	kick  chan struct{}
}

type timer struct {
	at   time.Time
	ref  engine.Ref
	task func() // what to run instead of sending a Wake; nil for a Wake
}

// New makes Timers without a goroutine. now is the time that they go by, and wake sends a Wake.
func New(now func() time.Time, wake func(engine.Ref)) *Timers {
	return &Timers{now: now, wake: wake, armed: make(map[engine.Ref]time.Time), kick: make(chan struct{}, 1)}
}

// ArmWake asks for a Wake of the actor at a time, which replaces an earlier request.
func (t *Timers) ArmWake(ref engine.Ref, at time.Time) {
	t.mu.Lock()
	t.armed[ref] = at
	t.push(&timer{at: at, ref: ref})
}

// RunLater runs a short task after a delay.
func (t *Timers) RunLater(d time.Duration, task func()) {
	t.mu.Lock()
	t.push(&timer{at: t.now().Add(d), task: task})
}

// push adds a timer and releases the lock, which the caller holds. If the timer is the first one due, it makes Run look
// at once.
func (t *Timers) push(x *timer) {
	heap.Push(&t.heap, x)
	first := t.heap[0] == x
	t.mu.Unlock()
	if first {
		select {
		case t.kick <- struct{}{}:
		default:
		}
	}
}

// Run fires timers until the context ends.
func (t *Timers) Run(ctx context.Context) {
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	for {
		clock.Reset(t.fireDue())
		select {
		case <-clock.C:
		case <-t.kick:
		case <-ctx.Done():
			return
		}
	}
}

// fireDue sends the Wakes and runs the tasks that are due, and returns how long to wait before the
// next look. A Wake that a later request of its actor (ArmWake) has replaced is not sent. The lock is free while a
// Wake is sent or a task runs.
func (t *Timers) fireDue() time.Duration {
	for {
		t.mu.Lock()
		if len(t.heap) == 0 {
			t.mu.Unlock()
			return time.Hour
		}
		x := t.heap[0]
		if wait := x.at.Sub(t.now()); wait > 0 {
			t.mu.Unlock()
			return min(wait, lookEvery) // not longer, because the machine may be suspended in the meantime
		}
		heap.Pop(&t.heap)
		stale := false
		if x.task == nil {
			at, ok := t.armed[x.ref]
			stale = !ok || !at.Equal(x.at)
			if !stale {
				delete(t.armed, x.ref)
			}
		}
		t.mu.Unlock()
		switch {
		case x.task != nil:
			x.task()
		case !stale:
			t.wake(x.ref)
		}
	}
}

// timerHeap orders timers by time.
type timerHeap []*timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a timer, for container/heap.
func (h *timerHeap) Push(x any) {
	t, _ := x.(*timer)
	*h = append(*h, t)
}

// Pop removes the last, for container/heap.
func (h *timerHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return x
}
