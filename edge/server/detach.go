package server

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/server/form"
	"boxoffice/edge/server/socket"
	"boxoffice/persistence/panics"
)

// A request that brings a file is read as a stream, on a connection that ends with it. fasthttp streams either all
// requests or none, and the rest of a streamed body that a handler leaves unread may be taken for the next request.
// So the server reads only the header of such a request, as if it had no body, and then takes the connection away
// from fasthttp: one goroutine of ours reads the body, answers and closes the connection. No byte after the header is
// ever read as a request (docs/adr/0016-uploads-leave-the-request-loop.md).

// headerHeld is a header of our own, in which holdBody leaves the true length of a body for heldBody. Its value
// is Server.held, which no client knows, and the length, or -1 for chunks. A client that sends the header
// itself is not believed, because it can't know the secret.
const headerHeld = "X-Boxoffice-Held"

// holdBody makes fasthttp treat a request that brings a file as one without a body, and reports whether it did.
// The true length waits in headerHeld.
func (s *Server) holdBody(h *fasthttp.RequestHeader, length int) bool {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	if handler, _ := s.files.Lookup(string(h.Method()), string(path), nil); handler == nil {
		return false
	}
	h.Set(headerHeld, s.held+strconv.Itoa(length))
	h.SetContentLength(0)
	return true
}

// heldBody returns the length of a body that holdBody has kept from fasthttp.
func (s *Server) heldBody(h *fasthttp.RequestHeader) (length int, held bool) {
	text, held := bytes.CutPrefix(h.Peek(headerHeld), []byte(s.held))
	if !held {
		return 0, false
	}
	length, err := strconv.Atoi(string(text))
	return length, err == nil
}

// detach answers a request whose body was held. It does so on a goroutine of its own, which closes the connection
// at the end. Stop waits for that goroutine. The request is copied, because fasthttp uses ctx again for other
// requests once the handler has returned.
func (s *Server) detach(ctx *fasthttp.RequestCtx, length int) {
	req, raw := fasthttp.AcquireRequest(), ctx.Conn()
	ctx.Request.CopyTo(req)
	req.Header.Del(headerHeld)
	// Add comes before Hijack, so that Stop cannot miss a request between the two.
	s.detached.Add(1)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(c net.Conn) {
		defer s.detached.Done()
		defer fasthttp.ReleaseRequest(req)
		defer func() { _ = raw.Close() }() // the client has the answer by now, or has left
		panics.Do(s.log, "upload", func() { s.answerDetached(raw, c, req, length) })
	})
}

// answerDetached takes the request through the same steps as every other request. raw is the connection itself,
// whose deadlines are set here. c reads from it too, but first gives the bytes that fasthttp had buffered after
// the headers.
func (s *Server) answerDetached(raw, c net.Conn, req *fasthttp.Request, length int) {
	body := form.ReadSteadily(raw, c, length, s.cfg.Now)
	var ctx fasthttp.RequestCtx
	// ReadSteadily bounds the time for reading the body, and the deadline below the time for writing the answer.
	ctx.Init2(raw, quiet{s.log}, true)
	req.CopyTo(&ctx.Request)
	ctx.Request.SetBodyStream(body, length)
	s.Handle(&ctx)
	ctx.SetConnectionClose()
	_ = raw.SetWriteDeadline(time.Now().Add(writeTimeout))
	w := bufio.NewWriter(raw)
	if err := ctx.Response.Write(w); err == nil {
		_ = w.Flush() // if this fails, the client has left
	}
	socket.Linger(raw) // the client may have sent more than it announced
}
