package mail

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"io/fs"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// pageMax is how many mails the list shows.
const pageMax = 100

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Parse(pageSource))

// pagePolicy allows the page only styles and pictures, which must be embedded or our own: no scripts, no
// forms. A mail's HTML is in a frame that inherits this policy and is also sandboxed.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page shows the newest captured mails at /dev/mail, and one of them at /dev/mail/{name}. It checks no
// credentials; the server decides who may see the pages.
func (c *Capture) Page(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderContentSecurityPolicy, pagePolicy)
	h.Set(fasthttp.HeaderXContentTypeOptions, "nosniff")
	h.Set(fasthttp.HeaderReferrerPolicy, "no-referrer")
	h.Set(fasthttp.HeaderCacheControl, "no-store")
	var (
		shown any
		err   error
		show  = "list"
	)
	if name, ok := ctx.UserValue("name").(string); ok {
		show = "mail"
		shown, err = c.Read(name)
	} else {
		shown, err = c.List(pageMax)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		ctx.Error("No such mail.", fasthttp.StatusNotFound)
		return
	case err == nil:
		ctx.SetContentType("text/html; charset=utf-8")
		err = page.ExecuteTemplate(ctx, show, shown)
	}
	if err != nil {
		ctx.Error("The captured mails cannot be read.", fasthttp.StatusInternalServerError)
	}
}

// Headers returns the mail's headers, in alphabetical order.
func (m *Captured) Headers() []string {
	out := make([]string, 0, len(m.Header))
	for name, values := range m.Header {
		for _, value := range values {
			out = append(out, name+": "+value)
		}
	}
	slices.Sort(out)
	return out
}

// Shown returns the mail's HTML with its pictures embedded as data: addresses.
func (m *Captured) Shown() string {
	var pairs []string
	for cid, png := range m.Pictures {
		pairs = append(pairs, `src="cid:`+cid+`"`, `src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(png)+`"`)
	}
	return strings.NewReplacer(pairs...).Replace(m.HTML)
}
