package fleet

import (
	"fmt"
	"slices"
	"time"

	"boxoffice/cluster/placement"
	"boxoffice/engine"
	"boxoffice/persistence/members"
)

// These are the product's times: the defaults of members.Config, and what packages members and cluster wait for.
const (
	beatEvery   = 400 * millisecond       // how long a node waits between two beats
	lease       = 1500 * time.Millisecond // how long a member may be silent before it is taken for dead
	gather      = 20 * millisecond        // how long notifications are gathered before the list is read
	wakeEvery   = 2 * second              // how often a node looks for actors whose time has come
	lookAgain   = 20 * millisecond        // how soon a node tries again what it could not do
	patience    = second                  // how long a command looks for the owner, and how long a node leaves alone what it has just let go of
	cedeTime    = 500 * millisecond       // how long a node tries to reach the former owner before it claims
	handingOver = 16                      // how many events a node puts away at a time
)

// node is a node of the fleet.
type node struct {
	fleet  *Fleet
	number int
	life   int  // counts its starts: what was planned in an earlier life does not happen
	up     bool // the process runs
	stays  bool // it does not start again by itself
	cut    bool // it does not reach home or the journal
	self   members.Member
	watch  members.Watch
	list   *listing // the list that it has read last; nil before it is a member

	turning bool            // a beat is on its way
	again   bool            // it was notified while it read the list
	planned int             // counts plans of the next beat: only the last one holds
	held    map[int32]int32 // the events that it holds, with the epoch of its claim
	loading map[int32]bool  // the events that it is activating
	ceded   map[int32]int64 // when it was asked to let go of an event, after which it does not take it back at once
	swept   int64           // up to which time it has looked for actors to wake
}

// reset begins a lifetime, in which the node knows and holds nothing. It gets a new ID, as a process does that
// starts again; its name stays. The new number of the life makes everything void that was planned in the old one.
func (n *node) reset() {
	n.life++
	name := fmt.Sprintf("n%04d", n.number)
	n.self = members.Member{ID: fmt.Sprintf("%s#%d", name, n.life), Name: name}
	n.watch, n.list, n.turning, n.again, n.swept = members.Watch{}, nil, false, false, -1
	n.held, n.loading, n.ceded = make(map[int32]int32), make(map[int32]bool), make(map[int32]int64)
}

// listOwned lists the events that the node owns by its list.
func (n *node) listOwned() (events []int32) {
	places := n.list.placeEvents()
	me := places.Find(n.self.ID)
	for b := range engine.Buckets {
		if me != placement.None && places.Owner(b) == me {
			events = append(events, n.fleet.in[b]...)
		}
	}
	return events
}

// isOwner reports whether the node owns an event by its list.
func (n *node) isOwner(e int32) bool {
	if n.list == nil {
		return false
	}
	places := n.list.placeEvents()
	i := places.OwnerOf(int64(e) + 1)
	return i != placement.None && places.Members[i].ID == n.self.ID
}

// beatIn plans the next beat. Only the beat that was planned last happens.
func (n *node) beatIn(d int64) {
	n.planned++
	life, plan := n.life, n.planned
	n.fleet.After(d, func() {
		if n.life == life && n.planned == plan {
			n.fleet.count.Beats++
			n.beatAndRead()
		}
	})
}

// readSoon makes the node read the list a little later, together with all changes that it is notified of until
// then. A node that is reading at the moment reads once more afterwards, because the change may have come too late
// for the list that is on its way.
func (n *node) readSoon() {
	if n.turning {
		n.again = true
		return
	}
	if n.again {
		return
	}
	n.again = true
	life := n.life
	n.fleet.After(gather, func() {
		if n.life == life && n.again && !n.turning {
			n.again = false
			n.fleet.count.Reads++
			n.beatAndRead()
		}
	})
}

// beatAndRead raises the node's beat and reads the list with all beats in the same statement. It then buries the
// members that have been silent for longer than a lease. A node that does not find itself on the list has been
// buried, and ends.
func (n *node) beatAndRead() {
	f := n.fleet
	n.turning = true
	lost := false
	var list *listing
	beat := func() {
		if lost = !f.home.hasMember(n.self.ID); lost {
			return
		}
		f.home.beats[n.self.ID]++
		f.home.markLeaving(n)
		list = f.home.list
		f.count.Rows += int64(len(list.members))
	}
	heard := func() {
		if lost { // it was taken for dead
			n.end()
			return
		}
		n.watch.Saw(n.clock(), n.fleet.opt.Lease, f.home.beats)
		n.takeList(list)
		dead := n.watch.Dead(n.clock(), n.fleet.opt.Lease)
		delete(dead, n.self.ID)
		n.buryDead(dead)
	}
	// A beat that failed is tried again after half the usual time.
	f.executeStatement(n, &f.home.own, costOfRow*float64(len(f.home.rows)), beat, heard, func() {
		n.turning = false
		n.beatIn(beatEvery / 2)
	})
}

// buryDead deletes members that have not beaten since they were judged dead. A member that has beaten in the
// meantime has another number of beats, and stays. Several nodes may try at the same time: the one that has deleted
// a member tells the others, and reads the list once more itself.
func (n *node) buryDead(dead map[string]int64) {
	f := n.fleet
	if len(dead) == 0 {
		n.endTurn()
		return
	}
	f.count.Burials++
	mine := false
	bury := func() {
		for id, beat := range dead {
			if f.home.hasMember(id) && f.home.beats[id] == beat {
				f.home.removeMember(id)
				mine = true
			}
		}
		if mine {
			f.judgePlaces()
		}
	}
	f.executeStatement(n, &f.home.own, 10*float64(len(dead)), bury, func() {
		if mine {
			f.notifyMembers()
			n.beatAndRead()
			return
		}
		n.endTurn()
	}, func() {
		n.turning = false
		n.beatIn(beatEvery / 2)
	})
}

// endTurn ends a beat with all that follows from it, and plans the next. If the node was notified during it, it
// reads the list once more soon.
func (n *node) endTurn() {
	n.turning = false
	if n.again {
		n.again = false
		n.readSoon()
	}
	n.beatIn(beatEvery)
}

// clock returns the node's time, which is right in this world.
func (n *node) clock() time.Time { return time.UnixMicro(n.fleet.Now()) }

// takeList makes the node act by a new list. It hands over what it does not own any more, a few events at a time,
// and wakes what it has gained. A node that has just become a member also makes its links, one in each direction to
// every other member.
func (n *node) takeList(list *listing) {
	was := n.list
	if list == was {
		return
	}
	n.list = list
	clear(n.ceded)
	var handed int64
	for _, e := range n.listHeld() {
		if !n.isOwner(e) {
			n.letGo(e, handed/handingOver*5*millisecond, func() {})
			handed++
		}
	}
	if was == nil {
		n.fleet.count.Links += 2 * int64(len(list.members)-1)
		n.wakeOwned(-1)
	} else if list.placeEvents().Gains(n.self.ID, was.placeEvents()) {
		n.wakeOwned(-1)
	}
}

// listHeld lists what the node holds, in order.
func (n *node) listHeld() []int32 {
	all := make([]int32, 0, len(n.held))
	for e := range n.held {
		all = append(all, e)
	}
	slices.Sort(all)
	return all
}

// letGo puts an event's actors away, after the time that it takes until what they have decided is durable. It notes
// that the event wants to wake now, so that the new owner finds it in its sweep. done is called also if the node
// did not hold the event.
func (n *node) letGo(e int32, wait int64, done func()) {
	f, life := n.fleet, n.life
	f.After(wait+f.Between(millisecond, 10*millisecond), func() {
		if n.life != life {
			return
		}
		if epoch, there := n.held[e]; there {
			delete(n.held, e)
			if f.events[e].epoch == epoch && f.events[e].owner == n {
				f.noteWake(e)
			}
			f.noteOwner(e)
		}
		done()
	})
}

// wakeLoop looks again and again for actors whose time has come.
func (n *node) wakeLoop() {
	if n.up && n.list != nil {
		n.wakeOwned(n.swept)
	}
	n.fleet.After(wakeEvery, n.wakeLoop)
}

// wakeOwned reads the times of actors that were noted after a time, and wakes those that the node owns. A negative
// time means all: a node that has gained buckets does not know what was noted before.
func (n *node) wakeOwned(after int64) {
	f, now := n.fleet, n.fleet.Now()
	f.count.Sweeps++
	times := len(f.events)
	if after >= 0 {
		times = f.home.countSince(f, after)
	}
	f.count.Times += int64(times)
	f.executeStatement(n, &f.home.other, costOfTime*float64(times)/4, func() {}, func() {
		n.swept = now - wakeEvery
		for _, e := range n.listOwned() {
			if _, there := n.held[e]; !there && !n.loading[e] && f.events[e].at >= after {
				n.activateEvent(e)
			}
		}
	}, func() { n.swept = after })
}

// activateEvent asks the former owner to let go of an event, and claims it then. It does nothing if the node does
// not own the event by its list, is loading it already, or was asked for it a moment ago itself: two nodes with
// different lists would otherwise take the event from each other again and again.
func (n *node) activateEvent(e int32) {
	f, life := n.fleet, n.life
	if at, ceded := n.ceded[e]; !n.isOwner(e) || n.loading[e] || ceded && f.Now()-at < patience {
		return
	}
	n.loading[e] = true
	places := n.list.placeEvents()
	former := places.Former(int64(e)+1, places.Find(n.self.ID))
	claim := func() {
		if n.life == life {
			n.claimEvent(e)
		}
	}
	if former == placement.None {
		claim()
		return
	}
	n.askToYield(e, places.Members[former], f.Now()+cedeTime, claim)
}

// askToYield asks a node to let go of an event, and goes on when that node has answered. While there is no link to
// it, it tries until the time is over and then goes on without an answer: the claim fences the former owner in any
// case.
func (n *node) askToYield(e int32, to members.Member, until int64, then func()) {
	f := n.fleet
	f.count.Yields++
	m := f.findNode(to)
	switch {
	case f.areLinked(n, m) && m.self.ID == to.ID:
		f.After(f.Between(100, 2*millisecond), func() {
			answer := func() { f.After(f.Between(100, 2*millisecond), then) }
			m.ceded[e] = f.Now()
			if _, there := m.held[e]; m.up && there {
				m.letGo(e, 0, answer)
			} else {
				answer()
			}
		})
	case f.Now() < until:
		f.count.Yields-- // it was not sent
		f.After(lookAgain, func() { n.askToYield(e, to, until, then) })
	default:
		then()
	}
}

// claimEvent claims an event in the journal, unless the node does not own it any more by its list. The claim fences
// whichever node held it before.
func (n *node) claimEvent(e int32) {
	f := n.fleet
	if !n.isOwner(e) {
		delete(n.loading, e)
		return
	}
	var epoch int32
	claim := func() {
		f.count.Claims++
		ev := &f.events[e]
		if ev.lost < 0 && ev.owner != n {
			f.count.Fenced++
		}
		ev.owner, ev.epoch = n, ev.epoch+1
		epoch = ev.epoch
		f.noteWake(e)
		f.noteOwner(e)
	}
	f.executeStatement(n, &f.home.other, 200, claim, func() {
		delete(n.loading, e)
		n.held[e] = epoch
		f.noteOwner(e)
	}, func() {
		delete(n.loading, e) // The next command loads it.
	})
}

// end ends the node with all that it holds. It starts again after some seconds, unless it is to stay away.
func (n *node) end() {
	f := n.fleet
	held := n.listHeld()
	n.reset()
	n.up, n.cut = false, false
	delete(f.apart, n.number)
	f.judgePlaces()
	for _, e := range held {
		f.noteOwner(e)
	}
	life := n.life
	f.After(f.Between(second/2, 4*second), func() {
		if n.life == life && !n.up && !n.stays {
			n.join()
		}
	})
}

// join makes the node a member, in place of its earlier lifetimes. It tries until home answers.
func (n *node) join() {
	f := n.fleet
	n.up = true
	add := func() {
		for id, m := range f.home.rows {
			if m.Name == n.self.Name {
				f.home.removeMember(id)
			}
		}
		f.home.rows[n.self.ID] = n.self
		f.home.beats[n.self.ID] = 0
		f.home.listMembers()
		f.judgePlaces()
	}
	f.executeStatement(n, &f.home.own, 200, add, func() {
		f.notifyMembers()
		n.beatAndRead()
	}, func() { f.After(beatEvery, n.join) })
}
