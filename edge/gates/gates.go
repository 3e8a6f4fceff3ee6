// Package gates is the area of letting people in: scans, the counters of gates and a live stream of
// them, the manifests with which devices judge scans offline, and the devices that serve as gates.
// The edge reads codes, because only the edge has the keys. The event's actor decides who is let
// in. A node keeps some manifests in memory (rosters) and can lose them; the sources of live
// streams end when their last viewer leaves.
package gates

import (
	"boxoffice/cluster"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/livetokens"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node       *cluster.Node
	Known      *live.Events
	Secrets    *secrets.Master
	LiveTokens *livetokens.Store
	Guesses    *limit.Guesses // limits wrong door codes
	Pages      *live.Pages
	Keys       *apikeys.Store
	Env        string // live or test: the environment of the keys that devices get
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	rosters rosters
}

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{Deps: d} }
