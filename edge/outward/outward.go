// Package outward is the area in which organizers set up and inspect what their own programs
// receive: webhook endpoints with their deliveries, and the pull feed of public facts. The package
// edge/webhook makes the payloads and sends them. This package keeps no state, so nothing has to be
// stopped.
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
