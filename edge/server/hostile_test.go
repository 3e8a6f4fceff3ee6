package server_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
)

// listener is a TCP port of this machine.
func listener(t testing.TB) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return ln
}

// listen serves the table on a TCP port of this machine.
func listen(t testing.TB, cfg server.Config) (*server.Server, net.Addr) {
	t.Helper()
	ln := listener(t)
	cfg.Ops, cfg.Authenticate = table(), authenticate
	return edgetest.Start(t, cfg, ln), ln.Addr()
}

func dial(t testing.TB, addr net.Addr) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr.String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return c
}

func send(t testing.TB, c net.Conn, raw string) {
	t.Helper()
	_, err := io.WriteString(c, raw)
	require.NoError(t, err)
}

// exchange sends raw bytes and returns all that comes back.
func exchange(t testing.TB, addr net.Addr, raw string) string {
	c := dial(t, addr)
	_, _ = io.WriteString(c, raw) // the server may have hung up
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	text, _ := io.ReadAll(c) // a reset after the answer is as good as an end
	return string(text)
}

// answer is the head of one response.
type answer struct {
	status int
	closes bool
	id     string
}

// answers reads all responses of a connection.
func answers(t testing.TB, raw io.Reader) []answer {
	t.Helper()
	var all []answer
	r := bufio.NewReader(raw)
	for {
		if _, err := r.Peek(1); err == io.EOF {
			return all
		}
		all = append(all, one(t, r))
	}
}

// one reads one response.
func one(t testing.TB, r *bufio.Reader) answer {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Close, res.Header.Get("X-Request-Id")}
}

// TestSmuggling sends requests whose end can be read in two ways, each with a
// second request hidden behind one of them. The hidden one must not be served.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	_, addr := listen(t, server.Config{})
	const hidden = "GET /api/v1/hand HTTP/1.1\r\nHost: x\r\n\r\n"
	post := func(headers, body string) string {
		return "POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	multipart := "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n"
	for name, raw := range map[string]string{
		"length and chunked":      post(fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", 5+len(hidden)), "0\r\n\r\n"+hidden),
		"chunked and length":      post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"+hidden),
		"length and valid chunks": post("Content-Length: 12\r\nTransfer-Encoding: chunked\r\n", "c\r\n{\"text\":\"x\"}\r\n0\r\n\r\n"+hidden),
		"identity and valid body": post("Content-Length: 12\r\nTransfer-Encoding: identity\r\n", "{\"text\":\"x\"}"+hidden),
		"identity alone":          post("Transfer-Encoding: identity\r\n", hidden),
		"two lengths":             post(fmt.Sprintf("Content-Length: 2\r\nContent-Length: %d\r\n", 2+len(hidden)), "{}"+hidden),
		"a list of lengths":       post("Content-Length: 2, 2\r\n", "{}"+hidden),
		"a signed length":         post("Content-Length: +2\r\n", "{}"+hidden),
		"a negative length":       post("Content-Length: -1\r\n", "{}"+hidden),
		"an overflowing length":   post("Content-Length: 99999999999999999999\r\n", "{}"+hidden),
		"chunked twice":           post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+hidden),
		"chunked, identity":       post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"+hidden),
		"identity":                post("Transfer-Encoding: identity\r\nContent-Length: 2\r\n", "{}"+hidden),
		"unknown coding":          post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"+hidden),
		"space before colon":      post("Transfer-Encoding : chunked\r\nContent-Length: 2\r\n", "{}"+hidden),
		"folded header":           post("X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "{}"+hidden),
		"vertical tab":            post("Transfer-Encoding: \vchunked\r\nContent-Length: 2\r\n", "{}"+hidden),
		"chunked on HTTP/1.0":     "POST /api/v1/echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"bare LF":                 "POST /api/v1/echo HTTP/1.1\nHost: x\nContent-Length: 2\nTransfer-Encoding: chunked\n\n0\r\n\r\n" + hidden,
		"one bare LF":             post("X-A: b\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"+hidden),
		"header behind a bare LF": post("X-A: b\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+hidden),
		"folded coding":           post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"+hidden),
		"bare CR":                 post("X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n", "{}"+hidden),
		"chunk size with sign":    post("Transfer-Encoding: chunked\r\n", "+0\r\n\r\n"+hidden),
		"chunk size overflow":     post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n\r\n"+hidden),
		"chunk ends in LF":        post("Transfer-Encoding: chunked\r\n", "2\n{}\n0\n\n"+hidden),
		"no end of chunks":        post("Transfer-Encoding: chunked\r\n", "2\r\n{}X\r\n0\r\n\r\n"+hidden),
		"two hosts":               "GET /nowhere HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + hidden,
		"no version":              "GET /nowhere\r\n\r\n" + hidden,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := answers(t, strings.NewReader(exchange(t, addr, raw)))
			require.Len(t, all, 1)
			require.Equal(t, 400, all[0].status)
			require.True(t, all[0].closes, "the connection is closed")
			require.NotEmpty(t, all[0].id)
		})
	}
	// These have one reading; the request behind them is a request.
	for name, raw := range map[string]string{
		"padded multipart": "POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n" +
			fmt.Sprintf("Content-Length: %d\r\n\r\n", len(multipart)+3936+len(hidden)) + multipart + strings.Repeat("A", 3936) + hidden,
		"unknown version":  "GET /nowhere HTTP/9.9\r\nHost: x\r\n\r\n" + hidden,
		"body of a GET":    fmt.Sprintf("GET /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(hidden)) + hidden,
		"chunks of a GET":  "GET /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden),
		"body of a HEAD":   fmt.Sprintf("DELETE /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(hidden)) + hidden,
		"chunk extensions": post("Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x;a=b\r\n%s\r\n0\r\n\r\n", len(hidden), hidden)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := answers(t, strings.NewReader(exchange(t, addr, raw+"DELETE /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n")))
			for _, res := range all {
				require.NotEqual(t, 200, res.status, "the hidden request was served")
			}
			if len(all) == 2 {
				require.Equal(t, 405, all[1].status)
			}
		})
	}
}

// TestUnreadableRequests sends what the server can't read as a request. The answer is an error like any other, with the
// headers of a rate limit.
func TestUnreadableRequests(t *testing.T) {
	t.Parallel()
	_, addr := listen(t, server.Config{Limits: buckets.New(1, nil)})
	for name, test := range map[string]struct {
		raw    string
		status int
	}{
		"large headers":     {"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 9000) + "\r\n\r\n", 431},
		"long path":         {"GET /" + strings.Repeat("a", 9000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		"nonsense":          {"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400},
		"large body":        {"POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 131073\r\n\r\n", 413},
		"large chunks":      {"POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n", 413},
		"large, asks first": {"POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", 413},
		"half a body":       {"POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := strings.TrimPrefix(exchange(t, addr, test.raw), "HTTP/1.1 100 Continue\r\n\r\n")
			head, body, ok := strings.Cut(raw, "\r\n\r\n")
			require.True(t, ok, "%q", raw)
			res := one(t, bufio.NewReader(strings.NewReader(raw)))
			require.Equal(t, test.status, res.status, head)
			require.True(t, res.closes)
			require.Contains(t, head, "X-Ratelimit-Remaining: ")
			edgetest.Response{Status: res.status, Header: http.Header{"X-Request-Id": {res.id}}, Body: []byte(body)}.Failure(t)
		})
	}
}

func TestPipelining(t *testing.T) {
	t.Parallel()
	_, addr := listen(t, server.Config{})
	request := fmt.Sprintf("POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(orderBody), orderBody)
	all := answers(t, strings.NewReader(exchange(t, addr, strings.Repeat(request, 5))))
	require.Len(t, all, 5)
	ids := map[string]bool{}
	for _, res := range all {
		require.Equal(t, 201, res.status)
		ids[res.id] = true
	}
	require.Len(t, ids, 5)
}

// TestHeaderOfTheServersOwn sends the header by which the server notes the length of an upload, with all that an answer
// tells. It is not believed: a body of another operation keeps its length and its limit.
func TestHeaderOfTheServersOwn(t *testing.T) {
	t.Parallel()
	_, addr := listen(t, server.Config{})
	request := func(header string) string {
		return fmt.Sprintf("POST /api/v1/orders HTTP/1.1\r\nHost: x\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", header, len(orderBody), orderBody)
	}
	id := answers(t, strings.NewReader(exchange(t, addr, request(""))))[0].id
	prefix := id[:strings.LastIndex(id, "-")+1]
	all := answers(t, strings.NewReader(exchange(t, addr, strings.Repeat(request("X-Boxoffice-Held: "+prefix+"1000000\r\n"), 2))))
	require.Len(t, all, 2)
	for _, res := range all {
		require.Equal(t, 201, res.status)
	}
}

// TestSlowClients holds many connections with half a request. Others are served
// meanwhile, memory stays within a small sum per connection, and after the read
// timeout the slow ones are gone.
func TestSlowClients(t *testing.T) {
	const slow = 2000
	server, addr := listen(t, server.Config{Limits: buckets.New(1, nil)})
	before := memory()
	conns := make([]net.Conn, slow)
	for i := range conns {
		conns[i] = dial(t, addr)
		send(t, conns[i], "POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	}
	require.Eventually(t, func() bool { return server.OpenConnections() == slow }, time.Minute, 10*time.Millisecond) // kernel queues give no signal
	require.Contains(t, exchange(t, addr, "GET /api/v1/hand HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "HTTP/1.1 200")
	require.Positive(t, server.OpenConnections(), "others are served while the slow hold their connections")
	grown := (memory() - before) / slow
	t.Logf("%d bytes for each slow connection, its client's end included", grown)
	require.Less(t, grown, 40<<10)
	for _, c := range conns {
		text, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Contains(t, string(text), "HTTP/1.1 408")
		require.Contains(t, string(text), "X-Ratelimit-Remaining: ")
	}
	require.Eventually(t, func() bool { return server.OpenConnections() == 0 }, time.Minute, 10*time.Millisecond)
}

// TestAnnouncedBodiesShareABudget announces bodies that never come.
func TestAnnouncedBodiesShareABudget(t *testing.T) {
	t.Parallel()
	server, addr := listen(t, server.Config{})
	server.SetBodyBudget(3 * 100_000)
	const announce = "POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n"
	for range 3 {
		c := dial(t, addr)
		send(t, c, announce)
		line, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "100 Continue", "there is room")
	}
	raw := strings.TrimPrefix(exchange(t, addr, announce), "HTTP/1.1 100 Continue\r\n\r\n")
	require.Contains(t, raw, "HTTP/1.1 503")
	require.Contains(t, raw, "OVERLOADED")
	require.Contains(t, raw, "Retry-After")
	small := fmt.Sprintf("POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(orderBody), orderBody)
	require.Contains(t, exchange(t, addr, small), "HTTP/1.1 201", "small bodies need no budget")
}

// TestLargeBodyIsToldSo sends all of a body that is too large before it reads.
func TestLargeBodyIsToldSo(t *testing.T) {
	t.Parallel()
	_, addr := listen(t, server.Config{})
	const size = 4 << 20
	head := fmt.Sprintf("POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
	for range 10 {
		c := dial(t, addr)
		send(t, c, head)
		send(t, c, strings.Repeat(" ", size)) // a reset would end this
		raw, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Contains(t, string(raw), "HTTP/1.1 413")
		require.Contains(t, string(raw), "PAYLOAD_TOO_LARGE")
	}
}

// memory is what Go's heap and stacks hold.
func memory() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	const request = "GET /api/v1/hand HTTP/1.1\r\nHost: x\r\n\r\n"
	served := func(c net.Conn) int {
		send(t, c, request)
		return one(t, bufio.NewReader(c)).status
	}
	for name, cfg := range map[string]server.Config{"of one address": {MaxPerAddress: 3}, "in total": {MaxConnections: 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, addr := listen(t, cfg)
			var conns []net.Conn
			for range 3 {
				conns = append(conns, dial(t, addr))
				require.Equal(t, 200, served(conns[len(conns)-1]))
			}
			raw, _ := io.ReadAll(dial(t, addr))
			require.Contains(t, string(raw), "HTTP/1.1 503")
			require.Contains(t, string(raw), "OVERLOADED")
			require.Contains(t, string(raw), "Retry-After")
			require.Equal(t, 200, served(conns[0]), "those that are in stay in")
			require.NoError(t, conns[1].Close())
			require.Eventually(t, func() bool { return server.OpenConnections() == 2 }, time.Minute, time.Millisecond)
			require.Equal(t, 200, served(dial(t, addr)))
		})
	}
}

// FuzzRequest sends any request past the connection: it is answered, in an
// envelope, and never with a 500.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/api/v1/orders", "application/json", []byte(orderBody))
	f.Add("GET", "/api/v1/events?limit=5&status=draft", "", []byte(nil))
	f.Add("PATCH", "/api/v1/organizer/events/1", "application/json", []byte(`{"title":null,"price":1.005,"tags":["a","b","c"],"position":-1}`))
	f.Add("POST", "/api/v1/orders/%2f/pay?token=1", "text/plain", []byte("x"))
	f.Add("TRACE", "//api/../x", "", []byte("\xff"))
	server, err := server.New(server.Config{Ops: table(), Authenticate: authenticate, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, method, uri, contentType string, body []byte) {
		if strings.Contains(uri, "/fail/") {
			return // fails on purpose
		}
		var ctx fasthttp.RequestCtx
		var req fasthttp.Request
		req.Header.SetMethod(method)
		req.Header.SetRequestURI(uri)
		req.Header.SetContentType(contentType)
		req.Header.Set("Authorization", "Bearer ada")
		req.SetBody(body)
		ctx.Init(&req, nil, nil)
		server.Handle(&ctx)
		status := ctx.Response.StatusCode()
		require.Less(t, status, 500, "%s", ctx.Response.Body())
		if status >= 400 {
			edgetest.Response{Status: status, Header: http.Header{"X-Request-Id": {string(ctx.Response.Header.Peek("X-Request-Id"))}}, Body: ctx.Response.Body()}.Failure(t)
		}
	})
}
