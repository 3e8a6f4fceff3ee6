// Package receipts is the area of money that comes by bank transfer. People of an organization report single
// transfers or import bank statements, and this package reports the money to the orders. A receipt is stored
// before it is reported to its order, and counts as settled after that. A sweep repeats the report until it
// succeeds, so that no money is lost. The sweep (SettleTransfers) runs on one node and ends with its context.
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
	// VerifyAttempts checks what has come for attempts to pay an order and reports it to the order.
	// ShowOwn shows an order to its organization. FindPayment finds an attempt by its reference.
	// The node sets all three to methods of sales.Handlers.
	VerifyAttempts func(context.Context, *order.Order, []order.Attempt) (*order.Order, error)
	ShowOwn        func(*route.Call, *order.Order, orders.Reader) (*api.Order, error)
	FindPayment    func(ctx context.Context, reference string) (readmodel.Payment, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// providerTime bounds the time in which the sweep reports receipts to one order, and the requests that store
// receipts (markPaid and importStatement).
const providerTime = 15 * time.Second

// These bound the sweep (SettleTransfers): the time between two rounds, the most attempts of a
// round, and how many of them it handles concurrently.
const (
	settleEvery   = 2 * time.Second
	settleBatch   = 64
	settleAtATime = 8
)
