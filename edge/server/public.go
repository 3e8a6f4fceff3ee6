package server

import (
	"sync"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/web"
)

const (
	worthPacking = 1 << 10  // a longer answer is compressed; in bytes
	packedBytes  = 32 << 20 // if more bytes of compressed answers are kept, all are forgotten
)

var (
	// publicCache is the Cache-Control of a public answer. A cache may use the answer for one second without
	// asking, and for five more while it asks for a newer one.
	publicCache = []byte("public, max-age=1, stale-while-revalidate=5")
	// publicVary is the Vary header of a public answer. A cache must not give the answer to a caller who signs
	// in, or a compressed body to a client that cannot decompress it.
	publicVary = []byte("Accept-Encoding, Authorization")
)

// packs keeps compressed public answers, so that an answer that many clients ask for is seldom compressed
// again. Any goroutine may call its methods.
type packs struct {
	mu   sync.Mutex
	kept map[string]*packed // by the entity tag of the packed form
	// bytes is the total length of the compressed bodies. It is read and written under mu.
	bytes int
}

// packed is one answer in one compression. The first request for a tag compresses the body; other requests for the
// same tag wait until that is done.
type packed struct {
	once sync.Once
	body []byte
}

// packOnce returns the compressed body, from memory if the body with this entity tag was compressed before. When
// more than packedBytes are kept it forgets all of them; a body that is asked for again is compressed again. It
// compresses outside of the lock, so that a large answer does not hold up requests for others.
func (p *packs) packOnce(tag string, coding web.Coding, body []byte) []byte {
	p.mu.Lock()
	if p.kept == nil || p.bytes > packedBytes {
		p.kept, p.bytes = make(map[string]*packed), 0
	}
	one := p.kept[tag]
	if one == nil {
		one = new(packed)
		p.kept[tag] = one
	}
	p.mu.Unlock()
	one.once.Do(func() {
		one.body = coding.Pack(body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bytes += len(one.body)
	})
	return one.body
}

// shareAnswer adds an entity tag to an answer, and compresses a long one for clients that accept that. If the
// request had no Authorization header, and the deployment allows it, caches may give the answer to others. A
// client that already has the answer gets a 304. The 304 does not count against the client's limit, unless the
// handler says that it had to compute the answer (Call.Computed).
func (s *Server) shareAnswer(ctx *fasthttp.RequestCtx, x *exchange, call *route.Call, body []byte) {
	h, tag := &ctx.Response.Header, entityTag(body)
	if s.cfg.PublicCache && len(ctx.Request.Header.Peek(fasthttp.HeaderAuthorization)) == 0 {
		h.SetCanonical(headerCacheControl, publicCache)
	}
	h.AddBytesV(fasthttp.HeaderVary, publicVary)
	if coding := web.ChooseCoding(&ctx.Request.Header); coding != "" && len(body) > worthPacking {
		// The compressed body is another representation of the answer, so it has another tag (RFC 9110, 8.8.3).
		tag = coding.Tag(tag)
		ctx.SetBody(s.packs.packOnce(tag, coding, body))
		h.Set(fasthttp.HeaderContentEncoding, string(coding))
	}
	h.Set(fasthttp.HeaderETag, tag)
	has, is := web.IsUnchanged(&ctx.Request.Header, tag)
	if !is {
		return
	}
	h.Set(fasthttp.HeaderETag, has)
	ctx.Response.ResetBody()
	h.Del(fasthttp.HeaderContentEncoding)
	ctx.SetStatusCode(fasthttp.StatusNotModified)
	if !call.Computed {
		x.count.GiveBack()
	}
}
