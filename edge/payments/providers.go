package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Definition is one row of the table of providers.
type Definition struct {
	// Name is the provider's name on the wire.
	Name string
	// Kind says what buyers pay with there: KindCard or KindCoins.
	Kind string
	// Currencies are the currencies of prices that the provider takes, by ISO 4217.
	Currencies []string
	// Window is how long the provider lets a buyer pay. An order's own window is extended to it,
	// once.
	Window time.Duration
	// Open makes the adapter, or returns ErrNotConfigured.
	Open func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error)
}

// These are what buyers pay with: cards and whatever else the provider's page offers, coins that are
// sent to an address, or a transfer to a bank account.
const (
	KindCard     = "card"
	KindCoins    = "crypto"
	KindTransfer = "transfer"
)

// Transfer is the name of the provider that is a bank account.
const Transfer = "transfer"

// These are how long the providers let a buyer pay. A coin's rate is fixed for its window.
const (
	cardWindow   = 30 * time.Minute
	cryptoWindow = 20 * time.Minute
)

// Providers lists every provider that we support. A buyer who names none pays with the first one
// that is configured: crypto comes before cards.
var Providers = []Definition{
	{
		Name:       "nowpayments",
		Kind:       KindCoins,
		Currencies: nowpaymentsCurrencies,
		Window:     cryptoWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newNOWPayments(cfg.NOWPayments, via, log)
		},
	},
	{
		Name:       "paystack",
		Kind:       KindCard,
		Currencies: paystackCurrencies,
		Window:     cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newPaystack(cfg.Paystack, via, log)
		},
	},
	{
		Name:       "flutterwave",
		Kind:       KindCard,
		Currencies: flutterwaveCurrencies,
		Window:     cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newFlutterwave(cfg.Flutterwave, via, log)
		},
	},
	{
		Name:       "stripe",
		Kind:       KindCard,
		Currencies: stripeCurrencies,
		Window:     cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newStripe(cfg.Stripe, via, log)
		},
	},
	{
		Name:       "mollie",
		Kind:       KindCard,
		Currencies: mollieCurrencies,
		Window:     cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newMollie(cfg.Mollie, via, log)
		},
	},
	{
		Name:       "paypal",
		Kind:       KindCard,
		Currencies: paypalCurrencies,
		Window:     cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newPaypal(cfg.PayPal, via, log)
		},
	},
	{
		Name:   Transfer,
		Kind:   KindTransfer,
		Window: transferWindow, // the account may say another, and says the currencies
		Open: func(cfg Config, _ http.RoundTripper, _ *slog.Logger) (Provider, error) {
			return newTransfer(cfg.Transfer)
		},
	},
}

// Config holds one account per provider. A provider whose account has no key, or no holder, is not
// configured.
type Config struct {
	NOWPayments, Paystack, Flutterwave, Stripe, Mollie, PayPal Account

	Transfer TransferAccount
}

// Account says how to reach a provider, and as whom. Zero values mean the defaults.
type Account struct {
	URL       string // base address; the provider's own by default
	SecretKey Secret // our key at the provider, which also proves Paystack's and Mollie's notices
	// NoticeSecret proves the notices of the others: NOWPayments' IPN secret, Flutterwave's secret
	// hash, Stripe's endpoint secret, or two of those with a comma between them while one replaces
	// the other. Of PayPal it is the webhook's id. Without it all their notices are refused.
	NoticeSecret Secret
	NoticeURL    string        // where the provider sends its notices, if every charge tells it that
	Timeout      time.Duration // for a call with its retries; 10 s
	InFlight     int           // calls under way at once; 256
	Breaker      Breaker
}

// Breaker says when calls to a failing provider are stopped.
type Breaker struct {
	Failures int           // in a row, without a success; 5
	Window   time.Duration // within which they must fall; 30 s
	Pause    time.Duration // without calls, before one is let through; 5 s
}

func (a Account) withDefaults(address string) Account {
	a.URL = strings.TrimRight(cmp.Or(a.URL, address), "/")
	a.Timeout = cmp.Or(a.Timeout, 10*time.Second)
	a.InFlight = cmp.Or(a.InFlight, 256)
	a.Breaker.Failures = cmp.Or(a.Breaker.Failures, 5)
	a.Breaker.Window = cmp.Or(a.Breaker.Window, 30*time.Second)
	a.Breaker.Pause = cmp.Or(a.Breaker.Pause, 5*time.Second)
	return a
}

// checkFields refuses an invalid address, and a live key without TLS.
func (a Account) checkFields() error {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("the provider's URL must be http(s)://host")
	}
	if u.User != nil {
		return errors.New("the provider's URL must not carry credentials")
	}
	if u.Scheme == "http" && (strings.HasPrefix(string(a.SecretKey), "sk_live_") || strings.HasPrefix(string(a.SecretKey), "live_")) {
		return errors.New("a live key is sent over https only")
	}
	return nil
}

// Secret is a text that is printed as a mask, even in logs and errors.
type Secret string

const mask = "[secret]"

// String masks the secret.
func (Secret) String() string { return mask }

// GoString masks the secret.
func (Secret) GoString() string { return mask }

// MarshalText masks the secret, in JSON too.
func (Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue masks the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(mask) }

// Gateway is a configured provider, with its row of Providers.
type Gateway struct {
	Definition
	Provider
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
		if errors.Is(err, ErrNotConfigured) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("payment provider %s: %w", d.Name, err)
		}
		if t, ok := p.(*transfer); ok {
			d.Currencies, d.Window = t.account.Currencies, t.account.Window
		}
		g.open = append(g.open, Gateway{d, p})
	}
	return g, nil
}

// Provider returns the provider of that name, or ErrNotConfigured.
func (g *Gateways) Provider(name string) (Provider, error) {
	if name == "" {
		return nil, &Error{Kind: ErrNotConfigured}
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
	return nil, &Error{Provider: name, Kind: ErrNotConfigured}
}

// AllowsTransfers reports whether an organization may be paid by bank transfer, and say what has come.
func (g *Gateways) AllowsTransfers(ctx context.Context, org int64) (bool, error) {
	for i := range g.open {
		if t, ok := g.open[i].Provider.(*transfer); ok {
			if t.account.Allowed == nil {
				return true, nil
			}
			return t.account.Allowed(ctx, org)
		}
	}
	return false, nil
}

// Fitting returns the configured providers that take prices in a currency for an organization, in the order
// of Providers. Without a currency, or without an organization (0), it does not ask for that.
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
func (g *Gateways) Coins(ctx context.Context) ([]Coin, error) {
	for i := range g.open {
		if crypto, ok := g.open[i].Provider.(*nowpayments); ok {
			return crypto.Coins(ctx)
		}
	}
	return nil, &Error{Provider: "crypto", Kind: ErrNotConfigured}
}

// Close closes the idle connections. Calls under way finish.
func (g *Gateways) Close() { g.transport.CloseIdleConnections() }

// newTransport keeps enough connections open for a rush. Each provider's client bounds how many of
// them are in use.
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
