package mail

import (
	"bytes"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"boxoffice/edge/edgetest/hostile"
)

// poisoned are mails of every kind in which each text of a user is the same.
func poisoned(t testing.TB, text string, l Language) map[string]Message {
	t.Helper()
	to := func() Envelope {
		to := envelope("ada@example.org", text)
		to.Language = l
		return to
	}
	e := concert(t)
	e.Title, e.Organizer, e.Venue, e.Address, e.City, e.Country, e.Note = text, text, text, text, text, text, text
	e.Cover = "https://tickets.example.org/media/7/og.jpg"
	e.What = []Item{{Quantity: 1, Type: text}, {Type: text, Section: text, Row: text, Seat: text}}
	cancelled := *e
	cancelled.Cancelled, cancelled.CancelReason = true, text
	online := *e
	online.Hall, online.Online, online.Link = false, true, text
	digital := course()
	digital.Title, digital.Organizer, digital.Link, digital.Note = text, text, text, text
	o := order(2)
	o.Note = text
	for i := range o.Lines {
		o.Lines[i].Name, o.Lines[i].Link, o.Lines[i].Note = text, text, text
	}
	for i := range o.Tickets {
		tk := &o.Tickets[i]
		tk.Type, tk.Holder, tk.Section, tk.Row, tk.Seat = text, text, text, text, text
	}
	confirmed := func(e *Event) Message {
		m, err := OrderConfirmation(to(), o, e)
		require.NoError(t, err)
		return m
	}
	copied := func(e *Event) Message {
		m, err := AttendeeTickets(to(), text, o, e)
		require.NoError(t, err)
		return m
	}
	return map[string]Message{
		"email_confirmation": EmailConfirmation(to(), "https://tickets.example.org/email/confirm#a"), "account_taken": AccountTaken(to(), "https://tickets.example.org/organizer"),
		"attendee_tickets": copied(e), "attendee_tickets.online": copied(&online),
		"login_code": LoginCode(to(), "123456"), "password_reset": PasswordReset(to(), "https://tickets.example.org/reset?token=a"),
		"invitation": Invitation(to(), text, text, "https://tickets.example.org/me"), "password_changed": PasswordChanged(to(), "https://tickets.example.org/organizer"),
		"two_factor_changed": TwoFactorChanged(to(), true, "https://tickets.example.org/organizer"), "webhook_disabled": WebhookDisabled(to(), text, text, "42", true, "https://tickets.example.org/organizer/settings/webhooks"),
		"webhook_disabled.exhausted": WebhookDisabled(to(), text, text, "42", false, "https://tickets.example.org/organizer/settings/webhooks"),
		"payment_disputed":           PaymentDisputed(to(), text, &Dispute{Number: "A", Title: text, Provider: "Stripe", Reason: text, URL: "https://tickets.example.org/a"}),
		"order_confirmation":         confirmed(e), "order_confirmation.online": confirmed(&online), "order_confirmation.digital": confirmed(digital),
		"contact":          Contact(to(), text, text, text, "reply+a"),
		"broadcast":        Broadcast(to(), e, text, Sanitize(text), "reply+a", ending),
		"following":        Following(to(), text, "https://tickets.example.org/follow#token=a", ending),
		"event_published":  EventPublished(to(), e, "https://tickets.example.org/events/a", ending),
		"waitlist_confirm": WaitlistConfirm(to(), text, 2, "https://tickets.example.org/waitlist/confirm#a", Unsubscribe{Page: "https://tickets.example.org/unsubscribe#a"}, e),
		"waitlist_joined":  WaitlistJoined(to(), text, 2, "https://tickets.example.org/waitlist#a", e),
		"waitlist_offered": WaitlistOffered(to(), text, 2, Money{"2.00", "USD"}, time.Now(), "https://tickets.example.org/waitlist#a", e),
		"waitlist_expired": WaitlistExpired(to(), "https://tickets.example.org/e/friday", e),
		"queue_confirm":    QueueConfirm(to(), inRoom("join=a"), Unsubscribe{Page: "https://tickets.example.org/unsubscribe#a"}, e),
		"queue_place":      QueuePlace(to(), inRoom("ticket=a"), Unsubscribe{Page: "https://tickets.example.org/unsubscribe#a"}, e),
		"transfer_offered": TransferOffered(to(), text, "https://tickets.example.org/transfer#a", e),
		"transfer_taken":   TransferTaken(to(), text, o, e), "transfer_revoked": TransferRevoked(to(), text, e),
		"payment_seen": PaymentSeen(to(), o, e, Coins{Ticker: text, Asked: "2"}, e.Start), "payment_seen.short": PaymentSeen(to(), o, e, Coins{Ticker: text, Arrived: "1", Asked: "2", Missing: "1"}, e.Start),
		"bank_transfer":   BankTransfer(to(), o, e, Transfer{Holder: text, Account: text, BIC: text, Amount: Money{"5.00", "EUR"}, Reference: "RF18"}, e.Start, false),
		"order_cancelled": OrderCancelled(to(), o, e), "order_withdrawn": OrderWithdrawn(to(), o, e, Money{"5.00", "USD"}, true, e.Start), "refund_due": RefundDue(to(), o, e, Back{Amount: Money{"5.00", "USD"}, Reason: "late"}), "refund_processed": RefundProcessed(to(), o, e, Back{Amount: Money{"5.00", "USD"}, Reason: "granted"}),
		"ticket_rescheduled": TicketRescheduled(to(), o, e), "ticket_void": TicketVoid(to(), e, Void{Reason: TakenBack, Count: 1}),
		"refund_requested": RefundRequested(to(), o, e, Money{"5.00", "USD"}, refunds), "refund_denied": RefundDenied(to(), o, e, Money{"5.00", "USD"}, text),
		"event_changed": EventChanged(to(), concert(t), e, o, e.Start, refunds), "event_changed.back": EventChanged(to(), e, &online, nil, time.Time{}, refunds), "event_cancelled": EventCancelled(to(), &cancelled, Cancelled{Orders: []*Order{o}, IsPaid: true, Refunds: "https://tickets.example.org/refunds"}),
		"order_confirmation.cancelled": confirmed(&cancelled), "attendee_tickets.cancelled": copied(&cancelled), "order_cancelled.event": OrderCancelled(to(), o, &cancelled),
	}
}

// TestHostileTexts holds that no text of a user becomes more than text in any
// mail: its HTML has the elements, attributes and kinds of links that the same
// mail has for a harmless text, its headers are those that we set, and its text
// and calendar have no line that the user began.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	kinds, cases := map[string]bool{}, 0
	for i, text := range slices.Concat(hostile.Texts, hostile.Scripts) {
		for name, m := range poisoned(t, text, Languages[i%len(Languages)]) {
			cases++
			kinds[m.Kind] = true
			markup.Hold(t, m.HTML, name+" "+text)
			require.False(t, strings.ContainsFunc(m.Subject, func(r rune) bool { return !unicode.IsPrint(r) }), "%s: %q", name, m.Subject)
			require.Equal(t, m.ToName, oneLine(m.ToName), name)
			require.NotRegexp(t, `(?m)^(Bcc|Subject|X|QUIT|\.$)`, m.Text, "%s %q", name, text)
			if m.Calendar != nil {
				require.NotRegexp(t, `(?mi)^(BEGIN:VALARM|ACTION|ATTENDEE)`, string(m.Calendar.Body), "%s %q", name, text)
				require.Equal(t, 1, bytes.Count(m.Calendar.Body, []byte("\nEND:VEVENT")), "%s %q", name, text)
			}
			headers(t, m, name+" "+text)
		}
	}
	t.Logf("hostile texts: %d texts, %d cases in mails", len(hostile.Texts)+len(hostile.Scripts), cases)
	for kind := range forms[English] {
		require.True(t, kinds[kind], "no mail of %s has been tried", kind)
	}
}

// TestLinesStayLines holds that no text of a person adds a line to the text of a mail which might be
// ours: whatever ends a line in it, the mail has the lines of the same mail for a word, and lines
// that are quoted.
func TestLinesStayLines(t *testing.T) {
	t.Parallel()
	ours := func(m Message) (lines []string) {
		for line := range strings.Lines(m.Text) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "> ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	plain := poisoned(t, "word", German)
	for _, end := range []string{"\n", "\r\n", "\r", "\n\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\n> ", "\n--\n", "\x00\n", "=0A", "=?utf-8?Q?=0A?="} {
		for name, m := range poisoned(t, "word"+end+"Code 123"+end+"Total: 0.00 USD"+end+end, German) {
			was := ours(plain[name])
			got := ours(m)
			require.Len(t, got, len(was), "%s %q:\n%s", name, end, m.Text)
			for i := range got {
				before, _, _ := strings.Cut(was[i], "word")
				require.True(t, strings.HasPrefix(got[i], before), "%s %q: %q instead of %q", name, end, got[i], was[i])
			}
			require.NotContains(t, m.Text, "\r", name)
		}
	}
}

// headers sends a mail as a server gets it, and checks that it has no header
// and no recipient but ours.
func headers(t testing.TB, m Message, what string) {
	t.Helper()
	from, err := ParseOrigin("Boxoffice <tickets@example.org>")
	require.NoError(t, err)
	msg, err := from.renderMessage(m)
	require.NoError(t, err, what)
	var wire bytes.Buffer
	_, err = msg.WriteTo(&wire)
	require.NoError(t, err, what)
	got, err := netmail.ReadMessage(&wire)
	require.NoError(t, err, what)
	for name := range got.Header {
		require.Contains(t, []string{
			"From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Content-Type", "Content-Transfer-Encoding", "Auto-Submitted", "X-Auto-Response-Suppress", "X-Boxoffice-Mail",
			"List-Unsubscribe", "List-Unsubscribe-Post", "Precedence", "Reply-To",
		}, name, what)
	}
	to, err := got.Header.AddressList("To")
	require.NoError(t, err, what)
	require.Len(t, to, 1, what)
	require.Equal(t, "ada@example.org", to[0].Address, what)
}

// markup is what our templates of mails consist of, and the links that a mail may have.
var markup = hostile.Markup{
	Elements:   "html head meta title body table tbody tr td p strong br a span div img blockquote b i em u ul ol li",
	Attributes: "href src style align valign width height cellpadding cellspacing role lang charset name content alt",
	Values: map[string]string{
		"href": `^(https?://|mailto:|#ZgotmplZ$|[^:/?#]*([/?#]|$))`, "src": `^(cid:ticket-\d+@boxoffice|https://tickets\.example\.org/media/7/og\.jpg)$`, "style": `^[a-z0-9:;,.#%' /-]*$`,
	},
}

// TestHostileMailPage holds that the page of captured mails shows such mails as
// text, and in a frame that can do nothing.
func TestHostileMailPage(t *testing.T) {
	t.Parallel()
	for _, text := range hostile.Texts {
		c, _ := capture(t)
		m := poisoned(t, text, English)["order_confirmation.online"]
		m.Subject = text // as an older capture may have it
		require.NoError(t, c.Send(t.Context(), m))
		for _, name := range []string{"", sole(t, c).Name} {
			body := string(show(c, name).Response.Body())
			root, err := html.Parse(strings.NewReader(body))
			require.NoError(t, err)
			for n := range root.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				require.NotContains(t, strings.Fields("script svg img object embed form input base animate b i"), n.Data, text)
				for _, a := range n.Attr {
					require.NotRegexp(t, `^on`, a.Key, text)
					if a.Key == "href" {
						require.Regexp(t, `^/dev/mail(/[0-9A-Za-z._-]+)?$`, a.Val, text)
					}
					if n.Data == "iframe" && a.Key == "sandbox" {
						require.Empty(t, a.Val, text)
					}
				}
			}
		}
	}
}

// TestCutLinks makes sure that what cuts a link in two does not bring it through: a character that nobody sees,
// which something removes later, or the border of an element.
func TestCutLinks(t *testing.T) {
	t.Parallel()
	for _, cut := range []string{"evil.c\u00ADom", "evil.c\u200Bom", "evil.\u200Bcom", "evil\u2060.com", "https:\u200B//evil.com", "me\u200B@evil.com"} {
		got := oneLine(Unlinked(cut))
		require.NotContains(t, got, "evil.com", "%q", cut)
		require.NotContains(t, got, "//", "%q", cut)
		require.NotContains(t, got, "@", "%q", cut)
	}
	for _, cut := range []string{"evil.c<b>om</b>", "evil.<b>com</b>", "<i>evil.c</i>om", "evil<b>.com</b>", "evil.c&#173;om", "https:/<b>/evil.com</b>"} {
		safe := UnlinkedHTML(Sanitize(cut))
		got := strings.Join(plainText(safe), "\n")
		require.NotContains(t, got, "evil.com", "%q is %q", cut, safe)
		require.NotContains(t, got, "//", "%q is %q", cut, safe)
	}
}
