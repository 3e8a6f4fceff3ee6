package server

import (
	"github.com/valyala/fasthttp"

	"boxoffice/edge/manual"
	"boxoffice/edge/openapi"
	"boxoffice/edge/web"
)

// registerPages adds the pages that people open in a browser, with their files: always the built pages; the page of
// an order if cfg.OrderPage is set; the pages of events if cfg.Shop is set, with the page of the waiting room if the
// table has its operations; and the page of payment links if the table has its operations. It also sets s.trouble, so
// that errors are shown as a page from then on.
func (s *Server) registerPages() error {
	files, err := web.Files(s.cfg.Rush != nil)
	if err != nil {
		return err
	}
	if s.cfg.OrderPage != nil {
		page, err := web.NewOrderPage(files)
		if err != nil {
			return err
		}
		s.read("/orders/{id}", s.orderPage(page))
	}
	pay, err := web.NewPayPage(files)
	if err != nil {
		return err
	}
	s.registerPayPage(pay)
	if s.cfg.Shop != nil {
		page, err := web.NewRoomPage(files)
		if err != nil {
			return err
		}
		s.registerRoomPage(page)
	}
	s.registerFiles(files)
	// From here on errors are shown to people as a page instead of JSON (showTrouble).
	if s.trouble, err = web.NewTroublePage(files); err != nil {
		return err
	}
	return s.registerShop(files)
}

// registerDocument adds the OpenAPI document as JSON and as YAML, and the pages on which people read it. The
// document is printed at the first request for it and not here, because making it takes the whole table.
func (s *Server) registerDocument() error {
	pages, err := manual.Files(manual.Config{Ops: s.cfg.Ops, BaseURL: s.cfg.BaseURL, Env: s.cfg.Env, Document: s.cfg.Document})
	if err != nil {
		return err
	}
	const cache = "public, max-age=60"
	part := func(of func(*openapi.Document) []byte) func() ([]byte, error) {
		return func() ([]byte, error) {
			d, err := s.cfg.Document()
			if err != nil {
				return nil, err
			}
			return of(d), nil
		}
	}
	out := []web.File{
		{Path: "/api/v1/openapi.json", Type: "application/json", Cache: cache, Print: part(func(d *openapi.Document) []byte { return d.JSON })},
		{Path: "/api/v1/openapi.yaml", Type: "application/yaml", Cache: cache, Print: part(func(d *openapi.Document) []byte { return d.YAML })},
	}
	s.registerFiles(append(out, pages...))
	return nil
}

// registerFiles adds pages and files whose content is the same for every reader of a language. Each request
// counts as a public read, except one that is answered with 304.
func (s *Server) registerFiles(files []web.File) {
	for _, f := range files {
		static := web.NewStatic(f)
		s.read(f.Path, s.countPage(lowerSlug(func(ctx *fasthttp.RequestCtx) {
			if err := static.Serve(ctx, prefersGerman(ctx)); err != nil {
				s.answerError(ctx, exchangeOf(ctx), err)
			}
		})))
	}
}
