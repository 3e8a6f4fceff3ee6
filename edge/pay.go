package edge

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
)

// payWindows is how long a provider lets a buyer pay (decisions.md section 3):
// the order's window is extended to it once.
var payWindows = map[string]time.Duration{
	"paystack":    30 * time.Minute,
	"flutterwave": 30 * time.Minute,
	"nowpayments": 20 * time.Minute,
}

// payOrder opens an attempt to pay at the provider, or returns the open one.
func (d *Desk) payOrder(c *route.Call, in *api.PayOrder) (*api.PayAt, error) {
	o, err := d.openOrder(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if r := o.Payable(); r != nil {
		return nil, r
	}
	gateway, err := d.Gateways.Provider(in.Provider)
	if err != nil {
		return nil, err
	}
	done, err := d.alone(c.Context, o.ID.String()+in.Provider)
	if err != nil {
		return nil, err
	}
	defer done()
	ref := engine.EventRef(o.ID.Event())
	r, err := ask[event.OrderReply](c, d, ref, event.BeginPayment{
		Order: o.ID, Provider: in.Provider, Number: secrets.OrderNumber(o.ID),
		WindowMillis: payWindows[in.Provider].Milliseconds(), Scale: d.LimitsScale,
	})
	if err != nil {
		return nil, err
	}
	o = r.Order
	a := openAttempt(o, in.Provider)
	if a == nil {
		return nil, &engine.Refusal{Code: engine.Internal}
	}
	if a.URL == "" {
		if o, err = d.beginAt(c, gateway, o, a); err != nil {
			return nil, err
		}
		a = o.Attempt(a.Reference)
	}
	return &api.PayAt{
		OrderID: o.ID.String(), Provider: a.Provider, Reference: a.Reference, Status: a.Status,
		AuthorizationURL: a.URL, ExpiresAt: api.At(o.ExpiresAt),
	}, nil
}

// alone lets one caller at a time open a payment of an order, so that two do not
// both begin it at the provider.
func (d *Desk) alone(ctx context.Context, key string) (done func(), err error) {
	for {
		mine := make(chan struct{})
		other, taken := d.begins.LoadOrStore(key, mine)
		if !taken {
			return func() {
				d.begins.Delete(key)
				close(mine)
			}, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func openAttempt(o *event.Order, provider string) *event.Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Provider == provider && a.Open() {
			return a
		}
	}
	return nil
}

// beginAt begins the attempt's charge and notes where the buyer pays. A begin of
// which the outcome is unknown, or whose reference is spent, fails the attempt:
// the next one has a new reference.
func (d *Desk) beginAt(c *route.Call, gateway payments.Provider, o *event.Order, a *event.Attempt) (*event.Order, error) {
	ref := engine.EventRef(o.ID.Event())
	begun, err := gateway.Begin(c.Context, payments.Charge{
		Reference: a.Reference, Email: o.Email, Amount: a.Amount, Currency: o.Currency,
	})
	if err != nil {
		if payments.Ambiguous(err) || errors.Is(err, payments.ErrDuplicateReference) {
			failed := event.ReportPayment{Order: o.ID, Reference: a.Reference, Status: event.AttemptFailed, Currency: o.Currency}
			if _, failure := d.Node.Ask(context.WithoutCancel(c.Context), ref, failed); failure != nil {
				d.Log.Warn("attempt not failed", slog.String("reference", a.Reference), slog.Any("error", failure))
			}
		}
		return nil, err
	}
	r, err := ask[event.OrderReply](c, d, ref, event.OpenPayment{Order: o.ID, Reference: a.Reference, URL: begun.AuthorizationURL})
	if err != nil {
		return nil, err
	}
	return r.Order, nil
}

// verifyPayment asks the providers what became of the order's attempts, and has
// the event act on it. It may be polled.
func (d *Desk) verifyPayment(c *route.Call, in *api.VerifyPayment) (*api.Order, error) {
	o, err := d.openOrder(c, in.OrderID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if o.Status != event.Completed {
		if o, err = d.verify(c.Context, o); err != nil {
			return nil, err
		}
	}
	return d.fullView(c, o)
}

// verify reports every attempt that money may still have come of, and returns
// the order as it then stands.
func (d *Desk) verify(ctx context.Context, o *event.Order) (*event.Order, error) {
	for _, a := range o.Attempts {
		if a.Status == event.AttemptSucceeded || a.Status == event.AttemptRefunded || a.URL == "" {
			continue
		}
		gateway, err := d.Gateways.Provider(a.Provider)
		if err != nil {
			return nil, err
		}
		out, err := gateway.Verify(ctx, a.Reference)
		if errors.Is(err, payments.ErrUnknownReference) {
			continue // never begun there
		}
		if err != nil {
			return nil, err
		}
		report := event.ReportPayment{Order: o.ID, Reference: a.Reference, Status: attemptStatus[out.Status], Currency: out.Currency}
		if out.Status == payments.Succeeded { // of others the amount is what was asked for, or has gone back
			report.Received = out.Amount
		}
		r, err := askIn[event.OrderReply](ctx, d, engine.EventRef(o.ID.Event()), report)
		if err != nil {
			return nil, err
		}
		if o, err = d.orderOf(ctx, o.ID, r); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// attemptStatus is a provider's word in the words of attempts.
var attemptStatus = map[payments.Status]string{
	payments.Pending:    event.AttemptPending,
	payments.Processing: event.AttemptProcessing,
	payments.Succeeded:  event.AttemptSucceeded,
	payments.Failed:     event.AttemptFailed,
	payments.Refunded:   event.AttemptRefunded,
}

func (d *Desk) getPayment(c *route.Call, in *api.PaymentByToken) (*api.PaymentStatus, error) {
	o, err := d.openOrder(c, in.OrderID, in.Token)
	if err != nil {
		return nil, err
	}
	return &api.PaymentStatus{
		OrderID: o.ID.String(), Status: o.Status, Total: decimal(o.Total), Currency: o.Currency, Payments: view.Payments(o),
	}, nil
}
