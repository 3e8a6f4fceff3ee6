package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"boxoffice/edge/payments"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/readmodel"
)

const (
	sweepEvery   = 2 * time.Second
	sweepBatch   = 64
	sweepAtATime = 8
	sweepCall    = 15 * time.Second
	// firstCheck and lastCheck bound the pauses between two looks at an
	// attempt: each is as long as the attempt was old at the last one.
	firstCheck = 2 * time.Minute
	lastCheck  = 6 * time.Hour
	// refundRetry is the pause between two looks at a refund.
	refundRetry = time.Minute
)

// sweep asks providers about payments that nobody verifies and sends money back
// that is due, so that money which comes late is never silently lost.
type sweep struct{ desk *Desk }

// SweepPayments sweeps until the context ends. One node of a cluster does.
func (d *Desk) SweepPayments(ctx context.Context) {
	w := sweep{d}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			err := errors.Join(w.checkPayments(ctx, now), w.checkRefunds(ctx, now))
			if err != nil && ctx.Err() == nil {
				w.desk.Log.WarnContext(ctx, "payment sweep", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// checkPayments asks about the attempts that are due.
func (w sweep) checkPayments(ctx context.Context, now time.Time) error {
	due, err := w.desk.Read.PaymentsDue(ctx, now, sweepBatch)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, sweepAtATime)
	for _, p := range due {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := w.checkPayment(ctx, p, now); err != nil && ctx.Err() == nil {
				w.desk.Log.WarnContext(ctx, "payment not checked", slog.String("reference", p.Reference), slog.Any("error", err))
			}
		})
	}
	wg.Wait()
	return nil
}

func (w sweep) checkPayment(ctx context.Context, p readmodel.Payment, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	age := now.Sub(time.UnixMilli(p.At))
	if age > firstCheck/2 {
		o, err := w.desk.ledgerOrder(ctx, p.Order)
		if err == nil {
			_, err = w.desk.verify(ctx, o)
		}
		if err != nil {
			_ = w.desk.Read.CheckPayment(ctx, p.Reference, now.Add(firstCheck)) // else it is due again at once
			return err
		}
	}
	return w.desk.Read.CheckPayment(ctx, p.Reference, now.Add(min(max(age, firstCheck), lastCheck)))
}

// ledgerOrder is an order as its ledger or the read model has it.
func (d *Desk) ledgerOrder(ctx context.Context, id engine.OrderID) (*event.Order, error) {
	r, err := askIn[event.OrderReply](ctx, d, engine.EventRef(id.Event()), event.GetOrder{Order: id})
	if err != nil {
		return nil, err
	}
	return d.orderOf(ctx, id, r)
}

// checkRefunds sends back what is due, one refund of a charge at a time.
func (w sweep) checkRefunds(ctx context.Context, now time.Time) error {
	due, err := w.desk.Read.RefundsDue(ctx, now, sweepBatch)
	if err != nil {
		return err
	}
	for _, r := range due {
		if err := w.refund(ctx, r); err != nil && ctx.Err() == nil {
			w.desk.Log.WarnContext(ctx, "refund not sent", slog.String("reference", r.Reference), slog.Any("error", err))
		}
		if err := w.desk.Read.CheckRefund(ctx, r.Order, r.Position, now.Add(refundRetry)); err != nil {
			return err
		}
	}
	return nil
}

// refundStatus is a provider's word in the words of refunds.
var refundStatus = map[payments.RefundStatus]string{
	payments.RefundPending:        event.RefundProcessing,
	payments.RefundProcessing:     event.RefundProcessing,
	payments.RefundProcessed:      event.RefundProcessed,
	payments.RefundFailed:         event.RefundFailed,
	payments.RefundNeedsAttention: event.RefundProcessing,
}

func (w sweep) refund(ctx context.Context, r readmodel.Refund) error {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	o, err := w.desk.ledgerOrder(ctx, r.Order)
	if err != nil {
		return err
	}
	a := o.Attempt(r.Reference)
	if a == nil {
		return errors.New("the order has no such attempt")
	}
	gateway, err := w.desk.Gateways.Provider(a.Provider)
	if err != nil {
		return err
	}
	// A repeat with the same key finds the refund made before.
	out, err := gateway.Refund(ctx, payments.RefundRequest{
		Key: fmt.Sprintf("%s-refund-%d", r.Reference, r.Position), Reference: r.Reference, Amount: r.Amount, Currency: o.Currency,
		CustomerNote: "Your payment did not lead to tickets.",
	})
	if err != nil {
		return err
	}
	if refundStatus[out.Status] == event.RefundProcessing && r.ProviderRef == out.ID {
		return nil // nothing new
	}
	_, err = w.desk.Node.Ask(ctx, engine.EventRef(o.ID.Event()), event.ReportRefund{
		Order: o.ID, Position: r.Position, Reference: r.Reference, Status: refundStatus[out.Status], ProviderRef: out.ID,
	})
	return err
}
