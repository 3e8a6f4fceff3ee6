package server

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/web"
	"boxoffice/engine"
)

// Shop has the functions from which the written pages get their content. Each function answers as if a caller without
// credentials had asked. A refusal such as EVENT_NOT_FOUND means that the public may not see what was asked for.
type Shop struct {
	Event     func(ctx context.Context, slug string, now time.Time) (*api.Event, error)
	Card      func(ctx context.Context, id string, now time.Time) (*api.Event, error) // the event with this id
	Embed     func(ctx context.Context, slug string, now time.Time) (e *api.Event, origins []string, err error)
	Organizer func(ctx context.Context, slug string, now time.Time) (*api.OrganizerPage, error)
	Calendar  func(ctx context.Context, slug, languages string, now time.Time) ([]byte, error) // an organization's events as a calendar file (RFC 5545)
	Paths     func(ctx context.Context, limit int, now time.Time) ([]string, error)            // the paths of the pages that search engines may list, at most limit
}

// maxMapped is the most addresses in the site map, because one file may list 50,000 (sitemaps.org).
const maxMapped = 50_000

// mapAge is how long a site map is served before it is made again. It may lack a new event for that long, and
// longer at a client that keeps it.
const mapAge = 10 * time.Minute

// registerShop adds the built pages and, if cfg.Shop is set, the pages of events and of organizers with the files
// that search engines and other programs read. small are the files of web.Files, which the page for frames needs.
func (s *Server) registerShop(small []web.File) error {
	files, err := web.App()
	if err != nil {
		return err
	}
	if s.cfg.Shop != nil {
		page, err := web.NewEventPage(s.cfg.BaseURL)
		if err != nil {
			return err
		}
		organizer, err := web.NewOrganizerPage(s.cfg.BaseURL)
		if err != nil {
			return err
		}
		s.read("/e/{slug}", s.countPage(lowerSlug(s.writtenPage(func(w io.Writer, slug string, now time.Time) (found bool, err error) {
			e, err := shownIfFound(s.cfg.Shop.Event(s.base, slug, now))
			if err != nil {
				return false, err
			}
			return e != nil, page.Write(w, e)
		}))))
		s.read("/by/{slug}", s.countPage(lowerSlug(s.writtenPage(func(w io.Writer, slug string, now time.Time) (found bool, err error) {
			o, err := shownIfFound(s.cfg.Shop.Organizer(s.base, slug, now))
			if err != nil {
				return false, err
			}
			return o != nil, organizer.Write(w, o)
		}))))
		s.read("/by/{slug}/calendar.ics", s.countPage(lowerSlug(s.serveCalendar)))
		embed, err := web.NewEmbedPage(s.cfg.BaseURL, small)
		if err != nil {
			return err
		}
		s.read("/embed/e/{slug}", s.countPage(lowerSlug(s.embedPage(embed))))
		s.read("/covers/{category}/{id}", s.countPage(serveCover))
		s.read("/covers/{category}/{id}/og.png", s.countPage(s.sharedCover()))
		s.read("/sitemap.xml", s.countPage(s.siteMap()))
		files = append(files, web.File{
			Path: "/robots.txt", Type: "text/plain; charset=utf-8", Cache: "public, max-age=3600",
			Body: []byte("User-agent: *\nDisallow: /api/\nDisallow: /o/\nDisallow: /orders/\nSitemap: " + s.cfg.BaseURL + "/sitemap.xml\n"),
		})
	}
	s.registerFiles(files)
	return nil
}

// shownIfFound returns what a page shows, or nil if the public can see nothing under the page's address. Other
// errors pass through.
func shownIfFound[T any](shown *T, err error) (*T, error) {
	if r, ok := errors.AsType[*engine.Refusal](err); ok && (r.Code == engine.EventNotFound || r.Code == engine.NotFound || r.Code == engine.Validation) {
		return nil, nil //nolint:nilnil // the page says that nothing is here
	}
	return shown, err
}

// writtenPage serves a page that the server writes for a slug. write writes it, and returns false if nothing has
// this slug: the page then says so, with 404.
func (s *Server) writtenPage(write func(w io.Writer, slug string, now time.Time) (found bool, err error)) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		x := exchangeOf(ctx)
		slug, _ := ctx.UserValue("slug").(string)
		var body bytes.Buffer
		found, err := write(&body, decodeUnreserved(slug), x.now)
		if err != nil {
			s.answerError(ctx, x, err)
			return
		}
		status := fasthttp.StatusOK
		if !found {
			status = fasthttp.StatusNotFound
		}
		ctx.SetStatusCode(status)
		ctx.Response.Header.SetCanonical(headerPolicy, []byte(web.Policy))
		ctx.Response.Header.Set(fasthttp.HeaderVary, fasthttp.HeaderAcceptEncoding)
		s.answerTagged(ctx, "text/html; charset=utf-8", body.Bytes())
	}
}

// answerTagged answers with a body that is written for each request, under its entity tag. Clients may keep it
// but must ask each time ("no-cache"); a client that has this very body gets a 304 without it.
func (s *Server) answerTagged(ctx *fasthttp.RequestCtx, mediaType string, body []byte) {
	h, tag := &ctx.Response.Header, entityTag(body)
	h.SetCanonical(headerCacheControl, []byte("no-cache"))
	if coding := web.ChooseCoding(&ctx.Request.Header); coding != "" {
		tag = coding.Tag(tag)
		body = s.packs.packOnce(tag, coding, body)
		h.Set(fasthttp.HeaderContentEncoding, string(coding))
	}
	h.Set(fasthttp.HeaderETag, tag)
	// A 404 is never shortened to a 304, which would tell the client that the page exists.
	if has, is := web.IsUnchanged(&ctx.Request.Header, tag); is && ctx.Response.StatusCode() == fasthttp.StatusOK {
		h.Set(fasthttp.HeaderETag, has)
		h.Del(fasthttp.HeaderContentEncoding)
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	ctx.SetContentType(mediaType)
	ctx.SetBody(body)
}

// serveCalendar serves the events of an organization as a calendar file, to which calendar programs subscribe.
func (s *Server) serveCalendar(ctx *fasthttp.RequestCtx) {
	x := exchangeOf(ctx)
	slug, _ := ctx.UserValue("slug").(string)
	body, err := s.cfg.Shop.Calendar(s.base, decodeUnreserved(slug), languagesOf(ctx), x.now)
	if err != nil {
		s.answerError(ctx, x, err)
		return
	}
	ctx.Response.Header.Set(fasthttp.HeaderVary, fasthttp.HeaderAcceptEncoding+", "+fasthttp.HeaderAcceptLanguage)
	s.answerTagged(ctx, "text/calendar; charset=utf-8", body)
}

// serveCover serves a generated picture for an event that has no picture of its own. The picture depends on the
// address alone: nothing is looked up, and caches may keep it for a year (31,536,000 seconds).
func serveCover(ctx *fasthttp.RequestCtx) {
	category, id := readCover(ctx)
	ctx.Response.Header.SetCanonical(headerCacheControl, []byte("public, max-age=31536000, immutable"))
	ctx.SetContentType("image/svg+xml")
	ctx.SetBody(web.Cover(category, id))
}

// readCover returns the category and the id that the address of a cover names. A category is any text, so the
// address has it percent-encoded. A category that can't be decoded is returned as it was sent.
func readCover(ctx *fasthttp.RequestCtx) (category, id string) {
	category, _ = ctx.UserValue("category").(string)
	id, _ = ctx.UserValue("id").(string)
	if decoded, err := url.PathUnescape(category); err == nil {
		category = decoded
	}
	return category, id
}

// keptCovers is how many drawn covers are kept in memory at most. Each has some 30 KB, so they take about 8 MB.
const keptCovers = 256

// sharedCover serves the same picture as PNG, for link previews in messengers. Drawing one takes 0.2 s of a
// processor, so a stranger must not be able to make the server draw many. It draws only pictures of events that
// everybody may see, one at a time, and keeps up to keptCovers of them.
func (s *Server) sharedCover() fasthttp.RequestHandler {
	var mu sync.Mutex
	type cover struct{ category, id string } // what a picture depends on
	drawn := make(map[cover][]byte)
	draw := func(category, id string) (body []byte, err error) {
		mu.Lock()
		defer mu.Unlock()
		if body = drawn[cover{category, id}]; body != nil {
			return body, nil
		}
		if body, err = web.CoverPNG(category, id); err != nil {
			return nil, err
		}
		if len(drawn) == keptCovers {
			clear(drawn) // a cover that is asked for again is drawn again
		}
		drawn[cover{category, id}] = body
		return body, nil
	}
	return func(ctx *fasthttp.RequestCtx) {
		x := exchangeOf(ctx)
		named, id := readCover(ctx)
		e, err := s.cfg.Shop.Card(s.base, id, x.now)
		if err == nil && (e.ID != id || e.Category != named) { // an event has one picture, not one for each spelling
			err = engine.Refuse(engine.EventNotFound, nil)
		}
		var body []byte
		if err == nil {
			body, err = draw(e.Category, e.ID)
		}
		if err != nil {
			s.answerError(ctx, x, err)
			return
		}
		ctx.Response.Header.SetCanonical(headerCacheControl, []byte("public, max-age=31536000, immutable"))
		ctx.SetContentType("image/png")
		ctx.SetBody(body)
	}
}

// siteMap serves the addresses of the pages that search engines may list, at most maxMapped. The list is long
// and often asked for, so it is made only once every mapAge. The lock is held while it is made, so that
// requests that come at the same time wait for one list instead of making several.
func (s *Server) siteMap() fasthttp.RequestHandler {
	type entry struct {
		Loc string `xml:"loc"`
	}
	var mu sync.Mutex
	var made []byte
	var at time.Time
	draw := func(now time.Time) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if made != nil && now.Sub(at) < mapAge {
			return made, nil
		}
		paths, err := s.cfg.Shop.Paths(s.base, maxMapped-1, now) // the front page is listed too
		if err != nil {
			return nil, err
		}
		list := struct {
			XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
			URLs    []entry  `xml:"url"`
		}{URLs: []entry{{s.cfg.BaseURL + "/"}}}
		for _, path := range paths {
			list.URLs = append(list.URLs, entry{s.cfg.BaseURL + path})
		}
		body, err := xml.Marshal(&list)
		if err != nil {
			return nil, err
		}
		made, at = append([]byte(xml.Header), body...), now
		return made, nil
	}
	return func(ctx *fasthttp.RequestCtx) {
		x := exchangeOf(ctx)
		body, err := draw(x.now)
		if err != nil {
			s.answerError(ctx, x, err)
			return
		}
		ctx.Response.Header.SetCanonical(headerCacheControl, []byte("public, max-age=600"))
		ctx.SetContentType("application/xml")
		ctx.SetBody(body)
	}
}
