package server

import (
	"bytes"
	"net/http"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/mcp"
	"boxoffice/edge/route"
)

// agentsRow is the path on which agents reach the rows of the table. It asks for no scope, because
// the row that an agent calls asks for its own, and it speaks the Model Context Protocol instead of
// ours.
var agentsRow = route.Op{
	Method: fasthttp.MethodPost, Path: "/mcp", ID: "mcp", Auth: route.User | route.Key, Tier: route.TierAdmin,
	Status: fasthttp.StatusOK, Idempotency: route.BySender, MaxBody: bodyBytes,
	Handler: route.Handler{Raw: "application/json"}, // counted once the message has been read
}

func (s *Server) registerAgents() {
	s.mountRow(&agentsRow, s.handlerOf(&operation{op: &agentsRow, observers: s.metrics.observersOf(agentsRow.ID), perform: s.answerAgent}))
}

// answerAgent answers a message of the Model Context Protocol.
func (s *Server) answerAgent(ctx *fasthttp.RequestCtx, x *exchange, _ *operation, call *route.Call) error {
	if err := refuseMedia(&ctx.Request.Header); err != nil {
		return err
	}
	header := http.Header{} // only the headers of the protocol, which carry no credentials
	for name, value := range ctx.Request.Header.All() {
		if bytes.HasPrefix(name, []byte("Mcp-")) {
			header.Add(string(name), string(value))
		}
	}
	agents, err := s.cfg.Agents()
	if err != nil {
		return err
	}
	reply, err := agents.Answer(call.Context, &mcp.Caller{
		Principal: call.Principal,
		Now:       call.Now,
		Count:     func() error { return x.count.ByCredential(call) },
		Perform:   func(op *route.Op, r *mcp.Request) *mcp.Answer { return s.performFor(ctx, x, op, r) },
	}, header, call.Body)
	if err != nil {
		return err
	}
	s.writeAnswer(ctx, reply.Status, reply.Body)
	return nil
}

// performFor performs an operation for an agent, or for a page of ours, with the credential and the
// address of the caller's own request ctx. It goes through all of the middle except the router, so no
// text in the tool call can lead to another operation. The call counts against the operation's rate limit, and the answer
// to ctx tells what is left of it.
func (s *Server) performFor(ctx *fasthttp.RequestCtx, x *exchange, op *route.Op, r *mcp.Request) *mcp.Answer {
	req := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(req)
	req.Header.SetMethod(op.Method)
	req.SetRequestURI(r.Path)
	req.URI().SetQueryString(r.Query)
	for _, name := range []string{fasthttp.HeaderAuthorization, fasthttp.HeaderUserAgent, fasthttp.HeaderXForwardedFor} {
		for _, value := range ctx.Request.Header.PeekAll(name) {
			req.Header.AddBytesV(name, value)
		}
	}
	if r.IdempotencyKey != "" {
		req.Header.Set("Idempotency-Key", r.IdempotencyKey)
	}
	if r.Body != nil {
		req.Header.SetContentTypeBytes(jsonType)
		req.SetBodyRaw(r.Body)
	}
	var inner fasthttp.RequestCtx
	inner.Init(req, ctx.RemoteAddr(), quiet{s.log})
	for name, value := range r.Params {
		inner.SetUserValue(name, value)
	}
	s.serveExchange(&inner, s.rows[op.ID])
	x.count = exchangeOf(&inner).count
	h := &inner.Response.Header
	return &mcp.Answer{
		Status:     inner.Response.StatusCode(),
		Body:       inner.Response.Body(),
		RetryAfter: string(h.Peek(fasthttp.HeaderRetryAfter)),
		Replayed:   len(h.PeekBytes(headerReplayed)) > 0,
	}
}
