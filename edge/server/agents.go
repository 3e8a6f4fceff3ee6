package server

import (
	"bytes"
	"net/http"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/mcp"
	"boxoffice/edge/route"
)

// agentsRow is the row under which agents send their messages. It asks for no scope, because the row that a
// message calls asks for its own.
var agentsRow = route.Op{
	Method: fasthttp.MethodPost, Path: "/mcp", ID: "mcp", Auth: route.User | route.Key, Tier: route.TierAdmin,
	Status: fasthttp.StatusOK, Idempotency: route.BySender, MaxBody: bodyBytes,
	Handler: route.Handler{Raw: "application/json"}, // a raw handler: answerAgent counts the request itself
}

// registerAgents mounts the path of agents by hand instead of with registerRow: agentsRow stands in no table, so
// no agent can call it as an operation, and its handler is answerAgent.
func (s *Server) registerAgents() {
	s.mountRow(&agentsRow, s.handlerOf(&operation{op: &agentsRow, observers: s.metrics.observersOf(agentsRow.ID), perform: s.answerAgent}))
}

// answerAgent answers one message of the Model Context Protocol. The protocol has its own form for errors, so a
// tool call that was refused is still a good answer here; an error that answerAgent returns is one of HTTP itself
// and goes out in our envelope.
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
	// The agents' server is made at the first message and not before, because its tools are made from the whole
	// route table. So each message asks for it.
	agents, err := s.cfg.Agents()
	if err != nil {
		return err
	}
	reply, err := agents.Answer(call.Context, &mcp.Caller{
		Principal: call.Principal,
		Now:       call.Now,
		// Only a message that performs no operation counts here. One that performs an operation is counted as
		// that operation, in performFor.
		Count:   func() error { return x.count.ByCredential(call) },
		Perform: func(op *route.Op, r *mcp.Request) *mcp.Answer { return s.performFor(ctx, x, op, r) },
	}, header, call.Body)
	if err != nil {
		return err
	}
	s.writeAnswer(ctx, reply.Status, reply.Body)
	return nil
}

// performFor performs an operation for an agent, or for a page of ours, with the credential and the address of
// the caller's own request ctx. The request passes every step of serveOperation, but the handler is found by the
// operation's id and not by the path, so no text in a tool call can lead to another operation. The call counts
// against the operation's own rate limit, and the answer to ctx tells what is left of it.
func (s *Server) performFor(ctx *fasthttp.RequestCtx, x *exchange, op *route.Op, r *mcp.Request) *mcp.Answer {
	req := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(req)
	req.Header.SetMethod(op.Method)
	req.SetRequestURI(r.Path)
	req.URI().SetQueryString(r.Query)
	// These are the only headers that the inner request takes over. X-Forwarded-For is among them because the
	// client's address is worked out once more, from the same peer.
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
	// The router fills in the parameters of a path elsewhere; here the caller has them already.
	inner.Init(req, ctx.RemoteAddr(), quiet{s.log})
	for name, value := range r.Params {
		inner.SetUserValue(name, value)
	}
	s.serveExchange(&inner, s.rows[op.ID])
	// The outer exchange takes the inner one's count over, so that endExchange writes the operation's X-RateLimit
	// headers to the answer that really goes out.
	x.count = exchangeOf(&inner).count
	h := &inner.Response.Header
	return &mcp.Answer{
		Status:     inner.Response.StatusCode(),
		Body:       inner.Response.Body(),
		RetryAfter: string(h.Peek(fasthttp.HeaderRetryAfter)),
		Replayed:   len(h.PeekBytes(headerReplayed)) > 0,
	}
}
