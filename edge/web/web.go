// Package web owns the pages that people open in a browser. The pages in page/ and the pages that the server
// writes are plain HTML, style sheets and scripts; the pages of app/ are built before, into dist/. All are part of
// the program and load nothing from other servers. Their scripts use only the public API.
//
// The edge serves what Files and App return, and its own fixed files, as Static. The package runs nothing on its
// own.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/valyala/fasthttp"
)

//go:embed page
var pages embed.FS

// Policy is the pages' Content-Security-Policy. It allows scripts, styles, pictures, films and
// requests of this server and pictures that stand in the page itself (data:), and nothing else.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// File is a file that stays the same as long as the node runs, for all readers who prefer the same language.
type File struct {
	Path   string // the address, as a route's: it may have {parameters}
	Type   string // the type of its content, for Content-Type
	Policy string // the Content-Security-Policy of a page or a service worker; empty: the answer has none
	Cache  string // the header Cache-Control, which says how long clients may keep the file
	Body   []byte
	German []byte // the body for readers who prefer German; empty: everybody gets the Body
	// Print makes the body when somebody first asks for the file. If it is nil, Body is the body.
	Print func() ([]byte, error)
	// PrintGerman makes the German body in the same way. If it is nil, German is the body, if there is one.
	PrintGerman func() ([]byte, error)
}

// These are the values of Cache-Control: what clients may keep, and for how long.
const (
	cacheAsk     = "no-cache" // clients ask each time whether the file has changed
	cacheDay     = "public, max-age=86400"
	cacheForever = "public, max-age=31536000, immutable"
)

// types holds the type of a file's content, by the file's extension.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".ico":  "image/x-icon",

	".webmanifest": "application/manifest+json",
}

// routes holds the addresses of the files in page/ that are pages. The address of every other file there
// contains a hash of all files, so it changes with their content.
var routes = map[string]string{
	"seats.html": "/e/{slug}/seats",
}

// version is a placeholder. In the pages of page/ it stands for a hash of all files there, so that the files of two
// versions of the program have different addresses. In service workers it stands for the worker's version.
const version = "{version}"

// rushScript loads the script that plays other buyers on the page of seats, for the demo.
const rushScript = "\n" + `<script type="module" src="/web/{version}/rush.js"></script>`

// Files returns the pages of page/, the pages behind mailed links, and the files that both need. With the demo, the
// page of seats also loads the demo's crowd. The address of every file that is no page has a hash of all files in
// page/. So clients may keep it for ever, and never combine files of two versions that do not fit each other.
func Files(demo bool) ([]File, error) {
	entries, err := pages.ReadDir("page")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	files := make([]File, 0, len(entries))
	sum := sha256.New()
	for _, e := range entries {
		body, err := fs.ReadFile(pages, "page/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		f := File{Path: e.Name(), Type: types[path.Ext(e.Name())], Body: body}
		if f.Type == "" {
			return nil, fmt.Errorf("web: %s: unknown type", f.Path)
		}
		files = append(files, f)
		_, _ = sum.Write(body) // never fails
	}
	base := "/web/" + hex.EncodeToString(sum.Sum(nil)[:8])
	for i := range files {
		f := &files[i]
		route, page := routes[f.Path]
		if !page {
			f.Path, f.Cache = base+"/"+f.Path, cacheForever
			continue
		}
		f.Path, f.Policy, f.Cache = route, Policy, cacheAsk
		rush := ""
		if demo {
			rush = rushScript
		}
		f.Body = bytes.Replace(f.Body, []byte("{rush}"), []byte(rush), 1)
		f.Body = bytes.ReplaceAll(f.Body, []byte("/web/"+version), []byte(base))
	}
	// The pages to which mailed links lead need the address of their style sheet and their script, which
	// is known only now.
	mailed, err := drawMailed(base+"/paper.css", base+"/act.js")
	return append(files, mailed...), err
}

// Static serves a File. It makes and compresses the file when somebody first asks for it. Most files of a node
// are never asked for, and to compress all of them takes a core for half a second.
type Static struct {
	file   File
	body   *packed
	german *packed // nil: everybody gets the same
}

// packed is a body in the forms in which it is sent. Each form is made once.
type packed struct {
	plain func() (*plainBody, error)
	coded map[Coding]func() []byte // a function may be called only after plain has returned without an error
}

type plainBody struct {
	text []byte
	tag  string // the entity tag; Coding.Tag makes the tags of the other forms
}

// NewStatic makes the Static of a file. If several requests come before the body is made, one of them makes it
// and the others wait (sync.OnceValues). If Print fails, every later request gets the same error.
func NewStatic(f File) *Static {
	s := &Static{file: f, body: newPacked(f.Path, f.Body, f.Print)}
	if len(f.German) > 0 || f.PrintGerman != nil {
		s.german = newPacked(f.Path, f.German, f.PrintGerman)
	}
	return s
}

// newPacked prepares the forms of a body; it makes none of them yet. If write is not nil, the body is what
// write returns, and the argument body is ignored.
func newPacked(path string, body []byte, write func() ([]byte, error)) *packed {
	p := &packed{coded: make(map[Coding]func() []byte)}
	p.plain = sync.OnceValues(func() (*plainBody, error) {
		if write != nil {
			var err error
			if body, err = write(); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		sum := sha256.Sum256(body) // of the plain body, so that equal bodies have equal tags on all nodes
		return &plainBody{text: body, tag: `"` + hex.EncodeToString(sum[:12]) + `"`}, nil
	})
	for _, c := range codings {
		p.coded[c] = sync.OnceValue(func() []byte { return c.Pack(body) })
	}
	return p
}

// Serve answers with the file. It serves the German body if there is one and the reader prefers
// German, and answers 304 to a reader that has the file already. It returns an error only if Print or
// PrintGerman failed.
func (s *Static) Serve(ctx *fasthttp.RequestCtx, german bool) error {
	// Vary keeps caches on the way from giving one reader's form to another.
	body, vary := s.body, fasthttp.HeaderAcceptEncoding
	if s.german != nil {
		vary += ", " + fasthttp.HeaderAcceptLanguage
		if german {
			body = s.german
		}
	}
	plain, err := body.plain()
	if err != nil {
		return err
	}
	h, coding := &ctx.Response.Header, ChooseCoding(&ctx.Request.Header)
	tag := coding.Tag(plain.tag)
	h.Set(fasthttp.HeaderVary, vary)
	h.Set(fasthttp.HeaderCacheControl, s.file.Cache)
	if s.file.Policy != "" {
		h.Set(fasthttp.HeaderContentSecurityPolicy, s.file.Policy)
	}
	h.Set(fasthttp.HeaderETag, tag)
	if has, is := IsUnchanged(&ctx.Request.Header, tag); is {
		// The 304 must have the tag of the form that the reader has, which may be another form.
		h.Set(fasthttp.HeaderETag, has)
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	ctx.SetContentType(s.file.Type)
	if coding == "" {
		ctx.SetBody(plain.text)
		return nil
	}
	h.Set(fasthttp.HeaderContentEncoding, string(coding))
	ctx.SetBody(body.coded[coding]())
	return nil
}
