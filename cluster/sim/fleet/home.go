package fleet

import (
	"maps"
	"slices"
	"strings"

	"boxoffice/cluster/placement"
	"boxoffice/persistence/members"
)

// home is the database of members. The journal, with the times of actors, is another one. The statements of each
// wait for one of its processors.
type home struct {
	rows  map[string]members.Member // the table of members, by ID
	beats map[string]int64          // how often each member has beaten, by ID
	list  *listing                  // the list that a statement reads now
	own   cpus                      // the processors of home
	other cpus                      // the processors of the journal; its four shards count as one database
	noted []int64                   // the times of actors that were noted, in order
	away  bool                      // no statement is answered
}

// cpus are when each processor of a database is free.
type cpus [8]int64

// takeProcessor takes the processor that is free first for a while, and returns the time at which the work is done.
// A database with too much to do thus answers later and later.
func (c *cpus) takeProcessor(now, cost int64) int64 {
	free := 0
	for i := range c {
		if c[i] < c[free] {
			free = i
		}
	}
	c[free] = max(c[free], now) + cost
	return c[free]
}

// These are what statements cost a processor, in microseconds. A list of 1,000 members costs a millisecond and a
// half.
const (
	costOfAny  = 100
	costOfRow  = 1.4 // for each row of the list
	costOfTime = 0.5 // for each time of an actor; each shard reads a quarter of them at once
)

// listing is the list of members as it stood between two changes. A node that has the same listing as home knows
// everything.
type listing struct {
	members []members.Member
	placed  *placement.Map
}

// placeEvents returns the placement by the list. It is computed once for each list: all nodes that have read the
// list share it.
func (l *listing) placeEvents() *placement.Map {
	if l.placed == nil {
		l.placed = placement.Of(l.members)
	}
	return l.placed
}

// byID sorts members by their IDs, as the product's list is sorted.
func byID(a, b members.Member) int { return strings.Compare(a.ID, b.ID) }

// init makes the tables empty.
func (h *home) init() {
	h.rows, h.beats = make(map[string]members.Member), make(map[string]int64)
}

// hasMember reports whether a member is in the table.
func (h *home) hasMember(id string) bool {
	_, there := h.rows[id]
	return there
}

// listMembers makes the list of members again after a change.
func (h *home) listMembers() {
	h.list = &listing{members: slices.SortedFunc(maps.Values(h.rows), byID)}
}

// isCurrent reports whether the list has exactly the nodes that are up.
func (h *home) isCurrent(f *Fleet) bool {
	up := 0
	for _, n := range f.nodes {
		if n.up {
			up++
			if !h.hasMember(n.self.ID) {
				return false
			}
		}
	}
	return up == len(h.rows)
}

// executeStatement carries a statement of a node out, and then lets the node hear its outcome. While the node is
// cut off, or the databases are away, failed is called instead; the statement may have been carried out nevertheless.
// cost is microseconds of a processor beside costOfAny.
func (f *Fleet) executeStatement(n *node, at *cpus, cost float64, statement, heard, failed func()) {
	life := n.life
	if n.cut || f.home.away {
		f.After(f.Between(50*millisecond, beatEvery), func() {
			if n.life == life {
				failed()
			}
		})
		return
	}
	// The statement takes effect when the processor is done. The way back may still lose its outcome: the node has
	// been cut off, or has ended, in the meantime.
	done := at.takeProcessor(f.Now(), int64(costOfAny+cost))
	f.After(done-f.Now()+f.Between(100, millisecond), func() {
		if !f.home.away {
			statement()
		}
		if n.life == life && (f.home.away || n.cut) {
			failed()
		} else if n.life == life {
			heard()
		}
	})
}

// notifyMembers notifies all members. One in a thousand does not get it.
func (f *Fleet) notifyMembers() {
	for _, n := range f.nodes {
		if !n.up || n.cut || f.Chance(.001) {
			continue
		}
		life := n.life
		f.count.Notices++
		f.After(f.Between(200, 3*millisecond), func() {
			if n.life == life && !n.cut {
				n.readSoon()
			}
		})
	}
}

// stallHome stops home and the journal from answering for a while. No node can be blamed for an event that is
// without an owner in that time, so the time is spared.
func (f *Fleet) stallHome() {
	if f.home.away {
		return
	}
	f.home.away = true
	f.After(f.Between(second/2, 4*second), func() {
		f.home.away = false
		f.spared = f.Now()
	})
}
