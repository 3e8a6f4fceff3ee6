package edge

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"boxoffice/engine"
)

// registerOwn adds the paths that are no operations: health, metrics and the
// document.
func (s *Server) registerOwn() {
	s.read("/healthz", func(ctx *fasthttp.RequestCtx) {
		s.answer(ctx, fasthttp.StatusOK, []byte(`{"data":{"status":"ok"}}`))
	})
	s.read("/readyz", s.readyz)
	s.read("/metrics", fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{})))
	if s.cfg.Document != nil {
		s.read("/api/v1/openapi.json", serveDocument(s.cfg.Document))
	}
}

// read registers a handler for GET and HEAD.
func (s *Server) read(path string, h fasthttp.RequestHandler) {
	s.router.GET(path, h)
	s.router.HEAD(path, h)
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

// serveDocument answers with the OpenAPI document, or 304 to those that have it.
func serveDocument(doc []byte) fasthttp.RequestHandler {
	sum := sha256.Sum256(doc)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return func(ctx *fasthttp.RequestCtx) {
		ctx.Response.Header.Set(fasthttp.HeaderETag, tag)
		ctx.Response.Header.Set(fasthttp.HeaderCacheControl, "public, max-age=60")
		if string(ctx.Request.Header.Peek(fasthttp.HeaderIfNoneMatch)) == tag {
			ctx.SetStatusCode(fasthttp.StatusNotModified)
			return
		}
		ctx.SetContentType("application/json")
		ctx.SetBody(doc)
	}
}
