// Package gates is the area of those who let people in: scans and the gates' numbers.
package gates

import (
	"boxoffice/cluster"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/livetokens"
)

// Deps is what the handlers work with.
type Deps struct {
	Node       *cluster.Node
	Known      *live.Events
	Secrets    *secrets.Master
	LiveTokens *livetokens.Store
	Guesses    *limit.Guesses // of door codes
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	rosters rosters
}

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{Deps: d} }
