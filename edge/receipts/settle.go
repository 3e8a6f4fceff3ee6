package receipts

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/receipts"
)

// refuseWord refuses an organization that the platform does not allow to be paid by bank transfer.
// Its people report what has come to the deployment's account, and the organization is credited
// with it, so the platform has to trust them.
func (h *Handlers) refuseWord(ctx context.Context, org int64) error {
	allowed, err := h.Gateways.AllowsTransfers(ctx, org)
	if err != nil || allowed {
		return err
	}
	return &engine.Refusal{
		Code: engine.Forbidden, Message: "The platform has not allowed this organization to be paid by bank transfer.",
		Details: route.Reason{Reason: "TRANSFERS_NOT_ALLOWED"},
	}
}

// markPaid stores a receipt for money that a person has seen on the account, and reports it to the
// order. If the report fails, the sweep repeats it. A repeat of the request with the same
// Idempotency-Key adds no second receipt.
func (h *Handlers) markPaid(c *route.Call, in *api.MarkPaid) (*api.Order, error) {
	id, err := engine.ParseID(in.ID)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	o, seller, err := h.Orders.OpenOwn(c, id)
	if err != nil {
		return nil, err
	}
	k, err := h.Known.Find(c.Context, id.Event())
	if err != nil {
		return nil, err
	}
	if err := h.refuseWord(c.Context, k.Org); err != nil {
		return nil, err
	}
	// The attempt has the amount that was asked for. Without an attempt, the buyer never got a
	// reference, so nobody can know what the money is for.
	a := o.Transfer()
	if a == nil {
		return nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "its buyer has not chosen a transfer"})
	}
	_, kept, err := h.Orders.FindKept(c.Context, id)
	if err != nil {
		return nil, err
	}
	if !kept && !o.Sold() { // the receipt would stand beside the bank's own line for the same money
		return nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "it ended too long ago to take money"})
	}
	amount, err := in.Amount.Minor("amount", o.Currency)
	if err != nil {
		return nil, err
	}
	name := c.CommandID()
	_, err = h.Receipts.Add(c.Context, k.Org, []receipts.Receipt{{
		// The name makes the receipt unique: a repeat of the request has the same one.
		Name: "hand/" + id.String() + "/" + hex.EncodeToString(name[:]), ByHand: true, Order: id, Attempt: a.Reference,
		Amount: amount, Currency: o.Currency, Asked: a.Amount, Fits: true, Day: c.Now.UTC(), Words: in.Reference, Note: in.Note, Teller: c.Who(),
	}})
	if err != nil {
		return nil, err
	}
	if err := h.tellOrderOfReceipts(c.Context, o.ID, a.Reference); err != nil {
		return nil, err
	}
	if o, err = h.Orders.Find(c.Context, id); err != nil {
		return nil, err
	}
	return h.ShowOwn(c, o, seller)
}

// tellOrderOfReceipts reports to an order all receipts for an attempt by transfer, and marks the
// receipts as settled. Money that came after the order was paid, or after its money was sent back,
// becomes a refund, also if the ledger has forgotten the order. Receipts for an unpaid order that the
// ledger has forgotten are left for a person. It may be called any number of times, because the order
// counts each receipt once.
func (h *Handlers) tellOrderOfReceipts(ctx context.Context, id engine.OrderID, attempt string) error {
	came, err := h.Receipts.Of(ctx, attempt)
	if err != nil {
		return err
	}
	// If all receipts are in other currencies, none counts for the order.
	if len(came) == 0 {
		return h.Receipts.Settle(ctx, attempt, 0)
	}
	o, kept, err := h.Orders.FindKept(ctx, id)
	if err != nil {
		return err
	}
	a := o.Attempt(attempt)
	if a == nil {
		return errors.New("the order has no such attempt")
	}
	if !kept && !o.Sold() { // No ledger can take this money, or note that it has to go back.
		return h.Receipts.DetachOrder(ctx, attempt)
	}
	if kept {
		if o, err = h.VerifyAttempts(ctx, o, []order.Attempt{*a}); err != nil {
			return err
		}
		a = o.Attempt(attempt)
	}
	if !kept || a.Status == order.AttemptSucceeded || a.Status == order.AttemptRefunded {
		if err := h.sendExtraBack(ctx, o, a, came); err != nil {
			return err
		}
	}
	// A receipt that has come in the meantime has a higher number and stays unsettled.
	return h.Receipts.Settle(ctx, attempt, came[len(came)-1].Seq)
}

// sendExtraBack reports to an order each receipt that does not count for its attempt, so that the
// ledger refunds it. The first receipts count, as long as their sum is not more than what the
// attempt has received. Each receipt is reported with its own name, by which the ledger recognizes
// a repeat.
func (h *Handlers) sendExtraBack(ctx context.Context, o *order.Order, a *order.Attempt, came []receipts.State) error {
	var sum int64
	for i := range came {
		if sum += came[i].Amount; sum <= a.Received {
			continue
		}
		r, err := cluster.AskFor[ledger.OrderReply](ctx, h.Node, engine.EventRef(o.ID.Event()), ledger.ReportDeposit{
			Order: o.ID, Record: o, Reference: a.Reference, Deposit: "receipt " + strconv.FormatInt(came[i].Seq, 10), Received: came[i].Amount,
		})
		if err != nil {
			return err
		}
		if r.Order != nil {
			o = r.Order
		}
	}
	return nil
}

// SettleTransfers calls settleDue every settleEvery until the context ends. It runs on one node of
// a cluster.
func (h *Handlers) SettleTransfers(ctx context.Context) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			err := panics.Catch(h.Log, "transfers", func() error { return h.settleDue(ctx) })
			if err != nil && ctx.Err() == nil {
				h.Log.WarnContext(ctx, "transfers not settled", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// settleDue reports to their orders receipts that are stored but not settled, because the request that stored them
// failed, ran out of time or is still at work. If that fails for an order, it is tried again in the next round.
func (h *Handlers) settleDue(ctx context.Context) error {
	due, err := h.Receipts.Unsettled(ctx, settleBatch)
	if err != nil {
		return err
	}
	panics.DoEach(h.Log, "transfer", due, settleAtATime, func(attempt string) {
		ctx, cancel := context.WithTimeout(ctx, providerTime)
		defer cancel()
		p, err := h.FindPayment(ctx, attempt)
		if err == nil {
			err = h.tellOrderOfReceipts(ctx, p.Order, attempt)
		}
		if err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "transfer not settled", slog.String("reference", attempt), slog.Any("error", err))
		}
	})
	return nil
}
