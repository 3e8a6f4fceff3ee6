package web_test

import (
	"bytes"
	"compress/gzip"
	"image"
	"image/png"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/api"
	"boxoffice/edge/edgetest/hostile"
	"boxoffice/edge/web"
)

var asset = regexp.MustCompile(`(?:src|href)="(/web/assets/[^"]+)"`)

// budgets are how many bytes of script a page may load before it is of use, gzipped.
var budgets = map[string]int{"/": 40 << 10, "/e/{slug}": 40 << 10, "/by/{slug}": 40 << 10, "/e/{slug}/checkout": 45 << 10, "/e/{slug}/queue": 45 << 10, "/draw/{event}": 45 << 10, "/o/{id}": 45 << 10, "/help": 40 << 10, "/learn/{id}": 45 << 10, "/certificates/{number}": 40 << 10, "/me": 45 << 10, "/me/{view:*}": 45 << 10, "/tickets/claim": 40 << 10, "/waitlist": 40 << 10, "/gate": 45 << 10, "/organizer": 50 << 10, "/organizer/{view:*}": 50 << 10, "/portal": 50 << 10, "/portal/{view:*}": 50 << 10}

func builtPages(t *testing.T) (pages map[string]string, assets map[string][]byte) {
	t.Helper()
	list, err := web.App()
	require.NoError(t, err)
	pages, assets = map[string]string{}, map[string][]byte{}
	for _, f := range list {
		switch {
		case strings.HasPrefix(f.Type, "text/html"):
			if f.Path == "/gate" {
				require.Equal(t, web.GatePolicy, f.Policy, f.Path)
			} else {
				require.Equal(t, web.Policy, f.Policy, f.Path)
			}
			require.Equal(t, "no-cache", f.Cache, f.Path)
			pages[f.Path] = string(f.Body)
		case strings.HasPrefix(f.Path, "/web/"):
			require.Contains(t, f.Cache, "immutable", f.Path)
			require.Regexp(t, `-[\w-]{8}\.(js|css)$`, f.Path)
			assets[f.Path] = f.Body
		}
	}
	var b strings.Builder
	page, err := web.NewEventPage("https://tickets.example")
	require.NoError(t, err)
	require.NoError(t, page.Write(&b, nil))
	pages["/e/{slug}"] = b.String()
	b.Reset()
	organizer, err := web.NewOrganizerPage("https://tickets.example")
	require.NoError(t, err)
	require.NoError(t, organizer.Write(&b, nil))
	pages["/by/{slug}"] = b.String()
	return pages, assets
}

// What a page loads is there, from this server, and within its budget.
func TestBuiltPagesKeepTheirBudgets(t *testing.T) {
	t.Parallel()
	pages, assets := builtPages(t)
	for at, page := range pages {
		require.NotRegexp(t, `<style|\sstyle=|<script>|\son[a-z]+="|https?://`, page, at)
		size := 0
		for _, m := range asset.FindAllStringSubmatch(page, -1) {
			body, ok := assets[m[1]]
			require.True(t, ok, "%s loads %s", at, m[1])
			if path.Ext(m[1]) != ".js" {
				continue
			}
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			_, _ = w.Write(body) // a buffer takes everything
			require.NoError(t, w.Close())
			size += zipped.Len()
		}
		require.Contains(t, budgets, at)
		require.Less(t, size, budgets[at], at)
		t.Logf("%s: %d bytes of script", at, size)
	}
}

// TestHostileEventPage sets the texts of an event to hostile ones: the page stays that of
// a harmless event, element by element.
func TestHostileEventPage(t *testing.T) {
	t.Parallel()
	page, err := web.NewEventPage("https://tickets.example")
	require.NoError(t, err)
	show := func(s string) string {
		e := &api.Event{
			Slug: "x", Title: s, ShortDesc: &s, Description: &s, VenueName: &s, VenueCity: &s, Visibility: "public", CoverImage: &s,
			Organizer: &api.Organizer{Name: s}, Page: &api.Customization{SEODescription: &s, SEOImage: &s},
			TicketTypes: []api.TicketType{{Name: s, PriceTotal: "1.00", Currency: "USD"}}, Schedule: []api.ScheduledSession{{SessionTitle: s}},
		}
		var b strings.Builder
		require.NoError(t, page.Write(&b, e))
		return b.String()
	}
	harmless := hostile.Shape(t, show("x"))
	for _, text := range slices.Concat(hostile.Texts, hostile.Scripts) {
		require.Equal(t, harmless, hostile.Shape(t, show(text)), "%q", text)
	}
}

// TestHostileOrganizerPage does the same with the texts of an organization, its events and reviews.
func TestHostileOrganizerPage(t *testing.T) {
	t.Parallel()
	page, err := web.NewOrganizerPage("https://tickets.example")
	require.NoError(t, err)
	show := func(s string) string {
		card := api.Card{Slug: "x", Title: s, VenueName: &s, LowestPriceTotal: &s, Currency: s}
		o := &api.OrganizerPage{
			Organizer: api.Organizer{Slug: "x", Name: s, Description: &s, LogoURL: &s}, Upcoming: []api.Card{card}, Past: []api.Card{card},
			Reviews: []api.OrganizerReview{{Event: s, Slug: "x", Rating: 5, Body: s, AuthorName: &s, Reply: &s}},
		}
		var b strings.Builder
		require.NoError(t, page.Write(&b, o))
		return b.String()
	}
	harmless := hostile.Shape(t, show("x"))
	for _, text := range slices.Concat(hostile.Texts, hostile.Scripts) {
		require.Equal(t, harmless, hostile.Shape(t, show(text)), "%q", text)
	}
}

// Messengers find an event's picture from anywhere, in a format that they show.
func TestSharedPicture(t *testing.T) {
	t.Parallel()
	page, err := web.NewEventPage("https://tickets.example")
	require.NoError(t, err)
	for cover, shared := range map[string]string{
		"/media/12":                            "https://tickets.example/media/12/og.jpg",
		"https://tickets.example/media/12":     "https://tickets.example/media/12/og.jpg", // as the API names it
		"https://tickets.example.org/media/12": "https://tickets.example.org/media/12",
		"/media/12/web.webp":                   "https://tickets.example/media/12/web.webp",
		"https://elsewhere.example":            "https://elsewhere.example",
		"":                                     "https://tickets.example/covers/arts/ev_1/og.png", // none: one is drawn
	} {
		var b strings.Builder
		require.NoError(t, page.Write(&b, &api.Event{ID: "ev_1", Category: "arts", Slug: "x", Title: "X", Visibility: "public", CoverImage: &cover, Page: &api.Customization{}}))
		require.Contains(t, b.String(), `<meta property="og:image" content="`+shared+`">`)
		require.Contains(t, b.String(), `"image":"`+shared+`"`)
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	for _, category := range []string{"concerts", "theatre", "sports", "online-course", "conferences", "", `"><script>`} {
		one := string(web.Cover(category, "a"))
		require.Equal(t, one, string(web.Cover(category, "a")))
		require.NotEqual(t, one, string(web.Cover(category, "b")))
		require.NotContains(t, one, "script")
		require.NotContains(t, one, "NaN")
		shared, err := web.CoverPNG(category, "a")
		require.NoError(t, err)
		picture, err := png.Decode(bytes.NewReader(shared))
		require.NoError(t, err)
		require.Equal(t, image.Rect(0, 0, 1200, 630), picture.Bounds())
		require.Less(t, len(shared), 40<<10)
	}
}
