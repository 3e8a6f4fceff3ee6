package server

import (
	"sync"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/web"
)

const (
	worthPacking = 1 << 10  // bytes of an answer above which it is packed
	packedBytes  = 32 << 20 // of packed answers that are kept
)

var (
	publicCache = []byte("public, max-age=1, stale-while-revalidate=5")
	publicVary  = []byte("Accept-Encoding, Authorization")
)

// packs are the compressed public answers that this node keeps, so that each version is packed only
// once, however many clients ask for it. Its methods may be called by any goroutine.
type packs struct {
	mu    sync.Mutex
	kept  map[string]*packed // by the entity tag of the packed form
	bytes int
}

type packed struct {
	once sync.Once
	body []byte
}

// packOnce returns the body in a coding, from memory if the body with this entity tag was packed before.
// When more than packedBytes are kept it forgets all of them; what is still asked for is packed again.
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

// shareAnswer marks an answer to a caller without credentials as one that caches may give to others for a
// second, adds an entity tag, and packs it for clients that accept that. A client that has the
// answer already gets a 304, which does not count against its limit unless making the answer took
// the database.
func (s *Server) shareAnswer(ctx *fasthttp.RequestCtx, x *exchange, call *route.Call, body []byte) {
	h, tag := &ctx.Response.Header, entityTag(body)
	if s.cfg.PublicCache && len(ctx.Request.Header.Peek(fasthttp.HeaderAuthorization)) == 0 {
		h.SetCanonical(headerCacheControl, publicCache)
	}
	h.AddBytesV(fasthttp.HeaderVary, publicVary)
	if coding := web.ChooseCoding(&ctx.Request.Header); coding != "" && len(body) > worthPacking {
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
