// Package venues is the area of halls and seats. By it, organizations draw and publish venue maps
// and give events the seats of a published map, and everybody sees an event's seats, once or as a
// stream. An actor keeps the states of an event's seats (engine/seatmap).
package venues

import (
	"boxoffice/cluster"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/venues"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node   *cluster.Node
	Known  *live.Events
	Pages  *live.Pages
	Feed   *live.Feed
	Venues *venues.Store
	// ChangeType edits the details of a ticket type. If another edit came in between, it tries
	// again.
	ChangeType func(*route.Call, engine.Ref, func(*inventory.Details) error) (*inventory.Record, error)
	// ListTypes lists all ticket types of an event, also those that were made just now. It refuses with UNAVAILABLE
	// while the read model lacks one.
	ListTypes func(*route.Call, *event.Record) ([]readmodel.TicketType, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
