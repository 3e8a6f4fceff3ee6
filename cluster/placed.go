package cluster

import (
	"boxoffice/cluster/placement"
	"boxoffice/persistence/members"
)

// none stands in the place of a member's index: there is no such member.
const none = placement.None

// placed is the placement by the newest list of members that this node was given.
type placed struct {
	*placement.Map
	self    int           // index of this node in Members, or none
	changed chan struct{} // closed when a newer placement replaces this one
}

// newPlaced places all actors on a list of members, as the member self sees it.
func newPlaced(list []members.Member, self string) *placed {
	m := placement.Of(list)
	return &placed{Map: m, self: m.Find(self), changed: make(chan struct{})}
}

// ownsHome reports whether this node owns the actors of a home (engine.Ref), which is an event or an organization.
func (p *placed) ownsHome(home int64) bool {
	return p.self != none && p.OwnerOf(home) == p.self
}
