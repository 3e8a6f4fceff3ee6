package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestEmbed lets an organizer put an event on a page of another origin, where a buyer chooses tickets and comes to
// the checkout in a tab of the shop; a third origin is refused, and so is every other page (make pages).
func TestEmbed(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "narrow": {width: 320, height: 640, scale: 2, touch: true, language: "de"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			s.Org() // its owner has an account from here on
			_, ids := s.Sell(nodetest.Object{"title": `Jazz "on" the quay`}, nodetest.TypeBody(25, 100), nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free", "name": "Children"}))
			o := &embedder{organizer{began: time.Now(), width: as.width, buyer: buyer{window: chromium.open(t, base+"/organizer/settings/embed", as), shop: s, name: "embed-" + name, axe: axe}}}
			own, other := o.site(), o.site()
			snippets := o.allow(own.URL)
			o.load(base + "/embed/e/" + s.Call("GET", "/events?limit=1", nil).Is(200, "").Str("items.0.slug"))
			o.step("alone", ".step button")
			o.faultless()
			o.showAt(own, snippets["widget"], ids)
			o.showAt(own, snippets["frame"], ids)
			o.refusedAt(other, snippets["frame"])
			o.refusedAt(own, strings.Replace(snippets["frame"], "/embed/e/", "/e/", 1))
			o.refusedAt(own, strings.Replace(snippets["frame"], "/embed/e/", "/embed/e/no-such-", 1))
		})
	}
}

// embedder is an organizer with a site of its own.
type embedder struct{ organizer }

// site is a site of another origin, whose page /?body= has a body.
func (o *embedder) site() *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Harbour Nights</title><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><h1>Harbour Nights</h1>%s`, r.FormValue("body"))
	}))
	o.t.Cleanup(server.Close)
	return server
}

// allow lets a site frame the organization's events, and returns the snippets for it.
func (o *embedder) allow(origin string) map[string]string {
	o.t.Helper()
	o.fill("#email", "owner@example.org")
	o.fill("#password", "correct horse")
	o.press("Enter")
	o.fill("#origins", "https://shop.example.org/tickets")
	o.choose("#save-origins")
	o.step("no-origin", "#origins[aria-invalid]")
	o.forget() // the refusal is in the browser's log
	o.fill("#origins", "HTTPS://www.Example.org/\n"+origin)
	o.choose("#save-origins")
	o.until(`document.querySelector("#origins").value.endsWith("https://www.example.org")`)
	o.step("saved", "#snippet-widget")
	o.evaluate(`document.querySelector("#snippet-widget").scrollIntoView()`)
	o.step("snippets", "#snippet-button")
	snippets := map[string]string{}
	for _, name := range []string{"widget", "frame", "button"} {
		snippets[name] = o.evaluate(fmt.Sprintf(`document.querySelector("#snippet-%s").textContent`, name)).(string)
		require.Contains(o.t, snippets[name], o.origin)
	}
	return snippets
}

// open opens a site's page with a snippet, in a window that may ask two origins.
func (o *embedder) open(site *httptest.Server, snippet string) *buyer {
	o.t.Helper()
	b := &buyer{window: o.browser.open(o.t, site.URL+"/?body="+url.QueryEscape(snippet), o.as), shop: o.shop, name: o.name, axe: o.axe} // its requests go to two origins, so it is not faultless
	b.there("iframe")
	return b
}

// inFrame evaluates an expression in the frame of the page, beside its scripts. It returns nil while the frame has no document of the shop.
func (b *buyer) inFrame(expression string) any {
	b.t.Helper()
	var tree struct {
		FrameTree struct {
			ChildFrames []struct{ Frame struct{ ID, URL string } }
		}
	}
	b.send(b.t, b.session, "Page.getFrameTree", nil, &tree)
	for _, child := range tree.FrameTree.ChildFrames {
		if strings.HasPrefix(child.Frame.URL, strings.TrimSuffix(b.shop.URL, "/api/v1")) {
			var made struct{ ExecutionContextID int }
			b.send(b.t, b.session, "Page.createIsolatedWorld", params{"frameId": child.Frame.ID}, &made)
			var r struct{ Result struct{ Value any } }
			b.send(b.t, b.session, "Runtime.evaluate", params{"expression": expression, "contextId": made.ExecutionContextID, "returnByValue": true, "userGesture": true}, &r)
			return r.Result.Value
		}
	}
	return nil
}

// untilInFrame waits until an expression has a value in the frame.
func (b *buyer) untilInFrame(expression string, value any) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.inFrame(expression) == value }, browserTime/2, 50*time.Millisecond, expression)
}

// showAt shows the event on a site, chooses tickets there, and follows to the checkout in a tab of its own.
func (o *embedder) showAt(site *httptest.Server, snippet string, ids []string) {
	o.t.Helper()
	b := o.open(site, snippet)
	b.kept = 20
	b.until(`document.querySelector("iframe").getBoundingClientRect().width > 250`)
	b.untilInFrame(`document.querySelectorAll(".step:not([hidden])").length`, 2.0)
	require.Equal(o.t, `Jazz "on" the quay`, b.inFrame(`document.querySelector("h1").innerText`))
	b.inFrame(`document.querySelectorAll(".step button")[1].click(); document.querySelectorAll(".step button")[1].click()`)
	link := b.inFrame(`document.querySelector(".buy").href`)
	require.Contains(o.t, link, "/checkout?t="+ids[0]+".2")
	require.Equal(o.t, "_blank", b.inFrame(`document.querySelector(".buy").target`))
	b.step("at-a-site", "iframe")
	if strings.HasPrefix(snippet, "<script") {
		height := b.inFrame(`document.documentElement.getBoundingClientRect().height`).(float64)
		b.until(fmt.Sprintf(`Math.abs(document.querySelector("iframe").getBoundingClientRect().height - %f) < 2`, height))
	}
	o.load(link.(string))
	o.there("#email")
	require.Contains(o.t, o.text("main"), "2")
	o.faultless()
}

// refusedAt makes sure that a site shows nothing of ours.
func (o *embedder) refusedAt(site *httptest.Server, snippet string) {
	o.t.Helper()
	b := o.open(site, snippet)
	b.until(`document.readyState === "complete"`)
	require.Eventually(o.t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.Contains(strings.Join(b.wrong, "\n"), "frame-ancestors")
	}, browserTime/2, 50*time.Millisecond, "the browser says why it shows nothing")
	require.Nil(o.t, b.inFrame(`document.querySelector("h1")?.innerText`))
}
