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
	"boxoffice/edge/payments/psp"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// askTime bounds the questions about an order's attempts. It leaves enough of providerTime to report the answers.
const askTime = providerTime - 3*time.Second

// payOrder opens an attempt to pay at the provider, or returns the open one.
func (h *Handlers) payOrder(c *route.Call, in *api.PayOrder) (*api.PayAt, error) {
	o, _, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if r := ledger.Payable(o); r != nil {
		return nil, r
	}
	back, err := h.returnTo(o.ID, in.ReturnURL)
	if err != nil {
		return nil, err
	}
	o, a, err := h.openPayment(c, o, &paying{provider: in.Provider, payCurrency: in.PayCurrency, email: o.Email, back: back})
	if err != nil {
		return nil, err
	}
	return &api.PayAt{
		OrderID: o.ID.String(), Provider: a.Provider, Reference: a.Reference, Status: a.Status,
		AuthorizationURL: a.URL, Deposit: view.Deposit(o, a), ExpiresAt: api.At(o.ExpiresAt),
	}, nil
}

// paying is how somebody wants to pay an order.
type paying struct {
	provider    string // "" for the first one
	payCurrency string // of coins; "" for others, and for the usual one
	email       string // for the provider's receipt
	back        string // where the provider leads the payer back to
	byLink      bool   // somebody else pays than the buyer
}

// openPayment opens an attempt to pay an order at the provider, or returns the open one.
func (h *Handlers) openPayment(c *route.Call, o *order.Order, p *paying) (*order.Order, *order.Attempt, error) {
	provider, err := h.Gateways.Choose(p.provider)
	if err != nil {
		return nil, nil, err
	}
	if provider.Kind == payments.KindTransfer {
		if p.byLink {
			return findTransfer(o)
		}
		if err := h.refuseTransferTo(c.Context, o.ID.Event()); err != nil {
			return nil, nil, err
		}
	}
	// The price is checked before there is an attempt, so that a provider which can't take it leaves none behind.
	if a := openAttempt(o, provider.Name, p.byLink); a == nil || p.payCurrency != "" && p.payCurrency != a.Deposit.Currency {
		price := psp.Price{Amount: o.Total, Currency: o.Currency, PayCurrency: p.payCurrency}
		if err := refusePrice(provider.Check(c.Context, price)); err != nil {
			return nil, nil, err
		}
	}
	done, err := h.lockBegin(c.Context, beginning{o.ID, provider.Name, p.byLink})
	if err != nil {
		return nil, nil, err
	}
	defer done()
	o, a, err := h.beginAttempt(c, provider, o, p)
	if err != nil {
		return nil, nil, err
	}
	if !a.Opened() {
		if o, err = h.beginAt(c, provider, o, a, p); err != nil {
			return nil, nil, err
		}
		a = o.Attempt(a.Reference)
	}
	return o, a, nil
}

// beginAttempt opens an attempt to pay an order with a provider, or returns the open one.
func (h *Handlers) beginAttempt(c *route.Call, provider *payments.Gateway, o *order.Order, p *paying) (*order.Order, *order.Attempt, error) {
	begin := ledger.BeginPayment{
		Order: o.ID, Provider: provider.Name, Number: secrets.OrderNumber(o.ID),
		WindowMillis: provider.Window.Milliseconds(), Scale: h.LimitsScale, PayCurrency: p.payCurrency, ByLink: p.byLink,
	}
	if provider.Kind == payments.KindTransfer && openAttempt(o, provider.Name, false) == nil {
		var err error
		if begin.Until, err = h.transferDue(c, o, provider.Window); err != nil {
			return nil, nil, err
		}
		if err := h.countTransfer(c, o); err != nil {
			return nil, nil, err
		}
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), begin)
	if err != nil {
		return nil, nil, err
	}
	a := openAttempt(r.Order, provider.Name, p.byLink)
	if a == nil {
		return nil, nil, &engine.Refusal{Code: engine.Internal}
	}
	return r.Order, a, nil
}

// refusePrice makes what the provider says of a coin that it does not know an issue of the
// request's.
func refusePrice(err error) error {
	if errors.Is(err, psp.ErrUnknownCoin) {
		return route.Invalid(route.Issue{Path: "payCurrency", Code: route.IssueEnum, Message: "must be one of GET /payments/crypto/currencies"})
	}
	return err
}

// listPayMethods lists the providers that a buyer can choose among, all on one page.
func (h *Handlers) listPayMethods(c *route.Call, in *api.ListPayMethods) (*api.List[api.PayMethod], error) {
	var of *event.Details // nil: no event was named
	if in.EventID != "" {
		_, p, err := h.Pages.FindVisible(c, h.Known, in.EventID)
		if err != nil {
			return nil, err
		}
		of = p.Event.Details
	}
	methods, err := h.methodsFor(c.Context, in.Currency, of)
	return &api.List[api.PayMethod]{Items: methods}, err
}

// methodsFor returns the ways to pay in a currency, and for an event if one is given.
func (h *Handlers) methodsFor(ctx context.Context, currency string, of *event.Details) ([]api.PayMethod, error) {
	var org int64
	if of != nil {
		org = of.Org
	}
	fitting, err := h.Gateways.Fitting(ctx, currency, org)
	methods := make([]api.PayMethod, len(fitting))
	for i, d := range fitting {
		window := d.Window
		if of != nil && d.Kind == payments.KindTransfer {
			window = transferWindow(of, window)
		}
		methods[i] = api.PayMethod{Provider: d.Name, Kind: d.Kind, Currencies: d.Currencies, WindowMinutes: int64(window.Minutes())}
	}
	return methods, err
}

// listCoins lists the crypto currencies that an order can be paid with, all on one page.
func (h *Handlers) listCoins(c *route.Call, _ *route.None) (*api.List[api.Coin], error) {
	coins, err := h.Gateways.Coins(c.Context)
	if err != nil {
		return nil, err
	}
	out := &api.List[api.Coin]{Items: make([]api.Coin, len(coins))}
	for i := range coins {
		out.Items[i] = api.Coin(coins[i])
	}
	return out, nil
}

// maxReturnURL bounds the address that a payer is led back to, in bytes.
const maxReturnURL = 2000

// returnTo returns where the provider leads the payer back to: the address that the caller asks for, or our own
// page of the order. Nothing is added to it, and no token of ours, because the provider and the page are strangers.
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

// isLoopback reports whether a host is the payer's own machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// orderPage returns the address at which a buyer sees an order, without the token that opens it.
func (h *Handlers) orderPage(id engine.OrderID) string {
	return h.BaseURL + "/o/" + id.String()
}

// beginning is a payment that is being opened. A payer with the order's link keeps no buyer waiting.
type beginning struct {
	order    engine.OrderID
	provider string
	byLink   bool
}

// lockBegin lets one caller at a time open a payment of an order, so that two do not
// both begin it at the provider.
func (h *Handlers) lockBegin(ctx context.Context, key beginning) (done func(), err error) {
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

// openAttempt returns the open attempt with a provider, either the buyer's or the one by the order's payment link.
func openAttempt(o *order.Order, provider string, byLink bool) *order.Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Provider == provider && a.ByLink() == byLink && a.Open() {
			return a
		}
	}
	return nil
}

// beginAt begins the attempt's charge at the provider and notes where the buyer pays. If the outcome of the begin
// is unknown, or its reference is spent, the attempt fails, and the next one has a new reference.
func (h *Handlers) beginAt(c *route.Call, gateway psp.Provider, o *order.Order, a *order.Attempt, p *paying) (*order.Order, error) {
	ref := engine.EventRef(o.ID.Event())
	begun, err := gateway.Begin(c.Context, psp.Charge{
		Reference: a.Reference, Email: p.email, Amount: a.Amount, Currency: o.Currency, CallbackURL: p.back, PayCurrency: a.Deposit.Currency,
	})
	if err != nil {
		if psp.Ambiguous(err) || errors.Is(err, psp.ErrDuplicateReference) || errors.Is(err, psp.ErrTooLittle) {
			failed := ledger.ReportPayment{Order: o.ID, Reference: a.Reference, Status: order.AttemptFailed, Currency: o.Currency}
			if _, failure := h.Node.Ask(context.WithoutCancel(c.Context), ref, failed); failure != nil {
				h.Log.Warn("attempt not failed", slog.String("reference", a.Reference), slog.Any("error", failure))
			}
		}
		return nil, err
	}
	open := ledger.OpenPayment{Order: o.ID, Reference: a.Reference, URL: begun.AuthorizationURL, ProviderID: begun.ProviderID}
	if d := begun.Deposit; d != nil {
		open.Deposit = &order.Deposit{
			Currency: d.Currency, Address: d.Address, Amount: d.Amount, Network: d.Network, ExtraID: d.ExtraID,
		}
		if !d.ValidUntil.IsZero() {
			open.Deposit.ValidUntil = d.ValidUntil.UnixMilli()
		}
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, ref, open)
	if err != nil {
		return nil, err
	}
	return r.Order, nil
}

// verifyPayment asks the providers about the order's attempts, and tells the event what they say. Clients may poll
// it.
func (h *Handlers) verifyPayment(c *route.Call, in *api.VerifyPayment) (*api.Order, error) {
	o, reader, err := h.Orders.Open(c, in.OrderID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	sold := o.Sold()
	o, err = h.VerifyAttempts(c.Context, o, o.Attempts)
	if err != nil && o.Status != order.StatusCompleted {
		return nil, err
	}
	if sold {
		return h.showWaiting(c, o, reader)
	}
	v, err := h.Orders.ShowPaid(c, o, reader)
	if err != nil {
		return nil, err
	}
	return v, h.addSentAt(c, o, v)
}

// VerifyAttempts asks about each of the order's attempts that money may still
// have come of, has the event act on every answer, and returns the order as it
// then stands. An attempt without an answer hides none of the others:
// the first such error is returned beside the order.
func (h *Handlers) VerifyAttempts(ctx context.Context, o *order.Order, attempts []order.Attempt) (*order.Order, error) {
	answers := make([]providerAnswer, len(attempts))
	within, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var wg sync.WaitGroup
	for i := range attempts {
		if a := &attempts[i]; a.Status != order.AttemptSucceeded && a.Status != order.AttemptRefunded && a.Opened() {
			wg.Go(func() { answers[i] = h.askAttempt(within, o, a) })
		}
	}
	wg.Wait()
	var first error
	for i := range attempts {
		err := answers[i].err
		if answers[i].known {
			var after *order.Order
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
	psp.Outcome
	known bool
	err   error
}

// isOver reports whether money that still comes for an order goes back in any case: it is paid, or was cancelled. One that
// ended unpaid may take its stock again.
func isOver(o *order.Order) bool { return o.Sold() || o.Status == order.StatusCancelled }

// askAttempt asks the provider about one attempt. An attempt that was never begun there has no answer, and no
// error.
func (h *Handlers) askAttempt(ctx context.Context, o *order.Order, a *order.Attempt) providerAnswer {
	gateway, err := h.Gateways.Provider(a.Provider)
	if err != nil {
		return providerAnswer{err: err}
	}
	out, err := gateway.Verify(ctx, psp.Asked{Reference: a.Reference, ProviderID: a.ProviderID, Over: isOver(o)})
	if errors.Is(err, psp.ErrUnknownReference) {
		return providerAnswer{} // never begun there
	}
	return providerAnswer{Outcome: out, known: err == nil, err: err}
}

// reportAttempt tells the event what a provider says of an attempt, and returns the order as it is then. Money that
// no order takes is logged as an error, because a person has to send it back.
func (h *Handlers) reportAttempt(ctx context.Context, o *order.Order, a *order.Attempt, out *psp.Outcome) (*order.Order, error) {
	report := ledger.ReportPayment{Order: o.ID, Reference: a.Reference, Status: attemptStatus[out.Status], Currency: out.Currency, Arrived: out.Arrived}
	paid := out.Status == psp.Succeeded // of others the amount is what was asked for, or has gone back
	if paid {
		report.Received = out.Amount
	}
	r, err := cluster.AskFor[ledger.OrderReply](ctx, h.Node, engine.EventRef(o.ID.Event()), report)
	if err != nil {
		return nil, err
	}
	if o, err = h.Orders.Of(ctx, o.ID, r); err != nil {
		return nil, err
	}
	h.NudgeRefunds(o)
	if known := o.Attempt(a.Reference); paid && r.Past && (known == nil || known.Received < out.Amount) {
		h.Log.ErrorContext(ctx, "money came that no order takes",
			slog.String("reference", a.Reference), slog.String("order", o.ID.String()), slog.Int64("amount", out.Amount), slog.String("currency", out.Currency))
	}
	return o, nil
}

// attemptStatus is a provider's word in the words of attempts.
var attemptStatus = map[psp.Status]string{
	psp.Pending:    order.AttemptPending,
	psp.Processing: order.AttemptProcessing,
	psp.Succeeded:  order.AttemptSucceeded,
	psp.Failed:     order.AttemptFailed,
	psp.Refunded:   order.AttemptRefunded,
	psp.Expired:    order.AttemptExpired,
	psp.Cancelled:  order.AttemptCancelled,
}

func (h *Handlers) getPayment(c *route.Call, in *api.PaymentByToken) (*api.OrderPayments, error) {
	o, _, err := h.Orders.Open(c, in.OrderID, in.Token)
	if err != nil {
		return nil, err
	}
	return &api.OrderPayments{
		OrderID: o.ID.String(), Status: o.Status, Total: view.Decimal(o.Total, o.Currency), Currency: o.Currency, Payments: view.Payments(o),
	}, nil
}
