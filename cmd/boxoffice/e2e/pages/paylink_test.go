package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestPayLink has a buyer take the link by which somebody else pays, who pays in another window
// (make pages).
func TestPayLink(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"english": laptop, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			event, ids := s.OnSale(nodetest.TypeBody(25, 100))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			base := strings.TrimSuffix(s.URL, "/api/v1")
			b := &buyer{window: chromium.open(t, base+"/help", as), shop: s, name: "pay-link-" + name, axe: axe}
			ask, pays, paid := "Let somebody else pay", "Pay for somebody else", "It is paid"
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
				ask = "Jemand anderen bezahlen lassen"
			}
			b.load(base + "/e/" + slug + "/checkout?t=" + ids[0] + ".1")
			b.fill("#name", "Ada Obi")
			b.fill("#email", "ada@example.org")
			b.choose("form button.wide")
			b.there(`button[value="success"]`)
			b.goBack()
			b.until(`location.pathname.startsWith("/o/")`)
			b.until(`(e => e && (e.click(), true))([...document.querySelectorAll("button")].find(e => e.innerText === "` + ask + `" && !e.disabled))`)
			b.step("order", `a[href*="/pay/"]`)

			payer := &buyer{window: chromium.open(t, b.text(`a[href*="/pay/"]`), as), shop: s, name: "payer-" + name, axe: axe}
			payer.heads(pays)
			payer.step("asked", "form")
			require.NotContains(t, payer.text("body"), "Ada")
			payer.fill("#email", "grace@example.org")
			payer.choose("form button")
			payer.step("begun", `main a strong`)
			payer.choose("main a strong")
			payer.choose(`button[value="success"]`)
			payer.heads(paid)
			payer.step("paid", "h1")
			b.there(".tickets li")
		})
	}
}
