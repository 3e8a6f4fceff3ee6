package pages

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// shift sets a page's clock some time ahead. What the page corrects it by stays what it is.
const shift = `Date = class extends Date {
	constructor(...at) { if (at.length) super(...at); else super(Date.now()); }
	static #real = Date.now.bind(Date);
	static now() { return this.#real() + %d; }
}`

// keptIn is an expression for the names of whom a database of the browser keeps tickets.
const keptIn = `(async () => (await indexedDB.databases()).some((d) => d.name === %[1]q) ? new Promise((done) => {
	indexedDB.open(%[1]q).onsuccess = ({target: {result}}) => {
		result.transaction("all").objectStore("all").getAll().onsuccess = (e) => { result.close(); done(JSON.stringify(e.target.result)); };
	};
}) : "[]")()`

// passHolder is somebody with tickets of an event that begins in three hours.
type passHolder struct {
	*buyer
	base, event string
	types       []string
	german      bool
}

// TestPassWithoutNetwork opens passes and takes the network away (make pages).
func TestPassWithoutNetwork(t *testing.T) {
	t.Parallel()
	chromium, axe := openBrowser(t), readAxe(t)
	for name, as := range map[string]size{
		"phone": {width: 390, height: 844, scale: 2, touch: true}, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			soon := nodetest.Object{"startDate": nodetest.Stamp(3 * time.Hour), "endDate": nodetest.Stamp(5 * time.Hour), "title": "Night of a Hundred Lanterns", "venueName": "Harbour Hall"}
			event, types := s.Sell(soon, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free", "name": "Floor", "saleEnd": nodetest.Stamp(2 * time.Hour)}))
			p := &passHolder{
				buyer: &buyer{window: chromium.open(t, base+"/help", as), shop: s, name: "pass-" + name, axe: axe}, base: base, event: event, types: types, german: name == "german",
			}
			p.dress(0)
			p.orderAlone()
			p.walletAlone()
		})
	}
}

// dress gives the window its language and its clock.
func (p *passHolder) dress(ahead time.Duration) {
	p.t.Helper()
	if p.german {
		p.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
	}
	if ahead != 0 {
		p.do("Page.addScriptToEvaluateOnNewDocument", params{"source": fmt.Sprintf(shift, ahead.Milliseconds())})
	}
}

// another opens another tab, whose clock is some time ahead of the window's.
func (p *passHolder) another(ahead time.Duration) {
	p.t.Helper()
	p.window = p.openTab()
	p.dress(ahead)
}

func (p *passHolder) keeps(database string) string {
	p.t.Helper()
	return fmt.Sprint(p.run(fmt.Sprintf(keptIn, database)))
}

// codeShown is the picture of the first pass's QR code; "" if it shows none.
func (p *passHolder) codeShown() string {
	p.t.Helper()
	return fmt.Sprint(p.evaluate(`document.querySelector(".pass .code svg[viewBox^='-3']")?.outerHTML ?? ""`))
}

// readCode reads a QR code as the camera of the gate's page does.
func (p *passHolder) readCode(svg string) string {
	p.t.Helper()
	list, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "edge", "web", "dist", "manifest.json"))
	require.NoError(p.t, err)
	var files map[string]struct{ File string }
	require.NoError(p.t, json.Unmarshal(list, &files))
	source, err := json.Marshal(strings.Replace(svg, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400" `, 1))
	require.NoError(p.t, err)
	return fmt.Sprint(p.run(fmt.Sprintf(`(async () => {
		const picture = new Image();
		picture.src = "data:image/svg+xml," + encodeURIComponent(%s);
		await picture.decode();
		const paper = new OffscreenCanvas(400, 400).getContext("2d");
		paper.drawImage(picture, 0, 0);
		const {data} = paper.getImageData(0, 0, 400, 400), reader = new Worker("/web/%s", {type: "module"});
		return new Promise((done) => { reader.onmessage = (e) => { reader.terminate(); done(e.data); }; reader.postMessage({data, side: 400}); });
	})()`, source, files["src/gate/decode.ts"].File)))
}

// orderAlone opens an order, and then without a network: now, two hours later, and after its codes.
func (p *passHolder) orderAlone() {
	p.t.Helper()
	id, token := p.shop.Place("ada@example.org", p.types[0], 2)
	p.load(p.base + "/o/" + id + "#token=" + token)
	p.step("order", ".pass .code svg")
	p.until(`navigator.serviceWorker.controller?.state === "activated"`)
	p.untilKept("passes", "qrAhead")
	require.False(p.t, strings.Contains(p.keeps("passes"), token), "what opens the order is kept in one place")
	cached := p.run(`caches.keys().then(async (names) => (await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((r) => new URL(r.url).pathname)))).flat().filter((path) => !path.startsWith("/web/assets/")).sort().join())`)
	require.Equal(p.t, "/apple-touch-icon.png,/favicon.svg,/o/-", cached, "the worker keeps files alone")
	p.faultless()

	answer := p.shop.Call("GET", "/orders/"+id+"?ahead=6&token="+token, nil).Is(200, "")
	ahead := append([]any{answer.Str("tickets.0.qr")}, answer.Data("tickets.0.qrAhead").([]any)...)
	require.Len(p.t, ahead, 1+6*120)
	var next, later string
	p.shop.Restart(func() {
		p.another(30 * time.Second) // a gate takes the next code too
		p.load(p.base + "/o/" + id)
		p.there("#alone")
		p.step("alone", ".pass .code svg")
		require.Equal(p.t, true, p.evaluate(`!document.querySelector("[data-verb], [data-paper]")`), "what needs the network is not offered")
		next = p.codeShown()

		p.another(2 * time.Hour)
		p.load(p.base + "/o/" + id)
		p.there("#alone")
		p.step("two-hours-later", ".pass .code svg")
		later = p.codeShown()

		p.another(7 * time.Hour)
		p.load(p.base + "/o/" + id)
		p.there("#alone")
		p.step("codes-used-up", ".pass .door")
		require.Empty(p.t, p.codeShown())
	})
	p.another(0)
	p.load(p.base + "/o/" + id)
	p.step("back", ".pass .code svg")
	require.Equal(p.t, true, p.evaluate(`!document.querySelector("#alone")`))
	p.shop.Scan(p.event, p.readCode(next), "north").Is(200, "")
	require.InDelta(p.t, 240, slices.Index(ahead, any(p.readCode(later))), 4, "the code for two hours later")

	p.t.Log("a ticket that was given back is not kept")
	p.shop.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"reason": "A gift.", "ticketIds": []string{answer.Str("tickets.1.id")}}).Is(200, "")
	p.load(p.base + "/o/" + id)
	for end := time.Now().Add(browserTime / 2); strings.Contains(p.keeps("passes"), answer.Str("tickets.1.id")); {
		require.True(p.t, time.Now().Before(end), "it stays kept")
	}
	require.Contains(p.t, p.keeps("passes"), answer.Str("tickets.0.id"))
	p.faultless()
}

// untilKept waits until a database has something.
func (p *passHolder) untilKept(database, part string) {
	p.t.Helper()
	for end := time.Now().Add(browserTime / 2); !strings.Contains(p.keeps(database), part); {
		require.True(p.t, time.Now().Before(end), "never kept: %s", part)
	}
}

// enter signs somebody in.
func (p *passHolder) enter(email string) {
	p.t.Helper()
	p.load(p.base + "/me")
	began := time.Now()
	p.fill("#email", email)
	p.choose("form button.wide")
	p.there("#code")
	p.fill("#code", loginDigits.FindString(p.shop.Mail(p.t, email, "login_code", began).Text))
	p.there("#out")
}

// walletAlone opens Ada's pass without a network. Nothing is left of it once she signs out, and
// nothing of Carol's once Bob signs in.
func (p *passHolder) walletAlone() {
	p.t.Helper()
	id, token := p.shop.Place("ada@example.org", p.types[0], 1)
	at := p.base + "/me/t/" + p.shop.Order(id, token).Str("tickets.0.id")
	require.NoError(p.t, p.shop.AwaitLists(p.t.Context()))
	p.enter("ada@example.org")
	p.load(at)
	p.step("wallet", ".pass .code svg")
	p.untilKept("held", "qrAhead")
	p.until(`navigator.serviceWorker.controller?.state === "activated"`)
	p.faultless()
	p.shop.Restart(func() {
		p.another(time.Hour)
		p.load(at)
		p.there("#alone")
		p.step("wallet-alone", ".pass .code svg")
		p.load(p.base + "/me")
		p.there("#alone")
		p.step("list-alone", ".large a")
		require.Equal(p.t, strings.TrimPrefix(at, p.base), p.evaluate(`document.querySelector(".large a").getAttribute("href")`))

		p.t.Log("Ada signs out: nothing of hers is shown")
		p.evaluate(`window.before = true`)
		p.choose("#out")
		p.until(`!window.before && document.querySelector("#email")`)
		require.Equal(p.t, "[]", p.keeps("held"))
		require.Equal(p.t, "[]", p.keeps("passes"))
		p.load(at)
		p.step("signed-out", "#email")
		require.NotContains(p.t, p.text("main"), "Lanterns")
	})
	p.forget()
	p.another(0)

	p.t.Log("a session ends without signing out, and somebody else signs in")
	id, token = p.shop.Place("carol@example.org", p.types[0], 1)
	require.NoError(p.t, p.shop.AwaitLists(p.t.Context()))
	p.enter("carol@example.org")
	p.load(p.base + "/me/t/" + p.shop.Order(id, token).Str("tickets.0.id"))
	p.there(".pass .code svg")
	p.untilKept("held", "qrAhead")
	p.evaluate(`localStorage.removeItem("session")`)
	p.enter("bob@example.org")
	require.Equal(p.t, "[]", p.keeps("held"), "nothing of Carol's is left")
	p.faultless()
}
