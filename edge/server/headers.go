package server

import (
	"bytes"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// These are names and values of headers of answers. Browsers may call the API from any origin that the node is
// told to allow. That is safe because credentials are bearer tokens, which no browser sends by
// itself: another site has nothing to misuse.
var (
	headerRequestID    = []byte("X-Request-Id")
	headerReplayed     = []byte("Idempotency-Replayed")
	headerNoSniff      = []byte(fasthttp.HeaderXContentTypeOptions)
	headerCacheControl = []byte(fasthttp.HeaderCacheControl)
	headerReferrer     = []byte("Referrer-Policy")
	headerPolicy       = []byte("Content-Security-Policy")
	headerTransport    = []byte("Strict-Transport-Security")
	headerFrame        = []byte("X-Frame-Options")
	headerOrigin       = []byte("Access-Control-Allow-Origin")
	headerExpose       = []byte("Access-Control-Expose-Headers")

	noSniff    = []byte("nosniff")
	noStore    = []byte("no-store")
	noReferrer = []byte("no-referrer")
	noContent  = []byte("default-src 'none'; frame-ancestors 'none'")
	noFrame    = []byte("DENY")
	framed     = []byte("frame-ancestors http") // part of a policy that names who may frame the page
	twoYears   = []byte("max-age=63072000; includeSubDomains")
	anyOrigin  = []byte("*")
	exposed    = []byte(strings.Join(ExposedHeaders, ", "))
	jsonType   = []byte("application/json")
)

// ExposedHeaders are the headers of our answers that scripts of other origins may read, in addition to those
// that any script may read (Fetch, "CORS-safelisted response-header name"). AllowedHeaders are the headers that
// such scripts may send. All headers that our documents ask clients to read or to send are among them.
var (
	ExposedHeaders = []string{
		"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "ETag", "Idempotency-Replayed",
		"Date", "Link", "Location", "Deprecation", "Sunset", "WWW-Authenticate",
		"Content-Disposition", "Content-Range", "Accept-Ranges", "MCP-Protocol-Version",
	}
	AllowedHeaders = []string{
		"Authorization", "Content-Type", "Idempotency-Key", "X-Queue-Admission", "If-None-Match", "If-Modified-Since", "If-Range", "Range", "Last-Event-ID", "MCP-Protocol-Version",
	}
)

// setSecurityHeaders sets the headers that protect browsers. A page that needs a weaker policy has set one
// before. It also tells a browser whether a script of the request's origin may read the answer.
func (s *Server) setSecurityHeaders(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	h.SetCanonical(headerNoSniff, noSniff)
	h.SetCanonical(headerReferrer, noReferrer)
	policy := h.PeekBytes(headerPolicy)
	if !bytes.Contains(policy, framed) { // X-Frame-Options can name no origins
		h.SetCanonical(headerFrame, noFrame)
	}
	if len(policy) == 0 {
		h.SetCanonical(headerPolicy, noContent)
	}
	if s.cfg.HTTPS {
		h.SetCanonical(headerTransport, twoYears)
	}
	// A script of another site can read only answers to requests with an Origin header.
	origin := ctx.Request.Header.Peek(fasthttp.HeaderOrigin)
	if len(origin) == 0 {
		return
	}
	switch {
	case slices.Contains(s.cfg.Origins, "*"):
		h.SetCanonical(headerOrigin, anyOrigin)
	// The answer names one origin, so a cache must not give it to a page of another.
	case slices.Contains(s.cfg.Origins, string(origin)):
		h.SetCanonical(headerOrigin, origin)
		h.Add(fasthttp.HeaderVary, fasthttp.HeaderOrigin)
	default:
		return
	}
	h.SetCanonical(headerExpose, exposed)
}

// answerPreflight answers a browser that asks which cross-origin requests it may send (OPTIONS). It names no origin:
// setSecurityHeaders does that for every answer. Browsers remember the answer for a day (86,400 seconds) at most.
func answerPreflight(ctx *fasthttp.RequestCtx) {
	ctx.SetStatusCode(fasthttp.StatusNoContent)
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE")
	h.Set(fasthttp.HeaderAccessControlAllowHeaders, strings.Join(AllowedHeaders, ", "))
	h.Set(fasthttp.HeaderAccessControlMaxAge, "86400")
}
