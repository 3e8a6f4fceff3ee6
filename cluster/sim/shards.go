package sim

import (
	"maps"
	"math/rand/v2"
	"slices"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// A world with shards has a journal in several databases, as docs/adr/0022 says. Each of them is a world of
// durability of its own: it has its streams and writers, and is killed, stalled and moved while the others go on.
// The other worlds have one that never fails, and are to the byte what they were before there were shards.

// shard is one of the databases of the journal.
type shard struct {
	no          int
	first, last int    // buckets
	place       *place // the server that it is on
	moving      bool
	calm        int64 // since when it answers every node
}

// place is a server that has a shard, or had it until the shard was moved.
type place struct {
	sim     *Sim
	shard   *shard
	version int32 // as the database bears it
	streams map[engine.Ref]*stream
	writers map[int32]*writer
	order   []int32 // of the writers
	given   int64   // streams that it has numbered

	state   state
	life    int      // counts kills
	waiting []func() // statements that it has got while it is stalled
}

// state is how a database is.
type state int

// These are the states.
const (
	answers state = iota
	stalled       // it takes statements, and answers none
	away
)

// writer is a lane's part of a shard.
type writer struct {
	id      int32
	member  int
	closed  bool
	batches []journal.Batch
	landed  []int64 // when each batch did
}

// visit is a node's way to a shard: what it knows of it, and the connection that it has there.
type visit struct {
	place   *place
	version int32
	life    int  // of the place, when the statement was sent
	refused bool // by the node's valve
}

// ask has the database carry something out. It returns false if no answer is heard. A stalled database may carry
// it out later.
func (v visit) ask(do func()) bool {
	switch {
	case v.refused || v.life != v.place.life || v.place.state == away:
		return false
	case v.place.state == stalled:
		v.place.waiting = append(v.place.waiting, do)
		return false
	default:
		do()
		return true
	}
}

// visit is how the node reaches a shard now.
func (n *node) visit(shard int) visit {
	v := n.knows[shard]
	v.life = v.place.life
	v.refused = n.sim.sharded && n.shut[shard]
	return v
}

// shardWeather is what goes wrong with shards: the mean times from one fault to the next, 0 for never.
type shardWeather struct{ kill, stall, move, home, lose int64 }

// isSharded decides which seeds have shards: a quarter, in a way that has nothing to do with what else seeds
// decide, and that leaves the older red ones as they were.
func isSharded(seed uint64) bool { return engine.MixBits(seed^79)%4 == 0 }

// drawShards makes the shards of the world, one in most.
func (s *Sim) drawShards(seed uint64) {
	cuts := []int{0, engine.Buckets}
	if s.sharded = isSharded(seed); s.sharded {
		cuts = drawCuts(s.Rng)
		s.swarm.shows, s.swarm.orders = 2, 20+s.swarm.orders/2
		if s.calm = s.Rng.IntN(2) == 0; s.calm {
			w := &s.swarm
			w.loss, w.repeat, w.late, w.unknown, w.slow, w.crash, w.split, w.retire = 0, 0, 0, 0, 0, 0, 0, 0
		}
		s.home = newHome(s)
	}
	for i := range len(cuts) - 1 {
		sh := &shard{no: i, first: cuts[i], last: cuts[i+1] - 1}
		sh.place = &place{sim: s, shard: sh, streams: make(map[engine.Ref]*stream), writers: make(map[int32]*writer)}
		s.shards = append(s.shards, sh)
		if s.sharded {
			sh.place.version = 1
			s.home.places = append(s.home.places, visit{place: sh.place, version: 1})
		}
		s.places = append(s.places, sh.place)
	}
}

// drawCuts draws where the ranges of two to four shards begin and end. The two shows are in different ones.
func drawCuts(r *rand.Rand) []int {
	for {
		cuts := []int{0, engine.Buckets}
		for range 1 + r.IntN(3) {
			cuts = append(cuts, 1+r.IntN(engine.Buckets-1))
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		if findRange(cuts, engine.BucketOf(1)) != findRange(cuts, engine.BucketOf(2)) {
			return cuts
		}
	}
}

func findRange(cuts []int, bucket int) int {
	return slices.IndexFunc(cuts, func(cut int) bool { return cut > bucket }) - 1
}

// shardOf is the shard that has an actor.
func (s *Sim) shardOf(ref engine.Ref) int {
	if !s.sharded {
		return 0
	}
	bucket := engine.BucketOf(ref.Home)
	return slices.IndexFunc(s.shards, func(sh *shard) bool { return bucket <= sh.last })
}

// shardOfID is the shard that has given a number to a writer or a stream.
func (s *Sim) shardOfID(id int64) int { return int(id % journal.MaxShards) }

func (s *Sim) newNode(id int) *node {
	n := &node{sim: s, id: id, shut: make([]bool, len(s.shards)), writers: make([]int32, len(s.shards))}
	for i, sh := range s.shards {
		n.knows = append(n.knows, visit{place: sh.place, version: sh.place.version})
		n.lanes = append(n.lanes, &lane{shard: i})
	}
	return n
}

// isCurrent reports whether the shard is here, and has not been moved.
func (p *place) isCurrent() bool { return p.shard.place == p }

// numberStream gives a number to a new stream. It leaves the shard when divided by the most shards there may be.
func (p *place) numberStream() int64 {
	p.given++
	if p.shard.no == 0 {
		return p.given * journal.MaxShards
	}
	return int64(p.shard.no) + (p.given-1)*journal.MaxShards
}

// openWriter opens a writer for a member's lane.
func (p *place) openWriter(member int) int32 {
	id := int32(p.shard.no + len(p.order)*journal.MaxShards) //nolint:gosec // few
	if p.shard.no == 0 {
		id += journal.MaxShards
	}
	p.writers[id] = &writer{id: id, member: member}
	p.order = append(p.order, id)
	return id
}

// closeWriters closes the writers of a member.
func (p *place) closeWriters(member int) {
	for _, id := range p.order {
		if w := p.writers[id]; w.member == member {
			w.closed = true
		}
	}
}

// storeBatch gives what a batch adds to the journal its number among its writer's batches.
func (s *Sim) storeBatch(p *place, b *batch, landed []*row) *journal.Batch {
	w := p.writers[b.writer]
	stored := journal.Batch{Writer: w.id, Seq: int64(len(w.batches) + 1)}
	for _, r := range landed {
		r.at = journal.Place{Writer: w.id, Batch: stored.Seq}
		stored.Records = append(stored.Records, journal.Record{
			Ref: r.ref, Stream: s.streamAt(p, r.ref).id, First: r.first, Last: r.last, Epoch: r.epoch, Bytes: r.bytes,
		})
	}
	w.batches, w.landed = append(w.batches, stored), append(w.landed, s.Now())
	s.follow.wake()
	return &stored
}

// startShards begins what goes wrong with shards.
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
	s.Logf("shards %d calm %t weather %+v", len(s.shards), s.calm, w)
	s.Every(w.kill, s.killShard)
	s.Every(w.stall, s.stallShard)
	s.Every(w.move, s.moveShard)
	s.Every(w.home, s.killHome)
	if !s.calm {
		s.Every(w.lose, s.loseNode)
	}
	s.burying = loop{sim: s, least: 300 * millisecond, most: 700 * millisecond, job: s.closeBuried}
	s.follow = loop{sim: s, least: 100 * millisecond, most: 400 * millisecond, job: s.followAll}
	s.burying.wake()
	s.follow.wake()
	s.Every(second, s.judgeOthers)
}

// loop does something again and again: until the world heals, and then as long as there is more of it.
type loop struct {
	sim         *Sim
	least, most int64 // between two times
	job         func() (more bool)
	running     bool
}

func (l *loop) wake() {
	if l.running {
		return
	}
	l.running = true
	l.sim.After(l.sim.Between(l.least, l.most), func() {
		l.running = false
		if l.job() || !l.sim.Healed() {
			l.wake()
		}
	})
}

// drawShard picks a shard that answers and stays where it is.
func (s *Sim) drawShard() *shard {
	sh := s.shards[s.Rng.IntN(len(s.shards))]
	if sh.place.state != answers || sh.moving {
		return nil
	}
	return sh
}

// killShard has a shard's server killed. Its open commits are lost, and its finished ones stay.
func (s *Sim) killShard() {
	if sh := s.drawShard(); sh != nil {
		s.disturb(sh, "killed", away)
		sh.place.life++
	}
}

// stallShard stops a shard's server for a while. Statements that it has received may be carried out afterwards.
func (s *Sim) stallShard() {
	if sh := s.drawShard(); sh != nil {
		s.disturb(sh, "stalled", stalled)
	}
}

func (s *Sim) disturb(sh *shard, how string, to state) {
	s.Logf("shard %d is %s", sh.no, how)
	for _, n := range s.nodes {
		for _, a := range n.all {
			if s.shardOf(a.Ref) == sh.no {
				s.Reach("shard "+how, s.phaseOf(a.Ref))
			}
		}
	}
	p := sh.place
	p.state = to
	s.tellValves(sh)
	span := s.Between(50*millisecond, 4*second)
	if s.Rng.IntN(4) == 0 {
		span += s.Between(0, 20*second)
	}
	s.After(span, func() {
		if p.state != answers {
			p.recover()
			s.tellValves(sh)
		}
	})
}

// recover has the server answer again. One that was stalled now does what it was asked during the stall.
func (p *place) recover() {
	p.sim.Logf("shard %d answers again", p.shard.no)
	was := p.state
	p.state = answers
	waiting := p.waiting
	p.waiting = nil
	if was != stalled {
		return
	}
	for _, do := range waiting {
		do()
	}
}

// reaches reports whether a shard answers where the node takes it to be.
func (n *node) reaches(shard int) bool {
	v := n.knows[shard]
	return v.place.state == answers && v.place.version == v.version
}

// tellValves has the valves of all nodes find out how a shard is. One in ten is late, as on a machine that stands
// still for a while.
func (s *Sim) tellValves(sh *shard) {
	sh.calm = s.Now()
	for _, n := range s.nodes {
		wait := s.Between(20*millisecond, 800*millisecond)
		if s.Chance(.1) {
			wait += s.Between(0, 8*second)
		}
		s.After(wait, func() { n.turnValve(sh.no) })
	}
}

// turnValve shuts or opens a node's valve. Callers that wait for a shard are told when its valve shuts.
func (n *node) turnValve(shard int) {
	was := n.shut[shard]
	n.shut[shard] = !n.reaches(shard)
	if was == n.shut[shard] {
		return
	}
	n.sim.shards[shard].calm = n.sim.Now()
	n.sim.Logf("node %d shuts its valve to shard %d: %t", n.id, shard, n.shut[shard])
	if !n.shut[shard] {
		return
	}
	n.waits = slices.DeleteFunc(n.waits, func(r *reply) bool {
		if r.left || n.sim.shardOf(r.a.Ref) != shard {
			return r.left
		}
		r.gone = true
		r.call.answerClient(n.sim, engine.Refuse(engine.Unavailable, nil))
		return true
	})
}

// healShards ends all that goes wrong with shards.
func (s *Sim) healShards() {
	if !s.sharded {
		return
	}
	s.home.state = answers
	for _, p := range s.places {
		if p.state != answers {
			p.recover()
		}
	}
	for _, sh := range s.shards {
		s.finishMove(sh)
		sh.calm = s.Now()
	}
	s.home.calm, s.unrest = s.Now(), s.Now()
	for _, n := range s.nodes {
		if n.up && (n.lost || n.hasOldMap()) {
			s.crashNode(n)
		}
		for i := range s.shards {
			n.turnValve(i)
		}
	}
	s.burying.wake()
	s.follow.wake()
}

// moved is a copy of the place on another server, as of now.
func (p *place) moved() *place {
	to := &place{
		sim: p.sim, shard: p.shard, version: p.version, streams: make(map[engine.Ref]*stream, len(p.streams)),
		writers: make(map[int32]*writer, len(p.writers)), order: slices.Clone(p.order), given: p.given,
	}
	for ref, st := range p.streams {
		c := *st
		c.claimed, c.rows, c.kept = slices.Clip(st.claimed), slices.Clip(st.rows), slices.Clip(st.kept)
		to.streams[ref] = &c
	}
	for id, w := range maps.All(p.writers) {
		c := *w
		c.batches, c.landed = slices.Clip(w.batches), slices.Clip(w.landed)
		to.writers[id] = &c
	}
	return to
}
