// Package outward is the area of what other programs are told: webhook endpoints with
// their deliveries, and the pull feed of public facts. The payloads and their delivery
// are edge/webhook's; here is what organizers see and set of it.
package outward

import (
	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/publicfacts"
)

// Deps is what the handlers work with.
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
