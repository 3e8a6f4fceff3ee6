package mail

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	cents := 2500*n + 250
	o := &Order{
		Number: "16-ABCDEFGHJKM", URL: "https://tickets.example.org/api/v1/orders/1?token=a-b_c", Count: n,
		Lines: []Line{{Name: "Floor", Quantity: int64(n), Price: Money{"25.00", "USD"}}}, Fees: Money{"2.50", "USD"}, Total: Money{fmt.Sprintf("%d.%02d", cents/100, cents%100), "USD"},
	}
	for i := range min(n, MaxTickets) {
		o.Tickets = append(o.Tickets, Ticket{Type: "Floor", Holder: "Ada <b>", Code: fmt.Sprintf("ABCDE%015d", i), Printed: fmt.Sprintf("p2.ABCDE%015d.MAC", i)})
	}
	return o
}

// ending is how the bulk mails of these tests end.
var ending = Unsubscribe{Page: "https://tickets.example.org/unsubscribe#token=a-b_c", Post: "https://tickets.example.org/api/v1/community/unsubscribe/a-b_c"}

// TestMessages compares every mail of every product and state, in each language, with what was read
// and found good. A file has the subject and the text, and of the first mail of each kind the HTML.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, l := range Languages {
		all := samples(t, "Ada <b>Lovelace</b>", l)
		kinds := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			m := all[name]
			require.True(t, strings.HasPrefix(name, m.Kind), name)
			require.NotContains(t, m.HTML, "<b>", "%s: a name is not markup", name)
			got := "Subject: " + m.Subject + "\n\n" + m.Text
			if m.Calendar != nil {
				got += "\n" + strings.ReplaceAll(string(m.Calendar.Body), "\r\n", "\n")
			}
			compare(t, filepath.Join("testdata", l.String(), name+".golden"), got)
			if !kinds[m.Kind] {
				compare(t, filepath.Join("testdata", l.String(), m.Kind+".html"), m.HTML)
			}
			kinds[m.Kind] = true
		}
		for kind := range forms[l] {
			require.True(t, kinds[kind], "no sample of %s", kind)
		}
	}
}

// compare holds a text against a golden file.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path) //nolint:gosec // a path of ours
	require.NoError(t, err)
	require.Equal(t, string(want), got, path)
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
		"J.R.R. Tolkien":                 "J.R.R. Tolkien",
		"Nord e.V.":                      "Nord e.V.",
		"a.b.cc e.x1":                    "a.b. cc e. x1",
		"evil.भारत":                      "evil. भारत",
		"evil。example":                   "evil. example",
		"bob@evil.example":               "bob at evil. example",
		"mailto:x":                       "mailto:x",
		"Ada\r\nBcc: eve@evil.example":   "Ada Bcc: eve at evil. example",
		"a\x00b\u2028c\u202ed\u200be":    "ab cde",
		"  \t ":                          "",
		"bad \xff utf8":                  "bad utf8",
		strings.Repeat("é", 101):         strings.Repeat("é", 100) + "…",
	} {
		require.Equal(t, want, cleanLabel(in))
	}
}

func TestRoomForEveryName(t *testing.T) {
	t.Parallel()
	m := Invitation(envelope("ada@example.org", ""), "Evil\r\nBcc: eve@evil.example\r\n\r\n<script>", "admin\nX: y", "https://tickets.example.org/me")
	require.NotContains(t, m.Subject, "\n")
	require.NotContains(t, m.Subject, "\r")
	require.NotContains(t, m.HTML, "<script>")
}
