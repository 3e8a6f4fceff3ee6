package pages

import (
	"encoding/base32"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestOrganizer works at the organizer's pages, from nothing on (make pages).
func TestOrganizer(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true},
		"german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			b := &organizer{began: time.Now(), width: as.width, buyer: buyer{window: chromium.open(t, base+"/organizer", as), shop: s, name: "organizer-" + name, axe: axe}}
			if name == "german" {
				b.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
				b.load(base + "/organizer")
				b.until(`document.documentElement.lang === "de"`)
			}
			b.signUp()
			event := b.begin()
			b.sell(event)
			b.watch(event)
			b.serve(event)
			b.overlook()
			b.promote(event)
			b.seat()
			b.settle()
			recovery := b.secure()
			b.comeAgain(recovery[0])
			b.relax(recovery[1])
			b.faultless()
		})
	}
}

// organizer is somebody with a window who sells.
type organizer struct {
	buyer
	began time.Time
	width int
}

// step takes the same step as a buyer, and then makes sure that nothing on the page is wider
// than the window. A phone's window grows with its page, so the page alone does not show it.
func (o *organizer) step(name, selector string) {
	o.t.Helper()
	o.buyer.step(name, selector)
	wide := fmt.Sprintf(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right + scrollX > %d.5 && !e.closest("nav")).map((e) => e.localName + "#" + e.id + "." + e.className).join()`, o.width)
	require.Empty(o.t, o.evaluate(wide), name)
}

func (o *organizer) signUp() {
	o.t.Helper()
	o.step("sign-in", "#email")
	o.choose("main > .line button")
	o.fill("#organization", "Lantern Nights")
	o.fill("#email", "owner@example.org")
	o.fill("#password", "correct horse")
	o.step("sign-up", "#organization")
	o.insist("form button.wide", ".none")
	o.step("nothing-yet", ".none")
}

// overlook looks at the desk's first page once something sells.
func (o *organizer) overlook() {
	o.t.Helper()
	o.choose(`nav a[href="/organizer/overview"]`)
	o.until(`/^[1-9]/.test(document.querySelector("#today")?.innerText) && document.querySelector("#calm, .needs li") && document.querySelectorAll(".figure").length >= 4`)
	o.step("overview", ".next a")
}

// set gives a field a value that nobody types: a date, a choice.
func (o *organizer) set(selector, value string) {
	o.t.Helper()
	o.there(selector)
	o.evaluate(fmt.Sprintf(`(() => { const f = document.querySelector(%q); f.value = %q; for (const e of ["input", "change"]) f.dispatchEvent(new Event(e, {bubbles: true})); })()`, selector, value))
}

// begin makes a draft with a picture, and returns its id.
func (o *organizer) begin() string {
	o.t.Helper()
	o.choose("#new")
	o.step("beginnings", "#begin-event")
	o.choose("#begin-event")
	o.fill("#title", "Night of a Hundred Lanterns")
	day := time.Now().AddDate(0, 1, 0).Format("2006-01-02")
	o.set("#timezone", "Europe/Berlin")
	o.set("#start", day+"T20:00")
	o.set("#end", day+"T23:30")
	o.fill("#venueName", "Old Harbour")
	o.fill("#venueCity", "Hamburg")
	o.set("#venueCountry", "DE")
	o.step("new-event", "#save")
	o.evaluate(`document.querySelector("#cover").scrollIntoView({block: "center"})`)
	o.evaluate(`new Promise((done) => {
		const c = new OffscreenCanvas(600, 400), d = c.getContext("2d");
		for (let i = 0; i < 40; i++) { d.fillStyle = "hsl(" + (200 + 3 * i) + " 60% " + (20 + i) + "%)"; d.fillRect(15 * i, 0, 15, 400); }
		c.convertToBlob().then((blob) => {
			const t = new DataTransfer(), f = document.querySelector("#cover");
			t.items.add(new File([blob], "lanterns.png", {type: "image/png"}));
			f.files = t.files;
			f.dispatchEvent(new Event("change", {bubbles: true}));
			done();
		});
	})`)
	o.there(`.cover img[src^="/media/"]`)
	o.fill("#description", "Too short.")
	o.step("cover", ".cover .link")
	o.evaluate(`document.querySelector("form.parts").noValidate = true`)
	o.choose("#save")
	o.step("what-is-wrong", "#description[aria-invalid]")
	o.fill("#description", "A hundred lanterns over the water, music from three boats, and tea for everybody who is cold.")
	o.forget() // the refusal is in the browser's log
	o.choose("#save")
	o.step("no-tickets", "#add-type")
	return strings.Split(fmt.Sprint(o.evaluate("location.pathname")), "/")[3]
}

// sell adds ticket types and puts the event on sale.
func (o *organizer) sell(event string) {
	o.t.Helper()
	o.choose("#publish")
	o.step("not-yet", ".note.warn")
	o.forget()
	for i, price := range []string{"24.50", ""} {
		o.choose("#add-type")
		o.fill("#name", []string{"Standing", "Children"}[i])
		o.fill("#price", price)
		o.fill("#quantity", "100")
		if i == 0 {
			o.step("ticket-type", "#save-type")
		}
		o.choose("#save-type")
		o.until(fmt.Sprintf(`document.querySelectorAll("main .type").length === %d`, i+1))
	}
	o.choose("#publish")
	o.step("on-sale", "#in-shop")
	o.choose("main nav a")
	o.there("#unpublish")
	o.evaluate(`document.querySelector("#cancel").scrollIntoView()`)
	o.choose("#cancel")
	o.step("sure", "dialog #sure-yes")
	o.choose("dialog .quiet")
	o.choose(`nav a[href="/organizer/events"]`)
	o.step("events", ".list a")
	o.load(o.origin + "organizer/events/" + event)
	o.there("#in-shop")
	slug := fmt.Sprint(o.evaluate(`new URL(document.querySelector("#in-shop").href).pathname`))
	o.load(o.origin + slug[1:])
	o.step("in-the-shop", ".card li")
}

// watch sees an order and a scan appear while it looks.
func (o *organizer) watch(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/live")
	o.until(`document.querySelector("#sold")?.innerText === "0"`)
	o.step("live-before", "main .two")
	types := o.shop.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "")
	free := types.Str("items.1.id")
	id, token := o.shop.Place("ada@example.org", free, 2)
	o.until(`document.querySelector("#sold").innerText === "2" && document.querySelectorAll(".orders li").length === 1`)
	o.shop.Token = fmt.Sprint(o.evaluate(`JSON.parse(localStorage.getItem("session")).access`))
	o.shop.Own("POST", "/checkin/scan", nodetest.Object{"qrData": o.shop.Order(id, token).Str("tickets.0.shortCode"), "eventId": event, "deviceId": "door", "gateName": "North"}).Is(200, "")
	o.until(`document.querySelector(".rows tbody td")?.innerText === "North"`)
	o.step("live", ".orders li")
}

// seat draws a hall for another event, prices it and withholds seats.
func (o *organizer) seat() {
	o.t.Helper()
	event := o.shop.Draft(nodetest.Object{"title": "A Play in Seven Doors", "category": "theatre"})
	o.shop.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.With(nodetest.TypeBody(30, 10), nodetest.Object{"name": "Seat", "type": "reserved"})).Is(201, "")
	o.load(o.origin + "organizer/events/" + event + "/seating")
	o.fill("#hall", "Blue hall")
	o.step("no-seats", "#draw")
	o.bend()
	o.choose("#draw")
	o.there("#price-s1")
	o.evaluate(`(() => { const f = document.querySelector("#price-s1"); f.selectedIndex = 1; f.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	o.choose("#save-prices")
	o.choose("main details summary")
	o.choose(".row .name")
	o.step("withhold", "#block")
	o.choose("#block")
	o.until(`[...document.querySelectorAll(".figure strong")].map((e) => e.innerText).join() === "180,0,0,20"`)
	o.step("seats", ".seat.off")
}

// bend draws rows around the stage with a block of tables behind, looks at a thousand seats, and goes back to a plain hall.
func (o *organizer) bend() {
	o.t.Helper()
	o.set("#hall-form", "curved")
	o.fill("#block-0-rows", "20")
	o.fill("#block-0-seats", "40")
	o.set("#hall-radius", "16")
	o.choose("#add-block")
	o.set("#block-1-form", "tables")
	o.choose("#hall-standing")
	o.until(`document.querySelectorAll(".key li").length === 2 && /1.?[0-9]{3}/.test(document.querySelector("#hall-picture").ariaLabel)`)
	o.evaluate(`document.querySelector("#hall-picture").scrollIntoView({block: "center"})`)
	o.step("curved", "#hall-picture")
	o.choose(".block .link")
	o.choose("#hall-standing")
	o.set("#hall-form", "")
	o.set("#block-0-form", "rows")
	o.fill("#block-0-rows", "10")
	o.fill("#block-0-seats", "20")
	o.until(`document.querySelector("#hall-picture").ariaLabel.includes("200")`)
}

// serve gives money back to two buyers, one of whom asks for it, and looks at who comes.
func (o *organizer) serve(event string) {
	o.t.Helper()
	standing := o.shop.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items.0.id")
	o.shop.Own("PUT", "/organizer/events/"+event+"/tickets/"+standing, nodetest.Object{"refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)}).Is(200, "")
	buy := func(email string) (ticket string) {
		id, token := o.shop.Place(email, standing, 2)
		o.shop.Settle(o.shop.Checkout(id, token), "success")
		return o.shop.Verify(id, token).Is(200, "").Str("tickets.0.id")
	}
	buy("bob@example.org")
	grace := o.shop.Buyer("grace@example.org")
	grace.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": buy("grace@example.org"), "reason": "I have fallen ill and cannot come."}).Is(201, "")

	o.load(o.origin + "organizer/orders")
	o.there(".rows tbody tr")
	o.until(`document.querySelectorAll(".rows tbody tr").length === 3`)
	o.fill("#q", "bob@example.org")
	o.press("Enter")
	o.until(`document.querySelectorAll(".rows tbody tr").length === 1`)
	o.step("orders", ".rows .link")
	require.Regexp(o.t, `^[^\r]*E-[Mm]ail[^\r]*\r\n[^\r]*bob@example.org,2,2 × Standing,49.00,0.00,,2.46,51.46,0,USD\r\n$`, o.saved("#orders-csv"))
	o.choose(".rows .link")
	o.step("order", "#refund")
	o.choose("#refund")
	require.Regexp(o.t, `(?s)49[.,]00.*2[.,]46`, o.text("#goes-back")) // both tickets, and the fee that stays
	o.choose("#with-fee")
	require.Regexp(o.t, `51[.,]46`, o.text("#goes-back"))
	o.evaluate(`document.querySelector(".panel fieldset input").click()`)
	require.Regexp(o.t, `24[.,]50`, o.text("#goes-back"))
	o.evaluate(`document.querySelector("#goes-back").scrollIntoView({block: "center"})`)
	o.step("give-back", "#goes-back")
	o.fill("#reason", "The left stage was behind a pillar.")
	o.choose("#send-refund")
	o.step("refund-sure", "#sure-yes")
	o.choose("#sure-yes")
	o.there(".panel .facts .state")
	o.step("refund", ".panel .facts")
	o.evaluate(`document.querySelector("#history").scrollIntoView({block: "center"})`)
	o.step("history", "#history li:nth-child(3)")
	o.choose("#close")

	o.choose(`nav a[href="/organizer/refunds"]`)
	o.step("refunds", ".approve")
	o.choose(".approve")
	o.there("#sure-yes")
	o.choose("#sure-yes")
	o.until(`!document.querySelector(".approve") && document.querySelectorAll("main li").length === 2`)

	o.choose(`nav a[href="/organizer/customers"]`)
	o.there(".rows .link")
	o.step("customers", ".rows .link")
	o.choose(".rows .link")
	o.fill("#note", "Likes to stand on the left.")
	o.choose("#add-note")
	o.there(".panel li .link")
	o.step("customer", ".panel .facts")
	o.load(o.origin + "organizer/events/" + event + "/attendees")
	o.step("guests", ".rows tbody tr")
	o.choose("#csv")
	o.until(`!document.querySelector("#csv").disabled && !document.querySelector(".note.warn")`)
}

// saved presses a button that saves a file, and returns the text of it.
func (o *organizer) saved(button string) string {
	o.t.Helper()
	o.evaluate(`URL.createObjectURL = ((make) => (blob) => { window.savedFile = blob.text(); return make(blob); })(URL.createObjectURL)`)
	o.choose(button)
	o.until(`window.savedFile`)
	return fmt.Sprint(o.run(`window.savedFile`))
}

// promote makes two promo codes, sees one used, and takes both back.
func (o *organizer) promote(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/promos")
	o.step("no-codes", "#add-promo")
	o.choose("#add-promo")
	o.fill("#code", "lantern-10")
	o.fill("#value", "10")
	o.fill("#uses", "100")
	o.choose("main details summary")
	o.step("code", "fieldset input")
	o.choose("#save-promo")
	o.until(`document.querySelectorAll("main .promo").length === 1`)
	o.choose("#add-promo")
	o.fill("#code", "LANTERN-10")
	o.set("#discount", "flat")
	o.fill("#value", "5.50")
	o.choose("#save-promo")
	o.step("code-taken", "#code[aria-invalid]")
	o.forget()
	o.fill("#code", "FRIENDS")
	o.choose("#save-promo")
	o.until(`document.querySelectorAll("main .promo").length === 2`)
	o.choose(".change")
	o.fill("#uses", "20")
	o.choose("#save-promo")
	o.until(`document.querySelector(".promo .num").innerText.includes("20")`)

	standing := o.shop.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items.0.id")
	placed := o.shop.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("carol@example.org", standing, 2), nodetest.Object{"promoCode": "lantern-10"})).Is(201, "")
	require.Equal(o.t, "4.90", placed.Str("discount"))
	o.shop.Settle(o.shop.Checkout(placed.Str("id"), placed.Str("accessToken")), "success")
	o.shop.Verify(placed.Str("id"), placed.Str("accessToken")).Is(200, "")
	o.shop.Becomes("1", func() string {
		return o.shop.Own("GET", "/organizer/promo-codes?eventId="+event, nil).Is(200, "").Str("promoCodes.1.usedCount")
	})
	o.load(o.origin + "organizer/events/" + event + "/promos")
	o.until(`/^1 .* 100 /m.test(document.querySelectorAll(".promo .num")[1]?.innerText)`)
	o.step("codes", ".drop")
	o.choose("li:nth-child(2) .drop")
	o.step("code-off-sure", "#sure-yes")
	o.choose("#sure-yes")
	o.until(`document.querySelectorAll(".drop").length === 1`)
	o.choose(".drop")
	o.choose("#sure-yes")
	o.until(`document.querySelectorAll("main .promo").length === 1`)
	o.step("code-off", ".promo .state")
	o.load(o.origin + "organizer/settings/codes")
	o.choose("#add-promo")
	o.fill("#code", "EVERYWHERE")
	o.fill("#value", "5")
	o.choose("#save-promo")
	o.until(`document.querySelectorAll("main .promo").length === 1`)
	o.step("codes-of-all", "main .promo")
	require.Nil(o.t, o.shop.Own("GET", "/organizer/promo-codes", nil).Is(200, "").Data("promoCodes.0.eventId"))
}

// settle looks after the organization: who works for it, its money, its programs.
func (o *organizer) settle() {
	o.t.Helper()
	o.choose(`nav a[href="/organizer/settings"]`)
	o.step("organization", "#about")
	o.choose(`a[href$="/members"]`)
	o.fill("#email", "helper@example.org")
	o.choose("form .button")
	o.until(`document.querySelectorAll("main li").length === 2`)
	o.step("members", "main li")
	o.choose(`a[href$="/wallets"]`)
	o.step("money", ".rows tbody tr")
	o.choose(`a[href$="/keys"]`)
	o.fill("#key-name", "Box office")
	o.choose("#key-some")
	o.choose("input[value='orders:read']")
	o.choose("#make-key")
	o.step("key", "#secret code")
	o.choose(`a[href$="/webhooks"]`)
	o.fill("#url", "https://hooks.example.org/boxoffice")
	o.evaluate(`document.querySelector("fieldset input").click()`)
	o.choose("#make-hook")
	o.there("#secret")
	o.step("webhooks", ".deliveries")
	o.choose(".deliveries")
	o.step("deliveries", ".panel .link")
}

// secure sets up a second factor, which takes a proven mailbox, and returns the recovery codes.
func (o *organizer) secure() []string {
	o.t.Helper()
	o.choose("#close")
	o.choose(`a[href$="/security"]`)
	o.choose("#set-up")
	o.step("prove-first", ".note.warn")
	o.forget()
	o.shop.Confirm(o.shop.ConfirmToken("owner@example.org", o.began), "correct horse").Is(200, "")
	o.choose("#set-up")
	o.step("authenticator", "#app-secret")
	o.fill("#code", "000 000")
	o.choose("#turn-on")
	o.step("wrong-code", "#code[aria-invalid]")
	o.forget()
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(o.text("#app-secret"))
	require.NoError(o.t, err)
	o.fill("#code", nodetest.Authenticator{Secret: secret}.Code(time.Now(), 0))
	o.choose("#turn-on")
	o.step("recovery-codes", "#secret code")
	return strings.Fields(o.text("#secret code"))
}

// relax switches the second factor off with a recovery code.
func (o *organizer) relax(recovery string) {
	o.t.Helper()
	o.load(o.origin + "organizer/settings/security")
	o.fill("#code", recovery)
	o.step("second-factor-on", "#turn-off")
	o.choose("#turn-off")
	o.choose("#sure-yes")
	o.there("#set-up")
}

// comeAgain signs in with a password and a second factor, to two organizations by now.
func (o *organizer) comeAgain(recovery string) {
	o.t.Helper()
	other := o.shop.Register("other@example.org")
	other.Own("POST", "/organizer/organizations/"+other.Org()+"/members", nodetest.Object{"email": "owner@example.org", "role": "member"}).Is(201, "")
	o.choose(".out")
	o.fill("#email", "owner@example.org")
	o.fill("#password", "wrong horse")
	o.press("Enter")
	o.step("wrong-password", ".note.warn")
	o.forget()
	o.fill("#password", "correct horse")
	o.press("Enter")
	o.step("second-factor", "#code")
	o.fill("#code", recovery)
	o.press("Enter")
	o.there("#org")
	o.choose(`nav a[href="/organizer/events"]`)
	o.there(".list a")
	o.step("two-organizations", "#org")
	o.evaluate(`(() => { const f = document.querySelector("#org"); f.selectedIndex = 1; f.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	o.until(`document.querySelector(".none") && location.pathname === "/organizer"`)
}
