package server

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/web"
)

// embedPage serves an event for a frame in other sites' pages. It is the only page that may stand in a frame, and
// only on the origins that the organization has listed. An event that the public may not see is answered with 404 and
// the same page, which then says that there is no such event.
func (s *Server) embedPage(page *web.EmbedPage) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		x := exchangeOf(ctx)
		slug, _ := ctx.UserValue("slug").(string)
		e, origins, err := s.cfg.Shop.Embed(s.base, decodeUnreserved(slug), x.now)
		var body bytes.Buffer
		if e, err = shownIfFound(e, err); err == nil {
			err = page.Write(&body, &web.Embed{Event: e, German: prefersGerman(ctx), Now: x.now})
		}
		if err != nil {
			s.answerError(ctx, x, err)
			return
		}
		if e == nil {
			ctx.SetStatusCode(fasthttp.StatusNotFound)
		}
		h := &ctx.Response.Header
		// The policy is set before setSecurityHeaders runs, which would otherwise forbid all frames.
		h.SetCanonical(headerPolicy, []byte(web.EmbedPolicy(origins)))
		h.Set(fasthttp.HeaderVary, fasthttp.HeaderAcceptLanguage)
		h.SetCanonical(headerCacheControl, []byte("no-cache"))
		ctx.SetContentType("text/html; charset=utf-8")
		ctx.SetBody(body.Bytes())
	}
}
