// Package refunds is the area of money that goes back. Holders, buyers and organizations ask for it, and a
// sweep sends it through the provider that took it, if that provider can send. The sweep runs on one node of a
// cluster and ends with its context.
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

// Deps are the stores and services that the handlers work with.
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
	// nudged has room for one value. It has one if this node has seen a refund granted since the sweep last looked.
	nudged chan struct{}
}

// New makes the handlers.
func New(d Deps) *Handlers {
	return &Handlers{Deps: d, metrics: newMetrics(d.Read), nudged: make(chan struct{}, 1)}
}

// Nudge makes the sweep send an order's refunds soon, if the sweep runs on this node. It does nothing if the order has
// no refund to send, and never waits.
func (h *Handlers) Nudge(o *order.Order) {
	if !slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Sends() && r.ProviderRef == "" }) {
		return
	}
	select {
	case h.nudged <- struct{}{}:
	// The sweep has not looked since an earlier nudge, so its next look will find this refund too.
	default:
	}
}

// refundView shows the refund at a position of the order's list.
func (h *Handlers) refundView(o *order.Order, i int) *api.Refund {
	return new(view.Refund(o, i, h.Secrets.Event(o.ID.Event())))
}
