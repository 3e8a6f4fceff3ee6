package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge"
)

// TestDocs reads about the API and tries it: what comes over the wire, every operation found by search,
// the reader's key in the snippets, requests that read and that write (make pages).
func TestDocs(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "narrow": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			s.Org() // its owner has an account from here on
			d := &reader{buyer{window: chromium.open(t, base+"/docs", as), shop: s, name: "docs-" + name, axe: axe}}
			d.step("overview", "#search")
			d.weigh()
			d.load(base + "/docs/listApiKeys")
			d.step("operation", "#try:not([hidden])")
			d.weigh()
			if name == "desktop" {
				d.searchAll()
			}
			d.readAlone(base)
			d.tryWithKey(base)
			d.load(base + "/docs/placeOrder")
			d.step("place-order", "#sent")
			d.load(base + "/docs/webhook.order.completed")
			d.step("webhook", "#body")
			d.load(base + "/docs/guide")
			d.step("guide", ".prose table")
			d.faultless()
		})
	}
}

// reader is somebody with a window who writes a program that uses the API.
type reader struct{ buyer }

// weigh checks what the page has taken: bytes over the wire, and time.
func (d *reader) weigh() {
	d.t.Helper()
	d.load(d.evaluate("location.href").(string)) // the first reader of a node waits until the document is made
	d.until(`!document.querySelector(".search").hidden`)
	sum := `performance.getEntries().filter((e) => e.encodedBodySize).reduce((sum, e) => sum + e.encodedBodySize + 300, 0)` // 300: headers of an answer
	bytes := d.evaluate(sum).(float64)
	require.Less(d.t, bytes, 100_000.0)
	ready := d.evaluate(`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`).(float64)
	d.t.Logf("%v: %.0f bytes, ready in %.0f ms", d.evaluate("location.pathname"), bytes, ready)
	if t, ok := d.t.(*testing.T); ok {
		timely(t, ready, 1000)
	}
}

// searchAll finds every operation by its name and by its address.
func (d *reader) searchAll() {
	d.t.Helper()
	ops := new(edge.Areas).Routes()
	for i := range ops {
		for _, query := range []string{ops[i].ID, ops[i].Method + " " + ops[i].Path} {
			found := d.evaluate(fmt.Sprintf(`(() => {
				const field = document.querySelector("#search");
				field.value = %q;
				field.dispatchEvent(new Event("input"));
				const link = document.querySelector("#operations a[href='/docs/%s']");
				return !!link.offsetParent;
			})()`, query, ops[i].ID))
			require.Equal(d.t, true, found, query)
		}
		res, text := d.shop.Get("/docs/" + ops[i].ID) //nolint:bodyclose // Get has read and closed it
		require.Equal(d.t, http.StatusOK, res.StatusCode, ops[i].ID)
		require.Contains(d.t, text, "<code>"+ops[i].Path+"</code>")
		require.NotContains(d.t, res.Header.Get("Content-Security-Policy"), "unsafe")
	}
	d.fill("#search", "no such thing")
	d.step("nothing-fits", "#found:not(:empty)")
	d.load(d.origin + "docs")
	d.reachByTab(".top a")
	d.evaluate(`document.activeElement.blur()`)
	d.typeKeys("/")
	d.until(`document.activeElement.id === "search"`)
	d.write("scan ticket gate")
	d.press("Enter")
	d.until(`location.pathname === "/docs/scanTicket"`)
}

// readAlone runs what anybody may read, by the keyboard.
func (d *reader) readAlone(base string) {
	d.t.Helper()
	d.load(base + "/docs/discoverEvents")
	d.fill("#p-limit", "3")
	d.until(`document.querySelector("pre.curl").innerText.includes("?limit=3'") || document.querySelector("pre.curl").textContent.includes("?limit=3'")`)
	d.press("Enter")
	d.until(`document.querySelector("#answer-status").textContent.startsWith("200")`)
	d.evaluate(`document.querySelector("#answer").scrollIntoView()`)
	d.step("answer", "#answer-body")
	require.Contains(d.t, d.text("#answer-body"), `"data": {`)
	d.choose("#lang-python")
	d.until(`document.querySelector("pre.python").innerText.includes("requests.get(")`)
	d.load(base + "/docs/getEventPage")
	d.until(`document.querySelector("pre.python").innerText !== "" && document.querySelector("#lang-python").checked`) // the choice stays
	d.choose("#lang-curl")
}

// tryWithKey signs in at the portal, makes a key at the docs, and reads and writes with it.
func (d *reader) tryWithKey(base string) {
	d.t.Helper()
	d.load(base + "/docs/createEvent")
	d.there("#sign-in:not([hidden])")
	d.choose("#sign-in")
	d.fill("#email", "owner@example.org")
	d.fill("#password", "correct horse")
	d.press("Enter")
	d.there(`nav a[href="/docs"]`)
	d.load(base + "/docs/createEvent")
	d.choose("#make-key:not([hidden])")
	d.until(`document.querySelector("#key").value.startsWith("vt_test_")`)
	require.Equal(d.t, d.evaluate(`document.querySelector("#key").value`), d.evaluate(`document.querySelector("pre.curl b[data-token]").textContent`))
	d.choose("#run")
	d.step("sure", "#sure[open]")
	d.choose("#sure-no")
	require.Equal(d.t, "", d.evaluate(`document.querySelector("#answer-status").textContent`))
	d.choose("#run")
	d.choose("#sure-yes")
	d.until(`document.querySelector("#answer-status").textContent.startsWith("201")`)
	d.evaluate(`document.querySelector("#run").scrollIntoView()`)
	d.step("made", "#answer-body")
	d.load(base + "/docs/listOwnEvents") // the key stays in the tab
	d.choose("#run")
	d.until(`document.querySelector("#answer-status").textContent.startsWith("200")`)
	d.load(base + "/docs/listApiKeys") // which no key may call: the session does
	d.until(`document.querySelector("#p-orgId").value !== ""`)
	d.choose("#run")
	d.until(`document.querySelector("#answer-body").textContent.includes('"Docs"')`)
}
