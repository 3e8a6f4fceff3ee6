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

// mailedLink reads a link with a token out of the newest mail of a kind.
func mailedLink(s *nodetest.Shop, path, to, kind string, after time.Time) string {
	s.T.Helper()
	link := regexp.MustCompile(regexp.QuoteMeta(path) + `#token=[\w-]+`).FindString(s.Mail(s.T, to, kind, after).Text)
	require.NotEmpty(s.T, link)
	return strings.TrimSuffix(s.URL, "/api/v1") + link
}

// heads waits for what a page says first.
func (b *buyer) heads(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.querySelector('h1')?.innerText === %q", text))
}

// TestMailedLinks opens what mails link to: a ticket that is passed on, and a place on a
// waitlist (make pages).
func TestMailedLinks(t *testing.T) {
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
			b := &buyer{window: chromium.open(t, base+"/waitlist", as), shop: s, name: "mailed-" + name, axe: axe}
			words := englishMailed
			if name == "german" {
				b.do("Emulation.setUserAgentOverride", params{"userAgent": "Chromium", "acceptLanguage": "de-DE,de"})
				words = germanMailed
			}
			b.act(base, words)
			b.claim(base, words)
			b.wait(base, words)
			b.faultless()
		})
	}
}

// mailedWords are what the pages say first.
type mailedWords struct {
	ticket, yours, notOffered, noTicket           string
	waitlist, notYet, expired, left, none, closed string
	done                                          string            // begins what a page says once it has done its one thing
	acts                                          map[string]string // the heads of the pages with one button, by address
	differ, over                                  string            // two passwords, and a link that does nothing
}

var (
	englishMailed = mailedWords{
		"A ticket for you", "The ticket is yours", "This ticket is no longer on offer", "This link opens no ticket",
		"You are on the waitlist", "It is not your turn yet", "The time to take the tickets is over", "You are off the waitlist", "This link opens no waitlist", "The tickets are no longer on sale",
		"Done.",
		map[string]string{
			"/follow": "Follow an organizer", "/unsubscribe": "Get no more news", "/waitlist/confirm": "Join a waitlist",
			"/email/confirm": "Confirm your address", "/password/reset": "Set a new password",
		},
		"The two passwords are not the same.", "This link is not valid, or no longer. The newest mail has the one that is.",
	}
	germanMailed = mailedWords{
		"Eine Karte für dich", "Die Karte gehört dir", "Diese Karte wird nicht mehr angeboten", "Dieser Link öffnet keine Karte",
		"Du stehst auf der Warteliste", "Du bist noch nicht dran", "Die Zeit, die Karten zu nehmen, ist um", "Du stehst nicht mehr auf der Warteliste", "Dieser Link öffnet keine Warteliste", "Die Karten sind nicht mehr im Verkauf",
		"Erledigt.",
		map[string]string{
			"/follow": "Einem Veranstalter folgen", "/unsubscribe": "Keine Neuigkeiten mehr", "/waitlist/confirm": "Auf die Warteliste",
			"/email/confirm": "Adresse bestätigen", "/password/reset": "Neues Passwort setzen",
		},
		"Die beiden Passwörter sind nicht gleich.", "Dieser Link gilt nicht, oder nicht mehr. In der neuesten Mail steht der richtige.",
	}
)

// act opens the pages with one button by links that are of no use, and follows an organizer by one that is.
func (b *buyer) act(base string, words mailedWords) {
	b.t.Helper()
	outcome := func(text string) {
		b.t.Helper()
		b.until(fmt.Sprintf(`document.querySelector("#outcome").innerText.startsWith(%q)`, text))
	}
	for path, head := range words.acts {
		b.follow(base + path + "#token=nothing")
		b.heads(head)
		b.step(strings.ReplaceAll(strings.Trim(path, "/"), "/", "-"), "#form button")
		if b.evaluate(`!!document.querySelector("#password")`) == true {
			b.fill("#password", "a new horse")
		}
		if b.evaluate(`!!document.querySelector("#again")`) == true {
			b.fill("#again", "another horse")
			b.choose("#form button")
			outcome(words.differ)
			b.fill("#again", "a new horse")
		}
		b.choose("#form button")
		outcome(words.over)
		b.forget() // the refusal is in the browser's log
	}
	began := time.Now()
	b.shop.Call("POST", "/community/orgs/"+b.shop.Org()+"/follow", nodetest.Object{"email": "fan@example.org", "name": "Fan"}).Is(200, "")
	b.follow(mailedLink(b.shop, "/follow", "fan@example.org", "following", began))
	b.choose("#form button")
	outcome(words.done)
}

// claim takes a ticket that was passed on, and finds out about those that can't be taken.
func (b *buyer) claim(base string, words mailedWords) {
	b.t.Helper()
	s := b.shop
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"name": "Floor", "transferable": true}))
	order, token := s.Place("ada@example.org", ids[0], 1)
	path := "/tickets/" + s.Order(order, token).Str("tickets.0.id") + "/transfer"
	began := time.Now()
	s.Call("POST", path, nodetest.Object{"toEmail": "bob@example.org", "toName": "Bob", "token": token}).Is(201, "")
	link := mailedLink(s, "/tickets/claim", "bob@example.org", "transfer_offered", began)

	b.follow(link)
	b.heads(words.ticket)
	require.Equal(b.t, "", b.evaluate("location.hash"), "the token is out of the address")
	b.load(base + "/tickets/claim?again")
	b.heads(words.noTicket)
	b.step("no-ticket", "main a.button")
	b.load(base + "/tickets/claim#token=nothing")
	b.choose("#take")
	b.heads(words.noTicket)
	b.forget() // the refusal is in the browser's log

	b.follow(link)
	b.step("offered", "#take")
	b.do("Page.reload", nil)
	b.choose("#take")
	b.heads(words.yours)
	b.step("taken", ".door")
	b.until(`document.querySelector(".event").innerText !== ""`)
	b.follow(link)
	b.choose("#take")
	b.heads(words.notOffered)
	b.step("no-longer-offered", "main a.button")
	b.forget()
}

// wait takes what a waitlist offers, leaves the line, and finds out about what is over.
func (b *buyer) wait(base string, words mailedWords) {
	b.t.Helper()
	s := b.shop
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 1), nodetest.Object{"name": "Seat", "waitlistEnabled": true}))
	s.Place("first@example.org", ids[0], 1)
	began := time.Now()
	page := base + "/e/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	var links []string
	for place, who := range []string{"ada@example.org", "bob@example.org"} {
		if place == 0 {
			b.misjoin(page)
		}
		b.load(page)
		b.choose(".card li button.quiet")
		b.fill("#wait-name", "Wanda")
		b.fill("#wait-email", who)
		b.choose(".join button.wide")
		b.until(fmt.Sprintf(`document.querySelector(".joined p")?.innerText.includes(%q)`, who))
		b.load(mailedLink(s, "/waitlist/confirm", who, "waitlist_confirm", began))
		b.choose("#form button")
		b.until(fmt.Sprintf(`document.querySelector("#outcome").innerText.startsWith(%q)`, words.done))
		links = append(links, mailedLink(s, "/waitlist", who, "waitlist_joined", began))
	}
	b.step("in-line", "#outcome")
	ada, bob := links[0], links[1]

	b.load(base + "/waitlist")
	b.heads(words.none)
	b.step("no-waitlist", "main a.button")
	b.do("Page.navigate", params{"url": ada}) // the same page, but for what stands behind #
	b.step("waitlist", "#take")
	b.choose("#take")
	b.heads(words.notYet)
	b.step("not-yet", "#leave")
	b.choose("#leave")
	b.step("leave-sure", "#leave-yes")
	b.forget()
	b.choose("#leave-yes")
	b.heads(words.left)
	b.step("left", "main a.button")

	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+ids[0], nodetest.Object{"quantityTotal": 2}).Is(200, "")
	s.Mail(b.t, "bob@example.org", "waitlist_offered", began)
	for _, refused := range []struct{ code, details, says string }{{"CONFLICT", `{"status":"expired"}`, words.expired}, {"NOT_ON_SALE", `{}`, words.closed}} {
		undo := b.refuse(409, refused.code, refused.details)
		b.follow(bob)
		b.choose("#take")
		b.heads(refused.says)
		b.step(strings.ToLower(refused.code), "main a.button")
		undo()
	}
	b.follow(bob)
	b.heads(words.waitlist)
	b.choose("#take")
	b.until(`location.pathname.startsWith("/o/")`)
	b.step("taken-from-the-waitlist", ".tickets svg")
}

// misjoin fills the form of a waitlist in wrongly, and finds out that tickets have come free.
func (b *buyer) misjoin(page string) {
	b.t.Helper()
	undo := b.refuse(409, "WAITLIST_CLOSED", `{"reason":"not_sold_out"}`)
	b.load(page)
	b.choose(".card li button.quiet")
	b.step("join", "#wait-name")
	b.fill("#wait-quantity", "11")
	b.choose(".join button.wide")
	b.there("#wait-name[aria-invalid]")
	b.step("join-what-is-missing", "#wait-quantity[aria-invalid]")
	b.fill("#wait-name", "Wanda")
	b.fill("#wait-email", "ada@example.org")
	b.fill("#wait-quantity", "1")
	b.choose(".join button.wide")
	b.step("came-free", ".join .note a")
	undo()
}

// follow opens a link in a page of its own. Where the page is open already, a link that
// differs behind # alone would load nothing.
func (b *buyer) follow(link string) {
	b.t.Helper()
	b.load("about:blank")
	b.load(link)
}

// refuse answers the writes of the pages that open from now on as the server does when much
// time has passed, until it is undone.
func (b *buyer) refuse(status int, code, details string) (undo func()) {
	b.t.Helper()
	body := fmt.Sprintf(`{"error":{"code":%q,"message":"-","details":%s},"meta":{"request_id":"r"}}`, code, details)
	var made struct{ Identifier string }
	b.send(b.t, b.session, "Page.addScriptToEvaluateOnNewDocument", params{"source": fmt.Sprintf(
		`fetch = ((real) => async (r) => r.method === "POST" ? new Response(%q, {status: %d}) : real(r))(fetch)`, body, status)}, &made)
	return func() {
		b.t.Helper()
		refused := b.try(b.t, b.session, "Page.removeScriptToEvaluateOnNewDocument", params{"identifier": made.Identifier}, nil)
		// If a page ends before it has answered, Chromium asks the next page again, where the script is gone by then.
		require.Contains(b.t, []string{"", "Script not found"}, refused)
	}
}
