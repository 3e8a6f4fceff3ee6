package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/web"
	"boxoffice/engine"
)

// OrderPage returns what the page of an order shows, beginning with ticket number from (counted
// from 0), in the first of languages that we have, as in Accept-Language. It refuses as getOrder does.
type OrderPage func(ctx context.Context, id, token string, from int, languages string, now time.Time) (*web.Order, error)

// orderPage serves the page of an order. The token is in the query, so the page works without a
// script. It does not leak: no page that it links to learns the address (Referrer-Policy), and
// addresses are not logged.
func (s *Server) orderPage(page *web.OrderPage) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		x := exchangeOf(ctx)
		if err := s.countUnrouted(ctx, x); err != nil {
			s.answerError(ctx, x, err)
			return
		}
		o, err := s.orderOf(ctx, x)
		status := fasthttp.StatusOK
		if r, ok := errors.AsType[*engine.Refusal](err); ok && (r.Code == engine.OrderNotFound || r.Code == engine.Unauthorized) {
			o, status, err = &web.Order{German: prefersGerman(ctx)}, fasthttp.StatusNotFound, nil
		}
		s.showPrivate(ctx, status, web.Policy, err, func(w io.Writer) error { return page.Write(w, o) })
	}
}

// showPrivate writes a page that is for its reader alone, under a policy of what it may load and where its
// forms go: nothing keeps it, and no search engine lists it. If what it shows could not be read, err is
// answered instead.
func (s *Server) showPrivate(ctx *fasthttp.RequestCtx, status int, policy string, err error, write func(io.Writer) error) {
	var body bytes.Buffer
	if err == nil {
		err = write(&body)
	}
	if err != nil {
		s.answerError(ctx, exchangeOf(ctx), err)
		return
	}
	ctx.SetStatusCode(status)
	h := &ctx.Response.Header
	h.SetCanonical(headerCacheControl, noStore)
	h.SetCanonical(headerPolicy, []byte(policy))
	h.Set(fasthttp.HeaderVary, fasthttp.HeaderAcceptLanguage)
	h.Set("X-Robots-Tag", "noindex")
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBody(body.Bytes())
}

// codeOf is the code of an answer that refuses.
func codeOf(body []byte) string {
	code, _ := refusalIn(body)
	return code
}

// reasonOf is why an answer refuses: the reason that its details name, else its code.
func reasonOf(body []byte) string {
	code, reason := refusalIn(body)
	return cmp.Or(reason, code)
}

// refusalIn reads an error's envelope; what is none has neither code nor reason.
func refusalIn(body []byte) (code, reason string) {
	var answer struct {
		Error struct {
			Code    string
			Details json.RawMessage
		}
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	var details struct{ Reason string }
	_ = json.Unmarshal(answer.Error.Details, &details) // details of another shape have no reason
	return answer.Error.Code, details.Reason
}

// orderOf returns what the page shows for a request. A request without a token comes from a payer
// whom the provider has led back. Nothing is looked up for it, so it does not reveal which orders
// exist.
func (s *Server) orderOf(ctx *fasthttp.RequestCtx, x *exchange) (*web.Order, error) {
	query := ctx.QueryArgs()
	token := string(query.Peek("token"))
	if token == "" {
		return &web.Order{Returned: true, German: prefersGerman(ctx)}, nil
	}
	id, _ := ctx.UserValue("id").(string)
	id = decodeUnreserved(id)
	from, _ := strconv.Atoi(string(query.Peek("from"))) // 0 if it is not a number
	return s.cfg.OrderPage(s.base, id, token, from, languagesOf(ctx), x.now)
}
