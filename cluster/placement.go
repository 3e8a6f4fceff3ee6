package cluster

import (
	"hash/fnv"
	"slices"
	"strings"

	"boxoffice/engine"
	"boxoffice/persistence/members"
)

// none is the owner of every bucket when there is no member.
const none = -1

// placement says which member owns which actors, according to one list of members. Every list makes
// a new placement; a placement never changes.
//
// Each bucket belongs to the member for which mixing bucket and member gives the highest number
// (rendezvous hashing): when a member comes or goes, only its own buckets move. All actors of one
// event are in one bucket.
type placement struct {
	members []members.Member
	self    int // index of this node, or none
	owner   [engine.Buckets]int16
	// prior is the former owner of a bucket that this node has just got: the owner if this node
	// were not there and the members that are leaving had stayed.
	prior   [engine.Buckets]int16
	changed chan struct{} // closed when a newer placement replaces this one
}

func newPlacement(list []members.Member, self string) *placement {
	p := &placement{
		members: list, changed: make(chan struct{}),
		self: slices.IndexFunc(list, func(m members.Member) bool { return m.ID == self }),
	}
	seeds := make([]uint64, len(list))
	for i, m := range list {
		h := fnv.New64a()
		_, _ = h.Write([]byte(m.ID)) // never fails
		seeds[i] = h.Sum64()
	}
	for b := range engine.Buckets {
		owner, prior := none, none
		var most, mostPrior uint64
		for i, m := range list {
			weight := engine.MixBits(seeds[i] ^ engine.MixBits(uint64(b)+1))
			if !m.Leaving && (owner == none || weight > most) {
				owner, most = i, weight
			}
			if i != p.self && (prior == none || weight > mostPrior) {
				prior, mostPrior = i, weight
			}
		}
		p.owner[b], p.prior[b] = int16(owner), int16(prior) //nolint:gosec // at most 30,000 members
	}
	return p
}

// ownerOf returns the index of the member that owns an event's actors, or none.
func (p *placement) ownerOf(event int64) int { return int(p.owner[engine.BucketOf(event)]) }

// ownsEvent reports whether this node owns an event's actors.
func (p *placement) ownsEvent(event int64) bool {
	return p.self != none && p.ownerOf(event) == p.self
}

// ownerOfTask returns the member that does a task which the cluster needs done only once.
func (p *placement) ownerOfTask(name string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return int(p.owner[engine.MixBits(h.Sum64())%engine.Buckets])
}

// OwnerOf returns the member that owns an event's actors according to a list of members.
func OwnerOf(list []members.Member, event int64) (owner members.Member, ok bool) {
	list = slices.SortedFunc(slices.Values(list), func(a, b members.Member) int { return strings.Compare(a.ID, b.ID) })
	i := newPlacement(list, "").ownerOf(event)
	if i == none {
		return members.Member{}, false
	}
	return list[i], true
}
