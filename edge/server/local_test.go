package server_test

import (
	"log/slog"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/server"
)

// TestMailboxIsLocal: captured mail has login codes in it. Only somebody at this
// machine may read them.
func TestMailboxIsLocal(t *testing.T) {
	t.Parallel()
	server, err := server.New(server.Config{
		Mailbox: func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("the mails") },
		Log:     slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	request := func(peer, host string, change func(*fasthttp.Request)) int {
		var req fasthttp.Request
		req.SetRequestURI("/dev/mail")
		req.SetHost(host)
		change(&req)
		var ctx fasthttp.RequestCtx
		ctx.Init(&req, &net.TCPAddr{IP: net.ParseIP(peer), Port: 50000}, nil)
		server.Handle(&ctx)
		if ctx.Response.StatusCode() != 200 {
			require.NotContains(t, string(ctx.Response.Body()), "the mails")
		}
		return ctx.Response.StatusCode()
	}
	get := func(peer, host string, headers ...string) int {
		return request(peer, host, func(req *fasthttp.Request) {
			for i := 0; i < len(headers); i += 2 {
				req.Header.Set(headers[i], headers[i+1])
			}
		})
	}
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "localhost", "[::1]:8080", "127.0.0.1", "[::1]"} {
		require.Equal(t, 200, get("127.0.0.1", host), host)
		require.Equal(t, 200, get("::1", host), host)
		require.Equal(t, 404, get("192.0.2.7", host), host)
		require.Equal(t, 404, get("2001:db8::7", host), host)
	}
	for _, host := range []string{"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080", "10.0.0.1", "tickets.example.org:8080"} {
		require.Equal(t, 404, get("127.0.0.1", host), host)
	}
	plain := func(req *fasthttp.Request) { req.Header.SetProtocol("HTTP/1.0") }
	require.Equal(t, 404, request("127.0.0.1", "127.0.0.1:8080", plain), "nginx as it comes: no header of its own, the Host that it was told to dial")
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"} {
		require.Equal(t, 404, get("127.0.0.1", "localhost:8080", header, "for=192.0.2.7"), header)
	}
}
