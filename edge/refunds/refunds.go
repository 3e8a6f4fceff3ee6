// Package refunds is the area of money that goes back: what holders, buyers and
// organizations ask for, and the sweep that sends it through the provider that took it.
package refunds

import (
	"context"
	"log/slog"
	"slices"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/orders"
	"boxoffice/edge/payments"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine/order"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/downloads"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/refundruns"
)

// Deps is what the handlers work with.
type Deps struct {
	Node      *cluster.Node
	Read      *readmodel.Model
	Orders    *orders.Desk
	Known     *live.Events
	Downloads *downloads.Store
	Courses   *courses.Store
	Runs      *refundruns.Store
	Gateways  *payments.Gateways
	Secrets   *secrets.Master
	Settled   func(context.Context) error // waits until the read model has what is committed
	Log       *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	metrics *metrics
	nudged  chan struct{} // has room for one: this node has seen refunds granted for which the sweep has not looked yet
}

// New makes the handlers.
func New(d Deps) *Handlers {
	return &Handlers{Deps: d, metrics: newMetrics(d.Read), nudged: make(chan struct{}, 1)}
}

// Nudge makes the sweep send an order's refunds now, if the sweep runs on this node. It never
// waits. Whether a refund is sent is decided by its claim alone, however often the sweep looks.
func (h *Handlers) Nudge(o *order.Order) {
	if !slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Sends() && r.ProviderRef == "" }) {
		return
	}
	select {
	case h.nudged <- struct{}{}:
	default: // a look that has not begun yet finds this refund too
	}
}

// refundView shows the refund at a place in the order's list.
func (h *Handlers) refundView(o *order.Order, i int) *api.Refund {
	return new(view.Refund(o, i, h.Secrets.Event(o.ID.Event())))
}
