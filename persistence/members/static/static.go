// Package static is a membership that never changes, for development: a list of nodes in the
// configuration. If a node of the list is away, the others wait for it and its actors. It has no
// goroutine.
package static

import (
	"context"
	"fmt"
	"strings"

	"boxoffice/persistence/members"
)

// Membership is the list, as one of its nodes sees it.
type Membership struct {
	list []members.Member
	self string
	tell func([]members.Member)
}

// Join calls tell with the list, whose entries are name=host:port, and returns the membership of self, which
// must be on the list. tell must not block.
func Join(list []string, self members.Member, tell func([]members.Member)) (*Membership, error) {
	m := &Membership{self: self.ID, tell: tell}
	listed := false
	for _, entry := range list {
		name, link, ok := strings.Cut(entry, "=")
		if !ok {
			return nil, fmt.Errorf("BOXOFFICE_MEMBERS: %q is not name=host:port", entry)
		}
		listed = listed || name == self.ID
		m.list = append(m.list, members.Member{ID: name, Name: name, Link: link})
	}
	if !listed {
		return nil, fmt.Errorf("BOXOFFICE_MEMBERS does not name %s", self.ID)
	}
	tell(m.list)
	return m, nil
}

// Leave calls tell with a list on which this node is leaving. The other nodes don't get this list.
func (m *Membership) Leave() {
	list := make([]members.Member, len(m.list))
	for i, one := range m.list {
		one.Leaving = one.ID == m.self
		list[i] = one
	}
	m.tell(list)
}

// Fresh returns nil, because the list never changes.
func (m *Membership) Fresh() error { return nil }

// Lost never gets anything, because no node of the list is ever taken for dead.
func (m *Membership) Lost() <-chan error { return nil }

// Stop has nothing to stop.
func (m *Membership) Stop(context.Context) error { return nil }
