// Package clock has the time, the draws and the event log of a simulated world. Its events are a heap of steps by
// time: a step runs alone, and plans others. The same seed makes the same draws and the same log, byte for byte. A
// world breaks once (Failf), and then takes no further step; it heals once, and then no chance strikes any more.
package clock

import (
	"container/heap"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"boxoffice/engine/enginetest"
)

// The world's unit of time is a microsecond.
const (
	Millisecond = int64(1_000)
	Second      = 1_000 * Millisecond
)

// maxSteps is how many steps a world may take unless somebody says otherwise.
const maxSteps = 400_000

// Clock is one world's time, with what is drawn and logged in it. It belongs to one goroutine.
type Clock struct {
	Rng     *rand.Rand
	Limit   int   // how many steps the world may take: one that takes more will never be quiet
	now     int64 // microseconds since the start
	agenda  agenda
	counter uint64 // how many steps were planned so far; it orders the steps of one time
	steps   int
	healed  bool  // no fault and no chance strikes any more
	err     error // what the world broke by; nil while it is whole
	// The hash is of all lines of the log, also when nobody reads it: it tells whether two runs were the same.
	hash    hash.Hash64
	log     io.Writer      // nil: nobody reads the log
	line    []byte         // the memory of the line that is written, which is used again
	reached map[string]int // how often each fault has met each thing
}

// New starts a world's time at zero. The log may be nil.
func New(seed uint64, log io.Writer) *Clock {
	return &Clock{Limit: maxSteps, Rng: rand.New(rand.NewPCG(seed, 0x5eed)), hash: fnv.New64a(), log: log, reached: make(map[string]int)}
}

// Now returns the microseconds since the start.
func (c *Clock) Now() int64 { return c.now }

// Millis returns a time in unix milliseconds.
func (c *Clock) Millis(at int64) int64 { return enginetest.Epoch.UnixMilli() + at/Millisecond }

// Healed reports whether all faults are over.
func (c *Clock) Healed() bool { return c.healed }

// Heal ends all faults.
func (c *Clock) Heal() {
	c.Logf("healed")
	c.healed = true
}

// Err is what the world broke by, or nil.
func (c *Clock) Err() error { return c.err }

// IsLogged reports whether somebody reads the event log.
func (c *Clock) IsLogged() bool { return c.log != nil }

// Outcome returns how many steps there were, the hash of the event log, and what was reached how often.
func (c *Clock) Outcome() (steps int, sum uint64, reached map[string]int) {
	return c.steps, c.hash.Sum64(), c.reached
}

// Planned returns how many steps are still to come, and when the first of them is.
func (c *Clock) Planned() (steps int, next int64) {
	if len(c.agenda) > 0 {
		next = c.agenda[0].at
	}
	return len(c.agenda), next
}

// step is something that happens at a time. The steps of one time happen in the order in which they were planned.
type step struct {
	at  int64  // microseconds since the start
	n   uint64 // which step it was of all that were planned
	run func()
}

// agenda is a heap of steps by time.
type agenda []*step

func (h agenda) Len() int { return len(h) }

func (h agenda) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].n < h[j].n
}

func (h agenda) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds a step, for container/heap.
func (h *agenda) Push(x any) { *h = append(*h, x.(*step)) }

// Pop removes the last step, for container/heap.
func (h *agenda) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// After plans a step, d microseconds from now. It happens at once, but after the steps that are already planned for
// now, if d is 0 or less.
func (c *Clock) After(d int64, run func()) {
	c.counter++
	heap.Push(&c.agenda, &step{at: c.now + max(d, 0), n: c.counter, run: run})
}

// Run takes steps up to a time, or until nothing is left or something is broken. In a healed world the time stays
// at the last step instead of going on to until.
func (c *Clock) Run(until int64) {
	for c.err == nil && len(c.agenda) > 0 && c.agenda[0].at <= until {
		e := heap.Pop(&c.agenda).(*step)
		c.now = e.at
		c.steps++
		if c.steps > c.Limit {
			c.Failf("not quiet after %d steps", c.steps)
			return
		}
		c.Protect(e.run)
	}
	if c.err == nil && !c.healed {
		c.now = until
	}
}

// Protect runs a step of the product. A panic in it breaks the world with its stack, instead of ending the test.
func (c *Clock) Protect(run func()) {
	if c.err != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.Failf("panic: %v\n%s", p, traceStack())
		}
	}()
	run()
}

// Failf breaks the world. Only the first failure counts, because what follows it may be its consequence.
func (c *Clock) Failf(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("at %s: %w", c.time(), fmt.Errorf(format, args...))
		c.Logf("BROKEN %v", c.err)
	}
}

func (c *Clock) time() string { return fmt.Sprintf("%.6f", float64(c.now)/float64(Second)) }

// Logf writes a line of the event log.
func (c *Clock) Logf(format string, args ...any) {
	c.line = fmt.Appendf(c.line[:0], "%12d ", c.now)
	c.line = fmt.Appendf(c.line, format, args...)
	c.line = append(c.line, '\n')
	_, _ = c.hash.Write(c.line) // a hash never fails
	if c.log != nil {
		_, _ = c.log.Write(c.line) // a log that is cut short says so itself
	}
}

// Chance draws whether something of that probability happens. In a healed world nothing does.
func (c *Clock) Chance(p float64) bool { return p > 0 && !c.healed && c.Rng.Float64() < p }

// Between draws a span of time, or another number, from least up to most, without most itself.
func (c *Clock) Between(least, most int64) int64 { return least + c.Rng.Int64N(most-least) }

// Every repeats a fault, at random times with a mean span in microseconds, until the world heals. A span of 0 means
// never.
func (c *Clock) Every(span int64, fault func()) {
	if span == 0 {
		return
	}
	c.After(c.Between(span/4, span*7/4), func() {
		if c.healed {
			return
		}
		fault()
		c.Every(span, fault)
	})
}

// Reach counts that a fault has met something, so that a run can tell which faults it has really tried.
func (c *Clock) Reach(fault, met string) { c.reached[fault+" / "+met]++ }

// traceStack is the stack without the calls that only pass on a panic.
func traceStack() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	return strings.Join(lines[min(len(lines), 7):min(len(lines), 25)], "\n")
}
