package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestGateExits lets people out and in again at a gate, with a network and without, and looks at who is
// inside (make pages).
func TestGateExits(t *testing.T) {
	t.Parallel()
	chromium, axe := openBrowser(t), readAxe(t)
	for name, as := range map[string]size{
		"phone": {width: 390, height: 844, scale: 2, touch: true}, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "exits-desk-"+name, as)
			g := o.sendToGate(as, nodetest.Object{"startDate": nodetest.Stamp(2 * time.Hour), "endDate": nodetest.Stamp(48 * time.Hour)})
			o.countExits(g.event)
			g.enrol(o.makeGate(g.event, false))
			g.there("#way-out")
			g.show(g.code(0, "qr"), ".verdict.good", "in")
			g.later()
			already, goodbye := "Already inside", "Goodbye"
			if g.german {
				already, goodbye = "Schon drin", "Tschüss"
			}
			require.Equal(t, already, g.show(g.code(0, "qr"), ".verdict.bad", "inside"))
			g.choose("#way-out")
			g.show(g.code(0, "qr"), ".verdict.good", "out")
			g.later()
			g.show(g.code(0, "qr"), ".verdict.bad", "not-inside")
			g.choose("#way-in")
			g.show(g.code(0, "qr"), ".verdict.good", "again")
			g.show(g.code(1, "qr"), ".verdict.good", "full")
			g.step("alarm", "#alarm")
			g.choose("#gates summary")
			g.step("figures", "#gates li")
			require.Equal(t, "2 3 1", g.inside())
			o.seesInside(g.event)
			g.run(`new Promise((done) => setTimeout(done, 4000))`) // until the manifest is here, too
			g.forget()

			t.Log("without a network an exit is kept, and told later")
			g.do("Network.emulateNetworkConditions", params{"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
			g.until(`document.querySelector("#standing").dataset.online === "false"`)
			g.choose("#way-out")
			require.Equal(t, goodbye, g.show(g.code(0, "qr"), ".verdict.good", "offline-out"))
			require.Equal(t, goodbye, g.show(g.code(2, "qr"), ".verdict.ask", "offline-not-seen"))
			g.choose("#undo")
			g.until(`document.querySelector("#waiting").innerText.startsWith("1 ")`)
			g.do("Network.emulateNetworkConditions", params{"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
			g.until(`document.querySelector("#standing").dataset.online === "true" && !document.querySelector("#waiting")`)
			require.Equal(t, "1 3 2", g.inside())
			g.forget()
			g.until(`document.querySelector(".numbers strong").innerText === "1"`)
			g.faultless()

			t.Log("a device is the gate of several events, and changes between them")
			another, _ := g.shop.Sell(nodetest.Object{"title": "Another night"}, nodetest.TypeBody(0, 10))
			g.load(g.enrolLink(another, "South"))
			g.choose("#take")
			g.there("#other-event")
			require.EqualValues(t, 2, g.evaluate(`document.querySelectorAll("#other-event option").length`))
			g.evaluate(fmt.Sprintf(`(() => { const e = document.querySelector("#other-event"); e.value = "%d"; e.dispatchEvent(new Event("change", {bubbles: true})); })()`, nodetest.Number(t, g.event)))
			g.there(`#standing[data-online="true"]`)
			g.keepIn("pages", g.name+"-events")
			g.until(`document.querySelector(".numbers strong").innerText === "1"`)
			g.forget() // the other event's key is nobody's
		})
	}
}

// countExits has the gates of an event let people out, and warn of more than two inside, at the desk.
func (o *organizer) countExits(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event)
	o.choose("#more summary")
	o.fill("#inside-limit", "2")
	o.choose("#exits")
	o.step("exits", "#exits:checked")
	o.choose("#save")
	o.shop.Becomes("true 2", func() string {
		saved := o.shop.Own("GET", "/organizer/events/"+event, nil).Is(200, "")
		return fmt.Sprint(saved.Data("exits"), " ", saved.Data("insideLimit"))
	})
}

// seesInside reads at the desk who is inside of an event that is full.
func (o *organizer) seesInside(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/live")
	o.until(`document.querySelector("#inside")?.innerText === "2" && document.querySelector("main .rows tbody td")?.innerText === "North"`)
	o.step("inside", "#alarm")
	o.evaluate(`document.querySelector("main .rows").scrollIntoView({block: "center"})`)
	o.step("gates", "main .rows")
	o.load(o.origin + "organizer/overview")
	o.until(`document.querySelector("#today-of .figure strong")?.innerText === "2" && document.querySelector("#today-of li .num")`)
	o.step("overview", "#today-of")
	o.faultless()
}

// inside returns how many are inside, and how often people came in and went out.
func (g *offlineGate) inside() string {
	g.t.Helper()
	stats := g.shop.Own("GET", "/checkin/event/"+g.event+"/stats", nil).Is(200, "")
	return fmt.Sprint(stats.Data("inside"), " ", stats.Data("in"), " ", stats.Data("out"))
}
