package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// Answer is the answer to one request. Code is empty if the request was carried out.
type Answer struct {
	Status     int
	Code       string
	RetryAfter time.Duration
	Message    string
}

// These are codes of our own, for failures without an answer from a server.
const (
	CodeTimeout    = "timeout"
	CodeConnection = "connection"
	CodeUnsent     = "not connected" // the request was not sent, so it has surely done nothing
	CodeUnreadable = "unreadable answer"
)

// OK reports whether the request was carried out.
func (a Answer) OK() bool { return a.Code == "" }

// Unsettled reports whether the outcome is open: the request may have been carried out, or may be carried out if it
// is sent again. The caller then repeats it under the same key. Every other answer is definite.
func (a Answer) Unsettled() bool {
	if a.Code == "PROVIDER_NOT_CONFIGURED" { // a 503 that does not pass by waiting
		return false
	}
	return a.Status == 0 || a.Status == 429 || a.Status == 500 || a.Status >= 502 ||
		a.Code == "IDEMPOTENCY_IN_FLIGHT" || a.Code == CodeUnreadable
}

// Err returns nil if the request was carried out.
func (a Answer) Err() error {
	if a.OK() {
		return nil
	}
	return fmt.Errorf("%d %s %s", a.Status, a.Code, a.Message)
}

// API calls the service's API at one host:port, or, for each call, at the one that Pick returns.
type API struct {
	Host string
	Pick func() string // chooses the node of each call; nil: Host
	Told func(*Told)   // is told of every call; nil: nobody is
}

// Told is a call and its answer.
type Told struct {
	Call
	From   netip.Addr
	Host   string
	At     time.Time // when the call was made
	Within time.Duration
	Answer
}

// ParseTarget parses http://host[:port].
func ParseTarget(target string) (API, error) {
	u, err := url.Parse(target)
	if err != nil {
		return API{}, fmt.Errorf("target: %w", err)
	}
	host, err := HostOf(u)
	if err != nil {
		return API{}, fmt.Errorf("target %s: %w", target, err)
	}
	return API{Host: host}, nil
}

// HostOf returns the host:port of an http:// address.
func HostOf(u *url.URL) (string, error) {
	if u.Scheme != "http" || u.Hostname() == "" {
		return "", errors.New("not an http:// address")
	}
	if u.Port() == "" {
		return u.Host + ":80", nil
	}
	return u.Host, nil
}

// Call is one request to the API. Path is below /api/v1.
type Call struct {
	Method, Path string
	Bearer, Key  string
	ContentType  string // empty: application/json
	Body         []byte
}

// Do sends the call from a client address and decodes `data` into out, which
// may be nil.
func (a API) Do(ctx context.Context, from *Source, c Call, out any) Answer {
	host := a.Host
	if a.Pick != nil {
		host = a.Pick()
	}
	return a.At(ctx, host, from, c, out)
}

// At sends a call to a given host:port.
func (a API) At(ctx context.Context, host string, from *Source, c Call, out any) Answer {
	at := time.Now()
	answer := Exchange(ctx, from, &Request{
		Method: c.Method, Host: host, Path: "/api/v1" + c.Path, Bearer: c.Bearer, Key: c.Key,
		ContentType: cmp.Or(c.ContentType, "application/json"), Body: c.Body,
	}, out)
	if a.Told != nil {
		a.Told(&Told{Call: c, From: from.Addr(), Host: host, At: at, Within: time.Since(at), Answer: answer})
	}
	return answer
}

// Insist repeats a call until its answer is settled, or the patience or ctx ends. It waits as long as the server
// asks for, but at most a second. The last answer may still be unsettled. A call that writes needs a Key, so that
// it is carried out only once.
func (a API) Insist(ctx context.Context, from *Source, c Call, patience time.Duration, out any) Answer {
	for deadline := time.Now().Add(patience); ; {
		answer := a.Do(ctx, from, c, out)
		if !answer.Unsettled() || time.Now().After(deadline) || ctx.Err() != nil {
			return answer
		}
		select {
		case <-time.After(min(max(answer.RetryAfter, leastPause), mostPause)):
		case <-ctx.Done():
		}
	}
}

// leastPause and mostPause bound the pauses of Insist.
const (
	leastPause = 100 * time.Millisecond
	mostPause  = time.Second
)

// Exchange sends one request and reads the answer's envelope. A failure without an answer has the status 0 and a
// code of this package, which tells whether the request may have reached the server.
func Exchange(ctx context.Context, from *Source, req *Request, out any) Answer {
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	if err := from.Do(ctx, req, resp); err != nil {
		// The order of the cases matters: a connection that could not be opened in time was not sent either, and
		// counts as that.
		code := CodeConnection
		switch {
		case errors.Is(err, errDial):
			code = CodeUnsent
		case Timeout(err):
			code = CodeTimeout
		}
		return Answer{Code: code, Message: err.Error()}
	}
	a := Answer{Status: resp.StatusCode()}
	if s := resp.Header.Peek("Retry-After"); len(s) > 0 {
		if seconds, err := strconv.Atoi(string(s)); err == nil {
			a.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	if a.Status >= 400 {
		a.Code, a.Message = readFailure(resp.Body())
		return a
	}
	if out == nil {
		return a
	}
	if err := json.Unmarshal(resp.Body(), &struct {
		Data any `json:"data"`
	}{out}); err != nil {
		a.Code, a.Message = CodeUnreadable, err.Error()
	}
	return a
}

// readFailure reads the error envelope. For a body without one it still returns a code.
func readFailure(body []byte) (code, message string) {
	var failure struct {
		Error struct {
			Code    string          `json:"code"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &failure); err != nil || failure.Error.Code == "" {
		return CodeUnreadable, string(body[:min(len(body), 200)])
	}
	message = failure.Error.Message
	if d := failure.Error.Details; len(d) > 0 && !bytes.Equal(d, []byte("null")) {
		message += " " + string(d[:min(len(d), 300)])
	}
	return failure.Error.Code, message
}
