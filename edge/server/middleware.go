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

// Authenticate returns whom the credentials prove, or a refusal. It does not check an order's token: the
// handler does, because only the order knows its token.
type Authenticate func(ctx context.Context, c route.Credentials) (route.Principal, error)

// exchange is one request on its way through the server. The goroutine that serves the request owns it.
type exchange struct {
	id        string
	now       time.Time
	op        *route.Op // nil: no operation matched
	observers *observers
	quota     *quota.Counter  // nil: none
	limits    *buckets.Limits // nil: none
	count     buckets.Count

	// key and org are set for a request of an API key, as soon as the key is proven. The request log keeps only
	// such requests, so a request without a key is not in it.
	key, org int64      // numbers of the API key and its organization; 0: the request has no key
	client   netip.Addr // the client's address; set together with key
}

// Admit counts the request by what its body names, once the body has been read. With Admit, Charge and Left an
// exchange is a route.Gate.
func (x *exchange) Admit(c *route.Call, in any) error { return x.count.ByBody(c, in) }

// Charge counts bytes that an organization is about to write, or refuses with QUOTA_EXCEEDED.
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

// Left returns how much is left in a subject's bucket of a tier.
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

// exchangeKey is the key under which a request carries its exchange.
type exchangeKey struct{}

// exchangeOf returns the exchange that beginExchange put into the request.
func exchangeOf(ctx *fasthttp.RequestCtx) *exchange {
	x, _ := ctx.UserValue(exchangeKey{}).(*exchange)
	return x
}

// idSource makes request ids. They are unique in the cluster, because each process draws a random prefix. They
// are not secret.
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

// beginExchange opens an exchange. Until a row is found, it is measured as a request that matches no operation.
func (s *Server) beginExchange(ctx *fasthttp.RequestCtx) *exchange {
	x := &exchange{id: s.ids.id(), now: s.cfg.Now(), observers: s.other, limits: s.cfg.Limits, quota: s.cfg.Quota}
	x.count = x.limits.Begin(x.now)
	ctx.SetUserValue(exchangeKey{}, x)
	s.metrics.inFlight.Inc()
	return x
}

// endExchange closes an exchange: it writes the request id and the headers, records the metrics and adds the
// request to the log of its API key. It runs after the answer is complete: the headers say how much is left of
// the rate limit, and the log has the answer's status.
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

// Handle is the outermost handler: every request that fasthttp could read comes through it.
func (s *Server) Handle(ctx *fasthttp.RequestCtx) { s.serveExchange(ctx, s.findOperation) }

// findOperation serves a request by its path. A request whose borders are ambiguous is refused before the router
// sees it. Its connection closes, so that no bytes after it are read as another request.
func (s *Server) findOperation(ctx *fasthttp.RequestCtx) {
	if isAmbiguous(ctx.Request.Header.RawHeaders()) {
		ctx.SetConnectionClose()
		s.failUnrouted(ctx, exchangeOf(ctx), malformed)
		return
	}
	s.router.Handler(ctx)
}

// serveExchange opens an exchange for the request, calls handle, and closes the exchange even if handle panics.
// The two deferred functions run in reverse order: first a panic is answered, and then the exchange is closed.
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

// answerPanic answers 500 for a handler that panicked. Nothing that the handler may have written is sent.
func (s *Server) answerPanic(ctx *fasthttp.RequestCtx, x *exchange, p any) {
	s.metrics.panics.Inc()
	s.log.LogAttrs(s.base, slog.LevelError, "handler panicked", x.logAttrs(slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))...)
	ctx.Response.Reset()
	s.writeRefusal(ctx, x, engine.Refuse(engine.Internal, nil), fasthttp.StatusInternalServerError)
}

// isAmbiguous reports whether a proxy in front of us may have seen other borders between requests in
// these headers than we did: a length together with a transfer coding, a transfer coding other than chunked, a
// bare LF, a folded line. fasthttp accepts some of these. It refuses two lengths by itself.
func isAmbiguous(raw []byte) bool {
	length, coding := false, false
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || raw[end-1] != '\r' || raw[0] == ' ' || raw[0] == '\t' {
			return true
		}
		// Most lines are skipped by their first letter: only Content-Length and Transfer-Encoding matter here.
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

// newRouter makes a router that answers in our envelope. It never redirects by itself: a redirect for an API path
// would lose the body of a write. answerStray leads people to a page.
func (s *Server) newRouter() *router.Router {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	r.NotFound = func(ctx *fasthttp.RequestCtx) { s.answerStray(ctx, engine.NotFound) }
	r.MethodNotAllowed = func(ctx *fasthttp.RequestCtx) { s.answerStray(ctx, engine.MethodNotAllowed) }
	r.GlobalOPTIONS = answerPreflight
	return r
}

// failUnrouted answers a request that matches no operation with err, or with RATE_LIMITED if its address has made too
// many public reads, among which such requests count.
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

// countPage serves a page that is not an operation and counts it as a public read. An answer of 304 does
// not count, because it brings the client nothing new.
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

// operation is a row of the table, with everything that can be worked out before the first request.
type operation struct {
	op        *route.Op
	params    []route.PathParam
	observers *observers
	names     buckets.Names
	tagged    bool // its answers have an entity tag
	// perform carries the request out and writes the answer. If it returns an error, nothing is written yet.
	perform func(*fasthttp.RequestCtx, *exchange, *operation, *route.Call) error
}

// registerRow adds a row of the table. It keeps the handler by the operation's id too, for performFor.
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

// mountRow registers a row under its path. A GET row answers HEAD too. A row with large bodies is also known to
// operationLimit, which must recognize it before the router runs.
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

// handlerOf makes the handler that serves requests to a row. A request whose body was held comes here twice:
// first with its headers only, to be detached, and then with its body.
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

// buffers are the memory that handlers write their answers into.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest size in bytes of a buffer that is kept for another request. A larger buffer is left
// to the garbage collector, so that one large answer does not occupy memory for good.
const maxPooled = 64 << 10

// serveOperation takes a matched request through all steps before its handler, calls the handler and, if that
// succeeds, writes the answer. The steps are in the order of docs/ARCHITECTURE.md, The way of a request.
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

// findRoom refuses a write while the disk is full. It comes before identifySender, because even finding out who
// sends the request may take the database. Reads are still served.
func (s *Server) findRoom(op *route.Op) error {
	if op.Writes() && s.cfg.Full != nil && s.cfg.Full() {
		return noRoom
	}
	return nil
}

// noRoom refuses a request whose effect cannot be stored.
var noRoom = &engine.Refusal{Code: engine.Unavailable, Message: "Nothing can be stored at the moment; try again shortly."}

// identifySender finds out who sends the request, and refuses senders that may not be served now. The request is
// counted before scopes are checked, so that a caller without rights cannot send without limit.
func (s *Server) identifySender(ctx *fasthttp.RequestCtx, x *exchange, o *operation, call *route.Call) error {
	var err error
	if call.Principal, err = s.provePrincipal(ctx, call); err != nil {
		return err
	}
	// The log needs to know the key even if a later check refuses the request. An API key has exactly one grant.
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
		return route.CheckGrant(op, p.Grants[0]) // the handler checks that the grant is for the organization that it acts for
	}
	return nil
}

// readAndPerform reads what the request brings and carries it out. A write with an Idempotency-Key on a row
// with the Idempotency Replay goes through performOnce, every other request straight to its handler.
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
		// Receiving a file may take minutes, so the operation's time begins only now.
		call.Restart(s.base, s.cfg.Now())
	} else if call.Body, err = readBody(ctx, o.op); err != nil {
		return err
	}
	if ctx.IsPost() || o.op.Handler.Types() != nil { // other answers have no text that could be translated
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

// runHandler runs the handler and writes the answer of a success. It returns the handler's error without writing
// anything, so that its caller can still answer with it.
func (s *Server) runHandler(ctx *fasthttp.RequestCtx, x *exchange, o *operation, call *route.Call) error {
	s.showOwn(call)
	buf, _ := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	if err := o.op.Handler.Serve(call, source{ctx}, buf); err != nil {
		return err
	}
	// The handler of a stream only returns what the stream shows. The hub answers and keeps the connection.
	if call.Topic != nil {
		return s.cfg.Hub.Serve(call.Context, ctx, sse.Request{
			Topic: *call.Topic, Client: route.Network(call.Client), LastID: string(ctx.Request.Header.Peek("Last-Event-ID")),
		})
	}
	// A 304 counts here too: the handler has looked the content up or drawn it before anybody knew that the client has
	// it already.
	if call.Content != nil {
		return content.Send(s.base, ctx, call, writeTimeout)
	}
	// writeAnswer and shareAnswer copy or compress the body into other memory, so the buffer is free when they
	// return.
	s.writeAnswer(ctx, o.op.Status, buf.Bytes())
	// The answer to a caller without credentials does not depend on who asks, so caches may share it. A
	// versioned row's answer gets its entity tag for every caller.
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

// writeAnswer writes a JSON body, which it copies. Answers must not be stored by caches unless their operation
// says otherwise, because many carry a secret. A status without a body gets no content type.
func (s *Server) writeAnswer(ctx *fasthttp.RequestCtx, status int, body []byte) {
	ctx.SetStatusCode(status)
	h := &ctx.Response.Header
	h.SetCanonical(headerCacheControl, noStore)
	if len(body) > 0 {
		h.SetContentTypeBytes(jsonType)
		ctx.SetBody(body)
	}
}
