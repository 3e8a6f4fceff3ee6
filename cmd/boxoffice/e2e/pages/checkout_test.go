package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestCheckout applies codes in place and chooses how to pay: the sum on the page is the one on the
// button, in the order and at the provider (make pages).
func TestCheckout(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"english": laptop, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t, func(c *node.Config) { c.PaysimProviders = []string{"nowpayments", "flutterwave", "stripe"} })
			event, _ := s.OnSale(nodetest.With(nodetest.TypeBody(19.99, 100), nodetest.Object{"name": "Floor"}))
			s.Own("POST", "/organizer/promo-codes", nodetest.Object{
				"code": "HAFEN10", "discountType": "percentage", "discountValue": 12.5, "validFrom": "2020-01-01T00:00:00Z", "validUntil": "2031-01-01T00:00:00Z",
			}).Is(201, "")
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			base := strings.TrimSuffix(s.URL, "/api/v1")
			b := &buyer{window: chromium.open(t, base+"/help", as), shop: s, name: "checkout-" + name, axe: axe}
			whole, less, bare := "$62.97", "$55.08", "$59.97"
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
				whole, less, bare = "62,97\u00a0$", "55,08\u00a0$", "59,97\u00a0$"
			}
			b.load(base + "/e/" + slug)
			for range 3 {
				b.choose(".card li:nth-child(1) .step button:last-child")
			}
			b.there(".foot a.button[href]")
			require.Equal(t, whole, b.text(".sum strong"), "the event's page says the same")
			b.choose(".foot a.button[href]")
			b.there("fieldset label:nth-of-type(4)")
			require.Equal(t, whole, b.text(".sum strong"))
			b.choose("summary")
			b.fill("#promo", "NOSUCH")
			b.choose(".promo button")
			b.step("no-such-code", "#promo[aria-invalid]")
			b.fill("#promo", "hafen10")
			b.choose(".promo button")
			b.step("code", "li.off")
			require.Equal(t, true, b.evaluate(`document.querySelector("details").open`), "what was typed stays in sight")
			require.Equal(t, less, b.text(".sum strong"))
			require.Contains(t, b.text("form button.wide"), less)
			b.fill("#name", "Ada Obi")
			b.fill("#email", "ada@example.org")

			t.Log("coins, and then a card after all")
			b.choose(`input[value="nowpayments"]`)
			b.step("coins-chosen", "#coin option:nth-child(3)")
			b.choose("form button.wide")
			b.step("deposit", ".address")
			require.Contains(t, b.text(".lines .sum"), less)
			require.Contains(t, b.text(".lines li"), bare, "its line is the price of three, without fees")
			b.choose("main > p > button.quiet")
			b.choose(`input[value="stripe"]`)
			b.step("otherwise", "main > button.wide:not(:disabled)")
			require.Contains(t, b.text("main > button.wide"), less)
			b.faultless()
			b.choose("main > button.wide")
			b.there(`button[value="success"]`)
			require.Contains(t, b.text("body"), "55.08", "the provider asks for the same")
			b.choose(`button[value="success"]`)
			b.until(`location.pathname.startsWith("/o/") && document.querySelectorAll(".pass svg").length`)
			b.step("paid", ".pass svg")
			require.Contains(t, fmt.Sprint(b.text(".lines .sum")), less)
		})
	}
}

// TestGermanMap opens a seat map in German, filters by price, lets the time of its seats run out, and loses the
// network.
func TestGermanMap(t *testing.T) {
	t.Parallel()
	h := seatedBy(t, "theatre", "circle")
	for name, as := range map[string]size{"desktop": laptop, "narrow": {width: 320, height: 640, scale: 2, touch: true, dark: true}} {
		w := openBrowser(t).open(t, strings.TrimSuffix(h.URL, "/api/v1")+"/help", as)
		b := &buyer{window: w, shop: h.Shop, name: "german-map-" + name, axe: readAxe(t)}
		b.choose(`.languages [lang="de"]`)
		b.heads("Hilfe")
		b.load(h.Page())
		w.shows("circle-A-1", free)
		require.Equal(t, "de", w.evaluate("document.documentElement.lang"))
		require.Equal(t, "Plätze suchen", w.text("#best button"))
		dear := w.colour("stalls-C-105")
		require.NotEqual(t, dear, w.colour("circle-A-1"), "prices differ in colour")
		b.choose("#prices button")
		b.until(`document.querySelector("#prices [aria-pressed=true]")`)
		require.NotEqual(t, dear, w.colour("stalls-C-105"), "what costs more has faded")
		b.step("filtered", "#prices [aria-pressed=true]")
		b.choose("#prices button")
		w.pickBest()
		require.Contains(t, w.text("#said"), "gewählt. 2 Plätze, 105,00")
		b.step("chosen", "#time:not([hidden])")
		w.evaluate(`Date.now = ((now) => () => now() + 301_000)(Date.now.bind(Date))`)
		b.until(`document.getElementById("alert").innerText.includes("2 Plätze sind nicht mehr deine: die Zeit ist um.")`)
		b.step("over", "#again:not([hidden])")
		w.faultless()
		w.evaluate(`window.fetch = () => Promise.reject(new TypeError("no network"))`)
		b.choose("#best button")
		b.until(`document.getElementById("alert").innerText.includes("Der Server ist nicht zu erreichen")`)
		w.run(`sale.toggle(sale.index.get("stalls-C-105"))`)
		b.until(`document.getElementById("said").innerText.includes("Der Server ist nicht zu erreichen")`)
	}
}
