package shards

import (
	"maps"
	"slices"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Place is a server that has a shard, or had it until the shard was moved.
type Place struct {
	journal *Journal
	shard   *Shard
	version int32 // as the database bears it
	streams map[engine.Ref]*Stream
	writers map[int32]*writer
	// order has the writers in the order in which they were opened.
	order []int32 // of the writers
	given int64   // streams that it has numbered

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

// Address is where a shard was at some time, as home and the nodes know it.
type Address struct {
	Place   *Place
	version int32
}

// Address returns the place with the version that it bears now.
func (p *Place) Address() Address { return Address{Place: p, version: p.version} }

// IsRight reports whether the place answers, and is still what the address says.
func (a Address) IsRight() bool { return a.Place.Answers() && !a.IsOld() }

// IsOld reports whether the place bears another version than the address says.
func (a Address) IsOld() bool { return a.Place.version != a.version }

// HasVersionOf reports whether both addresses say the same version.
func (a Address) HasVersionOf(b Address) bool { return a.version == b.version }

// Visit is a node's connection to a place, as of when a statement is sent.
type Visit struct {
	Address
	life    int // of the place
	refused bool
}

// Visit begins a visit, which the node's own valve may refuse.
func (a Address) Visit(refused bool) Visit {
	return Visit{Address: a, life: a.Place.life, refused: refused}
}

// Execute carries a statement out at the place. It returns false if the node hears no answer. A place that is stalled
// may carry the statement out later all the same.
func (v Visit) Execute(do func()) bool {
	switch {
	// A kill breaks the connections of all visits that began before it.
	case v.refused || v.life != v.Place.life || v.Place.state == away:
		return false
	case v.Place.state == stalled:
		v.Place.waiting = append(v.Place.waiting, do)
		return false
	default:
		do()
		return true
	}
}

// Answers reports whether the server answers.
func (p *Place) Answers() bool { return p.state == answers }

// Kill ends the server. Its open commits are lost, and its finished ones stay.
func (p *Place) Kill() { p.state, p.life = away, p.life+1 }

// Stall stops the server. Statements that it receives may be carried out afterwards.
func (p *Place) Stall() { p.state = stalled }

// Recover lets the server answer again. One that was stalled now does what it was asked during the stall.
func (p *Place) Recover() {
	was := p.state
	if was == answers {
		return
	}
	p.journal.Logf("shard %d answers again", p.shard.No)
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

// isCurrent reports whether the shard is here, and has not been moved.
func (p *Place) isCurrent() bool { return p.shard.Place == p }

// Stream returns an actor's stream as this place has it. The shard may have left the place since, with a copy of the
// stream. A new stream begins empty.
func (p *Place) Stream(ref engine.Ref) *Stream {
	st, j := p.streams[ref], p.journal
	if st == nil {
		st = &Stream{ref: ref, id: int64(len(j.Refs) + 1)}
		if j.IsSharded() {
			st.id = p.numberStream()
		}
		p.streams[ref] = st
		if p.isCurrent() {
			j.Refs = append(j.Refs, ref)
		}
	}
	return st
}

// numberStream gives a number to a new stream. Divided by the most shards that there may be, the number leaves the
// number of its shard as the remainder.
func (p *Place) numberStream() int64 {
	p.given++
	if p.shard.No == 0 {
		return p.given * journal.MaxShards
	}
	return int64(p.shard.No) + (p.given-1)*journal.MaxShards
}

// OpenWriter opens a writer for a member's lane.
func (p *Place) OpenWriter(member int) int32 {
	// A writer's number leaves its shard as the remainder too. Numbers begin above 0, so the first shard's begin
	// later.
	id := int32(p.shard.No + len(p.order)*journal.MaxShards) //nolint:gosec // few
	if p.shard.No == 0 {
		id += journal.MaxShards
	}
	p.writers[id] = &writer{id: id, member: member}
	p.order = append(p.order, id)
	return id
}

// closeWriters closes the writers of a member.
func (p *Place) closeWriters(member int) {
	for _, id := range p.order {
		if w := p.writers[id]; w.member == member {
			w.closed = true
		}
	}
}

// Announce gives the place a version that no node knows, because its shard is about to leave it. Nodes see that and
// stop.
func (p *Place) Announce() { p.version++ }

// Leave ends all writing where the shard is. From now on a copy on another server is the shard.
func (sh *Shard) Leave() {
	j := sh.Place.journal
	for ref := range sh.Place.streams {
		j.Reach("shard moved", j.world.Phase(ref))
	}
	sh.switchPlace()
}

// switchPlace closes the writers where the shard is, and only then copies it, so that the copy has everything.
func (sh *Shard) switchPlace() {
	for _, w := range sh.Place.writers {
		w.closed = true
	}
	j := sh.Place.journal
	sh.Place = sh.Place.copyPlace()
	j.places = append(j.places, sh.Place)
	j.Logf("shard %d is closed", sh.No)
}

// copyPlace returns a copy of the place on another server, as it is now.
func (p *Place) copyPlace() *Place {
	to := &Place{
		journal: p.journal, shard: p.shard, version: p.version, streams: make(map[engine.Ref]*Stream, len(p.streams)),
		writers: make(map[int32]*writer, len(p.writers)), order: slices.Clone(p.order), given: p.given,
	}
	for ref, st := range p.streams {
		c := *st
		// The lists are clipped, so that what one server appends from now on does not appear at the other.
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

// Open opens the shard in its new place, and tells home.
func (sh *Shard) Open() {
	j := sh.Place.journal
	// The place was announced under one more version, so the new one is two higher than the last known one.
	sh.Place.version = j.Home.addresses[sh.No].version + 2
	j.Home.addresses[sh.No] = sh.Place.Address()
	sh.Moving = false
	j.Logf("shard %d is open in its new place", sh.No)
}

// finishMove does at once what is left of a move, because the world heals.
func (sh *Shard) finishMove() {
	if !sh.Moving {
		return
	}
	if old := sh.Place.journal.Home.addresses[sh.No]; sh.Place == old.Place {
		if !old.IsOld() {
			old.Place.Announce()
		}
		sh.switchPlace()
	}
	sh.Open()
}
