package payments

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
	readTries      = 3                      // for a read, the first included
	retryStep      = 100 * time.Millisecond // mean wait before the first retry, doubled for each further one
	slotWait       = time.Second            // for a free slot
	waitersPerSlot = 4                      // callers that may wait, per slot
)

// client makes calls to one provider: only so many at once and none while the breaker is open. It
// repeats failed reads a few times, and cuts secrets from what comes back.
type client struct {
	provider string
	account  Account
	http     *http.Client
	breaker  *breaker
	slots    chan struct{}
	waiting  atomic.Int64
	log      *slog.Logger

	keyHeader, keyPrefix string            // how the key is sent
	repeatHeader         string            // where a request's key stands
	headers              map[string]string // that all calls carry beside those
	hidden               Secret            // what is cut out of words beside the key; empty for nothing
}

func newClient(provider string, a Account, via http.RoundTripper, log *slog.Logger) *client {
	return &client{
		provider: provider, account: a, keyHeader: "Authorization", keyPrefix: "Bearer ", repeatHeader: "Idempotency-Key",
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

// request is a call to make. A read may be repeated: a GET, or what says so.
type request struct {
	method string
	path   string     // with the query
	body   any        // as JSON; nil for none
	form   url.Values // as a form, in place of a body
	text   []byte     // JSON that must come as it stands, in place of a body

	bearer  string // an access token that is sent in place of the account's key; empty for none
	reads   bool   // it changes nothing at the provider, although it is no GET
	key     string // by which the provider knows a repeat; empty for none
	version string // of the provider's API; empty for none
}

// answer is what came back, with any status below 500 except 429.
type answer struct {
	status int
	body   []byte
}

// do makes the call and hands the answer to read, whose error becomes the call's. If read returns
// ErrFault, that counts against the provider like a 5xx.
func (c *client) do(ctx context.Context, r request, read func(answer) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.account.Timeout)
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
	if (r.reads || r.method == http.MethodGet) && !pass.probe {
		tries = readTries
	}
	err = c.attempt(ctx, r, read, tries)
	c.tellBreaker(pass, err)
	return err
}

// fetch makes the call and decodes its answer into data, which check may refuse; nil refuses nothing.
// declined makes the error of an answer of 400 or above.
func (c *client) fetch(ctx context.Context, r request, declined func(answer) *Error, data any, check func() error) error {
	return c.do(ctx, r, func(a answer) error {
		if a.status >= 400 {
			return declined(a)
		}
		if err := json.Unmarshal(a.body, data); err != nil {
			return c.fail(ErrFault, "answer: "+err.Error())
		}
		if check != nil {
			if err := check(); err != nil {
				return c.fail(ErrFault, "answer: "+err.Error())
			}
		}
		return nil
	})
}

// admitCall has the breaker let a call through, which is told how it went.
func (c *client) admitCall() (pass, error) {
	p, wait := c.breaker.admit(time.Now())
	if wait > 0 {
		e := c.fail(ErrPaused, "")
		e.RetryAfter = wait
		return p, e
	}
	return p, nil
}

// tellBreaker tells the breaker how the call went.
func (c *client) tellBreaker(p pass, err error) {
	v := healthy
	switch {
	case isUnhealthy(err):
		v = unhealthy
	case errors.Is(err, context.Canceled), errors.Is(err, ErrThrottled):
		v = neutral
	}
	opened, closed := c.breaker.endCall(p, v, time.Now())
	if opened {
		c.log.Warn("payment provider paused", slog.Duration("for", c.account.Breaker.Pause), slog.Any("cause", err))
	}
	if closed {
		c.log.Info("payment provider answers again")
	}
}

// acquire takes a slot. It waits a moment for one, if not too many callers wait already.
func (c *client) acquire(ctx context.Context) error {
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

func (c *client) busyError() *Error {
	e := c.fail(ErrBusy, "")
	e.RetryAfter = slotWait
	return e
}

// attempt makes the call up to tries times, as long as there is time and the fault may pass.
func (c *client) attempt(ctx context.Context, r request, read func(answer) error, tries int) error {
	for try := 1; ; try++ {
		a, err := c.send(ctx, r)
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

// send makes the call once.
func (c *client) send(ctx context.Context, r request) (answer, error) {
	var body io.Reader
	content := "application/json"
	if r.form != nil {
		body, content = strings.NewReader(r.form.Encode()), "application/x-www-form-urlencoded"
	}
	if r.body != nil {
		b, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, c.fail(ErrDeclined, fmt.Sprintf("encode request: %v", err))
		}
		body = bytes.NewReader(b)
	}
	if r.text != nil {
		body = bytes.NewReader(r.text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.account.URL+r.path, body)
	if err != nil {
		return answer{}, c.fail(ErrDeclined, fmt.Sprintf("make request: %v", err))
	}
	req.Header.Set(c.keyHeader, c.keyPrefix+string(c.account.SecretKey))
	if r.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.bearer)
	}
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "boxoffice")
	if body != nil {
		req.Header.Set("Content-Type", content)
	}
	if r.key != "" {
		req.Header.Set(c.repeatHeader, r.key)
	}
	if r.version != "" {
		req.Header.Set("Stripe-Version", r.version)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.connectionError(ctx, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, c.connectionError(ctx, err)
	}
	if r.bearer != "" { // it may be echoed, as the key may
		b = bytes.ReplaceAll(b, []byte(r.bearer), []byte(mask))
	}
	return c.sort(resp, b)
}

// sort separates answers from faults.
func (c *client) sort(resp *http.Response, body []byte) (answer, error) {
	switch {
	case len(body) > maxAnswer:
		return answer{}, c.fail(ErrFault, "answer too long")
	case resp.StatusCode == http.StatusTooManyRequests:
		e := c.fail(ErrThrottled, string(body))
		e.RetryAfter = retryAfter(resp.Header)
		return answer{}, e
	case resp.StatusCode >= 500, resp.StatusCode >= 300 && resp.StatusCode < 400, resp.StatusCode < 200:
		e := c.fail(ErrFault, "status "+strconv.Itoa(resp.StatusCode)+": "+string(body))
		e.RetryAfter = retryAfter(resp.Header)
		return answer{}, e
	}
	return answer{status: resp.StatusCode, body: body}, nil
}

// retryAfter reads the header's seconds, at most an hour; 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(min(s, 3600)) * time.Second
}

// connectionError makes the error of a call whose connection failed or whose time ran out.
func (c *client) connectionError(ctx context.Context, err error) *Error {
	kind := ErrFault
	var timeout net.Error
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		kind = ErrTimeout
	}
	e := c.fail(kind, err.Error())
	e.cause = ctx.Err()
	return e
}

// fail makes the error of a call. The words may be the provider's own, so they are shortened, and
// the key is cut out because a provider may echo it.
func (c *client) fail(kind error, words string) *Error {
	words = strings.ReplaceAll(words, string(c.account.SecretKey), mask)
	if c.hidden != "" {
		words = strings.ReplaceAll(words, string(c.hidden), mask)
	}
	return &Error{Provider: c.provider, Kind: kind, Message: shortenWords(words)}
}

// shortenWords makes a provider's words one line of text that is not too long.
func shortenWords(words string) string {
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

// refuseCurrency refuses a currency that is not supported.
func (c *client) refuseCurrency(currency string, supported []string) error {
	if slices.Contains(supported, currency) {
		return nil
	}
	e := c.fail(ErrCurrency, currency)
	e.details = UnsupportedCurrency{Provider: c.provider, Currency: currency, Supported: supported}
	return e
}

// tooLittle refuses an amount below the minimum, which is in minor units.
func (c *client) tooLittle(minimum int64, currency string) error {
	e := c.fail(ErrTooLittle, "")
	e.details = BelowMinimum{Minimum: string(major(minimum, currency)), Currency: currency}
	return e
}
