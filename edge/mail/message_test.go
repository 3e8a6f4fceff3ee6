package mail

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write what the templates come to into testdata, instead of comparing it")

// envelope is one with an id that no other has.
func envelope(to, name string) Envelope {
	return Envelope{ID: fmt.Sprintf("letter-%d", letters.Add(1)), To: to, Name: name}
}

var letters atomic.Int64

// berlin is a time on the clocks of Berlin.
func berlin(t testing.TB, text string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	require.NoError(t, err)
	return at
}

// concert is an event in a hall.
func concert(t testing.TB) *Event {
	t.Helper()
	return &Event{
		ID: "00000000-002a-8123-9123-456789abcdef", Revision: 7, Changed: time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC),
		Title: "Friday & Friends", Organizer: "My Club", Start: berlin(t, "2026-03-06 20:00"), End: berlin(t, "2026-03-06 23:30"),
		Doors: berlin(t, "2026-03-06 19:00"), Venue: "Arena", Address: "Street 1", City: "Berlin", Country: "DE", Hall: true,
	}
}

// course is a product that is not attended.
func course() *Event {
	return &Event{
		ID: "00000000-002b-8123-9123-456789abcdef", Title: "Knots", Digital: true, Link: "https://learn.example.org/knots?x=1&y=2",
		Note: "PIN: 12.34\r\nAsk <Eve>",
	}
}

// order is one of n tickets.
func order(n int) *Order {
	o := &Order{
		Number: "16-ABCDEFGHJKM", URL: "https://tickets.example.org/api/v1/orders/1?token=a-b_c", Count: n,
		Lines: []Line{{Name: "Floor", Quantity: int64(n), Price: "25.00 USD"}}, Fees: "2.50 USD", Total: "52.50 USD",
	}
	for i := range min(n, MaxTickets) {
		o.Tickets = append(o.Tickets, Ticket{Type: "Floor", Holder: "Ada <b>", Code: fmt.Sprintf("ABCDE%015d", i), Printed: fmt.Sprintf("p2.ABCDE%015d.MAC", i)})
	}
	return o
}

// samples has every mail there is, to somebody of a name.
func samples(t testing.TB, name string) map[string]Message {
	t.Helper()
	to := func() Envelope { return envelope("ada@example.org", name) }
	confirmed := func(o *Order, e *Event) Message {
		m, err := OrderConfirmation(to(), o, e)
		require.NoError(t, err)
		return m
	}
	attendee := func(o *Order, e *Event) Message {
		m, err := AttendeeTickets(to(), o, e)
		require.NoError(t, err)
		return m
	}
	free := &Order{
		Number: "16-ABCDEFGHJKM", URL: "https://tickets.example.org/api/v1/orders/1?token=a-b_c", Count: 1,
		Lines:   []Line{{Name: "Stalls", Quantity: 1}},
		Tickets: []Ticket{{Type: "Stalls", Section: "Left", Row: "C", Seat: "12", Code: "ABCDEF00000000000000", Printed: "p2.ABCDEF00000000000000.MAC"}},
	}
	knots := order(1)
	knots.Lines[0].Link, knots.Lines[0].Note = "https://example.org/files/7", "Unzip it."
	knots.WithdrawUntil = berlin(t, "2026-03-19 20:00")
	waived := order(1)
	waived.WaivedAt = berlin(t, "2026-03-05 20:00")
	off := concert(t)
	off.Cancelled = true
	rotating, links := concert(t), order(1)
	rotating.RotatingOnly = true
	links.Live, links.PDF, links.ICS = "https://tickets.example.org/o/1#token=a-b_c", "https://tickets.example.org/api/v1/orders/1/tickets.pdf?token=a-b_c", "https://tickets.example.org/api/v1/orders/1/calendar.ics?token=a-b_c"
	table := &Event{Title: "A table", Organizer: "Friday & Friends", Hall: true, Visits: []Visit{
		{ID: "1", Start: berlin(t, "2026-03-05 20:00"), End: berlin(t, "2026-03-05 22:00"), Label: "Evening"},
		{ID: "2", Start: berlin(t, "2026-07-05 00:00"), End: berlin(t, "2026-07-06 00:00"), AllDay: true},
	}}
	booked, moved := order(2), *table
	booked.Tickets[0].Visit, booked.Tickets[1].Visit, moved.Visits = &table.Visits[0], &table.Visits[1], table.Visits[:1]
	webinar, was := concert(t), concert(t)
	webinar.Hall, webinar.Online, webinar.Link, webinar.Doors = false, true, "https://meet.example.org/7", time.Time{}
	was.Title, was.Start, was.End, was.Venue = "Thursday & Friends", berlin(t, "2026-03-05 20:00"), berlin(t, "2026-03-06 02:00"), ""
	return map[string]Message{
		"login_code":                  LoginCode(to(), "123456"),
		"login_code.nameless":         LoginCode(envelope("ada@example.org", ""), "123456"),
		"password_reset":              PasswordReset(to(), "https://tickets.example.org/reset?token=a-b_c&x=1"),
		"invitation":                  Invitation(to(), "Friday & Friends", "admin"),
		"password_changed":            PasswordChanged(to()),
		"email_confirmation":          EmailConfirmation(envelope("ada@example.org", ""), "https://tickets.example.org/email/confirm#token=a-b_c"),
		"account_taken":               AccountTaken(to()),
		"two_factor_changed.on":       TwoFactorChanged(to(), true),
		"two_factor_changed.off":      TwoFactorChanged(to(), false),
		"order_confirmation":          confirmed(order(2), concert(t)),
		"order_confirmation.free":     confirmed(free, concert(t)),
		"order_confirmation.many":     confirmed(order(100), concert(t)),
		"order_confirmation.online":   confirmed(order(1), webinar),
		"order_confirmation.digital":  confirmed(knots, course()),
		"order_confirmation.rotating": confirmed(links, rotating),
		"order_confirmation.off":      confirmed(order(1), off),
		"order_confirmation.booked":   confirmed(booked, table),
		"attendee_tickets.rotating":   attendee(order(2), rotating),
		"order_confirmation.waived":   confirmed(waived, course()),
		"attendee_tickets":            attendee(order(2), concert(t)),
		"following":                   Following(to(), "Friday & Friends", "https://tickets.example.org/follow#token=a-b_c", ending),
		"event_published":             EventPublished(to(), concert(t), "https://tickets.example.org/events/friday", ending),
		"event_published.digital":     EventPublished(to(), course(), "https://tickets.example.org/events/knots", ending),
		"broadcast":                   Broadcast(to(), concert(t), "Doors open <early>", Sanitize("<p>Doors open <em>early</em>.</blockquote><script>alert(1)</script></p><p>See <a href=\"https://example.org/a?b=1&c=2\" onclick=\"x()\">the map</a> <a href=\"javascript:x\">x</a></p>"), "reply+a", ending),
		"broadcast.plain":             Broadcast(to(), concert(t), "Doors", Sanitize("1 < 2 & 3\nand more"), "reply+a", ending),
		"contact":                     Contact(to(), "Friday & Friends", "Your <b>seats</b>", "You sit in the front row now.\n\nSee www.example.org", "hello@club.example"),
		"transfer_offered":            TransferOffered(to(), "bob@example.org", "https://tickets.example.org/transfer#token=a-b_c", concert(t)),
		"waitlist_confirm":            WaitlistConfirm(to(), 2, "https://tickets.example.org/waitlist/confirm#token=a-b_c", Unsubscribe{Page: "https://tickets.example.org/unsubscribe#token=d", Post: "https://tickets.example.org/api/v1/community/unsubscribe/d"}, concert(t)),
		"waitlist_joined":             WaitlistJoined(to(), 1, "https://tickets.example.org/waitlist#token=a-b_c", concert(t)),
		"waitlist_joined.many":        WaitlistJoined(to(), 3, "https://tickets.example.org/waitlist#token=a-b_c", concert(t)),
		"waitlist_offered":            WaitlistOffered(to(), "Stalls & <b>more</b>", 1, "", berlin(t, "2026-03-05 20:00"), "https://tickets.example.org/waitlist#token=a-b_c", concert(t)),
		"waitlist_offered.many":       WaitlistOffered(to(), "Stalls", 3, "31.50 USD", berlin(t, "2026-03-05 20:00"), "https://tickets.example.org/waitlist#token=a-b_c", concert(t)),
		"waitlist_expired":            WaitlistExpired(to(), concert(t)),
		"payment_seen":                PaymentSeen(to(), order(2), concert(t), Coins{Ticker: "BTC", Arrived: "0", Asked: "0.00105"}, berlin(t, "2026-03-05 20:00")),
		"payment_seen.short":          PaymentSeen(to(), order(2), concert(t), Coins{Ticker: "BTC", Arrived: "0.0005", Asked: "0.00105", Missing: "0.00055"}, berlin(t, "2026-03-05 20:00")),
		"order_cancelled":             OrderCancelled(to(), order(2), concert(t)),
		"order_withdrawn":             OrderWithdrawn(to(), order(2), course(), "52.50 USD", 2, berlin(t, "2026-03-05 20:00")),
		"order_withdrawn.free":        OrderWithdrawn(to(), order(1), course(), "", 1, berlin(t, "2026-03-05 20:00")),
		"refund_due.granted":          RefundDue(to(), order(2), concert(t), "52.50 USD", "granted"),
		"refund_due.granted.free":     RefundDue(to(), order(2), concert(t), "", "granted"),
		"refund_due.passed_on":        RefundDue(to(), &Order{}, concert(t), "52.50 USD", "passed_on"),
		"refund_due.late":             RefundDue(to(), order(2), concert(t), "52.50 USD", "late"),
		"refund_due.underpaid":        RefundDue(to(), order(2), concert(t), "52.50 USD", "underpaid"),
		"refund_due.twice":            RefundDue(to(), order(2), concert(t), "52.50 USD", "twice"),
		"refund_due.cancelled":        RefundDue(to(), order(2), concert(t), "52.50 USD", "cancelled"),
		"refund_due.overpaid":         RefundDue(to(), order(2), concert(t), "1.50 USD", "overpaid"),
		"refund_due.currency":         RefundDue(to(), order(2), concert(t), "52.50 NGN", "currency"),
		"refund_due.deposit":          RefundDue(to(), order(2), concert(t), "52.50 USD", "deposit"),
		"ticket_rescheduled":          TicketRescheduled(to(), order(2), &moved),
		"refund_requested":            RefundRequested(to(), order(2), concert(t), "52.50 USD"),
		"refund_requested.passed_on":  RefundRequested(to(), &Order{}, concert(t), "52.50 USD"),
		"refund_denied":               RefundDenied(to(), order(2), concert(t), "52.50 USD", ""),
		"refund_denied.reason":        RefundDenied(to(), order(2), concert(t), "52.50 USD", "It <b>takes</b> place.\n\nSee www.example.org"),
		"refund_processed":            RefundProcessed(to(), order(2), concert(t), "52.50 USD"),
		"event_changed":               EventChanged(to(), was, concert(t)),
		"event_changed.online":        EventChanged(to(), concert(t), webinar),
		"event_cancelled":             EventCancelled(to(), off, order(1), "https://tickets.example.org/api/v1/users/me/refunds", ""),
		"event_cancelled.reason":      EventCancelled(to(), off, nil, "https://tickets.example.org/api/v1/users/me/refunds", "The artist <b>is</b> ill.\n\nSee www.example.org"),

		"webhook_disabled.gone":      WebhookDisabled(to(), "Friday & Friends", "Book<i>keeping", "42", true),
		"webhook_disabled.exhausted": WebhookDisabled(to(), "Friday & Friends", "hooks.example.org", "42", false),
	}
}

// ending is how the bulk mails of these tests end.
var ending = Unsubscribe{Page: "https://tickets.example.org/unsubscribe#token=a-b_c", Post: "https://tickets.example.org/api/v1/community/unsubscribe/a-b_c"}

func TestMessages(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for name, m := range samples(t, "Ada <b>Lovelace</b>") {
		kinds[m.Kind] = true
		require.True(t, strings.HasPrefix(name, m.Kind), name)
		require.NotContains(t, m.HTML, "<b>", "%s: a name is not markup", name)
		got := "Subject: " + m.Subject + "\n\n" + m.Text + "\n" + m.HTML
		if m.Calendar != nil {
			got += "\n" + strings.ReplaceAll(string(m.Calendar.Body), "\r\n", "\n")
		}
		path := filepath.Join("testdata", name+".golden")
		if *rewrite {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got, name)
	}
	for kind := range forms {
		require.True(t, kinds[kind], "no sample of %s", kind)
	}
}

// TestLabel: nothing that a stranger typed becomes a link or ends a line.
func TestLabel(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Ada Lovelace":                   "Ada Lovelace",
		"J. R. R. Tolkien":               "J. R. R. Tolkien",
		"AC/DC & Sons: Live":             "AC/DC & Sons: Live",
		"Zoë 🎟 Ünal":                     "Zoë 🎟 Ünal",
		"see https://evil.example/a?b=c": "see https evil. example/a?b=c",
		"WWW.Evil.Example":               "WWW. Evil. Example",
		"a.bb.cc.dd":                     "a. bb. cc. dd",
		"10.0.12.13":                     "10. 0. 12. 13",
		"J.R.R. Tolkien":                 "J. R. R. Tolkien",
		"evil。example":                   "evil. example",
		"bob@evil.example":               "bob at evil. example",
		"mailto:x":                       "mailto:x",
		"Ada\r\nBcc: eve@evil.example":   "Ada Bcc: eve at evil. example",
		"a\x00b\u2028c\u202ed\u200be":    "ab cde",
		"  \t ":                          "",
		"bad \xff utf8":                  "bad utf8",
		strings.Repeat("é", 101):         strings.Repeat("é", 100) + "…",
	} {
		require.Equal(t, want, label(in))
	}
}

func TestRoomForEveryName(t *testing.T) {
	t.Parallel()
	m := Invitation(envelope("ada@example.org", ""), "Evil\r\nBcc: eve@evil.example\r\n\r\n<script>", "admin\nX: y")
	require.NotContains(t, m.Subject, "\n")
	require.NotContains(t, m.Subject, "\r")
	require.NotContains(t, m.HTML, "<script>")
}
