// Package venues is the area of halls and seats: venue maps as organizations draw and publish them, the
// seating of events by a published map, and the seats of an event as everybody sees them, once or as a stream.
// The seats themselves are an actor's (engine/seatmap).
package venues

import (
	"boxoffice/cluster"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/venues"
)

// Deps is what the handlers work with.
type Deps struct {
	Node   *cluster.Node
	Read   *readmodel.Model
	Known  *live.Events
	Pages  *live.Pages
	Feed   *live.Feed
	Venues *venues.Store
	// ChangeType edits a ticket type's record, and tries again when another edit came between.
	ChangeType func(*route.Call, engine.Ref, func(*inventory.Details) error) (*inventory.Record, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
