// Package receipts is the area of money that comes by bank transfer. People of an organization and
// statements of its bank tell what has come, and this package tells the orders. A receipt is stored
// before its order is told, and the order is told again until it has heard, so that no money is
// lost in between.
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
	// VerifyAttempts tells an order about attempts to pay it. ShowOwn shows an order to its
	// organization. FindPayment finds an attempt by its reference. All three belong to
	// sales.Handlers.
	VerifyAttempts func(context.Context, *order.Order, []order.Attempt) (*order.Order, error)
	ShowOwn        func(*route.Call, *order.Order, orders.Reader) (*api.Order, error)
	FindPayment    func(ctx context.Context, reference string) (readmodel.Payment, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// providerTime bounds the time in which the sweep tells one order of its money.
const providerTime = 15 * time.Second

// These bound the sweep (SettleTransfers): how often it looks, how many attempts it takes
// at a time, and how many orders it tells at once.
const (
	settleEvery   = 2 * time.Second
	settleBatch   = 64
	settleAtATime = 8
)
