package openapi

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/swaggest/swgui/v5/static"
)

//go:embed page
var page embed.FS

// PagePolicy is the page's Content-Security-Policy: scripts and styles of this
// server, requests to this server, nothing else. Swagger UI's style sheet
// carries its icons.
const PagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// File is one file of the page.
type File struct {
	Path string
	Type string // of its content
	Body []byte
}

// Page are the files of the page on which people read the document and try the
// API: its own, and Swagger UI's. The first one is what a browser opens. base is where people
// reach the node; the snippets of the guide and of the walk go there.
func Page(base string) ([]File, error) {
	const html, script, style = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8"
	var files []File
	for _, f := range []struct {
		path, contentType string
		from              embed.FS
		name              string
	}{
		{"/docs", html, page, "page/index.html"},
		{"/docs/page.js", script, page, "page/page.js"},
		{"/docs/page.css", style, page, "page/page.css"},
		{"/docs/swagger-ui-bundle.js", script, static.FS, "swagger-ui-bundle.js.gz"},
		{"/docs/swagger-ui.css", style, static.FS, "swagger-ui.css.gz"},
		{"/docs/favicon.png", "image/png", static.FS, "favicon-32x32.png"},
	} {
		body, err := f.from.ReadFile(f.name)
		if err == nil && strings.HasSuffix(f.name, ".gz") {
			body, err = unzip(body)
		}
		if err != nil {
			return nil, fmt.Errorf("page: %s: %w", f.name, err)
		}
		files = append(files, File{f.path, f.contentType, body})
	}
	walk, err := makeSeatedSale(base)
	if err != nil {
		return nil, err
	}
	text, err := makeGuide(base)
	return append(files, File{"/docs/seated-sale", html, walk}, File{"/docs/guide", html, text}), err
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
