package server

import (
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/redact"
	"boxoffice/persistence/requestlog"
)

// keptHeaders are the headers that the request log keeps of a failed request. They say how the request was
// meant, and none is meant for a credential.
var keptHeaders = []string{
	"Content-Type", "Content-Encoding", "Content-Length", "Accept", "Accept-Language", "Accept-Encoding", "User-Agent",
	"Idempotency-Key", "If-None-Match", "If-Match", "Last-Event-ID", "Mcp-Protocol-Version",
}

// maxHeader bounds the value of a header that is kept, in bytes.
const maxHeader = 256

// failureOf returns what the request log keeps of a failed request of an API key. It returns nil for a request that
// succeeded, for one that came too soon (429), and once the key has had too many failures: a program in a loop would
// fill the log with these. The status is looked at first, so that a request which succeeds pays nothing.
func (s *Server) failureOf(ctx *fasthttp.RequestCtx, x *exchange) *requestlog.Failure {
	status := ctx.Response.StatusCode()
	if status < fasthttp.StatusBadRequest || status == fasthttp.StatusTooManyRequests || !s.cfg.Requests.KeepsFailure(x.org, x.key, x.now) {
		return nil
	}
	f := &requestlog.Failure{Headers: headersOf(&ctx.Request.Header), Answer: answerOf(&ctx.Response)}
	if x.op.Handler.HasBody() { // an upload's body is a stream
		if body := ctx.Request.Body(); len(body) > 0 {
			text, cut := redact.Body(x.op, body, requestlog.MaxBody)
			f.Request = &requestlog.Body{Text: string(text), Cut: cut}
		}
	}
	return f
}

// headersOf returns the headers that are kept, in the order of keptHeaders. An Idempotency-Key that is no UUID is
// withheld, because clients put other things there by mistake. Credentials are hidden before the value is cut,
// since half of a token would no longer be recognized as one.
func headersOf(h *fasthttp.RequestHeader) (kept []requestlog.Header) {
	for _, name := range keptHeaders {
		value := h.Peek(name)
		if len(value) == 0 {
			continue
		}
		if name == "Idempotency-Key" && uuid.Validate(string(value)) != nil {
			value = []byte("[withheld]")
		}
		value = redact.HideCredentials(value)
		kept = append(kept, requestlog.Header{Name: name, Value: string(value[:min(len(value), maxHeader)])})
	}
	return kept
}

// answerOf returns what is kept of an answer's body, with its secrets hidden. Only JSON is kept.
func answerOf(r *fasthttp.Response) *requestlog.Body {
	if !isJSON(r.Header.ContentType()) {
		return nil
	}
	text, cut := redact.Answer(r.Body(), requestlog.MaxBody)
	return &requestlog.Body{Text: string(text), Cut: cut}
}
