package refunds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"boxoffice/edge/payments/psp"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/readmodel"
)

const (
	// refundClaim is how long the claim of a node to a refund lasts. It is longer than a check of the refund takes,
	// so that no other node sends the money in the meantime.
	refundClaim = sweepCall + 30*time.Second
	// firstLook and lastLook are the shortest and the longest pause between two checks of a refund whose money is on
	// its way. Each pause is as long as the refund was old at the last check, so that an old refund is rarely checked.
	firstLook = 2 * time.Second
	lastLook  = time.Hour
	// lostLook is the shortest pause after a call whose answer was lost. A provider may work on a call for 28 s, and
	// lists its outcome only after that.
	lostLook = 30 * time.Second
	// firstRetry and lastRetry are the shortest and the longest pause before a failed refund is sent again. Each pause
	// is twice as long as the last. The sweep never stops trying.
	firstRetry = time.Minute
	lastRetry  = 24 * time.Hour
)

// checkRefunds sends the refunds that are due, and asks providers about those that are on their way, at
// most sweepBatch of them. It logs a refund that fails and goes on with the others. An error means only
// that the list could not be read.
func (w sweep) checkRefunds(ctx context.Context, now time.Time) error {
	due, err := w.Read.RefundsDue(ctx, now, sweepBatch)
	if err != nil {
		return err
	}
	panics.DoEach(w.Log, "refund check", due, sweepAtATime, func(r readmodel.Refund) {
		if err := w.checkRefund(ctx, r, now); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "refund not checked", slog.String("reference", r.Reference), slog.Any("error", err))
		}
	})
	return nil
}

// checkRefund claims a refund, sends it or asks about it (advanceRefund), and sets the time of the next check. A refund
// that failed is sent again after a pause that grows with each failure.
func (w sweep) checkRefund(ctx context.Context, r readmodel.Refund, now time.Time) error {
	// Another node may have claimed the refund, and only one may send the money.
	if mine, err := w.Read.ClaimRefund(ctx, &r, time.Now().Add(refundClaim)); err != nil || !mine {
		return err
	}
	look, err := w.advanceRefund(ctx, &r)
	age := now.Sub(time.UnixMilli(r.At))
	check := readmodel.RefundCheck{Next: now.Add(lookPause(age, err)), Failures: r.Failures, Stuck: look.stuck}
	if look.failed {
		check.Failures++
		check.Next = now.Add(retryPause(check.Failures))
		w.metrics.failed.Inc()
	}
	if (look.failed || look.stuck) && ctx.Err() == nil {
		w.Log.ErrorContext(ctx, "refund does not move",
			slog.String("reference", r.Reference), slog.String("order", r.Order.String()), slog.String("key", refundKey(&r)),
			slog.String("provider_ref", look.providerRef), slog.Int("failures", check.Failures), slog.Time("next", check.Next), slog.Any("error", err))
		err = nil
	}
	return errors.Join(err, w.Read.CheckRefund(ctx, r.Order, r.Position, check))
}

// lookPause returns how long to wait before the next check of a refund: as long as the refund is old, but at
// least firstLook and at most lastLook. If err, the error of the last check, says that an answer was lost, it
// is at least lostLook.
func lookPause(age time.Duration, err error) time.Duration {
	least := firstLook
	if psp.Ambiguous(err) {
		least = lostLook
	}
	return min(max(age, least), lastLook)
}

// retryPause returns how long to wait before a refund is sent again that has failed a number of
// times.
func retryPause(failures int) time.Duration {
	return min(firstRetry<<min(failures-1, 20), lastRetry)
}

// refundKey returns the key under which all attempts of a refund are made at the provider. The
// provider recognizes a repeat by it.
func refundKey(r *readmodel.Refund) string {
	return fmt.Sprintf("%s-refund-%d", r.Reference, r.Position)
}

// refundLook is the result of one check of a refund.
type refundLook struct {
	// providerRef is the provider's id of the refund; "" if it has none yet.
	providerRef string
	// failed says that an attempt to send the money has failed since the last check, or was refused for good now.
	failed bool
	// stuck says that the money does not move, and that a person may have to do something.
	stuck bool
}

// refundStatus translates a provider's status of a refund into ours. A refund that needs attention
// at the provider is still on its way for us.
var refundStatus = map[psp.RefundStatus]string{
	psp.RefundPending:        order.RefundProcessing,
	psp.RefundProcessing:     order.RefundProcessing,
	psp.RefundProcessed:      order.RefundProcessed,
	psp.RefundFailed:         order.RefundFailed,
	psp.RefundNeedsAttention: order.RefundProcessing,
}

// advanceRefund sends a refund or asks the provider about it, and reports the answer to the ledger. It only reports a
// failed attempt; a later check makes the next attempt. So money is sent again only after the outcome of the last
// attempt is known.
func (w sweep) advanceRefund(ctx context.Context, r *readmodel.Refund) (refundLook, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	o, err := w.Orders.FindInLedger(ctx, r.Order)
	if err != nil {
		return refundLook{}, err
	}
	if r.Position >= len(o.Refunds) {
		return refundLook{}, errors.New("the order has no such refund")
	}
	known := o.Refunds[r.Position]
	if known.Ask != nil {
		r.At = known.Ask.DecidedAt // The pauses count from when the refund was granted.
	}
	if known.Status == order.RefundProcessed {
		return refundLook{}, nil // the read model lags behind
	}
	out, err := w.askProvider(ctx, o, r, &known)
	if refusedForGood(err) {
		look := refundLook{providerRef: known.ProviderRef, failed: true, stuck: true}
		return look, errors.Join(err, w.reportRefund(ctx, o, r, order.RefundFailed, known.ProviderRef))
	}
	if err != nil {
		return refundLook{providerRef: known.ProviderRef, stuck: known.Status == order.RefundFailed}, err
	}
	status := refundStatus[out.Status]
	look := refundLook{
		providerRef: out.ID,
		failed:      status == order.RefundFailed && (known.Status != status || known.ProviderRef != out.ID),
		stuck:       status == order.RefundFailed || out.Status == psp.RefundNeedsAttention,
	}
	return look, w.reportRefund(ctx, o, r, status, out.ID)
}

// refusedForGood reports whether an error means that the attempt has finally failed. After any other error, the next
// check asks the provider about the same attempt again.
func refusedForGood(err error) bool {
	return errors.Is(err, psp.ErrDeclined) || errors.Is(err, psp.ErrUnknownReference) || errors.Is(err, psp.ErrNotConfigured)
}

// askProvider asks the provider for the state of the attempt to send a refund. If there is no attempt, if the last one
// failed, or if the provider does not know it, askProvider requests the refund. The provider's adapter first looks for
// a refund with the same key, so that no money is sent twice.
func (w sweep) askProvider(ctx context.Context, o *order.Order, r *readmodel.Refund, known *order.Refund) (psp.RefundOutcome, error) {
	a := o.Attempt(r.Reference)
	if a == nil {
		return psp.RefundOutcome{}, errors.New("the order has no such attempt")
	}
	gateway, err := w.Gateways.Provider(a.Provider)
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	req := psp.RefundRequest{
		Key: refundKey(r), Reference: known.Reference, ProviderID: a.ProviderID, Amount: known.Amount, Currency: known.CurrencyIn(o.Currency),
		CustomerNote: customerNote(known),
	}
	switch {
	case known.Status == order.RefundFailed:
		req.After = known.ProviderRef
	case known.ProviderRef != "":
		out, err := gateway.RefundStatus(ctx, known.ProviderRef)
		if !errors.Is(err, psp.ErrUnknownReference) {
			return out, err
		}
	}
	return gateway.Refund(ctx, req)
}

// customerNote returns the text that the provider shows to the payer: one for a refund that somebody asked for, and
// one for a payment that was not needed.
func customerNote(r *order.Refund) string {
	if r.Ask != nil {
		return "Your order was refunded."
	}
	return "Your payment did not lead to tickets."
}

// reportRefund reports the provider's status of a refund to the ledger, unless the order has it already.
func (w sweep) reportRefund(ctx context.Context, o *order.Order, r *readmodel.Refund, status, providerRef string) error {
	if known := &o.Refunds[r.Position]; known.Status == status && known.ProviderRef == providerRef {
		return nil
	}
	_, err := w.Node.Ask(ctx, engine.EventRef(o.ID.Event()), ledger.ReportRefund{
		Order: o.ID, Position: r.Position, Reference: r.Reference, Status: status, ProviderRef: providerRef,
	})
	return err
}
