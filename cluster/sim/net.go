package sim

import (
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
)

// envelope is a command on its way to an actor.
type envelope struct {
	to   engine.Ref
	cmd  engine.Command
	call *call // who waits for a reply, or nil
}

// call is one try of an ask.
type call struct {
	ask *ask
	cmd engine.Command
}

// ask is a client's command, repeated until it is answered.
type ask struct {
	to       engine.Ref
	cmd      engine.Command
	tries    int
	limit    int // tries after which the client gives up; 0 for never
	answered bool
	done     func(engine.Reply)
}

// ask sends a client's command and repeats it, under the same id, until it is
// answered or the client gives up.
func (s *Sim) ask(to engine.Ref, cmd engine.Command, limit int, done func(engine.Reply)) {
	a := &ask{to: to, cmd: cmd, limit: limit, done: done}
	if s.healed {
		a.limit = 0
	}
	s.asks = append(s.asks, a)
	s.try(a)
}

func (s *Sim) try(a *ask) {
	if a.answered || a.limit > 0 && a.tries >= a.limit {
		return
	}
	a.tries++
	n := a.tries
	s.transmit(nil, &envelope{to: a.to, cmd: a.cmd, call: &call{ask: a, cmd: a.cmd}})
	s.after(s.between(second, 6*second), func() {
		if a.tries == n {
			s.try(a)
		}
	})
}

// answer sends a reply back to the client, who may have heard one before.
func (c *call) answer(s *Sim, reply engine.Reply) {
	if c == nil {
		return
	}
	if s.chance(s.swarm.loss) {
		s.reach("lost", "reply")
		return
	}
	s.after(s.delay("reply"), func() { c.ask.hear(s, reply) })
}

func (a *ask) hear(s *Sim, reply engine.Reply) {
	if a.answered {
		return
	}
	if r, no := reply.(*engine.Refusal); no {
		if r.Code == engine.Internal {
			s.failf("%s is answered INTERNAL", brief(a.cmd))
			return
		}
		if n := a.tries; r.Code == engine.Unavailable {
			s.after(s.between(50*millisecond, second), func() {
				if a.tries == n {
					s.try(a)
				}
			})
			return
		}
	}
	a.answered = true
	s.logf("client hears of %s: %s", brief(a.cmd), briefReply(reply))
	if a.done != nil {
		a.done(reply)
	}
}

// transmit puts a message on the net, which may lose, delay or repeat it. From
// is nil for a client.
func (s *Sim) transmit(from *node, e *envelope) {
	what := enginetest.CommandName(e.cmd)
	if s.chance(s.swarm.loss) {
		s.reach("lost", what)
		s.logf("lost: %s to %s", brief(e.cmd), e.to.Name())
		return
	}
	s.after(s.delay(what), func() { s.deliver(from, e) })
	if s.chance(s.swarm.repeat) {
		s.reach("repeated", what)
		s.after(s.delay(what)+s.between(0, s.swarm.lateBy), func() { s.deliver(from, e) })
	}
}

func (s *Sim) delay(what string) int64 {
	if s.chance(s.swarm.late) {
		s.reach("late", what)
		return s.between(0, s.swarm.lateBy)
	}
	return s.between(100, 3*millisecond)
}

// deliver hands a message to the node that its sender takes for the owner.
func (s *Sim) deliver(from *node, e *envelope) {
	n := s.owner(from, e.to)
	if n == nil || !n.up {
		e.call.answer(s, engine.Refuse(engine.Unavailable, nil))
		return
	}
	if e.call != nil {
		n.find(e.to).ask(e.call)
	} else {
		n.find(e.to).tell(e.cmd)
	}
}

// owner is the node that has an event's actors, as seen from a node; a client
// asks any node. While the cluster is split, each side sees only itself.
func (s *Sim) owner(from *node, ref engine.Ref) *node {
	if from == nil || !from.up {
		from = s.nodes[s.rng.IntN(len(s.nodes))]
		if !from.up {
			return nil
		}
	}
	var best *node
	var score uint64
	for _, n := range s.nodes {
		if !n.up || s.split != nil && s.split[n.id] != s.split[from.id] {
			continue
		}
		if h := mix(uint64(ref.Home), uint64(n.id)); best == nil || h > score {
			best, score = n, h
		}
	}
	return best
}

// splitCluster has the nodes disagree about who is there, for a while.
func (s *Sim) splitCluster() {
	if len(s.nodes) < 2 || s.split != nil {
		return
	}
	sides := make([]int, len(s.nodes))
	for i := range sides {
		sides[i] = s.rng.IntN(2)
	}
	s.split = sides
	s.logf("split %v", sides)
	for _, n := range s.nodes {
		for _, a := range n.all {
			s.reach("split", s.phase(a.Ref))
		}
	}
	s.reshuffle()
	s.after(s.between(200*millisecond, 4*second), func() {
		s.split = nil
		s.reshuffle()
		s.logf("split ends")
	})
}

func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 ^ (b+1)*0xbf58476d1ce4e5b9
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	return x ^ x>>29
}
