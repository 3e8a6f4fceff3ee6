// Package payments has the list of payment providers, and opens those that have an account: Gateways begin a charge,
// ask for its outcome, return money, and check that an inbound notice is genuine.
//
// Handlers and background sweeps of edge call it. It starts no goroutine. Gateways.Close closes the idle
// connections once nobody calls any more.
//
// To add a provider, write a package with its adapter and add one row to Providers.
package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"boxoffice/edge/payments/flutterwave"
	"boxoffice/edge/payments/mollie"
	"boxoffice/edge/payments/nowpayments"
	"boxoffice/edge/payments/paypal"
	"boxoffice/edge/payments/paystack"
	"boxoffice/edge/payments/psp"
	"boxoffice/edge/payments/stripe"
	"boxoffice/edge/payments/transfer"
)

// Definition is one row of the table of providers.
type Definition struct {
	// Name is the provider's name on the wire.
	Name string
	// Kind says what buyers pay with there: KindCard, KindCoins or KindTransfer.
	Kind string
	// Currencies are the currencies of prices that the provider takes, by ISO 4217.
	Currencies []string
	// Window is how long an order waits for a payment that was begun there. An order's own window is extended to
	// it, once.
	Window time.Duration
	// Open makes the adapter. It returns ErrNotConfigured if there is no account.
	Open func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error)
}

// These are what buyers pay with: cards and whatever else the provider's page offers, coins that are
// sent to an address, or a transfer to a bank account.
const (
	KindCard     = "card"
	KindCoins    = "crypto"
	KindTransfer = "transfer"
)

// Providers lists every provider that we support. A buyer who names none pays with the first one
// that is configured: crypto comes before cards.
var Providers = []Definition{
	{
		Name:       "nowpayments",
		Kind:       KindCoins,
		Currencies: nowpayments.Currencies,
		Window:     nowpayments.Window,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error) {
			return nowpayments.New(cfg.NOWPayments, via, log)
		},
	},
	{
		Name:       "paystack",
		Kind:       KindCard,
		Currencies: paystack.Currencies,
		Window:     psp.CardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error) {
			return paystack.New(cfg.Paystack, via, log)
		},
	},
	{
		Name:       "flutterwave",
		Kind:       KindCard,
		Currencies: flutterwave.Currencies,
		Window:     psp.CardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error) {
			return flutterwave.New(cfg.Flutterwave, via, log)
		},
	},
	{
		Name:       "stripe",
		Kind:       KindCard,
		Currencies: stripe.Currencies,
		Window:     psp.CardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error) {
			return stripe.New(cfg.Stripe, via, log)
		},
	},
	{
		Name:       "mollie",
		Kind:       KindCard,
		Currencies: mollie.Currencies,
		Window:     psp.CardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error) {
			return mollie.New(cfg.Mollie, via, log)
		},
	},
	{
		Name:       "paypal",
		Kind:       KindCard,
		Currencies: paypal.Currencies,
		Window:     psp.CardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (psp.Provider, error) {
			return paypal.New(cfg.PayPal, via, log)
		},
	},
	{
		Name:   transfer.Name,
		Kind:   KindTransfer,
		Window: transfer.Window, // the function Open takes Window and Currencies from the account instead
		Open: func(cfg Config, _ http.RoundTripper, _ *slog.Logger) (psp.Provider, error) {
			return transfer.New(cfg.Transfer)
		},
	},
}

// Config holds one account per provider. A provider whose account has no key, or no holder, is not
// configured.
type Config struct {
	NOWPayments, Paystack, Flutterwave, Stripe, Mollie, PayPal psp.Account

	Transfer transfer.Account
}

// Gateway is a configured provider, with its row of Providers. For bank transfers, the row has the account's
// currencies and window.
type Gateway struct {
	Definition
	psp.Provider
}

// Gateways are the configured providers.
type Gateways struct {
	transport *http.Transport
	open      []Gateway // in the order of Providers
}

// Open opens every provider that has an account. A provider without an account is left out; an
// account that cannot work is an error.
func Open(cfg Config, log *slog.Logger) (*Gateways, error) {
	g := &Gateways{transport: newTransport()}
	for _, d := range Providers {
		p, err := d.Open(cfg, g.transport, log)
		if errors.Is(err, psp.ErrNotConfigured) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("payment provider %s: %w", d.Name, err)
		}
		if t, ok := p.(*transfer.Provider); ok {
			d.Currencies, d.Window = t.Account.Currencies, t.Account.Window
		}
		g.open = append(g.open, Gateway{d, p})
	}
	return g, nil
}

// Provider returns the provider of that name. Unlike Choose, it has none for an empty name. The error may be
// ErrNotConfigured.
func (g *Gateways) Provider(name string) (psp.Provider, error) {
	if name == "" {
		return nil, &psp.Error{Kind: psp.ErrNotConfigured}
	}
	p, err := g.Choose(name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Choose returns the provider that a buyer pays with: the one with that name, or, without a name,
// the first of Providers that is configured. The error may be ErrNotConfigured.
func (g *Gateways) Choose(name string) (*Gateway, error) {
	for i := range g.open {
		if name == "" || g.open[i].Name == name {
			return &g.open[i], nil
		}
	}
	return nil, &psp.Error{Provider: name, Kind: psp.ErrNotConfigured}
}

// AllowsTransfers reports whether an organization may be paid by bank transfer, and may report itself which
// transfers have come. It returns false if no bank account is configured.
func (g *Gateways) AllowsTransfers(ctx context.Context, org int64) (bool, error) {
	for i := range g.open {
		if t, ok := g.open[i].Provider.(*transfer.Provider); ok {
			if t.Account.Allowed == nil {
				return true, nil
			}
			return t.Account.Allowed(ctx, org)
		}
	}
	return false, nil
}

// Fitting returns the configured providers that take prices in a currency for an organization, in the order of
// Providers. Without a currency, providers of all currencies fit; without an organization (0), transfers fit
// too.
func (g *Gateways) Fitting(ctx context.Context, currency string, org int64) ([]Definition, error) {
	transfers := true
	if org != 0 {
		var err error
		if transfers, err = g.AllowsTransfers(ctx, org); err != nil {
			return nil, err
		}
	}
	fitting := make([]Definition, 0, len(g.open))
	for i := range g.open {
		d := g.open[i].Definition
		if (currency == "" || slices.Contains(d.Currencies, currency)) && (d.Kind != KindTransfer || transfers) {
			fitting = append(fitting, d)
		}
	}
	return fitting, nil
}

// Coins returns the crypto currencies that a buyer may pay with. The error may be ErrNotConfigured.
func (g *Gateways) Coins(ctx context.Context) ([]nowpayments.Coin, error) {
	for i := range g.open {
		if crypto, ok := g.open[i].Provider.(*nowpayments.Provider); ok {
			return crypto.Coins(ctx)
		}
	}
	return nil, &psp.Error{Provider: "crypto", Kind: psp.ErrNotConfigured}
}

// Close closes the idle connections. Calls under way finish.
func (g *Gateways) Close() { g.transport.CloseIdleConnections() }

// newTransport makes the transport of the calls to all providers. It keeps enough idle connections open for a rush.
// Each provider's client bounds how many of them are in use.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        60 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// disputeLister is a provider that reports disputes.
type disputeLister interface {
	ListDisputes(ctx context.Context, id string) ([]psp.Dispute, error)
}

// ListDisputes returns the disputes that a notice may be about. id is the Dispute of the notice. It returns nil if
// the provider reports no disputes to us. The call changes nothing, so it may be repeated.
func (g *Gateway) ListDisputes(ctx context.Context, id string) ([]psp.Dispute, error) {
	if p, ok := g.Provider.(disputeLister); ok {
		return p.ListDisputes(ctx, id)
	}
	return nil, nil
}
