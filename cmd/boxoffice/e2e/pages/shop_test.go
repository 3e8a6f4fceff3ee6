package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// buyer is somebody with a window who buys in the shop.
type buyer struct {
	*window
	shop *nodetest.Shop
	name string // of the pictures
	axe  string // the judge of accessibility; "": not installed
	kept int
	// spared is a rule of axe that a page breaks for a reason; "": none.
	spared string
}

// readAxe reads the judge of accessibility. A developer may test the pages without it; CI may not.
func readAxe(t testing.TB) string {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "edge", "web", "app", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "axe-core is not installed: npm --prefix edge/web/app ci --ignore-scripts")
		t.Log("axe-core is not installed: nobody judges accessibility")
	}
	return string(axe)
}

// step waits until something is there, keeps a picture and checks the page.
func (b *buyer) step(name, selector string) {
	b.t.Helper()
	b.there(selector)
	b.evaluate(`new Promise((done) => setTimeout(done, 200))`) // until nothing moves
	b.kept++
	b.keepIn("pages", fmt.Sprintf("%s-%d-%s", b.name, b.kept, name))
	b.requireUncut(name)
	if b.as.width == narrow {
		b.resize(phoneWidth)
		b.requireUncut(name)
		b.resize(narrow)
	}
	b.judge(name)
}

// The widths of narrow windows, in CSS pixels: the least that WCAG 2.2 asks for (1.4.10), and a usual phone's.
const (
	narrow     = 320
	phoneWidth = 390
)

func (b *buyer) requireUncut(name string) {
	b.t.Helper()
	require.Equal(b.t, "0", fmt.Sprint(b.evaluate(`Math.max(0, document.documentElement.scrollWidth - innerWidth)`)), "%s: nothing is cut off", name)
}

// judge has axe look at the page.
func (b *buyer) judge(name string) {
	b.t.Helper()
	if b.axe == "" {
		return
	}
	if b.evaluate("!!window.axe") == false { // a page that changes by script keeps it
		b.evaluate(b.axe + "; 0")
	}
	rules := "{}"
	if b.spared != "" {
		rules = fmt.Sprintf("{%q: {enabled: false}}", b.spared)
	}
	// Only rules that we don't use, about media that play by themselves and turned screens, want files loaded anew.
	options := fmt.Sprintf(`{preload: false, resultTypes: ["violations"], rules: %s}`, rules) // what passes is not listed, which takes long
	found := b.run(`axe.run(` + options + `).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + " " + v.nodes[0].target).join("; "))`)
	require.Empty(b.t, found, name)
}

// until waits for an expression to be true, across pages: what a click leads to may be
// another one.
func (b *buyer) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(browserTime / 2); ; {
		var r struct{ Result struct{ Value any } }
		refused := b.try(b.t, b.session, "Runtime.evaluate", params{"expression": "!!(" + expression + ")", "returnByValue": true, "userGesture": true}, &r)
		if refused == "" && r.Result.Value == true {
			return
		}
		if !time.Now().Before(end) {
			require.Fail(b.t, "never: "+expression+" "+refused, b.evaluate(`location.pathname + "\n" + document.body.innerText`))
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-b.t.Context().Done():
		}
	}
}

func (b *buyer) there(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`!!document.querySelector(%q)`, selector))
}

// choose clicks on something as soon as it is there and takes clicks, as a keyboard does.
func (b *buyer) choose(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(e => e && !e.disabled && (e.click(), true))(document.querySelector(%q))`, selector))
}

// insist clicks on a button until something is there. A busy server refuses passwords that
// wait for too long, and people try again.
func (b *buyer) insist(button, selector string) {
	b.t.Helper()
	for end := time.Now().Add(browserTime); ; {
		b.choose(button)
		b.until(fmt.Sprintf(`document.querySelector(%q) || document.querySelector(".note.warn")`, selector))
		if b.evaluate(fmt.Sprintf(`!!document.querySelector(%q)`, selector)) == true {
			return
		}
		require.True(b.t, time.Now().Before(end), "refused: %v", b.evaluate(`document.querySelector(".note.warn").textContent`))
		b.forget() // the refusal is in the browser's log
		b.run(`new Promise((done) => setTimeout(done, 2000))`)
	}
}

// showCode types a code at a gate, and waits for the verdict.
func (b *buyer) showCode(code, verdict string) {
	b.t.Helper()
	b.awaitVerdict(verdict, func() {
		b.until(`!document.querySelector(".verdict")`)
		b.fill("#door", code)
		b.press("Enter")
	})
}

// awaitVerdict shows a code to a gate, and waits for the verdict. A busy server may not answer within the device's
// patience, or refuse a device that asks too often, which is not decided then: a steward shows the code again.
func (b *buyer) awaitVerdict(verdict string, show func()) {
	b.t.Helper()
	const undecided = ".verdict.ask"
	for end := time.Now().Add(browserTime); ; {
		show()
		b.there(verdict + ", " + undecided) // a good one goes by itself
		if verdict == undecided || b.evaluate(fmt.Sprintf(`!!document.querySelector(%q)`, undecided)) == false {
			return
		}
		require.True(b.t, time.Now().Before(end), "never decided: %v", b.evaluate(`document.querySelector(".verdict").innerText`))
		b.choose(undecided)
		b.until(`document.querySelector("#standing").dataset.online === "true"`)
	}
}

// fill types a text into a field.
func (b *buyer) fill(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(f => f && (f.focus(), f.select(), true))(document.querySelector(%q))`, selector))
	b.write(text)
}

// order chooses tickets of a type, by its place in the list, and goes to the checkout.
func (b *buyer) order(slug string, place, quantity int, email string) {
	b.t.Helper()
	b.load(b.origin + "e/" + slug)
	more := fmt.Sprintf(".card li:nth-child(%d) .step button:last-child", place)
	for range quantity {
		b.choose(more)
	}
	b.step("event", ".foot a.button[href]")
	b.choose(".foot a.button[href]")
	b.step("checkout", "#email")
	if b.evaluate(`document.getElementById("name").value`) == "" { // else it is remembered
		b.choose("form button.wide")
		b.step("what-is-missing", "#name[aria-invalid]")
	}
	b.fill("#name", "Ada Obi")
	b.fill("#email", email)
	require.Equal(b.t, false, b.evaluate(`!!document.querySelector("#name[aria-invalid], #email[aria-invalid]")`), "nothing is said any more of what was missing")
}

// TestShop buys as people would (make pages).
func TestShop(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "desktop-dark": {width: 1280, height: 800, scale: 1, dark: true},
		"phone": {width: 390, height: 844, scale: 2, touch: true}, "phone-dark": {width: 390, height: 844, scale: 2, touch: true, dark: true},
		"narrow": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			event, _ := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free", "name": "Student"}), nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Floor"}))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			base := strings.TrimSuffix(s.URL, "/api/v1")
			b := &buyer{window: chromium.open(t, base+"/", as), shop: s, name: name, axe: axe}
			b.step("what-is-on", ".grid li a")
			require.Equal(t, "Free – $26.25", b.text(".price"), "from the student's ticket to the floor")
			b.load(base + "/?q=nothing-like-it")
			b.step("nothing-found", ".none")

			t.Log("a free ticket")
			b.order(slug, 1, 1, "ada@example.org")
			b.choose("form button.wide")
			b.step("free-tickets", ".tickets svg")

			t.Log("a payment that fails, and one that does not")
			b.order(slug, 2, 2, "ada@example.org")
			b.evaluate(`(() => { const b = document.querySelector("form button.wide"); b.click(); b.click(); })()`)
			b.there(`button[value="failed"]`)
			b.choose(`button[value="failed"]`)
			b.until(`location.pathname.startsWith("/o/") && document.querySelector("h1").innerText === "The payment did not go through"`)
			b.step("failed", "main > button.wide")
			b.choose("main > button.wide")
			b.choose(`button[value="success"]`)
			b.until(`location.pathname.startsWith("/o/") && !location.search`)
			b.step("paid", ".tickets svg")
			require.Equal(t, "8", s.Available(event, 1), "the doubled click ordered once")
			b.forget() // the provider's page is another server's

			t.Log("the page again, and elsewhere")
			at := fmt.Sprint(b.evaluate("location.href"))
			b.load(at)
			b.there(".tickets svg")
			other := &buyer{window: chromium.open(t, at, as), shop: s, name: name + "-elsewhere", axe: axe}
			other.step("no-key", "main a.button")
			other.faultless()
			b.faultless()
		})
	}
}

// TestGate signs in at a gate and scans door codes by keyboard (make pages).
func TestGate(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t).Register("steward@example.org")
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
	id, token := s.Place("ada@example.org", ids[0], 2)
	code, used := s.Order(id, token).Str("tickets.0.shortCode"), s.Order(id, token).Str("tickets.1.shortCode")
	s.Own("POST", "/checkin/scan", nodetest.Object{"qrData": used, "eventId": event, "deviceId": "another"}).Is(200, "")
	b := &buyer{window: openBrowser(t).open(t, strings.TrimSuffix(s.URL, "/api/v1")+"/gate", size{width: 390, height: 844, scale: 2, touch: true}), shop: s, name: "gate", axe: readAxe(t)}
	b.step("sign-in", "#email")
	b.fill("#email", "steward@example.org")
	b.fill("#password", "correct horse")
	b.choose("button.wide")
	b.step("choose", "#event")
	b.fill("#gate", "North")
	b.choose("button.wide")
	b.step("ready", "#door")
	for _, scan := range []struct{ code, verdict string }{{code, ".verdict.good"}, {used, ".verdict.bad"}, {"ZZZZZZ", ".verdict.bad"}} {
		b.showCode(strings.ToLower(scan.code), scan.verdict)
		b.kept++
		b.keepIn("pages", fmt.Sprintf("gate-%d%s", b.kept, strings.ReplaceAll(scan.verdict, ".", "-")))
		if scan.verdict != ".verdict.good" { // that goes by itself
			b.step("refused", scan.verdict)
			b.choose(".verdict")
		}
	}
	b.until(`document.querySelector(".numbers strong")?.innerText === "2"`)
}
