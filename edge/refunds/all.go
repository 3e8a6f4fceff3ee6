package refunds

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/refundruns"
)

const (
	refundRuns  = 4  // the most runs that one round of the sweep works on
	refundBatch = 25 // the most orders of each run that one round refunds
)

// refundAll starts a run that refunds all paid orders of an event, some of them in each round of
// the sweep. A run of the event that has not finished goes on as it is. refundAll first waits for the read model,
// because the run goes through the orders that the read model lists.
func (h *Handlers) refundAll(c *route.Call, in *api.RefundAll) (*api.RefundRun, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := h.Settled(c.Context); err != nil {
		return nil, err
	}
	total, err := h.Read.CountPaidOrders(c.Context, number)
	if err != nil {
		return nil, err
	}
	r, err := h.Runs.Start(c.Context, number, in.Reason, total)
	if err != nil {
		return nil, err
	}
	return h.runView(r), nil
}

// getRefundAll shows how far the run of an event has come. It refuses if the event has had none.
func (h *Handlers) getRefundAll(c *route.Call, in *api.ByID) (*api.RefundRun, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := h.Runs.Find(c.Context, number)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, noRefund
	}
	return h.runView(r), nil
}

// runView shows a run. An order counts as refunded when its refund has been granted; its money may
// still be on its way.
func (h *Handlers) runView(r *refundruns.Run) *api.RefundRun {
	v := &api.RefundRun{
		EventID: h.Known.PublicID(r.Event), Status: "running", Reason: r.Reason, Total: r.Total, Refunded: r.Refunded, Skipped: r.Skipped,
		StartedAt: api.At(r.StartedAt.UnixMilli()),
	}
	if r.FinishedAt != nil {
		v.Status, v.FinishedAt = "finished", api.At(r.FinishedAt.UnixMilli())
	}
	return v
}

// refundEvents works on up to refundRuns of the runs that are not finished: a batch of orders for each, so that a
// large event does not hold up the others. If one run fails, the others go on.
func (w sweep) refundEvents(ctx context.Context, now time.Time) error {
	runs, err := w.Runs.Open(ctx, refundRuns)
	if err != nil {
		return err
	}
	var errs []error
	for i := range runs {
		errs = append(errs, w.refundSome(ctx, &runs[i], now))
	}
	return errors.Join(errs...)
}

// refundSome refunds the next refundBatch orders of a run, and notes how far the run has come. If a refund fails, it
// stops there, and the next round begins with that order. If there are fewer orders than refundBatch, the run is
// finished.
func (w sweep) refundSome(ctx context.Context, r *refundruns.Run, now time.Time) error {
	orders, err := w.Read.PaidOrders(ctx, r.Event, r.After, refundBatch)
	if err != nil {
		return err
	}
	for i := range orders {
		o := &orders[i]
		given, err := w.giveBack(ctx, o, r.Reason)
		if err != nil {
			w.Log.WarnContext(ctx, "order not refunded", slog.String("order", o.ID.String()), slog.Any("error", err))
			return w.Runs.Note(ctx, r)
		}
		if r.After = o.ID; given {
			r.Refunded++
		} else {
			r.Skipped++
		}
	}
	if len(orders) < refundBatch {
		// Orders that were refunded otherwise since the run began are not listed any more.
		r.Skipped = max(r.Skipped, r.Total-r.Refunded)
		r.FinishedAt = &now
	}
	return w.Runs.Note(ctx, r)
}

// giveBack asks the order's event to refund all tickets that the order still has, and reports whether the event
// granted it. It returns false for an order that was not paid here or has no tickets left, and if the event refuses
// with REFUND_NOT_ELIGIBLE or VALIDATION_ERROR. Any other refusal is returned as an error.
func (w sweep) giveBack(ctx context.Context, o *order.Order, reason string) (given bool, err error) {
	tickets := ticketsLeft(o)
	if o.PaidBy() == nil || len(tickets) == 0 {
		return false, nil
	}
	r, err := cluster.AskFor[ledger.OrderReply](ctx, w.Node, engine.EventRef(o.ID.Event()), ledger.AskRefund{
		Order: o.ID, Record: o, Tickets: tickets, Amount: -1, Reason: reason, By: order.AskedByOrganization, Approve: true, Manual: isManual(o),
	})
	if no, ok := err.(*engine.Refusal); ok && (no.Code == engine.RefundNotEligible || no.Code == engine.Validation) { //nolint:errorlint // refusals come bare
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.Nudge(r.Order)
	return true, nil
}
