package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestDeskEvent looks at what an event's own part of the organizer's desk has besides its tickets and guests:
// how it sells beside the one before it.
func TestDeskEvent(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "event-"+name, as)
			event := o.sellTwo()
			o.compareSales(event)
			o.faultless()
		})
	}
}

// sellTwo sells three tickets of an event and two of one that begins five days later, and returns the later one.
func (o *organizer) sellTwo() string {
	o.t.Helper()
	sell := func(title string, days, tickets int) string {
		begins := time.Duration(days) * 24 * time.Hour
		event, ids := o.shop.Sell(nodetest.Object{"title": title, "startDate": nodetest.Stamp(begins), "endDate": nodetest.Stamp(begins + 3*time.Hour)},
			nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
		o.shop.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], tickets)).Is(201, "")
		return event
	}
	sell("Spring gala", 5, 3)
	return sell("Autumn gala", 10, 2)
}

// compareSales sees how an event sells beside the one before it, and alone.
func (o *organizer) compareSales(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/live")
	o.until(`document.querySelector("#curve .other") && document.querySelector("#curve .own")`)
	o.evaluate(`document.querySelector("#curve").scrollIntoView({block: "center"})`)
	o.step("curve", "#curve .other")
	require.Regexp(o.t, `(?s)Autumn gala: 2 .*10 .*Spring gala: 0 .*, 3 `, o.text("#curve ul"))
	o.set("#beside", "")
	o.until(`!document.querySelector("#curve .other") && document.querySelectorAll("#curve li").length === 1`)
	o.load(o.origin + "organizer/overview")
	o.until(`document.querySelector("#curve .own") && document.querySelectorAll("#curve li").length === 1`) // of the event that begins next
	o.evaluate(`document.querySelector("#curve").scrollIntoView({block: "end"})`)
	o.step("overview", "#curve .own")
}
