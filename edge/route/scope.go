package route

import "slices"

// Scopes is a set of permissions (docs/rules.md, Scopes).
type Scopes uint16

// The scopes of API keys, and Manage, which only an owner or an admin has, in
// person.
const (
	EventsRead Scopes = 1 << iota
	EventsWrite
	TicketsRead
	TicketsWrite
	OrdersRead
	OrdersWrite
	AttendeesRead
	AttendeesWrite
	CheckinWrite
	PayoutsRead
	PayoutsWrite
	WebhooksManage
	AnalyticsRead
	Manage

	// AllScopes is what a key without scopes of its own may do.
	AllScopes = Manage - 1
)

// scopeNames are the names on the wire, in the order of the bits.
var scopeNames = []string{
	"events:read", "events:write", "tickets:read", "tickets:write", "orders:read", "orders:write", "attendees:read",
	"attendees:write", "checkin:write", "payouts:read", "payouts:write", "webhooks:manage", "analytics:read", "manage",
}

// Names lists the scopes of the set.
func (s Scopes) Names() []string {
	names := []string{}
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ScopesOf is the set of the named scopes of API keys; names that are none are
// left out.
func ScopesOf(names []string) Scopes {
	var s Scopes
	for _, name := range names {
		if i := slices.Index(scopeNames, name); i >= 0 {
			s |= 1 << i
		}
	}
	return s & AllScopes
}

// The roles of an organization's members.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleMember = "member"
)

// RoleScopes is what a member of a role may do: owners and admins everything;
// the others sell and admit, but see no money, hold no webhooks and manage
// nothing.
func RoleScopes(role string) Scopes {
	switch role {
	case RoleOwner, RoleAdmin:
		return AllScopes | Manage
	case RoleMember:
		return AllScopes &^ (PayoutsRead | PayoutsWrite | WebhooksManage)
	}
	return 0
}
