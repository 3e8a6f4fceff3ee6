// Package sales is the area of buying: orders, their payments and refunds, and the seats
// that shoppers hold.
package sales

import (
	"context"
	"log/slog"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/downloads"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/personal"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/refundruns"
)

// Deps is what the handlers work with.
type Deps struct {
	Node       *cluster.Node
	Read       *readmodel.Model
	Accounts   *accounts.Store
	Attendees  *attendees.Store
	Downloads  *downloads.Store
	Courses    *courses.Store
	Settled    func(context.Context) error // waits until the read model has what is committed
	Known      *live.Events
	Pages      *live.Pages
	Feed       *live.Feed
	Letters    *letters.Writer
	Gateways   *payments.Gateways
	Notices    *notices.Store
	RefundRuns *refundruns.Store
	Secrets    *secrets.Master
	// What the caller has reported, and written to organizers: a part of it, from a place
	// on, and the place of the next (people.Handlers).
	ExportReports func(c *route.Call, place int64) ([]api.Report, int64, error)
	ExportThreads func(c *route.Call, place int64) ([]api.Thread, int64, error)
	Personal      *personal.Store
	BaseURL       string // how people reach the service
	Env           string // live or test
	// LimitsScale multiplies every velocity rule.
	LimitsScale float64
	Log         *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	begins  *xsync.Map[string, chan struct{}] // payment attempts being opened
	refunds *refundMetrics
	nudged  chan struct{} // of one: refunds were granted that the sweep has not looked for
}

// New makes the handlers.
func New(d Deps) *Handlers {
	return &Handlers{
		Deps: d, begins: xsync.NewMap[string, chan struct{}](), refunds: newRefundMetrics(d.Read), nudged: make(chan struct{}, 1),
	}
}
