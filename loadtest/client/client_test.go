package client_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"boxoffice/loadtest/client"
)

func TestMain(m *testing.M) {
	// fasthttp leaves these two goroutines behind for a while.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// serve runs a handler on a loopback port until the test ends.
func serve(t *testing.T, handler fasthttp.RequestHandler) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := &fasthttp.Server{Handler: handler}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		require.NoError(t, srv.Shutdown())
		_ = ln.Close() // Shutdown does not know this listener if the server had not begun to serve it
		require.NoError(t, <-done)
	})
	return ln.Addr().String()
}

func network(t *testing.T, cfg client.Config) *client.Network {
	t.Helper()
	n, err := client.NewNetwork(cfg)
	require.NoError(t, err)
	t.Cleanup(n.Close)
	return n
}

func get(t *testing.T, s *client.Source, host, path string) (int, error) {
	t.Helper()
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	err := s.Do(t.Context(), &client.Request{Method: "GET", Host: host, Path: path}, resp)
	return resp.StatusCode(), err
}

func TestRequestsComeFromTheirAddressOverOneConnection(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	conns := map[string]map[uint64]int{}
	host := serve(t, func(ctx *fasthttp.RequestCtx) {
		mu.Lock()
		defer mu.Unlock()
		ip := ctx.RemoteIP().String()
		if conns[ip] == nil {
			conns[ip] = map[uint64]int{}
		}
		conns[ip][ctx.ConnID()]++
	})
	n := network(t, client.Config{Sources: 300})
	for i := range 600 {
		status, err := get(t, n.Source(i), host, "/")
		require.NoError(t, err)
		require.Equal(t, 200, status)
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, conns, 300)
	for ip, of := range conns {
		require.Len(t, of, 1, "keep-alive from %s", ip)
	}
	require.Contains(t, conns, "127.1.1.1")
	require.Contains(t, conns, "127.1.2.46")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	var opened sync.Map
	host := serve(t, func(ctx *fasthttp.RequestCtx) { opened.Store(ctx.ConnID(), true) })
	n := network(t, client.Config{PerIdle: 5})
	count := func() (n int) {
		opened.Range(func(any, any) bool { n++; return true })
		return n
	}
	for range 2 { // the second time finds them open
		require.NoError(t, n.Source(0).Open(t.Context(), &client.Request{Method: "GET", Host: host, Path: "/"}, 5))
		require.Equal(t, 5, count())
	}
	_, err := get(t, n.Source(0), host, "/")
	require.NoError(t, err)
	require.Equal(t, 5, count())

	n.CloseIdle()
	_, err = get(t, n.Source(0), host, "/")
	require.NoError(t, err)
	require.Equal(t, 6, count())
}

func TestTheRequestOnTheWire(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	host := serve(t, func(ctx *fasthttp.RequestCtx) {
		got <- string(ctx.Method()) + " " + string(ctx.RequestURI()) + " " + string(ctx.Request.Header.Peek("Authorization")) +
			" " + string(ctx.Request.Header.Peek("Idempotency-Key")) + " " + string(ctx.Request.Header.ContentType()) +
			" " + string(ctx.PostBody()) + string(ctx.Request.Header.Peek("X-Forwarded-For"))
		ctx.SetStatusCode(201)
		ctx.SetBodyString("answer")
	})
	req := &client.Request{
		Method: "POST", Host: host, Path: "/a?b=c", Bearer: "tok", Key: "k-1",
		ContentType: "application/json", Body: []byte(`{"x":1}`),
	}
	var resp fasthttp.Response
	require.NoError(t, network(t, client.Config{}).Source(0).Do(t.Context(), req, &resp))
	require.Equal(t, `POST /a?b=c Bearer tok k-1 application/json {"x":1}`, <-got)
	require.Equal(t, 201, resp.StatusCode())
	require.Equal(t, "answer", string(resp.Body()))

	require.NoError(t, network(t, client.Config{Remote: true}).Source(3).Do(t.Context(), req, &resp))
	require.Equal(t, `POST /a?b=c Bearer tok k-1 application/json {"x":1}198.18.1.4`, <-got)
}

func TestOnlyLoopback(t *testing.T) {
	t.Parallel()
	n := network(t, client.Config{})
	for _, host := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0:80", "[::1]:80", "169.254.169.254:80"} {
		require.ErrorIs(t, n.Check(t.Context(), host), client.ErrNotLoopback, host)
		_, err := get(t, n.Source(0), host, "/")
		require.ErrorIs(t, err, client.ErrNotLoopback, host)
	}
	for _, host := range []string{"127.0.0.1:80", "127.9.9.9:1", "[::ffff:127.0.0.1]:80"} {
		require.NoError(t, n.Check(t.Context(), host), host)
	}
	require.Error(t, n.Check(t.Context(), "127.0.0.1"), "a host without a port")
	require.NoError(t, network(t, client.Config{Remote: true}).Check(t.Context(), "192.0.2.1:80"))
}

func TestLossAndTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	freed := sync.OnceFunc(func() { close(release) })
	host := serve(t, func(ctx *fasthttp.RequestCtx) {
		switch string(ctx.Path()) {
		case "/cut":
			_ = ctx.Conn().Close()
		case "/hang":
			<-release
		case "/close":
			ctx.SetConnectionClose()
		}
	})
	t.Cleanup(freed)
	n := network(t, client.Config{Timeout: 100 * time.Millisecond})
	_, err := get(t, n.Source(0), host, "/cut")
	require.Error(t, err)
	require.False(t, client.Timeout(err))
	_, err = get(t, n.Source(0), host, "/hang")
	require.True(t, client.Timeout(err), "%v", err)
	freed()
	for _, path := range []string{"/close", "/", "/"} {
		_, err = get(t, n.Source(0), host, path)
		require.NoError(t, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = n.Source(0).Do(ctx, &client.Request{Method: "GET", Host: host, Path: "/"}, &fasthttp.Response{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, err := client.NewNetwork(client.Config{Sources: client.MaxSources + 1})
	require.Error(t, err)
	n := network(t, client.Config{Sources: 254*254 + 1})
	require.Equal(t, "127.1.254.254", n.Source(254*254-1).Addr().String())
	require.Equal(t, "127.2.1.1", n.Source(254*254).Addr().String())
	require.Equal(t, "127.1.1.1", n.Source(n.Sources()).Addr().String())
}
