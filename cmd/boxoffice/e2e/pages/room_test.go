package pages

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/witness/witnesstest"
)

// roomShop is a shop whose clock a test sets forward.
type roomShop struct {
	*nodetest.Shop
	ahead atomic.Int64 // nanoseconds
}

func openRoomShop(t *testing.T, changes ...func(*node.Config)) *roomShop {
	t.Helper()
	s := new(roomShop)
	s.Shop = nodetest.Open(t, append(changes, func(c *node.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	})...)
	return s
}

func (s *roomShop) stamp(d time.Duration) string {
	return nodetest.Stamp(time.Duration(s.ahead.Load()) + d)
}

// setQueue opens or changes the waiting room of an event, and waits until the public sees it: answers
// to everybody are kept for a moment.
func (s *roomShop) setQueue(event string, settings nodetest.Object) {
	s.T.Helper()
	s.Own("PUT", "/organizer/events/"+event+"/queue", nodetest.With(nodetest.Object{"enabled": true}, settings)).Is(200, "")
	require.Eventually(s.T, func() bool {
		return s.Call("GET", "/public/events/"+event+"/queue", nil).Is(200, "").Data("state") != "none"
	}, time.Minute, 50*time.Millisecond)
}

// roomSizes are the windows in which people wait.
var roomSizes = map[string]size{
	"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
}

// wait opens a window of somebody who waits.
func (s *roomShop) wait(t *testing.T, name string) *buyer {
	t.Helper()
	b := &buyer{window: openBrowser(t).open(t, strings.TrimSuffix(s.URL, "/api/v1")+"/help", roomSizes[name]), shop: s.Shop, name: "room-" + name, axe: readAxe(t)}
	if name == "german" {
		b.choose(`.languages [lang="de"]`)
		b.heads("Hilfe")
	}
	return b
}

// TestWaitingRoom is led to a waiting room by the checkout, joins, is admitted and buys what was chosen
// before; and an admission that has run out leads back (make pages).
func TestWaitingRoom(t *testing.T) {
	t.Parallel()
	for name := range roomSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRoomShop(t)
			event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"name": "Floor"}), nodetest.With(nodetest.TypeBody(60, 100), nodetest.Object{"name": "Circle"}))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			b := s.wait(t, name)
			page := b.origin + "e/" + slug
			b.load(page + "/queue")
			b.step("no-room", "#to-event")

			s.setQueue(event, nodetest.Object{"admitPerMinute": 6000, "partyMax": 3})
			s.Own("POST", "/organizer/events/"+event+"/queue/pause", nil).Is(200, "")
			b.load(page + "/checkout?t=" + ids[0] + ".2")
			b.until(`location.pathname.endsWith("/queue")`)
			b.step("join", "#join")
			b.evaluate(`(() => { const p = document.querySelector("#party"); p.value = p.options[1].value; p.dispatchEvent(new Event("change", {bubbles: true})); document.querySelector("#join").click(); document.querySelector("#join")?.click(); })()`)
			b.step("paused", "#place")
			require.Equal(t, "1", b.text("#place"))
			b.choose("#move summary")
			b.step("another-device", "#move svg")
			at := fmt.Sprint(b.evaluate(`JSON.parse(localStorage.getItem("queue:" + ` + fmt.Sprintf("%q", event) + `)).token`))

			t.Log("the place is the same after a reload, in another tab and on another device")
			b.do("Page.reload", nil)
			b.there("#place")
			other := &buyer{window: openBrowser(t).open(t, page+"/queue#ticket="+at, roomSizes[name]), shop: s.Shop, name: "room-" + name + "-elsewhere", axe: b.axe}
			other.there("#place")
			require.Equal(t, "1", other.text("#place"))
			require.Equal(t, "", other.evaluate("location.hash"))
			require.Equal(t, float64(1), s.Call("GET", "/public/events/"+event+"/queue", nil).Is(200, "").Data("count"), "two clicks and three pages are one entry")

			s.Own("POST", "/organizer/events/"+event+"/queue/resume", nil).Is(200, "")
			b.step("admitted", "#to-shop")
			b.choose("#to-shop")
			b.until(`location.search === ` + fmt.Sprintf("%q", "?t="+ids[0]+".2"))
			b.step("checkout", "#email")
			b.fill("#name", "Ada Obi")
			b.fill("#email", "ada@example.org")
			b.faultless()
			other.faultless()
			b.choose("form button.wide")
			b.choose(`button[value="success"]`)
			b.until(`location.pathname.startsWith("/o/") && document.querySelectorAll(".pass svg").length`)
			b.forget() // the provider's page is another server's

			t.Log("an admission that has run out leads back")
			b.load(page + "/checkout?t=" + ids[0] + ".1")
			b.there("#email")
			s.ahead.Add(int64(11 * time.Minute))
			b.fill("#name", "Ada Obi")
			b.fill("#email", "ada@example.org")
			b.choose("form button.wide")
			b.until(`location.pathname.endsWith("/queue")`)
			b.do("Page.addScriptToEvaluateOnNewDocument", params{"source": `Date.now = ((now) => () => now() + 660_000)(Date.now);
				Headers.prototype.get = ((get) => function (name) { return name === "Date" ? null : get.call(this, name); })(Headers.prototype.get)`})
			b.do("Page.reload", nil)
			b.step("expired", "#join")
			b.choose("#join")
			b.until(`document.querySelector("#to-shop")`)
		})
	}
}

// TestRoomByMail joins by the mailed link a room that asks for an address, and for work: the page enters nobody before its button
// is pressed (make pages).
func TestRoomByMail(t *testing.T) {
	t.Parallel()
	for name := range roomSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRoomShop(t)
			event, _ := s.OnSale(nodetest.TypeBody(25, 100))
			page := "e/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug") + "/queue"
			s.setQueue(event, nodetest.Object{"admitPerMinute": 6000, "proof": "address", "partyMax": 2, "work": 14})
			s.Own("POST", "/organizer/events/"+event+"/queue/pause", nil).Is(200, "")
			b, began := s.wait(t, name), time.Now()
			b.name = "mail-" + name
			b.load(b.origin + page)
			b.step("ask", "#queue-email")
			b.fill("#queue-email", "ann@example.org")
			b.choose("#join")
			b.step("mailed", "#not-mailed")
			link := regexp.MustCompile(`/queue#mailed&join=\S+`).FindString(s.Mail(t, "ann@example.org", "queue_confirm", began).Text)
			b.do("Page.navigate", params{"url": "about:blank"})
			b.load(b.origin + strings.TrimSuffix(page, "/queue") + link)
			b.step("invited", "#join")
			require.Zero(t, s.Call("GET", "/public/events/"+event+"/queue", nil).Is(200, "").Data("count"))
			require.Equal(t, "", b.evaluate("location.hash"))
			require.Equal(t, "1", b.evaluate(`document.querySelector("#party").value`))
			b.evaluate(`(() => { const p = document.querySelector("#party"); p.value = p.options[1].value; p.dispatchEvent(new Event("change", {bubbles: true})); })()`)
			b.choose("#join")
			b.step("in", "#place")
			b.faultless()
		})
	}
}

// TestMailedPlaceWaitsForItsReader opens the mailed link to a place whose turn has come: the time to order begins with
// the button, because programs open such links as well.
func TestMailedPlaceWaitsForItsReader(t *testing.T) {
	t.Parallel()
	for name := range roomSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRoomShop(t)
			event, _ := s.OnSale(nodetest.TypeBody(25, 100))
			s.setQueue(event, nodetest.Object{"admitPerMinute": 6000})
			began, path := time.Now(), "/public/events/"+event+"/queue"
			s.Call("POST", path, nodetest.Object{"email": "ann@example.org"}).Is(201, "")
			link := regexp.MustCompile(`e/\S+/queue#mailed&receipt=\S+`).FindString(s.Mail(t, "ann@example.org", "queue_place", began).Text)
			s.Becomes("1", func() string { return s.Call("GET", path, nil).Is(200, "").Str("served") })
			b := s.wait(t, name)
			b.name = "mailed-place-" + name
			b.load(b.origin + link)
			b.step("shown", "#see-place")
			s.ahead.Add(int64(11 * time.Minute)) // as long as an admission is valid
			b.choose("#see-place")
			b.step("turn", "#to-shop")
			b.faultless()
		})
	}
}

// TestRoomWithoutScripts waits in a browser that runs no scripts: the page that is built leads to the one that
// the server writes, which loads itself until it is the visitor's turn (make pages).
func TestRoomWithoutScripts(t *testing.T) {
	t.Parallel()
	for name := range roomSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRoomShop(t)
			event, _ := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(60, 100))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			s.setQueue(event, nodetest.Object{"admitPerMinute": 6000, "partyMax": 3})
			s.Own("POST", "/organizer/events/"+event+"/queue/pause", nil).Is(200, "")
			b := s.wait(t, name)
			b.name, b.spared = "plain-room-"+name, "meta-refresh"
			if name == "german" {
				b.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
			}
			look := func(step, selector string) { // our own looking needs scripts
				b.there(selector)
				b.do("Emulation.setScriptExecutionDisabled", params{"value": false})
				b.step(step, selector)
				b.do("Emulation.setScriptExecutionDisabled", params{"value": true})
			}
			b.do("Emulation.setScriptExecutionDisabled", params{"value": true})
			b.do("Page.navigate", params{"url": b.origin + "e/" + slug + "/queue"})
			look("join", "#party")
			b.choose("form button")
			look("line", "code")
			s.Own("POST", "/organizer/events/"+event+"/queue/resume", nil).Is(200, "")
			turn := "It is your turn"
			if name == "german" {
				turn = "Du bist dran"
			}
			b.until(fmt.Sprintf(`document.querySelector("h1").innerText === %q`, turn))
			look("turn", `main a[href*="#receipt="]`)
			b.faultless()
		})
	}
}

// TestDrawnRoom waits for a draw from its announcement on, and checks the place in the browser (make pages).
func TestDrawnRoom(t *testing.T) {
	t.Parallel()
	for name := range roomSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRoomShop(t, func(c *node.Config) { c.WitnessURL = witnesstest.Open(t).URL })
			event, _ := s.OnSale(nodetest.TypeBody(25, 100))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			s.setQueue(event, nodetest.Object{"opensAt": s.stamp(time.Hour), "registersFrom": s.stamp(10 * time.Minute), "admitPerMinute": 60, "partyMax": 2})
			b := s.wait(t, name)
			b.name = "draw-" + name
			b.load(b.origin + "draw/" + event)
			b.step("none", `main a.button`)
			b.forget() // the document is not there
			b.load(b.origin + "e/" + slug + "/queue")
			b.step("before", `[role="timer"]`)
			s.ahead.Add(int64(15 * time.Minute))
			b.step("join", "#join")
			b.choose("#join")
			b.step("in", "#papers")
			for range 6 {
				s.Call("POST", "/public/events/"+event+"/queue", nodetest.Object{}).Is(201, "")
			}
			s.ahead.Add(int64(42*time.Minute + time.Second))
			root := fmt.Sprintf(`localStorage.getItem("queue:root:%s:1")`, event)
			b.until(root)
			b.step("closed", "#papers code")
			s.Becomes("true", func() string {
				return strconv.FormatBool(s.Call("GET", "/public/events/"+event+"/queue/draw", nil).Data("witness") != nil)
			})
			s.ahead.Add(int64(2*time.Minute + 4*time.Second))
			b.step("drawn", "#place")
			place := b.text("#place")

			b.load(b.origin + "draw/" + event)
			b.step("checked", "#place")
			require.Equal(t, place, b.text("#place"), "the browser finds the same place by itself")
			b.there("#check-root.good")
			for _, check := range []string{"root", "counted", "signed", "draw", "receipt", "under"} {
				require.Equal(t, true, b.evaluate(fmt.Sprintf(`document.querySelector("#check-%s").classList.contains("good")`, check)), check)
			}
			for _, check := range []string{"beacon", "witness"} { // a browser can't check them
				require.Equal(t, false, b.evaluate(fmt.Sprintf(`["good", "bad"].some((c) => document.querySelector("#check-%s").classList.contains(c))`, check)), check)
			}
			b.evaluate(`(() => { const r = document.querySelector("#receipt"); r.value = r.value.slice(0, -8) + (r.value.at(-8) === "A" ? "B" : "A") + r.value.slice(-7); r.dispatchEvent(new Event("input", {bubbles: true})); document.querySelector("#check").click(); })()`)
			b.step("forged", "#check-receipt.bad")
			b.faultless()

			b.load(b.origin + "e/" + slug + "/queue")
			s.ahead.Add(int64(5 * time.Minute))
			b.step("turn", "#to-shop")
			b.evaluate(root[:len("localStorage.")] + `setItem(` + root[len("localStorage.getItem("):len(root)-1] + `, "00")`)
			b.do("Page.reload", nil)
			b.step("two-roots", ".note.bad")
		})
	}
}

// TestRoomAsksWhoComes joins a room that has one entry a person: signing in comes first, and leads back
// (make pages).
func TestRoomAsksWhoComes(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
	slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	s.setQueue(event, nodetest.Object{"proof": "account", "admitPerMinute": 6000})
	b := s.wait(t, "phone")
	b.name = "room-account"
	b.load(b.origin + "e/" + slug + "/checkout?t=" + ids[0] + ".1")
	b.step("sign-in", "#sign-in")
	b.choose("#sign-in")
	b.there("#email")
	began := time.Now()
	b.fill("#email", "ada@example.org")
	b.choose("form button.wide")
	b.there("#code")
	b.fill("#code", nodetest.SixDigits.FindString(s.Mail(t, "ada@example.org", "login_code", began).Text))
	b.until(`location.pathname.endsWith("/queue")`)
	b.choose("#join")
	b.choose("#to-shop")
	b.fill("#name", "Ada Obi")
	b.choose("form button.wide")
	b.until(`location.pathname.startsWith("/o/") && document.querySelectorAll(".pass svg").length`)
	b.faultless()
}

// TestRoomAdmitsToSeats chooses a seat on the map of an event with a room: it is kept while one waits.
func TestRoomAdmitsToSeats(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	h := nodetest.SeatedIn(s.Shop)
	s.setQueue(h.Event, nodetest.Object{"admitPerMinute": 6000})
	b := s.wait(t, "desktop")
	b.load(h.Page())
	b.shows("stalls-A-1", free)
	b.run(`sale.toggle(` + seat("stalls-A-1") + `)`)
	(&buyer{window: b.window}).until(`location.pathname.endsWith("/queue")`)
	b.forget() // the refusal is in the browser's log
	b.choose("#join")
	b.choose("#to-shop")
	b.until(`location.pathname.endsWith("/seats")`)
	b.window.until("sale.settled && sale.held.size === 1")
	b.faultless()
}

// TestRoomDesk opens, steers and ends a waiting room at the organizer's desk (make pages).
func TestRoomDesk(t *testing.T) {
	t.Parallel()
	for name := range roomSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRoomShop(t)
			event, _ := s.OnSale(nodetest.TypeBody(25, 100))
			b := s.wait(t, name)
			b.name = "desk-" + name
			b.load(b.origin + "organizer/events/" + event + "/room")
			b.fill("#email", "owner@example.org")
			b.fill("#password", "correct horse")
			b.insist("form button.wide", "#open-room")
			b.step("none", "#open-room")
			b.choose("#open-room")
			b.step("form", "#save-room")
			b.choose("#by-number")
			b.fill("#rate", "0")
			b.choose("#save-room")
			b.step("wrong", "#rate[aria-invalid]")
			b.forget() // the refusal is in the browser's log
			b.fill("#rate", "6000")
			b.choose("#save-room")
			b.step("open", "#rules:disabled")
			require.Contains(t, b.text("#rate-now"), "000")
			b.choose("#pause")
			b.there("#resume")
			s.Call("POST", "/public/events/"+event+"/queue", nodetest.Object{}).Is(201, "")
			b.until(`document.querySelector("#in-line")?.innerText === "1"`)
			b.step("paused", "#resume")
			b.choose("#resume")
			b.until(`document.querySelector("#let-in")?.innerText === "1"`)
			b.choose("#end-room")
			b.step("sure", "#sure-yes")
			b.choose("#sure-yes")
			b.there("#open-room")
			b.faultless()
		})
	}
}
