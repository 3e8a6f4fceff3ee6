package server

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/server/form"
	"boxoffice/engine"
)

// formKey is the key under which a request carries its form from the reading to the handler.
type formKey struct{}

// formOf returns the form that takeFile has read from a request with a file, or nil if there is none.
func formOf(ctx *fasthttp.RequestCtx) *form.Form {
	f, _ := ctx.UserValue(formKey{}).(*form.Form)
	return f
}

// takeFile reads the form of a request with a file, and keeps it for formOf. The operation's Judge decides about
// the file before all of it is read. The caller removes the form once the request is answered. The request's
// place among the uploads is given back when the file has been read, before its handler runs.
func (s *Server) takeFile(ctx *fasthttp.RequestCtx, c *route.Call) (*form.Form, error) {
	// The place is taken before a byte is read, so that a caller with too many uploads costs nothing.
	done, err := s.uploads.Take(c)
	if err != nil {
		return nil, err
	}
	defer done()
	if !isPlain(&ctx.Request.Header) {
		return nil, engine.Refuse(engine.UnsupportedMedia, nil)
	}
	stream := ctx.Request.BodyStream() // Body would read all of it into memory
	if stream == nil {
		stream = bytes.NewReader(ctx.Request.Body())
	}
	f, err := form.Read(&form.Source{
		ContentType: string(ctx.Request.Header.ContentType()), Body: stream, Dir: s.cfg.UploadDir, Now: s.cfg.Now,
		Query:    func(name string) string { return string(ctx.QueryArgs().Peek(name)) },
		FindRoom: func() error { return s.findRoom(c.Op) },
	}, func(p *route.Part) (route.Bound, error) { return c.Op.Handler.Judge(c, p) })
	if err != nil {
		return nil, err
	}
	ctx.SetUserValue(formKey{}, f)
	return f, nil
}
