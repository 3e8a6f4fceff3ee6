package sales

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/event"
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

// SweepPayments sweeps until the context ends. One node of a cluster does.
func (h *Handlers) SweepPayments(ctx context.Context) {
	w := sweep{h}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			sweep := func(check func(context.Context, time.Time) error) error {
				return panics.Catch(w.Log, "payment sweep", func() error { return check(ctx, now) })
			}
			err := errors.Join(sweep(w.checkPayments), sweep(w.checkRefunds))
			if err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "payment sweep", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
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
	_, err = w.verify(ctx, o, []event.Attempt{*a})
	return err
}

// ledgerOrder is an order as its ledger or the read model has it.
func (h *Handlers) ledgerOrder(ctx context.Context, id engine.OrderID) (*event.Order, error) {
	r, err := cluster.AskFor[event.OrderReply](ctx, h.Node, engine.EventRef(id.Event()), event.GetOrder{Order: id})
	if err != nil {
		return nil, err
	}
	return h.orderOf(ctx, id, r)
}
