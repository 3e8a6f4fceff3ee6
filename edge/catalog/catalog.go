// Package catalog is the area of what is sold: events, ticket types, venues and seating,
// as organizers change them and as everybody sees them.
package catalog

import (
	"log/slog"

	"boxoffice/cluster"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/program"
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
	Program *program.Store
	Courses *courses.Store
	Events  *numbers.Lease // numbers for new events
	Types   *numbers.Lease // numbers for new ticket types
	Media   Media
	Texts   *limit.Texts // changes of texts
	// LimitsScale multiplies the bound of drafts.
	LimitsScale float64
	BaseURL     string // how people reach the service
	Log         *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
