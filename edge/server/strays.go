package server

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/mail"
	"boxoffice/edge/web"
	"boxoffice/engine"
)

// answerStray answers a request that no operation and no page matches. If the address is a page's with slashes at its
// end, it redirects to the page. It counts the request first, so that nobody can try out addresses without limit.
func (s *Server) answerStray(ctx *fasthttp.RequestCtx, code engine.Code) {
	x := exchangeOf(ctx)
	err := s.countUnrouted(ctx, x)
	if err == nil && code == engine.NotFound && s.trouble != nil && isForPages(ctx) {
		if to := s.findWithoutSlash(ctx); to != "" {
			redirectTo(ctx, to)
			return
		}
	}
	if err == nil {
		err = engine.Refuse(code, nil)
	}
	s.answerError(ctx, x, err)
}

// isForPages reports whether a request reads an address that people open in a browser: every address except the
// addresses of the API, of agents and of uploaded files.
func isForPages(ctx *fasthttp.RequestCtx) bool {
	if !ctx.IsGet() && !ctx.IsHead() {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(rawPath(ctx), "/"), "/")
	return first != "api" && first != "mcp" && first != "media"
}

// wantsPage reports whether a person's browser sends the request, to an address that people open.
func wantsPage(ctx *fasthttp.RequestCtx) bool {
	return isForPages(ctx) && bytes.Contains(ctx.Request.Header.Peek(fasthttp.HeaderAccept), []byte("text/html"))
}

// showTrouble answers a person with a page that says what is wrong. If there is a Retry-After header, the page
// says it too.
func (s *Server) showTrouble(ctx *fasthttp.RequestCtx, x *exchange, status int) {
	wait, _ := strconv.Atoi(string(ctx.Response.Header.Peek(fasthttp.HeaderRetryAfter))) // 0 if there is none
	var body bytes.Buffer
	err := s.trouble.Write(&body, &web.Trouble{Status: status, Wait: wait, Request: x.id, German: prefersGerman(ctx)})
	if err != nil {
		s.log.LogAttrs(s.base, slog.LevelError, "page of an error cannot be written", x.logAttrs(slog.Any("error", err))...)
	}
	ctx.SetStatusCode(status)
	h := &ctx.Response.Header
	h.SetCanonical(headerPolicy, []byte(web.Policy))
	h.SetCanonical(headerCacheControl, noStore)
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBody(body.Bytes())
}

// prefersGerman reports whether a person's browser asks for German before any other language that we have.
func prefersGerman(ctx *fasthttp.RequestCtx) bool {
	l, _ := mail.ReadLanguage(languagesOf(ctx))
	return l == mail.German
}

// rawPath returns the path as it was sent, still encoded and without the query.
func rawPath(ctx *fasthttp.RequestCtx) string {
	path, _, _ := bytes.Cut(ctx.RequestURI(), []byte("?"))
	return string(path)
}

// findWithoutSlash returns the address of the page that the request names with slashes at its end, or "" if
// there is no such page. It returns "" for a path that begins with two slashes, because a browser would take
// what follows for a host.
func (s *Server) findWithoutSlash(ctx *fasthttp.RequestCtx) string {
	path := rawPath(ctx)
	page := strings.TrimRight(path, "/")
	if page == path || page == "" || strings.HasPrefix(page, "//") {
		return ""
	}
	if handler, _ := s.router.Lookup(string(ctx.Method()), page, nil); handler == nil {
		return ""
	}
	return page
}

// lowerSlug redirects a request whose slug has capitals to the same page in lower case, the form in which we
// write addresses. People type capitals, and each page should have one address.
func lowerSlug(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		slug, _ := ctx.UserValue("slug").(string)
		if lower := strings.ToLower(slug); lower != slug {
			redirectTo(ctx, strings.Replace(rawPath(ctx), "/"+slug, "/"+lower, 1))
			return
		}
		h(ctx)
	}
}

// redirectTo redirects to another path of this server, and keeps the query. The redirect is permanent (308), so
// browsers remember it.
func redirectTo(ctx *fasthttp.RequestCtx, path string) {
	if query := ctx.URI().QueryString(); len(query) > 0 {
		path += "?" + string(query)
	}
	ctx.SetStatusCode(fasthttp.StatusPermanentRedirect)
	ctx.Response.Header.Set(fasthttp.HeaderLocation, path)
}
