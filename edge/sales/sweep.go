package sales

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/readmodel"
)

const (
	sweepEvery   = 2 * time.Second
	sweepBatch   = 64
	sweepAtATime = 8
	sweepCall    = providerTime
	// firstCheck and lastCheck bound the pauses between two looks at an
	// attempt: each is as long as the attempt was old at the last one.
	firstCheck = 2 * time.Minute
	lastCheck  = 6 * time.Hour
)

// sweep asks providers about payments that nobody verifies and sends money back
// that is due, so that money which comes late is never silently lost.
type sweep struct{ *Handlers }

// SweepPayments sweeps until the context ends. One node of a cluster does. Between two rounds it
// sends the refunds that this node has just seen granted; those of other nodes wait for the round.
func (h *Handlers) SweepPayments(ctx context.Context) {
	w := sweep{h}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.run(ctx, w.checkPayments, w.refundEvents, w.checkRefunds)
		case <-h.nudged:
			w.run(ctx, w.awaitGranted, w.checkRefunds)
		case <-ctx.Done():
			return
		}
	}
}

// run makes some checks, one after another. One that fails or panics keeps none of the others
// from running.
func (w sweep) run(ctx context.Context, checks ...func(context.Context, time.Time) error) {
	now := time.Now()
	errs := make([]error, len(checks))
	for i, check := range checks {
		errs[i] = panics.Catch(w.Log, "payment sweep", func() error { return check(ctx, now) })
	}
	if err := errors.Join(errs...); err != nil && ctx.Err() == nil {
		w.Log.WarnContext(ctx, "payment sweep", slog.Any("error", err))
	}
}

// nudgeSweep has the sweep of this node, if it is here, send an order's refunds now. It never
// waits. Whether a refund is sent is decided by its claim alone, however often the sweep looks.
func (h *Handlers) nudgeSweep(o *order.Order) {
	if !slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Sends() && r.ProviderRef == "" }) {
		return
	}
	select {
	case h.nudged <- struct{}{}:
	default: // a look that has not begun yet finds this refund too
	}
}

// awaitGranted waits until the table of refunds has those that this node has seen granted. A
// table that lags behind holds the sweep up for no longer than a round.
func (w sweep) awaitGranted(ctx context.Context, _ time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sweepEvery)
	defer cancel()
	return w.Settled(ctx)
}

// inParallel does something with each element, few at a time, and waits: one that
// takes long holds up no others, and neither does one that panics.
func inParallel[T any](log *slog.Logger, job string, list []T, do func(T)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, sweepAtATime)
	for _, e := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			panics.Do(log, job, func() { do(e) })
		})
	}
	wg.Wait()
}

// checkPayments asks about the attempts that are due.
func (w sweep) checkPayments(ctx context.Context, now time.Time) error {
	due, err := w.Read.PaymentsDue(ctx, now, sweepBatch)
	if err != nil {
		return err
	}
	inParallel(w.Log, "payment check", due, func(p readmodel.Payment) {
		if err := w.checkPayment(ctx, p, now); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "payment not checked", slog.String("reference", p.Reference), slog.Any("error", err))
		}
	})
	return nil
}

// checkPayment asks about one attempt: the others of its order come up by
// themselves, whatever becomes of this one.
func (w sweep) checkPayment(ctx context.Context, p readmodel.Payment, now time.Time) error {
	age := now.Sub(time.UnixMilli(p.At))
	if age > firstCheck/2 {
		if err := w.verifyAttempt(ctx, p); err != nil {
			_ = w.Read.CheckPayment(ctx, p.Reference, now.Add(firstCheck)) // else it is due again at once
			return err
		}
	}
	return w.Read.CheckPayment(ctx, p.Reference, now.Add(min(max(age, firstCheck), lastCheck)))
}

func (w sweep) verifyAttempt(ctx context.Context, p readmodel.Payment) error {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	o, err := w.ledgerOrder(ctx, p.Order)
	if err != nil {
		return err
	}
	a := o.Attempt(p.Reference)
	if a == nil {
		return errors.New("the order has no such attempt")
	}
	_, err = w.verify(ctx, o, []order.Attempt{*a})
	return err
}

// ledgerOrder is an order as its ledger or the read model has it.
func (h *Handlers) ledgerOrder(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	r, err := cluster.AskFor[event.OrderReply](ctx, h.Node, engine.EventRef(id.Event()), event.GetOrder{Order: id})
	if err != nil {
		return nil, err
	}
	return h.orderOf(ctx, id, r)
}
