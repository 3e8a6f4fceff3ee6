package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/server/socket"
	"boxoffice/engine"
	"boxoffice/persistence"
)

// failure is the envelope of every error answer of the API. request_id repeats the header X-Request-Id.
type failure struct {
	Error struct {
		Code    engine.Code `json:"code"`
		Message string      `json:"message"`
		Details any         `json:"details"`
	} `json:"error"`
	Meta struct {
		RequestID string `json:"request_id"`
	} `json:"meta"`
}

// refusalOf returns what the client is told about an error. A refusal with a code of CodeTable is told as it is. A
// missed deadline, a cancelled context or an unreachable database becomes UNAVAILABLE, which tells the client to try
// again. Everything else becomes INTERNAL without details, because its text may say how the service is built.
func refusalOf(err error) *engine.Refusal {
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal) && refusal != nil && engine.CodeTable[refusal.Code].Status != 0:
		return refusal
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), persistence.Outage(err):
		return engine.Refuse(engine.Unavailable, nil)
	}
	return engine.Refuse(engine.Internal, nil)
}

// answerError answers the request with the error, in the envelope. It logs the error only if the answer is INTERNAL,
// because other refusals are everyday answers.
func (s *Server) answerError(ctx *fasthttp.RequestCtx, x *exchange, err error) {
	refusal := refusalOf(err)
	if refusal.Code == engine.Internal {
		s.log.LogAttrs(s.base, slog.LevelError, "request failed", x.logAttrs(slog.Any("error", err))...)
	}
	s.writeRefusal(ctx, x, refusal, engine.StatusOf(refusal.Code, x.op != nil && !x.op.Writes()))
}

// writeRefusal writes the envelope of a refusal with the given status. A person's browser gets a page instead,
// with the same status and headers.
func (s *Server) writeRefusal(ctx *fasthttp.RequestCtx, x *exchange, refusal *engine.Refusal, status int) {
	s.metrics.countRefusal(refusal.Code)
	var f failure
	f.Error.Code, f.Error.Message, f.Error.Details = refusal.Code, refusal.Message, refusal.Details
	if f.Error.Message == "" {
		f.Error.Message = engine.CodeTable[refusal.Code].Sentence
	}
	f.Meta.RequestID = x.id
	var buf bytes.Buffer
	if err := json.MarshalWrite(&buf, &f, route.Encoding); err != nil {
		s.log.LogAttrs(s.base, slog.LevelError, "error details cannot be encoded", x.logAttrs(slog.Any("error", err))...)
		buf.Reset()
		f.Error.Details = nil
		_ = json.MarshalWrite(&buf, &f, route.Encoding) // strings always encode
	}
	// Each status has the header that its RFC asks for. Retry-After is 1 second while an earlier request with the
	// same key runs. Otherwise it is the time that the refusal names or, for a 503 or 429 that is worth a repeat, a
	// random 1 to 3 seconds, so that clients do not come back together.
	h := &ctx.Response.Header
	switch {
	case status == fasthttp.StatusUnsupportedMediaType:
		h.SetCanonical([]byte(fasthttp.HeaderAcceptEncoding), []byte("identity")) // RFC 9110, 15.5.16
	case status == fasthttp.StatusUnauthorized:
		h.SetCanonical([]byte(fasthttp.HeaderWWWAuthenticate), []byte("Bearer"))
	case refusal.Code == engine.IdempotencyInFlight:
		h.SetCanonical([]byte(fasthttp.HeaderRetryAfter), []byte("1"))
	case refusal.Retry > 0:
		h.SetCanonical([]byte(fasthttp.HeaderRetryAfter), strconv.AppendInt(nil, int64(refusal.Retry), 10))
	case engine.CodeTable[refusal.Code].Retryable && (status == fasthttp.StatusServiceUnavailable || status == fasthttp.StatusTooManyRequests):
		h.SetCanonical([]byte(fasthttp.HeaderRetryAfter), strconv.AppendInt(nil, int64(socket.RetrySeconds()), 10))
	}
	if s.trouble != nil && wantsPage(ctx) {
		s.showTrouble(ctx, x, status)
		return
	}
	s.writeAnswer(ctx, status, buf.Bytes())
}

// answerUnreadable answers a request that fasthttp could not read, and fasthttp closes its connection
// afterwards. If headers or body were too large, the client may still be sending. Linger then reads on for a
// moment: closing at once would reset the connection and destroy the answer before the client reads it.
func (s *Server) answerUnreadable(ctx *fasthttp.RequestCtx, err error) {
	x := s.beginExchange(ctx)
	defer s.endExchange(ctx, x)
	var small *fasthttp.ErrSmallBuffer
	var network *net.OpError
	switch {
	case errors.As(err, &small):
		socket.Linger(ctx.Conn())
		if slices.Contains(s.cfg.Origins, "*") { // the headers were not read, so nobody knows the origin
			ctx.Response.Header.SetCanonical(headerOrigin, anyOrigin)
		}
		_ = s.countUnrouted(ctx, x) // a refusal would change nothing: the connection is closed anyway
		s.writeRefusal(ctx, x, &engine.Refusal{Code: engine.Validation, Message: "The request headers are too large."}, fasthttp.StatusRequestHeaderFieldsTooLarge)
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		socket.Linger(ctx.Conn())
		s.refuseBody(ctx, x)
	case errors.As(err, &network) && network.Timeout():
		s.writeRefusal(ctx, x, &engine.Refusal{Code: engine.Validation, Message: "The request did not arrive in time."}, fasthttp.StatusRequestTimeout)
	default:
		s.failUnrouted(ctx, x, malformed)
	}
}

// malformed refuses what is not a valid HTTP request.
var malformed = &engine.Refusal{Code: engine.Validation, Message: "The request is not valid HTTP."}

// tooLarge refuses a body of more than limit bytes.
func tooLarge(limit int) *engine.Refusal {
	return &engine.Refusal{
		Code:    engine.PayloadTooLarge,
		Message: fmt.Sprintf("The request body must not exceed %d bytes.", limit),
		Details: map[string]int{"maxBytes": limit},
	}
}
