package server

import (
	"strings"

	"boxoffice/edge/openapi"
	"boxoffice/edge/web"
)

// registerPages adds the pages that people open in a browser.
func (s *Server) registerPages() error {
	files, err := web.Files()
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
	if err := s.registerFiles(files); err != nil {
		return err
	}
	return s.registerShop()
}

// registerDocument adds the OpenAPI document in both of its forms, and the page
// on which people read it.
func (s *Server) registerDocument() error {
	files := []openapi.File{
		{Path: "/api/v1/openapi.json", Type: "application/json", Body: s.cfg.Document.JSON},
		{Path: "/api/v1/openapi.yaml", Type: "application/yaml", Body: s.cfg.Document.YAML},
	}
	page, err := openapi.Page()
	if err != nil {
		return err
	}
	var out []web.File
	for _, f := range append(files, page...) {
		w := web.File{Path: f.Path, Type: f.Type, Cache: "public, max-age=60", Body: f.Body}
		if strings.HasPrefix(f.Type, "text/html") {
			w.Policy = openapi.PagePolicy
		}
		out = append(out, w)
	}
	return s.registerFiles(out)
}

func (s *Server) registerFiles(files []web.File) error {
	for _, f := range files {
		static, err := web.NewStatic(f)
		if err != nil {
			return err
		}
		s.read(f.Path, s.countPage(static.Serve))
	}
	return nil
}
