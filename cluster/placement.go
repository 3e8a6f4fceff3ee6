package cluster

import (
	"hash/fnv"
	"slices"
	"strings"

	"boxoffice/persistence/members"
)

// buckets is how many shares the events are divided into. Each share has one owner.
const buckets = 1024

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
	owner   [buckets]int16
	// prior is the former owner of a bucket that this node has just got: the owner if this node
	// were not there and the members that are leaving had stayed.
	prior   [buckets]int16
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
	for b := range buckets {
		owner, prior := none, none
		var most, mostPrior uint64
		for i, m := range list {
			weight := mixBits(seeds[i] ^ mixBits(uint64(b)+1))
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

// mixBits spreads a number over 64 bits (the finalizer of splitmix64).
func mixBits(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// bucketOf is the bucket of an event, or of an organization's wallets.
func bucketOf(event int64) int {
	return int(mixBits(uint64(event)) % buckets) //nolint:gosec // spreads negative ones as well
}

// ownerOf returns the index of the member that owns an event's actors, or none.
func (p *placement) ownerOf(event int64) int { return int(p.owner[bucketOf(event)]) }

// ownsEvent reports whether this node owns an event's actors.
func (p *placement) ownsEvent(event int64) bool {
	return p.self != none && p.ownerOf(event) == p.self
}

// ownerOfTask returns the member that does a task which the cluster needs done only once.
func (p *placement) ownerOfTask(name string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return int(p.owner[mixBits(h.Sum64())%buckets])
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
