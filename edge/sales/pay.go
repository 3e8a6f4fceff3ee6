package sales

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
)

// askTime bounds the questions of what became of an order's attempts. It leaves
// of providerTime what reporting the answers takes.
const askTime = providerTime - 3*time.Second

// payOrder opens an attempt to pay at the provider, or returns the open one.
func (h *Handlers) payOrder(c *route.Call, in *api.PayOrder) (*api.PayAt, error) {
	o, err := h.openOrder(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if r := o.Payable(); r != nil {
		return nil, r
	}
	back, err := h.returnTo(o.ID, in.ReturnURL)
	if err != nil {
		return nil, err
	}
	provider, err := h.Gateways.Choose(in.Provider)
	if err != nil {
		return nil, err
	}
	done, err := h.alone(c.Context, o.ID.String()+provider.Name)
	if err != nil {
		return nil, err
	}
	defer done()
	ref := engine.EventRef(o.ID.Event())
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, ref, event.BeginPayment{
		Order: o.ID, Provider: provider.Name, Number: secrets.OrderNumber(o.ID),
		WindowMillis: provider.Window.Milliseconds(), Scale: h.LimitsScale,
	})
	if err != nil {
		return nil, err
	}
	o = r.Order
	a := openAttempt(o, provider.Name)
	if a == nil {
		return nil, &engine.Refusal{Code: engine.Internal}
	}
	if a.URL == "" {
		if o, err = h.beginAt(c, provider, o, a, back); err != nil {
			return nil, err
		}
		a = o.Attempt(a.Reference)
	}
	return &api.PayAt{
		OrderID: o.ID.String(), Provider: a.Provider, Reference: a.Reference, Status: a.Status,
		AuthorizationURL: a.URL, ExpiresAt: api.At(o.ExpiresAt),
	}, nil
}

// maxReturnURL bounds the address that a payer is led back to, in bytes.
const maxReturnURL = 2000

// returnTo is where the provider leads the payer back to: the address that the
// caller asks for, or our own page of the order. Nothing is added to it, and
// no token of ours: the provider and the page it leads to are strangers.
func (h *Handlers) returnTo(id engine.OrderID, asked string) (string, error) {
	if asked == "" {
		return h.orderPage(id), nil
	}
	invalid := func(message string) error {
		return route.Invalid(route.Issue{Path: "returnUrl", Code: route.IssueFormat, Message: message})
	}
	u, err := url.Parse(asked)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || len(asked) > maxReturnURL:
		return "", invalid("must be an absolute URL without credentials")
	case u.Scheme == "https" || u.Scheme == "http" && h.Env == "test" && isLoopback(u.Hostname()):
		return u.String(), nil
	}
	return "", invalid("must be an https URL")
}

// isLoopback says whether a host is the payer's own machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// orderPage is the page on which a buyer sees an order, without what opens it.
func (h *Handlers) orderPage(id engine.OrderID) string {
	return h.BaseURL + "/orders/" + id.String()
}

// alone lets one caller at a time open a payment of an order, so that two do not
// both begin it at the provider.
func (h *Handlers) alone(ctx context.Context, key string) (done func(), err error) {
	for {
		mine := make(chan struct{})
		other, taken := h.begins.LoadOrStore(key, mine)
		if !taken {
			return func() {
				h.begins.Delete(key)
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
func (h *Handlers) beginAt(c *route.Call, gateway payments.Provider, o *event.Order, a *event.Attempt, back string) (*event.Order, error) {
	ref := engine.EventRef(o.ID.Event())
	begun, err := gateway.Begin(c.Context, payments.Charge{
		Reference: a.Reference, Email: o.Email, Amount: a.Amount, Currency: o.Currency, CallbackURL: back,
	})
	if err != nil {
		if payments.Ambiguous(err) || errors.Is(err, payments.ErrDuplicateReference) {
			failed := event.ReportPayment{Order: o.ID, Reference: a.Reference, Status: event.AttemptFailed, Currency: o.Currency}
			if _, failure := h.Node.Ask(context.WithoutCancel(c.Context), ref, failed); failure != nil {
				h.Log.Warn("attempt not failed", slog.String("reference", a.Reference), slog.Any("error", failure))
			}
		}
		return nil, err
	}
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, ref, event.OpenPayment{Order: o.ID, Reference: a.Reference, URL: begun.AuthorizationURL})
	if err != nil {
		return nil, err
	}
	return r.Order, nil
}

// verifyPayment asks the providers what became of the order's attempts, and has
// the event act on it. It may be polled.
func (h *Handlers) verifyPayment(c *route.Call, in *api.VerifyPayment) (*api.Order, error) {
	o, err := h.openOrder(c, in.OrderID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	o, err = h.verify(c.Context, o, o.Attempts)
	if err != nil && o.Status != event.Completed {
		return nil, err
	}
	return h.fullView(c, o)
}

// verify asks what became of those of the order's attempts that money may still
// have come of, has the event act on every answer, and returns the order as it
// then stands. An attempt of which there is no answer hides none of the others:
// the first such error is returned beside the order.
func (h *Handlers) verify(ctx context.Context, o *event.Order, attempts []event.Attempt) (*event.Order, error) {
	answers := make([]providerAnswer, len(attempts))
	within, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var wg sync.WaitGroup
	for i := range attempts {
		if a := &attempts[i]; a.Status != event.AttemptSucceeded && a.Status != event.AttemptRefunded && a.URL != "" {
			wg.Go(func() { answers[i] = h.askAttempt(within, a) })
		}
	}
	wg.Wait()
	var first error
	for i := range attempts {
		err := answers[i].err
		if answers[i].known {
			var after *event.Order
			if after, err = h.reportAttempt(ctx, o, &attempts[i], &answers[i].Outcome); err == nil {
				o = after
			}
		}
		if err != nil {
			h.Log.WarnContext(ctx, "attempt not verified", slog.String("reference", attempts[i].Reference), slog.Any("error", err))
			first = cmp.Or(first, err)
		}
	}
	return o, first
}

// providerAnswer is what a provider says of an attempt, if it knows it.
type providerAnswer struct {
	payments.Outcome
	known bool
	err   error
}

func (h *Handlers) askAttempt(ctx context.Context, a *event.Attempt) providerAnswer {
	gateway, err := h.Gateways.Provider(a.Provider)
	if err != nil {
		return providerAnswer{err: err}
	}
	out, err := gateway.Verify(ctx, a.Reference)
	if errors.Is(err, payments.ErrUnknownReference) {
		return providerAnswer{} // never begun there
	}
	return providerAnswer{Outcome: out, known: err == nil, err: err}
}

// reportAttempt has the event act on what a provider says of an attempt, and
// returns the order as it then stands. Money that nothing can act on is said
// loudly: it has to go back by hand.
func (h *Handlers) reportAttempt(ctx context.Context, o *event.Order, a *event.Attempt, out *payments.Outcome) (*event.Order, error) {
	report := event.ReportPayment{Order: o.ID, Reference: a.Reference, Status: attemptStatus[out.Status], Currency: out.Currency}
	paid := out.Status == payments.Succeeded // of others the amount is what was asked for, or has gone back
	if paid && out.Currency == o.Currency {
		report.Received = out.Amount
	}
	r, err := cluster.AskFor[event.OrderReply](ctx, h.Node, engine.EventRef(o.ID.Event()), report)
	if err != nil {
		return nil, err
	}
	if paid && (r.Past || out.Currency != o.Currency) {
		h.Log.ErrorContext(ctx, "money came that no order takes",
			slog.String("reference", a.Reference), slog.String("order", o.ID.String()), slog.Bool("forgotten", r.Past),
			slog.Int64("amount", out.Amount), slog.String("currency", out.Currency), slog.String("wanted", o.Currency))
	}
	return h.orderOf(ctx, o.ID, r)
}

// attemptStatus is a provider's word in the words of attempts.
var attemptStatus = map[payments.Status]string{
	payments.Pending:    event.AttemptPending,
	payments.Processing: event.AttemptProcessing,
	payments.Succeeded:  event.AttemptSucceeded,
	payments.Failed:     event.AttemptFailed,
	payments.Refunded:   event.AttemptRefunded,
}

func (h *Handlers) getPayment(c *route.Call, in *api.PaymentByToken) (*api.PaymentStatus, error) {
	o, err := h.openOrder(c, in.OrderID, in.Token)
	if err != nil {
		return nil, err
	}
	return &api.PaymentStatus{
		OrderID: o.ID.String(), Status: o.Status, Total: view.Decimal(o.Total), Currency: o.Currency, Payments: view.Payments(o),
	}, nil
}
