// Package outward is the area of public facts for other programs: organizers manage their webhook endpoints, read the
// deliveries, and read the pull feed. Package edge/webhook makes the payloads and delivers them.
package outward

import (
	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/publicfacts"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Endpoints *deliveries.Store
	Targets   *webhook.Targets // says which addresses may be called
	Facts     *publicfacts.Store
	Accounts  *accounts.Store
	Mail      *mailqueue.Queue
	Secrets   *secrets.Master
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }
