package route

import "slices"

// Scopes is a set of permissions (docs/rules.md, Scopes).
type Scopes uint16

// These are the scopes of API keys, and Manage, which only people who are owners or admins have.
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

	// AllScopes holds every scope except Manage. A key for which no scopes were set has all of these.
	AllScopes = Manage - 1
)

// scopeNames are the scopes' names on the wire, in the order of the bits.
var scopeNames = []string{
	"events:read", "events:write", "tickets:read", "tickets:write", "orders:read", "orders:write", "attendees:read",
	"attendees:write", "checkin:write", "payouts:read", "payouts:write", "webhooks:manage", "analytics:read", "manage",
}

// Names returns the names of the scopes in the set.
func (s Scopes) Names() []string {
	names := []string{}
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ScopesOf returns the set of the named scopes; names that are no scopes of API keys are left out.
func ScopesOf(names []string) Scopes {
	var s Scopes
	for _, name := range names {
		if i := slices.Index(scopeNames, name); i >= 0 {
			s |= 1 << i
		}
	}
	return s & AllScopes
}

// These are the roles of an organization's members.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleMember = "member"
)

// RoleScopes returns the scopes of a member with a role, or 0 for an unknown role. Owners and admins have
// all scopes. Other members have no scope for payouts and none to manage webhooks, API keys or members.
func RoleScopes(role string) Scopes {
	switch role {
	case RoleOwner, RoleAdmin:
		return AllScopes | Manage
	case RoleMember:
		return AllScopes &^ (PayoutsRead | PayoutsWrite | WebhooksManage)
	}
	return 0
}
