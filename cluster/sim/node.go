package sim

import (
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
)

// node hosts activations and has a lane to the journal.
type node struct {
	sim    *Sim
	id     int
	up     bool
	life   int           // counts starts and crashes
	offset time.Duration // what its wall clock is wrong by
	acts   map[engine.Ref]*hosted
	all    []*hosted // in the order of their making, also those that have ended
	armed  map[engine.Ref]time.Time
	lane   lane
}

func (n *node) boot() {
	s := n.sim
	n.up, n.life = true, n.life+1
	n.acts, n.all, n.lane = make(map[engine.Ref]*hosted), nil, lane{n: n.lane.n}
	n.armed = make(map[engine.Ref]time.Time)
	n.offset = time.Duration(s.between(-50*millisecond, 50*millisecond)) * time.Microsecond
	if s.swarm.jumps && s.chance(.5) {
		n.offset = time.Duration(s.between(-3600*second, 3600*second)) * time.Microsecond
		s.reach("clock jump", "start")
	}
	s.logf("node %d starts, clock %+v", n.id, n.offset)
	s.reshuffle()
}

// reshuffle has every node hear, after a while, that the members are others. A node then
// puts away what it takes for another's: nobody would wake it there.
func (s *Sim) reshuffle() {
	for _, n := range s.nodes {
		life := n.life
		s.after(s.turns.Int64N(3*second), func() {
			if n.life != life || !n.up {
				return
			}
			for _, a := range slices.Clone(n.all) {
				if s.owner(n, a.Ref) != n {
					s.reach("moved", s.phase(a.Ref))
					a.retire(true)
				}
			}
		})
	}
}

// wall is the node's clock.
func (n *node) wall() time.Time {
	return enginetest.Epoch.Add(time.Duration(n.sim.now)*time.Microsecond + n.offset)
}

// crashOne kills a node. What its lane has in flight lands or not.
func (s *Sim) crashOne() {
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	if !n.up {
		return
	}
	s.logf("node %d crashes", n.id)
	for _, a := range n.all {
		s.reach("crash", s.phase(a.Ref))
	}
	n.up, n.life, n.acts, n.all = false, n.life+1, nil, nil
	s.reshuffle()
	s.after(s.between(100*millisecond, 3*second), func() {
		if !n.up {
			n.boot()
		}
	})
}

// retireOne puts an activation away: an idle one, as a node does with those that nobody
// uses, or any, as it does when its actor moves to another node.
func (s *Sim) retireOne() {
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	if !n.up || len(n.all) == 0 {
		return
	}
	a := n.all[s.rng.IntN(len(n.all))]
	if force := s.chance(.5); force {
		s.reach("forced retire", s.phase(a.Ref))
		a.retire(true)
	} else if a.state != nil && a.pending == 0 && len(a.held) == 0 {
		s.reach("retire", s.phase(a.Ref))
		a.retire(false)
	}
}

// find is the node's activation of an actor, made when there is none.
func (n *node) find(ref engine.Ref) *hosted {
	if a := n.acts[ref]; a != nil {
		return a
	}
	a := newHosted(n, ref)
	n.acts[ref] = a
	n.all = append(n.all, a)
	a.load()
	return a
}

// forget drops an activation that has ended.
func (n *node) forget(a *hosted) {
	if n.acts[a.Ref] == a {
		delete(n.acts, a.Ref)
	}
	n.all = slices.DeleteFunc(n.all, func(b *hosted) bool { return a == b })
}

// arm plans a Wake of an actor, instead of the one planned before.
func (n *node) arm(ref engine.Ref, at time.Time) {
	s, life := n.sim, n.life
	n.armed[ref] = at
	s.after(max(at.Sub(n.wall()).Microseconds(), 50), func() {
		if n.life != life || !n.armed[ref].Equal(at) {
			return
		}
		delete(n.armed, ref)
		wake := &envelope{to: ref, cmd: engine.Wake{}}
		switch a := n.acts[ref]; {
		case a != nil: // it asked for it, whoever owns the actor now
			a.tell(wake.cmd)
		case s.owner(n, ref) == n:
			n.find(ref).tell(wake.cmd)
		default:
			s.transmit(n, wake)
		}
	})
}
