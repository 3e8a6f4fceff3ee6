// Package money is the area of what organizations own: their wallets and ledgers.
package money

import (
	"context"
	"log/slog"

	"boxoffice/cluster"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/readmodel"
)

// Deps is what the handlers work with.
type Deps struct {
	Node     *cluster.Node
	Read     *readmodel.Model
	Accounts *accounts.Store
	Settled  func(context.Context) error // waits until the read model has what is committed
	Log      *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
