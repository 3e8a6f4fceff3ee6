package sim

import (
	"slices"
	"time"

	"boxoffice/cluster/sim/shards"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
)

// node is a simulated node: it hosts activations and has a lane to each shard of the journal.
type node struct {
	sim  *Sim
	id   int
	up   bool
	life int // counts starts and crashes: what was planned in an earlier life does nothing in this one
	// offset is by how much the node's wall clock is wrong.
	offset time.Duration
	// acts has the activation to which new commands go, by actor.
	acts map[engine.Ref]*hosted
	all  []*hosted // all activations of this life in the order in which they were made, ended ones too
	// armed is when each actor wants its next Wake, by the node's clock.
	armed map[engine.Ref]time.Time
	lanes []*lane

	// The fields from here on are used in a world with shards alone.
	knows   []shards.Address // by shard: where it is, as the node read when it started
	member  int              // the number of the node's lifetime as a member
	writers []int32          // by lane: the writer that it commits as
	shut    []bool           // by shard: whether the valve before it is shut
	lost    bool             // the other members have buried it, and it does not know that yet
	// waits are the callers to tell UNAVAILABLE if their shard stops answering.
	waits []*reply
	copy  *shards.Follower // the follower that ran here last, or nil
}

// bootNode begins another life of a node. The node remembers none of its activations, and its clock is wrong by
// another span.
func (n *node) bootNode() {
	s := n.sim
	n.up, n.life = true, n.life+1
	n.acts, n.all = make(map[engine.Ref]*hosted), nil
	// The lanes are new, but go on counting batches, so that no two batches have one name in the log.
	for i, l := range n.lanes {
		n.lanes[i] = &lane{shard: i, n: l.n}
	}
	n.armed = make(map[engine.Ref]time.Time)
	n.offset = time.Duration(s.Between(-50*millisecond, 50*millisecond)) * time.Microsecond
	if s.swarm.jumps && s.Chance(.5) {
		n.offset = time.Duration(s.Between(-3600*second, 3600*second)) * time.Microsecond
		s.Reach("clock jump", "start")
	}
	s.Logf("node %d starts, clock %+v", n.id, n.offset)
	s.tellMembers()
}

// tellMembers tells every node, after a while, that the list of members has changed. A node then puts away the actors
// that belong to another node now, because nobody would send them anything here.
func (s *Sim) tellMembers() {
	for _, n := range s.nodes {
		life := n.life
		s.After(s.turns.Int64N(3*second), func() {
			if n.life != life || !n.up {
				return
			}
			for _, a := range slices.Clone(n.all) {
				if s.findOwner(n, a.Ref) != n {
					s.Reach("moved", s.phaseOf(a.Ref))
					a.retireSoon(true)
				}
			}
		})
	}
}

// wallClock returns the node's own time, which may be wrong.
func (n *node) wallClock() time.Time {
	return enginetest.Epoch.Add(time.Duration(n.sim.Now())*time.Microsecond + n.offset)
}

// crashOne kills a node at random. The batch that its lane has in flight may still be committed.
func (s *Sim) crashOne() {
	if n := s.nodes[s.Rng.IntN(len(s.nodes))]; n.up {
		s.crashNode(n)
	}
}

// crashNode ends a node with all its activations. It starts again within a few seconds.
func (s *Sim) crashNode(n *node) {
	s.Logf("node %d crashes", n.id)
	for _, a := range n.all {
		s.Reach("crash", s.phaseOf(a.Ref))
	}
	n.up, n.life, n.acts, n.all = false, n.life+1, nil, nil
	s.tellMembers()
	if s.sharded {
		s.dieSharded(n)
		return
	}
	s.After(s.Between(100*millisecond, 3*second), func() {
		if !n.up {
			n.bootNode()
		}
	})
}

// retireOne puts an activation away. Either it is idle, as when nobody uses its actor any more, or it is forced, as
// when the actor moves to another node.
func (s *Sim) retireOne() {
	n := s.nodes[s.Rng.IntN(len(s.nodes))]
	if !n.up || len(n.all) == 0 {
		return
	}
	a := n.all[s.Rng.IntN(len(n.all))]
	if force := s.Chance(.5); force {
		s.Reach("forced retire", s.phaseOf(a.Ref))
		a.retireSoon(true)
	} else if a.state != nil && a.pending == 0 && len(a.held) == 0 {
		s.Reach("retire", s.phaseOf(a.Ref))
		a.retireSoon(false)
	}
}

// findActivation returns the node's activation of an actor. It makes one, which begins to load, if there is none.
func (n *node) findActivation(ref engine.Ref) *hosted {
	if a := n.acts[ref]; a != nil {
		return a
	}
	a := newHosted(n, ref)
	n.acts[ref] = a
	n.all = append(n.all, a)
	a.claimAndLoad()
	return a
}

// forgetActivation drops an activation that has ended. Another one of the same actor may have taken its place
// already, and stays.
func (n *node) forgetActivation(a *hosted) {
	if n.acts[a.Ref] == a {
		delete(n.acts, a.Ref)
	}
	n.all = slices.DeleteFunc(n.all, func(b *hosted) bool { return a == b })
}

// armWake plans a Wake of an actor at a time by the node's clock. It replaces the one that was planned before.
func (n *node) armWake(ref engine.Ref, at time.Time) {
	s, life := n.sim, n.life
	n.armed[ref] = at
	// A time that has passed is due at once, but not within the step that has asked for it.
	s.After(max(at.Sub(n.wallClock()).Microseconds(), 50), func() {
		if n.life != life || !n.armed[ref].Equal(at) {
			return
		}
		delete(n.armed, ref)
		wake := &envelope{to: ref, cmd: engine.Wake{}}
		switch a := n.acts[ref]; {
		case a != nil: // it asked for it; another node may own the actor now
			a.tellCommand(wake.cmd)
		case s.findOwner(n, ref) == n:
			n.findActivation(ref).tellCommand(wake.cmd)
		default:
			s.sendMessage(n, wake)
		}
	})
}
