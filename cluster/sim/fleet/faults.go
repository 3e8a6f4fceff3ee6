package fleet

import (
	"slices"
	"sort"

	"boxoffice/cluster/placement"
	"boxoffice/persistence/members"
)

// crashSome kills some nodes at once. A node that is drawn and is down already counts, so there may be fewer.
func (f *Fleet) crashSome(some int) {
	for range some {
		if n := f.nodes[f.Rng.IntN(len(f.nodes))]; n.up {
			n.end()
		}
	}
}

// leaveOne makes a node leave in order: it says so, the others take its events over, and then it goes.
func (f *Fleet) leaveOne() { f.leave(f.nodes[f.Rng.IntN(len(f.nodes))]) }

// leave begins the leaving of a node. A node can't say that it leaves while it is cut off or is not a member yet,
// and one that is leaving already goes on with that.
func (f *Fleet) leave(n *node) {
	if !n.up || n.cut || n.list == nil || n.self.Leaving {
		return
	}
	n.self.Leaving = true
	n.again = false
	f.tellLeaving(n)
}

// tellLeaving notes in the table of members that the node leaves, and tells the others. It tries again for as long
// as the table can't be reached.
func (f *Fleet) tellLeaving(n *node) {
	life := n.life
	f.executeStatement(n, &f.home.own, 0, func() {
		f.home.markLeaving(n)
		f.judgePlaces()
	}, func() {
		f.notifyMembers()
		f.awaitDrained(n, life, f.Now()+8*second)
	}, func() {
		f.After(beatEvery, func() {
			if n.life == life {
				f.tellLeaving(n)
			}
		})
	})
}

// awaitDrained waits until the node holds no event any more, or until the time is over. Then the node ends, and its
// row is deleted. If the node has been killed in the meantime, its life is another one and nothing more happens.
func (f *Fleet) awaitDrained(n *node, life int, until int64) {
	f.After(lookAgain, func() {
		if n.life != life {
			return
		}
		if len(n.held) > 0 && f.Now() < until {
			f.awaitDrained(n, life, until)
			return
		}
		// The ID is read before the end, which gives the node a new one.
		id := n.self.ID
		n.end()
		f.After(f.Between(200, 2*millisecond), func() {
			f.home.removeMember(id)
			f.judgePlaces()
			f.notifyMembers()
		})
	})
}

// cutSome cuts some nodes off home, and so off the journal. The longest cuts are longer than a lease, so some nodes
// are buried by the others before their cut ends.
func (f *Fleet) cutSome(some int) {
	for range some {
		n := f.nodes[f.Rng.IntN(len(f.nodes))]
		if !n.up || n.cut {
			continue
		}
		n.cut = true
		f.judgePlaces()
		for _, e := range n.listHeld() {
			f.noteOwner(e)
		}
		life := n.life
		f.After(f.Between(50*millisecond, 4*second), func() {
			if n.life != life {
				return
			}
			n.cut = false
			f.judgePlaces()
			for _, e := range n.listHeld() {
				f.noteOwner(e)
			}
		})
	}
}

// partSome cuts the links between some nodes and the others, which all reach home.
func (f *Fleet) partSome(some int) {
	var cut []int
	for range some {
		i := f.Rng.IntN(len(f.nodes))
		f.apart[i] = true
		cut = append(cut, i)
	}
	f.After(f.Between(second/2, 6*second), func() {
		for _, i := range cut {
			delete(f.apart, i)
		}
	})
}

// areLinked reports whether two nodes reach each other. Nodes that are cut off at the same time still reach one
// another.
func (f *Fleet) areLinked(a, b *node) bool {
	return a.up && b.up && f.apart[a.number] == f.apart[b.number]
}

// findNode returns the node of a member, whichever of its lifetimes the member is. Nodes are in the order of their
// names.
func (f *Fleet) findNode(m members.Member) *node {
	i := sort.Search(len(f.nodes), func(i int) bool { return f.nodes[i].self.Name >= m.Name })
	return f.nodes[i]
}

// askSome sends commands to events, from any node, until the world heals. More nodes send more.
func (f *Fleet) askSome() {
	f.After(f.Between(0, 2*second/int64(1+len(f.nodes))), func() {
		if f.Healed() {
			return
		}
		if n := f.nodes[f.Rng.IntN(len(f.nodes))]; n.up && n.list != nil {
			f.count.Asked++
			f.askEvent(n, int32(f.Rng.IntN(len(f.events))), f.Now()+patience) //nolint:gosec // few
		}
		f.askSome()
	})
}

// askEvent sends a command to an event from a node. The sender's list names the owner. If that node holds the event
// at the latest epoch, it answers. If it does not hold the event, it activates it. If it holds the event at an
// older epoch, the journal refuses its write, and it lets go. In the last two cases the sender tries again until
// the time is over.
func (f *Fleet) askEvent(n *node, e int32, until int64) {
	again := func() {
		if f.Now() > until {
			f.count.Refused++
			return
		}
		f.After(lookAgain, func() { f.askEvent(n, e, until) })
	}
	if !n.up || n.list == nil {
		return // Its client asks another node.
	}
	places := n.list.placeEvents()
	i := places.OwnerOf(int64(e) + 1)
	if i == placement.None {
		again()
		return
	}
	to := f.findNode(places.Members[i])
	if to != n && !f.areLinked(n, to) {
		again()
		return
	}
	epoch, there := to.held[e]
	switch {
	case there && epoch == f.events[e].epoch && !to.cut:
	case there: // The journal fences the node, which learns from that to let go.
		if !to.cut {
			delete(to.held, e)
			f.noteOwner(e)
		}
		again()
	default:
		to.activateEvent(e)
		again()
	}
}

// noteWake notes in the table of wakes that an event wants to wake now.
func (f *Fleet) noteWake(e int32) {
	f.events[e].at = f.Now()
	f.home.noted = append(f.home.noted, f.Now())
}

// countSince returns how many times of actors a sweep reads that asks for the ones noted since a time. The table
// has one row for each event, however often it was noted, so there are never more than events.
func (h *home) countSince(f *Fleet, after int64) int {
	i, _ := slices.BinarySearch(h.noted, after)
	return min(len(h.noted)-i, len(f.events))
}

// markLeaving writes into the table what a member says of itself with its beat.
func (h *home) markLeaving(n *node) {
	if h.hasMember(n.self.ID) && h.rows[n.self.ID].Leaving != n.self.Leaving {
		h.rows[n.self.ID] = n.self
		h.listMembers()
	}
}

// removeMember deletes a member.
func (h *home) removeMember(id string) {
	if h.hasMember(id) {
		delete(h.rows, id)
		delete(h.beats, id)
		h.listMembers()
	}
}
