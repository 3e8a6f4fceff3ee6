package server

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"boxoffice/engine"
)

// registerOwn adds paths that are no operations: health, metrics, keys and mail.
// Metrics are read here from this machine alone; others have a listener of their own
// for them.
func (s *Server) registerOwn() {
	s.read("/healthz", func(ctx *fasthttp.RequestCtx) {
		s.answer(ctx, fasthttp.StatusOK, []byte(`{"data":{"status":"ok"}}`))
	})
	s.read("/readyz", s.readyz)
	s.read("/metrics", s.local(fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{}))))
	if s.cfg.KeySet != nil {
		s.read("/.well-known/jwks.json", s.countPage(s.keySet))
	}
	if s.cfg.Mailbox != nil {
		s.read("/dev/mail", s.local(s.cfg.Mailbox))
		s.read("/dev/mail/{name}", s.local(s.cfg.Mailbox))
	}
}

// read registers a handler for GET and HEAD.
func (s *Server) read(path string, h fasthttp.RequestHandler) {
	s.router.GET(path, h)
	s.router.HEAD(path, h)
}

// local serves a handler to programs on this machine only; to others there is
// no such path. A request that came through a proxy, or that was sent to a host
// name that somebody made point here (DNS rebinding), is another's.
func (s *Server) local(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !fromThisMachine(ctx) {
			s.astray(ctx, engine.NotFound)
			return
		}
		h(ctx)
	}
}

// fromThisMachine says whether a program on this machine sent the request to this
// machine by name, without a proxy between. A proxy that adds no header of its own
// speaks HTTP/1.0 to what is behind it, as nginx does unless it is told otherwise.
func fromThisMachine(ctx *fasthttp.RequestCtx) bool {
	h := &ctx.Request.Header
	return ctx.RemoteIP().IsLoopback() && h.IsHTTP11() && !proxied(h) && LoopbackHost(string(ctx.Host()))
}

// proxied says whether a proxy has left its mark on a request.
func proxied(h *fasthttp.RequestHeader) bool {
	return slices.ContainsFunc([]string{fasthttp.HeaderXForwardedFor, fasthttp.HeaderForwarded, "X-Real-Ip", fasthttp.HeaderVia},
		func(name string) bool { return len(h.Peek(name)) > 0 })
}

// LoopbackHost says whether a host, with or without a port, names this machine by itself.
func LoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && a.IsLoopback()
}

// readyz says whether requests should be sent here: not before the node is
// ready, nor once it drains.
func (s *Server) readyz(ctx *fasthttp.RequestCtx) {
	err := error(nil)
	if s.cfg.Ready != nil {
		err = s.cfg.Ready()
	}
	switch {
	case s.draining.Load():
		s.fail(ctx, exchangeOf(ctx), &engine.Refusal{Code: engine.Unavailable, Message: "draining"})
	case err != nil:
		s.fail(ctx, exchangeOf(ctx), &engine.Refusal{Code: engine.Unavailable, Message: err.Error()})
	default:
		s.answer(ctx, fasthttp.StatusOK, []byte(`{"data":{"status":"ready"}}`))
	}
}
