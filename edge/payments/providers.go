package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Definition is one row of the table of providers.
type Definition struct {
	// Name is the provider's name on the wire.
	Name string
	// Window is how long the provider lets a buyer pay: an order's own window is
	// extended to it once.
	Window time.Duration
	// Open makes the adapter, or says ErrNotConfigured.
	Open func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error)
}

// How long the providers let a buyer pay. A coin's rate is fixed for its window.
const (
	cardWindow   = 30 * time.Minute
	cryptoWindow = 20 * time.Minute
)

// Providers is every provider that we can speak to. A buyer who names none pays
// with the first that is configured: crypto comes before cards.
var Providers = []Definition{
	{
		Name:   "nowpayments",
		Window: cryptoWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newNOWPayments(cfg.NOWPayments, via, log)
		},
	},
	{
		Name:   "paystack",
		Window: cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newPaystack(cfg.Paystack, via, log)
		},
	},
	{
		Name:   "flutterwave",
		Window: cardWindow,
		Open: func(cfg Config, via http.RoundTripper, log *slog.Logger) (Provider, error) {
			return newFlutterwave(cfg.Flutterwave, via, log)
		},
	},
}

// Config holds one account per provider; one without a key is not configured.
type Config struct {
	NOWPayments, Paystack, Flutterwave Account
}

// Account is how to reach a provider, and as whom. Zero values mean defaults.
type Account struct {
	URL       string // base address; the provider's own by default
	SecretKey Secret // signs us in, and Paystack's notices
	// NoticeSecret proves the others' notices: NOWPayments' IPN secret, Flutterwave's
	// secret hash. Without it all of them are refused.
	NoticeSecret Secret
	NoticeURL    string        // where the provider is to send its notices, if that is told with every charge
	Timeout      time.Duration // of a call with its retries; 10 s
	InFlight     int           // calls under way at once; 256
	Breaker      Breaker
}

// Breaker says when calls to a failing provider stop.
type Breaker struct {
	Failures int           // in a row, without a success; 5
	Window   time.Duration // within which they must fall; 30 s
	Pause    time.Duration // without calls, before one is let through; 5 s
}

func (a Account) withDefaults(address string) Account {
	a.URL = strings.TrimRight(or(a.URL, address), "/")
	a.Timeout = or(a.Timeout, 10*time.Second)
	a.InFlight = or(a.InFlight, 256)
	a.Breaker.Failures = or(a.Breaker.Failures, 5)
	a.Breaker.Window = or(a.Breaker.Window, 30*time.Second)
	a.Breaker.Pause = or(a.Breaker.Pause, 5*time.Second)
	return a
}

// or is a, unless that is zero.
func or[T comparable](a, b T) T {
	var zero T
	if a == zero {
		return b
	}
	return a
}

// check refuses an address that is none, and a live key without TLS.
func (a Account) check() error {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("the provider's URL must be http(s)://host")
	}
	if u.User != nil {
		return errors.New("the provider's URL must not carry credentials")
	}
	if u.Scheme == "http" && strings.HasPrefix(string(a.SecretKey), "sk_live_") {
		return errors.New("a live key is sent over https only")
	}
	return nil
}

// Secret is text that prints as a mask, in logs and errors too.
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

// Gateway is a provider that is configured here, with its row of Providers.
type Gateway struct {
	Definition
	Provider
}

// Gateways is the providers that are configured here.
type Gateways struct {
	transport *http.Transport
	open      []Gateway // in the order of Providers
}

// Open opens every provider that has an account. A provider without one is
// left out; an account that cannot work is an error.
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

// Choose returns the provider that a buyer pays with: the one of that name, or,
// without a name, the first of Providers that is configured. It may return
// ErrNotConfigured.
func (g *Gateways) Choose(name string) (*Gateway, error) {
	for i := range g.open {
		if name == "" || g.open[i].Name == name {
			return &g.open[i], nil
		}
	}
	return nil, &Error{Provider: name, Kind: ErrNotConfigured}
}

// Coins are the crypto currencies that a buyer may pay with. It may return
// ErrNotConfigured.
func (g *Gateways) Coins(ctx context.Context) ([]Coin, error) {
	for i := range g.open {
		if crypto, ok := g.open[i].Provider.(*nowpayments); ok {
			return crypto.Coins(ctx)
		}
	}
	return nil, &Error{Provider: "crypto", Kind: ErrNotConfigured}
}

// Close drops the idle connections. Calls under way finish.
func (g *Gateways) Close() { g.transport.CloseIdleConnections() }

// newTransport keeps enough connections open for a rush; how many are in use
// is bounded per provider by its client.
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
