// Package shards has the journal of a simulated world: the databases that hold it, home, which has everything else,
// and the follower of the facts. It owns what each of them has committed, and refuses, forgets and copies as the real
// ones do. Package sim says when a database fails or moves, and tells the nodes; it calls from the world's one goroutine.
//
// A world with shards has its journal in several databases, as docs/adr/0022 says. Each of them is a world of
// durability of its own: it has its streams and writers, and is killed, stalled and moved while the others go on.
// The other worlds have one database that never fails, and no home.
package shards

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"boxoffice/cluster/sim/bugs"
	"boxoffice/cluster/sim/clock"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

const (
	millisecond = clock.Millisecond
	second      = clock.Second
)

// World is what the journal needs to know of the world that it is in.
type World struct {
	Take  func(ref engine.Ref, f engine.Fact) error // judges a fact as it is committed
	Phase func(ref engine.Ref) string               // what an actor is in the middle of, for the counters
}

// Journal is the journal of one simulated world.
type Journal struct {
	*clock.Clock
	Refs   []engine.Ref // the actors that have a stream, in the order in which they came
	Shards []*Shard     // one in a world without shards
	Home   *Home        // nil in a world without shards
	bug    bugs.Bug
	world  World
	places []*Place // all places, also those that shards have left
}

// Shard is one of the databases of the journal, with the streams of a range of buckets.
type Shard struct {
	No     int
	Place  *Place // the server that it is on
	Moving bool   // a move of the shard is under way
	last   int    // the last bucket of its range
}

// IsSharded decides which seeds have shards: a quarter of them. The choice is independent of everything else that a
// seed decides. Seeds that once found a mistake keep the world in which they found it.
func IsSharded(seed uint64) bool { return engine.MixBits(seed^79)%4 == 0 }

// New makes the journal of a seed's world: with one shard in most, and with two to four, as they are drawn, in others.
func New(seed uint64, c *clock.Clock, bug bugs.Bug, world World) *Journal {
	j := &Journal{Clock: c, bug: bug, world: world}
	cuts := []int{0, engine.Buckets}
	if IsSharded(seed) {
		cuts = drawCuts(c.Rng)
		j.Home = newHome(j)
	}
	for i := range len(cuts) - 1 {
		sh := &Shard{No: i, last: cuts[i+1] - 1}
		sh.Place = &Place{journal: j, shard: sh, streams: make(map[engine.Ref]*Stream), writers: make(map[int32]*writer)}
		j.Shards = append(j.Shards, sh)
		if j.IsSharded() {
			sh.Place.version = 1
			j.Home.addresses = append(j.Home.addresses, sh.Place.Address())
		}
		j.places = append(j.places, sh.Place)
	}
	return j
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

// findRange is the number of the range that has a bucket.
func findRange(cuts []int, bucket int) int {
	return slices.IndexFunc(cuts, func(cut int) bool { return cut > bucket }) - 1
}

// IsSharded reports whether the world has shards.
func (j *Journal) IsSharded() bool { return j.Home != nil }

// ShardOf is the number of the shard that has an actor.
func (j *Journal) ShardOf(ref engine.Ref) int {
	if !j.IsSharded() {
		return 0
	}
	bucket := engine.BucketOf(ref.Home)
	return slices.IndexFunc(j.Shards, func(sh *Shard) bool { return bucket <= sh.last })
}

// Stream is an actor's stream where its shard is. One that is new begins empty.
func (j *Journal) Stream(ref engine.Ref) *Stream { return j.Shards[j.ShardOf(ref)].Place.Stream(ref) }

// shardOfID is the shard that has given a number to a writer or a stream.
func shardOfID(id int64) int { return int(id % journal.MaxShards) }

// Heal lets every database answer, and does at once what is left of moves.
func (j *Journal) Heal() {
	j.Home.state = answers
	for _, p := range j.places {
		p.Recover()
	}
	for _, sh := range j.Shards {
		sh.finishMove()
	}
	j.Home.since = j.Now()
}

// Settled judges the shards, home and the follower once the world is quiet. The members in alive may have open writers.
func (j *Journal) Settled(alive map[int]bool) error {
	if !j.IsSharded() {
		return nil
	}
	if len(j.Home.burials) > 0 {
		return errors.New("a burial is not over")
	}
	if !j.HasPassedAll() {
		return errors.New("the follower has not come to the end")
	}
	for _, ref := range j.Refs {
		if st := j.Stream(ref); j.Home.effects[st.id] != st.Head {
			return fmt.Errorf("the follower has passed %d of %d facts of %s", j.Home.effects[st.id], st.Head, ref.Name())
		}
	}
	for _, sh := range j.Shards {
		for _, id := range sh.Place.order {
			if w := sh.Place.writers[id]; !w.closed && !alive[w.member] {
				return fmt.Errorf("writer %d is open in shard %d, and its node is dead", id, sh.No)
			}
		}
	}
	return nil
}
