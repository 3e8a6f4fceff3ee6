package pages

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestOrganizersOwnPage goes from an event to its organizer's page, reads what is on, was on and is
// said, and follows by the link of a mail; without scripts it reads the same (make pages).
func TestOrganizersOwnPage(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	s := nodetest.Open(t)
	base := strings.TrimSuffix(s.URL, "/api/v1")
	s.Own("PUT", "/organizer/organizations/"+s.Org(), nodetest.Object{
		"name": "Harbour Nights", "description": "We play **by the water**, all year.", "website": "https://nights.example", "socialLinks": nodetest.Object{"mastodon": "https://social.example/@nights"},
	}).Is(200, "")
	event, ids := s.Sell(nodetest.Object{"title": "Jazz on the quay"}, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
	over, _ := s.Sell(nodetest.Object{"title": "Last summer"}, nodetest.TypeBody(20, 100))
	s.Sell(nodetest.Object{"title": "For members", "visibility": "unlisted"}, nodetest.TypeBody(20, 100))
	s.Sell(nodetest.Object{"title": "Blues in the dock"}, nodetest.TypeBody(20, 100))
	order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	require.Equal(t, "success", s.Scan(event, order.Str("tickets.0.qr"), "d1").Str("status"))
	review := s.Call("POST", "/community/reviews", nodetest.Object{
		"ticketCode": order.Str("tickets.0.code"), "email": "ada@example.org", "rating": 4, "body": "A splendid evening.\nCold feet.", "authorName": "Ada",
	}).Is(201, "")
	s.Own("POST", "/community/reviews/"+review.Str("id")+"/reply", nodetest.Object{"body": "There is tea now."}).Is(200, "")
	s.Own("PUT", "/organizer/events/"+over+"/status", nodetest.Object{"status": "in_progress"}).Is(200, "")
	s.Own("PUT", "/organizer/events/"+over+"/status", nodetest.Object{"status": "completed"}).Is(200, "")
	page := s.Call("GET", "/events/"+event, nil).Is(200, "")
	slug := page.Str("organizer.slug")

	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &buyer{window: chromium.open(t, base+"/help", as), shop: s, name: "organizer-" + name, axe: axe}
			on, rated := "What is on", "4 of 5, 1 review"
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
				on, rated = "Was läuft", "4 von 5, 1 Bewertung"
			}
			b.load(base + "/e/" + page.Str("slug"))
			b.choose(`.who a[href^="/by/"]`)
			b.heads("Harbour Nights")
			b.until(`document.querySelectorAll(".grid:not(.past) li").length === 2 && document.querySelectorAll(".past li").length === 1`)
			b.step("page", ".past .price")
			require.Equal(t, on, b.text("section h2"))
			require.Contains(t, b.text(".facts"), rated)
			require.Equal(t, "by the water", b.text(".prose strong"))
			require.Equal(t, "Last summer", b.text(".past h3"))
			require.Contains(t, b.text(".reviews"), "There is tea now.")
			require.NotContains(t, b.text("main"), "For members")
			b.evaluate(`document.querySelector("#said").scrollIntoView()`)
			b.step("said", ".reply")

			require.Equal(t, "webcal://"+strings.TrimPrefix(base, "http://")+"/by/"+slug+"/calendar.ics", b.evaluate(`document.querySelector("#subscribe").href`))

			began, email := time.Now(), name+"@example.org"
			b.choose("#follow")
			b.fill("#follow-email", "nobody")
			b.choose("form button.wide")
			b.step("no-address", "#follow-email[aria-invalid]")
			b.fill("#follow-email", email)
			b.choose("form button.wide")
			b.step("asked", ".note strong")
			b.load(mailedLink(s, "/follow", email, "following", began))
			b.choose("#form button")
			b.until(`document.querySelector("#outcome").innerText !== ""`)
			require.Contains(t, b.text("#outcome"), "Done") // the browser asks for English; German was chosen in the shop
			b.faultless()
		})
	}

	t.Log("search engines find it")
	_, siteMap := s.Get("/sitemap.xml")
	require.Contains(t, siteMap, "/by/"+slug+"</loc>")
	require.Contains(t, siteMap, "/e/"+page.Str("slug")+"</loc>")

	t.Log("a reader without scripts, and addresses that are none")
	res, text := s.Get("/by/" + slug)
	require.Equal(t, http.StatusOK, res.StatusCode)
	for _, want := range []string{"<h1>Harbour Nights</h1>", `<a href="/e/` + page.Str("slug") + `">Jazz on the quay</a>`, "Last summer", "A splendid evening.", `"@type":"Organization"`} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "For members")
	for _, none := range []string{"nobody", s.Org(), "%00", "%ff", strings.Repeat("a", 500)} {
		missing, text := s.Get("/by/" + none)
		require.Equal(t, http.StatusNotFound, missing.StatusCode, none)
		require.Contains(t, text, "This organizer is not here", none)
	}
}
