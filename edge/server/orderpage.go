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

// OrderPage returns what the page of an order shows, beginning with ticket number from (counted from 0), in the
// first language that we have of an Accept-Language header (languages). It refuses as getOrder does.
type OrderPage func(ctx context.Context, id, token string, from int, languages string, now time.Time) (*web.Order, error)

// orderPage serves the page of an order. The token is in the query, so the page works without a script. The token
// does not leak: no page that this one links to learns the address (Referrer-Policy), and addresses are not logged.
// An order that does not exist and a wrong token look the same, so the page does not reveal which orders exist.
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

// showPrivate writes a page that is for its reader alone. Caches do not store it, search engines do not list it,
// and policy (a Content-Security-Policy) bounds what it loads and where its forms go. err is why the page's
// content could not be read; it is answered instead of the page.
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

// codeOf returns the error code of an answer, or "" if the answer is not an error.
func codeOf(body []byte) string {
	code, _ := refusalIn(body)
	return code
}

// reasonOf returns why an answer refuses: the reason that its details name, or its code if they name none.
func reasonOf(body []byte) string {
	code, reason := refusalIn(body)
	return cmp.Or(reason, code)
}

// refusalIn reads an error's envelope. It returns empty strings for an answer that is not one.
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

// orderOf returns what the page shows for a request. A request without a token is taken for one of a payer whom the
// provider has led back. Nothing is looked up for such a request, so the page does not reveal which orders exist.
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
