package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/route"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/edge/web"
	"boxoffice/engine"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, edgetest.IgnoreClocks()...)
}

func newClient(t testing.TB) *edgetest.Client {
	return edgetest.NewClient(t, server.Config{Ops: table(), Authenticate: authenticate})
}

func TestTable(t *testing.T) {
	t.Parallel()
	edgetest.CheckTable(t, table())
}

func TestSuccess(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	res := c.Do(t, "POST", "/api/v1/orders", orderBody, "Content-Type", "application/json; charset=UTF-8")
	require.Equal(t, 201, res.Status, "%s", res.Body)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	require.Empty(t, res.Header.Get("Server"))
	var got struct{ Total, Status string }
	res.Data(t, &got)
	require.Equal(t, "25.00", got.Total)

	other := c.Do(t, "POST", "/api/v1/orders", orderBody)
	require.NotEqual(t, res.Header.Get("X-Request-Id"), other.Header.Get("X-Request-Id"))
	require.NotEmpty(t, other.Header.Get("X-Request-Id"))

	require.JSONEq(t, `{"data":{"by":"hand"}}`, string(c.Do(t, "GET", "/api/v1/hand", nil).Body))
	require.Equal(t, "public, max-age=1", c.Do(t, "GET", "/api/v1/events", nil).Header.Get("Cache-Control"))
}

func TestRouting(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, test := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/nowhere", 404, "NOT_FOUND"},
		{"GET", "/api/v1/orders", 405, "METHOD_NOT_ALLOWED"},
		{"PUT", "/api/v1/events", 405, "METHOD_NOT_ALLOWED"},
		{"TRACE", "/api/v1/events", 405, "METHOD_NOT_ALLOWED"},
		{"TRACE", "/nowhere", 404, "NOT_FOUND"},
		{"BREW", "/api/v1/events", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "/api/v1/events/", 404, "NOT_FOUND"},
		{"GET", "//api/v1/events", 404, "NOT_FOUND"},
		{"GET", "/api/v1/EVENTS", 404, "NOT_FOUND"},
		{"GET", "/api/v1/x/../events", 404, "NOT_FOUND"},
		{"GET", "/api/v1/%65vents", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/a%2Fb/pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/%2e%2E/pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/a%00/pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/ä/pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/a;b/pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/../pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders/" + strings.Repeat("a", 129) + "/pay", 404, "NOT_FOUND"},
		{"POST", "/api/v1/orders//pay", 404, "NOT_FOUND"},
	} {
		res := c.Do(t, test.method, test.path, nil)
		require.Equal(t, test.status, res.Status, "%s %s", test.method, test.path)
		require.Equal(t, test.code, res.Failure(t).Error.Code)
	}
	require.Contains(t, c.Do(t, "PUT", "/api/v1/events", nil).Header.Get("Allow"), "GET")

	res := c.Do(t, "POST", "/api/v1/orders/Az_9.-/pay", nil)
	var got struct{ Path string }
	res.Data(t, &got)
	require.Equal(t, "Az_9.-", got.Path)

	head := c.Do(t, "HEAD", "/api/v1/events", nil)
	require.Equal(t, 200, head.Status)
	require.Empty(t, head.Body)
	require.NotEmpty(t, head.Header.Get("Content-Length"))
	options := c.Do(t, "OPTIONS", "/api/v1/events", nil)
	require.Equal(t, 204, options.Status)
	require.Contains(t, options.Header.Get("Allow"), "GET")
}

func TestBodies(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for name, test := range map[string]struct {
		body   any
		kind   string
		status int
		code   string
	}{
		"missing":         {nil, "", 400, "VALIDATION_ERROR"},
		"text":            {orderBody, "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"form":            {"a=b", "application/x-www-form-urlencoded", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"json-like":       {orderBody, "application/jsonp", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"other charset":   {orderBody, "application/json; charset=latin1", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"no type":         {orderBody, "", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"case":            {orderBody, "Application/JSON;charset=\"UTF-8\"", 201, ""},
		"illegal":         {`{"items":`, "application/json", 400, "VALIDATION_ERROR"},
		"wrong types":     {`{"items":{"a":1}}`, "application/json", 400, "VALIDATION_ERROR"},
		"deep":            {strings.Repeat("[", 100_000), "application/json", 400, "VALIDATION_ERROR"},
		"negative":        {strings.Replace(orderBody, ":2,", ":-2,", 1), "application/json", 400, "VALIDATION_ERROR"},
		"overflow":        {strings.Replace(orderBody, ":2,", ":99999999999999999999,", 1), "application/json", 400, "VALIDATION_ERROR"},
		"float":           {strings.Replace(orderBody, ":2,", ":2.5,", 1), "application/json", 400, "VALIDATION_ERROR"},
		"duplicate":       {strings.Replace(orderBody, ":2,", `:2,"quantity":3,`, 1), "application/json", 400, "VALIDATION_ERROR"},
		"invalid UTF-8":   {strings.Replace(orderBody, "EARLY", "\xff", 1), "application/json", 400, "VALIDATION_ERROR"},
		"NUL":             {strings.Replace(orderBody, "EARLY", `\u0000`, 1), "application/json", 400, "VALIDATION_ERROR"},
		"too large by 1":  {strings.Repeat(" ", route.DefaultBody+1), "application/json", 413, "PAYLOAD_TOO_LARGE"},
		"as large as can": {orderBody + strings.Repeat(" ", route.DefaultBody-len(orderBody)), "application/json", 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := c.Do(t, "POST", "/api/v1/orders", test.body, "Content-Type", test.kind)
			require.Equal(t, test.status, res.Status, "%s", res.Body)
			if test.code != "" {
				require.Equal(t, test.code, res.Failure(t).Error.Code)
			}
		})
	}
	res := c.Do(t, "POST", "/api/v1/orders", `{"items":[{"quantity":0}],"promoCode":`+`"`+strings.Repeat("x", 51)+`"}`)
	require.Equal(t, []route.Issue{
		{Path: "items[0].quantity", Code: "minimum", Message: "must be at least 1"},
		{Path: "items[0].ticketTypeId", Code: "required", Message: "is required"},
		{Path: "promoCode", Code: "max_length", Message: "must have at most 50 characters"},
	}, res.Issues(t))
	big := func(n int) string { return `{"text":"x"}` + strings.Repeat(" ", n-12) }
	require.Equal(t, 200, c.Do(t, "POST", "/api/v1/import/1", big(1<<20)).Status)
	require.Equal(t, 413, c.Do(t, "POST", "/api/v1/import/1", big(1<<20+1)).Status)
	require.Equal(t, 413, c.Do(t, "POST", "/api/v1/echo", `{"text":"`+strings.Repeat("x", 2000)+`"}`).Status)
	require.Equal(t, 415, c.Do(t, "POST", "/api/v1/echo", `{"text":"x"}`, "Content-Encoding", "gzip").Status)
}

func TestParameters(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	require.Equal(t, 200, c.Do(t, "GET", "/api/v1/events?limit=5&status=draft,on_sale&unknown=", nil).Status)
	for _, query := range []string{"unknown=1", "limit=0", "limit=x", "limit=1&limit=2", "status=gone", "cursor=%ff", "cursor=%00", "limit=99999999999999999999"} {
		res := c.Do(t, "GET", "/api/v1/events?"+query, nil)
		require.Len(t, res.Issues(t), 1, query)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, test := range []struct {
		method, path, header string
		status               int
		principal            string
	}{
		{"GET", "/api/v1/orders/1", "", 401, ""},
		{"GET", "/api/v1/orders/1", "Bearer ada", 200, "ada"},
		{"GET", "/api/v1/orders/1", "bearer  ada", 200, "ada"},
		{"GET", "/api/v1/orders/1", "Bearer eve", 401, ""},
		{"GET", "/api/v1/orders/1", "Bearer", 401, ""},
		{"GET", "/api/v1/orders/1", "Basic ada", 401, ""},
		{"GET", "/api/v1/orders/1?token=t1", "", 200, "t1"},
		{"GET", "/api/v1/orders/1?token=t1", "Bearer eve", 401, ""},
		{"POST", "/api/v1/orders/1/pay", "", 200, ""},
		{"POST", "/api/v1/orders/1/pay", "Bearer eve", 401, ""},
		{"POST", "/api/v1/orders/1/pay?token=t1", "", 200, ""},
		{"PATCH", "/api/v1/organizer/events/1?token=t1", "", 401, ""},
		{"GET", "/api/v1/hand", "Bearer eve", 200, ""},
	} {
		res := c.Do(t, test.method, test.path, nil, "Authorization", test.header)
		require.Equal(t, test.status, res.Status, "%v", test)
		if res.Status == 401 {
			require.Equal(t, "UNAUTHORIZED", res.Failure(t).Error.Code)
			require.Equal(t, "Bearer", res.Header.Get("WWW-Authenticate"))
		}
		if test.principal != "" {
			var got seen
			res.Data(t, &got)
			require.Equal(t, test.principal, got.Principal)
			require.True(t, got.HasDeadline)
		}
	}
	// Credentials of a kind that the operation does not take.
	wrong := edgetest.NewClient(t, server.Config{Ops: table(), Authenticate: func(context.Context, route.Credentials) (route.Principal, error) {
		return route.Principal{Kinds: route.OrderToken}, nil
	}})
	require.Equal(t, 403, wrong.Do(t, "PATCH", "/api/v1/organizer/events/1", `{}`, "Authorization", "Bearer x").Status)
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	var got seen
	c.Do(t, "POST", "/api/v1/orders/1/pay", `abc`, "Idempotency-Key", "0190B6C1-0000-8000-8000-000000000007").Data(t, &got)
	require.Equal(t, "0190b6c1-0000-8000-8000-000000000007", got.Key)
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", got.Hash)
	res := c.Do(t, "POST", "/api/v1/orders/1/pay", nil, "Idempotency-Key", "mine")
	require.Equal(t, 400, res.Status)
	require.Equal(t, "Idempotency-Key", res.Issues(t)[0].Path)
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	c := edgetest.NewClient(t, server.Config{
		Ops: table(), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
	})
	for forwarded, want := range map[string]string{
		"":                                    "127.0.0.1",
		"203.0.113.9":                         "203.0.113.9",
		"6.6.6.6, 203.0.113.9":                "203.0.113.9",
		"6.6.6.6,203.0.113.9, 10.1.2.3":       "203.0.113.9",
		"10.1.2.3":                            "10.1.2.3",
		"junk, 203.0.113.9":                   "203.0.113.9",
		"203.0.113.9, junk":                   "127.0.0.1",
		"203.0.113.9, junk, 10.1.2.3":         "10.1.2.3",
		"203.0.113.9,":                        "127.0.0.1",
		"203.0.113.9:4711":                    "203.0.113.9",
		"[2001:db8::1]:4711, fd00::1":         "2001:db8::1",
		"2001:db8::1%eth0":                    "2001:db8::1",
		"::ffff:203.0.113.9, ::ffff:10.0.0.1": "203.0.113.9",
	} {
		var got seen
		c.Do(t, "POST", "/api/v1/orders/1/pay", nil, "X-Forwarded-For", forwarded).Data(t, &got)
		require.Equal(t, want, got.Client, forwarded)
	}
	var got seen
	newClient(t).Do(t, "POST", "/api/v1/orders/1/pay", nil, "X-Forwarded-For", "203.0.113.9").Data(t, &got)
	require.Equal(t, "127.0.0.1", got.Client, "nobody is trusted unless configured")
}

// lockedBuffer is a log that handlers write while a test reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestFailures(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	metrics := prometheus.NewRegistry()
	c := edgetest.NewClient(t, server.Config{Ops: table(), Log: slog.New(slog.NewJSONHandler(&log, nil)), Metrics: metrics})
	for id, want := range map[string]struct {
		status  int
		code    string
		details string
		retry   string
	}{
		"soldout":  {409, "TICKET_SOLD_OUT", `{"available":1,"requested":2}`, "^$"},
		"deadline": {503, "UNAVAILABLE", `null`, "^[123]$"},
		"nil":      {500, "INTERNAL", `null`, "^$"},
		"unknown":  {500, "INTERNAL", `null`, "^$"},
		"details":  {409, "CONFLICT", `null`, "^$"},
		"inflight": {409, "IDEMPOTENCY_IN_FLIGHT", `null`, "^1$"},
		"limited":  {429, "RATE_LIMITED", `null`, "^[123]$"},
		"provider": {503, "PROVIDER_NOT_CONFIGURED", `null`, "^$"},
		"panic":    {500, "INTERNAL", `null`, "^$"},
		"other":    {500, "INTERNAL", `null`, "^$"},
	} {
		res := c.Do(t, "DELETE", "/api/v1/fail/"+id, nil)
		f := res.Failure(t)
		require.Equal(t, want.status, res.Status, id)
		require.Equal(t, want.code, f.Error.Code, id)
		require.Equal(t, want.details, string(f.Error.Details), id)
		require.Regexp(t, want.retry, res.Header.Get("Retry-After"), id)
		require.Empty(t, res.Header.Get("X-Not-Sent"))
		require.NotContains(t, string(res.Body), "secret")
		require.NotContains(t, string(res.Body), "panic")
		if id == "other" || id == "panic" {
			require.Contains(t, log.String(), f.Meta.RequestID)
		}
	}
	require.Contains(t, log.String(), "a secret detail")
	require.Contains(t, log.String(), "sample_test.go", "the panic's stack")

	scrape := httptest.NewRecorder() // the in-memory network is not this machine's loopback
	promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}).ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := scrape.Body.String()
	for _, line := range []string{
		`boxoffice_http_panics_total 1`,
		`boxoffice_http_errors_total{code="INTERNAL"} 4`,
		`boxoffice_http_errors_total{code="TICKET_SOLD_OUT"} 1`,
		`boxoffice_http_responses_total{class="5xx",operation="fail"} 6`,
		`boxoffice_http_responses_total{class="4xx",operation="fail"} 4`,
		`boxoffice_http_request_seconds_count{operation="fail"} 10`,
		`boxoffice_http_in_flight 0`,
	} {
		require.Contains(t, text, line+"\n")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	state := errors.New("the journal is away")
	set := func(err error) { mu.Lock(); state = err; mu.Unlock() }
	var away []string
	c := edgetest.NewClient(t, server.Config{
		Ops: table(), Ready: func() error { mu.Lock(); defer mu.Unlock(); return state },
		Lacking: func() []string { mu.Lock(); defer mu.Unlock(); return away },
	})
	require.Equal(t, 200, c.Do(t, "GET", "/healthz", nil).Status)
	res := c.Do(t, "GET", "/readyz", nil)
	require.Equal(t, 503, res.Status)
	require.Equal(t, "the journal is away", res.Failure(t).Error.Message)
	set(nil)
	require.JSONEq(t, `{"data":{"status":"ready"}}`, string(c.Do(t, "GET", "/readyz", nil).Body))
	mu.Lock()
	away = []string{"shard 1 of the journal"}
	mu.Unlock()
	res = c.Do(t, "GET", "/readyz", nil)
	require.Equal(t, 200, res.Status, "the rest is ready")
	require.JSONEq(t, `{"data":{"status":"ready","away":["shard 1 of the journal"]}}`, string(res.Body))
	c.Server.Drain()
	require.Equal(t, 503, c.Do(t, "GET", "/readyz", nil).Status)
	require.Equal(t, 200, c.Do(t, "GET", "/healthz", nil).Status)
	require.Equal(t, 200, c.Do(t, "GET", "/api/v1/events", nil).Status, "a draining node still serves")
}

func TestStopWaitsForRequests(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	ops := []route.Op{{
		Method: "GET", Path: "/api/v1/slow", ID: "slow", Summary: "Wait", Tag: "tests", Auth: route.Public,
		Tier: route.TierPublic, Status: 200, Errors: []engine.Code{}, Timeout: time.Minute,
		Handler: route.Handle(func(*route.Call, *route.None) (string, error) { close(started); <-release; return "done", nil }),
	}}
	ln := listener(t)
	server, err := server.New(server.Config{Ops: ops, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	require.NoError(t, err)
	server.Start(ln)
	answer := make(chan string)
	go func() { answer <- exchange(t, ln.Addr(), "GET /api/v1/slow HTTP/1.1\r\nHost: x\r\n\r\n") }()
	<-started
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(t.Context()) }()
	require.Eventually(t, func() bool { // the listener's end has no signal
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, time.Minute, 5*time.Millisecond)
	require.Empty(t, stopped, "stopped under a running request")
	close(release)
	require.Contains(t, <-answer, `{"data":"done"}`)
	require.NoError(t, <-stopped)
}

func TestStopCancelsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	ops := []route.Op{{
		Method: "GET", Path: "/api/v1/stuck", ID: "stuck", Summary: "Wait", Tag: "tests", Auth: route.Public,
		Tier: route.TierPublic, Status: 200, Errors: []engine.Code{}, Timeout: time.Minute,
		Handler: route.Handle(func(c *route.Call, _ *route.None) (string, error) {
			close(started)
			<-c.Context.Done()
			return "", c.Context.Err()
		}),
	}}
	ln := listener(t)
	server, err := server.New(server.Config{Ops: ops, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	require.NoError(t, err)
	server.Start(ln)
	conn := dial(t, ln.Addr())
	send(t, conn, "GET /api/v1/stuck HTTP/1.1\r\nHost: x\r\n\r\n")
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, server.Stop(ctx), context.DeadlineExceeded)
}

func TestNewRefusesATableThatDoesNotFit(t *testing.T) {
	t.Parallel()
	_, err := server.New(server.Config{
		Ops: []route.Op{{Method: "GET", Path: "/api/v1/orders/{order}", ID: "getOrder", Handler: route.Handle(look)}},
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	require.ErrorContains(t, err, "the path has [order], the request binds [id]")
}

// TestBuffersAreNotReused keeps every request and looks at all of them after
// the connection's buffers have served others.
func TestBuffersAreNotReused(t *testing.T) {
	t.Parallel()
	type in struct {
		ID    string   `path:"id" format:"id" maxLength:"128"`
		Query string   `query:"q" maxLength:"50"`
		Agent string   `header:"X-Agent" maxLength:"50"`
		Text  string   `json:"text" maxLength:"50"`
		List  []string `json:"list" maxItems:"3" maxLength:"50"`
	}
	type kept struct {
		in    *in
		id    string
		key   string
		token string
	}
	var all []kept
	ops := []route.Op{{
		Method: "POST", Path: "/api/v1/keep/{id}", ID: "keep", Summary: "Keep", Tag: "tests", Auth: route.User,
		Tier: route.TierStrict, Idempotency: route.ByActor, Status: 204, Errors: []engine.Code{},
		Handler: route.Handle(func(c *route.Call, i *in) (route.None, error) {
			all = append(all, kept{i, c.RequestID, c.IdempotencyKey, c.Principal.Email})
			return route.None{}, nil
		}),
	}}
	c := edgetest.NewClient(t, server.Config{Ops: ops, Authenticate: func(_ context.Context, c route.Credentials) (route.Principal, error) {
		return route.Principal{Kinds: route.User, User: 1, Email: c.Bearer}, nil
	}})
	const n = 26
	name := func(i int) string { return strings.Repeat(string(rune('a'+i)), 20) }
	keyOf := func(i int) string {
		return strings.Repeat(string("0123456789abcdef"[i%16]), 8) + "-0000-4000-8000-000000000000"
	}
	for i := range n {
		s := name(i)
		res := c.Do(t, "POST", "/api/v1/keep/"+s+"?q="+s, `{"text":"`+s+`","list":["`+s+`"]}`, "X-Agent", s, "Authorization", "Bearer "+s, "Idempotency-Key", keyOf(i))
		require.Equal(t, 204, res.Status, "%s", res.Body)
	}
	require.Len(t, all, n)
	for i, k := range all {
		s := name(i)
		require.Equal(t, &in{ID: s, Query: s, Agent: s, Text: s, List: []string{s}}, k.in)
		require.Equal(t, s, k.token)
		require.Equal(t, keyOf(i), k.key)
		require.True(t, strings.HasPrefix(k.id, "req_"))
	}
}

// A person whose page can't be shown reads why, in a page of ours. Programs get the envelope.
func TestPeopleReadTrouble(t *testing.T) {
	t.Parallel()
	c := edgetest.NewClient(t, server.Config{
		Ops: table(), Authenticate: authenticate, Limits: buckets.New(1, func(id, _ string) (string, bool) { return id, false }),
		OrderPage: func(context.Context, string, string, int, string, time.Time) (*web.Order, error) {
			return nil, errors.New("broken")
		},
	})
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	res := c.Do(t, "GET", "/orders/ord_1?token=x", nil, "Accept", browser)
	require.Equal(t, 500, res.Status)
	require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Equal(t, web.Policy, res.Header.Get("Content-Security-Policy"))
	require.Contains(t, string(res.Body), res.Header.Get("X-Request-Id"))
	require.Contains(t, string(res.Body), "Something went wrong here")
	require.Contains(t, string(c.Do(t, "GET", "/orders/ord_1?token=x", nil, "Accept", browser, "Accept-Language", "de-AT,en").Body), `lang="de"`)
	res = c.Do(t, "GET", "/orders/ord_1?token=x", nil)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))

	for res.Status != 429 {
		res = c.Do(t, "GET", "/nowhere", nil, "Accept", browser)
	}
	require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	require.Contains(t, string(res.Body), `data-seconds="`+res.Header.Get("Retry-After")+`"`)
	res = c.Do(t, "GET", "/nowhere", nil)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"), "%s", res.Body)
	res = c.Do(t, "GET", "/api/v1/nowhere", nil, "Accept", browser)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"), "the API's addresses are programs'")
}
