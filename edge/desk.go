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
	"boxoffice/edge/hasher"
	"boxoffice/edge/limit"
	"boxoffice/edge/mail"
	"boxoffice/edge/outward"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/engine/event"
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
	listed              atomic.Uint64 // how often this node has changed what lists show
	known               *xsync.Map[int64, knownEvent]
	begins              *xsync.Map[string, chan struct{}] // payment attempts being opened
	guesses             *limit.Table                      // of door codes
	refunds             *refundMetrics
}

// knownEvent is what never changes of an event that exists.
type knownEvent struct {
	public engine.EventID
	org    int64
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
	d.known = xsync.NewMap[int64, knownEvent]()
	d.begins = xsync.NewMap[string, chan struct{}]()
	d.guesses = limit.New(1)
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

// ask sends a command to an actor and takes its reply as a *T.
func ask[T any](c *route.Call, d *Desk, to engine.Ref, cmd engine.Command) (*T, error) {
	return askIn[T](c.Context, d, to, cmd)
}

func askIn[T any](ctx context.Context, d *Desk, to engine.Ref, cmd engine.Command) (*T, error) {
	reply, err := d.Node.Ask(ctx, to, cmd)
	if err != nil {
		return nil, err
	}
	r, ok := reply.(*T)
	if !ok {
		return nil, &engine.Refusal{Code: engine.Internal}
	}
	return r, nil
}

// know returns an event that exists. Asking the actor of one that does not would
// make it: the read model is asked first, once per event and node.
func (d *Desk) know(ctx context.Context, number int64) (knownEvent, error) {
	if k, ok := d.known.Load(number); ok {
		return k, nil
	}
	e, err := d.Read.EventByNumber(ctx, number)
	if err != nil {
		return knownEvent{}, notFoundAs(err, engine.EventNotFound)
	}
	return d.remember(number, e.Details), nil
}

func (d *Desk) remember(number int64, t *event.Details) knownEvent {
	k := knownEvent{public: t.PublicID, org: t.Org}
	d.known.Store(number, k)
	return k
}

// eventNumber reads an event id of a path or body: the public UUID or the number
// (docs/rules.md, Conventions).
func (d *Desk) eventNumber(ctx context.Context, id string) (int64, knownEvent, error) {
	notFound := &engine.Refusal{Code: engine.EventNotFound}
	number, ok := route.ReadNumber(id)
	var public engine.EventID
	if !ok {
		var err error
		if public, err = engine.ParseID(id); err != nil {
			return 0, knownEvent{}, notFound
		}
		number = public.Event()
	}
	if number < 1 {
		return 0, knownEvent{}, notFound
	}
	k, err := d.know(ctx, number)
	if err != nil {
		return 0, knownEvent{}, err
	}
	if !ok && k.public != public {
		return 0, knownEvent{}, notFound
	}
	return number, k, nil
}

// ownEvent reads an event id and makes sure that the event is the caller's
// organization's, and that the caller may do the operation there. Another's does
// not exist for the caller.
func (d *Desk) ownEvent(c *route.Call, id string) (int64, error) {
	number, k, err := d.eventNumber(c.Context, id)
	if err != nil {
		return 0, err
	}
	g, ok := c.Principal.Grant(k.org)
	if !ok {
		return 0, &engine.Refusal{Code: engine.EventNotFound}
	}
	return number, route.CheckGrant(c.Op, g)
}
