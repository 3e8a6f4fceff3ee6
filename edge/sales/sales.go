// Package sales is the area of buying: orders, their payments and refunds, and the seats
// that shoppers hold.
package sales

import (
	"context"
	"log/slog"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/cluster"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/payments"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/readmodel"
)

// Deps is what the handlers work with.
type Deps struct {
	Node     *cluster.Node
	Read     *readmodel.Model
	Settled  func(context.Context) error // waits until the read model has what is committed
	Known    *live.Events
	Pages    *live.Pages
	Feed     *live.Feed
	Letters  *letters.Writer
	Gateways *payments.Gateways
	Secrets  *secrets.Master
	BaseURL  string // how people reach the service
	Env      string // live or test
	// LimitsScale multiplies every velocity rule.
	LimitsScale float64
	Log         *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	begins  *xsync.Map[string, chan struct{}] // payment attempts being opened
	refunds *refundMetrics
}

// New makes the handlers.
func New(d Deps) *Handlers {
	return &Handlers{Deps: d, begins: xsync.NewMap[string, chan struct{}](), refunds: newRefundMetrics(d.Read)}
}
