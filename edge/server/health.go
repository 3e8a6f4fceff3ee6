package server

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"boxoffice/engine"
)

// registerOwn adds paths that are not operations: health, metrics, keys, captured mail and the demo. On this
// listener only programs on this machine can read the metrics; a scraper on another machine uses the listener
// that the node opens for metrics alone.
func (s *Server) registerOwn() {
	s.read("/healthz", func(ctx *fasthttp.RequestCtx) {
		s.writeAnswer(ctx, fasthttp.StatusOK, []byte(`{"data":{"status":"ok"}}`))
	})
	s.read("/readyz", s.readyz)
	s.read("/metrics", s.serveLocally(fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{}))))
	if s.cfg.KeySet != nil {
		s.read("/.well-known/jwks.json", s.countPage(s.keySet))
	}
	if s.cfg.Mailbox != nil {
		s.read("/dev/mail", s.serveLocally(s.cfg.Mailbox))
		s.read("/dev/mail/{name}", s.serveLocally(s.cfg.Mailbox))
	}
	if s.cfg.Rush != nil {
		s.read("/dev/rush", s.serveLocally(s.cfg.Rush))
		s.router.POST("/dev/rush/{event}", s.serveLocally(s.cfg.Rush))
	}
}

// read registers a handler for GET and HEAD. fasthttp leaves the body out of an answer to HEAD.
func (s *Server) read(path string, h fasthttp.RequestHandler) {
	s.router.GET(path, h)
	s.router.HEAD(path, h)
}

// serveLocally serves a handler to programs on this machine only; for all others the path does not exist.
// A request that came through a proxy, or for a host name that somebody made point here (DNS
// rebinding), does not count as local.
func (s *Server) serveLocally(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !fromThisMachine(ctx) {
			s.answerStray(ctx, engine.NotFound)
			return
		}
		h(ctx)
	}
}

// fromThisMachine reports whether a program on this machine sent the request to a loopback host, without a
// proxy in between. A proxy that adds no header of its own can be recognized only by its version: it speaks
// HTTP/1.0 to the server behind it, as nginx does by default. So only HTTP/1.1 passes.
func fromThisMachine(ctx *fasthttp.RequestCtx) bool {
	h := &ctx.Request.Header
	return ctx.RemoteIP().IsLoopback() && h.IsHTTP11() && !isProxied(h) && LoopbackHost(string(ctx.Host()))
}

// isProxied reports whether a proxy has left a header in the request.
func isProxied(h *fasthttp.RequestHeader) bool {
	return slices.ContainsFunc([]string{fasthttp.HeaderXForwardedFor, fasthttp.HeaderForwarded, "X-Real-Ip", fasthttp.HeaderVia},
		func(name string) bool { return len(h.Peek(name)) > 0 })
}

// LoopbackHost reports whether a host, with or without a port, is localhost or a loopback address.
func LoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && a.IsLoopback()
}

// readyz tells a load balancer whether it should send requests here: not before the node is ready, and not while
// it drains. A node that is ready may still lack something that only some requests need; the answer lists that
// under "away" and stays 200.
func (s *Server) readyz(ctx *fasthttp.RequestCtx) {
	err := error(nil)
	if s.cfg.Ready != nil {
		err = s.cfg.Ready()
	}
	switch {
	case s.draining.Load():
		s.answerError(ctx, exchangeOf(ctx), &engine.Refusal{Code: engine.Unavailable, Message: "draining"})
	case err != nil:
		s.answerError(ctx, exchangeOf(ctx), &engine.Refusal{Code: engine.Unavailable, Message: err.Error()})
	default:
		s.writeAnswer(ctx, fasthttp.StatusOK, s.printReadiness())
	}
}

// printReadiness writes the body of a good answer of readyz.
func (s *Server) printReadiness() []byte {
	var away []string
	if s.cfg.Lacking != nil {
		away = s.cfg.Lacking()
	}
	if len(away) == 0 {
		return []byte(`{"data":{"status":"ready"}}`)
	}
	list, _ := json.Marshal(away) // strings always encode
	return fmt.Appendf(nil, `{"data":{"status":"ready","away":%s}}`, list)
}
