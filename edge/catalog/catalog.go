// Package catalog is the area of what is sold: events, ticket types, courses, reservation calendars, and an event's
// schedule, sections and page. It has the operations with which organizers change these and with which everybody
// sees them. Venues are the area of edge/venues, and uploads are the area of edge/files.
//
// Writes ask the event's actors, which decide. Reads of the public come from the read model, through the pages
// that this node caches (live.Pages); a write refreshes the page of its event, so that the next reader on this
// node sees it.
package catalog

import (
	"log/slog"

	"boxoffice/cluster"
	"boxoffice/edge/letters"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/community"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/program"
	"boxoffice/persistence/readmodel"
)

// Deps is what the handlers work with.
type Deps struct {
	Node    *cluster.Node
	Read    *readmodel.Model
	Known   *live.Events
	Pages   *live.Pages
	Feed    *live.Feed
	Letters *letters.Writer // writes how an event reads in a calendar, in the reader's language
	Program *program.Store
	Courses *courses.Store
	// Community holds guests' reviews of events.
	Community *community.Store
	// Gateways tell whether any payment provider accepts an event's currency.
	Gateways *payments.Gateways
	Events   *numbers.Lease // draws the numbers of new events
	Types    *numbers.Lease // draws the numbers of new ticket types
	Texts    *limit.Texts   // limits how often long texts are changed
	// LimitsScale multiplies the number of drafts that an organization may have (maxDrafts).
	LimitsScale float64
	// CheckFiles refuses the request in if it links to one of our files that does not belong to the organization.
	CheckFiles func(c *route.Call, org int64, in any) error
	BaseURL    string // how people reach the service
	Log        *slog.Logger
	// Currencies are those in which the deployment sells. An event whose organizer names none gets dollars if they
	// are among them, otherwise the first.
	Currencies []engine.Currency
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
