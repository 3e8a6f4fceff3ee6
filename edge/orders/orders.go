// Package orders finds orders and their tickets for those who may see them, and shows them
// as answers do. The areas of sales, holders and refunds build on it.
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

// Find returns an order from its event's ledger or, if the ledger does not remember the order any more, from the read
// model.
func (d *Desk) Find(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	o, err := d.FindInLedger(ctx, id)
	if err != nil {
		if r, ok := err.(*engine.Refusal); !ok || r.Code != engine.OrderNotFound { //nolint:errorlint // ask returns refusals bare
			return nil, err
		}
		return d.FindPast(ctx, id, "")
	}
	return o, nil
}

// FindInLedger returns an order that its event's ledger remembers, if only by its outcome. An
// older one is not found.
func (d *Desk) FindInLedger(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	r, err := cluster.AskFor[ledger.OrderReply](ctx, d.Node, engine.EventRef(id.Event()), ledger.GetOrder{Order: id})
	if err != nil {
		return nil, err
	}
	return d.Of(ctx, id, r)
}

// Of returns the order of an event's reply. It comes from the read model if the ledger has only
// its outcome.
func (d *Desk) Of(ctx context.Context, id engine.OrderID, r *ledger.OrderReply) (*order.Order, error) {
	if !r.Past {
		return r.Order, nil
	}
	return d.FindPast(ctx, id, r.Status)
}

// FindPast reads an order that its event's ledger has closed from the read model, which may be a little out of date. If
// the model lacks the order, or has it with another status than the given one, FindPast waits until the model has
// everything that is committed and reads again. An empty status means any.
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

// HideEvent turns an EVENT_NOT_FOUND into a refusal with the given code, for callers who asked for an order or a ticket
// and so should not learn whether its event exists. It returns other errors unchanged.
func HideEvent(err error, code engine.Code) error {
	if r, ok := err.(*engine.Refusal); err != nil && (!ok || r.Code != engine.EventNotFound) { //nolint:errorlint // refusals come bare
		return err
	}
	return &engine.Refusal{Code: code}
}
