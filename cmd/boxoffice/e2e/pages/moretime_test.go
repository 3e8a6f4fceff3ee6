package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMoreTime asks for more time at the map, in the checkout and for the order, as whoever reads or
// types slowly does (make pages).
func TestMoreTime(t *testing.T) {
	t.Parallel()
	h := seatedBy(t, "theatre", "circle")
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"english": laptop, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := chromium.open(t, strings.TrimSuffix(h.URL, "/api/v1")+"/help", as)
			b := &buyer{window: w, shop: h.Shop, name: "more-time-" + name, axe: axe}
			ask, given := "More time", "You have more time now."
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
				ask, given = "Mehr Zeit", "Du hast jetzt mehr Zeit."
			}
			b.load(h.Page())
			w.shows("circle-A-1", free)
			w.pickBest()
			b.until(`!document.querySelector("#more").hidden`)
			require.Equal(t, ask, b.text("#more"))
			before, _ := w.run("sale.expires").(float64)
			b.choose("#more")
			b.until(`document.querySelector("#said").innerText === "` + given + `"`)
			require.InDelta(t, before+300_000, w.run("sale.expires"), 1)
			b.step("map", "#more:not([hidden])")
			b.choose("#go")

			b.there(".left progress")
			require.Equal(t, ask, b.text(".left button"))
			b.choose(".left button")
			b.until(`document.querySelector(".left [role=status]").innerText === "` + given + `"`)
			b.until(`(k => JSON.parse(sessionStorage.getItem(k)).expires > ` + "Date.now() + 600_000" + `)(Object.keys(sessionStorage).find(k => k.startsWith("seats:")))`)
			b.step("checkout", ".left button")
			b.faultless()
			b.fill("#name", "Ada Obi")
			b.fill("#email", "ada-"+name+"@example.org")
			b.choose("form button.wide")
			b.there(`button[value="success"]`)
			b.goBack()

			b.until(`location.pathname.startsWith("/o/") && document.querySelector(".left button")`)
			for range 10 {
				b.until(`document.querySelector(".left button:not(:disabled)")`)
				b.choose(".left button")
			}
			b.until(`document.querySelector(".left [role=status]").innerText === "` + given + `"`)
			b.step("order", ".left progress")
		})
	}
}
