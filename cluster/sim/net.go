package sim

import (
	"boxoffice/cluster/sim/brief"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
)

// envelope is a command on its way to an actor.
type envelope struct {
	to  engine.Ref
	cmd engine.Command
	// call is the client's try that waits for the reply. It is nil for a message between actors.
	call *call
}

// call is one try of an ask. Each try may be answered, and the first answer counts.
type call struct {
	ask *ask
	cmd engine.Command
}

// ask is a client's command, repeated until it is answered.
type ask struct {
	to       engine.Ref
	cmd      engine.Command
	at       int64              // when it was first sent
	tries    int                // how often it was sent
	limit    int                // tries after which the client gives up; 0 for never
	answered bool               // the client has its answer, and takes no other
	done     func(engine.Reply) // is told the first answer; may be nil
}

// askActor sends a client's command and repeats it, under the same id, until it is
// answered or the client gives up. A repeat brings the record that its order has by then.
func (s *Sim) askActor(to engine.Ref, cmd engine.Command, limit int, done func(engine.Reply)) {
	a := &ask{to: to, cmd: cmd, at: s.Now(), limit: limit, done: done}
	if s.Healed() {
		a.limit = 0
	}
	s.asks = append(s.asks, a)
	s.sendTry(a)
}

// sendTry sends an ask once more. It plans the next try in a few seconds, which is dropped if another was made
// sooner.
func (s *Sim) sendTry(a *ask) {
	if a.answered || a.limit > 0 && a.tries >= a.limit {
		return
	}
	if a.tries > 0 {
		a.cmd = s.script.RenewRecord(a.to.Home, a.cmd)
	}
	a.tries++
	n := a.tries
	s.sendMessage(nil, &envelope{to: a.to, cmd: a.cmd, call: &call{ask: a, cmd: a.cmd}})
	s.After(s.Between(second, 6*second), func() {
		if a.tries == n {
			s.sendTry(a)
		}
	})
}

// answerClient sends a reply back to the client over the net, which may lose it. Without a client it does nothing.
func (c *call) answerClient(s *Sim, reply engine.Reply) {
	if c == nil {
		return
	}
	if s.Chance(s.swarm.loss) {
		s.Reach("lost", "reply")
		return
	}
	s.After(s.drawDelay("reply"), func() { c.ask.hearReply(s, reply) })
}

// hearReply gives the client an answer. After UNAVAILABLE the client tries again soon. INTERNAL breaks the
// simulation, because no fault of the world may cause it.
func (a *ask) hearReply(s *Sim, reply engine.Reply) {
	if a.answered {
		return
	}
	if r, no := reply.(*engine.Refusal); no {
		if r.Code == engine.Internal {
			s.Failf("%s is answered INTERNAL", brief.Command(a.cmd))
			return
		}
		// The repeat that was planned with the try is dropped, if this one comes sooner.
		if n := a.tries; r.Code == engine.Unavailable {
			s.After(s.Between(50*millisecond, second), func() {
				if a.tries == n {
					s.sendTry(a)
				}
			})
			return
		}
	}
	a.answered = true
	s.Logf("client hears of %s: %s", brief.Command(a.cmd), brief.Reply(reply))
	if a.done != nil {
		a.done(reply)
	}
}

// sendMessage puts a message on the net, which may lose, delay or repeat it. From is the sending node, or nil for a
// client.
func (s *Sim) sendMessage(from *node, e *envelope) {
	what := enginetest.CommandName(e.cmd)
	if s.Chance(s.swarm.loss) {
		s.Reach("lost", what)
		s.Logf("lost: %s to %s", brief.Command(e.cmd), e.to.Name())
		return
	}
	s.After(s.drawDelay(what), func() { s.deliverMessage(from, e) })
	if s.Chance(s.swarm.repeat) {
		s.Reach("repeated", what)
		s.After(s.drawDelay(what)+s.Between(0, s.swarm.lateBy), func() { s.deliverMessage(from, e) })
	}
}

// drawDelay draws how long a message is on its way, in microseconds: mostly up to three milliseconds, and sometimes
// up to the seed's lateBy.
func (s *Sim) drawDelay(what string) int64 {
	if s.Chance(s.swarm.late) {
		s.Reach("late", what)
		return s.Between(0, s.swarm.lateBy)
	}
	return s.Between(100, 3*millisecond)
}

// deliverMessage hands a message to the node that the sender takes for the owner of the actor. That may be the wrong
// node: then two nodes have an activation of the actor, and the journal's fence decides.
func (s *Sim) deliverMessage(from *node, e *envelope) {
	n := s.findOwner(from, e.to)
	if n == nil || !n.up {
		e.call.answerClient(s, engine.Refuse(engine.Unavailable, nil))
		return
	}
	// A shut valve refuses clients at once. Of a message between actors nobody would hear the refusal, so it is
	// delivered.
	if e.call != nil && s.sharded && n.shut[s.journal.ShardOf(e.to)] {
		s.Reach("refused by a valve", enginetest.CommandName(e.cmd))
		e.call.answerClient(s, engine.Refuse(engine.Unavailable, nil))
		return
	}
	if e.call != nil {
		n.findActivation(e.to).askCommand(e.call)
	} else {
		n.findActivation(e.to).tellCommand(e.cmd)
	}
}

// findOwner returns the node that has an event's actors, as the node "from" sees the cluster. A client asks any node.
// While the network is split, each side sees only itself. A node that the others have buried is seen by itself alone.
func (s *Sim) findOwner(from *node, ref engine.Ref) *node {
	if from == nil || !from.up {
		from = s.nodes[s.Rng.IntN(len(s.nodes))]
		if !from.up {
			return nil
		}
	}
	// The owner is the node with the highest score among those that the sender sees.
	var best *node
	var score uint64
	for _, n := range s.nodes {
		if !n.up || n.lost && n != from || s.split != nil && s.split[n.id] != s.split[from.id] {
			continue
		}
		if h := mixHash(uint64(ref.Home), uint64(n.id)); best == nil || h > score {
			best, score = n, h
		}
	}
	return best
}

// splitCluster makes the nodes disagree for up to four seconds about which nodes there are.
func (s *Sim) splitCluster() {
	if len(s.nodes) < 2 || s.split != nil {
		return
	}
	sides := make([]int, len(s.nodes))
	for i := range sides {
		sides[i] = s.Rng.IntN(2)
	}
	s.split = sides
	s.Logf("split %v", sides)
	s.unrest = s.Now()
	for _, n := range s.nodes {
		for _, a := range n.all {
			s.Reach("split", s.phaseOf(a.Ref))
		}
	}
	s.tellMembers()
	s.After(s.Between(200*millisecond, 4*second), func() {
		s.split = nil
		s.unrest = s.Now()
		s.tellMembers()
		s.Logf("split ends")
	})
}

// mixHash scores a node for an event. The node with the highest score owns the event, so that a node that goes moves
// only its own events, and none between the other nodes.
func mixHash(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 ^ (b+1)*0xbf58476d1ce4e5b9
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	return x ^ x>>29
}
