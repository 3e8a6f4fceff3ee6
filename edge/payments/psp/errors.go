package psp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"boxoffice/engine"
)

// These are the reasons why a call failed or a notice was refused.
var (
	ErrNotConfigured      = errors.New("not configured")
	ErrTimeout            = errors.New("no answer in time")
	ErrFault              = errors.New("failed")                // unreachable, 5xx, a redirect, or an answer that makes no sense
	ErrPaused             = errors.New("paused after failures") // the breaker is open; nothing was sent
	ErrBusy               = errors.New("too many calls")        // our own limit; nothing was sent
	ErrThrottled          = errors.New("rate limited")          // the provider's limit
	ErrDeclined           = errors.New("declined")              // the provider said no, for good
	ErrReturned           = fmt.Errorf("%w: all of the charge goes back already", ErrDeclined)
	ErrCurrency           = errors.New("currency not supported")
	ErrUnknownCoin        = errors.New("no such coin")
	ErrTooLittle          = errors.New("below the minimum")
	ErrDuplicateReference = errors.New("duplicate reference")
	ErrUnknownReference   = errors.New("unknown reference")
	ErrSignature          = errors.New("bad signature")
	ErrNotice             = errors.New("unreadable notice")
)

// codes maps each reason to what a client of ours is told.
var codes = map[error]engine.Code{
	ErrNotConfigured:      engine.ProviderMissing,
	ErrTimeout:            engine.ProviderTimeout,
	ErrFault:              engine.ProviderError,
	ErrPaused:             engine.ProviderError,
	ErrBusy:               engine.Overloaded,
	ErrThrottled:          engine.ProviderError,
	ErrDeclined:           engine.ProviderError,
	ErrReturned:           engine.ProviderError,
	ErrCurrency:           engine.CurrencyNotSupported,
	ErrUnknownCoin:        engine.CurrencyNotSupported,
	ErrTooLittle:          engine.AmountBelowMinimum,
	ErrDuplicateReference: engine.ProviderError,
	ErrUnknownReference:   engine.ProviderError,
	ErrSignature:          engine.Unauthorized,
	ErrNotice:             engine.Validation,
}

// Error says why a call failed. It is safe to log: secrets are cut from what the provider said. Clients get only its
// Refusal.
type Error struct {
	Provider   string
	Kind       error         // one of the Err values above
	Message    string        // more about the reason, for logs
	RetryAfter time.Duration // how long to wait until another try may be worth it; 0 if unknown
	Details    any           // for a client of ours; nil for none
	cause      error         // the context's error, if that ended the call
}

// Error says which provider failed, why, and what it said.
func (e *Error) Error() string {
	s := e.Provider + ": " + e.Kind.Error()
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// Unwrap makes errors.Is find the kind and the context's error.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// Refusal returns what a client of ours is told: the code, and what would be accepted, but none of the
// provider's words.
func (e *Error) Refusal() *engine.Refusal { return engine.Refuse(codes[e.Kind], e.Details) }

// UnsupportedCurrency is the detail of CURRENCY_NOT_SUPPORTED.
type UnsupportedCurrency struct {
	Provider  string   `json:"provider"`
	Currency  string   `json:"currency"`
	Supported []string `json:"supported"`
}

// BelowMinimum is the detail of AMOUNT_BELOW_MINIMUM.
type BelowMinimum struct {
	Minimum  string `json:"minimum"`
	Currency string `json:"currency"`
}

// As makes errors.As find the *engine.Refusal.
func (e *Error) As(target any) bool {
	r, ok := target.(**engine.Refusal)
	if ok {
		*r = e.Refusal()
	}
	return ok
}

// Ambiguous reports whether the provider may have done what it was asked to do although the call
// failed. After any other error it certainly has not.
func Ambiguous(err error) bool {
	return errors.Is(err, ErrTimeout) || errors.Is(err, ErrFault)
}

// isUnhealthy reports whether the error counts against the provider's health.
func isUnhealthy(err error) bool {
	return Ambiguous(err) && !errors.Is(err, context.Canceled)
}
