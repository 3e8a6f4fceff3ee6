package server

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/mcp"
	"boxoffice/edge/route"
	"boxoffice/edge/web"
	"boxoffice/engine"
)

// maxForm bounds the body of the forms that the written pages send, in bytes: joining a waiting room and paying
// by a link. They have a few short fields.
const maxForm = 1 << 10

// registerRoomPage adds the page of a waiting room that needs no script: its form is sent to the same address.
// The page reads and joins through operations of the public API (performFor), so their limits and refusals hold
// for the page too. Without these operations in the table there is no page.
func (s *Server) registerRoomPage(page *web.RoomPage) {
	p := &roomPage{Server: s, page: page, read: s.findOp("getQueue"), join: s.findOp("joinQueue"), confirm: s.findOp("confirmQueue")}
	if p.read == nil || p.join == nil || p.confirm == nil {
		return
	}
	const path = "/e/{slug}/queue/plain"
	s.read(path, s.countPage(lowerSlug(p.show)))
	s.router.POST(path, s.countPage(p.enter))
}

// roomPage serves the page of a waiting room. It performs the operations read, join and confirm.
type roomPage struct {
	*Server
	page                *web.RoomPage
	read, join, confirm *route.Op
}

// show serves the page. The query has the token of a place or of a mailed link. It does not leak, for the
// reasons that the comment of orderPage gives.
func (p *roomPage) show(ctx *fasthttp.RequestCtx) {
	query := ctx.QueryArgs()
	p.showRoom(ctx, &web.Room{
		Ticket: string(query.Peek("ticket")), Receipt: string(query.Peek("receipt")), Invitation: string(query.Peek("join")),
		Mailed: query.Has(web.MailedRoom), Party: query.GetUintOrZero("party"),
	}, fasthttp.StatusOK)
}

// enter joins the room, and redirects the visitor by 303 to the address of their place, so that reloading it
// does not join again. Another site may send this form as well, but gains nothing: the request has no
// credential, and only the visitor's browser reads the address.
func (p *roomPage) enter(ctx *fasthttp.RequestCtx) {
	x := exchangeOf(ctx)
	if size := ctx.Request.Header.ContentLength(); size < 0 || size > maxForm {
		p.answerError(ctx, x, engine.Refuse(engine.PayloadTooLarge, nil))
		return
	}
	e, err := p.eventOf(ctx, x)
	if err != nil || e == nil {
		p.showRoom(ctx, new(web.Room), fasthttp.StatusOK) // showRoom looks the event up again and answers why there is none
		return
	}
	form := ctx.PostArgs()
	invitation := string(form.Peek("join"))
	a, err := p.sendForm(ctx, x, e.ID, form, invitation)
	if err != nil {
		p.answerError(ctx, x, err)
		return
	}
	var joined struct{ Data api.JoinedQueue }
	if a.Status != fasthttp.StatusCreated {
		refused := &web.Room{Refused: reasonOf(a.Body), Invitation: invitation, Party: form.GetUintOrZero("party")}
		if refused.Refused == string(engine.NotFound) { // the link is not valid any more, or never was: the form asks for another
			refused.Invitation = ""
		}
		p.showRoom(ctx, refused, a.Status)
		return
	}
	if err := json.Unmarshal(a.Body, &joined); err != nil {
		p.answerError(ctx, x, err)
		return
	}
	// The room asks for a confirmed e-mail address. There is no place until the visitor follows the mailed link.
	if joined.Data.Pending {
		p.showRoom(ctx, &web.Room{Pending: true}, fasthttp.StatusOK)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusSeeOther)
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderLocation, "/e/"+e.Slug+"/queue/plain?"+url.Values{"ticket": {*joined.Data.Token}, "receipt": {*joined.Data.Receipt}}.Encode())
	h.SetCanonical(headerCacheControl, noStore)
}

// sendForm joins with the fields of the form. If invitation, the token of a mailed link, is set, it confirms
// that link instead. A form without a readable party size leaves the size out.
func (p *roomPage) sendForm(ctx *fasthttp.RequestCtx, x *exchange, event string, form *fasthttp.Args, invitation string) (*mcp.Answer, error) {
	req := &mcp.Request{Params: map[string]string{"id": event}, Path: "/api/v1/public/events/" + event + "/queue", IdempotencyKey: string(form.Peek("key"))}
	op, fields := p.join, map[string]any{}
	if party, err := strconv.Atoi(string(form.Peek("party"))); err == nil {
		fields["party"] = party
	}
	if invitation != "" {
		op, req.Path, fields["token"] = p.confirm, req.Path+"/confirm", invitation
	} else if email := string(form.Peek("email")); email != "" {
		fields["email"] = email
	}
	var err error
	if req.Body, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	return p.performFor(ctx, x, op, req), nil
}

// eventOf returns the event whose room the address names, or nil if the public can see no such event.
func (p *roomPage) eventOf(ctx *fasthttp.RequestCtx, x *exchange) (*api.Event, error) {
	slug, _ := ctx.UserValue("slug").(string)
	e, err := p.cfg.Shop.Event(p.base, decodeUnreserved(slug), x.now)
	if r, ok := errors.AsType[*engine.Refusal](err); ok && (r.Code == engine.EventNotFound || r.Code == engine.Validation) {
		return nil, nil //nolint:nilnil // that there is none is an answer
	}
	return e, err
}

// showRoom writes the page of the room as it is now. r holds what the page says besides the room. An event that
// cannot be found is answered by a page with 404.
func (p *roomPage) showRoom(ctx *fasthttp.RequestCtx, r *web.Room, status int) {
	x := exchangeOf(ctx)
	e, err := p.eventOf(ctx, x)
	if err == nil && e == nil {
		status = fasthttp.StatusNotFound
	}
	if err == nil && e != nil {
		r.Event = e
		err = p.readRoom(ctx, x, r)
	}
	r.German, r.Now, r.Key = prefersGerman(ctx), x.now, uuid.NewString()
	p.showPrivate(ctx, status, web.FormPolicy, err, func(w io.Writer) error { return p.page.Write(w, r) })
}

// readRoom reads the room and the visitor's place into r. If the visitor's token belongs to no place, the page
// says that (r.Lost) and shows the room as it is for somebody who has not joined.
func (p *roomPage) readRoom(ctx *fasthttp.RequestCtx, x *exchange, r *web.Room) error {
	req := &mcp.Request{Params: map[string]string{"id": r.Event.ID}, Path: "/api/v1/public/events/" + r.Event.ID + "/queue"}
	if r.Ticket != "" && !r.Mailed {
		req.Query = url.Values{"ticket": {r.Ticket}}.Encode()
	}
	a := p.performFor(ctx, x, p.read, req)
	if a.Status != fasthttp.StatusOK && req.Query != "" {
		if code := reasonOf(a.Body); code == string(engine.NotFound) || code == string(engine.Validation) {
			r.Ticket, r.Lost, req.Query = "", true, ""
			a = p.performFor(ctx, x, p.read, req)
		}
	}
	if a.Status != fasthttp.StatusOK {
		return engine.Refuse(engine.Code(reasonOf(a.Body)), nil)
	}
	var answer struct{ Data *api.Queue }
	err := json.Unmarshal(a.Body, &answer)
	r.Queue = answer.Data
	return err
}
