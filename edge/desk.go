// Package edge holds the route table (routes.go) and its handlers, one file per
// resource: each takes a route.Call with its typed request, asks actors and tables,
// and answers with a record of edge/api or a refusal. How requests come to them is
// edge/server.
package edge

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/cluster"
	"boxoffice/edge/gates"
	"boxoffice/edge/hasher"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/money"
	"boxoffice/edge/outward"
	"boxoffice/edge/payments"
	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/venues"
)

// Desk is what the handlers have in hand: the door to the actors, the tables,
// the providers, and the deployment's secrets. Its methods are the handlers of
// the route table, one file per resource.
type Desk struct {
	Node     *cluster.Node
	Read     *readmodel.Model
	Stock    *readmodel.Stock
	Seats    *readmodel.Seats
	Accounts *accounts.Store
	APIKeys  *apikeys.Store
	Venues   *venues.Store
	Replies  *idempotency.Store
	Known    *live.Events
	Gates    *gates.Handlers
	Money    *money.Handlers
	Outward  *outward.Handlers
	Events   *numbers.Lease // numbers for new events
	Types    *numbers.Lease // numbers for new ticket types
	Gateways *payments.Gateways
	Secrets  *secrets.Master
	Mail     *mailqueue.Queue
	Sender   mail.Sender // of the mails that are queued
	Hasher   *hasher.Hasher
	Settled  func(context.Context) error // waits until the read model has what is committed
	Drain    func(context.Context) error // hands this node's actors over to others
	BaseURL  string                      // how people reach the service
	Env      string                      // live or test
	// LimitsScale multiplies every velocity rule.
	LimitsScale float64
	Log         *slog.Logger

	life    context.Context //nolint:containedctx // of what the desk does by itself
	end     context.CancelFunc
	reloads sync.WaitGroup
	signing signing
	proofs  *ristretto.Cache[string, *proof]
	changes changes
	used    uses
	pages   *ristretto.Cache[string, any]
	// searches and pageReads admit public reads to the database.
	searches, pageReads *readGate
	listed              atomic.Uint64                     // how often this node has changed what lists show
	begins              *xsync.Map[string, chan struct{}] // payment attempts being opened
	refunds             *refundMetrics
}

const (
	pageLife = time.Second // a cached public page may be this old
	pageCost = 64 << 20    // bytes of cached pages
)

// Teller makes what the world is told, with what the desk has in hand.
func (d *Desk) Teller() *webhook.Teller { return &webhook.Teller{Secrets: d.Secrets, Seats: d.seatsOf} }

// Open makes the desk ready. Close ends its caches.
func (d *Desk) Open() error {
	d.life, d.end = context.WithCancel(context.Background())
	d.Known = live.NewEvents(d.Read)
	d.begins = xsync.NewMap[string, chan struct{}]()
	d.refunds = newRefundMetrics(d.Read)
	d.searches, d.pageReads = searchGate(), pageGate()
	var err error
	d.changes.at = xsync.NewMap[string, time.Time]()
	if d.proofs, err = ristretto.NewCache(&ristretto.Config[string, *proof]{
		NumCounters: 10 * proofMax, MaxCost: proofMax, BufferItems: 64, IgnoreInternalCost: true,
	}); err != nil {
		return err
	}
	if d.pages, err = ristretto.NewCache(&ristretto.Config[string, any]{
		NumCounters: 100_000, MaxCost: pageCost, BufferItems: 64, IgnoreInternalCost: true,
	}); err != nil {
		return err
	}
	return nil
}

// Close ends the desk's caches.
func (d *Desk) Close() {
	d.end()
	d.reloads.Wait()
	d.proofs.Close()
	d.pages.Close()
}
