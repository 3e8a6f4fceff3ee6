// Package receipts is the area of money that comes by bank transfer: what an organization's people and its bank's
// statements say has come, and how orders hear of it. A receipt is kept before its order hears of it, and told again
// until the order has, so that no money is lost in between.
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

// Deps is what the handlers work with.
type Deps struct {
	Node     *cluster.Node
	Read     *readmodel.Model
	Orders   *orders.Desk
	Settled  func(context.Context) error // waits until the read model has what is committed
	Known    *live.Events
	Gateways *payments.Gateways
	Receipts *receipts.Store
	Log      *slog.Logger
	// VerifyAttempts tells an order what came of attempts to pay it, ShowOwn shows an order to its organization,
	// and FindPayment finds an attempt by its reference (sales.Handlers).
	VerifyAttempts func(context.Context, *order.Order, []order.Attempt) (*order.Order, error)
	ShowOwn        func(*route.Call, *order.Order, orders.Reader) (*api.Order, error)
	FindPayment    func(ctx context.Context, reference string) (readmodel.Payment, error)
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// providerTime bounds the time in which one order is told of its money.
const providerTime = 15 * time.Second

// These bound what settleDue does at a time, and how often.
const (
	settleEvery   = 2 * time.Second
	settleBatch   = 64
	settleAtATime = 8
)
