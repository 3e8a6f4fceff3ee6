package sales

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/readmodel"
)

const (
	sweepEvery   = 2 * time.Second // how often the sweep looks for attempts that are due
	sweepBatch   = 64              // most attempts that one round checks
	sweepAtATime = 8               // how many attempts are checked at the same time
	sweepCall    = providerTime    // how long the check of one attempt may take
	// lastCheck is the longest pause between two checks of an attempt. A pause is as long as the attempt was old
	// at the last check, but at least readmodel.FirstCheck. After a check that failed it is readmodel.FirstCheck.
	lastCheck = 6 * time.Hour
)

// sweep asks providers about attempts to pay, so that money is noticed even if no notice comes and no client
// verifies the attempt.
type sweep struct{ *Handlers }

// SweepPayments checks the attempts that are due, again and again until the context ends. Only one node of a cluster
// runs it.
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

// checkPayments asks about the attempts that are due, at most sweepBatch of them. It logs one that fails and goes on
// with the others. An error means only that the list could not be read.
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

// checkPayment verifies one attempt and notes when the next check is due. Each attempt of an order has its own checks.
// They end when the ledger has forgotten the order, because nobody can report money to it then.
func (w sweep) checkPayment(ctx context.Context, p readmodel.Payment, now time.Time) error {
	err := w.verifyAttempt(ctx, p)
	if refusal, ok := errors.AsType[*engine.Refusal](err); ok && refusal.Code == engine.OrderNotFound {
		return w.Read.CheckPayment(ctx, p.Reference, time.Time{})
	}
	if err != nil {
		_ = w.Read.CheckPayment(ctx, p.Reference, now.Add(readmodel.FirstCheck)) // If this fails, the attempt stays due.
		return err
	}
	age := now.Sub(time.UnixMilli(p.At))
	return w.Read.CheckPayment(ctx, p.Reference, now.Add(min(max(age, readmodel.FirstCheck), lastCheck)))
}

// verifyAttempt asks the provider about one attempt, and reports the answer to the order.
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
