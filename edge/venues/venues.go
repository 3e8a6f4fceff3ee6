// Package venues is the area of halls and seats. It keeps venue maps as organizations draw and
// publish them, seats events by a published map, and shows an event's seats to everybody, once or
// as a stream. The states of the seats are kept by an actor (engine/seatmap).
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

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node   *cluster.Node
	Read   *readmodel.Model
	Known  *live.Events
	Pages  *live.Pages
	Feed   *live.Feed
	Venues *venues.Store
	// ChangeType edits the record of a ticket type. It tries again if another edit came in between.
	ChangeType func(*route.Call, engine.Ref, func(*inventory.Details) error) (*inventory.Record, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
