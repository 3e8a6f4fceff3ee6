package pages

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestTransfer buys by bank transfer: the order's page says where the money goes, with and without
// scripts, so does the mail, and the tickets are there when the organizer has seen it (make pages).
func TestTransfer(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"english": laptop, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t, func(c *node.Config) {
				c.Currencies, c.PaysimProviders = []string{"EUR"}, []string{"stripe", "transfer"}
			})
			event, ids := s.Sell(
				nodetest.Object{"currency": "EUR", "startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
				nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(9 * 24 * time.Hour)}))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			base, began := strings.TrimSuffix(s.URL, "/api/v1"), time.Now()
			b := &buyer{window: chromium.open(t, base+"/help", as), shop: s, name: "transfer-" + name, axe: axe}
			todo, price, done := "Please transfer the money", "€26.25", "Your tickets"
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
				todo, price, done = "Bitte überweise das Geld", "26,25\u00a0€", "Deine Karten"
			}
			b.load(base + "/e/" + slug + "/checkout?t=" + ids[0] + ".1")
			b.there(`input[value="transfer"]`)
			b.fill("#name", "Ada Obi")
			b.fill("#email", "ada@example.org")
			b.choose(`input[value="transfer"]`)
			b.step("chosen", `input[value="transfer"]:checked`)
			b.choose("form button.wide")
			b.heads(todo)
			b.step("told", "dl button")
			require.Equal(t, price, b.text("dd.sum"))
			require.Equal(t, "DE89 3704 0044 0532 0130 00", b.text("dl div:nth-child(3) dd span"))
			b.there(`.qr svg[role="img"]`)

			t.Log("by mail, and on the page without scripts")
			m := s.Mail(t, "ada@example.org", "bank_transfer", began)
			reference := strings.ReplaceAll(b.text("dl div:nth-child(5) dd span"), " ", "")
			require.Contains(t, m.Text, reference)
			link := regexp.MustCompile(`/orders/[0-9a-f-]+\?token=\S+`).FindString(m.Text)
			at, err := url.Parse(base + link)
			require.NoError(t, err)
			w := chromium.open(t, at.String(), as)
			page := &buyer{window: w, shop: s, name: "transfer-plain-" + name, axe: axe}
			page.there(`img[alt="QR code of the transfer"]`)
			page.step("plain", "table")
			require.Contains(t, page.text("main"), reference)

			t.Log("a part, and the rest")
			order := "/organizer/orders/" + strings.TrimPrefix(at.Path, "/orders/")
			s.Own("POST", order+"/paid", nodetest.Object{"amount": 20}).Is(200, "")
			b.until(`document.querySelector("section p[role=status] strong")`)
			b.step("part", "dl button")
			s.Own("POST", order+"/paid", nodetest.Object{"amount": 6.25}).Is(200, "")
			b.heads(done)
			b.step("paid", ".pass svg")
			b.faultless()
		})
	}
}
