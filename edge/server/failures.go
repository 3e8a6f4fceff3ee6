package server

import (
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/redact"
	"boxoffice/persistence/requestlog"
)

// keptHeaders are the headers that say how a request was meant and that never carry a credential. Of all
// other headers nothing is kept.
var keptHeaders = []string{
	"Content-Type", "Content-Encoding", "Content-Length", "Accept", "Accept-Language", "Accept-Encoding", "User-Agent",
	"Idempotency-Key", "If-None-Match", "If-Match", "Last-Event-ID", "Mcp-Protocol-Version",
}

// maxHeader bounds the value of a header that is kept, in bytes.
const maxHeader = 256

// failureOf returns what the request log is to keep of a failed request of an API key: nil if it did not
// fail, if it only came too soon, or if too many have failed. A program in a loop would fill the log with what came
// too soon. A request that succeeds pays nothing for it.
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

// headersOf returns the headers that are kept, in the order of keptHeaders. An Idempotency-Key that is no
// UUID is withheld, because clients put other things there by mistake.
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

// answerOf returns what is kept of an answer's body.
func answerOf(r *fasthttp.Response) *requestlog.Body {
	if !isJSON(r.Header.ContentType()) {
		return nil
	}
	text, cut := redact.Answer(r.Body(), requestlog.MaxBody)
	return &requestlog.Body{Text: string(text), Cut: cut}
}
