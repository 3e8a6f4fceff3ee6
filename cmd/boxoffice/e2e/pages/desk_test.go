package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestDesk answers those who write, complain, review and wait, at the organizer's desk.
func TestDesk(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "desk-"+name, as)
			event, ticketType := soldOut(o.shop)
			guest := o.answerMail(event, ticketType)
			o.answerReports(event, guest)
			o.answerReviews(event)
			o.offerToWaiting(event, ticketType)
			o.faultless()
		})
	}
}

// openDesk signs an organizer in, whose browser asks for German if the window's name says so.
func openDesk(t *testing.T, chromium *browser, axe, name string, as size, change ...func(*node.Config)) *organizer {
	t.Helper()
	s := nodetest.Open(t, change...)
	base := strings.TrimSuffix(s.URL, "/api/v1")
	o := &organizer{began: time.Now(), width: as.width, buyer: buyer{window: chromium.open(t, base+"/organizer", as), shop: s, name: name, axe: axe}}
	s.Org() // its owner has an account from here on
	if strings.HasSuffix(name, "german") {
		o.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
		o.load(base + "/organizer")
		o.until(`document.documentElement.lang === "de"`)
	}
	o.fill("#email", "owner@example.org")
	o.fill("#password", "correct horse")
	o.press("Enter")
	o.there("#new")
	return o
}

// soldOut puts an event on sale whose only ticket Ada has.
func soldOut(s *nodetest.Shop) (event, ticketType string) {
	s.T.Helper()
	event, ids := s.Sell(nodetest.Object{"title": "Jazz on the quay"}, nodetest.With(nodetest.TypeBody(0, 1), nodetest.Object{"type": "free", "waitlistEnabled": true}))
	return event, ids[0]
}

// answerMail answers a guest, who finds the answer, and returns the guest.
func (o *organizer) answerMail(event, ticketType string) *nodetest.Shop {
	o.t.Helper()
	order := o.shop.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1)).Is(201, "")
	require.Equal(o.t, "success", o.shop.Scan(event, order.Str("tickets.0.qr"), "d1").Str("status"))
	o.shop.Call("POST", "/community/reviews", nodetest.Object{
		"ticketCode": order.Str("tickets.0.code"), "email": "ada@example.org", "rating": 4, "body": "A splendid evening.\nCold feet.", "authorName": "Ada",
	}).Is(201, "")
	ada := o.shop.Buyer("ada@example.org")
	o.load(o.origin + "organizer/inbox")
	o.step("nobody-wrote", ".none")
	ada.Own("POST", "/users/me/tickets/"+order.Str("tickets.0.id")+"/message", nodetest.Object{"body": "Where is the door?", "attachmentUrls": []string{"https://example.org/a.png"}}).Is(201, "")
	o.load(o.origin + "organizer/overview")
	o.choose(`.needs a[href*="/inbox/messages"]`)
	o.choose("main .answer")
	o.fill("main textarea", "Around the corner.")
	o.step("answer", "main .send")
	o.choose("main .send")
	o.there(".own")
	o.until(`!document.querySelector(".thread .warn")`)
	o.step("answered", ".own .text")
	require.Equal(o.t, "Around the corner.", ada.Own("GET", "/users/me/messages", nil).Is(200, "").Str("items.0.messages.1.body"))
	return ada
}

// answerReports closes one report with an answer, dismisses one and hands one to the platform.
func (o *organizer) answerReports(event string, guest *nodetest.Shop) {
	o.t.Helper()
	for _, category := range []string{"other", "misleading_info", "accessibility"} {
		guest.Own("POST", "/users/me/reports", nodetest.Object{"category": category, "description": "The door stayed shut.", "eventId": event, "evidenceUrls": []string{"https://example.org/a.png"}}).Is(201, "")
	}
	o.choose(`a[href$="/inbox/reports"]`)
	o.until(`document.querySelectorAll(".report").length === 3`)
	o.choose(".report:nth-child(3) .answer")
	o.fill("main textarea", "It opens at seven from now on.")
	o.step("report", "main .send")
	o.choose("main .send")
	o.until(`document.querySelectorAll(".report .answer").length === 2`)
	o.choose(".report:nth-child(1) .dismiss")
	o.choose("#sure-yes")
	o.until(`document.querySelectorAll(".report .answer").length === 1`)
	o.choose(".report .escalate")
	o.step("escalate", "#sure-yes")
	o.choose("#sure-yes")
	o.until(`!document.querySelector(".report .answer")`)
	o.step("reports", ".report .own")
	list := o.shop.Own("GET", "/organizer/reports", nil).Is(200, "")
	require.Equal(o.t, []any{"dismissed", "escalated", "resolved"}, []any{list.Data("items.0.status"), list.Data("items.1.status"), list.Data("items.2.status")})
}

// answerReviews answers a review, and changes the answer.
func (o *organizer) answerReviews(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/reviews")
	for _, answer := range []string{"There is tea now.", "There is tea now, and there are blankets."} {
		o.choose("main .answer")
		o.fill("main textarea", answer)
		o.step("review", "main .send")
		o.choose("main .send")
		o.until(`!document.querySelector("main textarea") && document.querySelector(".review .own")?.innerText.includes(` + "`" + answer + "`" + `)`)
	}
	o.step("reviews", "#mean")
	require.Equal(o.t, "There is tea now, and there are blankets.", o.shop.Call("GET", "/community/events/"+event+"/reviews", nil).Is(200, "").Str("items.0.reply"))
}

// offerToWaiting has two people wait, switches off offers that are made by themselves, and makes one.
func (o *organizer) offerToWaiting(event, ticketType string) {
	o.t.Helper()
	o.choose(`main nav a[href$="/waitlist"]`)
	o.step("nobody-waits", "#auto")
	for _, who := range []string{"wanda@example.org", "wim@example.org"} {
		o.shop.Waits(event, nodetest.Object{"email": who, "name": "W. " + who[:3], "ticketTypeId": ticketType})
	}
	o.choose("#auto")
	o.there("#offer")
	o.fill("#minutes", "90")
	o.choose("#save-minutes")
	o.shop.Becomes("90", func() string {
		return o.shop.Own("PUT", "/organizer/events/"+event+"/waitlist", nodetest.Object{}).Is(200, "").Str("offerMinutes")
	})
	o.shop.Own("PUT", "/organizer/events/"+event+"/tickets/"+ticketType, nodetest.Object{"quantityTotal": 2}).Is(200, "")
	o.load(o.origin + "organizer/events/" + event + "/waitlist")
	o.until(`document.querySelectorAll(".rows tbody tr").length === 2`)
	o.fill("#count", "1")
	o.until(`(() => { if (document.querySelector(".state.warn")) return true; const b = document.querySelector("#offer"); if (!b.disabled) b.click(); return false; })()`)
	o.step("waitlist", ".rows .state.warn")
}
