// Package placement says which member owns which actors, according to one list of members. It is pure: package
// cluster asks it about the newest list that the node was given, and the simulation of many nodes about all
// lists that there are.
//
// Each bucket belongs to the member, of those that are not leaving, for which mixing bucket and member gives the
// highest number (rendezvous hashing): when a member comes or goes, only its own buckets move. All actors of one event
// are in one bucket.
package placement

import (
	"hash/fnv"
	"slices"
	"strings"

	"boxoffice/engine"
	"boxoffice/persistence/members"
)

// None stands in the place of a member's index: it owns every bucket if no member is there that is not leaving, and
// Find returns it for an unknown id.
const None = -1

// Map is the placement by one list. Every list makes a new one, and it never changes.
type Map struct {
	Members []members.Member
	seeds   []uint64 // hash of each member's id, from which its shares are computed
	owner   [engine.Buckets]int16
}

// Of places the buckets by a list, which is sorted by ID. Members that are leaving own none.
func Of(list []members.Member) *Map {
	m := &Map{Members: list, seeds: make([]uint64, len(list))}
	for i, member := range list {
		h := fnv.New64a()
		_, _ = h.Write([]byte(member.ID)) // never fails
		m.seeds[i] = h.Sum64()
	}
	for b := range engine.Buckets {
		m.owner[b] = int16(m.best(b, func(i int) bool { return !list[i].Leaving })) //nolint:gosec // at most 30,000 members
	}
	return m
}

// best returns the index of the member with the highest number for a bucket, of those that may have it, or
// None.
func (m *Map) best(bucket int, may func(int) bool) int {
	best, most := None, uint64(0)
	mixed := engine.MixBits(uint64(bucket) + 1) //nolint:gosec // small
	for i, seed := range m.seeds {
		if weight := engine.MixBits(seed ^ mixed); (best == None || weight > most) && may(i) {
			best, most = i, weight
		}
	}
	return best
}

// Owner returns the index of the member that owns a bucket, or None.
func (m *Map) Owner(bucket int) int { return int(m.owner[bucket]) }

// OwnerOf returns the index of the member that owns an event's actors, or None.
func (m *Map) OwnerOf(event int64) int { return m.Owner(engine.BucketOf(event)) }

// OwnerOfTask returns the index of the member that does a task which the cluster needs done only once, or None.
func (m *Map) OwnerOfTask(name string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                                    // never fails
	return m.Owner(int(engine.MixBits(h.Sum64()) % engine.Buckets)) //nolint:gosec // below Buckets
}

// Former returns the index of the member that probably owned an event before this member got it: the owner if this
// member were not there and the members that are leaving had stayed. It returns None if there is no other member.
func (m *Map) Former(event int64, member int) int {
	return m.best(engine.BucketOf(event), func(i int) bool { return i != member })
}

// Find returns the index of the member with an ID, or None.
func (m *Map) Find(id string) int {
	return slices.IndexFunc(m.Members, func(member members.Member) bool { return member.ID == id })
}

// Gains reports whether a member owns a bucket by this placement that it does not own by an earlier one.
func (m *Map) Gains(id string, earlier *Map) bool {
	now, was := m.Find(id), earlier.Find(id)
	if now == None {
		return false
	}
	for b := range engine.Buckets {
		if m.Owner(b) == now && (was == None || earlier.Owner(b) != was) {
			return true
		}
	}
	return false
}

// OwnerOf returns the member that owns an event's actors according to a list of members in any order.
func OwnerOf(list []members.Member, event int64) (owner members.Member, ok bool) {
	m := Of(slices.SortedFunc(slices.Values(list), func(a, b members.Member) int { return strings.Compare(a.ID, b.ID) }))
	i := m.OwnerOf(event)
	if i == None {
		return members.Member{}, false
	}
	return m.Members[i], true
}
