package server

import (
	"bytes"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// fasthttp allocates room for the whole body that a request announces before a byte of it has come,
// so a client that sends nothing but headers could claim gigabytes. Three bounds prevent that:
// operations take small bodies unless their row says otherwise, bodies that are not tiny share a
// budget, and the read timeout frees the room of bodies that never came.
const (
	tinyBody   = 16 << 10  // bytes; such a body needs no budget, because the number of connections bounds their sum
	bodyBudget = 256 << 20 // bytes announced within bodyWindow
	bodyWindow = 6         // seconds; one more than the read timeout
)

// bodyLimit returns how much of a request's body fasthttp may read: as much as the operation may have, or hardly
// anything once the budget is spent. fasthttp calls it when it has read the headers and before it allocates room
// for the body. The zero RequestConfig leaves the server's own limit, route.DefaultBody.
func (s *Server) bodyLimit(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	announced := h.ContentLength()
	if announced >= 0 && announced <= tinyBody || announced == noBody {
		return fasthttp.RequestConfig{}
	}
	// A request with a file takes nothing from the budget: its body is never held in memory.
	if s.holdBody(h, announced) {
		return fasthttp.RequestConfig{}
	}
	limit := s.operationLimit(h)
	chunked := announced < 0
	if chunked {
		announced = limit // a body without an announced length may grow to the limit
	}
	// A body that announces more than its operation takes is let through to fasthttp, which refuses it by the
	// limit. It takes nothing from the budget, because fasthttp allocates nothing for it.
	switch {
	case announced > limit || s.bodies.admitBytes(s.cfg.Now(), announced):
		return fasthttp.RequestConfig{MaxRequestBodySize: limit}
	case chunked:
		return fasthttp.RequestConfig{MaxRequestBodySize: tinyBody} // most chunked bodies fit into it
	}
	// The limit is 1 because 0 would mean the server's own limit.
	return fasthttp.RequestConfig{MaxRequestBodySize: 1}
}

// noBody is what fasthttp gives as the length of a request that announces no body.
const noBody = -2

// operationLimit returns the most bytes that fasthttp may read for the request: bodyBytes if its row allows
// more than route.DefaultBody, and otherwise route.DefaultBody, also if no row has its path. readBody then
// holds the body to the row's own bound.
func (s *Server) operationLimit(h *fasthttp.RequestHeader) int {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	if handler, _ := s.large.Lookup(string(h.Method()), string(path), nil); handler == nil {
		return route.DefaultBody
	}
	return bodyBytes
}

// meter adds up the bytes that requests announced during the last bodyWindow seconds. It never takes bytes back
// when a body has been read: they leave the sum bodyWindow seconds later, when the read timeout has freed their
// room. Any goroutine may call its methods.
type meter struct {
	budget  int
	mu      sync.Mutex
	seconds [bodyWindow]struct {
		at    int64 // the second that is counted, in unix time
		bytes int
	}
}

// admitBytes counts n bytes, and returns true if they are within the budget. Bytes beyond it are not counted, so
// a client that is refused again and again does not keep others out.
func (m *meter) admitBytes(now time.Time, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := now.Unix()
	sum := n
	for _, s := range m.seconds {
		if s.at > at-bodyWindow {
			sum += s.bytes
		}
	}
	if sum > m.budget {
		return false
	}
	// A slot is used again bodyWindow seconds later, and its old count is out of the window by then.
	slot := &m.seconds[at%bodyWindow]
	if slot.at != at {
		slot.at, slot.bytes = at, 0
	}
	slot.bytes += n
	return true
}

// refuseBody answers a request whose body fasthttp did not read. If the operation takes a body of the announced
// length, the budget was spent. That passes, so the answer is OVERLOADED. Any other body is too large
// (PAYLOAD_TOO_LARGE). fasthttp has forgotten the headers of a chunked request by then, so that one always
// counts as too large.
func (s *Server) refuseBody(ctx *fasthttp.RequestCtx, x *exchange) {
	limit := s.operationLimit(&ctx.Request.Header)
	if announced := ctx.Request.Header.ContentLength(); announced > tinyBody && announced <= limit {
		s.answerError(ctx, x, engine.Refuse(engine.Overloaded, nil))
		return
	}
	s.answerError(ctx, x, tooLarge(limit))
}

// readBody returns the request's body after checking its size and its type. The row may allow less than fasthttp
// has read. An empty body is refused if the row needs one, and is nil otherwise. For a row that declares no body only
// the size is checked: either nobody reads the bytes, or the row's handler checks them itself, as answerAgent does.
func readBody(ctx *fasthttp.RequestCtx, op *route.Op) ([]byte, error) {
	body := ctx.Request.Body()
	if len(body) > op.BodyLimit() {
		return nil, tooLarge(op.BodyLimit())
	}
	if !op.Handler.HasBody() {
		return body, nil
	}
	if len(body) == 0 {
		if op.Handler.NeedsBody() {
			return nil, route.Invalid(route.Issue{Code: route.IssueRequired, Message: "a JSON body is required"})
		}
		return nil, nil
	}
	return body, refuseMedia(&ctx.Request.Header)
}

// refuseMedia refuses a body unless its headers say that it is JSON and is sent without a content coding.
func refuseMedia(h *fasthttp.RequestHeader) error {
	if !isPlain(h) {
		return &engine.Refusal{Code: engine.UnsupportedMedia, Message: "The request body must be sent as it is, without a Content-Encoding."}
	}
	if !isJSON(h.ContentType()) {
		return engine.Refuse(engine.UnsupportedMedia, nil)
	}
	return nil
}

// isPlain reports whether a body is sent without a content coding. "identity" names the absence of one, though
// RFC 9110, 8.4 asks clients to leave it out.
func isPlain(h *fasthttp.RequestHeader) bool {
	coding := bytes.TrimSpace(h.ContentEncoding())
	return len(coding) == 0 || bytes.EqualFold(coding, []byte("identity"))
}

// isJSON accepts application/json, in UTF-8 if a charset is named.
func isJSON(contentType []byte) bool {
	media, params, _ := bytes.Cut(contentType, []byte(";"))
	if !bytes.EqualFold(bytes.TrimSpace(media), jsonType) {
		return false
	}
	name, value, _ := bytes.Cut(bytes.TrimSpace(params), []byte("="))
	return !bytes.EqualFold(name, []byte("charset")) || bytes.EqualFold(bytes.Trim(value, `"`), []byte("utf-8"))
}
