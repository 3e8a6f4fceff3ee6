package sim

import (
	"slices"

	"boxoffice/cluster/sim/shards"
	"boxoffice/engine"
)

// This file says when shards fail, and what nodes notice of it.

// visitShard returns the node's way to a shard at this moment: the place that it knows, and whether its valve is
// shut.
func (n *node) visitShard(shard int) shards.Visit {
	return n.knows[shard].Visit(n.sim.sharded && n.shut[shard])
}

// shardWeather is what goes wrong with shards: for each fault the mean time from one to the next, in microseconds, or
// 0 for never. Kill, stall and move are about a shard's server, home about the home database, and lose about nodes
// that are taken for dead.
type shardWeather struct{ kill, stall, move, home, lose int64 }

// makeJournal makes the journal of the world. A world with several shards has less load, because more goes on in it.
// In half of these worlds nothing goes wrong but shards, so that a wrong effect of their faults shows by itself.
func (s *Sim) makeJournal(seed uint64) {
	s.journal = shards.New(seed, s.Clock, s.bug, shards.World{
		Take:  func(ref engine.Ref, f engine.Fact) error { return s.truth.Take(ref, f) },
		Phase: s.phaseOf,
	})
	s.steady = make([]int64, len(s.journal.Shards))
	if s.sharded = s.journal.IsSharded(); s.sharded {
		w := &s.swarm
		// The two shows are in different shards, so that one can go on while the other's shard is away.
		w.shows, w.orders = 2, 20+w.orders/2
		if s.calm = s.Rng.IntN(2) == 0; s.calm {
			w.loss, w.repeat, w.late, w.unknown, w.slow, w.crash, w.split, w.retire = 0, 0, 0, 0, 0, 0, 0, 0
		}
	}
}

// newNode makes a node that is down. It believes each shard to be at its present place.
func (s *Sim) newNode(id int) *node {
	n := &node{sim: s, id: id, shut: make([]bool, len(s.journal.Shards)), writers: make([]int32, len(s.journal.Shards))}
	for i, sh := range s.journal.Shards {
		n.knows = append(n.knows, sh.Place.Address())
		n.lanes = append(n.lanes, &lane{shard: i})
	}
	return n
}

// startShards begins what goes wrong with shards, and what nodes do all the time in such a world: bury the dead,
// follow the journal.
func (s *Sim) startShards() {
	if !s.sharded {
		return
	}
	span := func(least, most int64) int64 {
		if s.Rng.IntN(4) == 0 {
			return 0
		}
		return s.Between(least, most)
	}
	w := shardWeather{
		kill: span(6*second, 30*second), stall: span(6*second, 30*second), move: span(6*second, 30*second),
		home: span(5*second, 30*second), lose: span(5*second, 30*second),
	}
	s.Logf("shards %d calm %t weather %+v", len(s.journal.Shards), s.calm, w)
	s.Every(w.kill, s.killShard)
	s.Every(w.stall, s.stallShard)
	s.Every(w.move, s.moveShard)
	s.Every(w.home, s.journal.Home.Kill)
	if !s.calm {
		s.Every(w.lose, s.takeNodeForDead)
	}
	s.burying = loop{sim: s, least: 300 * millisecond, most: 700 * millisecond, job: s.closeBuried}
	s.follow = loop{sim: s, least: 100 * millisecond, most: 400 * millisecond, job: s.followAll}
	s.burying.planNext()
	s.follow.planNext()
	s.Every(second, s.judgeOthers)
}

// loop runs a job again and again: until the world heals, and after that as long as the job says that there is more
// to do. A world that is quiet must have nothing planned.
type loop struct {
	sim *Sim
	// The bounds of the time from one run to the next, in microseconds.
	least, most int64
	job         func() (more bool)
	running     bool
}

// planNext plans the next run, unless one is planned already.
func (l *loop) planNext() {
	if l.running {
		return
	}
	l.running = true
	l.sim.After(l.sim.Between(l.least, l.most), func() {
		l.running = false
		if l.job() || !l.sim.Healed() {
			l.planNext()
		}
	})
}

// drawShard picks a shard at random, or nil if that one does not answer or is being moved.
func (s *Sim) drawShard() *shards.Shard {
	sh := s.journal.Shards[s.Rng.IntN(len(s.journal.Shards))]
	if !sh.Place.Answers() || sh.Moving {
		return nil
	}
	return sh
}

// killShard kills a shard's server. Commits that were not finished are lost.
func (s *Sim) killShard() {
	if sh := s.drawShard(); sh != nil {
		s.disturbShard(sh, "killed", sh.Place.Kill)
	}
}

// stallShard makes a shard's server stand still for a while. It may carry out statements afterwards that it had
// received before.
func (s *Sim) stallShard() {
	if sh := s.drawShard(); sh != nil {
		s.disturbShard(sh, "stalled", sh.Place.Stall)
	}
}

// disturbShard lets a shard fail. It recovers after four seconds at most, in one case of four after up to 24.
func (s *Sim) disturbShard(sh *shards.Shard, how string, fail func()) {
	s.Logf("shard %d is %s", sh.No, how)
	for _, n := range s.nodes {
		for _, a := range n.all {
			if s.journal.ShardOf(a.Ref) == sh.No {
				s.Reach("shard "+how, s.phaseOf(a.Ref))
			}
		}
	}
	fail()
	p := sh.Place
	s.tellValves(sh)
	span := s.Between(50*millisecond, 4*second)
	if s.Rng.IntN(4) == 0 {
		span += s.Between(0, 20*second)
	}
	s.After(span, func() {
		if !p.Answers() {
			p.Recover()
			s.tellValves(sh)
		}
	})
}

// tellValves lets the valves of all nodes notice how a shard is. One node in ten notices late, as on a machine that
// stands still for a while.
func (s *Sim) tellValves(sh *shards.Shard) {
	s.steady[sh.No] = s.Now()
	for _, n := range s.nodes {
		wait := s.Between(20*millisecond, 800*millisecond)
		if s.Chance(.1) {
			wait += s.Between(0, 8*second)
		}
		s.After(wait, func() { n.turnValve(sh.No) })
	}
}

// turnValve shuts or opens a node's valve to a shard, by what the node sees now. When the valve shuts, the callers
// that wait for this shard are told UNAVAILABLE.
func (n *node) turnValve(shard int) {
	was := n.shut[shard]
	n.shut[shard] = !n.knows[shard].IsRight()
	if was == n.shut[shard] {
		return
	}
	n.sim.steady[shard] = n.sim.Now()
	n.sim.Logf("node %d shuts its valve to shard %d: %t", n.id, shard, n.shut[shard])
	if !n.shut[shard] {
		return
	}
	n.waits = slices.DeleteFunc(n.waits, func(r *reply) bool {
		if r.left || n.sim.journal.ShardOf(r.a.Ref) != shard {
			return r.left
		}
		r.gone = true
		r.call.answerClient(n.sim, engine.Refuse(engine.Unavailable, nil))
		return true
	})
}

// healShards ends all that goes wrong with shards. Nodes that the others took for dead, or that know an old place of
// a shard, start again.
func (s *Sim) healShards() {
	if !s.sharded {
		return
	}
	s.journal.Heal()
	for i := range s.steady {
		s.steady[i] = s.Now()
	}
	s.unrest = s.Now()
	for _, n := range s.nodes {
		if n.up && (n.lost || n.hasOldMap()) {
			s.crashNode(n)
		}
		for i := range s.journal.Shards {
			n.turnValve(i)
		}
	}
	s.burying.planNext()
	s.follow.planNext()
}

// followTask is an actor that does not exist. The node that would own it runs the follower, so the follower moves to
// another node by the same rule as actors do.
var followTask = engine.Ref{Home: 1 << 40}

// followAll starts, advances or stops the follower on each node. While the cluster is split, two nodes may run it. It
// returns true while there is more to follow.
func (s *Sim) followAll() (more bool) {
	for _, n := range s.nodes {
		switch {
		case !n.up || s.findOwner(n, followTask) != n || !s.journal.Home.Answers() && !n.copy.Runs():
			n.stopFollower()
			continue
		case !n.copy.Runs():
			n.copy = s.journal.Home.Follow(n.visitShard, s.swarm.unknown)
		}
		n.copy.Advance()
	}
	s.judgeFollowers()
	return !s.journal.HasPassedAll()
}

// stopFollower stops the follower that runs on the node, if any does.
func (n *node) stopFollower() {
	if n.copy.Runs() {
		n.copy.Stop()
	}
}
