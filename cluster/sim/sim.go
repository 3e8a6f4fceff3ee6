// Package sim runs real activations and real kinds in a simulated world that is drawn from a seed. Everything that
// can go wrong between them does, and every step is judged against the journal. It is for tests only.
//
// sim.go has the world, node.go a node, lane.go its group commit, hosted.go the shell of an activation on it (what
// package host is on a real one), net.go the network, watch.go what is judged in the midst of it, heal.go what must
// hold when all faults are over. Package shards has the journal; in worlds with several shards, shards.go says how they
// fail, moves.go how they move and how nodes begin and end there, calm.go what must not suffer. Package clock has
// the time and the draws, acts the people, judge the rules, brief the words of the log, bugs the mistakes of the world
// and of the kinds that have to be found; mutants_test.go has the activation's bugs.
package sim

import (
	"io"
	"log/slog"
	"math/rand/v2"

	"boxoffice/cluster/sim/acts"
	"boxoffice/cluster/sim/bugs"
	"boxoffice/cluster/sim/clock"
	"boxoffice/cluster/sim/judge"
	"boxoffice/cluster/sim/shards"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Simulate runs the real kinds and the real order protocol in a world that is
// one heap of events, drawn from a seed: nodes that crash and disagree about
// who they are, a network that loses, delays, repeats and reorders, a journal
// whose commits may go unheard, clocks that jump. Everything that is acknowledged, and the
// journal's truth, are judged after every step. Then all faults end, and
// everything has to settle.
//
// The same seed makes the same run, byte for byte: Result.Hash is of its event
// log, which log takes when it is not nil.
func Simulate(seed uint64, bug bugs.Bug, log io.Writer) Result {
	s := newSim(seed, bug, log)
	s.runWorld()
	steps, sum, reached := s.Outcome()
	return Result{Seed: seed, Err: s.Err(), Steps: steps, Hash: sum, Reached: reached}
}

// runWorld runs the world with its faults, then heals it, and runs it until it is quiet or a promise is broken.
func (s *Sim) runWorld() {
	// A panic in a step of the world is a failure of its seed, and does not end the test of the other seeds.
	s.Protect(s.start)
	s.Run(s.swarm.load)
	s.Protect(s.healWorld)
	s.Run(s.Now() + healLimit)
	if s.Err() == nil {
		s.Protect(s.judgeSettled)
	}
}

// Result is the outcome of a simulation.
type Result struct {
	Seed    uint64
	Err     error // the first broken promise, or nil
	Steps   int
	Hash    uint64
	Reached map[string]int // faults by what they met
}

const (
	millisecond = clock.Millisecond
	second      = clock.Second

	// healLimit is how long the healed world may take to become quiet, in simulated microseconds. Some timers of
	// orders last for days.
	healLimit = 10 * 24 * 3600 * second
)

// Sim is one simulated world.
type Sim struct {
	*clock.Clock
	swarm  swarm
	bug    bugs.Bug
	script *acts.Script // what people do
	truth  *judge.Truth

	nodes   []*node
	split   []int // by node: on which side of a split network it is; nil while the network is whole
	journal *shards.Journal
	// claims has the activation that made each claim, to find the one on whose facts an entry depends.
	claims map[journal.Claim]*hosted
	turns  *rand.Rand // draws how long a mailbox waits for its turn, apart from all other draws
	busy   bool       // in this world many mailboxes wait long
	made   []*hosted  // every activation that any node has ever made
	errors *slog.Logger
	asks   []*ask

	// The fields from here on are used in a world with shards alone.
	sharded bool
	calm    bool    // nothing goes wrong but shards
	steady  []int64 // by shard: the simulated microsecond since which it answers every node
	members int     // how many lifetimes of nodes there have been, which numbers the next
	burying loop
	follow  loop
	unrest  int64 // the simulated microsecond at which a node last came or went
}

// newSim makes the world of a seed. The order of the draws belongs to the seed: one more draw in between would turn
// every seed into another world, and what a seed once found would be lost.
func newSim(seed uint64, bug bugs.Bug, log io.Writer) *Sim {
	s := &Sim{Clock: clock.New(seed, log), bug: bug, claims: make(map[journal.Claim]*hosted)}
	s.turns = rand.New(rand.NewPCG(seed, 0x7095))
	s.busy = s.turns.IntN(4) == 0
	s.errors = slog.New(failures{s})
	s.swarm = drawSwarm(s.Rng)
	s.swarm.holdScale = holdScale(seed)
	s.makeJournal(seed)
	load := acts.Load{Span: s.swarm.load, Orders: s.swarm.orders, Shoppers: s.swarm.shoppers, HoldScale: s.swarm.holdScale}
	s.script = acts.New(seed, s.Clock, load, s.askActor)
	s.truth = judge.New(s.tellJudge())
	s.script.Tell(s.truth)
	for i := range s.swarm.nodes {
		s.nodes = append(s.nodes, s.newNode(i))
	}
	s.Logf("seed %d swarm %+v", seed, s.swarm)
	return s
}

// swarm are the options of one seed. Rates are the share of messages or commits that are affected. Spans are the mean
// time from one fault to the next, in microseconds, or 0 for never.
type swarm struct {
	nodes                int
	load                 int64   // for how many microseconds people come
	loss, repeat, late   float64 // of messages
	lateBy               int64
	unknown, slow        float64
	crash, split, retire int64
	jumps                bool // after a restart, the clock of a node is wrong by up to an hour
	snapshotEvery        int64
	shows, orders        int
	shoppers             int // how many people come to choose seats of each seated show
	holdScale            float64
}

// drawSwarm draws the options of a seed. Each fault is absent from a third of all seeds: a fault that hides others
// does not hide them everywhere then.
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

// holdScale returns what multiplies the limits of how many seats one person may hold. The halls are small, so one
// seed in ten has limits that its shoppers reach. At .06 they mostly reach the limit of seats held at a time; at .04
// they also reach the limit of seats newly held in a while. The scale follows from the seed and draws nothing, so
// that seeds that once found something are still the same runs.
func holdScale(seed uint64) float64 {
	switch seed % 20 {
	case 8:
		return .06
	case 18:
		return .04
	default:
		return 1
	}
}

// drawTurn draws how long a mailbox waits for its turn, in microseconds. Most wait for nothing. In one seed of four
// the nodes are so busy that every other mailbox waits up to 40 milliseconds.
func (s *Sim) drawTurn() int64 {
	switch {
	case s.busy && s.turns.IntN(2) == 0:
		return s.turns.Int64N(40 * millisecond)
	case s.turns.IntN(10) == 0:
		return s.turns.Int64N(3 * millisecond)
	default:
		return 0
	}
}

// start boots the nodes, opens the shows, and begins the faults.
func (s *Sim) start() {
	for _, n := range s.nodes {
		n.joinShards()
		n.bootNode()
	}
	s.startShards()
	for range s.swarm.shows {
		s.script.OpenShow()
	}
	s.Every(s.swarm.crash, s.crashOne)
	s.Every(s.swarm.split, s.splitCluster)
	s.Every(s.swarm.retire, s.retireOne)
	s.Every(2*second, s.wakeUnowned)
}

// healWorld ends all faults and lets everything come to its end: nodes start, clients ask until they are answered,
// payments are concluded.
func (s *Sim) healWorld() {
	s.Heal()
	s.split = nil
	s.healShards()
	s.tellMembers()
	for _, n := range s.nodes {
		if !n.up {
			n.joinShards()
			n.bootNode()
		}
	}
	for _, a := range s.asks {
		if a.limit == 0 || a.tries < a.limit {
			a.limit = 0 // who has not given up asks until answered
		}
	}
	s.script.ConcludePayments()
	if s.script.HasLines() {
		for i := range int64(200) {
			s.After(i*5*second, s.judgeLines)
		}
	}
	for i := range int64(10) { // an activation that has been succeeded may be in the way for a second
		s.After(i*2*second, s.wakeUnowned)
	}
}

// wakeUnowned wakes the actors whose streams have no owner that is loaded, as real nodes wake parked actors.
func (s *Sim) wakeUnowned() {
	for _, ref := range s.journal.Refs {
		if s.currentOwner(ref) == nil {
			s.sendMessage(nil, &envelope{to: ref, cmd: engine.Wake{}})
		}
	}
}

// currentOwner returns the activation whose claim on a stream is the latest, or nil if it is not in a node's memory.
func (s *Sim) currentOwner(ref engine.Ref) *hosted {
	for _, n := range s.nodes {
		if a := n.acts[ref]; a != nil && a.claim.Epoch == s.journal.Stream(ref).Epoch {
			return a
		}
	}
	return nil
}
