package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// fastClock sets a page's clock three minutes ahead.
const fastClock = `Date = class extends Date {
	constructor(...at) { if (at.length) super(...at); else super(Date.now()); }
	static #real = Date.now.bind(Date);
	static now() { return this.#real() + 180_000; }
}`

// offlineGate is a gate in a cellar, and the desk that has made it one.
type offlineGate struct {
	*buyer
	base, event  string
	order, token string // of the tickets that are shown to it
	german       bool
}

// TestGateOffline makes a device a gate by the desk's code and takes its network away: it decides by
// itself, keeps what it has decided while it is closed, and tells the server afterwards (make pages).
func TestGateOffline(t *testing.T) {
	t.Parallel()
	chromium, axe := openBrowser(t), readAxe(t)
	for name, as := range map[string]size{
		"phone": {width: 390, height: 844, scale: 2, touch: true}, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "gate-desk-"+name, as)
			g := o.sendToGate(as, nil)
			link := o.makeGate(g.event, name == "phone")
			g.enrol(link)
			o.seesGate(name == "phone")
			g.admitOnline()
			g.decideAlone()
			g.comeBack()
			g.takeBack()
			g.search(name == "phone")
			g.refuseCode(link)
			g.end(o)
			g.leave()
		})
	}
}

// sendToGate puts an event on sale that tells gates its door codes, and sells the tickets.
func (o *organizer) sendToGate(as size, changes nodetest.Object) *offlineGate {
	o.t.Helper()
	s, base := o.shop, strings.TrimSuffix(o.shop.URL, "/api/v1")
	event, ids := s.Sell(nodetest.With(nodetest.Object{"title": "Night of a Hundred Lanterns", "offlineDoorCodes": true}, changes), nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free", "name": "Floor"}))
	body := nodetest.With(nodetest.OrderBody("ada@example.org", ids[0], 7), nodetest.Object{"guestName": "Ada Obi"})
	placed := s.Call("POST", "/orders", body).Is(201, "")
	name := strings.Replace(o.name, "desk", "offline", 1)
	g := &offlineGate{
		buyer: &buyer{window: o.open(o.t, base+"/help", as), shop: s, name: name, axe: o.axe},
		base:  base, event: event, order: placed.Str("id"), token: placed.Str("accessToken"), german: strings.HasSuffix(name, "german"),
	}
	g.dress()
	return g
}

// dress gives the window its clock and its language.
func (g *offlineGate) dress() {
	g.t.Helper()
	g.do("Page.addScriptToEvaluateOnNewDocument", params{"source": fastClock})
	if g.german {
		g.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
	}
}

// makeGate makes the code of a gate at the desk, and returns its link. The desk goes on to show it.
func (o *organizer) makeGate(event string, guests bool) string {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/live")
	o.choose("#add-gate")
	o.fill("#gate-name", "North")
	if guests {
		o.choose("#gate-guests")
	}
	o.step("new-device", "#make-gate")
	o.choose("#make-gate")
	o.step("code", "dialog svg[role=img]")
	link := fmt.Sprint(o.evaluate(`document.querySelector("#gate-link").textContent`))
	require.Regexp(o.t, `/gate#code=[A-Z2-7]{26}$`, link)
	o.faultless()
	return link
}

// seesGate waits until the desk that shows the code says that it was used, and looks at the gate.
func (o *organizer) seesGate(guests bool) {
	o.t.Helper()
	o.step("used", "#code-used")
	o.choose("#close")
	o.until(`document.querySelector("#gates li").innerText.includes("North")`)
	o.evaluate(`document.querySelector("#gates").scrollIntoView()`)
	o.step("gates", "#gates li")
	require.Equal(o.t, guests, o.shop.Own("GET", gatesOf(o.shop), nil).Is(200, "").Data("items.0.guests"))
	key := o.shop.Own("GET", o.shop.Keys(), nil).Is(200, "")
	require.Equal(o.t, "Gate North", key.Str("items.0.name"))
	scopes := []string{"checkin:write"}
	if guests {
		scopes = append(scopes, "attendees:read")
	}
	require.ElementsMatch(o.t, scopes, key.Data("items.0.scopes"))
	require.NotEmpty(o.t, key.Str("items.0.expiresAt"))
	o.faultless()
}

// gatesOf is where an organization's gates are.
func gatesOf(s *nodetest.Shop) string { return "/organizer/integrations/org/" + s.Org() + "/gates" }

// enrolLink makes a code for an event, and returns its link.
func (g *offlineGate) enrolLink(event, gate string) string {
	g.t.Helper()
	code := g.shop.Own("POST", gatesOf(g.shop)+"/enrolments", nodetest.Object{"events": []string{event}, "gateName": gate}).Is(201, "").Str("code")
	return g.base + "/gate#code=" + code
}

// enrol opens the link of the code: the device is a gate at once, and its key is nowhere to be seen.
func (g *offlineGate) enrol(link string) {
	g.t.Helper()
	g.load(link)
	g.step("enrolled", `#standing[data-online="true"]`)
	require.Equal(g.t, g.base+"/gate", g.evaluate(`location.href`))
	g.until(`navigator.serviceWorker.controller?.state === "activated"`)
	kept := g.evaluate(`caches.keys().then(async (names) => (await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((r) => new URL(r.url).pathname)))).flat().filter((path) => !path.startsWith("/web/assets/")).sort().join())`)
	require.Equal(g.t, "/apple-touch-icon.png,/favicon.svg,/gate,/gate.webmanifest", kept, "nothing of guests is in the worker's cache")
}

func (g *offlineGate) code(ticket int, field string) string {
	g.t.Helper()
	return g.shop.Order(g.order, g.token).Str(fmt.Sprintf("tickets.%d.%s", ticket, field))
}

// show shows a code to the gate, and waits until a verdict is there.
func (g *offlineGate) show(code, verdict, name string) (head string) {
	g.t.Helper()
	g.showCode(code, verdict)
	head = g.text(".verdict .head")
	g.kept++
	g.keepIn("pages", fmt.Sprintf("%s-%d-%s", g.name, g.kept, name))
	g.evaluate(`document.querySelector(".verdict")?.click()`)
	return head
}

// later waits until a code that was let in counts as somebody else's.
func (g *offlineGate) later() { g.run(`new Promise((done) => setTimeout(done, 2100))`) }

func (g *offlineGate) admitted() string {
	g.t.Helper()
	return g.shop.Own("GET", "/checkin/event/"+g.event+"/stats", nil).Is(200, "").Str("checkedIn")
}

func (g *offlineGate) admitOnline() {
	g.t.Helper()
	g.show(g.code(0, "qr"), ".verdict.good", "online-in")
	require.Equal(g.t, "1", g.admitted())
	g.later()
	g.show(g.code(0, "qr"), ".verdict.bad", "online-twice")
	unknown, foreign := "No such ticket", "Ticket of another event"
	if g.german {
		unknown, foreign = "Keine solche Karte", "Karte einer anderen Veranstaltung"
	}
	require.Equal(g.t, unknown, g.show("ZZZZZZ", ".verdict.bad", "online-unknown"))
	require.Equal(g.t, foreign, g.show("p2.ABCDEFGHJKMNPQRSTUVW.ABCDEFGHIJKLMNOP", ".verdict.bad", "online-foreign"))
	g.shop.Own("POST", "/organizer/orders/"+g.order+"/refund", nodetest.Object{"reason": "A gift.", "ticketIds": []string{g.code(6, "id")}}).Is(200, "")
	g.until(`[...document.querySelectorAll(".numbers strong")].map((e) => e.innerText).join() === "1,5"`)
	g.run(`new Promise((done) => setTimeout(done, 4000))`) // until the manifest is here, too, which is asked for every three seconds
	g.forget()
}

// decideAlone takes the network away. Meanwhile another device admits the third ticket.
func (g *offlineGate) decideAlone() {
	g.t.Helper()
	g.do("Network.emulateNetworkConditions", params{"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
	g.until(`document.querySelector("#standing").dataset.online === "false"`)
	g.show(g.code(1, "qr"), ".verdict.good", "offline-in")
	g.later()
	g.show(g.code(1, "qr"), ".verdict.bad", "offline-twice")
	g.show("v2.ABCDEFGHJKMNPQRSTUVW.12345678.ABCDEFGHIJKLMNOP", ".verdict.bad", "offline-unknown")
	g.show(g.code(6, "qr"), ".verdict.bad", "offline-cancelled")
	g.shop.Own("POST", "/checkin/scan", nodetest.Object{"eventId": g.event, "qrData": g.code(2, "qr"), "gateName": "South", "deviceId": "another"}).Is(200, "")
	g.show(g.code(2, "qr"), ".verdict.good", "offline-double")
	g.show(g.code(3, "shortCode"), ".verdict.good", "offline-door-code")
	g.step("waiting", "#waiting")
	require.Equal(g.t, "2", g.admitted(), "the server knows of two")

	g.t.Log("one that is taken back is not sent")
	g.show(g.code(5, "qr"), ".verdict.good", "offline-wrong-person")
	g.until(`document.querySelector("#waiting").innerText.startsWith("4 ")`)
	g.choose("#undo")
	g.until(`document.querySelector("#waiting").innerText.startsWith("3 ")`)
}

// comeBack restarts the gate twice while no server runs, once in another tab, and then brings the
// server back.
func (g *offlineGate) comeBack() {
	g.t.Helper()
	door := g.code(4, "shortCode")
	g.shop.Restart(func() {
		g.load(g.base + "/gate")
		g.step("restarted", "#waiting")
		g.window, g.name = g.openTab(), g.name+"-tab"
		g.dress()
		g.load(g.base + "/gate")
		g.step("elsewhere", "#here")
		g.choose("#here")
		g.there("#waiting")
		g.show(door, ".verdict.good", "offline-in")
		g.later()
		g.show(door, ".verdict.bad", "offline-twice")
		g.until(`document.querySelector("#waiting").innerText.startsWith("4 ")`)
	})
	g.until(`document.querySelector("#standing").dataset.online === "true"`)
	g.until(`!document.querySelector("#waiting")`)
	g.step("sent", "#wrong")
	require.Equal(g.t, "1", fmt.Sprint(g.evaluate(`document.querySelectorAll("#wrong li").length`)))
	require.Contains(g.t, g.text("#wrong li"), "Ada")
	require.Contains(g.t, g.text("#wrong li"), "South")
	require.Equal(g.t, "5", g.admitted(), "one online, the other device's, and three alone")
	g.until(`[...document.querySelectorAll(".numbers strong")].map((e) => e.innerText).join() === "5,1"`)
	g.forget() // that there was no network is in the browser's log
}

// takeBack takes back what was decided alone and is known to the server.
func (g *offlineGate) takeBack() {
	g.t.Helper()
	g.choose("#undo")
	g.until(`!document.querySelector("#undo")`)
	require.Equal(g.t, "4", g.admitted())
	g.show(g.code(4, "shortCode"), ".verdict.good", "in-again")
	require.Equal(g.t, "5", g.admitted())
	g.faultless()
}

// search looks for a guest by name, which the key allows or not.
func (g *offlineGate) search(may bool) {
	g.t.Helper()
	g.until(`!document.querySelector(".verdict")`)
	if !may {
		require.Equal(g.t, true, g.evaluate(`!document.querySelector("#guests")`))
		return
	}
	g.choose("#guests summary")
	g.fill("#guest", "Ada")
	g.press("Enter")
	g.there("#guests li")
	g.evaluate(`document.querySelector("#guests li:last-child").scrollIntoView()`)
	g.step("guests", "#guests li")
	g.faultless()
}

// refuseCode opens the link of the code a second time: the device asks before it uses it, says that it
// was used, and stays what it is.
func (g *offlineGate) refuseCode(link string) {
	g.t.Helper()
	g.load(link)
	g.step("another-gate", "#take")
	require.Equal(g.t, g.base+"/gate", g.evaluate(`location.href`))
	g.choose("#take")
	g.step("code-used", "#refused")
	g.forget() // the refusal is in the browser's log
	g.choose("#stay")
	g.there(`#standing[data-online="true"]`)
	g.faultless()
}

// end revokes the gate at the desk: the device says so, and lets nobody in.
func (g *offlineGate) end(o *organizer) {
	g.t.Helper()
	o.forget() // that the server was restarted is in the browser's log
	o.choose("#gates .revoke")
	o.choose("#sure-yes")
	o.until(`!document.querySelector("#gates")`)
	o.faultless()
	g.step("revoked", "#ended")
	g.show(g.code(5, "qr"), ".verdict.ask", "revoked-in")
	require.Equal(g.t, "5", g.admitted())
	g.forget()
}

// leave ends the gate: nothing of it is left on the device.
func (g *offlineGate) leave() {
	g.t.Helper()
	g.choose("#leave")
	g.there("#email")
	require.Equal(g.t, "0 0 0 0", g.evaluate(`new Promise((done) => {
		indexedDB.open("gate").onsuccess = async (e) => {
			const count = (name) => new Promise((found) => { e.target.result.transaction(name).objectStore(name).count().onsuccess = (c) => found(c.target.result); });
			done((await Promise.all(["setup", "state", "manifests", "scans"].map(count))).join(" "));
		};
	})`))
}

// TestGateSeat lets a guest in whose ticket is for a seat: the verdict says which (make pages).
func TestGateSeat(t *testing.T) {
	t.Parallel()
	h := seatedBy(t, "theatre", "circle")
	bought := h.Buy("", h.Stalls, "stalls-F-107").Is(201, "")
	id, token := bought.Str("id"), bought.Str("accessToken")
	h.Settle(h.Checkout(id, token), "success")
	h.Verify(id, token).Is(200, "")
	h.Becomes("completed", h.Status(id, token))
	h.Becomes("1", func() string {
		return fmt.Sprint(len(h.Own("GET", h.Organize+"attendees", nil).Is(200, "").Data("items").([]any)))
	})
	base := strings.TrimSuffix(h.URL, "/api/v1")
	b := &buyer{window: openBrowser(t).open(t, base+"/help", size{width: 390, height: 844, scale: 2, touch: true}), shop: h.Shop, name: "gate-seat", axe: readAxe(t)}
	session, err := json.Marshal(map[string]any{"access": h.Token, "refresh": "-", "until": time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(t, err)
	b.evaluate(fmt.Sprintf("localStorage.setItem('session', %q)", session))
	b.load(base + "/gate")
	b.choose("button.wide")
	b.there(`#standing[data-online="true"]`)
	b.showCode(h.Order(id, token).Str("tickets.0.qr"), ".verdict.good")
	b.until(`/Stalls.*107/s.test(document.querySelector(".verdict.good")?.innerText)`)
	b.keepIn("pages", "gate-seat-in")
	require.Contains(t, b.text(".verdict"), "row F")
	b.faultless()
}
