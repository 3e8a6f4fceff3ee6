// Package edgetest holds what tests of the edge share: the check that every
// route table must pass, and a server with its client in memory. Tests only.
package edgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp/fasthttputil"
	"go.uber.org/goleak"

	"boxoffice/edge/route"
	"boxoffice/edge/server"
)

// IgnoreClocks are the goroutines of fasthttp that outlive its servers: a clock
// for the Date header and a sweeper of each worker pool, which ends by itself.
func IgnoreClocks() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	}
}

// Client sends requests to a server of its own through memory.
type Client struct {
	Server *server.Server
	http   *http.Client
}

// NewClient starts a server and stops it when the test ends. Log and Metrics
// may be left out of cfg.
func NewClient(t testing.TB, cfg server.Config) *Client {
	t.Helper()
	ln := fasthttputil.NewInmemoryListener()
	server := Start(t, cfg, ln)
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.Dial() }}
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{Server: server, http: &http.Client{
		Transport:     transport,
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Start serves ln until the test ends.
func Start(t testing.TB, cfg server.Config, ln net.Listener) *server.Server {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	server, err := server.New(cfg)
	require.NoError(t, err)
	server.Start(ln)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
	})
	return server
}

// Response is an answer, read whole.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request. A body that is a string or bytes is sent as it is, nil
// not at all, anything else as JSON. headers are names and values in turn.
func (c *Client) Do(t testing.TB, method, path string, body any, headers ...string) Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://boxoffice"+path, reader(t, body))
	require.NoError(t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return Response{res.StatusCode, res.Header, text}
}

func reader(t testing.TB, body any) io.Reader {
	t.Helper()
	switch b := body.(type) {
	case nil:
		return http.NoBody
	case string:
		return bytes.NewBufferString(b)
	case []byte:
		return bytes.NewReader(b)
	}
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return bytes.NewReader(text)
}

// Data decodes what stands under "data" of a success.
func (r Response) Data(t testing.TB, into any) {
	t.Helper()
	require.Less(t, r.Status, 300, "%s", r.Body)
	var envelope struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(r.Body, &envelope), "%s", r.Body)
	require.NoError(t, json.Unmarshal(envelope.Data, into), "%s", r.Body)
}

// Failure is the error envelope.
type Failure struct {
	Error struct {
		Code    string
		Message string
		Details json.RawMessage
	}
	Meta struct {
		RequestID string `json:"request_id"`
	}
}

// Failure decodes the error envelope and checks what all of them have.
func (r Response) Failure(t testing.TB) Failure {
	t.Helper()
	require.GreaterOrEqual(t, r.Status, 400, "%s", r.Body)
	var f Failure
	require.NoError(t, json.Unmarshal(r.Body, &f), "%s", r.Body)
	require.NotEmpty(t, f.Error.Code)
	require.NotEmpty(t, f.Error.Message)
	require.NotEmpty(t, f.Error.Details, "details is null when there are none")
	require.NotEmpty(t, f.Meta.RequestID)
	require.Equal(t, f.Meta.RequestID, r.Header.Get("X-Request-Id"))
	return f
}

// Issues are the violations told by a VALIDATION_ERROR.
func (r Response) Issues(t testing.TB) []route.Issue {
	t.Helper()
	f := r.Failure(t)
	require.Equal(t, "VALIDATION_ERROR", f.Error.Code)
	var details route.ValidationDetails
	require.NoError(t, json.Unmarshal(f.Error.Details, &details))
	return details.Issues
}
