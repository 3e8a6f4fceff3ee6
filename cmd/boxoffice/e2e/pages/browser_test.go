package pages

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/edgetest/hostile"
	"boxoffice/edge/names"
)

// seatedBy is an event on sale that is seated by a sample map: sections are sold
// as Stalls, and those whose ids begin with a prefix as Circle.
func seatedBy(t *testing.T, sample, circle string) *nodetest.House {
	t.Helper()
	h := &nodetest.House{Shop: nodetest.Open(t)}
	h.Seat(nodetest.SampleMap(t, sample), nodetest.Object{"venueName": "Demo Hall"}, nodetest.Object{"name": "Stalls"}, nodetest.Object{"name": "Circle"}, circle)
	return h
}

// seat is an expression for a seat's index.
func seat(id string) string { return fmt.Sprintf("sale.index.get(%q)", id) }

// The states of seats, as the page has them.
const (
	free    = "0"
	taken   = "1"
	gone    = "2"
	blocked = "3"
	own     = "5"
)

// shows waits until a window shows a seat in a state, and says how long that
// took.
func (w *window) shows(id, state string) time.Duration {
	w.t.Helper()
	return w.until("sale.status(" + seat(id) + ") === " + state)
}

// at is where a seat is on the screen.
func (w *window) at(id string) (x, y float64) {
	w.t.Helper()
	p := w.run(`(({x, y}, box) => [x + box.left, y + box.top])(map.place(` + seat(id) + `), document.getElementById("map").getBoundingClientRect())`).([]any)
	return p[0].(float64), p[1].(float64)
}

// colour is what is drawn beside the middle of a seat, once the screen is up to
// date.
func (w *window) colour(id string) string {
	w.t.Helper()
	return fmt.Sprint(w.run(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
		const {x, y} = map.place(` + seat(id) + `), r = map.grid.radius[` + seat(id) + `] * map.view.scale;
		const one = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
		one.drawImage(map.canvas, (x - 0.72 * r) * map.dpr, y * map.dpr, 1, 1, 0, 0, 1, 1);
		resolve([...one.getImageData(0, 0, 1, 1).data].join());
	})))`))
}

func (w *window) pick(id string) {
	w.t.Helper()
	w.click(w.at(id))
}

func (w *window) text(selector string) string {
	w.t.Helper()
	return fmt.Sprint(w.evaluate(fmt.Sprintf("document.querySelector(%q).innerText", selector)))
}

// picked are the seats that the service has confirmed.
func (w *window) picked(n int) []string {
	w.t.Helper()
	w.until(fmt.Sprintf("sale.settled && sale.held.size === %d", n))
	var ids []string
	for _, id := range w.run("Array.from(sale.held, (i) => sale.seats[i].id)").([]any) {
		ids = append(ids, id.(string))
	}
	slices.Sort(ids)
	return ids
}

var quiet = flag.Bool("quiet", false, "the machine does nothing else: check how long the page takes")

// timely checks a time when the machine has time for the page.
func timely[T cmp.Ordered](t *testing.T, took, limit T) {
	t.Helper()
	if *quiet {
		require.Less(t, took, limit)
	}
}

// TestPage opens the page of an event's seats in a real browser (make page-test).
func TestPage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	for name, test := range map[string]func(*testing.T, *browser){
		"two windows": twoWindows, "by keyboard": byKeyboard, "order on a phone": orderOnPhone, "large maps": largeMaps,
		"hostile texts": hostileTexts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b)
		})
	}
}

// twoWindows is two shoppers with a window each: what one does, the other
// sees.
func twoWindows(t *testing.T, b *browser) {
	h := seatedBy(t, "theatre", "circle")
	ada, bob := b.open(t, h.Page(), laptop), b.open(t, h.Page(), size{width: 1280, height: 800, scale: 2, dark: true})
	const first = "stalls-C-105"
	for _, w := range []*window{ada, bob} {
		w.shows(first, free)
		require.Equal(t, "Friday Night", w.text("h1"))
	}

	t.Log("a pick in one window changes the other, within a second")
	before := bob.colour(first)
	ada.pick(first)
	ada.picked(1)
	took := bob.shows(first, taken)
	timely(t, took, time.Second)
	require.NotEqual(t, before, bob.colour(first))
	require.Equal(t, "USD", ada.run("sale.sections[0].currency"))
	require.Contains(t, ada.text("#picked"), "Row C, seat 105")
	require.Contains(t, ada.text("#left"), "left")
	t.Logf("seen in the other window %s after the answer", took)

	t.Log("what somebody holds is not to be had")
	bob.pick(first)
	bob.until(`document.getElementById("said").innerText.includes("held by somebody")`)
	require.Equal(t, "Stalls, row C, seat 105\n$52.50, held by somebody", bob.text("#tip"))
	bob.picked(0)

	t.Log("the service chooses")
	bob.run(`document.getElementById("best-quantity").value = 4`)
	bob.run(`document.querySelector("#best button").click()`)
	best := bob.picked(4)
	for _, id := range best {
		ada.shows(id, taken)
	}
	ada.keep("ada-light")
	bob.keep("bob-dark")

	t.Log("the wheel zooms around the pointer")
	x, y := ada.at(first)
	scale := ada.run("map.view.scale").(float64)
	ada.do("Input.dispatchMouseEvent", params{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -200})
	ada.until(fmt.Sprintf("map.view.scale > %f", 1.3*scale))
	zoomedX, zoomedY := ada.at(first)
	require.InDelta(t, x, zoomedX, 1)
	require.InDelta(t, y, zoomedY, 1)

	t.Log("what is given back is free again")
	ada.pick(first)
	ada.picked(0)
	timely(t, bob.shows(first, free), time.Second)
	bob.run(`document.getElementById("drop").click()`)
	bob.picked(0)
	ada.shows(best[0], free)

	t.Log("a seat that is not to be had is given up, with the reason")
	ada.run("map.all()")
	ada.pick("stalls-B-102")
	ada.until(`document.getElementById("alert").innerText.includes("row B, seat 102 could not be had: it would leave a single seat")`)
	ada.shows("stalls-B-102", free)
	ada.picked(0)

	for _, w := range []*window{ada, bob} {
		w.faultless()
	}
}

// byKeyboard chooses from the list, without a pointer.
func byKeyboard(t *testing.T, b *browser) {
	h := seatedBy(t, "theatre", "circle")
	w, other := b.open(t, h.Page(), laptop), b.open(t, h.Page(), laptop)
	focus := func(attribute string) any { return w.evaluate("document.activeElement." + attribute) }
	w.press("Tab")
	require.Equal(t, "Choose seats from a list", focus("innerText"))
	w.press("Enter")
	w.until(`!document.getElementById("view-list").hidden && document.activeElement.id === "list"`)
	w.press("Tab")
	require.Equal(t, "Stalls left — $52.50, 76 of 76 available", focus("innerText"))
	w.press("Enter")
	w.until(`document.querySelector(".row button")`)
	w.press("Tab")
	require.Equal(t, "1\navailable", focus("innerText"))
	require.Equal(t, "Row A", focus("parentElement.ariaLabel"))
	w.press("Tab")
	require.Equal(t, "Row B", focus("parentElement.ariaLabel"))
	w.press("Enter")
	w.until(`document.activeElement.ariaPressed === "true"`)
	require.Equal(t, []string{"stalls-left-B-1"}, w.picked(1))
	other.shows("stalls-left-B-1", taken)
	require.Equal(t, "1\nyours", focus("innerText"))
	require.Contains(t, w.text("#said"), "Stalls left, row B, seat 1 chosen. 1 seat, $52.50.")
	w.press("ArrowRight", "Enter")
	require.Equal(t, []string{"stalls-left-B-1", "stalls-left-B-3"}, w.picked(2))

	t.Log("the list is live, too")
	h.Hold("somebody-else", "stalls-left-D-1").Is(200, "")
	w.until(`document.querySelector("button[value='" + ` + seat("stalls-left-D-1") + ` + "']").innerText.includes("held by somebody")`)
	w.until(`document.querySelector("summary").innerText.includes("73 of 76")`)
	w.press("End", "Enter")
	w.picked(3)
	w.keep("list")

	t.Log("a seat that is lost is announced")
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"block": []string{"stalls-left-B-3"}}).Is(200, "")
	w.until(`document.getElementById("alert").innerText.includes("Stalls left, row B, seat 3 is no longer yours: it is withheld.")`)
	require.NotContains(t, w.picked(2), "stalls-left-B-3")
	other.shows("stalls-left-B-3", blocked)

	t.Log("a duplicate of the tab is another shopper")
	require.InDelta(t, 0, w.evaluate(`new Promise((resolve) => {
		const twin = open(location.href);
		const look = setInterval(() => {
			if (twin.document.title !== document.title) return;
			clearInterval(look);
			resolve(twin.document.querySelectorAll("#picked li").length);
			twin.close();
		}, 20);
	})`), 0)

	t.Log("the page knows its selection when it is loaded again, and ends it in time")
	w.load(h.Page() + "?again")
	require.Len(t, w.picked(2), 2)
	w.evaluate(`Date.now = ((now) => () => now() + 301_000)(Date.now.bind(Date))`)
	w.until(`document.getElementById("alert").innerText.includes("2 seats are no longer yours: their time is up.")`)
	w.faultless()
}

// orderOnPhone follows the page to where one pays, through a
// restart of the node.
func orderOnPhone(t *testing.T, b *browser) {
	h := seatedBy(t, "theatre", "circle")
	w := b.open(t, h.Page(), size{width: 390, height: 844, scale: 2, touch: true})
	w.shows("circle-A-1", free)

	t.Log("a finger comes nearer first, and then picks")
	x, y := w.at("stalls-F-107")
	w.tap(x, y)
	w.until("map.grid.usual * map.view.scale > 6")
	w.tap(w.at("stalls-F-107"))
	w.picked(1)
	w.tap(w.at("stalls-F-108"))
	w.picked(2)
	w.keep("phone")

	t.Log("two fingers zoom")
	scale := w.run("map.view.scale").(float64)
	for _, apart := range []float64{40, 60, 80} {
		event := "touchMove"
		if apart == 40 {
			event = "touchStart"
		}
		w.do("Input.dispatchTouchEvent", params{"type": event, "touchPoints": []params{{"id": 1, "x": 180 - apart, "y": 300}, {"id": 2, "x": 180 + apart, "y": 300}}})
	}
	w.do("Input.dispatchTouchEvent", params{"type": "touchEnd", "touchPoints": []params{}})
	require.InEpsilon(t, 2*scale, w.run("map.view.scale"), 0.02)
	w.picked(2)

	t.Log("when the connection is lost, the page says so until it is there again")
	w.faultless()
	w.evaluate(`new MutationObserver(() => { window.told ||= document.getElementById("banner").innerText; }).observe(document.getElementById("banner"), {childList: true})`)
	h.Restart()
	w.until(`window.told && document.getElementById("banner").innerText === ""`)
	require.Contains(t, w.evaluate("window.told"), "connection is lost")
	w.forget() // the browser logs that it could not connect

	t.Log("the checkout has the seats, with the price that the map has told")
	require.Equal(t, "2 seats, $105.00", w.text("#bar-text"))
	p := &buyer{window: w, shop: h.Shop, name: "seats-phone", axe: readAxe(t)}
	p.until(`!document.getElementById("bar-go").disabled`)
	p.choose("#bar-go")
	p.step("checkout", "progress")
	require.Equal(t, "$105.00", w.text(".sum strong"))
	require.Contains(t, w.text("form"), "Stalls, row F, seat 107")
	p.fill("#name", "Ada Obi")
	p.fill("#email", "ada@example.org")
	p.until(`document.querySelector("form button.wide:not(:disabled)")`)
	require.Equal(t, "Pay $105.00", w.text("form button.wide"))
	p.choose("form button.wide")
	p.choose(`button[value="success"]`)
	p.until(`location.pathname.startsWith("/o/") && document.querySelectorAll(".pass svg").length`)
	require.Contains(t, h.Seats("sold"), "stalls-F-107")
	w.forget() // the provider's page is another server's

	t.Log("a page without an event, and an event without seats, say so")
	w.load(strings.Replace(h.Page(), "/e/", "/e/no-", 1))
	require.Equal(t, "No such event.", w.text("#banner"))
	h.Event, _ = h.OnSale(nodetest.TypeBody(25, 10))
	w.load(h.Page())
	require.Equal(t, "The event has no seat map.", w.text("#banner"))
}

// largeMaps draws an arena and a stadium, and moves them about while
// seats change.
func largeMaps(t *testing.T, b *browser) {
	for sample, seats := range map[string]float64{"arena": 20_000, "stadium": 70_000} {
		h := seatedBy(t, sample, "3")
		began := time.Now()
		w := b.open(t, h.Page(), laptop)
		w.until("map.drawn")
		require.InDelta(t, seats, w.run("sale.seats.length"), 0)
		t.Logf("%s: shown after %s", sample, time.Since(began).Round(time.Millisecond))
		w.keep(sample)
		for _, radius := range []int{1, 3, 8} { // of a seat, in pixels
			w.run(fmt.Sprintf("map.zoom(%d / map.grid.usual / map.view.scale)", radius))
			frame := w.run(drag).(float64)
			t.Logf("%s, seats of %d pixels: a frame every %.1f ms", sample, radius, frame)
			timely(t, frame, 50) // a machine of its own shows 60 in a second
		}
		w.run("map.all()")
		w.pickBest()
		w.keep(sample + "-near")
		w.faultless()
	}
}

// pickBest has the service choose two seats, and the map show them.
func (w *window) pickBest() {
	w.t.Helper()
	w.run(`document.querySelector("#best button").click()`)
	w.picked(2)
	w.until(`[...sale.held].every((i) => map.place(i).x > 0 && map.place(i).x < map.width) && map.grid.usual * map.view.scale > 5`)
}

// drag drags the map in each of 60 frames while 50 seats change, and says how long
// a frame takes, in the median.
const drag = `new Promise((resolve) => {
	const times = [];
	const point = (type, x) => map.canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, pointerType: "mouse", button: 0, clientX: x, clientY: 400}));
	map.canvas.setPointerCapture = () => {};
	point("pointerdown", 400);
	const step = (time) => {
		times.push(time);
		point("pointermove", 400 + 4 * times.length);
		map.changed(Array.from({length: 50}, () => Math.floor(Math.random() * sale.seats.length)));
		if (times.length < 60) return requestAnimationFrame(step);
		point("pointerup", 640);
		resolve(times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b)[30]);
	};
	requestAnimationFrame(step);
})`

// marked says whether a page has elements that only a text of a user would bring:
// scripts beyond the page's own and its data, attributes that run code, links that do.
const marked = `[...document.querySelectorAll("*")].filter((e) =>
	["iframe", "frame", "object", "embed", "base"].includes(e.localName) ||
	e.localName === "script" && !e.src.startsWith(location.origin + "/web/") && !/^application\/(ld\+)?json$/.test(e.type) ||
	[...e.attributes].some((a) => a.name.startsWith("on") ||
		/^(.*:)?(href|src|srcset|action|formaction|data|poster|background)$/.test(a.name) && /^\s*(javascript|vbscript|data:text)/i.test(a.value.replace(/\s/g, "")))
).map((e) => e.outerHTML).join()`

// hostileTexts puts texts that try to become markup wherever an organizer's text
// stands on the page of seats, and picks a seat, so that the page names it. The
// page must show them as they are.
func hostileTexts(t *testing.T, b *browser) {
	var texts []string
	for _, text := range slices.Concat(hostile.Texts, hostile.Scripts) {
		if utf8.ValidString(text) && len(text) <= 40 && !strings.ContainsFunc(text, unicode.IsControl) {
			texts = append(texts, text)
		}
	}
	next := func() string {
		texts = append(texts[1:], texts[0])
		return texts[0]
	}
	all := len(texts)
	s := nodetest.Open(t)
	for shown := 0; shown < all; {
		body := nodetest.SampleMap(t, "theatre")
		body["name"] = next()
		for _, section := range body["sections"].([]any) {
			shown++
			name := next()
			if len(name) <= 36 { // some short texts look alike, and no two sections may; a name has 40 characters at most
				name += " " + strconv.Itoa(shown)
			}
			section.(nodetest.Object)["name"] = name
		}
		title := next()
		h := &nodetest.House{Shop: s}
		h.Seat(body, nodetest.Object{"title": title, "venueName": next()}, nodetest.Object{"name": next()}, nodetest.Object{"name": next()}, "circle")
		shown += 4
		w := b.open(t, h.Page(), laptop)
		w.shows("stalls-C-105", free)
		require.Equal(t, strings.Join(strings.Fields(names.Clean(title)), " "), strings.Join(strings.Fields(w.text("h1")), " "))
		w.pick("stalls-C-105")
		w.picked(1)
		require.Empty(t, w.evaluate(marked), title)
		w.faultless()
	}
	t.Logf("%d texts", all)
}
