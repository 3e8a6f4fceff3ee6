package sim

import (
	"slices"

	"boxoffice/cluster/sim/bugs"
)

// noticeTime is how long a shard that is about to be closed bears its new version before its writers are closed.
const noticeTime = second

// moveShard moves a shard to another server: it is closed where it is, and opened where a copy of it is, which the
// nodes learn when they start. Half of the times a node is starting while the shard is closed.
func (s *Sim) moveShard() {
	sh := s.drawShard()
	if sh == nil || s.home.state != answers {
		return
	}
	sh.moving = true
	s.Logf("shard %d is to be moved", sh.no)
	if s.Rng.IntN(2) == 0 {
		if n := s.nodes[s.Rng.IntN(len(s.nodes))]; n.up {
			s.crashNode(n)
		}
	}
	s.After(s.Between(0, 2*second), func() { s.closeShard(sh) })
}

// closeShard gives the place a version that nobody knows, and closes its writers a second later.
func (s *Sim) closeShard(sh *shard) {
	p := sh.place
	if !sh.moving {
		return // it was finished, because the world has healed
	}
	if p.state != answers {
		s.After(s.Between(200*millisecond, second), func() { s.closeShard(sh) })
		return
	}
	s.Logf("shard %d is being closed", sh.no)
	p.version++
	s.tellValves(sh)
	s.After(noticeTime, func() { s.leavePlace(sh, p) })
}

// leavePlace ends all writing where the shard is. From now on the copy is the shard.
func (s *Sim) leavePlace(sh *shard, p *place) {
	if !sh.moving || sh.place != p {
		return
	}
	if p.state != answers {
		s.After(s.Between(200*millisecond, second), func() { s.leavePlace(sh, p) })
		return
	}
	for ref := range p.streams {
		s.Reach("shard moved", s.phaseOf(ref))
	}
	s.switchPlace(sh)
	s.After(s.Between(300*millisecond, 5*second), func() { s.openShard(sh) })
}

func (s *Sim) switchPlace(sh *shard) {
	for _, w := range sh.place.writers {
		w.closed = true
	}
	sh.place = sh.place.moved()
	s.places = append(s.places, sh.place)
	s.Logf("shard %d is closed", sh.no)
}

// openShard opens the shard in its new place. The nodes start again, one after another.
func (s *Sim) openShard(sh *shard) {
	if !sh.moving {
		return
	}
	if s.home.state != answers {
		s.After(s.Between(200*millisecond, second), func() { s.openShard(sh) })
		return
	}
	s.publishPlace(sh)
	for _, n := range s.nodes {
		life := n.life
		s.After(s.Between(200*millisecond, 8*second), func() {
			if n.up && n.life == life && n.hasOldMap() {
				s.crashNode(n)
			}
		})
	}
}

func (s *Sim) publishPlace(sh *shard) {
	sh.place.version = s.home.places[sh.no].version + 2
	s.home.places[sh.no] = visit{place: sh.place, version: sh.place.version}
	sh.moving = false
	s.Logf("shard %d is open in its new place", sh.no)
}

// finishMove does at once what is left of a move.
func (s *Sim) finishMove(sh *shard) {
	if !sh.moving {
		return
	}
	if old := s.home.places[sh.no].place; sh.place == old {
		if old.version == s.home.places[sh.no].version {
			old.version++
		}
		s.switchPlace(sh)
	}
	s.publishPlace(sh)
}

// hasOldMap reports whether a shard is not where the node takes it to be.
func (n *node) hasOldMap() bool { return !slices.EqualFunc(n.knows, n.sim.home.places, sameVersion) }

func sameVersion(a, b visit) bool { return a.version == b.version }

// startNode starts a node: it reads where the shards are, and opens a writer in each, unless the place bears another
// version by then. It waits for a database that does not answer or is closed.
func (s *Sim) startNode(n *node, life int) {
	if n.life != life {
		return
	}
	places := slices.Clone(s.home.places)
	refused := func(v visit) bool { return v.place.state != answers || v.place.version != v.version }
	if s.home.state != answers || slices.ContainsFunc(places, refused) {
		s.After(s.Between(100*millisecond, 400*millisecond), func() { s.startNode(n, life) })
		return
	}
	s.After(s.Between(20*millisecond, 1500*millisecond), func() {
		if n.life == life && slices.ContainsFunc(places, func(v visit) bool { return refused(v) && s.bug != bugs.OldMap }) {
			s.Reach("shard", "opens no writer")
			s.startNode(n, life)
		} else if n.life == life {
			n.openWriters(places)
			n.bootNode()
		}
	})
}

// openWriters opens the node's writers in the places that it has read.
func (n *node) openWriters(places []visit) {
	s := n.sim
	n.knows = places
	s.members++
	n.member = s.members
	for i, v := range places {
		n.writers[i] = v.place.openWriter(n.member)
		n.shut[i] = false
		if !n.reaches(i) {
			s.After(s.Between(20*millisecond, 800*millisecond), func() { n.turnValve(i) })
		}
	}
	s.unrest = s.Now()
}

// joinShards opens the node's writers where the shards are. All shards answer.
func (n *node) joinShards() {
	if n.sim.sharded {
		n.openWriters(slices.Clone(n.sim.home.places))
	}
}

// dieSharded does what follows from a node's end in a world with shards: it starts again, and is buried.
func (s *Sim) dieSharded(n *node) {
	member := n.member
	n.lost, n.copy, n.waits = false, nil, nil
	s.unrest = s.Now()
	s.After(s.Between(300*millisecond, 2500*millisecond), func() { s.bury(member) })
	life := n.life
	s.After(s.Between(100*millisecond, 3*second), func() { s.startNode(n, life) })
}

// loseNode has a node that lives be taken for dead. It finds out after a while.
func (s *Sim) loseNode() {
	n := s.nodes[s.Rng.IntN(len(s.nodes))]
	if !n.up || n.lost || s.home.state != answers || len(s.nodes) == 1 {
		return
	}
	n.lost = true
	for _, a := range n.all {
		s.Reach("taken for dead", s.phaseOf(a.Ref))
	}
	s.Logf("node %d is taken for dead", n.id)
	s.bury(n.member)
	s.tellMembers()
	life := n.life
	s.After(s.Between(100*millisecond, 4*second), func() {
		if n.life == life && n.up {
			s.crashNode(n)
		}
	})
}
