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

// BenchmarkOrder is the way of POST /orders through the edge without the
// connection: routing, the middle, decode, validate, handler, encode.
func BenchmarkOrder(b *testing.B) {
	benchmark(b, "POST", "/api/v1/orders", orderBody, 201)
}

// BenchmarkRefusedOrder has one broken rule.
func BenchmarkRefusedOrder(b *testing.B) {
	benchmark(b, "POST", "/api/v1/orders", `{"items":[],"guestName":"Ada"}`, 400)
}

// BenchmarkRead has no body and an answer that encodes itself.
func BenchmarkRead(b *testing.B) {
	benchmark(b, "GET", "/api/v1/hand", "", 200)
}

func benchmark(b *testing.B, method, path, body string, status int) {
	b.Helper()
	server, err := server.New(server.Config{Ops: table(), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	require.NoError(b, err)
	var ctx fasthttp.RequestCtx
	var req fasthttp.Request
	req.SetRequestURI("http://x" + path)
	req.Header.SetMethod(method)
	if body != "" {
		req.Header.SetContentType("application/json")
		req.Header.Set("Idempotency-Key", "0190b6c1-0000-8000-8000-000000000007")
		req.SetBodyString(body)
	}
	ctx.Init(&req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, nil)
	server.Handle(&ctx)
	require.Equal(b, status, ctx.Response.StatusCode(), string(ctx.Response.Body()))
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		ctx.Response.Reset()
		ctx.ResetUserValues()
		server.Handle(&ctx)
	}
}
