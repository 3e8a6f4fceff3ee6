package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestBookings makes an event that is booked by date at the organizer's desk, from nothing
// on, and books it in the shop (make pages).
func TestBookings(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "german": {width: 320, height: 640, scale: 2, touch: true, dark: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			s.Org() // there is an owner
			at := strings.TrimSuffix(s.URL, "/api/v1") + "/organizer/events/new?kind=reservations"
			o := &organizer{began: time.Now(), width: as.width, buyer: buyer{window: chromium.open(t, at, as), shop: s, name: "bookings-" + name, axe: axe}}
			if name == "german" {
				o.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
				o.load(at)
			}
			o.fill("#email", "owner@example.org")
			o.fill("#password", "correct horse")
			o.insist("form button.wide", "#title")
			event := o.openBookings()
			o.offerBookings()
			o.bookFirst()
			o.renameSlot(event)
			o.faultless()
		})
	}
}

// openBookings makes a draft with times, closed days and how far ahead dates can be booked,
// and returns its id.
func (o *organizer) openBookings() (event string) {
	o.t.Helper()
	o.fill("#title", "Tea in the Tower")
	o.fill("#ahead", "60")
	require.Equal(o.t, false, o.evaluate(`!!document.querySelector("#start")`), "it begins on no date")
	o.set("#timezone", "Europe/Berlin")
	o.fill("#venueName", "Old Tower")
	o.fill("#description", "Tea from seven countries, a view over the harbour, and nobody who hurries you.")
	o.fill("#daily", "40")
	o.choose(`input[value="date_time"]`)
	for i, slot := range [][]string{{"Noon", "12:00", "13:00", "8"}, {"Night", "22:00", "02:00", ""}, {"Mistake", "06:00", "07:00", ""}} {
		o.choose("#add-slot")
		at := fmt.Sprintf("#slot-%d", i)
		o.fill(at, slot[0])
		o.set(at+"-start", slot[1])
		o.set(at+"-end", slot[2])
		if slot[3] != "" {
			o.fill(at+"-capacity", slot[3])
		}
	}
	o.choose(".slot:nth-of-type(3) .link")
	o.choose(`input[name="closed"][value="0"]`)
	o.set("#closedDate", "2031-12-24")
	o.choose("#close-date")
	o.evaluate(`document.querySelector("#add-slot").scrollIntoView({block: "end"})`)
	o.step("times", "ul .link")
	o.choose("#save")
	o.there("#add-type")
	event = strings.Split(fmt.Sprint(o.evaluate("location.pathname")), "/")[3]
	got := o.shop.Own("GET", "/organizer/events/"+event, nil).Is(200, "")
	for path, want := range map[string]any{
		"mode": "date_time", "maxAdvanceDays": 60.0, "dailyCapacity": 40.0, "slots.0.label": "Noon", "slots.0.capacity": 8.0, "slots.1.startTime": "22:00", "slots.1.capacity": nil,
		"closedWeekdays.0": 0.0, "closedDates.0": "2031-12-24",
	} {
		require.EqualValues(o.t, want, got.Data("reservation."+path), path)
	}
	require.Len(o.t, got.Data("reservation.slots"), 2)
	return event
}

// offerBookings adds a free ticket type and puts the event on sale.
func (o *organizer) offerBookings() {
	o.t.Helper()
	o.choose("#add-type")
	o.fill("#name", "Visitor")
	o.fill("#quantity", "1000")
	o.step("type", "#save-type")
	o.choose("#save-type")
	o.there("main .type")
	o.choose("#publish")
	o.step("on-sale", "#in-shop")
	slug := strings.TrimPrefix(fmt.Sprint(o.evaluate(`new URL(document.querySelector("#in-shop").href).pathname`)), "/e/")
	o.shop.Becomes("200", func() string { return fmt.Sprint(o.shop.Raw("GET", "/events/"+slug, "", "").Status) }) // the shop finds it a moment later
}

// bookFirst books the first time that is free in the shop.
func (o *organizer) bookFirst() {
	o.t.Helper()
	desk := fmt.Sprint(o.evaluate("location.href"))
	o.load(fmt.Sprint(o.evaluate(`document.querySelector("#in-shop").href`)))
	o.choose(".days input:enabled")
	o.choose(".slots input")
	o.choose(".card .step button:last-child:enabled")
	o.step("in-the-shop", ".foot a.button[href]")
	o.choose(".foot a.button[href]")
	o.fill("#name", "Ada Obi")
	o.fill("#email", "ada@example.org")
	o.choose("form button.wide")
	o.there(".tickets svg")
	require.Contains(o.t, o.evaluate(`document.querySelector(".tickets .head").innerText`), "Noon")
	o.load(desk)
}

// renameSlot changes one slot of what there is: it stands in the form, and slots keep their ids.
func (o *organizer) renameSlot(event string) {
	o.t.Helper()
	saved := func() nodetest.Answer { return o.shop.Own("GET", "/organizer/events/"+event, nil).Is(200, "") }
	before := saved()
	o.choose(`main nav a[href$="` + event + `"]`)
	o.until(`document.querySelector("#slot-1")?.value === "Night" && document.querySelector("#slot-0-capacity").value === "8"`)
	o.fill("#slot-0", "High noon")
	o.choose("#save")
	require.Eventually(o.t, func() bool { return saved().Str("reservation.slots.0.label") == "High noon" }, browserTime/2, 50*time.Millisecond)
	require.Equal(o.t, before.Str("reservation.slots.0.id"), saved().Str("reservation.slots.0.id"))
	require.Equal(o.t, before.Str("startDate"), saved().Str("startDate"))
}
