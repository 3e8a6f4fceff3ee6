package mail

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"
	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"
)

// TestPictures: a ticket that is scanned has its code in a picture of the mail,
// and others have none.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, MaxTickets, 2_000} {
		o := order(n)
		m, err := OrderConfirmation(envelope("ada@example.org", ""), o, concert(t))
		require.NoError(t, err)
		require.Len(t, m.Pictures, min(n, MaxTickets))
		c, _ := capture(t)
		require.NoError(t, c.Send(t.Context(), m))
		got := sole(t, c)
		require.Len(t, got.Pictures, min(n, MaxTickets))
		for i, ticket := range o.Tickets {
			cid := fmt.Sprintf("ticket-%d@boxoffice", i+1)
			require.Contains(t, got.HTML, `src="cid:`+cid+`"`)
			require.NotContains(t, got.Shown(), cid)
			require.Equal(t, ticket.Printed, scan(t, got.Pictures[cid]), "what a gate reads of paper")
		}
		require.Equal(t, n > MaxTickets, strings.Contains(got.Text, "the first of your"))
	}
	for _, e := range []*Event{course(), {Title: "Webinar", Online: true}} {
		m, err := OrderConfirmation(envelope("ada@example.org", ""), order(1), e)
		require.NoError(t, err)
		require.Empty(t, m.Pictures)
		require.Nil(t, m.Calendar)
		require.NotContains(t, m.Text, "ABCDE000000000000000", "no door asks for the code, and the page of the order does not show it either")
	}
}

// scan reads a QR code as a gate does, by a decoder that shares nothing with what drew it.
func scan(t *testing.T, picture []byte) string {
	t.Helper()
	shown, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	bitmap, err := gozxing.NewBinaryBitmapFromImage(shown)
	require.NoError(t, err)
	read, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	require.NoError(t, err)
	return read.GetText()
}

// TestCalendar reads the file back as a calendar does: with the clocks that the
// file itself describes.
func TestCalendar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, start, end string }{
		{"Europe/Berlin", "2026-03-06 20:00", "2026-03-06 23:30"},
		{"Europe/Berlin", "2026-07-06 20:00", "2026-07-06 23:30"},
		{"Europe/Berlin", "2026-03-28 22:00", "2026-03-29 05:00"}, // clocks go forward
		{"Europe/Berlin", "2026-10-24 22:00", "2026-10-25 05:00"}, // and back
		{"Europe/Berlin", "2026-01-01 00:00", "2027-12-31 23:59"}, // four times
		{"Africa/Lagos", "2026-03-06 20:00", "2026-03-06 23:30"},
		{"America/New_York", "2026-11-01 00:30", "2026-11-01 03:30"},
		{"Asia/Kolkata", "2026-11-01 00:30", "2026-11-01 03:30"},
		{"Australia/Lord_Howe", "2026-04-05 00:30", "2026-04-05 09:30"}, // by half an hour
		{"Pacific/Apia", "2026-04-05 00:30", "2026-04-05 09:30"},
		{"UTC", "2026-04-05 00:30", "2026-04-05 09:30"},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		e := concert(t)
		e.Start, err = time.ParseInLocation("2006-01-02 15:04", c.start, zone)
		require.NoError(t, err)
		e.End, err = time.ParseInLocation("2006-01-02 15:04", c.end, zone)
		require.NoError(t, err)
		file := e.Calendar(English)
		cal, err := ics.ParseCalendar(bytes.NewReader(file.Body))
		require.NoError(t, err)
		require.Len(t, cal.Events(), 1)
		got := cal.Events()[0]
		require.Equal(t, e.ID, got.Id())
		require.Equal(t, []string{c.zone}, got.GetProperty(ics.ComponentPropertyDtStart).ICalParameters["TZID"])
		require.Equal(t, e.Start.UTC(), read(t, cal, got.GetProperty(ics.ComponentPropertyDtStart).Value), "%+v", c)
		require.Equal(t, e.End.UTC(), read(t, cal, got.GetProperty(ics.ComponentPropertyDtEnd).Value), "%+v\n%s", c, file.Body)
		for line := range strings.SplitSeq(strings.TrimSuffix(string(file.Body), "\r\n"), "\r\n") {
			require.LessOrEqual(t, len(line), 75)
			require.NotContains(t, line, "\n")
		}
	}
}

// TestHourThatComesTwice has an event in the hour that is repeated when clocks are put back: its file
// says UTC, and its words say which of the two times each is.
func TestHourThatComesTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, start, end, file, words string }{
		{"Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z", "20261025T004500Z 20261025T011500Z", "02:45 UTC+02:00 – 02:15 UTC+01:00"},
		{"Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T01:30:00Z", "20261024T200000Z 20261025T013000Z", "Saturday, 24 October 2026, 22:00 – Sunday, 25 October 2026, 02:30 UTC+01:00"},
		{"America/New_York", "2026-11-01T05:59:00Z", "2026-11-01T07:00:00Z", "20261101T055900Z 20261101T070000Z", "01:59 UTC-04:00 – 02:00 ("},
		{"Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-04T15:30:00Z", "20260404T144500Z 20260404T153000Z", "01:45 UTC+11:00 – 02:00 ("},
		{"Europe/Berlin", "2026-10-24T23:59:00Z", "2026-10-25T02:00:00Z", "20261025T015900 20261025T030000", "01:59 – 03:00 ("},
		{"Europe/Berlin", "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "20260329T015900 20260329T030000", "01:59 – 03:00 ("},
		{"Asia/Kolkata", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z", "20261025T061500 20261025T064500", "06:15 – 06:45 ("},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		e := concert(t)
		for to, text := range map[*time.Time]string{&e.Start: c.start, &e.End: c.end} {
			at, err := time.Parse(time.RFC3339, text)
			require.NoError(t, err)
			*to = at.In(zone)
		}
		require.Contains(t, e.When(English), c.words)
		cal, err := ics.ParseCalendar(bytes.NewReader(e.Calendar(English).Body))
		require.NoError(t, err)
		got := cal.Events()[0]
		require.Equal(t, c.file, got.GetProperty(ics.ComponentPropertyDtStart).Value+" "+got.GetProperty(ics.ComponentPropertyDtEnd).Value, c.start)
	}
}

// read is the moment of a local time in a file, by the file's own time zone: of
// the observances that have begun, the last one counts.
func read(t *testing.T, cal *ics.Calendar, local string) time.Time {
	t.Helper()
	const layout = "20060102T150405"
	at, err := time.Parse(layout, local)
	require.NoError(t, err)
	require.Len(t, cal.Timezones(), 1)
	offset, began := "", time.Time{}
	for _, c := range cal.Timezones()[0].Components {
		var of *ics.ComponentBase
		switch c := c.(type) {
		case *ics.Standard:
			of = &c.ComponentBase
		case *ics.Daylight:
			of = &c.ComponentBase
		}
		from, err := time.Parse(layout, of.GetProperty(ics.ComponentPropertyDtStart).Value)
		require.NoError(t, err)
		if !from.After(at) && (began.IsZero() || from.After(began)) {
			began, offset = from, of.GetProperty("TZOFFSETTO").Value
		}
	}
	got, err := time.Parse(layout+"-0700", local+offset)
	require.NoError(t, err, "no observance for %s", local)
	return got.UTC()
}

// typed are texts as an organizer or a buyer may type them.
var typed = []string{
	"x\r\nBcc: eve@evil.example", "x\nBcc: eve@evil.example", "x\rBcc: eve@evil.example", "x\r\n\r\nbody", "x\r\n Bcc: eve@evil.example",
	"x\n.\nQUIT\n", "x\u2028Bcc: eve@evil.example", "x\x85Bcc: eve@evil.example", "x\u0085Bcc:", "x\x0bBcc:", "x\x00y",
	`" <eve@evil.example>, "`, "<eve@evil.example>", "eve@evil.example", "Ada, eve@evil.example",
	"=?utf-8?q?x=0D=0ABcc:_eve@evil.example?=", "=?utf-8?B?DQpCY2M6IGV2ZUBldmlsLmV4YW1wbGU=?=", "=?utf-8?q?=E2=80=AEtxt.exe?=", "=?=?utf-8?q?x?=",
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "</title><script>alert(1)</script>", "<!--", "]]>",
	"{{.Code}}", `{{template "layout.html" .}}`, "javascript:alert(1)", "https://evil.example/win", "evil.example", "www。evil。example",
	"\u202egpj.exe", "\u2066\u2067x\u2069", "\u200fabc\u200e", "a\u200bb\ufeffc", "\xff\xfe", "\u0000", "\U000e0041\U000e0042", "\ufffd",
	"x\r\nEND:VEVENT\r\nBEGIN:VALARM\r\nACTION:AUDIO\r\nEND:VALARM", `x\nATTENDEE:mailto:eve@evil.example`, "x;ALTREP=\"cid:1\":y", "x\\", "x,y;z:w",
	strings.Repeat("long ", 500), strings.Repeat("w", 3_000), strings.Repeat("é", 3_000), strings.Repeat("\U0001f3ab", 300), " ", "\t\r\n",
}

// TestHostile: whatever anybody has typed anywhere, a mail goes to one person, its
// headers are ours, its HTML has no markup but ours, and its calendar file no
// entry but ours.
func TestHostile(t *testing.T) {
	t.Parallel()
	clean := lines(t, concert(t).Calendar(English))
	for _, text := range typed {
		c, _ := capture(t)
		for _, m := range with(t, text) {
			require.NoError(t, c.Send(t.Context(), m), "%q", text)
			got := captured(t, c, m.ID)
			want := []string{
				"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To", "X-Auto-Response-Suppress", "X-Boxoffice-Mail",
			}
			require.ElementsMatch(t, want, keys(got.Header), "%s with %q", m.Kind, text)
			to, err := got.Header.AddressList("To")
			require.NoError(t, err)
			require.Len(t, to, 1)
			require.Equal(t, "ada@example.org", to[0].Address)
			require.Equal(t, []string{m.Subject, m.Text, m.HTML}, []string{got.Subject, got.Text, got.HTML}, "%q", text)

			for _, r := range got.Subject + got.Text + got.HTML {
				require.True(t, r == '\n' || unicode.IsPrint(r), "%s with %q: %q", m.Kind, text, r)
			}
			for _, shown := range []string{got.Subject, got.Text} {
				for line := range strings.SplitSeq(shown, "\n") {
					require.False(t, strings.HasPrefix(line, "Bcc:"), "%s with %q", m.Kind, text)
				}
				require.NotContains(t, shown, "=?")
				require.NotContains(t, shown, "evil.example", "%s with %q", m.Kind, text)
			}
			for _, markup := range []string{"<script", "<img src=x", "onerror=alert(1)>", "' onmouseover='", "<!--", "javascript:alert(1)\"", `href="https://evil`} {
				require.NotContains(t, got.HTML, markup, "%s with %q", m.Kind, text)
			}
			if m.Calendar != nil {
				require.Equal(t, clean, lines(t, m.Calendar), "%s with %q", m.Kind, text)
			}
		}
	}
}

// with are all mails that show what somebody typed, with a text in each such
// place.
func with(t testing.TB, text string) []Message {
	t.Helper()
	to := func() Envelope { return envelope("ada@example.org", text) }
	e, was := concert(t), concert(t)
	e.Title, e.Organizer, e.Venue, e.Address, e.City, e.Country = text, text, text, text, text, text
	e.Link = strings.ReplaceAll(text, "evil.example", "good.example") // which is what was bought
	was.Title, was.Venue = "x"+text, "x"+text
	o := order(1)
	o.Lines = []Line{{Name: text, Quantity: 1, Link: e.Link}}
	o.Tickets[0].Type, o.Tickets[0].Holder, o.Tickets[0].Section, o.Tickets[0].Row, o.Tickets[0].Seat = text, text, text, text, text
	confirmed, err := OrderConfirmation(to(), o, e)
	require.NoError(t, err)
	return []Message{
		confirmed, OrderCancelled(to(), o, e), RefundDue(to(), o, e, Back{Amount: Money{"1.00", "USD"}, Reason: text}), RefundProcessed(to(), o, e, Back{Amount: Money{"1.00", "USD"}}),
		TicketRescheduled(to(), o, e), RefundRequested(to(), o, e, Money{"1.00", "USD"}, refunds), RefundDenied(to(), o, e, Money{"1.00", "USD"}, text),
		EventChanged(to(), was, e, o, e.Start, refunds), EventCancelled(to(), e, Cancelled{Orders: []*Order{o}, IsPaid: true, Refunds: "https://tickets.example.org/refunds"}), Invitation(to(), text, text, "https://tickets.example.org/me"), WebhookDisabled(to(), text, text, "7", true, "https://tickets.example.org/organizer/settings/webhooks"),
		LoginCode(to(), "123456"), PasswordReset(to(), "https://example.org"), PasswordChanged(to(), "https://tickets.example.org/organizer"), TwoFactorChanged(to(), true, "https://tickets.example.org/organizer"),
	}
}

// captured is a mail by its id.
func captured(t testing.TB, c *Capture, id string) *Captured {
	t.Helper()
	names, err := c.listFileNames()
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "-"+id+".eml") {
			m, err := c.Read(name)
			require.NoError(t, err)
			return m
		}
	}
	require.Fail(t, "no such mail", id)
	return nil
}

// lines are what a calendar file has, without what the event is called and where
// it is.
func lines(t testing.TB, c *Calendar) []string {
	t.Helper()
	cal, err := ics.ParseCalendar(bytes.NewReader(c.Body))
	require.NoError(t, err)
	var out []string
	for line := range strings.SplitSeq(cal.Serialize(), "\n") {
		name, _, _ := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, " "), name == "METHOD", name == "STATUS", name == "SUMMARY", name == "LOCATION":
		default:
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// TestNotes: a note keeps what it says, line by line; a link of another kind than
// the web's is none.
func TestNotes(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"PIN: a.b@c", "<x> = ?y"}, splitNote("PIN: a.b@c\r\n\r\n <x> =?y\u202e\n"))
	require.Len(t, splitNote(strings.Repeat("x\n", 1_000)), maxNote)
	for text, want := range map[string]string{
		"https://meet.example.org/7?a=b&c=d#e": "https://meet.example.org/7?a=b&c=d#e", "http://example.org": "http://example.org",
		"javascript:alert(1)": "", "data:text/html,x": "", "//example.org": "", "/media/7": "", "": "", "https://": "",
		"https://example.org/ x": "", "https://example.org/\r\nx": "", "https://example.org/\"><b>": "", "ftp://example.org": "",
	} {
		require.Equal(t, want, webLink(text), "%q", text)
	}
}
