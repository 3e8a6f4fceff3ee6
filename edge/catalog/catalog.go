// Package catalog is the area of what is sold: events, ticket types, venues and seating,
// as organizers change them and as everybody sees them.
package catalog

import (
	"boxoffice/cluster"
	"boxoffice/edge/live"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/venues"
)

// Deps is what the handlers work with.
type Deps struct {
	Node    *cluster.Node
	Read    *readmodel.Model
	Known   *live.Events
	Pages   *live.Pages
	Feed    *live.Feed
	Venues  *venues.Store
	Events  *numbers.Lease // numbers for new events
	Types   *numbers.Lease // numbers for new ticket types
	BaseURL string         // how people reach the service
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
