package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestEventPage shows what an organizer writes as it was meant: a small Markdown, a lineup, ways to
// share; and no date of what is delivered at once (make pages).
func TestEventPage(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	base := strings.TrimSuffix(s.URL, "/api/v1")
	text := "An evening with **singers** and *friends* of snake_case_names.\n\n## What to bring\n- A coat\n- Good [shoes](https://shoes.example/a_b)\n\n1. Come\n2. Stay\n\nMore at https://quay.example/program. [No](javascript:alert(1)) <b>no</b>"
	event, _ := s.Sell(nodetest.Object{
		"description": text, "entities": []any{nodetest.Object{"kind": "artist", "name": "Adaeze Obi", "role": "Saxophone", "setTime": "21:00", "bio": "Plays **loud**."}, nodetest.Object{"kind": "dj", "name": "Bo"}},
	}, nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Floor"}))
	file, _ := s.Sell(nodetest.Object{"title": "A book", "category": "e-books", "endDate": nodetest.Absent}, nodetest.TypeBody(5, 10))
	for _, title := range []string{"A second book", "A third book"} {
		s.Sell(nodetest.Object{"title": title, "category": "e-books", "endDate": nodetest.Absent}, nodetest.TypeBody(5, 10))
	}
	slug := func(id string) string { return s.Call("GET", "/events/"+id, nil).Is(200, "").Str("slug") }
	for name, as := range map[string]size{"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}} {
		b := &buyer{window: openBrowser(t).open(t, base+"/e/"+slug(event), as), shop: s, name: "event-" + name, axe: readAxe(t)}
		b.there(".lineup li:nth-child(2)")
		require.Equal(t, "singers", b.text(".prose strong"))
		require.Equal(t, "friends", b.text(".prose em"))
		require.Contains(t, b.text(".prose p"), "snake_case_names")
		require.Equal(t, "What to bring", b.text(".prose h3"))
		require.Equal(t, "A coat\nGood shoes", b.text(".prose ul"))
		require.Equal(t, "Come\nStay", b.text(".prose ol"))
		require.Equal(t, "https://shoes.example/a_b https://quay.example/program", b.evaluate(`[...document.querySelectorAll(".prose a")].map((a) => a.href).join(" ")`))
		require.Contains(t, b.text(".prose"), "[No](javascript:alert(1)) <b>no</b>")
		require.Equal(t, "Saxophone · 21:00", b.text(".lineup p"))
		b.step("top", "h1")
		b.evaluate(`document.querySelector(".rest").scrollIntoView()`)
		b.step("about", ".prose")
		b.load(base + "/e/" + slug(file))
		b.step("at-once", ".card li")
		require.Equal(t, "Yours at once", b.text("dl dd"))
		b.load(base + "/")
		b.until(`document.querySelectorAll(".grid li a").length === 4`)
		require.EqualValues(t, 1, b.evaluate(`document.querySelectorAll(".grid .when").length`), "a book's card has no date")
		b.step("home", ".grid li:first-child.featured")
		b.load(base + "/?q=book")
		b.until(`document.querySelectorAll(".grid li a").length === 3 && !document.querySelector(".featured")`)
		b.faultless()
	}
}

// TestLayouts shows an event in each layout, with each kind of head and in colours of its own: nothing
// is cut off, all can be read, and what is turned off is not there (make pages).
func TestLayouts(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	s := nodetest.Open(t)
	base := strings.TrimSuffix(s.URL, "/api/v1")
	s.Org() // somebody signs in
	up := s.Upload("/media/upload", nodetest.Upload{Name: "hall.png", Type: "image/png", Body: nodetest.PNG(t, 1600, 900)}, s.Bearer()...).Is(201, "")
	cover := up.Str("primaryUrl")
	event, _ := s.Sell(nodetest.Object{
		"title": "Summer on the quay", "category": "Open air / rock / pop? #1", "shortDesc": "Three days by the water", "description": strings.Repeat("An evening with **singers** and friends. ", 12),
		"coverImage": cover, "gallery": []string{cover, cover}, "highlightVideoUrl": "https://vimeo.com/1", "venueName": "Harbour Hall", "venueAddress": "12 Marina Road", "venueCity": "Lagos", "venueLat": 6.4541, "venueLng": 3.3947,
		"entities": []any{nodetest.Object{"kind": "artist", "name": "Adaeze Obi", "role": "Saxophone"}, nodetest.Object{"kind": "dj", "name": "Bo"}},
	}, nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Floor"}))
	at := base + "/e/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	customize := func(page nodetest.Object) {
		s.Own("PUT", "/organizer/event-customization/"+event, page).Is(200, "")
	}
	b := &buyer{window: chromium.open(t, base+"/help", laptop), shop: s, name: "layout-laptop", axe: axe}
	phone := &buyer{window: chromium.open(t, base+"/help", size{width: 390, height: 844, scale: 2, touch: true, dark: true}), shop: s, name: "layout-phone", axe: axe}
	heads := []string{"image", "video", "gradient", "pattern", "solid", "image"}
	for i, layout := range []string{"classic", "split", "gallery", "minimal", "magazine", "festival"} {
		customize(nodetest.Object{"layoutPattern": layout, "heroStyle": heads[i], "primaryColor": "#5b1e7a", "secondaryColor": "#c2410c", "accentColor": "#b4237a"})
		for _, w := range []*buyer{b, phone} {
			w.load(at)
			w.there("." + layout + " .pictures img")
			w.step(layout+"-"+heads[i], "#countdown")
			if heads[i] == "pattern" {
				w.until(`document.querySelector(".hero").naturalWidth > 0`) // its address has the category, which may be any text
			}
			w.evaluate(`document.querySelector(".rest").scrollIntoView()`)
			w.step(layout+"-below", ".pictures img")
		}
		require.Equal(t, layout == "gallery", b.evaluate(`getComputedStyle(document.querySelector(".pictures")).order === "-1"`))
	}
	require.Equal(t, "On the map", b.text("dd a"))
	b.there("#powered")
	require.Contains(t, b.text(".rest"), "Watch the film at vimeo.com")
	require.Contains(t, b.evaluate(`document.querySelector(".hero").currentSrc`), "/media/", "a size of the picture that fits")
	require.NotContains(t, b.evaluate(`document.querySelector(".pictures img").currentSrc`), "web.webp", "the largest is for larger screens")

	t.Log("colours of its own, where they can be read, and nothing that is turned off")
	customize(nodetest.Object{
		"layoutPattern": "classic", "heroStyle": "image", "backgroundColor": "#fdf6e3", "textColor": "#2b1d0e", "showCountdown": false, "showVenueMap": false, "showSocialShare": false, "showOrganizer": false, "showPoweredBy": false,
	})
	b.load(at)
	b.step("own-colours", ".pictures img")
	require.Equal(t, "rgb(253, 246, 227)", b.evaluate(`getComputedStyle(document.body).backgroundColor`))
	require.Equal(t, false, b.evaluate(`!!document.querySelector("#countdown, dd a, .ways button, .who, #powered")`))
	phone.load(at)
	phone.there(".pictures img")
	require.Equal(t, "rgb(20, 23, 28)", phone.evaluate(`getComputedStyle(document.body).backgroundColor`), "a light ground is not for the night")
	customize(nodetest.Object{"backgroundColor": "#999999", "textColor": "#888888"})
	b.load(at)
	b.there(".pictures img")
	require.Equal(t, "rgb(255, 255, 255)", b.evaluate(`getComputedStyle(document.body).backgroundColor`), "nobody could read it")
	b.faultless()
	phone.faultless()
}
