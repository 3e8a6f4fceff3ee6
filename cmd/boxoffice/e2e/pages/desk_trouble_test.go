package pages

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// meddling lets a test answer a page's requests itself: window.meddle takes a request and returns its answer, or nothing
// for one that is to be sent.
const meddling = `window.sent = fetch; fetch = async (...request) => (await window.meddle?.(...request)) || window.sent(...request);`

// TestDeskTrouble works at the organizer's desk while others work there too, the server refuses, and people do
// things twice or change their minds. The desk says what is so, and loses nothing of what was typed.
func TestDeskTrouble(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	r := openShowroom(t)
	for name, look := range map[string]func(*organizer, *showroom){
		"evidence":           (*organizer).readsEvidence,
		"denied":             (*organizer).isDenied,
		"seconds":            (*organizer).keepsSeconds,
		"gates":              (*organizer).offersLiveEvents,
		"film":               (*organizer).waitsForFilm,
		"another query":      (*organizer).opensAnotherQuery,
		"unsaved prices":     (*organizer).keepsPrices,
		"refused choice":     (*organizer).takesChoiceBack,
		"left early":         (*organizer).leavesEarly,
		"session of one tab": (*organizer).keepsSessionOfTab,
		"next person":        (*organizer).hidesFormerPerson,
		"more":               (*organizer).readsOn,
		"keyboard":           (*organizer).keepsKeyboard,
		"preview":            (*organizer).previewsNoDate,
		"second factor":      (*organizer).asksPasswordAnew,
		"member":             (*organizer).choosesCurrency,
		"late answer":        (*organizer).hearsLate,
		"files":              (*organizer).savesFiles,
		"head":               (*organizer).beginsAtHead,
		"drawn once":         (*organizer).drawsOnce,
		"two at a form":      (*organizer).changesTitleAlone,
		"other address":      (*organizer).hidesOtherAddress,
	} {
		t.Run(name, func(t *testing.T) {
			shop := *r.Shop
			shop.T = t
			mine := &showroom{Shop: &shop, base: r.base, ada: r.ada}
			o := &organizer{began: time.Now(), width: laptop.width, buyer: buyer{window: chromium.open(t, r.base+"/help", laptop), shop: &shop, name: "trouble-" + name}}
			o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": meddling})
			look(o, mine)
		})
	}
}

// atDesk opens a page of the desk as somebody who is signed in.
func (o *organizer) atDesk(r *showroom, path string) {
	o.t.Helper()
	kept, err := json.Marshal(map[string]any{"access": r.Token, "refresh": "-", "until": time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(o.t, err)
	o.evaluate(fmt.Sprintf("localStorage.setItem('session', %q)", kept))
	o.load(r.base + "/organizer/" + path)
}

// pause waits for so long as something wrong would need to show.
func (o *organizer) pause() { o.run(`new Promise((done) => setTimeout(done, 300))`) }

// readsEvidence reads a request for money whose buyer has named the same file twice.
func (o *organizer) readsEvidence(r *showroom) {
	o.t.Helper()
	order := r.paid("success")
	note := "https://example.org/doctor.pdf"
	r.ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": r.ticket(order, 0), "reason": "I am ill, and cannot come.", "evidenceUrls": []string{note, note}}).Is(201, "")
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	o.atDesk(r, "refunds?status=requested")
	o.there(".approve")
	o.faultless()
}

// isDenied lets a guest in by hand whom a gate has let in meanwhile, and names the guest while a tag is added.
func (o *organizer) isDenied(r *showroom) {
	o.t.Helper()
	event, ticketType := r.sell(0, nil, nil)
	order := r.place(ticketType, 1, nil)
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	o.atDesk(r, "events/"+event+"/attendees")
	o.choose(".rows .link")
	o.there("#admit")
	o.fill("#guest-name", "Ada Lovelace")
	o.fill("#new-tag", "press")
	o.choose("#add-tag")
	o.there(".panel .tags li")
	require.Equal(o.t, "Ada Lovelace", o.evaluate(`document.querySelector("#guest-name").value`), "what is typed and not saved yet")
	require.Equal(o.t, "success", r.Scan(event, r.Order(order.id, order.token).Str("tickets.0.shortCode"), "d1").Str("status"))
	o.choose("#admit")
	o.until(`document.querySelector(".toast")?.innerText || document.querySelector("#denied")`)
	require.Contains(o.t, o.text("#denied"), "used before")
	o.step("denied", "#denied")
	o.faultless()
}

// keepsSeconds saves an event that a program has made, whose moments have seconds; moves it, and moves it back.
func (o *organizer) keepsSeconds(r *showroom) {
	o.t.Helper()
	const start, end = "2031-06-14T18:00:30Z", "2031-06-14T21:00:45Z"
	event, ticketType := r.sell(0, nodetest.Object{"startDate": start, "endDate": end, "timezone": "Europe/Berlin"}, nodetest.Object{"saleEnd": end})
	told := func(name string) string { return r.Own("GET", "/organizer/events/"+event, nil).Is(200, "").Str(name) }
	o.atDesk(r, "events/"+event)
	o.fill("#title", "Night Concert by the Sea")
	o.choose("#save")
	o.until(`document.querySelector(".toast")?.innerText || document.querySelector("form .note.warn")`)
	require.Equal(o.t, []string{"Night Concert by the Sea", start, end}, []string{told("title"), told("startDate"), told("endDate")})

	r.Own("PUT", "/organizer/events/"+event+"/tickets/"+ticketType, nodetest.Object{"saleEnd": start}).Is(200, "")
	o.set("#start", "0002-06-14T20:00") // as while the year is typed
	o.until(`document.querySelector("#preview").innerText.includes("14")`)
	o.set("#start", "2031-06-14T20:00")
	o.until(`!document.querySelector("#moved")`)
	o.set("#timezone", "Europe/London")
	o.there("#moved")
	o.choose("#save")
	o.shop.Becomes("2031-06-14T19:00:00Z", func() string { return told("startDate") })
	o.until(`!document.querySelector("#moved")`)
	o.set("#timezone", "Europe/Berlin")
	o.there("#moved")
	o.choose("#save")
	o.shop.Becomes("2031-06-14T18:00:00Z", func() string { return told("startDate") })
	o.faultless()
}

// offersLiveEvents makes a device the gate of two events that are on sale.
func (o *organizer) offersLiveEvents(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	r.sell(0, nodetest.Object{"title": "Matinee at the Quay"}, nil)
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	o.atDesk(r, "events/"+event+"/live")
	o.choose("#add-gate")
	o.there("#gate-name")
	o.until(`document.querySelector(".panel details")?.textContent.includes("Matinee at the Quay")`)
	o.faultless()
}

// waitsForFilm saves an event while a film for it is being sent.
func (o *organizer) waitsForFilm(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": `XMLHttpRequest.prototype.send = () => {};`})
	o.atDesk(r, "events/"+event)
	o.there("#cover-film-file")
	o.evaluate(`(() => {
		const t = new DataTransfer(), f = document.querySelector("#cover-film-file");
		t.items.add(new File(["film"], "film.mp4", {type: "video/mp4"}));
		f.files = t.files;
		f.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
	o.there("progress")
	o.choose("#save")
	o.pause()
	require.Empty(o.t, o.text(".toast"), "nothing is saved without the film")
	require.Equal(o.t, "The file is still being sent.", o.evaluate(`document.querySelector("#cover-film").validationMessage`))
	o.faultless()
}

// opensAnotherQuery looks for orders of one state, and then for all by the link to where it is already.
func (o *organizer) opensAnotherQuery(r *showroom) {
	o.t.Helper()
	_, ticketType := r.sell(0, nil, nil)
	r.place(ticketType, 1, nil)
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	o.atDesk(r, "orders?status=failed")
	o.there(".none")
	o.choose(`nav a[href="/organizer/orders"]`)
	o.there(".rows tbody tr")
	o.goBack()
	o.there(".none")
	require.Equal(o.t, "failed", o.evaluate(`document.querySelector("#status").value`))
	o.faultless()
}

// keepsPrices chooses what a section costs, and withholds a seat before that is saved.
func (o *organizer) keepsPrices(r *showroom) {
	o.t.Helper()
	h := nodetest.SeatedIn(r.Shop)
	o.atDesk(r, "events/"+h.Event+"/seating")
	o.set("#price-stalls", h.Gods)
	o.choose("main details summary")
	o.choose(".row .seat")
	o.choose("#block")
	o.until(`!document.querySelector("#block") && document.querySelector(".seat.off")`)
	require.Equal(o.t, h.Gods, o.evaluate(`document.querySelector("#price-stalls").value`))
	o.faultless()
}

// takesChoiceBack makes the only owner a member, and changes how a waitlist works, which the server refuses.
func (o *organizer) takesChoiceBack(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	o.atDesk(r, "settings/members")
	o.set("main li select", "member")
	o.there("main .note.warn")
	o.until(`!document.querySelector("main li select").disabled`)
	require.Equal(o.t, "owner", o.evaluate(`document.querySelector("main li select").value`))
	o.load(r.base + "/organizer/events/" + event + "/waitlist")
	o.there("#auto")
	was := o.evaluate(`document.querySelector("#auto").checked`)
	o.evaluate(`window.meddle = (request) => request.method === "PUT" && new Response('{"error":{"code":"UNAVAILABLE","message":"-"}}', {status: 503})`)
	o.choose("#auto")
	o.there("main .note.warn")
	require.Equal(o.t, was, o.evaluate(`document.querySelector("#auto").checked`))
}

// leavesEarly leaves the live view before the server has answered with the right to its stream.
func (o *organizer) leavesEarly(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": `
		window.streams = 0;
		EventSource = class extends EventSource { constructor(...at) { super(...at); window.streams++; } };
		window.meddle = (request) => request.url.includes("live-token") && new Promise((done) => { window.release = done; });`})
	o.atDesk(r, "events/"+event+"/live")
	o.until(`window.release`)
	o.choose(`main nav a[href$="/attendees"]`)
	o.there("#give-away")
	o.evaluate(`window.release(null)`)
	o.pause()
	require.Equal(o.t, 0., o.evaluate(`window.streams`))
	o.faultless()
}

// keepsSessionOfTab works at the desk with a browser that lets pages keep nothing, for longer than a token lives.
func (o *organizer) keepsSessionOfTab(r *showroom) {
	o.t.Helper()
	o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": noStorage})
	o.load(r.base + "/organizer")
	o.fill("#email", "owner@example.org")
	o.fill("#password", "correct horse")
	o.press("Enter")
	o.there("#new")
	o.evaluate(`Date.now = ((real) => () => real() + 3_600_000)(Date.now)`)
	o.choose(`nav a[href="/organizer/events"]`)
	o.there("main .list, main .none, #email")
	require.Equal(o.t, false, o.evaluate(`!!document.querySelector("#email")`), "still signed in")
	o.faultless()
}

// hidesFormerPerson signs in where the session of somebody else has ended.
func (o *organizer) hidesFormerPerson(r *showroom) {
	o.t.Helper()
	r.Register("other@example.org")
	o.atDesk(r, "events")
	o.there(".mark")
	former := o.text(".mark")
	o.evaluate(`Date.now = ((real) => () => real() + 3 * 3_600_000)(Date.now)`)
	o.choose(`nav a[href="/organizer/customers"]`) // its refresh token is none
	o.there("#email")
	o.evaluate(`window.meddle = (request) => request.url?.endsWith("/users/me") && new Promise(() => {})`)
	o.fill("#email", "other@example.org")
	o.fill("#password", "correct horse")
	o.press("Enter")
	o.there(".bone")
	o.pause()
	require.NotContains(o.t, o.text("body"), former)
}

// readsOn reads a list to its end while something is being typed, after the server has refused once.
func (o *organizer) readsOn(r *showroom) {
	o.t.Helper()
	for range 2 {
		r.Draft(nil)
		r.Key(nodetest.Object{"name": "Till"})
	}
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	const shortPages = `const fewer = (request, to) => window.sent(new Request(request.url.replace(/limit=\d+/, "limit=" + to), request));`
	o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": shortPages + `
		window.meddle = (request) => {
			if (request.method !== "GET" || !/\/organizer\/events\?|api-keys\?|\/members\?/.test(request.url)) return null;
			if (window.refusing) return new Response('{"error":{"code":"UNAVAILABLE","message":"-"}}', {status: 503});
			return fewer(request, 1);
		}`})
	o.atDesk(r, "events")
	o.until(`document.querySelectorAll(".list li").length === 1`)
	const more = "main p > button.quiet"
	o.evaluate(`window.refusing = true`)
	o.choose(more)
	o.there("main .note.warn")
	o.evaluate(`window.refusing = false`)
	o.fill("#q", "nothing that there is")
	o.choose(more)
	o.until(`document.querySelectorAll(".list li").length === 2`)
	o.until(`!document.querySelector("main .note.warn")`)
	o.load(r.base + "/organizer/settings/keys")
	o.until(`document.querySelectorAll("main li").length === 1`)
	o.choose("main > p > button.quiet")
	o.until(`document.querySelectorAll("main li").length === 2`)
	o.faultless()
}

// keepsKeyboard says no to a question, and saves a form one of whose folded fields is empty: the keyboard is where it was,
// and where something is missing.
func (o *organizer) keepsKeyboard(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	o.atDesk(r, "events/"+event)
	o.there("#cancel")
	o.evaluate(`document.querySelector("#cancel").focus()`)
	o.choose("#cancel")
	o.choose("dialog .quiet")
	o.until(`!document.querySelector("dialog")`)
	require.Equal(o.t, "cancel", o.evaluate(`document.activeElement.id`))
	o.choose(`main nav a[href$="/tickets"]`)
	o.choose("#add-type")
	o.fill("#name", "Floor")
	o.set("#perOrder", "")
	o.choose("#save-type")
	o.until(`document.activeElement.id === "perOrder"`)
	require.Equal(o.t, true, o.evaluate(`document.querySelector("form details").open`))
}

// previewsNoDate looks at the page of an event that is booked by date, and begins on none.
func (o *organizer) previewsNoDate(r *showroom) {
	o.t.Helper()
	order, _ := r.visit("date_only")
	o.atDesk(r, "events/"+order.event+"/page")
	o.there("#preview .title")
	require.NotContains(o.t, o.text("#preview"), fmt.Sprint(time.Now().Year()))
	o.faultless()
}

// asksPasswordAnew types a second factor so late that the password has to be proven again.
func (o *organizer) asksPasswordAnew(r *showroom) {
	o.t.Helper()
	o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": `window.meddle = (request) =>
		request.url.endsWith("/auth/login") ? new Response('{"data":{"challengeToken":"t"}}', {status: 200}) :
		request.url.endsWith("/auth/2fa-verify") ? new Response('{"error":{"code":"UNAUTHORIZED","message":"Sign in again.","details":{"reason":"CHALLENGE_EXPIRED"}}}', {status: 401}) : null`})
	o.load(r.base + "/organizer")
	o.fill("#email", "owner@example.org")
	o.fill("#password", "correct horse")
	o.press("Enter")
	o.fill("#code", "123456")
	o.press("Enter")
	o.there("#password")
	require.Equal(o.t, "Sign in again.", o.text(".note.warn p"))
	o.faultless()
}

// choosesCurrency begins an event as a member, who may not see the organization's wallets.
func (o *organizer) choosesCurrency(r *showroom) {
	o.t.Helper()
	r.sell(0, nodetest.Object{"currency": "EUR"}, nil)
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	r.Invite("staff@example.org", "member")
	o.holdSession(r.enters("staff@example.org"), time.Now().Add(time.Hour))
	o.load(r.base + "/organizer/events/new?kind=concerts")
	o.until(`[...document.querySelectorAll("#currency option")].some((option) => option.value === "EUR")`)
	o.faultless()
}

// hearsLate pauses a waiting room while an answer that says that it is open is on its way.
func (o *organizer) hearsLate(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	r.Own("PUT", "/organizer/events/"+event+"/queue", nodetest.Object{"enabled": true}).Is(200, "")
	o.do("Page.addScriptToEvaluateOnNewDocument", params{"source": `window.meddle = async (request) => {
		if (!window.slow || request.method !== "GET" || !request.url.endsWith("/queue")) return null;
		const answer = await window.sent(request);
		await new Promise((done) => { window.release = done; });
		return answer;
	}`})
	o.atDesk(r, "events/"+event+"/room")
	o.there("#pause")
	o.evaluate(`window.slow = true`)
	o.until(`window.release`)
	o.evaluate(`window.slow = false`)
	o.choose("#pause")
	o.there("#resume")
	o.evaluate(`window.release()`)
	o.pause()
	require.Equal(o.t, true, o.evaluate(`!!document.querySelector("#resume")`), "still paused")
	o.faultless()
}

// savesFiles saves the orders as a file, whose address must outlive the click: some browsers read it later.
func (o *organizer) savesFiles(r *showroom) {
	o.t.Helper()
	_, ticketType := r.sell(0, nil, nil)
	r.place(ticketType, 1, nil)
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	o.atDesk(r, "orders")
	o.there("#orders-csv")
	o.evaluate(`URL.revokeObjectURL = () => { window.revoked = true; }`)
	require.Contains(o.t, o.saved("#orders-csv"), "Night Concert at the Quay")
	o.pause()
	require.Equal(o.t, false, o.evaluate(`!!window.revoked`))
	o.faultless()
}

// hidesOtherAddress works at a browser at which somebody else has signed up and not confirmed the address yet.
func (o *organizer) hidesOtherAddress(r *showroom) {
	o.t.Helper()
	o.evaluate(`localStorage.setItem("unproven", "Somebody@Example.org")`)
	o.atDesk(r, "events")
	o.there("#new")
	require.NotContains(o.t, o.text("main"), "Somebody@Example.org")
	o.evaluate(`localStorage.setItem("unproven", "Owner@Example.org")`)
	o.load(r.base + "/organizer/events")
	o.until(`document.querySelector("main .hint")?.innerText.includes("Owner@Example.org")`)
	o.faultless()
}

// beginsAtHead opens an event from the list of all: the keyboard, and who listens, begin at its title.
func (o *organizer) beginsAtHead(r *showroom) {
	o.t.Helper()
	r.sell(0, nil, nil)
	require.NoError(o.t, r.AwaitLists(o.t.Context()))
	o.atDesk(r, "overview")
	o.there(`nav a[href="/organizer/events"]`)
	o.evaluate(`document.querySelector('nav a[href="/organizer/events"]').focus()`)
	o.press("Enter")
	o.there(".list a")
	require.Equal(o.t, "h1", o.evaluate(`document.activeElement.localName`))
	o.evaluate(`document.querySelector(".list a").focus()`)
	o.press("Enter")
	o.until(`document.querySelector("h1")?.innerText === "Night Concert at the Quay"`)
	require.Equal(o.t, "h1", o.evaluate(`document.activeElement.localName`))
	o.faultless()
}

// drawsOnce draws a hall, by which the server can't seat the event at once, and tries again: there is one map of it.
func (o *organizer) drawsOnce(r *showroom) {
	o.t.Helper()
	event := r.Draft(nodetest.Object{"category": "theatre"})
	o.atDesk(r, "events/"+event+"/seating")
	o.fill("#hall", "Blue hall")
	o.evaluate(`window.meddle = (request) => request.method === "PUT" && request.url.endsWith("/seating") && new Response('{"error":{"code":"UNAVAILABLE","message":"-"}}', {status: 503})`)
	o.choose("#draw")
	o.there("main .note.warn")
	o.evaluate(`window.meddle = null`)
	o.choose("#draw")
	o.there("#price-s1")
	o.shop.Becomes("1", func() string { // the list follows
		named := 0
		for _, venue := range r.Own("GET", "/organizer/venues?limit=50", nil).Is(200, "").Data("items").([]any) {
			if venue.(map[string]any)["name"] == "Blue hall" {
				named++
			}
		}
		return fmt.Sprint(named)
	})
	o.faultless()
}

// changesTitleAlone changes the title of an event whose place somebody else has changed since the form was opened.
func (o *organizer) changesTitleAlone(r *showroom) {
	o.t.Helper()
	event, _ := r.sell(0, nil, nil)
	o.atDesk(r, "events/"+event)
	o.there("#title")
	r.Own("PUT", "/organizer/events/"+event, nodetest.Object{"venueName": "Old Tower"}).Is(200, "")
	for _, title := range []string{"Night Concert by the Sea", "Night Concert by the Lake"} {
		o.fill("#title", title)
		o.choose("#save")
		o.shop.Becomes(title+", Old Tower", func() string {
			told := r.Own("GET", "/organizer/events/"+event, nil).Is(200, "")
			return told.Str("title") + ", " + told.Str("venueName")
		})
	}
	o.choose("#save") // nothing
	o.until(`!document.querySelector("#save").disabled`)
	o.faultless()
}
