// Package manual owns the pages at /docs, on which developers read the API and try it: an overview,
// a page for each operation and for each type of webhook, and the guide. They are made of the OpenAPI
// document, each when somebody first asks for it, and can be read without scripts; what a script adds
// (search, the reader's key in the snippets, requests) is edge/web/app/src/docs. Nothing here runs on
// its own.
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

// Config is what the pages are made of.
type Config struct {
	Ops      []route.Op
	BaseURL  string // where people reach the node; snippets go there
	Env      string // live or test, as of the keys that work here
	Document func() (*openapi.Document, error)
}

// root is the address of the pages.
const root = "/docs"

// cache is how long clients may keep a page, as Cache-Control says it.
const cache = "public, max-age=60"

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("manual").Funcs(template.FuncMap{
	"within": func(w *words, all []field) fieldsIn { return fieldsIn{w, all} },
	"at":     func(w *words, f field) fieldIn { return fieldIn{w, f} },
}).Parse(pageSource))

// fieldsIn and fieldIn are fields with the words of the page that shows them.
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

// manual makes the pages.
type manual struct {
	Config
	built *web.Built
	read  func() (*reference, error)
}

// Files are the pages. Their addresses are known before the document is made.
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

// shown is what the template shows.
type shown struct {
	Words    *words
	Env      string
	Name     string // of the page in its address
	Title    string
	Areas    []area
	Text     template.HTML // of a page that is not an operation's
	Op       *operation
	Snippets []snippet // nil: nobody calls it
}

// file is a page that is made in a language when somebody first asks for it in that language.
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

func (m *manual) describeOverview(r *reference, s *shown) (err error) {
	s.Title = s.Words.Overview
	s.Text, err = renderMarkdown(r.description)
	return err
}

func (m *manual) describeGuide(_ *reference, s *shown) (err error) {
	s.Title = s.Words.Guide
	s.Text, err = makeGuide(m.BaseURL)
	return err
}

func (m *manual) describeSeatedSale(_ *reference, s *shown) (err error) {
	s.Title = s.Words.SeatedSale
	s.Text, err = makeSeatedSale(m.BaseURL)
	return err
}

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
