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

// askTime is how long VerifyAttempts may ask providers. It leaves enough of providerTime to report the answers.
const askTime = providerTime - 3*time.Second

// payOrder opens an attempt to pay at the provider, or returns the open one (openPayment). It refuses for an order that
// cannot be paid now (ledger.Payable).
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
	provider    string // the provider's name; "" for the deployment's first one
	payCurrency string // the coin to pay with; "" for the usual coin, and if the payer does not pay with coins
	email       string // the address for the provider's receipt
	back        string // the address to which the provider leads the payer back
	byLink      bool   // the payer has the payment link and is not the buyer
}

// openPayment opens an attempt to pay an order, also at the provider, or returns the open one. It returns the order
// as it is then. By a payment link it opens no bank transfer: it returns the buyer's, or refuses (findTransfer).
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

// beginAttempt asks the order's event for an attempt to pay with a provider, which may be a new one or one that is
// open. It does not call the provider; beginAt does. For a new bank transfer it first works out until when the order
// waits, and counts the order against the client's network (countTransfer).
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

// refusePrice turns the provider's error for an unknown coin into an issue of the request. It returns any other error
// unchanged.
func refusePrice(err error) error {
	if errors.Is(err, psp.ErrUnknownCoin) {
		return route.Invalid(route.Issue{Path: "payCurrency", Code: route.IssueEnum, Message: "must be one of GET /payments/crypto/currencies"})
	}
	return err
}

// listPayMethods lists the providers that a buyer can choose among, all on one page: those for a currency if the
// request names one, and without bank transfers if it names an event that may not use them.
func (h *Handlers) listPayMethods(c *route.Call, in *api.ListPayMethods) (*api.List[api.PayMethod], error) {
	var of *event.Details // nil: the request names no event
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

// methodsFor returns the ways to pay in a currency, or in any if it is "", for the orders of the event of. Without an
// event (nil) it returns bank transfers too, which an event's organization may not be allowed to use.
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

// maxReturnURL is the most bytes of a returnUrl.
const maxReturnURL = 2000

// returnTo returns the address to which the provider leads the payer back: the one that the request asks for,
// or our own page of the order. It refuses an address with credentials, one that is too long, and one that is
// not https; in the environment test, http to the payer's own machine passes too. We add no token to the
// address, because the provider and a foreign page see it.
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

// beginning names an attempt that is being opened at a provider (lockBegin). byLink belongs to it, so that a payer
// with the payment link never makes the buyer wait.
type beginning struct {
	order    engine.OrderID
	provider string
	byLink   bool
}

// lockBegin lets only one caller on this node at a time open the attempt, so that no two callers begin it at the
// provider. The caller must call done. It returns the context's error if ctx ends first.
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

// openAttempt returns the open attempt with a provider, either the buyer's or, with byLink, the one by the payment
// link. It returns nil if there is none.
func openAttempt(o *order.Order, provider string, byLink bool) *order.Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Provider == provider && a.ByLink() == byLink && a.Open() {
			return a
		}
	}
	return nil
}

// beginAt begins the attempt's charge at the provider and notes in the order where the payer pays. It marks the
// attempt as failed if it is unknown whether the charge has begun, if the provider has seen the reference
// before, or if the amount is too small. The next attempt then gets a new reference.
func (h *Handlers) beginAt(c *route.Call, gateway psp.Provider, o *order.Order, a *order.Attempt, p *paying) (*order.Order, error) {
	ref := engine.EventRef(o.ID.Event())
	begun, err := gateway.Begin(c.Context, psp.Charge{
		Reference: a.Reference, Email: p.email, Amount: a.Amount, Currency: o.Currency, CallbackURL: p.back, PayCurrency: a.Deposit.Currency, At: time.UnixMilli(a.At),
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

// verifyPayment asks the providers about the order's attempts, reports the answers to the event, and shows the order.
// If an attempt can't be verified, it returns the error, unless the order is completed. Clients may poll it.
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

// VerifyAttempts asks the providers about each of the given attempts that was opened and has neither succeeded nor
// been refunded. It reports every answer to the event, and returns the order as it is then. If some attempts
// fail to be verified, the others are still reported, and it returns the first error together with the order.
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

// providerAnswer is what a provider says about an attempt. known is false if there is no outcome, because the
// provider has never seen the attempt or because of err.
type providerAnswer struct {
	psp.Outcome
	known bool
	err   error
}

// isOver reports whether an order is sold or cancelled, so that money which still comes for it goes back in any
// case. Money for an order that expired or failed may still complete the order.
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
		return providerAnswer{} // the provider does not know the attempt, so it was never begun there
	}
	return providerAnswer{Outcome: out, known: err == nil, err: err}
}

// reportAttempt reports a provider's outcome of an attempt to the event, and returns the order as it is then. The sweep
// of refunds soon sends what the order gives back because of it. If more money came than the order notes, and the order
// has left the ledger, it logs an error, because a person has to send the money back.
func (h *Handlers) reportAttempt(ctx context.Context, o *order.Order, a *order.Attempt, out *psp.Outcome) (*order.Order, error) {
	report := ledger.ReportPayment{Order: o.ID, Reference: a.Reference, Status: attemptStatus[out.Status], Currency: out.Currency, Arrived: out.Arrived}
	paid := out.Status == psp.Succeeded // With any other status, Amount is not money that we have.
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

// attemptStatus translates the status of a provider's outcome into the status of an attempt.
var attemptStatus = map[psp.Status]string{
	psp.Pending:    order.AttemptPending,
	psp.Processing: order.AttemptProcessing,
	psp.Succeeded:  order.AttemptSucceeded,
	psp.Failed:     order.AttemptFailed,
	psp.Refunded:   order.AttemptRefunded,
	psp.Expired:    order.AttemptExpired,
	psp.Cancelled:  order.AttemptCancelled,
}

// getPayment shows an order's status and its attempts to pay, to a caller who may see the order (Desk.Open).
func (h *Handlers) getPayment(c *route.Call, in *api.PaymentByToken) (*api.OrderPayments, error) {
	o, _, err := h.Orders.Open(c, in.OrderID, in.Token)
	if err != nil {
		return nil, err
	}
	return &api.OrderPayments{
		OrderID: o.ID.String(), Status: o.Status, Total: view.Decimal(o.Total, o.Currency), Currency: o.Currency, Payments: view.Payments(o),
	}, nil
}
