// Package holders is the area of tickets in people's hands. It covers who holds a ticket and who
// attends with it, how a ticket changes hands or dates, what a digital ticket delivers, and what
// data a person may take along.
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

// Deps are the stores and services that the handlers work with.
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
	// ExportReports and ExportThreads return a page of the caller's reports and of the caller's
	// threads with organizers. They take the place where the page begins (0 for the first) and
	// return the place where the next page begins, or 0 after the last page. The node sets them to
	// the methods of people.Handlers.
	ExportReports func(c *route.Call, place int64) ([]api.Report, int64, error)
	ExportThreads func(c *route.Call, place int64) ([]api.Thread, int64, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
