// Package orders finds orders and their tickets for callers who may see them, and makes the records
// that answers show. The areas of sales, holders, refunds and others build on it. It keeps no
// state, so nothing has to be stopped.
package orders

import (
	"context"
	"errors"

	"boxoffice/cluster"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// Desk finds orders and tickets, and shows them. Its methods may be called by any goroutine.
type Desk struct {
	Node    *cluster.Node
	Read    *readmodel.Model
	Settled func(context.Context) error // waits until the read model has what is committed
	Known   *live.Events
	Pages   *live.Pages
	Feed    *live.Feed
	Letters *letters.Writer
	Secrets *secrets.Master
}

// Find returns an order from its event's ledger, or from the read model if the ledger no longer
// knows the order.
func (d *Desk) Find(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	o, _, err := d.FindKept(ctx, id)
	return o, err
}

// FindKept does what Find does, and reports whether the ledger has the order's record. Otherwise the record comes
// from the read model, because the ledger knows no more than the order's outcome, or has forgotten the order.
func (d *Desk) FindKept(ctx context.Context, id engine.OrderID) (o *order.Order, kept bool, err error) {
	r, err := cluster.AskFor[ledger.OrderReply](ctx, d.Node, engine.EventRef(id.Event()), ledger.GetOrder{Order: id})
	if refusal, ok := err.(*engine.Refusal); ok && refusal.Code == engine.OrderNotFound { //nolint:errorlint // ask returns refusals bare
		o, err = d.FindPast(ctx, id, "")
		return o, false, err
	}
	if err != nil {
		return nil, false, err
	}
	o, err = d.Of(ctx, id, r)
	return o, !r.Past, err
}

// FindInLedger returns an order that its event's ledger still knows, even if the ledger knows only
// its outcome. It refuses an older order with ORDER_NOT_FOUND.
func (d *Desk) FindInLedger(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	r, err := cluster.AskFor[ledger.OrderReply](ctx, d.Node, engine.EventRef(id.Event()), ledger.GetOrder{Order: id})
	if err != nil {
		return nil, err
	}
	return d.Of(ctx, id, r)
}

// Of returns the order that a ledger's reply is about. It reads the order from the read model if
// the reply has only its outcome (Past).
func (d *Desk) Of(ctx context.Context, id engine.OrderID, r *ledger.OrderReply) (*order.Order, error) {
	if !r.Past {
		return r.Order, nil
	}
	return d.FindPast(ctx, id, r.Status)
}

// FindPast reads an order from the read model, because its event's ledger knows no more than the
// order's outcome. If the read model lacks the order, or has the order with another status than the
// ledger's, FindPast waits until the read model has what is committed and reads again. An empty
// status fits any. An order that is still missing is refused with ORDER_NOT_FOUND.
func (d *Desk) FindPast(ctx context.Context, id engine.OrderID, status string) (*order.Order, error) {
	o, err := d.Read.Order(ctx, id)
	if errors.Is(err, readmodel.ErrNotFound) || err == nil && status != "" && o.Status != status {
		if err := d.Settled(ctx); err != nil {
			return nil, err
		}
		o, err = d.Read.Order(ctx, id)
	}
	if errors.Is(err, readmodel.ErrNotFound) {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// HideEvent replaces the refusal EVENT_NOT_FOUND by a refusal with the code, for a caller who asked
// for an order or a ticket and must not learn whether the event or the order is missing. It passes
// other errors on. err must not be nil.
func HideEvent(err error, code engine.Code) error {
	if r, ok := err.(*engine.Refusal); err != nil && (!ok || r.Code != engine.EventNotFound) { //nolint:errorlint // refusals come bare
		return err
	}
	return &engine.Refusal{Code: code}
}
