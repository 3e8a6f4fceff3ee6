package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/server/buckets"
	"boxoffice/edge/server/content"
	"boxoffice/edge/server/socket"
	"boxoffice/edge/sse"
	"boxoffice/engine"
	"boxoffice/persistence/quota"
	"boxoffice/persistence/requestlog"
)

// Authenticate returns whom the credentials prove, or refuses with UNAUTHORIZED. An order token is
// checked by the handler.
type Authenticate func(ctx context.Context, c route.Credentials) (route.Principal, error)

// exchange is one request on its way through the server.
type exchange struct {
	id        string
	now       time.Time
	op        *route.Op // nil: no operation matched
	observers *observers
	quota     *quota.Counter  // nil: none
	limits    *buckets.Limits // nil: none
	count     buckets.Count

	key, org int64      // of an API key, once it is proven; 0: the request has none
	client   netip.Addr // of that key's request
}

// Admit counts the request by what its body names, once that has been read.
func (x *exchange) Admit(c *route.Call, in any) error { return x.count.ByBody(c, in) }

// Charge counts bytes that an organization has written, or refuses.
func (x *exchange) Charge(c *route.Call, org, bytes int64) error {
	if x.quota == nil {
		return nil
	}
	err := x.quota.Count(c.Context, org, bytes, c.Now)
	if over, ok := errors.AsType[*quota.Exceeded](err); ok {
		return &engine.Refusal{Code: engine.QuotaExceeded, Message: "Your organization has written as much today as it may.", Details: over}
	}
	return err
}

// Left tells what a subject's bucket of a tier holds.
func (x *exchange) Left(tier route.Tier, subject string, perMinute int) route.Left {
	v := x.limits.Left(tier, subject, perMinute, x.now)
	return route.Left{Limit: v.Limit, Remaining: v.Remaining, Resets: v.Reset}
}

// logAttrs returns the log attributes of the exchange, after others.
func (x *exchange) logAttrs(others ...slog.Attr) []slog.Attr {
	operation := "none"
	if x.op != nil {
		operation = x.op.ID
	}
	return append(others, slog.String("request_id", x.id), slog.String("operation", operation))
}

type exchangeKey struct{}

// exchangeOf returns the exchange that begin has opened.
func exchangeOf(ctx *fasthttp.RequestCtx) *exchange {
	x, _ := ctx.UserValue(exchangeKey{}).(*exchange)
	return x
}

// idSource makes request ids: unique in the cluster, not secret.
type idSource struct {
	prefix string
	next   *atomic.Uint64
}

func newIDSource() idSource {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return idSource{prefix: "req_" + hex.EncodeToString(b[:]) + "-", next: new(atomic.Uint64)}
}

func (s idSource) id() string { return s.prefix + strconv.FormatUint(s.next.Add(1), 36) }

// beginExchange opens an exchange.
func (s *Server) beginExchange(ctx *fasthttp.RequestCtx) *exchange {
	x := &exchange{id: s.ids.id(), now: s.cfg.Now(), observers: s.other, limits: s.cfg.Limits, quota: s.cfg.Quota}
	x.count = x.limits.Begin(x.now)
	ctx.SetUserValue(exchangeKey{}, x)
	s.metrics.inFlight.Inc()
	return x
}

// endExchange closes an exchange: it writes the request id and the headers, and records the metrics.
func (s *Server) endExchange(ctx *fasthttp.RequestCtx, x *exchange) {
	ctx.Response.Header.SetCanonical(headerRequestID, []byte(x.id))
	s.setSecurityHeaders(ctx)
	if !x.count.Done() { // a request that is never counted shows what is left of public reads
		x.count.LookAtRemaining(socket.ClientAddress(ctx, s.cfg.TrustedProxies))
	}
	x.count.WriteHeaders(&ctx.Response.Header)
	took := s.cfg.Now().Sub(x.now)
	x.observers.observeAnswer(ctx.Response.StatusCode(), took.Seconds())
	if x.key != 0 && s.cfg.Requests != nil {
		s.cfg.Requests.Add(&requestlog.Entry{
			Org: x.org, Key: x.key, At: x.now, Took: took, Status: ctx.Response.StatusCode(),
			Method: x.op.Method, Route: x.op.Path, RequestID: x.id, Client: x.client, Failure: s.failureOf(ctx, x),
		})
	}
	s.metrics.inFlight.Dec()
}

// Handle is the outermost handler: every request comes through it.
func (s *Server) Handle(ctx *fasthttp.RequestCtx) { s.serveExchange(ctx, s.findOperation) }

// findOperation serves a request by its path.
func (s *Server) findOperation(ctx *fasthttp.RequestCtx) {
	if isAmbiguous(ctx.Request.Header.RawHeaders()) {
		ctx.SetConnectionClose()
		s.failUnrouted(ctx, exchangeOf(ctx), malformed)
		return
	}
	s.router.Handler(ctx)
}

// serveExchange opens an exchange for the request, calls handle, and closes the exchange even if
// handle panics.
func (s *Server) serveExchange(ctx *fasthttp.RequestCtx, handle fasthttp.RequestHandler) {
	x := s.beginExchange(ctx)
	defer func() {
		if ctx.Hijacked() && x.op == nil { // detach answers it as a request of its own
			s.metrics.inFlight.Dec()
			return
		}
		s.endExchange(ctx, x)
	}()
	defer func() {
		if p := recover(); p != nil {
			s.answerPanic(ctx, x, p)
		}
	}()
	handle(ctx)
}

// answerPanic answers 500 for a handler that panicked. Nothing that the handler may have written is
// sent.
func (s *Server) answerPanic(ctx *fasthttp.RequestCtx, x *exchange, p any) {
	s.metrics.panics.Inc()
	s.log.LogAttrs(s.base, slog.LevelError, "handler panicked", x.logAttrs(slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))...)
	ctx.Response.Reset()
	s.writeRefusal(ctx, x, engine.Refuse(engine.Internal, nil), fasthttp.StatusInternalServerError)
}

// isAmbiguous reports whether a proxy in front of us may have seen other borders between requests in
// these headers than we did: two body lengths, a transfer coding other than chunked, a bare LF, a
// folded line. fasthttp accepts some of these.
func isAmbiguous(raw []byte) bool {
	length, coding := false, false
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || raw[end-1] != '\r' || raw[0] == ' ' || raw[0] == '\t' {
			return true
		}
		line := raw[:end-1]
		raw = raw[end+1:]
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && (name[0]|0x20 == 'c' || name[0]|0x20 == 't') {
			switch {
			case bytes.EqualFold(name, []byte("content-length")):
				length = true
			case bytes.EqualFold(name, []byte("transfer-encoding")):
				coding = true
				if !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
					return true
				}
			}
		}
	}
	return length && coding
}

// newRouter makes a router that answers in our envelope and never redirects.
func (s *Server) newRouter() *router.Router {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	r.NotFound = func(ctx *fasthttp.RequestCtx) { s.answerStray(ctx, engine.NotFound) }
	r.MethodNotAllowed = func(ctx *fasthttp.RequestCtx) { s.answerStray(ctx, engine.MethodNotAllowed) }
	r.GlobalOPTIONS = answerPreflight
	return r
}

// failUnrouted answers a request that matches no operation. It counts as a public read of its
// address.
func (s *Server) failUnrouted(ctx *fasthttp.RequestCtx, x *exchange, err error) {
	if limited := s.countUnrouted(ctx, x); limited != nil {
		err = limited
	}
	s.answerError(ctx, x, err)
}

// countUnrouted counts a request that matches no operation as a public read of its address, and
// refuses it if there are too many.
func (s *Server) countUnrouted(ctx *fasthttp.RequestCtx, x *exchange) error {
	return x.count.Unrouted(socket.ClientAddress(ctx, s.cfg.TrustedProxies))
}

// countPage serves a page that is not an operation and counts it as a public read. A 304 is
// answered from memory and does not count.
func (s *Server) countPage(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		x := exchangeOf(ctx)
		if err := s.countUnrouted(ctx, x); err != nil {
			s.answerError(ctx, x, err)
			return
		}
		h(ctx)
		if ctx.Response.StatusCode() == fasthttp.StatusNotModified {
			x.count.GiveBack()
		}
	}
}

// operation is a row of the table, ready to be served.
type operation struct {
	op        *route.Op
	params    []route.PathParam
	observers *observers
	names     buckets.Names
	tagged    bool // its answers carry an entity tag
	// perform carries the request out and, if it succeeds, writes the answer.
	perform func(*fasthttp.RequestCtx, *exchange, *operation, *route.Call) error
}

// registerRow adds a row of the table.
func (s *Server) registerRow(op *route.Op) {
	o := &operation{
		op: op, params: op.Handler.PathParams(), observers: s.metrics.observersOf(op.ID),
		names:   buckets.NamesIn(reflect.PointerTo(op.Handler.In)),
		tagged:  op.Tagged(),
		perform: s.runHandler,
	}
	handler := s.handlerOf(o)
	s.rows[op.ID] = handler
	if op.Handler.TakesFile() {
		s.files.Handle(op.Method, op.Path, handler)
	}
	s.mountRow(op, handler)
}

// mountRow registers a row under its path; a GET route answers HEAD too.
func (s *Server) mountRow(op *route.Op, handler fasthttp.RequestHandler) {
	if op.MaxBody > route.DefaultBody {
		s.large.Handle(op.Method, op.Path, handler)
	}
	if op.Method == fasthttp.MethodGet {
		s.read(op.Path, handler)
		return
	}
	s.router.Handle(op.Method, op.Path, handler)
}

// handlerOf makes the handler that serves requests to a row.
func (s *Server) handlerOf(o *operation) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if length, held := s.heldBody(&ctx.Request.Header); held {
			s.detach(ctx, length)
			return
		}
		x := exchangeOf(ctx)
		x.op, x.observers = o.op, o.observers
		if err := s.serveOperation(ctx, x, o); err != nil {
			s.answerError(ctx, x, err)
		}
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled bounds the answer buffers that are kept, in bytes.
const maxPooled = 64 << 10

// serveOperation takes a matched request through the middle to its handler and, if that succeeds, writes
// the answer. Its steps are in the order of docs/ARCHITECTURE.md, The way of a request.
func (s *Server) serveOperation(ctx *fasthttp.RequestCtx, x *exchange, o *operation) error {
	if !readPath(ctx, o.params) {
		if err := s.countUnrouted(ctx, x); err != nil {
			return err
		}
		return engine.Refuse(engine.NotFound, nil)
	}
	call := route.NewCall(s.base, o.op, x.now)
	defer call.End()
	call.RequestID, call.Env, call.Client = x.id, s.cfg.Env, socket.ClientAddress(ctx, s.cfg.TrustedProxies)
	err := s.findRoom(o.op)
	if err == nil {
		err = s.identifySender(ctx, x, o, call)
	}
	if err == nil {
		err = s.readAndPerform(ctx, x, o, call)
		s.noteWrite(call) // also of a request that failed: something may have been written before that
	}
	if err != nil && !x.count.Done() {
		if limited := x.count.ByCredential(call); limited != nil { // a refused request counts too
			return limited
		}
	}
	return err
}

// findRoom refuses a write while the disk is full. It comes first, because even finding out who
// sends the request may take the database.
func (s *Server) findRoom(op *route.Op) error {
	if op.Writes() && s.cfg.Full != nil && s.cfg.Full() {
		return noRoom
	}
	return nil
}

// noRoom refuses a request whose effect cannot be stored.
var noRoom = &engine.Refusal{Code: engine.Unavailable, Message: "Nothing can be stored at the moment; try again shortly."}

// identifySender finds out who sends the request, and whether they may be served now.
func (s *Server) identifySender(ctx *fasthttp.RequestCtx, x *exchange, o *operation, call *route.Call) error {
	var err error
	if call.Principal, err = s.provePrincipal(ctx, call); err != nil {
		return err
	}
	if call.Principal.Kinds.Has(route.Key) {
		x.key, x.org, x.client = call.Principal.Key, call.Principal.Grants[0].Org, call.Client
	}
	if x.limits != nil {
		call.Gate = x
		if err := x.count.BeforeBody(call, o.names); err != nil {
			return err
		}
	}
	op, p := o.op, &call.Principal
	if err := route.RefuseAwayFromGates(op, p); err != nil {
		return err
	}
	if !op.Auth.Has(p.Kinds) {
		return engine.Refuse(engine.Forbidden, nil)
	}
	if p.Kinds.Has(route.Key) && !op.Auth.Has(route.Public) {
		return route.CheckGrant(op, p.Grants[0]) // the handler checks the organization's other grants
	}
	return nil
}

// readAndPerform reads the request and carries it out.
func (s *Server) readAndPerform(ctx *fasthttp.RequestCtx, x *exchange, o *operation, call *route.Call) error {
	var err error
	if call.IdempotencyKey, err = idempotencyKey(ctx, o.op); err != nil {
		return err
	}
	if o.op.Handler.TakesFile() {
		f, err := s.takeFile(ctx, call)
		if err != nil {
			return err
		}
		defer f.Remove()
		call.File = f.File
		call.Restart(s.base, s.cfg.Now())
	} else if call.Body, err = readBody(ctx, o.op); err != nil {
		return err
	}
	if ctx.IsPost() || o.op.Handler.Types() != nil { // other answers have no words for people
		call.Languages = languagesOf(ctx)
	}
	if o.op.Tier == route.TierAuth {
		call.UserAgent = string(ctx.UserAgent())
	}
	if call.IdempotencyKey != "" && o.op.Idempotency == route.Replay && s.cfg.Replies != nil {
		return s.performOnce(ctx, x, o, call)
	}
	return o.perform(ctx, x, o, call)
}

// runHandler runs the handler and writes the answer of a success.
func (s *Server) runHandler(ctx *fasthttp.RequestCtx, x *exchange, o *operation, call *route.Call) error {
	s.showOwn(call)
	buf, _ := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	if err := o.op.Handler.Serve(call, source{ctx}, buf); err != nil {
		return err
	}
	if call.Topic != nil {
		return s.cfg.Hub.Serve(call.Context, ctx, sse.Request{
			Topic: *call.Topic, Client: route.Network(call.Client), LastID: string(ctx.Request.Header.Peek("Last-Event-ID")),
		})
	}
	if call.Content != nil {
		err := content.Send(s.base, ctx, call, writeTimeout)
		if err == nil && ctx.Response.StatusCode() == fasthttp.StatusNotModified {
			x.count.GiveBack()
		}
		return err
	}
	s.writeAnswer(ctx, o.op.Status, buf.Bytes())
	if o.tagged && !call.Private && (o.op.Versioned || !call.Principal.Proven()) {
		s.shareAnswer(ctx, x, call, buf.Bytes())
	}
	for _, h := range call.Headers {
		ctx.Response.Header.Set(h.Name, h.Value)
	}
	if buf.Cap() <= maxPooled {
		buffers.Put(buf)
	}
	return nil
}

// writeAnswer writes a JSON body, which it copies. Answers must not be stored by caches unless their
// operation says otherwise, because many carry a secret.
func (s *Server) writeAnswer(ctx *fasthttp.RequestCtx, status int, body []byte) {
	ctx.SetStatusCode(status)
	h := &ctx.Response.Header
	h.SetCanonical(headerCacheControl, noStore)
	if len(body) > 0 {
		h.SetContentTypeBytes(jsonType)
		ctx.SetBody(body)
	}
}
