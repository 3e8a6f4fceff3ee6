// Package content writes answers whose bytes are not JSON: files, and streams whose bytes are made while they are
// sent. A client may ask for a range of a file, or whether the file has changed (RFC 9110, 13 and 14).
package content

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/web"
)

// policy keeps a browser that opens a file from running anything in it.
const policy = "default-src 'none'; sandbox"

// Send answers with the content of a call: with all of it, with a range (or 416 if the range is outside of the
// content), or with 304 if the client has it already. Content whose size is unknown is always sent as a whole.
// Each piece of a long answer must be written within pace, and content whose size is known must also be read so fast.
// base lives as long as the server: content is read after the handler has returned.
func Send(base context.Context, ctx *fasthttp.RequestCtx, call *route.Call, pace time.Duration) error {
	c, h := call.Content, &ctx.Response.Header
	h.Set(fasthttp.HeaderContentSecurityPolicy, policy)
	h.Set(fasthttp.HeaderCacheControl, c.Cache)
	for _, own := range call.Headers {
		h.Set(own.Name, own.Value)
	}
	if c.Size == route.UnknownSize {
		return sendStream(base, ctx, c, pace)
	}
	h.Set(fasthttp.HeaderETag, c.Tag)
	h.Set(fasthttp.HeaderLastModified, c.At.UTC().Format(http.TimeFormat))
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if isUnchanged(&ctx.Request.Header, c) {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	h.Set(fasthttp.HeaderAcceptRanges, "bytes")
	from, length, ranged := int64(0), c.Size, false
	if text := string(ctx.Request.Header.Peek(fasthttp.HeaderRange)); text != "" && stillSame(&ctx.Request.Header, c) {
		var ok bool
		if from, length, ranged, ok = readRange(text, c.Size); !ok {
			h.Set(fasthttp.HeaderContentRange, fmt.Sprintf("bytes */%d", c.Size))
			ctx.SetStatusCode(fasthttp.StatusRequestedRangeNotSatisfiable)
			return nil
		}
	}
	h.SetContentType(c.Type)
	h.Set(fasthttp.HeaderContentDisposition, dispositionOf(c))
	ctx.SetStatusCode(fasthttp.StatusOK)
	if ranged {
		ctx.SetStatusCode(fasthttp.StatusPartialContent)
		h.Set(fasthttp.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", from, from+length-1, c.Size))
	}
	if ctx.IsHead() {
		ctx.Response.SkipBody = true
		h.SetContentLength(int(length))
		return nil
	}
	reading, giveUp := context.WithCancel(base)
	late := time.AfterFunc(pace, giveUp)
	body, err := c.Open(reading, from, length)
	late.Stop()
	if err != nil {
		giveUp()
		return err
	}
	stored := &storedBody{body, pace, giveUp}
	ctx.SetBodyStream(&pacedBody{stored, ctx.Conn(), pace}, int(length))
	return nil
}

// sendStream answers with bytes that are made while they are sent, in chunks. If the answer
// breaks off, the last chunk is missing, so that the client notices.
func sendStream(base context.Context, ctx *fasthttp.RequestCtx, c *route.Content, pace time.Duration) error {
	h := &ctx.Response.Header
	h.SetContentType(c.Type)
	h.Set(fasthttp.HeaderContentDisposition, dispositionOf(c))
	ctx.SetStatusCode(fasthttp.StatusOK)
	if ctx.IsHead() {
		ctx.Response.SkipBody = true
		return nil
	}
	body, err := c.Open(base, 0, c.Size)
	if err != nil {
		return err
	}
	ctx.SetBodyStream(&pacedBody{body, ctx.Conn(), pace}, -1)
	return nil
}

// pacedBody gives each piece of a long answer its own write deadline. The server's deadline for a
// whole answer would cut slow clients off large files.
type pacedBody struct {
	io.ReadCloser
	conn net.Conn
	pace time.Duration
}

// Read reads the next piece, once the one before has been written.
func (b *pacedBody) Read(p []byte) (int, error) {
	if err := b.conn.SetWriteDeadline(time.Now().Add(b.pace)); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// storedBody gives up a store that takes longer than pace for a piece. Without that, an answer would
// keep its connection for as long as the store stalls.
type storedBody struct {
	io.ReadCloser
	pace   time.Duration
	giveUp context.CancelFunc
}

// Read reads the next piece.
func (b *storedBody) Read(p []byte) (int, error) {
	late := time.AfterFunc(b.pace, b.giveUp)
	defer late.Stop()
	return b.ReadCloser.Read(p)
}

// Close ends the reading.
func (b *storedBody) Close() error {
	b.giveUp()
	return b.ReadCloser.Close()
}

// isUnchanged reports whether the client has the content already (RFC 9110, 13.2.2).
func isUnchanged(h *fasthttp.RequestHeader, c *route.Content) bool {
	if len(h.Peek(fasthttp.HeaderIfNoneMatch)) > 0 {
		_, is := web.IsUnchanged(h, c.Tag)
		return is
	}
	since, err := http.ParseTime(string(h.Peek(fasthttp.HeaderIfModifiedSince)))
	return err == nil && !c.At.Truncate(time.Second).After(since)
}

// stillSame reports whether a range request is about the content that the client began with. A
// request without an If-Range header does not ask for that.
func stillSame(h *fasthttp.RequestHeader, c *route.Content) bool {
	condition := string(h.Peek(fasthttp.HeaderIfRange))
	if condition == "" || condition == c.Tag {
		return true
	}
	at, err := http.ParseTime(condition)
	return err == nil && c.At.Truncate(time.Second).Equal(at)
}

// readRange reads a Range header. A header that is malformed or names several ranges is ignored; ok
// is false for a range outside of the content.
func readRange(text string, size int64) (from, length int64, ranged, ok bool) {
	spec, bytes := strings.CutPrefix(text, "bytes=")
	first, last, dash := strings.Cut(spec, "-")
	if !bytes || !dash || strings.Contains(spec, ",") {
		return 0, size, false, true
	}
	first, last = strings.TrimSpace(first), strings.TrimSpace(last)
	a, errA := strconv.ParseUint(first, 10, 62)
	b, errB := strconv.ParseUint(last, 10, 62)
	switch {
	case first == "" && errB == nil: // the last b bytes
		n := min(int64(b), size)        //nolint:gosec // of 62 bits
		return size - n, n, true, n > 0 // empty content has no last bytes
	case errA != nil || last != "" && errB != nil || last != "" && b < a:
		return 0, size, false, true
	case int64(a) >= size: //nolint:gosec // of 62 bits
		return 0, 0, false, false
	case last == "":
		return int64(a), size - int64(a), true, true //nolint:gosec // below size
	}
	end := min(int64(b), size-1)                    //nolint:gosec // of 62 bits
	return int64(a), end - int64(a) + 1, true, true //nolint:gosec // below size
}

// dispositionOf returns the Content-Disposition header, which names the file for those who save it (RFC
// 6266).
func dispositionOf(c *route.Content) string {
	kind := "attachment"
	if c.Inline {
		kind = "inline"
	}
	if text := mime.FormatMediaType(kind, map[string]string{"filename": c.Name}); text != "" {
		return text
	}
	return kind
}
