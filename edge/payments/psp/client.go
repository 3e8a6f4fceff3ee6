package psp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/v1"
)

const (
	maxAnswer      = 1 << 20                // bytes of a provider's answer
	maxSaid        = 200                    // bytes of a provider's words that are kept
	readTries      = 3                      // tries of a read, the first one included
	retryStep      = 100 * time.Millisecond // mean wait before the first retry, doubled for each further one
	slotWait       = time.Second            // longest wait for a free slot
	waitersPerSlot = 4                      // callers that may wait, per slot
)

// Client makes calls to one provider. It bounds how many calls are under way. While the breaker is open it makes
// none, except one after each pause. It repeats failed reads a few times, and cuts secrets out of errors.
type Client struct {
	provider string
	Account  Account
	http     *http.Client
	breaker  *breaker
	slots    chan struct{}
	waiting  atomic.Int64
	log      *slog.Logger

	KeyHeader, KeyPrefix string            // how the key is sent
	RepeatHeader         string            // the header that carries Request.Key
	Headers              map[string]string // further headers of all calls
	Hidden               Secret            // another secret that is cut out of errors, as the key is; empty for none
}

// NewClient makes the client of an account. It sends the key as a bearer, and a request's key as Idempotency-Key.
func NewClient(provider string, a Account, via http.RoundTripper, log *slog.Logger) *Client {
	return &Client{
		provider: provider, Account: a, KeyHeader: "Authorization", KeyPrefix: "Bearer ", RepeatHeader: "Idempotency-Key",
		http: &http.Client{
			Transport: via,
			// A redirect would carry the key elsewhere, so it counts as a fault.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		breaker: &breaker{Breaker: a.Breaker},
		slots:   make(chan struct{}, a.InFlight),
		log:     log.With(slog.String("provider", provider)),
	}
}

// Request is a call to make. After a fault, the client repeats a GET, or a request with Reads set, unless it is the one
// call that the breaker lets through after a pause.
type Request struct {
	Method string
	Path   string     // with the query
	Body   any        // as JSON; nil for none
	Form   url.Values // as a form, in place of a body
	Text   []byte     // JSON that must come as it stands, in place of a body

	Bearer  string // an access token that is sent in place of the account's key; empty for none
	Reads   bool   // it changes nothing at the provider, although it is no GET
	Key     string // by which the provider knows a repeat; empty for none
	Version string // of Stripe's API, as the header Stripe-Version; empty for none
}

// Answer is what came back. Its status is 200 to 299, or 400 to 499 without 429: all others are errors.
type Answer struct {
	Status int
	Body   []byte
}

// Do makes the call and hands the answer to read, whose error becomes the call's. If read returns
// ErrFault, that counts against the provider like a 5xx, and a call that only reads is tried again. All
// tries together take at most the account's Timeout. It sends nothing if the breaker is open (ErrPaused) or
// if too many calls are under way (ErrBusy).
func (c *Client) Do(ctx context.Context, r Request, read func(Answer) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.Account.Timeout)
	defer cancel()

	pass, err := c.admitCall()
	if err != nil {
		return err
	}
	if err := c.acquire(ctx); err != nil {
		c.breaker.endCall(pass, neutral, time.Now())
		return err
	}
	defer func() { <-c.slots }()

	tries := 1
	if (r.Reads || r.Method == http.MethodGet) && !pass.probe {
		tries = readTries
	}
	err = c.attempt(ctx, r, read, tries)
	c.tellBreaker(pass, err)
	return err
}

// Fetch makes the call and decodes its answer into data, which check may refuse; nil refuses nothing.
// declined makes the error of an answer of 400 or above.
func (c *Client) Fetch(ctx context.Context, r Request, declined func(Answer) *Error, data any, check func() error) error {
	return c.Do(ctx, r, func(a Answer) error {
		if a.Status >= 400 {
			return declined(a)
		}
		if err := json.Unmarshal(a.Body, data); err != nil {
			return c.Fail(ErrFault, "answer: "+err.Error())
		}
		if check != nil {
			if err := check(); err != nil {
				return c.Fail(ErrFault, "answer: "+err.Error())
			}
		}
		return nil
	})
}

// admitCall asks the breaker to let a call through, or returns ErrPaused. Without an error, the caller must end the
// pass (tellBreaker or endCall).
func (c *Client) admitCall() (pass, error) {
	p, wait := c.breaker.admit(time.Now())
	if wait > 0 {
		e := c.Fail(ErrPaused, "")
		e.RetryAfter = wait
		return p, e
	}
	return p, nil
}

// tellBreaker reports the result of the call to the breaker. A call that its caller gave up, or that was throttled,
// counts neither for nor against the provider. It logs when the breaker opens or closes.
func (c *Client) tellBreaker(p pass, err error) {
	v := healthy
	switch {
	case isUnhealthy(err):
		v = unhealthy
	case errors.Is(err, context.Canceled), errors.Is(err, ErrThrottled):
		v = neutral
	}
	opened, closed := c.breaker.endCall(p, v, time.Now())
	if opened {
		c.log.Warn("payment provider paused", slog.Duration("for", c.Account.Breaker.Pause), slog.Any("cause", err))
	}
	if closed {
		c.log.Info("payment provider answers again")
	}
}

// acquire takes one of the slots. There are as many slots as calls may be under way. It waits a moment for a
// free slot, unless too many callers wait already. It returns ErrBusy if it gets none.
func (c *Client) acquire(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	defer c.waiting.Add(-1)
	if c.waiting.Add(1) > int64(waitersPerSlot*cap(c.slots)) {
		return c.busyError()
	}
	patience := time.NewTimer(slotWait)
	defer patience.Stop()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-patience.C:
		return c.busyError()
	case <-ctx.Done():
		e := c.busyError()
		e.cause = ctx.Err()
		return e
	}
}

// busyError returns ErrBusy: all connections to the provider are in use, and the caller may try again after slotWait.
func (c *Client) busyError() *Error {
	e := c.Fail(ErrBusy, "")
	e.RetryAfter = slotWait
	return e
}

// attempt makes the call up to tries times. It tries again only after ErrFault and while ctx lasts.
func (c *Client) attempt(ctx context.Context, r Request, read func(Answer) error, tries int) error {
	for try := 1; ; try++ {
		a, err := c.sendOnce(ctx, r)
		if err == nil {
			err = read(a)
		}
		if try == tries || !errors.Is(err, ErrFault) || ctx.Err() != nil {
			return err
		}
		// Jitter keeps the retries of a crowd from arriving together.
		pause := time.NewTimer(retryStep<<(try-1)/2 + rand.N(retryStep<<(try-1)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// sendOnce makes the call once: with the account's key or the request's Bearer, and with the headers of the client and
// of the request. It reads at most maxAnswer bytes and masks the Bearer in them. A request that cannot be made is
// ErrDeclined; the other errors come from connectionError and sort.
func (c *Client) sendOnce(ctx context.Context, r Request) (Answer, error) {
	var body io.Reader
	content := "application/json"
	if r.Form != nil {
		body, content = strings.NewReader(r.Form.Encode()), "application/x-www-form-urlencoded"
	}
	if r.Body != nil {
		b, err := json.Marshal(r.Body)
		if err != nil {
			return Answer{}, c.Fail(ErrDeclined, fmt.Sprintf("encode request: %v", err))
		}
		body = bytes.NewReader(b)
	}
	if r.Text != nil {
		body = bytes.NewReader(r.Text)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.Account.URL+r.Path, body)
	if err != nil {
		return Answer{}, c.Fail(ErrDeclined, fmt.Sprintf("make request: %v", err))
	}
	req.Header.Set(c.KeyHeader, c.KeyPrefix+string(c.Account.SecretKey))
	if r.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.Bearer)
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "boxoffice")
	if body != nil {
		req.Header.Set("Content-Type", content)
	}
	if r.Key != "" {
		req.Header.Set(c.RepeatHeader, r.Key)
	}
	if r.Version != "" {
		req.Header.Set("Stripe-Version", r.Version)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.connectionError(ctx, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return Answer{}, c.connectionError(ctx, err)
	}
	if r.Bearer != "" { // the provider may echo the token
		b = bytes.ReplaceAll(b, []byte(r.Bearer), []byte(mask))
	}
	return c.sort(resp, b)
}

// sort returns the answer. It returns ErrThrottled for the status 429, and ErrFault for an answer that is too long or
// has a status below 200, from 300 to 399, or from 500 on.
func (c *Client) sort(resp *http.Response, body []byte) (Answer, error) {
	switch {
	case len(body) > maxAnswer:
		return Answer{}, c.Fail(ErrFault, "answer too long")
	case resp.StatusCode == http.StatusTooManyRequests:
		e := c.Fail(ErrThrottled, string(body))
		e.RetryAfter = readRetryAfter(resp.Header)
		return Answer{}, e
	case resp.StatusCode >= 500, resp.StatusCode >= 300 && resp.StatusCode < 400, resp.StatusCode < 200:
		e := c.Fail(ErrFault, "status "+strconv.Itoa(resp.StatusCode)+": "+string(body))
		e.RetryAfter = readRetryAfter(resp.Header)
		return Answer{}, e
	}
	return Answer{Status: resp.StatusCode, Body: body}, nil
}

// readRetryAfter reads the seconds of the header Retry-After, at most an hour. It returns 0 if the header is missing
// or is a date.
func readRetryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(min(s, 3600)) * time.Second
}

// connectionError makes the error of a call whose connection failed or whose time ran out.
func (c *Client) connectionError(ctx context.Context, err error) *Error {
	kind := ErrFault
	var timeout net.Error
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		kind = ErrTimeout
	}
	e := c.Fail(kind, err.Error())
	e.cause = ctx.Err()
	return e
}

// Fail makes the error of a call. The words may be the provider's own, so they are shortened, and
// the key is cut out because a provider may echo it.
func (c *Client) Fail(kind error, words string) *Error {
	words = strings.ReplaceAll(words, string(c.Account.SecretKey), mask)
	if c.Hidden != "" {
		words = strings.ReplaceAll(words, string(c.Hidden), mask)
	}
	return &Error{Provider: c.provider, Kind: kind, Message: ShortenWords(words)}
}

// ShortenWords makes a provider's words one line of text that is not too long.
func ShortenWords(words string) string {
	if len(words) > maxSaid {
		words = words[:maxSaid] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, words)
}

// RefuseCurrency refuses a currency that is not supported.
func (c *Client) RefuseCurrency(currency string, supported []string) error {
	if slices.Contains(supported, currency) {
		return nil
	}
	e := c.Fail(ErrCurrency, currency)
	e.Details = UnsupportedCurrency{Provider: c.provider, Currency: currency, Supported: supported}
	return e
}

// RefuseBelow returns the refusal of an amount that the caller has found to be below the minimum, which is in minor
// units.
func (c *Client) RefuseBelow(minimum int64, currency string) error {
	e := c.Fail(ErrTooLittle, "")
	e.Details = BelowMinimum{Minimum: string(Major(minimum, currency)), Currency: currency}
	return e
}

// IsReference reports whether a text may be a charge's reference: it has 1 to 64 characters, all of them such
// as Paystack takes.
func IsReference(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		return !letter && !digit && !strings.ContainsRune(".=-", r)
	}) < 0
}

// Receive takes a value out of a channel; after success the caller must put one back. The value is something that only
// a call to the provider can renew, such as a token. If the channel is empty, Receive waits, unless the breaker is
// open (ErrPaused). If ctx's time runs out first, the error is ErrTimeout, and the breaker counts that against the
// provider.
func Receive[T any](ctx context.Context, c *Client, from <-chan T, what string) (T, error) {
	select {
	case v := <-from:
		return v, nil
	default:
	}
	var none T
	pass, err := c.admitCall()
	if err != nil {
		return none, err
	}
	select {
	case v := <-from:
		c.breaker.endCall(pass, neutral, time.Now())
		return v, nil
	case <-ctx.Done():
		e := c.connectionError(ctx, errors.New(what))
		c.tellBreaker(pass, e)
		return none, e
	}
}
