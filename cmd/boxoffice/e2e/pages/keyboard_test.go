package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// reachByTab presses Tab until the focus is on something, which must be seen to have it.
func (b *buyer) reachByTab(selector string) {
	b.t.Helper()
	b.there(selector)
	for range 80 {
		if b.evaluate(fmt.Sprintf("document.activeElement.matches(%q)", selector)) == true {
			require.NotEqual(b.t, "none", b.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "%s: the focus is seen", selector)
			return
		}
		b.press("Tab")
	}
	require.Fail(b.t, "Tab never comes there", selector)
}

// useByEnter presses Enter on something that Tab comes to.
func (b *buyer) useByEnter(selector string) {
	b.t.Helper()
	b.reachByTab(selector)
	b.press("Enter")
}

// enterText types into a field that Tab comes to.
func (b *buyer) enterText(selector, text string) {
	b.t.Helper()
	b.reachByTab(selector)
	b.write(text)
}

// typeKeys types keys one at a time, as a field of dates and a list want them.
func (b *buyer) typeKeys(text string) {
	b.t.Helper()
	for _, key := range text {
		b.do("Input.dispatchKeyEvent", params{"type": "keyDown", "key": string(key), "text": string(key)})
		b.do("Input.dispatchKeyEvent", params{"type": "keyUp", "key": string(key)})
	}
}

// enterMoment enters a moment into a field of one.
func (b *buyer) enterMoment(selector string, at time.Time) {
	b.t.Helper()
	b.reachByTab(selector)
	b.typeKeys(at.Format("010220060304")) // each part of it goes on to the next once it is full
	b.typeKeys(strings.ToLower(at.Format("PM")[:1]))
}

// TestKeyboard sells, buys and lets in with Tab, Enter, arrows and letters alone (make pages).
func TestKeyboard(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	s := nodetest.Open(t)
	base := strings.TrimSuffix(s.URL, "/api/v1")
	b := &buyer{window: chromium.open(t, base+"/organizer", laptop), shop: s, name: "keyboard"}
	slug := b.sellByKeyboard()
	code := b.buyByKeyboard(base, slug)
	b.admitByKeyboard(base, code)
	b.faultless()
}

// sellByKeyboard brings an organizer from nothing to an event on sale.
func (b *buyer) sellByKeyboard() (slug string) {
	b.t.Helper()
	b.there("#email")
	b.useByEnter("main > .line button")
	b.enterText("#organization", "Lantern Nights")
	b.enterText("#email", "owner@example.org")
	b.enterText("#password", "correct horse")
	b.press("Enter")
	b.useByEnter("#new")
	b.useByEnter("#begin-event")
	b.enterText("#title", "Night of a Hundred Lanterns")
	day := time.Now().AddDate(0, 1, 0).Truncate(24 * time.Hour)
	b.enterMoment("#start", day.Add(20*time.Hour))
	b.enterMoment("#end", day.Add(23*time.Hour))
	b.enterText("#venueName", "Old Harbour")
	b.enterText("#venueCity", "Hamburg")
	b.reachByTab("#venueCountry")
	b.typeKeys("Germ")
	b.enterText("#description", "A hundred lanterns over the water, music from three boats, and tea for everybody who is cold.")
	b.useByEnter("#save")
	b.useByEnter("#add-type")
	b.enterText("#name", "Children")
	b.enterText("#quantity", "100")
	b.useByEnter("#save-type")
	b.there("main .type")
	b.useByEnter("#publish")
	b.reachByTab("#in-shop")
	return fmt.Sprint(b.evaluate(`new URL(document.querySelector("#in-shop").href).pathname`))
}

// buyByKeyboard buys a free ticket, and returns its door code.
func (b *buyer) buyByKeyboard(base, slug string) (code string) {
	b.t.Helper()
	b.load(base + "/")
	b.useByEnter(".grid li a")
	b.until(fmt.Sprintf("location.pathname === %q && document.querySelector('.step button')", slug))
	b.useByEnter(".card .step button:last-child")
	b.useByEnter(".foot a.button[href]")
	b.enterText("#name", "Ada Obi")
	b.enterText("#email", "ada@example.org")
	b.press("Enter")
	b.there(".tickets svg")
	return fmt.Sprint(b.evaluate(`document.querySelector(".door").innerText`))
}

// admitByKeyboard lets the ticket in by its door code.
func (b *buyer) admitByKeyboard(base, code string) {
	b.t.Helper()
	b.load(base + "/gate")
	b.enterText("#gate", "North")
	b.press("Enter")
	enter := func(code string) func() {
		return func() {
			b.until(`!document.querySelector(".verdict")`) // a good one goes by itself
			b.enterText("#door", code)
			b.press("Enter")
		}
	}
	b.awaitVerdict(".verdict.good", enter(code))
	b.awaitVerdict(".verdict.bad", enter("ZZZZZZ"))
	b.useByEnter(".verdict")
	b.until(`!document.querySelector(".verdict")`)
	b.reachByTab("#door")
	b.forget() // the refusal is in the browser's log
}

// TestNarrow opens every page in a window of 320 pixels: nothing is cut off (make pages).
func TestNarrow(t *testing.T) {
	t.Parallel()
	h := seatedBy(t, "theatre", "circle")
	s := h.Shop
	base := strings.TrimSuffix(s.URL, "/api/v1")
	long := "Donaudampfschifffahrtsgesellschaftskapitänsmützenball"
	event, ids := s.Sell(nodetest.Object{"title": long, "venueName": long}, nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free", "name": long}))
	slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	id, token := s.Place("ada.with.a.long.address@example.org", ids[0], 1)
	b := &buyer{window: openBrowser(t).open(t, base+"/", size{width: 320, height: 640, scale: 2, touch: true}), shop: s, name: "narrow-all", axe: readAxe(t)}
	for _, page := range []struct{ name, path, selector string }{
		{"home", "/", ".grid li a"},
		{"event", "/e/" + slug, ".card li"},
		{"checkout", "/e/" + slug + "/checkout?t=" + ids[0] + ".1", "#email"},
		{"order", "/o/" + id + "#token=" + token, ".tickets svg"},
		{"order-without-scripts", "/orders/" + id + "?token=" + token, "h1"},
		{"seats", strings.TrimPrefix(h.Page(), base), "#map"},
		{"gate", "/gate", "#email"},
		{"organizer", "/organizer", "#email"},
		{"portal", "/portal", "#email"},
		{"help", "/help", "details"},
		{"me", "/me", "#email"},
		{"learn", "/learn/" + event, "#email"},
		{"claim", "/tickets/claim#token=x", "#take"},
		{"waitlist", "/waitlist#token=x", "#take"},
		{"confirm", "/email/confirm#token=x", "button"},
		{"reset", "/password/reset#token=x", "input"},
	} {
		b.load(base + page.path)
		b.spared = ""
		if page.name == "order-without-scripts" {
			b.spared = "meta-refresh" // its codes rotate, which nothing else can show without scripts
		}
		b.step(page.name, page.selector)
		wide := `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 320.5 && !e.closest(".hush, nav")).map((e) => e.localName + "#" + e.id + "." + e.className).join()`
		require.Empty(t, b.evaluate(wide), page.name)
	}
	b.faultless()
}
