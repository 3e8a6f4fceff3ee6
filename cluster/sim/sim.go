// Package sim runs real activations and real kinds in a world that is drawn from a seed,
// with all that can go wrong between them, and judges every step against the journal. It
// is for tests only.
//
// sim.go is its clock and its faults; node.go a node, hosted.go the shell of an
// activation on it (what package host is on a real one), store.go the journal, net.go the
// network; work.go, seats.go, cash.go, codes.go, dates.go, line.go and fates.go are buyers,
// shoppers of seats, gates, organizers, payment providers, promo codes, calendars, those
// who wait and what becomes of tickets; truth.go, stock.go, hall.go and hands.go the judge;
// heal.go what must hold when all faults are over; bugs.go, bugs_seats.go, bugs_fates.go and
// bugs_line.go mistakes of the world and the kinds that it has to find, mutants_test.go
// those of the activation.
package sim

import (
	"container/heap"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/journal"
)

// Simulate runs the real kinds and the real order protocol in a world that is
// one heap of events, drawn from a seed: nodes that crash and disagree about
// who they are, a network that loses, delays, repeats and reorders, a journal
// whose commits may go unheard, clocks that jump. What is acknowledged, and the
// journal's truth, are judged after every step. Then all faults end, and
// everything has to settle.
//
// The same seed makes the same run, byte for byte: Result.Hash is of its event
// log, which log takes when it is not nil.
func Simulate(seed uint64, bug Bug, log io.Writer) Result {
	s := newSim(seed, bug, log)
	s.live()
	return Result{Seed: seed, Err: s.err, Steps: s.steps, Hash: s.hash.Sum64(), Reached: s.reached}
}

// live runs the world from its start until everything has settled, or something
// is broken.
func (s *Sim) live() {
	s.protect(s.start)
	s.run(s.swarm.load)
	s.protect(s.heal)
	s.run(s.now + healLimit)
	if s.err == nil {
		s.protect(s.settled)
	}
}

// Result is what a simulation came to.
type Result struct {
	Seed    uint64
	Err     error // the first broken promise, or nil
	Steps   int
	Hash    uint64
	Reached map[string]int // faults by what they met
}

const (
	millisecond = int64(1_000) // the simulation's unit of time is a microsecond
	second      = 1_000 * millisecond

	// healLimit is how long, and maxSteps how many steps, the healed world
	// may take to be quiet.
	healLimit = 10 * 24 * 3600 * second
	maxSteps  = 400_000
)

// Sim is one simulated world.
type Sim struct {
	swarm   swarm
	bug     Bug
	rng     *rand.Rand
	now     int64 // microseconds since epoch
	events  agenda
	counter uint64
	steps   int
	err     error
	hash    hash.Hash64
	log     io.Writer
	line    []byte
	reached map[string]int
	healed  bool

	nodes    []*node
	split    []int // by node: the side it is on while the cluster is split, or nil
	refs     []engine.Ref
	streams  map[engine.Ref]*stream
	claims   map[journal.Claim]*hosted
	turns    *rand.Rand // how long a mailbox waits for its turn
	busy     bool       // many wait long
	made     []*hosted  // every activation
	errors   *slog.Logger
	truth    *truth
	asks     []*ask
	shows    []*show
	orders   uint64 // ids handed out
	erasures uint64 // pseudonyms handed out
	places   map[engine.OrderID][]*event.Place
	cash     cash
	fates    fates
	early    map[engine.OrderID]bool // orders whose Place was refused before it made one
	credits  byte                    // paid into wallets
	lines    bool                    // the shows have waitlists

	shoppers int
}

func newSim(seed uint64, bug Bug, log io.Writer) *Sim {
	s := &Sim{
		bug: bug, rng: rand.New(rand.NewPCG(seed, 0x5eed)), hash: fnv.New64a(), log: log,
		reached: make(map[string]int), streams: make(map[engine.Ref]*stream), places: make(map[engine.OrderID][]*event.Place), early: make(map[engine.OrderID]bool),
	}
	s.claims, s.turns = make(map[journal.Claim]*hosted), rand.New(rand.NewPCG(seed, 0x7095))
	s.busy = s.turns.IntN(4) == 0
	s.errors = slog.New(failures{s})
	s.swarm = drawSwarm(s.rng)
	s.swarm.holdScale = holdScale(seed)
	s.lines = hasLines(seed)
	s.truth = newTruth(s)
	s.cash, s.fates = newCash(), newFates(seed)
	for i := range s.swarm.nodes {
		s.nodes = append(s.nodes, &node{sim: s, id: i})
	}
	s.logf("seed %d swarm %+v", seed, s.swarm)
	return s
}

// swarm are the options of one seed. Rates are per message or commit; spans are
// the mean time from one fault to the next, 0 for never.
type swarm struct {
	nodes                int
	load                 int64 // how long there is load
	loss, repeat, late   float64
	lateBy               int64
	unknown, slow        float64
	crash, split, retire int64
	jumps                bool // clocks are wrong by up to an hour after a restart
	snapshotEvery        int64
	shows, orders        int
	shoppers             int // of each seated show
	holdScale            float64
}

func drawSwarm(r *rand.Rand) swarm {
	rate := func(most float64) float64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return r.Float64() * most
	}
	span := func(least, most int64) int64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return least + r.Int64N(most-least)
	}
	lateBy := 10*millisecond + r.Int64N(4*second)
	if r.IntN(8) == 0 {
		lateBy += r.Int64N(90 * second)
	}
	return swarm{
		nodes: 1 + r.IntN(4), load: 20*second + r.Int64N(100*second),
		loss: rate(.2), repeat: rate(.1), late: rate(.1), lateBy: lateBy,
		unknown: rate(.1), slow: rate(.05),
		crash: span(second, 12*second), split: span(second, 12*second), retire: span(second/2, 5*second),
		jumps: r.IntN(3) == 0, snapshotEvery: 1 + r.Int64N(40),
		shows: 1 + r.IntN(5)/4, orders: 20 + r.IntN(200), shoppers: 10 + r.IntN(90),
	}
}

// holdScale scales the limits of who holds seats. The halls are small, so one seed in
// ten has limits that its shoppers reach. It comes from the seed itself and draws
// nothing, so that the seeds that once found something are still the same runs.
func holdScale(seed uint64) float64 {
	if seed%10 == 8 {
		return .06
	}
	return 1
}

// step is something that happens at a time. Those of one time happen in the
// order in which they were planned.
type step struct {
	at  int64
	n   uint64
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

// after plans a step.
func (s *Sim) after(d int64, run func()) {
	s.counter++
	heap.Push(&s.events, &step{at: s.now + max(d, 0), n: s.counter, run: run})
}

// run takes steps up to a time, or until nothing is left or something is broken.
func (s *Sim) run(until int64) {
	for s.err == nil && len(s.events) > 0 && s.events[0].at <= until {
		e := heap.Pop(&s.events).(*step)
		s.now = e.at
		s.steps++
		if s.steps > maxSteps {
			s.failf("not quiet after %d steps", s.steps)
			return
		}
		s.protect(e.run)
	}
	if s.err == nil && !s.healed {
		s.now = until
	}
}

// protect turns a panic of a kind into a failure.
func (s *Sim) protect(run func()) {
	if s.err != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			s.failf("panic: %v\n%s", p, trace())
		}
	}()
	run()
}

func (s *Sim) failf(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at %s: %w", s.clock(), fmt.Errorf(format, args...))
		s.logf("BROKEN %v", s.err)
	}
}

func (s *Sim) clock() string { return fmt.Sprintf("%.6f", float64(s.now)/float64(second)) }

// logf writes a line of the event log.
func (s *Sim) logf(format string, args ...any) {
	s.line = fmt.Appendf(s.line[:0], "%12d ", s.now)
	s.line = fmt.Appendf(s.line, format, args...)
	s.line = append(s.line, '\n')
	_, _ = s.hash.Write(s.line) // a hash never fails
	if s.log != nil {
		_, _ = s.log.Write(s.line) // a log that is cut short says so itself
	}
}

func (s *Sim) chance(p float64) bool { return p > 0 && !s.healed && s.rng.Float64() < p }

// between draws a span of time.
func (s *Sim) between(least, most int64) int64 { return least + s.rng.Int64N(most-least) }

// turn draws how long a mailbox waits for its turn. Most wait for nothing; in one seed of
// four the nodes are so busy that every other message waits.
func (s *Sim) turn() int64 {
	switch {
	case s.busy && s.turns.IntN(2) == 0:
		return s.turns.Int64N(40 * millisecond)
	case s.turns.IntN(10) == 0:
		return s.turns.Int64N(3 * millisecond)
	default:
		return 0
	}
}

// every repeats a fault, at random times with a mean span, until the world heals.
func (s *Sim) every(span int64, fault func()) {
	if span == 0 {
		return
	}
	s.after(s.between(span/4, span*7/4), func() {
		if s.healed {
			return
		}
		fault()
		s.every(span, fault)
	})
}

// reach counts a fault by what it met.
func (s *Sim) reach(fault, met string) { s.reached[fault+" / "+met]++ }

func (s *Sim) start() {
	for _, n := range s.nodes {
		n.boot()
	}
	for range s.swarm.shows {
		s.openShow()
	}
	s.every(s.swarm.crash, s.crashOne)
	s.every(s.swarm.split, s.splitCluster)
	s.every(s.swarm.retire, s.retireOne)
	s.every(2*second, s.sweep)
}

// heal ends all faults: from here on the world is perfect.
func (s *Sim) heal() {
	s.logf("healed")
	s.healed, s.split = true, nil
	s.reshuffle()
	for _, n := range s.nodes {
		if !n.up {
			n.boot()
		}
	}
	for _, a := range s.asks {
		if a.limit == 0 || a.tries < a.limit {
			a.limit = 0 // who has not given up asks until answered
		}
	}
	s.cash.conclude(s)
	if s.lines {
		for i := range int64(200) {
			s.after(i*5*second, s.judgeLines)
		}
	}
	for i := range int64(10) { // an activation that has been succeeded may be in the way for a second
		s.after(i*2*second, s.sweep)
	}
}

// sweep wakes the actors whose streams have no owner at work, as nodes do with
// the parked ones.
func (s *Sim) sweep() {
	for _, ref := range s.refs {
		if s.current(ref) == nil {
			s.transmit(nil, &envelope{to: ref, cmd: engine.Wake{}})
		}
	}
}

// current is the activation that owns a stream, or nil.
func (s *Sim) current(ref engine.Ref) *hosted {
	for _, n := range s.nodes {
		if a := n.acts[ref]; a != nil && a.claim.Epoch == s.stream(ref).epoch {
			return a
		}
	}
	return nil
}
