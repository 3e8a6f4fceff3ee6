package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
	"unicode"

	"code.dny.dev/ssrf"

	"boxoffice/persistence/deliveries"
)

const (
	attemptTime = 10 * time.Second // most time from the look-up of the host to the answer's headers
	answerTime  = time.Second      // most time for reading the answer's body, after its headers have come
	headerMax   = 16 << 10         // most bytes of the answer's headers
	answerMax   = 64 << 10         // most bytes of the answer's body that are read
	errorMax    = 1 << 10          // most bytes of the body that are stored if the answer is not 2xx
	takenMax    = 128              // most bytes of the body that are stored if it is 2xx, as most are: each is kept for a month
)

// The outcomes of an attempt, for metrics.
const (
	outcomeSucceeded  = "succeeded"
	outcomeStatus     = "status"     // an answer that is not 2xx
	outcomeTimeout    = "timeout"    // no answer in time
	outcomeConnection = "connection" // no answer for any other reason: nothing was sent, or the connection failed
	outcomeProhibited = "prohibited" // the target is no public address
)

var outcomes = []string{outcomeSucceeded, outcomeStatus, outcomeTimeout, outcomeConnection, outcomeProhibited}

// answer is the result of one POST, also of one that got no HTTP answer.
type answer struct {
	outcome string
	status  int    // the HTTP status; 0: no answer
	err     string // what failed, in words for the endpoint's owner; "" if the endpoint accepted the fact
	text    string // the beginning of the answer's body, made printable
	// latency is the time until the headers of the answer, or until the failure.
	latency time.Duration
}

// newTransport makes the transport that sends to targets. It uses no proxy, because a proxy would look up the
// host itself, and t.control would check only the proxy's address. It speaks HTTP/1.1 only, so that each
// attempt in progress has its own connection. Like every http.Transport it follows no redirects, which
// could lead to an address that is not allowed.
func newTransport(t *Targets, roots *x509.CertPool, resolver *net.Resolver) *http.Transport {
	dialer := &net.Dialer{Timeout: attemptTime, Control: t.control, Resolver: resolver}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    attemptTime,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headerMax,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
	}
}

// Forward sends a fact of the pull feed to a developer's own machine in the way that a Deliverer
// sends it to an endpoint. body is the fact in the form of the feed. Any address is allowed. outcome
// describes the answer and begins with its status if there was one.
func Forward(ctx context.Context, rt http.RoundTripper, url, secret string, a *deliveries.Attempt, body []byte) (taken bool, outcome string) {
	got := postOnce(ctx, rt, url, headersOf(a, secret, time.Now(), body), body)
	if got.outcome == outcomeSucceeded {
		return true, fmt.Sprintf("HTTP %d", got.status)
	}
	return false, got.err
}

// postOnce makes one attempt and describes its result. It returns no error, because a failure is an outcome
// too. The caller must ignore the result if ctx itself has ended, because then we broke off the attempt.
func postOnce(ctx context.Context, rt http.RoundTripper, url string, headers http.Header, body []byte) answer {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{outcome: outcomeConnection, err: "the address is not valid"}
	}
	req.Header = headers
	resp, err := rt.RoundTrip(req)
	a := answer{latency: time.Since(began)}
	if err != nil {
		a.outcome, a.err = describeFailure(err)
		return a
	}
	// From here the endpoint has answered. Its status decides, however the body ends.
	defer func() { _ = resp.Body.Close() }()
	a.outcome, a.status = outcomeStatus, resp.StatusCode
	// An endpoint that sends its body slowly may not hold the connection for the rest of
	// attemptTime.
	late := time.AfterFunc(answerTime, cancel)
	defer late.Stop()
	got, _ := io.ReadAll(io.LimitReader(resp.Body, answerMax)) // read to its end if possible, so that the connection can be reused
	a.text = makePrintable(got, errorMax)
	switch {
	case a.status >= 200 && a.status < 300:
		a.outcome, a.text = outcomeSucceeded, makePrintable(got, takenMax)
	case a.status >= 300 && a.status < 400:
		a.err = fmt.Sprintf("HTTP %d: redirects are not followed", a.status)
	default:
		a.err = fmt.Sprintf("HTTP %d", a.status)
		if a.text != "" {
			a.err += ": " + a.text
		}
	}
	return a
}

// describeFailure describes an error in words that tell the endpoint's owner what to do. Only a certificate's
// error is quoted, because the text of another may reveal addresses of our own network.
func describeFailure(err error) (outcome, text string) {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork), errors.Is(err, ssrf.ErrInvalidHostPort):
		return outcomeProhibited, "the host has no public address"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return outcomeTimeout, fmt.Sprintf("no answer within %d seconds", int(attemptTime.Seconds()))
	case errors.As(err, &dns):
		return outcomeConnection, "the host name cannot be resolved"
	case errors.As(err, &certificate):
		return outcomeConnection, "TLS: " + makePrintable([]byte(certificate.Err.Error()), errorMax)
	case errors.Is(err, syscall.ECONNREFUSED):
		return outcomeConnection, "the connection was refused"
	}
	return outcomeConnection, "the connection failed before there was an answer"
}

// makePrintable returns the beginning of a text that somebody else wrote: at most most
// bytes of it, valid UTF-8, on one line and without control characters, so that it is safe
// to store and to show.
func makePrintable(text []byte, most int) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text[:min(len(text), most)]), ""))
	return strings.Join(strings.Fields(s), " ")
}
