// Package holders is the area of tickets in people's hands: their holders and attendees, how
// a ticket changes hands or dates, what it delivers, and what a person may take along.
package holders

import (
	"context"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/hosted"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/downloads"
	"boxoffice/persistence/personal"
	"boxoffice/persistence/readmodel"
)

// Deps is what the handlers work with.
type Deps struct {
	Node      *cluster.Node
	Read      *readmodel.Model
	Orders    *orders.Desk
	Accounts  *accounts.Store
	Attendees *attendees.Store
	Courses   *courses.Store
	Downloads *downloads.Store
	Personal  *personal.Store
	Settled   func(context.Context) error // waits until the read model has what is committed
	Known     *live.Events
	Pages     *live.Pages
	Feed      *live.Feed
	Letters   *letters.Writer
	Secrets   *secrets.Master
	Files     *hosted.Files
	// ExportReports and ExportThreads return a part of what the caller has reported, and of what
	// they have written to organizers: from a place on, with the place of the next part, or 0
	// behind the last one (people.Handlers).
	ExportReports func(c *route.Call, place int64) ([]api.Report, int64, error)
	ExportThreads func(c *route.Call, place int64) ([]api.Thread, int64, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
