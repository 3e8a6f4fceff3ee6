package psp

import (
	"cmp"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Account says how to reach a provider, and as whom. Zero values mean the defaults.
type Account struct {
	URL       string // base address; the provider's own by default
	SecretKey Secret // our key at the provider, which also proves Paystack's and Mollie's notices
	// NoticeSecret proves the notices of the other providers: NOWPayments' IPN secret, Flutterwave's secret
	// hash, or Stripe's endpoint secret (several, with commas between them, while one replaces another). For
	// PayPal it is the webhook's id. Without it all notices of these providers are refused.
	NoticeSecret Secret
	NoticeURL    string        // where the provider sends its notices; only for providers that get this address with each charge
	Timeout      time.Duration // longest time of a call with its retries; default 10 s
	InFlight     int           // how many calls may be under way at once; default 256
	Breaker      Breaker
}

// Breaker says when calls to a failing provider are stopped.
type Breaker struct {
	Failures int           // how many failures in a row stop the calls; default 5
	Window   time.Duration // the failures count only if all of them are within this time; default 30 s
	Pause    time.Duration // how long no call is made, before one is let through; default 5 s
}

// WithDefaults returns the account with defaults in the fields that are empty; address is the provider's own.
func (a Account) WithDefaults(address string) Account {
	a.URL = strings.TrimRight(cmp.Or(a.URL, address), "/")
	a.Timeout = cmp.Or(a.Timeout, 10*time.Second)
	a.InFlight = cmp.Or(a.InFlight, 256)
	a.Breaker.Failures = cmp.Or(a.Breaker.Failures, 5)
	a.Breaker.Window = cmp.Or(a.Breaker.Window, 30*time.Second)
	a.Breaker.Pause = cmp.Or(a.Breaker.Pause, 5*time.Second)
	return a
}

// CheckFields refuses an address that is not http(s)://host or that carries credentials. It also refuses plain http
// for a key that begins as Stripe's, Paystack's or Mollie's live keys do.
func (a Account) CheckFields() error {
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

// CardWindow is how long an order waits for a payment by card. Only Flutterwave and Stripe (a minute more) are told
// of it, and let nobody pay later.
const CardWindow = 30 * time.Minute
