// Package receipts is the area of money that comes by bank transfer. An organization's people say that money has
// arrived, or import statements of its bank. This package stores each receipt and then reports it to its order. A
// sweep repeats the report until the order has taken the receipt, so that no money is lost in between.
package receipts

import (
	"context"
	"log/slog"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/orders"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/receipts"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node     *cluster.Node
	Read     *readmodel.Model
	Orders   *orders.Desk
	Settled  func(context.Context) error // waits until the read model has what is committed
	Known    *live.Events
	Gateways *payments.Gateways
	Receipts *receipts.Store
	Log      *slog.Logger
	// VerifyAttempts makes an order take the receipts of its attempts to pay. ShowOwn shows an order to its
	// organization. FindPayment finds an attempt by its reference. All three are methods of sales.Handlers.
	VerifyAttempts func(context.Context, *order.Order, []order.Attempt) (*order.Order, error)
	ShowOwn        func(*route.Call, *order.Order, orders.Reader) (*api.Order, error)
	FindPayment    func(ctx context.Context, reference string) (readmodel.Payment, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// providerTime is how long the sweep may take to report one order's receipts.
const providerTime = 15 * time.Second

// These limit the sweep (SettleTransfers): how often it looks, how many attempts it takes in one look, and to how many
// orders it reports at the same time.
const (
	settleEvery   = 2 * time.Second
	settleBatch   = 64
	settleAtATime = 8
)
