// Package fleet simulates many nodes in virtual time, to find out what a change of members costs and how long an
// event is without an owner. It is for tests only.
//
// The product's own code decides which members count as dead (members.Watch), which member owns an event and owned it
// before (placement.Map), and the times are the defaults of package members. The rest is modelled: the table of
// members and its notifications, the
// network, the databases' work (home.go), and what a node does with them (node.go): it beats, buries, hands over,
// asks the former owner, claims. An event is a number here; what actors decide is what package sim is about.
package fleet

import (
	"fmt"
	"slices"
	"time"

	"boxoffice/cluster/placement"
	"boxoffice/cluster/sim/clock"
	"boxoffice/engine"
	"boxoffice/persistence/members"
)

const (
	millisecond = clock.Millisecond
	second      = clock.Second

	// longest is how long an event may be without an owner while the node that has to take it can be reached.
	longest = 5 * second / 2
)

// Options say how large the world is.
type Options struct {
	Seed          uint64
	Nodes, Events int
	Storm         int64         // how long everything goes wrong, in microseconds
	Lease         time.Duration // how long a member may be silent before it is taken for dead; 0: as long as in the product
}

// Fleet is one world. Its clock runs one step after the other on the caller's goroutine, so nothing in it is
// locked.
type Fleet struct {
	*clock.Clock
	opt    Options
	home   home
	nodes  []*node
	events []event
	in     [engine.Buckets][]int32 // the indexes of the events in each bucket

	truth  *placement.Map        // who has to own what, by the nodes that can be reached, whatever they know
	since  [engine.Buckets]int64 // since when each bucket has had the owner that it has by truth
	orphan map[int32]struct{}    // events without an owner
	apart  map[int]bool          // nodes whose links to the others are cut, by number
	spared int64                 // until when home was away: no event counts as without an owner before that
	count  Counts
}

// event is an event with all its actors.
type event struct {
	owner *node // the node that has claimed it last
	epoch int32 // how often it was claimed; a node that holds it from an older epoch is fenced
	lost  int64 // since when it has had no owner that can work; -1: it has one
	at    int64 // the time in its row of wakes, which makes a sweep find it
}

// Counts are what happened, for one change or a whole storm.
type Counts struct {
	Beats, Reads int64 // statements that raise a beat and read the list: the ones on time, and the ones after a notification
	Rows         int64 // rows of the list that those statements have read
	Notices      int64 // notifications that reached a member
	Burials      int64 // statements that try to delete a member
	Links        int64 // links that were made, counted in each direction
	Sweeps       int64 // reads of the times of actors
	Times        int64 // times that the sweeps have read
	Yields       int64 // requests to a former owner to let go of an event
	Claims       int64 // claims of an event
	Fenced       int64 // claims of an event whose owner was at work
	Asked        int64 // commands that were sent
	Refused      int64 // commands that found no owner within a second
	Longest      int64 // the longest time that an event was without an owner, in microseconds
}

// New makes a world in which all nodes are members, and every event is held by the node that owns it by the list.
// The beats of the nodes begin at random times, so that they do not all write at once.
func New(opt Options) *Fleet {
	f := &Fleet{Clock: clock.New(opt.Seed, nil), opt: opt, events: make([]event, opt.Events), orphan: make(map[int32]struct{}), apart: make(map[int]bool)}
	// A large fleet takes more steps than any limit; its storm ends by time.
	f.Limit = 1 << 40
	if f.opt.Lease == 0 {
		f.opt.Lease = lease
	}
	f.home.init()
	for i := range opt.Nodes {
		n := &node{fleet: f, number: i}
		n.reset()
		n.up = true
		f.nodes = append(f.nodes, n)
		f.home.rows[n.self.ID] = n.self
		f.home.beats[n.self.ID] = 0
	}
	f.home.listMembers()
	f.judgePlaces()
	for e := range f.events {
		bucket := engine.BucketOf(int64(e + 1))
		f.in[bucket] = append(f.in[bucket], int32(e)) //nolint:gosec // few
	}
	for _, n := range f.nodes {
		n.list, n.swept = f.home.list, 0
		for _, e := range n.listOwned() {
			n.held[e] = 1
			f.events[e] = event{owner: n, epoch: 1, lost: -1}
		}
		n.beatIn(f.Between(0, beatEvery))
		f.After(f.Between(0, wakeEvery), n.wakeLoop)
	}
	return f
}

// judgePlaces computes the true placement: over the members that are up and reach home, whatever the nodes
// themselves know. If that changes the owner of a bucket, the bucket's time counts from now, because its new owner
// needs time to take its events.
func (f *Fleet) judgePlaces() {
	var list []members.Member
	for _, n := range f.nodes {
		if n.up && !n.cut && f.home.hasMember(n.self.ID) {
			list = append(list, n.self)
		}
	}
	slices.SortFunc(list, byID)
	was, now := f.truth, placement.Of(list)
	for b := range engine.Buckets {
		if was == nil || ownerID(was, b) != ownerID(now, b) {
			f.since[b] = f.Now()
		}
	}
	f.truth = now
}

// ownerID returns the ID of the member that owns a bucket, or "" if nobody does.
func ownerID(m *placement.Map, bucket int) string {
	if i := m.Owner(bucket); i != placement.None {
		return m.Members[i].ID
	}
	return ""
}

// noteOwner notes whether an event has an owner at work, after anything that may have changed it. If it has one
// again, the time without one is judged.
func (f *Fleet) noteOwner(e int32) {
	switch ev, works := &f.events[e], f.hasOwner(e); {
	case works && ev.lost >= 0:
		f.judgeOrphan(e)
		ev.lost = -1
		delete(f.orphan, e)
	case !works && ev.lost < 0:
		ev.lost = f.Now()
		f.orphan[e] = struct{}{}
	}
}

// hasOwner reports whether the node that claimed the event last is at work on it, or else the node that has to have
// it: the latter finds out with the next command or timer that it is fenced, and claims the event once more.
func (f *Fleet) hasOwner(e int32) bool {
	ev := &f.events[e]
	if epoch, holds := ev.owner.held[e]; holds && epoch == ev.epoch && ev.owner.up && !ev.owner.cut {
		return true
	}
	i := f.truth.OwnerOf(int64(e) + 1)
	if i == placement.None {
		return false
	}
	n := f.findNode(f.truth.Members[i])
	_, holds := n.held[e]
	return holds && n.self.ID == f.truth.Members[i].ID
}

// judgeOrphan judges how long an event has been without an owner. The time counts from the latest of three moments:
// when the event lost its owner, when the node that has to take it was named by the truth, and when home came back.
func (f *Fleet) judgeOrphan(e int32) {
	bucket := engine.BucketOf(int64(e) + 1)
	since := max(f.events[e].lost, f.since[bucket], f.spared)
	gap := f.Now() - since
	f.count.Longest = max(f.count.Longest, gap)
	if gap > longest {
		f.Failf("event %d has no owner for %d ms: it lost it at %d, and %s has to take it since %d", e+1, gap/millisecond, f.events[e].lost, ownerID(f.truth, bucket), f.since[bucket])
	}
}

// judgeOrphans judges all events that have no owner now. The lowest one is judged first, because only the first
// failure is told and a map has no order: a seed must break with the same words every time. While home is away no
// node can claim anything, so nothing is judged.
func (f *Fleet) judgeOrphans() {
	if f.home.away {
		return
	}
	worst := int32(-1)
	for e := range f.orphan {
		if worst < 0 || e < worst {
			worst = e
		}
	}
	if worst >= 0 {
		f.judgeOrphan(worst)
	}
	for e := range f.orphan {
		f.judgeOrphan(e)
	}
}

// Change is what one change of members came to.
type Change struct {
	Counts
	Known   int64 // microseconds until every member had the list after the change
	Settled int64 // microseconds until every event was held by its owner
	Moved   int   // how many events have got another owner
}

// Measure makes one change in a quiet world, and returns its effects. It first lets three seconds pass, in which
// earlier changes come to rest, and then looks every millisecond. The world has to settle within ten seconds.
func (f *Fleet) Measure(change func()) (Change, error) {
	f.passTime(3 * second)
	before, began, list := f.count, f.Now(), f.home.list
	// Events are compared by the node that claimed them last, before the change and after.
	owners := make([]*node, len(f.events))
	for e := range f.events {
		owners[e] = f.events[e].owner
	}
	change()
	c := Change{Known: -1, Settled: -1}
	for f.Err() == nil && f.Now() < began+10*second {
		f.passTime(millisecond)
		if at := f.Now() - began; f.home.list != list && f.allKnow() {
			if c.Known < 0 {
				c.Known = at
			}
			if len(f.orphan) == 0 && f.allPlaced() {
				c.Settled = at
				break
			}
		} else {
			// The list has not changed yet, or not everybody has read the newest one. The time counts for the last
			// change of the list.
			c.Known = -1
		}
	}
	c.Counts = f.count.subtractCounts(before)
	for e := range f.events {
		if f.events[e].owner != owners[e] {
			c.Moved++
		}
	}
	if f.Err() == nil && c.Settled < 0 {
		f.Failf("not settled in ten seconds")
	}
	return c, f.Err()
}

// passTime lets time pass.
func (f *Fleet) passTime(d int64) { f.Run(f.Now() + d) }

// allKnow reports whether the list has exactly the nodes that are up, and all of them have read it.
func (f *Fleet) allKnow() bool {
	return f.home.isCurrent(f) && !slices.ContainsFunc(f.nodes, func(n *node) bool { return n.up && n.list != f.home.list })
}

// allPlaced reports whether each event is held by the node that has to have it, by the list as it stands.
func (f *Fleet) allPlaced() bool {
	places := f.home.list.placeEvents()
	for e := range f.events {
		i := places.OwnerOf(int64(e) + 1)
		if i == placement.None {
			return false
		}
		n := f.findNode(places.Members[i])
		if _, holds := n.held[int32(e)]; !holds || n.self.ID != places.Members[i].ID { //nolint:gosec // few
			return false
		}
	}
	return true
}

// Storm lets everything go wrong for a while, then heals the world and asks that it settles within two minutes.
func (f *Fleet) Storm() error {
	f.Every(2*second, func() { f.crashSome(1) })
	f.Every(9*second, func() { f.crashSome(1 + len(f.nodes)/50) })
	f.Every(3*second, f.leaveOne)
	f.Every(3*second, func() { f.cutSome(1 + f.Rng.IntN(1+len(f.nodes)/50)) })
	f.Every(5*second, func() { f.partSome(1 + f.Rng.IntN(1+len(f.nodes)/10)) })
	f.Every(25*second, f.stallHome)
	f.Every(second/4, f.judgeOrphans)
	f.askSome()
	f.passTime(f.opt.Storm)
	f.Heal()
	for f.Err() == nil && f.Now() < f.opt.Storm+120*second {
		f.passTime(second)
		if f.allKnow() && len(f.orphan) == 0 && f.allPlaced() {
			return nil
		}
	}
	if f.Err() == nil {
		f.Failf("not settled after the storm: %d events without an owner", len(f.orphan))
	}
	return f.Err()
}

// Counts returns what has happened so far.
func (f *Fleet) Counts() Counts { return f.count }

// subtractCounts returns what has happened since d was counted. The longest time without an owner is not a sum, so
// it stays.
func (c Counts) subtractCounts(d Counts) Counts {
	return Counts{
		Beats: c.Beats - d.Beats, Reads: c.Reads - d.Reads, Rows: c.Rows - d.Rows, Notices: c.Notices - d.Notices, Burials: c.Burials - d.Burials,
		Links: c.Links - d.Links, Sweeps: c.Sweeps - d.Sweeps, Times: c.Times - d.Times, Yields: c.Yields - d.Yields, Claims: c.Claims - d.Claims,
		Fenced: c.Fenced - d.Fenced, Asked: c.Asked - d.Asked, Refused: c.Refused - d.Refused, Longest: c.Longest,
	}
}

// String says a change in one line.
func (c Change) String() string {
	ms := func(us int64) float64 { return float64(us) / float64(millisecond) }
	return fmt.Sprintf("known after %.0f ms, settled after %.0f ms; %d events moved, %d claims, %d asked to yield; %d notifications, %d lists read for them, %d burials tried, %d links made, %d sweeps",
		ms(c.Known), ms(c.Settled), c.Moved, c.Claims, c.Yields, c.Notices, c.Reads, c.Burials, c.Links, c.Sweeps)
}
