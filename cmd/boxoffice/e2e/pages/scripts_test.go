package pages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/edgetest/hostile"
)

// trap reports to the console, where a window finds all that is wrong, that a hostile
// script ran or that the page's policy stopped something.
const trap = `
	for (const f of ["alert", "confirm", "prompt", "print", "msgbox"]) window[f] = () => console.error("a script ran");
	addEventListener("securitypolicyviolation", (e) => console.error("policy: " + e.violatedDirective + " " + e.blockedURI));`

// TestScripts puts each script that we know into every text that the pages show, and holds
// that none runs and that the policy has nothing to stop (make pages).
func TestScripts(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	require.GreaterOrEqual(t, len(hostile.Scripts), 100)
	for scripts := range slices.Chunk(hostile.Scripts, 40) { // as many as a list shows at once
		t.Run("", func(t *testing.T) {
			t.Parallel()
			h := &scripted{shop: nodetest.Open(t)}
			h.base = strings.TrimSuffix(h.shop.URL, "/api/v1")
			h.buyer = &buyer{window: chromium.open(t, h.base+"/", laptop), shop: h.shop}
			h.do("Page.addScriptToEvaluateOnNewDocument", params{"source": trap})
			h.checkTrap()
			h.shopPages(scripts)
			h.gatePage(scripts)
			h.organizerPages(scripts)
			t.Logf("%d scripts, %d pages shown", len(scripts), h.shown)
		})
	}
}

// scripted is a shop whose texts are scripts.
type scripted struct {
	*buyer
	shop  *nodetest.Shop
	base  string
	shown int
}

// checkTrap makes sure that the trap works: what the test looks for would be seen.
func (h *scripted) checkTrap() {
	h.t.Helper()
	h.load(h.base + "/waitlist")
	for _, hole := range []string{`alert(1)`, `document.body.insertAdjacentHTML("beforeend", "<img src=/favicon.svg onload=alert(1)>")`} {
		h.faultless()
		h.evaluate(hole + "; 0")
		require.Eventually(h.t, func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.wrong) > 0
		}, time.Minute, 10*time.Millisecond, hole)
		h.run(`new Promise((done) => setTimeout(done, 50))`)
		h.forget()
	}
}

// showPage opens a page, waits until it has a text, and looks for what should not be in it.
func (h *scripted) showPage(path, selector, what string) {
	h.t.Helper()
	h.load(h.base + path)
	h.there(selector)
	h.requireHarmless(what)
}

func (h *scripted) requireHarmless(what string) {
	h.t.Helper()
	h.shown++
	require.Empty(h.t, h.evaluate(marked), what)
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Empty(h.t, h.wrong, what)
}

// event makes an event on sale whose every text is a script, and returns where it is shown
// and its type of tickets.
func (h *scripted) event(text string) (id, slug, typ string) {
	h.t.Helper()
	s := h.shop
	s.Own("PUT", "/organizer/organizations/"+s.Org(), nodetest.Object{"name": text, "description": text}).Is(200, "")
	id = s.Draft(nodetest.Object{
		"title": text, "shortDesc": text, "description": strings.Repeat(text+"\n\n", 50/len(text)+1), "returnPolicy": text,
		"venueName": text, "venueAddress": text, "venueCity": text,
	})
	s.Own("POST", "/organizer/events/"+id+"/schedule", nodetest.Object{
		"sessionTitle": text, "speakerName": text, "locationDetail": text, "sessionDesc": text, "startTime": nodetest.Stamp(25 * time.Hour), "endTime": nodetest.Stamp(26 * time.Hour),
	}).Is(201, "")
	s.Own("PUT", "/organizer/event-customization/"+id, nodetest.Object{"faqs": []nodetest.Object{{"question": text, "answer": text}}, "seoTitle": text, "seoDescription": text}).Is(200, "")
	typ = s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free", "name": text, "description": text})).Is(201, "").Str("id")
	s.Own("POST", "/organizer/events/"+id+"/publish", nil).Is(200, "")
	return id, s.Call("GET", "/events/"+id, nil).Is(200, "").Str("slug"), typ
}

// buy places an order in which each text is a script.
func (h *scripted) buy(typ, text string, place int) nodetest.Answer {
	h.t.Helper()
	return h.shop.Call("POST", "/orders", nodetest.Object{
		"guestEmail": fmt.Sprintf("buyer%d@example.org", place), "guestName": text,
		"items": []nodetest.Object{{"ticketTypeId": typ, "quantity": 1, "attendeeName": text}},
	}).Is(201, "")
}

// shopPages shows each script to buyers.
func (h *scripted) shopPages(scripts []string) {
	h.t.Helper()
	for i, text := range scripts {
		event, slug, typ := h.event(text)
		order := h.buy(typ, text, i)
		h.showPage("/e/"+slug, ".card li", text)
		require.Equal(h.t, strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(h.text("h1")), " "), "it is shown")
		h.showPage("/e/"+slug+"/checkout?t="+typ+".1", "#email", text)
		h.showPage("/by/"+h.organizer(event), ".grid li a", text)
		h.showPage("/orders/"+order.Str("id")+"?token="+order.Str("accessToken"), "h1", text)
		h.showPage("/o/"+order.Str("id")+"#token="+order.Str("accessToken"), ".tickets svg", text)
	}
	h.showPage("/", ".grid li a", "what is on")
}

// organizer is the slug of the organization that an event is of.
func (h *scripted) organizer(event string) string {
	h.t.Helper()
	return h.shop.Call("GET", "/events/"+event, nil).Is(200, "").Str("organizer.slug")
}

// signIn gives the browser the session of the organizer.
func (h *scripted) signIn() {
	h.t.Helper()
	kept, err := json.Marshal(map[string]any{"access": h.shop.Token, "refresh": "-", "until": time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(h.t, err)
	h.evaluate(fmt.Sprintf("localStorage.setItem('session', %q)", kept))
}

// gatePage lets guests in whose names are scripts.
func (h *scripted) gatePage(scripts []string) {
	h.t.Helper()
	_, _, typ := h.event(scripts[0])
	h.signIn()
	h.load(h.base + "/gate")
	h.choose("button.wide")
	for i, text := range scripts {
		o := h.buy(typ, text, 100+i)
		h.showCode(o.Str("tickets.0.shortCode"), ".verdict.good")
		h.requireHarmless(text)
		h.until(`(verdict => !verdict || (verdict.click(), false))(document.querySelector(".verdict"))`) // a good one may have gone by itself
	}
}

// organizerPages shows all scripts at the organizer's desk.
func (h *scripted) organizerPages(scripts []string) {
	h.t.Helper()
	s := h.shop
	event, _, typ := h.event(scripts[0])
	for i, text := range scripts {
		h.buy(typ, text, 200+i)
		s.Own("POST", s.Keys(), nodetest.Object{"name": text, "scopes": []string{"orders:read"}})
	}
	customers := s.Own("GET", "/organizer/customers", nil).Is(200, "")
	key := customers.Str("items.0.key")
	for _, text := range scripts {
		s.Own("POST", "/organizer/customers/"+key+"/notes", nodetest.Object{"body": text}).Is(201, "")
	}
	for path, selector := range map[string]string{
		"": ".next a", "/events": ".list a", "/events/" + event: "#title, h1", "/events/" + event + "/tickets": ".type", "/events/" + event + "/attendees": ".rows tbody tr",
		"/events/" + event + "/programme": "main .session", "/events/" + event + "/page": "#preview .title", "/events/" + event + "/live": "#curve svg", "/events/" + event + "/mails": "#reached",
		"/orders": ".rows tbody tr", "/customers": ".rows .link", "/customers?key=" + key: ".panel .facts", "/settings": "#about", "/settings/keys": "main li, .rows",
	} {
		h.showPage("/organizer"+path, selector, path)
	}
}
