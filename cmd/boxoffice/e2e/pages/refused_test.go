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

// noStorage makes a browser that lets pages keep nothing, as browsers do that block all cookies.
const noStorage = `for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, {get() { throw new DOMException("forbidden", "SecurityError"); }});`

// TestRefusedPages looks at pages whose requests the server refuses, or whose browser keeps nothing. They say
// what is the matter, say nothing that is not so, and go on as soon as they can (make pages).
func TestRefusedPages(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	r := openShowroom(t)
	for name, look := range map[string]func(*buyer, *showroom){
		"session": (*buyer).staysSignedIn, "gate": (*buyer).staysGate, "gate ends": (*buyer).letsGoOfGate, "withdrawal": (*buyer).mayWithdrawLater,
		"transfer": (*buyer).hearsOfRefusal, "message": (*buyer).hearsOfMessage, "second link": (*buyer).opensSecondLink, "no storage": (*buyer).keepsNothing,
		"many tickets": (*buyer).opensOneOfMany, "pressed twice": (*buyer).pressesTwice, "visit": (*buyer).goesTomorrow,
	} {
		t.Run(name, func(t *testing.T) {
			shop := *r.Shop
			shop.T = t
			mine := &showroom{Shop: &shop, base: r.base, ada: r.ada}
			look(&buyer{window: chromium.open(t, r.base+"/help", laptop), shop: &shop, name: "refused-" + name}, mine)
		})
	}
}

// holdSession keeps a session in the browser. Its access token ends at a moment by the browser's clock.
func (b *buyer) holdSession(tokens nodetest.Answer, until time.Time) {
	b.t.Helper()
	kept, err := json.Marshal(map[string]any{"access": tokens.Str("accessToken"), "refresh": tokens.Str("refreshToken"), "until": until.UnixMilli()})
	require.NoError(b.t, err)
	b.evaluate(fmt.Sprintf("localStorage.setItem('session', %q)", kept))
}

// enters returns the tokens of a buyer who signs in.
func (r *showroom) enters(email string) nodetest.Answer {
	r.T.Helper()
	return r.Exchange(email, r.LoginCode(email, "Ada Obi")).Is(200, "")
}

// staysSignedIn opens the wallet while the server can refresh no session: the buyer is still signed in afterwards.
func (b *buyer) staysSignedIn(r *showroom) {
	b.t.Helper()
	b.holdSession(r.enters("kim@example.org"), time.Now())
	undo := b.refuse(503, "UNAVAILABLE", "{}")
	b.load(r.base + "/me")
	b.there(".note.warn, #email")
	require.NotNil(b.t, b.evaluate(`localStorage.getItem("session")`), "a server that is away ends no session")
	undo()
	b.load(r.base + "/me")
	b.there("#out")
}

// becomesGate makes the browser the gate of an event by its organizer's session, and returns a door code.
func (b *buyer) becomesGate(r *showroom) (code string) {
	b.t.Helper()
	event, ticketType := r.sell(0, nodetest.Object{"offlineDoorCodes": true}, nil)
	o := r.place(ticketType, 1, nil)
	kept, err := json.Marshal(map[string]any{"access": r.Token, "refresh": "-", "until": time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(b.t, err)
	b.evaluate(fmt.Sprintf("localStorage.setItem('session', %q)", kept))
	b.load(r.base + "/gate")
	number := r.Own("GET", "/organizer/events/"+event, nil).Is(200, "").Str("numericId")
	b.there("#event")
	b.evaluate(fmt.Sprintf(`(s => { s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#event"))`, number))
	b.choose("button.wide")
	b.until(`document.querySelector("#standing")?.dataset.online === "true"`)
	b.until(`document.querySelector(".numbers strong:last-child")`)
	b.evaluate(`((s) => { s.until = 0; localStorage.setItem("session", JSON.stringify(s)); })(JSON.parse(localStorage.getItem("session")))`)
	return r.Order(o.id, o.token).Str("tickets.0.shortCode")
}

// staysGate opens the gate of a person whose session the server can't refresh: the device decides alone.
func (b *buyer) staysGate(r *showroom) {
	b.t.Helper()
	code := b.becomesGate(r)
	undo := b.refuse(503, "UNAVAILABLE", "{}")
	b.load(r.base + "/gate")
	b.there("#standing, #email")
	b.until(`document.querySelector("#standing strong:not(.on)") || document.querySelector("#email")`)
	b.showCode(code, ".verdict.good")
	require.Equal(b.t, false, b.evaluate(`!!document.querySelector(".note.bad")`), "a server that is away refuses nothing")
	undo()
}

// letsGoOfGate ends the session of the person at the gate. Whoever signs in there next must be able to take the gate.
func (b *buyer) letsGoOfGate(r *showroom) {
	b.t.Helper()
	b.becomesGate(r)
	undo := b.refuse(401, "UNAUTHORIZED", "{}")
	b.load(r.base + "/gate")
	b.there("#email")
	undo()
	// Nobody is at the gate, once the page has loaded anew.
	b.window.until(`(await navigator.locks.query()).held.every(({name}) => name !== "gate")`)
}

// mayWithdrawLater asks for the terms of a withdrawal that the server can't tell now. The right has not ended.
func (b *buyer) mayWithdrawLater(r *showroom) {
	b.t.Helper()
	o := r.digital(5, nil)
	undo := b.refuse(503, "UNAVAILABLE", "{}")
	b.load(r.base + o.page())
	b.choose(`[data-verb="withdraw"]`)
	b.there(".panel .note.warn, .panel p")
	require.NotContains(b.t, b.text(".panel"), "cannot be withdrawn")
	undo()
}

// hearsOfRefusal says that a transfer is sent, and asks for a payment link and for more time, which the server
// refuses: it could be reached all the same.
func (b *buyer) hearsOfRefusal(r *showroom) {
	b.t.Helper()
	_, ticketType := r.sell(25, nil, nodetest.Object{"saleEnd": nodetest.Stamp(9 * 24 * time.Hour)})
	o := r.pay(r.place(ticketType, 1, nil), nodetest.Object{"provider": "transfer"})
	undo := b.refuse(409, "ORDER_NOT_PAYABLE", "{}")
	b.load(r.base + o.page())
	for _, label := range []string{"I have sent it", "Let somebody else pay"} {
		b.until(fmt.Sprintf(`(e => e && !e.disabled && (e.click(), true))([...document.querySelectorAll("button")].find((e) => e.innerText === %q))`, label))
		b.run(`new Promise((done) => setTimeout(done, 300))`)
		require.NotContains(b.t, b.text("main"), "The server cannot be reached", label)
	}
	undo()
	o = r.place(ticketType, 1, nil)
	undo = b.refuse(409, "CONFLICT", "{}")
	b.load(r.base + o.page())
	b.until(`(e => e && (e.click(), true))([...document.querySelectorAll("button")].find((e) => e.innerText === "More time"))`)
	b.run(`new Promise((done) => setTimeout(done, 300))`)
	require.NotContains(b.t, b.text("main"), "The server cannot be reached")
	undo()
}

// hearsOfMessage answers an organizer in the wallet, which the server refuses: that is said beside the answer.
func (b *buyer) hearsOfMessage(r *showroom) {
	b.t.Helper()
	_, ticketType := r.sell(0, nil, nil)
	body := nodetest.OrderBody("eve@example.org", ticketType, 1)
	placed := r.Call("POST", "/orders", body).Is(201, "")
	tokens := r.enters("eve@example.org")
	require.NoError(b.t, r.AwaitLists(b.t.Context()))
	r.Call("POST", "/users/me/tickets/"+placed.Str("tickets.0.id")+"/message", nodetest.Object{"body": "Is there a cloakroom?"}, "Authorization", "Bearer "+tokens.Str("accessToken")).Is(201, "")
	require.NoError(b.t, r.AwaitLists(b.t.Context()))
	b.holdSession(tokens, time.Now().Add(time.Hour))
	undo := b.refuse(503, "UNAVAILABLE", "{}")
	b.load(r.base + "/me")
	b.choose("details summary")
	b.fill("details textarea", "And a lift?")
	b.choose("details form button")
	b.there("details .note.warn")
	undo()
}

// opensSecondLink opens the link of an order where its page is open already without the token.
func (b *buyer) opensSecondLink(r *showroom) {
	b.t.Helper()
	o := r.paid("success")
	page, token, _ := strings.Cut(o.page(), "#")
	b.load(r.base + page)
	b.heads("Open your order by the link in our mail")
	b.evaluate(fmt.Sprintf("location.hash = %q", token))
	b.there(".tickets li")
	require.Empty(b.t, b.evaluate(`location.hash`))
}

// keepsNothing buys, opens the order and signs in with a browser that lets pages keep nothing.
func (b *buyer) keepsNothing(r *showroom) {
	b.t.Helper()
	event, ticketType := r.sell(0, nil, nil)
	slug := r.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	b.do("Page.addScriptToEvaluateOnNewDocument", params{"source": noStorage})
	b.load(r.base + "/e/" + slug + "/checkout?t=" + ticketType + ".1")
	b.fill("#name", "Ada Obi")
	b.fill("#email", "lou@example.org")
	b.choose("form button.wide")
	b.until(`location.pathname.startsWith("/o/")`)
	b.there(".tickets li")
	require.Empty(b.t, b.evaluate(`location.hash`), "the token leaves the address")
	b.evaluate(`location.reload()`)
	b.there(".tickets li")
	b.load(r.base + "/me")
	began := time.Now()
	b.fill("#email", "lou@example.org")
	b.choose("form button.wide")
	b.there("#code")
	b.fill("#code", loginDigits.FindString(r.Mail(b.t, "lou@example.org", "login_code", began).Text))
	b.there("#out")
}

// opensOneOfMany opens a ticket that is not on the first page of its holder's list.
func (b *buyer) opensOneOfMany(r *showroom) {
	b.t.Helper()
	for range 2 {
		_, ids := r.Sell(nil, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free", "maxPerOrder": 100, "maxPerCustomer": 100}))
		r.Place("mary@example.org", ids[0], 60)
	}
	tokens := r.enters("mary@example.org")
	require.NoError(b.t, r.AwaitLists(b.t.Context()))
	header := []string{"Authorization", "Bearer " + tokens.Str("accessToken")}
	first := r.Call("GET", "/users/me/tickets?limit=100", nil, header...).Is(200, "")
	rest := r.Call("GET", "/users/me/tickets?limit=100&cursor="+first.Str("nextCursor"), nil, header...).Is(200, "")
	b.holdSession(tokens, time.Now().Add(time.Hour))
	b.load(r.base + "/me/t/" + rest.Str("items.19.id"))
	b.there(".passes li")
	b.faultless()
}

// pressesTwice follows an organizer by the button of a mailed link, which is pressed twice; and confirms an address with
// a browser that lets pages keep nothing. Both have done it.
func (b *buyer) pressesTwice(r *showroom) {
	b.t.Helper()
	began := time.Now()
	r.Call("POST", "/community/orgs/"+r.Org()+"/follow", nodetest.Object{"email": "fan@example.org", "name": "Fan"}).Is(200, "")
	b.follow(mailedLink(r.Shop, "/follow", "fan@example.org", "following", began))
	b.evaluate(`(e => { e.click(); e.click(); })(document.querySelector("#form button"))`)
	b.until(`document.querySelector("#outcome").innerText`)
	b.run(`new Promise((done) => setTimeout(done, 300))`)
	require.Contains(b.t, b.text("#outcome"), "Done.")
	b.do("Page.addScriptToEvaluateOnNewDocument", params{"source": noStorage + `fetch = async () => new Response('{"data":{}}', {status: 200})`})
	b.follow(r.base + "/email/confirm#token=t")
	b.fill("#password", "correct horse")
	b.choose("#form button")
	b.until(`document.querySelector("#outcome").innerText`)
	require.Contains(b.t, b.text("#outcome"), "Your address is confirmed.")
	b.faultless()
}

// goesTomorrow has booked the next day of a place far in the west, and lives there. After signing out, nothing of seats
// that were chosen is left.
func (b *buyer) goesTomorrow(r *showroom) {
	b.t.Helper()
	const zone = "America/Los_Angeles"
	there, err := time.LoadLocation(zone)
	require.NoError(b.t, err)
	_, ticketType := r.sell(0, nodetest.Object{
		"title": "Tea in the Tower", "category": "reservations", "timezone": zone, "startDate": nodetest.Stamp(time.Hour), "endDate": nodetest.Absent, "reservation": nodetest.Object{"mode": "date_only", "maxAdvanceDays": 60},
	}, nodetest.Object{"saleEnd": nodetest.Stamp(2000 * time.Hour), "refundDeadline": nodetest.Absent, "refundable": false})
	body := nodetest.OrderBody("tom@example.org", ticketType, 1)
	items, _ := body["items"].([]nodetest.Object)
	items[0]["reservationDate"] = time.Now().In(there).AddDate(0, 0, 1).Format(time.DateOnly)
	r.Call("POST", "/orders", body).Is(201, "")
	tokens := r.enters("tom@example.org")
	require.NoError(b.t, r.AwaitLists(b.t.Context()))
	b.do("Emulation.setTimezoneOverride", params{"timezoneId": zone})
	b.holdSession(tokens, time.Now().Add(time.Hour))
	b.evaluate(`for (const key of ["seats:1", "queued:1", "/public/events/1"]) sessionStorage.setItem(key, "{}")`)
	b.load(r.base + "/me")
	b.there(".near")
	require.Equal(b.t, "Tomorrow", b.text(".near"))
	b.choose("#out")
	b.there("#email")
	require.Equal(b.t, 0., b.evaluate(`sessionStorage.length`))
	b.faultless()
}
