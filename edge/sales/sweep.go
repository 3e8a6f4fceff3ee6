package sales

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/readmodel"
)

const (
	sweepEvery   = 2 * time.Second // how often the sweep looks for attempts that are due
	sweepBatch   = 64              // how many attempts one round looks at
	sweepAtATime = 8               // how many attempts are looked at together
	sweepCall    = providerTime    // how long a look at one attempt may take
	// lastCheck bounds the pauses between two looks at an attempt: each is as long
	// as the attempt was old at the last one.
	lastCheck = 6 * time.Hour
)

// sweep asks providers about payments that nobody verifies, so that money which comes late
// is never silently lost.
type sweep struct{ *Handlers }

// SweepPayments sweeps until the context ends. One node of a cluster does.
func (h *Handlers) SweepPayments(ctx context.Context) {
	w := sweep{h}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			err := panics.Catch(h.Log, "payment sweep", func() error { return w.checkPayments(ctx, time.Now()) })
			if err != nil && ctx.Err() == nil {
				h.Log.WarnContext(ctx, "payment sweep", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// checkPayments asks about the attempts that are due.
func (w sweep) checkPayments(ctx context.Context, now time.Time) error {
	due, err := w.Read.PaymentsDue(ctx, now, sweepBatch)
	if err != nil {
		return err
	}
	panics.DoEach(w.Log, "payment check", due, sweepAtATime, func(p readmodel.Payment) {
		if err := w.checkPayment(ctx, p, now); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "payment not checked", slog.String("reference", p.Reference), slog.Any("error", err))
		}
	})
	return nil
}

// checkPayment asks about one attempt. Other attempts of its order come up by themselves.
func (w sweep) checkPayment(ctx context.Context, p readmodel.Payment, now time.Time) error {
	if err := w.verifyAttempt(ctx, p); err != nil {
		_ = w.Read.CheckPayment(ctx, p.Reference, now.Add(readmodel.FirstCheck)) // if this fails, it is due again at once
		return err
	}
	age := now.Sub(time.UnixMilli(p.At))
	return w.Read.CheckPayment(ctx, p.Reference, now.Add(min(max(age, readmodel.FirstCheck), lastCheck)))
}

// verifyAttempt asks the provider about one attempt, and tells the order the answer.
func (w sweep) verifyAttempt(ctx context.Context, p readmodel.Payment) error {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	o, err := w.Orders.FindInLedger(ctx, p.Order)
	if err != nil {
		return err
	}
	a := o.Attempt(p.Reference)
	if a == nil {
		return errors.New("the order has no such attempt")
	}
	_, err = w.VerifyAttempts(ctx, o, []order.Attempt{*a})
	return err
}
