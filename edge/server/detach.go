package server

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/persistence/panics"
)

// A request that brings a file is read as a stream, on a connection that ends with it.
// fasthttp streams either all requests or none, and the rest of a streamed body that a
// handler leaves unread may be taken for the next request. So the server reads only the
// header of such a request, as if it had no body, and then takes the connection away
// from fasthttp: one goroutine of ours reads the body, answers and closes the
// connection. No byte behind the header is ever read as a request
// (docs/adr/0016-uploads-leave-the-request-loop.md).

// headerHeld is a header of our own that carries the true length of a body from the moment when
// fasthttp has read the headers to the operation. Its value is a secret of the process, which no
// client knows, and the length, or -1 for chunks.
const headerHeld = "X-Boxoffice-Held"

// holdBody makes fasthttp treat the request as one without a body, if it brings a file.
func (s *Server) holdBody(h *fasthttp.RequestHeader, length int) bool {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	if handler, _ := s.files.Lookup(string(h.Method()), string(path), nil); handler == nil {
		return false
	}
	h.Set(headerHeld, s.ids.prefix+strconv.Itoa(length))
	h.SetContentLength(0)
	return true
}

// heldBody returns the length of a body that holdBody has kept from fasthttp.
func (s *Server) heldBody(h *fasthttp.RequestHeader) (length int, held bool) {
	text, held := bytes.CutPrefix(h.Peek(headerHeld), []byte(s.ids.prefix))
	if !held {
		return 0, false
	}
	length, err := strconv.Atoi(string(text))
	return length, err == nil
}

// detach answers a request whose body was held. It does so on a goroutine of its own, which closes
// the connection at the end. Stop waits for that goroutine.
func (s *Server) detach(ctx *fasthttp.RequestCtx, length int) {
	req, raw := fasthttp.AcquireRequest(), ctx.Conn()
	ctx.Request.CopyTo(req)
	req.Header.Del(headerHeld)
	s.detached.Add(1)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(c net.Conn) {
		defer s.detached.Done()
		defer fasthttp.ReleaseRequest(req)
		defer func() { _ = raw.Close() }() // the client has the answer by now, or has left
		panics.Do(s.log, "upload", func() { s.answerDetached(raw, c, req, length) })
	})
}

// answerDetached takes the request through the same middle as every other request.
func (s *Server) answerDetached(raw, c net.Conn, req *fasthttp.Request, length int) {
	body := &steadyBody{conn: raw, now: s.cfg.Now, began: s.cfg.Now()}
	switch {
	case length < 0:
		body.from, body.chunked = httputil.NewChunkedReader(bufio.NewReader(c)), true
	default:
		body.from, body.left = c, int64(length)
	}
	var ctx fasthttp.RequestCtx
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
	linger(&ctx) // the client may have sent more than it announced
}

// A body must come in steadily: some of it within every pauseTime, and in any rateSpan at leastRate.
// So a client that trickles bytes cannot occupy a place for long, whatever it has sent before.
const (
	pauseTime = 15 * time.Second
	rateSpan  = 30      // seconds
	leastRate = 4 << 10 // bytes a second
)

// steadyBody reads a body of a known length, or of chunks, from a connection.
type steadyBody struct {
	conn    net.Conn
	from    io.Reader
	chunked bool
	left    int64 // bytes left of a body of known length
	ended   bool  // all of the body has been read
	now     func() time.Time
	began   time.Time
	second  int64           // since it began, of the newest count
	counts  [rateSpan]int64 // bytes that were read in each of the last seconds
}

// isTooSlow reports whether too little has come in the last rateSpan, and makes the newest count
// that of this second.
func (b *steadyBody) isTooSlow() bool {
	at := int64(b.now().Sub(b.began).Seconds())
	for n := 0; b.second < at && n < rateSpan; n++ {
		b.second++
		b.counts[b.second%rateSpan] = 0
	}
	b.second = max(b.second, at)
	recent := int64(0)
	for _, n := range b.counts {
		recent += n
	}
	return at >= rateSpan && recent < rateSpan*leastRate
}

// Read reads on. A body that breaks off gives io.ErrUnexpectedEOF, a body that comes too slowly
// os.ErrDeadlineExceeded.
func (b *steadyBody) Read(p []byte) (int, error) {
	if b.ended || !b.chunked && b.left == 0 {
		b.ended = true
		return 0, io.EOF
	}
	if b.isTooSlow() {
		return 0, os.ErrDeadlineExceeded
	}
	if err := b.conn.SetReadDeadline(time.Now().Add(pauseTime)); err != nil {
		return 0, err
	}
	if !b.chunked && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.from.Read(p)
	b.counts[b.second%rateSpan] += int64(n)
	if b.chunked {
		b.ended = err == io.EOF
		return n, err
	}
	b.left -= int64(n)
	b.ended = b.left == 0
	if err == io.EOF && !b.ended {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
