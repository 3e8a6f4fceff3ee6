package sales

import (
	"context"
	"math"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/orders"
	"boxoffice/edge/payments/transfer"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// This file is about orders that are paid by bank transfer: how long they wait, and that a buyer says that the money
// is sent. The money that arrives is the business of edge/receipts.

// transferWindow returns how long an event's orders wait for a transfer: the event's own number of days, or else the
// deployment's time.
func transferWindow(e *event.Details, deployment time.Duration) time.Duration {
	if e.TransferDays != 0 {
		return time.Duration(e.TransferDays) * 24 * time.Hour
	}
	return deployment
}

// transferDue returns until when an order waits for a transfer, in unix milliseconds: for transferWindow after the
// order was placed, but not past the end of the sale of any of its ticket types. It refuses if the sale ends
// before a transfer can arrive (transfer.MinWindow).
func (h *Handlers) transferDue(c *route.Call, o *order.Order, window time.Duration) (int64, error) {
	p, err := h.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return 0, err
	}
	saleEnd := int64(math.MaxInt64)
	for i := range o.Lines {
		for k := range p.Types {
			if t := &p.Types[k]; t.Ref.ID == o.Lines[i].Type && t.Details.SaleEnd != 0 {
				saleEnd = min(saleEnd, t.Details.SaleEnd)
			}
		}
	}
	if saleEnd < c.Now.Add(transfer.MinWindow).UnixMilli() {
		return 0, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "a transfer would come too late"})
	}
	return min(o.CreatedAt+transferWindow(p.Event.Details, window).Milliseconds(), saleEnd), nil
}

// countTransfer counts an order that will keep its stock for days without payment, and refuses if the client's network
// has too many of them; otherwise one network could keep all of an event's stock for nothing. It counts no
// order whose buyer has chosen a transfer before, and none of an organization's own orders.
func (h *Handlers) countTransfer(c *route.Call, o *order.Order) error {
	if o.Transfer() != nil {
		return nil
	}
	return h.Guesses.Take(c, h.countsOf(c, limit.RuleTransfers, o))
}

// refuseTransferTo refuses payment by transfer for an event's orders, as if the provider were missing, unless the
// operator has allowed transfers to the event's organization.
func (h *Handlers) refuseTransferTo(ctx context.Context, event int64) error {
	k, err := h.Known.Find(ctx, event)
	if err != nil {
		return err
	}
	allowed, err := h.Gateways.AllowsTransfers(ctx, k.Org)
	if err != nil || allowed {
		return err
	}
	return engine.Refuse(engine.ProviderMissing, nil)
}

// findTransfer returns the open transfer to which somebody with the order's payment link may send the money, or
// refuses with ORDER_NOT_PAYABLE if the buyer has opened none. The link itself opens none, because the order would then
// keep its stock for days.
func findTransfer(o *order.Order) (*order.Order, *order.Attempt, error) {
	if a := o.Transfer(); a != nil && a.Open() {
		return o, a, nil
	}
	return nil, nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "its buyer has not chosen a transfer"})
}

// tellTransferSent notes that a buyer says that a transfer is sent. That does not pay the order.
func (h *Handlers) tellTransferSent(c *route.Call, in *api.TellTransferSent) (*api.Order, error) {
	o, reader, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if r := ledger.Payable(o); r != nil {
		return nil, r
	}
	if o.Transfer() == nil {
		return nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "its buyer has not chosen a transfer"})
	}
	if err := h.Receipts.TellSent(c.Context, o.ID); err != nil {
		return nil, err
	}
	return h.showWaiting(c, o, reader)
}

// showWaiting shows an order to a reader. If the order waits for a transfer, it also shows when the buyer said that
// the money was sent.
func (h *Handlers) showWaiting(c *route.Call, o *order.Order, reader orders.Reader) (*api.Order, error) {
	v, err := h.Orders.Show(c, o, reader)
	if err != nil {
		return nil, err
	}
	return v, h.addSentAt(c, o, v)
}

// addSentAt sets in v when the buyer said that the transfer was sent, if the order waits for a transfer.
func (h *Handlers) addSentAt(c *route.Call, o *order.Order, v *api.Order) error {
	if !o.Unpaid() || o.Transfer() == nil {
		return nil
	}
	at, err := h.Receipts.SentAt(c.Context, o.ID)
	if err != nil || at.IsZero() {
		return err
	}
	for i := range v.Payments {
		if t := v.Payments[i].Transfer; t != nil {
			t.SentAt = api.At(at.UnixMilli())
		}
	}
	return nil
}
