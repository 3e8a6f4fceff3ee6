package pages

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

var loginDigits = regexp.MustCompile(`\b\d{6}\b`)

// TestWallet signs in by mailed digits, finds what was bought for the address, passes a ticket on
// and takes it back, and signs out, after which nothing is left (make pages).
func TestWallet(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			b := &buyer{window: chromium.open(t, base+"/help", as), shop: s, name: "wallet-" + name, axe: axe}
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
			}
			b.step("help", "details")
			event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free", "name": "Floor", "transferable": true}))
			order, token := s.Place("ada@example.org", ids[0], 2)
			b.enterWallet(base)
			b.step("mine", ".large a")
			b.passOn(order, token)
			s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")
			b.load(base + "/me")
			b.step("cancelled", "#off")
			require.Equal(t, true, b.evaluate(`!document.querySelector("#next")`), "nobody goes there next")
			b.load(base + "/me/account")
			b.step("account", "#erase")
			b.choose("#out")
			b.until(`location.pathname === "/me" && document.querySelector("#email")`)
			require.Equal(t, "", fmt.Sprint(b.evaluate(`Object.keys(localStorage).filter((key) => key !== "language").join()`)), "nothing is left")
			b.step("left", "#email")
			b.report(base, event)
			b.faultless()
		})
	}
}

// enterWallet signs in: at first with what is no address, and with wrong digits.
func (b *buyer) enterWallet(base string) {
	b.t.Helper()
	b.load(base + "/me")
	b.fill("#email", "ada")
	b.choose("form button.wide")
	b.step("no-address", "#email[aria-invalid]")
	began := time.Now()
	b.fill("#email", "ada@example.org")
	b.choose("form button.wide")
	b.step("digits", "#code")
	digits := loginDigits.FindString(b.shop.Mail(b.t, "ada@example.org", "login_code", began).Text)
	require.NotEmpty(b.t, digits)
	wrong := "000000"
	if digits == wrong {
		wrong = "000001"
	}
	b.fill("#code", wrong)
	b.step("wrong-digits", "#code[aria-invalid]")
	b.forget() // the refusal is in the browser's log
	b.fill("#code", digits[:3]+" "+digits[3:])
	b.there("#out")
	// What is bought shows a little later.
	b.until(`document.querySelector(".large a, li.called a") || document.querySelector(".none") && (setTimeout(() => location.reload(), 300), false)`)
}

// report reports an event: it signs in for that, leaves out all fields first, and reads who is told.
func (b *buyer) report(base, event string) {
	b.t.Helper()
	b.load(base + "/e/" + event)
	b.choose("#report")
	b.there("section.card #email")
	began := time.Now()
	b.fill("#email", "grace@example.org")
	b.choose("section.card form button.wide")
	b.step("report-sign-in", "#code")
	b.fill("#code", loginDigits.FindString(b.shop.Mail(b.t, "grace@example.org", "login_code", began).Text))
	b.until(`document.activeElement.id === "report-category"`)
	b.choose("#report-send")
	b.step("report-empty", "#report-category[aria-invalid]")
	b.evaluate(`(s => { s.value = "fraud"; s.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#report-category"))`)
	platform := b.text("#report-category-hint")
	b.evaluate(`(s => { s.value = "accessibility"; s.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#report-category"))`)
	require.NotEqual(b.t, platform, b.text("#report-category-hint"), "it is said who reads it")
	b.fill("#report-description", "Stairs alone.")
	b.choose("#report-send")
	b.step("report-short", "#report-description[aria-invalid]")
	b.fill("#report-description", "Stairs alone lead to the floor.")
	b.fill("#report-evidence", "https://pictures.example.org/stairs ftp://pictures.example.org/lift")
	b.choose("#report-send")
	b.there("#report-evidence[aria-invalid]")
	b.fill("#report-evidence", "https://pictures.example.org/stairs\nhttp://pictures.example.org/lift")
	b.choose("#report-send")
	b.step("reported", "#reported")
	list := b.shop.Own("GET", "/organizer/reports", nil).Is(200, "")
	require.Equal(b.t, "accessibility Stairs alone lead to the floor.", list.Str("items.0.category")+" "+list.Str("items.0.description"))
	require.Equal(b.t, []any{"https://pictures.example.org/stairs", "http://pictures.example.org/lift"}, list.Get("data.items.0.evidenceUrls"))
	b.choose("section.card > button")
	b.until(`document.activeElement.id === "report"`)
}

// passOn opens a ticket, offers it to somebody, and takes it back.
func (b *buyer) passOn(order, token string) {
	b.t.Helper()
	b.choose(".large a")
	b.step("ticket", ".pass svg")
	b.choose(`[data-verb="pass"]`)
	b.fill(`.panel input[type="email"]`, "fred")
	b.choose(".panel button")
	b.step("pass-on", `.panel [aria-invalid]`)
	b.fill(`.panel input[type="email"]`, "fred@example.org")
	b.choose(".panel button")
	b.step("pending", ".verbs .note button")
	b.choose(".verbs .note button")
	b.until(`!document.querySelector(".verbs .note")`)
	b.load(b.origin + "o/" + order + "#token=" + token)
	b.step("order", ".pass svg")
}
