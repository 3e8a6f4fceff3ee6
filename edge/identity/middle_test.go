package identity

import (
	"crypto/sha256"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/engine"
)

// BenchmarkMiddle is what stands between a request and its handler: the same
// request to the same no-op is served with and without credentials, limits and
// headers, in turn; middle-ns/op is the difference. The goal is 3 microseconds.
func BenchmarkMiddle(b *testing.B) {
	master, err := secrets.New(make([]byte, secrets.KeySize))
	require.NoError(b, err)
	d, err := Open(Deps{Secrets: master, Env: "test", Log: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	defer d.Close()
	key, _, _ := secrets.NewAPIKey("test")
	token := "eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIiwidHlwIjoiYXQrand0In0." + strings.Repeat("A", 300) // as long as one
	grants := []route.Grant{{Org: 1, Scopes: route.AllScopes}}
	warm(b, d, key, &proof{principal: route.Principal{Kinds: route.Key, Key: 1, Grants: grants}, rests: []string{"key/1"}})
	warm(b, d, token, &proof{
		principal: route.Principal{Kinds: route.User | route.Member, User: 1, Grants: grants},
		rests:     []string{"session/0190b6c1-0000-4000-8000-000000000001", "user/1"},
	})

	order := `{"items":[{"ticketTypeId":"0190b6c1-0000-8000-8000-000000000007","quantity":2}],"guestEmail":"ada@example.org"}`
	scan := `{"qrData":"v1.ABCDEFGHIJ.58000000.ABCDEFGHIJKLMNOP","eventId":"17","gateName":"North","deviceId":"gate-1"}`
	for _, c := range []struct{ name, path, body, credential string }{
		{"order/guest", "orders", order, ""},
		{"order/key", "orders", order, key},
		{"scan/key", "scan", scan, key},
		{"scan/token", "scan", scan, token},
	} {
		b.Run(c.name, func(b *testing.B) { measure(b, d, c.path, c.body, c.credential) })
	}
}

// noOrder opens no order: nobody here has a token of one.
func noOrder(string, string) (string, bool) { return "", false }

// warm puts a proof into the cache, as the first request does.
func warm(b *testing.B, d *Handlers, credential string, p *proof) {
	b.Helper()
	p.at = time.Now().Add(time.Hour) // trusted for the whole run
	sum := sha256.Sum256([]byte(credential))
	d.proofs.Set(string(sum[:]), p, 1)
	d.proofs.Wait()
}

func measure(b *testing.B, d *Handlers, path, body, credential string) {
	b.Helper()
	serve := func(op route.Op, cfg server.Config) func() {
		cfg.Ops, cfg.Log, cfg.Metrics = []route.Op{op}, slog.New(slog.DiscardHandler), prometheus.NewRegistry()
		s, err := server.New(cfg)
		require.NoError(b, err)
		ctx, req := new(fasthttp.RequestCtx), new(fasthttp.Request)
		req.SetRequestURI("http://x" + op.Path)
		req.Header.SetMethod(op.Method)
		req.Header.SetContentType("application/json")
		req.SetBodyString(body)
		if credential != "" {
			req.Header.Set("Authorization", "Bearer "+credential)
		}
		ctx.Init(req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, nil)
		s.Handle(ctx)
		require.Equal(b, 204, ctx.Response.StatusCode(), string(ctx.Response.Body()))
		return func() {
			ctx.Response.Reset()
			ctx.ResetUserValues()
			s.Handle(ctx)
		}
	}
	op := route.Op{
		Method: "POST", Path: "/api/v1/" + path, ID: path, Summary: "Do", Tag: "bench", Auth: route.Public,
		Tier: route.TierStrict, Idempotency: route.ByActor, Status: 204, Errors: []engine.Code{}, Handler: nothing[api.PlaceOrder](),
	}
	if path == "scan" {
		op.Handler, op.Tier = nothing[api.ScanTicket](), route.TierCheckin
	}
	bare := serve(op, server.Config{})
	if credential != "" {
		op.Auth, op.Scope = route.Member|route.Key, route.CheckinWrite
	}
	full := serve(op, server.Config{
		Env: "test", Authenticate: d.Authenticate, Limits: buckets.New(1e6, noOrder), Origins: []string{"*"}, HTTPS: true,
	})
	var spent [2]time.Duration
	const block = 100 // requests in turn, so that both see the same machine
	n := 0
	for b.Loop() {
		for i, f := range []func(){bare, full} {
			began := time.Now()
			for range block {
				f()
			}
			spent[i] += time.Since(began)
		}
		n += block
	}
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(n) }
	b.ReportMetric(per(spent[0]), "bare-ns/op")
	b.ReportMetric(per(spent[1]-spent[0]), "middle-ns/op")
	b.ReportMetric(testing.AllocsPerRun(1000, full)-testing.AllocsPerRun(1000, bare), "middle-allocs/op")
	b.ReportMetric(0, "ns/op") // of a block, which says nothing
}

func nothing[In any]() route.Handler {
	return route.Handle(func(*route.Call, *In) (route.None, error) { return route.None{}, nil })
}
