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
	Node        *cluster.Node
	Known       *live.Events
	Secrets     *secrets.Master
	LiveTokens  *livetokens.Store
	LimitsScale float64 // multiplies how many wrong door codes may be sent
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	guesses *limit.Table // of door codes
	rosters rosters
}

// guessMegabytes is the memory of the counts of wrong door codes.
const guessMegabytes = 1

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{Deps: d, guesses: limit.New(guessMegabytes)} }
