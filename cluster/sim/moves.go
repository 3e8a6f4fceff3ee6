package sim

import (
	"slices"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/cluster/sim/shards"
)

// noticeTime is how long a shard that is about to be closed shows its new version before its writers are closed, in
// microseconds. Nodes see the version during this time and stop by themselves.
const noticeTime = second

// moveShard moves a shard to another server. It is closed where it is, and opened where a copy of it is. Nodes learn
// the new place only when they start. Half of the times a node is starting while the shard is closed.
func (s *Sim) moveShard() {
	sh := s.drawShard()
	if sh == nil || !s.journal.Home.Answers() {
		return
	}
	sh.Moving = true
	s.Logf("shard %d is to be moved", sh.No)
	if s.Rng.IntN(2) == 0 {
		if n := s.nodes[s.Rng.IntN(len(s.nodes))]; n.up {
			s.crashNode(n)
		}
	}
	s.After(s.Between(0, 2*second), func() { s.closeShard(sh) })
}

// closeShard gives the shard's place a version that no node knows, so that valves shut, and closes its writers a
// second later.
func (s *Sim) closeShard(sh *shards.Shard) {
	p := sh.Place
	if !sh.Moving {
		return // it was finished, because the world has healed
	}
	if !p.Answers() {
		s.After(s.Between(200*millisecond, second), func() { s.closeShard(sh) })
		return
	}
	s.Logf("shard %d is being closed", sh.No)
	p.Announce()
	s.tellValves(sh)
	s.After(noticeTime, func() { s.leavePlace(sh, p) })
}

// leavePlace ends all writing at the shard's old place. From now on the copy is the shard.
func (s *Sim) leavePlace(sh *shards.Shard, p *shards.Place) {
	if !sh.Moving || sh.Place != p {
		return
	}
	if !p.Answers() {
		s.After(s.Between(200*millisecond, second), func() { s.leavePlace(sh, p) })
		return
	}
	sh.Leave()
	s.After(s.Between(300*millisecond, 5*second), func() { s.openShard(sh) })
}

// openShard opens the shard at its new place. Then the nodes start again one after another, which is how they learn
// it.
func (s *Sim) openShard(sh *shards.Shard) {
	if !sh.Moving {
		return
	}
	if !s.journal.Home.Answers() {
		s.After(s.Between(200*millisecond, second), func() { s.openShard(sh) })
		return
	}
	sh.Open()
	for _, n := range s.nodes {
		life := n.life
		s.After(s.Between(200*millisecond, 8*second), func() {
			if n.up && n.life == life && n.hasOldMap() {
				s.crashNode(n)
			}
		})
	}
}

// hasOldMap returns whether a shard is at another place, or at another version of its place, than the node believes.
func (n *node) hasOldMap() bool {
	return !slices.EqualFunc(n.knows, n.sim.journal.Home.Addresses(), shards.Address.HasVersionOf)
}

// startNode starts a node. It reads where the shards are, and opens a writer in each of them. It begins again if a
// place has another version by then, and waits while a database does not answer or is closed.
func (s *Sim) startNode(n *node, life int) {
	if n.life != life {
		return
	}
	places := s.journal.Home.Addresses()
	refused := func(a shards.Address) bool { return !a.IsRight() }
	if !s.journal.Home.Answers() || slices.ContainsFunc(places, refused) {
		s.After(s.Between(100*millisecond, 400*millisecond), func() { s.startNode(n, life) })
		return
	}
	s.After(s.Between(20*millisecond, 1500*millisecond), func() {
		if n.life == life && slices.ContainsFunc(places, func(a shards.Address) bool { return refused(a) && s.bug != bugs.OldMap }) {
			s.Reach("shard", "opens no writer")
			s.startNode(n, life)
		} else if n.life == life {
			n.openWriters(places)
			n.bootNode()
		}
	})
}

// openWriters opens the node's writers in the places that it has read. The node has a new number as a member, because
// the writers of its last life belong to a member that is dead.
func (n *node) openWriters(places []shards.Address) {
	s := n.sim
	n.knows = places
	s.members++
	n.member = s.members
	for i, a := range places {
		n.writers[i] = a.Place.OpenWriter(n.member)
		n.shut[i] = false
		// The place has changed after it was read, which only the bug OldMap permits. The valve finds out a little
		// later.
		if !a.IsRight() {
			s.After(s.Between(20*millisecond, 800*millisecond), func() { n.turnValve(i) })
		}
	}
	s.unrest = s.Now()
}

// joinShards opens the node's writers at a time when all shards answer: at the start of the world and when it heals.
func (n *node) joinShards() {
	if n.sim.sharded {
		n.openWriters(n.sim.journal.Home.Addresses())
	}
}

// dieSharded does what follows from a node's end in a world with shards: the others notice its death and close its
// writers, and the node starts again.
func (s *Sim) dieSharded(n *node) {
	member := n.member
	n.lost, n.waits = false, nil
	n.stopFollower()
	s.unrest = s.Now()
	s.After(s.Between(300*millisecond, 2500*millisecond), func() { s.noteDead(member) })
	life := n.life
	s.After(s.Between(100*millisecond, 3*second), func() { s.startNode(n, life) })
}

// takeNodeForDead makes the other members take a living node for dead. The node goes on for up to four seconds before
// it finds out and ends itself.
func (s *Sim) takeNodeForDead() {
	n := s.nodes[s.Rng.IntN(len(s.nodes))]
	if !n.up || n.lost || !s.journal.Home.Answers() || len(s.nodes) == 1 {
		return
	}
	n.lost = true
	for _, a := range n.all {
		s.Reach("taken for dead", s.phaseOf(a.Ref))
	}
	s.Logf("node %d is taken for dead", n.id)
	s.noteDead(n.member)
	s.tellMembers()
	life := n.life
	s.After(s.Between(100*millisecond, 4*second), func() {
		if n.life == life && n.up {
			s.crashNode(n)
		}
	})
}

// noteDead notes in the home database that a member has died, as soon as that database answers. Its writers are
// closed by closeBuried afterwards.
func (s *Sim) noteDead(member int) {
	if !s.journal.Home.Answers() {
		s.After(s.Between(100*millisecond, 500*millisecond), func() { s.noteDead(member) })
		return
	}
	s.journal.Home.NoteDead(member)
	s.burying.planNext()
}

// closeBuried closes the writers of dead members, as one of the nodes would. It returns true while some are left.
func (s *Sim) closeBuried() (more bool) {
	h, n := s.journal.Home, s.nodes[s.Rng.IntN(len(s.nodes))]
	if !n.up || !h.Answers() {
		return true
	}
	over, left := h.CloseBuried(n.visitShard)
	if over > 0 {
		s.follow.planNext() // the closed writers have an end now
	}
	return left > 0
}
