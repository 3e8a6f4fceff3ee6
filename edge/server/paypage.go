package server

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/mcp"
	"boxoffice/edge/route"
	"boxoffice/edge/web"
	"boxoffice/engine"
)

// registerPayPage adds the page of payment links. The page needs no script: its form is sent to the same
// address. It reads and pays through operations of the public API (performFor), so their limits and refusals
// hold for the page too. Without these operations in the table there is no page.
func (s *Server) registerPayPage(page *web.PayPage) {
	p := &payPage{Server: s, page: page, read: s.findOp("getPaymentLink"), pay: s.findOp("payByLink"), verify: s.findOp("verifyByLink")}
	if p.read == nil || p.pay == nil || p.verify == nil {
		return
	}
	const path = "/pay/{token}"
	s.read(path, s.countPage(p.show))
	s.router.POST(path, s.countPage(p.begin))
}

// findOp returns the operation with an id, or nil.
func (s *Server) findOp(id string) *route.Op {
	i := slices.IndexFunc(s.cfg.Ops, func(o route.Op) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return &s.cfg.Ops[i]
}

// payPage serves the page of payment links. read, pay and verify are the operations that it performs.
type payPage struct {
	*Server
	page              *web.PayPage
	read, pay, verify *route.Op
}

// show serves the page. The token in the path does not leak, for the reasons that the comment of orderPage gives.
func (p *payPage) show(ctx *fasthttp.RequestCtx) {
	p.showOrder(ctx, &web.Pay{Token: tokenOf(ctx)}, fasthttp.StatusOK)
}

// begin opens an attempt to pay. After a success it redirects to the page by 303, so that reloading the page
// does not send the form again. The page then has the link to the provider. Another site may send this form as
// well, but gains nothing: the request has no credential except the token, which that site would have to know.
func (p *payPage) begin(ctx *fasthttp.RequestCtx) {
	x := exchangeOf(ctx)
	if size := ctx.Request.Header.ContentLength(); size < 0 || size > maxForm {
		p.answerError(ctx, x, engine.Refuse(engine.PayloadTooLarge, nil))
		return
	}
	token, form := tokenOf(ctx), ctx.PostArgs()
	body, err := json.Marshal(map[string]string{"provider": string(form.Peek("provider")), "email": string(form.Peek("email"))})
	if err != nil {
		p.answerError(ctx, x, err)
		return
	}
	// The form has a key that the server drew when it wrote the page, so a form that is sent twice opens one attempt.
	a := p.performFor(ctx, x, p.pay, &mcp.Request{
		Params: map[string]string{"token": token}, Path: "/api/v1/payment-links/" + token + "/pay", IdempotencyKey: string(form.Peek("key")), Body: body,
	})
	if a.Status != fasthttp.StatusOK {
		p.showOrder(ctx, &web.Pay{Token: token, Refused: codeOf(a.Body)}, a.Status)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusSeeOther)
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderLocation, "/pay/"+token)
	h.SetCanonical(headerCacheControl, noStore)
}

// tokenOf returns the token of a payment link, percent-encoded as in the links that we write, so that it can
// stand in a path.
func tokenOf(ctx *fasthttp.RequestCtx) string {
	token, _ := ctx.UserValue("token").(string)
	return url.PathEscape(decodeUnreserved(token))
}

// showOrder writes the page of the order as it is now. v holds what the page says besides the order, such as why
// the payment was refused. An order that cannot be found is answered by a page with 404, and any other refusal
// as an error.
func (p *payPage) showOrder(ctx *fasthttp.RequestCtx, v *web.Pay, status int) {
	x := exchangeOf(ctx)
	a := p.readOrder(ctx, x, v.Token)
	var err error
	switch code := codeOf(a.Body); {
	case a.Status == fasthttp.StatusOK:
		v.Order, err = orderIn(a)
	case code == string(engine.OrderNotFound) || code == string(engine.Validation):
		status, v.Refused = fasthttp.StatusNotFound, ""
	default:
		err = engine.Refuse(engine.Code(code), nil)
	}
	// Key is the Idempotency-Key of the form on this page.
	v.German, v.Key = prefersGerman(ctx), uuid.NewString()
	p.showPrivate(ctx, status, web.FormPolicy, err, func(w io.Writer) error { return p.page.Write(w, v) })
}

// readOrder reads the order. If a payer has begun to pay it, readOrder asks the providers how far the payment is,
// because the payer may have just come back from one of them. If they don't answer, the page shows what is known.
func (p *payPage) readOrder(ctx *fasthttp.RequestCtx, x *exchange, token string) *mcp.Answer {
	params, path := map[string]string{"token": token}, "/api/v1/payment-links/"+token
	a := p.performFor(ctx, x, p.read, &mcp.Request{Params: params, Path: path})
	if a.Status != fasthttp.StatusOK {
		return a
	}
	if o, err := orderIn(a); err != nil || len(o.Payments) == 0 {
		return a
	}
	asked := p.performFor(ctx, x, p.verify, &mcp.Request{Params: params, Path: path + "/verify", Body: []byte("{}")})
	if asked.Status == fasthttp.StatusOK {
		return asked
	}
	return a
}

// orderIn decodes the order in the data of a good answer.
func orderIn(a *mcp.Answer) (*api.LinkedOrder, error) {
	var answer struct{ Data *api.LinkedOrder }
	err := json.Unmarshal(a.Body, &answer)
	return answer.Data, err
}
