// Package manual owns the pages at /docs, where developers read about the API and try it. There is
// an overview, a page for each operation and each type of webhook, a guide and a tutorial. Each page is made when
// somebody first asks for it, for the most part from the OpenAPI document, and can be read without scripts. The
// script in edge/web/app/src/docs adds a search, the reader's key in the snippets, and requests.
// Nothing here runs by itself, so nothing has to be stopped.
package manual

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"sync"

	"boxoffice/edge/openapi"
	"boxoffice/edge/route"
	"boxoffice/edge/web"
	"boxoffice/edge/webhook"
)

// Config has what the pages are made from.
type Config struct {
	Ops      []route.Op
	BaseURL  string // the address under which people reach the node, which the snippets call
	Env      string // the environment of the API keys that are valid here: live or test
	Document func() (*openapi.Document, error)
}

// root is the path under which all pages are.
const root = "/docs"

// cache is the Cache-Control of the pages: how long clients may keep one without asking again.
const cache = "public, max-age=60"

//go:embed page.html
var pageSource string

// A part of a template gets only one value. These functions of the template pack the words of the
// page's language into that value.
var pageTemplate = template.Must(template.New("manual").Funcs(template.FuncMap{
	"within": func(w *words, all []field) fieldsIn { return fieldsIn{w, all} },
	"at":     func(w *words, f field) fieldIn { return fieldIn{w, f} },
}).Parse(pageSource))

// fieldsIn and fieldIn are the values for parts of the template: what the part shows, with the
// words of the page's language.
type (
	fieldsIn struct {
		Words  *words
		Fields []field
	}
	fieldIn struct {
		Words *words
		Field field
	}
)

// manual makes the pages. read returns the document, which it reads at its first call.
type manual struct {
	Config
	built *web.Built
	read  func() (*reference, error)
}

// Files returns the pages. Their addresses come from the route table and the catalogue of webhooks,
// so they are known before the document is made.
func Files(cfg Config) ([]web.File, error) {
	built, err := web.ReadBuilt("docs.html")
	if err != nil {
		return nil, err
	}
	m := &manual{Config: cfg, built: built, read: sync.OnceValues(func() (*reference, error) {
		doc, err := cfg.Document()
		if err != nil {
			return nil, err
		}
		return readReference(doc.JSON)
	})}
	files := []web.File{m.file("", m.describeOverview), m.file("guide", m.describeGuide), m.file("seated-sale", m.describeSeatedSale)}
	var names []string
	for i := range webhook.Catalogue {
		names = append(names, "webhook."+webhook.Catalogue[i].Name)
	}
	for i := range cfg.Ops {
		names = append(names, cfg.Ops[i].ID)
	}
	for _, name := range names {
		files = append(files, m.file(name, func(r *reference, s *shown) error { return m.describeOperation(r, s, name) }))
	}
	return files, nil
}

// shown is what the template of a page shows.
type shown struct {
	Words *words
	Env   string
	Name  string // the page's name, which is the end of its address
	Title string
	Areas []area
	Text  template.HTML // the text of a page that describes no operation
	Op    *operation
	// Snippets are the calls of the operation. There are none for a webhook, because the service sends it
	// and no reader calls it.
	Snippets []snippet
}

// file returns a page that is made when somebody first asks for it, once for each language.
// describe fills in what the page shows.
func (m *manual) file(name string, describe func(*reference, *shown) error) web.File {
	path := root
	if name != "" {
		path += "/" + name
	}
	print := func(german bool) func() ([]byte, error) {
		return func() ([]byte, error) {
			r, err := m.read()
			if err != nil {
				return nil, err
			}
			s := &shown{Words: wordsIn(german), Env: m.Env, Name: name, Areas: r.areas}
			if err := describe(r, s); err != nil {
				return nil, fmt.Errorf("page %s: %w", path, err)
			}
			var body bytes.Buffer
			if err := m.built.Write(&body, pageTemplate, s); err != nil {
				return nil, err
			}
			return body.Bytes(), nil
		}
	}
	return web.File{Path: path, Type: "text/html; charset=utf-8", Policy: web.Policy, Cache: cache, Print: print(false), PrintGerman: print(true)}
}

// describeOverview fills in the page at the root, which shows the introduction of the OpenAPI
// document.
func (m *manual) describeOverview(r *reference, s *shown) (err error) {
	s.Title = s.Words.Overview
	s.Text, err = renderMarkdown(r.description)
	return err
}

// describeGuide fills in the developer's guide.
func (m *manual) describeGuide(_ *reference, s *shown) (err error) {
	s.Title = s.Words.Guide
	s.Text, err = makeGuide(m.BaseURL)
	return err
}

// describeSeatedSale fills in the tutorial about a sale of seats.
func (m *manual) describeSeatedSale(_ *reference, s *shown) (err error) {
	s.Title = s.Words.SeatedSale
	s.Text, err = makeSeatedSale(m.BaseURL)
	return err
}

// describeOperation fills in the page of an operation or of a type of webhook. A webhook
// has no method: the service sends it, so there are no snippets that call it.
func (m *manual) describeOperation(r *reference, s *shown, name string) error {
	op := r.operations[name]
	if op == nil {
		return fmt.Errorf("the document lacks it")
	}
	d := describer{r, s.Words}
	var err error
	if s.Op, err = d.describeOperation(op); err != nil {
		return err
	}
	s.Title = s.Op.Summary
	if op.Method != "" {
		s.Snippets, err = makeSnippets(m.BaseURL, m.Env, s.Op)
	}
	return err
}
