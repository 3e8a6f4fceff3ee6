// Package money is the area of an organization's money and discounts: its wallets with their
// entries, its promo codes, and figures about its sales. It keeps no state of its own, so nothing
// has to be stopped.
package money

import (
	"context"
	"log/slog"

	"boxoffice/cluster"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/engine"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/promos"
	"boxoffice/persistence/readmodel"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node     *cluster.Node
	Read     *readmodel.Model
	Accounts *accounts.Store
	Known    *live.Events
	Pages    *live.Pages
	Promos   *promos.Store
	Codes    *numbers.Lease              // assigns the numbers of new promo codes
	Settled  func(context.Context) error // waits until the read model has everything that is committed
	Guesses  *limit.Guesses              // limits guesses of promo codes
	Log      *slog.Logger
	// Currencies are the currencies that the deployment sells in. Each organization is shown a wallet
	// for each of them, with zeros if it has none yet.
	Currencies []engine.Currency
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
