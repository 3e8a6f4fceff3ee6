package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// tower is a reservation event: noon has 3 places, evening 5, and tomorrow is fully booked.
type tower struct {
	shop                *nodetest.Shop
	event, ticket, page string
	full, closed, day   string // dates; noon of day is fully booked
	noon, evening       string
}

// openTower puts a tower on sale at a price, in a shop of its own.
func openTower(t *testing.T, price float64) *tower {
	t.Helper()
	s := nodetest.Open(t)
	slot := func(label, from, to string, capacity int) nodetest.Object {
		return nodetest.Object{"label": label, "startTime": from, "endTime": to, "capacity": capacity}
	}
	closing := time.Now().AddDate(0, 0, 4)
	event, ids := s.Sell(nodetest.Object{
		"title": "Tea in the Tower", "category": "reservations", "endDate": nodetest.Absent,
		"reservation": nodetest.Object{
			"mode": "date_time", "maxAdvanceDays": 60, "closedWeekdays": []int{int(closing.Weekday())},
			"slots": []nodetest.Object{slot("Noon", "12:00", "13:30", 3), slot("Evening", "18:00", "19:30", 5)},
		},
	}, nodetest.With(nodetest.TypeBody(price, 1000), nodetest.Object{"name": "Visitor", "saleEnd": nodetest.Stamp(2000 * time.Hour)}))
	w := &tower{shop: s, event: event, ticket: ids[0]}
	w.page = strings.TrimSuffix(s.URL, "/api/v1") + "/e/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	days := s.Call("GET", "/public/events/by-id/"+event+"/availability", nil).Is(200, "")
	date := func(n int) string { return days.Str(fmt.Sprintf("days.%d.date", n)) }
	w.full, w.day, w.noon, w.evening = date(0), date(1), days.Str("days.0.slots.0.slotId"), days.Str("days.0.slots.1.slotId")
	for n := range 7 {
		if days.Data(fmt.Sprintf("days.%d.closed", n)) == true {
			w.closed = date(n)
		}
	}
	w.take("first@example.org", w.full, w.noon, 3)
	w.take("second@example.org", w.full, w.evening, 5)
	w.take("third@example.org", w.day, w.noon, 3)
	return w
}

// take books places for somebody else.
func (w *tower) take(email, date, slot string, places int) {
	w.shop.T.Helper()
	body := nodetest.OrderBody(email, w.ticket, places)
	items, _ := body["items"].([]nodetest.Object)
	items[0]["reservationDate"], items[0]["reservationSlotId"] = date, slot
	w.shop.Call("POST", "/orders", body).Is(201, "")
}

// reservationWords are what the pages say of a reservation.
type reservationWords struct{ full, closed, unavailable, short, tooMany string }

var (
	englishReservation = reservationWords{"Fully booked", "Closed", "Nothing takes place on", "Only 1 place is left", "One customer may have 2 on"}
	germanReservation  = reservationWords{"Ausgebucht", "Geschlossen", "Geschlossen:", "nur noch 1 Platz frei", "höchstens 2"}
)

// TestReservations books a date and a time in the shop, and finds out what is taken, closed
// and refused (make pages).
func TestReservations(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openTower(t, 25)
			words := englishReservation
			b := &buyer{window: chromium.open(t, strings.TrimSuffix(w.shop.URL, "/api/v1")+"/", as), shop: w.shop, name: "reservation-" + name, axe: axe}
			if name == "german" {
				b.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
				words = germanReservation
			}
			b.bookTower(w, words)
			b.faultless()
		})
	}
	t.Run("keyboard", func(t *testing.T) {
		t.Parallel()
		w := openTower(t, 0)
		b := &buyer{window: chromium.open(t, w.page, laptop), shop: w.shop, name: "reservation-keyboard"}
		b.bookByKeyboard(w)
		b.faultless()
	})
}

// turnTo turns the calendar to the month of a date, and returns the date's choice.
func (b *buyer) turnTo(date string) (selector string) {
	b.t.Helper()
	selector = fmt.Sprintf(`.days input[value=%q]`, date)
	b.there(".days input")
	if b.evaluate(fmt.Sprintf("!!document.querySelector(%q)", selector)) != true {
		b.evaluate(fmt.Sprintf(`document.querySelector(document.querySelector(".days input").value < %q ? "#month-after" : "#month-before").click()`, date))
	}
	b.there(selector)
	return selector
}

// cannotChoose makes sure that a date is shown and spoken as one that can't be booked.
func (b *buyer) cannotChoose(date, why string) {
	b.t.Helper()
	of := fmt.Sprintf("document.querySelector(%q)", b.turnTo(date))
	require.Equal(b.t, true, b.evaluate(of+".disabled"), date)
	require.Contains(b.t, b.evaluate(of+".ariaLabel"), why)
}

// bookTower goes from the event's page to a ticket, with what may go wrong on the way.
func (b *buyer) bookTower(w *tower, words reservationWords) {
	b.t.Helper()
	b.load(w.page)
	b.there(".days input")
	b.evaluate(`document.querySelector(".month").scrollIntoView()`)
	b.step("dates", ".days input")
	b.cannotChoose(w.full, words.full)
	b.cannotChoose(w.closed, words.closed)
	require.Equal(b.t, true, b.evaluate(`document.querySelector(".step button:last-child").disabled && !document.querySelector(".foot a[href]")`), "first the date")

	b.choose(b.turnTo(w.day))
	b.there(fmt.Sprintf(`.slots input[value=%q]:disabled`, w.noon))
	b.choose(fmt.Sprintf(`.slots input[value=%q]`, w.evening))
	for range 2 {
		b.choose(".card .step button:last-child:enabled")
	}
	b.evaluate(`document.querySelector(".slots").scrollIntoView()`)
	b.step("slot", ".foot a.button[href]")
	b.choose(".foot a.button[href]")
	b.fill("#name", "Ada Obi")
	b.fill("#email", "ada@example.org")
	b.until(`document.querySelector("form section").innerText.includes("Evening")`)
	b.step("checkout", "form button.wide")

	b.t.Log("what may have happened in the meantime")
	closed := func(dates ...string) {
		w.shop.Own("PUT", "/organizer/events/"+w.event, nodetest.Object{"reservation": nodetest.Object{"closedDates": append([]string{}, dates...), "maxPerCustomerPerDay": 10}}).Is(200, "")
	}
	closed(w.day)
	b.refused(words.unavailable)
	closed()
	w.shop.Own("PUT", "/organizer/events/"+w.event, nodetest.Object{"reservation": nodetest.Object{"maxPerCustomerPerDay": 2}}).Is(200, "")
	w.take("ada@example.org", w.day, w.evening, 1)
	b.refused(words.tooMany)
	closed()
	w.take("fourth@example.org", w.day, w.evening, 3)
	b.refused(words.short)
	b.evaluate(`document.querySelector("form .note.warn").scrollIntoView({block: "center"})`)
	b.step("refused", "form .note.warn a")
	b.choose("form .note.warn a")

	b.t.Log("the last place")
	b.choose(b.turnTo(w.day))
	b.choose(fmt.Sprintf(`.slots input[value=%q]:enabled`, w.evening))
	b.choose(".card .step button:last-child:enabled")
	b.there(".card .step button:last-child:disabled")
	b.choose(".foot a.button[href]")
	b.choose("form button.wide")
	b.choose(`button[value="success"]`)
	b.until(`location.pathname.startsWith("/o/") && !location.search`)
	b.step("ticket", ".tickets svg")
	require.Contains(b.t, b.evaluate(`document.querySelector(".tickets .head").innerText`), "Evening")
	require.Contains(b.t, b.evaluate(`document.querySelector(".lines li").innerText`), "Evening")
	b.forget() // the provider's page is another server's
}

// refused sends the order, and waits for the words of its refusal.
func (b *buyer) refused(words string) {
	b.t.Helper()
	b.choose("form button.wide:enabled")
	b.until(fmt.Sprintf(`document.querySelector("form .note.warn")?.innerText.includes(%q)`, words))
	b.forget() // the refusal is in the browser's log
}

// bookByKeyboard books with Tab, arrows, space and Enter alone.
func (b *buyer) bookByKeyboard(w *tower) {
	b.t.Helper()
	b.reachByTab(".days input")
	b.press(" ")
	b.until(fmt.Sprintf(`document.querySelector(".days :checked")?.value === %q`, w.day))
	for range 40 { // into the next month
		was := fmt.Sprint(b.evaluate(`document.querySelector(".days :checked").value`))
		b.press("ArrowRight")
		b.until(fmt.Sprintf(`document.querySelector(".days :checked")?.value > %q && document.activeElement.checked`, was))
	}
	b.press("ArrowLeft")
	b.until(fmt.Sprintf(`document.querySelector(".days :checked")?.value > %q`, w.day))
	b.reachByTab(".slots input")
	b.press("ArrowDown")
	b.until(fmt.Sprintf(`document.querySelector(".slots :checked")?.value === %q`, w.evening))
	b.useByEnter(".card .step button:last-child")
	b.useByEnter(".foot a.button[href]")
	b.enterText("#name", "Ada Obi")
	b.enterText("#email", "ada@example.org")
	b.press("Enter")
	b.there(".tickets svg")
	require.Contains(b.t, b.evaluate(`document.querySelector(".tickets .head").innerText`), "Evening")
}
