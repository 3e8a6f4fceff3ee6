package catalog

import (
	"net/http"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// ebook is an event that delivers what a link leads to.
func ebook() nodetest.Object {
	return nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": "https://example.org/vault"}
}

// TestOrganizerCalendar subscribes to what an organizer has on: it shows what everybody may see, follows what is
// moved and cancelled under the ids that the calendar files of orders have, and is not sent twice.
func TestOrganizerCalendar(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	title := func(s string) nodetest.Object { return nodetest.Object{"title": s} }
	kept, ids := s.Sell(nodetest.With(title("Jazz; on the quay, with a title that is longer than one line of a calendar file may be"), nodetest.Object{"timezone": "Europe/Berlin"}), nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free"}))
	moved, _ := s.Sell(nodetest.With(title("Blues"), nodetest.Object{"timezone": "America/New_York"}), nodetest.TypeBody(10, 10))
	off, _ := s.Sell(title("Called off"), nodetest.TypeBody(10, 10))
	over, _ := s.Sell(title("Was on"), nodetest.TypeBody(10, 10))
	s.Sell(nodetest.With(title("For members"), nodetest.Object{"visibility": "unlisted"}), nodetest.TypeBody(10, 10))
	s.Sell(nodetest.With(title("For nobody"), nodetest.Object{"visibility": "private"}), nodetest.TypeBody(10, 10))
	s.Sell(ebook(), nodetest.TypeBody(10, 10))
	s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), title("Draft"))).Is(201, "")
	reviewed := s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), title("Under review"))).Is(201, "").Str("id")
	s.Own("PUT", "/organizer/events/"+reviewed+"/status", nodetest.Object{"status": "review"}).Is(200, "")
	for _, status := range []string{"in_progress", "completed"} {
		s.Own("PUT", "/organizer/events/"+over+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	page := s.Call("GET", "/events/"+kept, nil).Is(200, "")
	path := "/by/" + page.Str("organizer.slug") + "/calendar.ics"

	res, file := s.Get(path) //nolint:bodyclose // Get closes it
	require.Equal(t, []any{200, "text/calendar; charset=utf-8"}, []any{res.StatusCode, res.Header.Get("Content-Type")})
	for line := range strings.SplitSeq(strings.TrimSuffix(file, "\r\n"), "\r\n") {
		require.LessOrEqual(t, len(line), 75)
		require.NotContains(t, line, "\n")
	}
	before := readProgram(t, file)
	require.Len(t, before, 4, file)
	require.Equal(t, page.Str("title"), before[kept].Summary)
	require.Equal(t, []string{"Europe/Berlin"}, before[kept].Start.ICalParameters["TZID"])
	require.Equal(t, []string{"America/New_York"}, before[moved].Start.ICalParameters["TZID"])
	require.Equal(t, strings.TrimSuffix(s.URL, "/api/v1")+"/e/"+page.Str("slug"), before[kept].URL)

	t.Log("the calendar file of an order has the same event")
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	_, own := s.Get("/api/v1/orders/" + o.Str("id") + "/calendar.ics?token=" + o.Str("accessToken")) //nolint:bodyclose // Get closes it
	require.Equal(t, before[kept].Revision, readProgram(t, own)[kept].Revision)

	t.Log("a calendar that has it is sent nothing")
	again, _ := s.Get(path, "If-None-Match", res.Header.Get("ETag")) //nolint:bodyclose // Get closes it
	require.Equal(t, http.StatusNotModified, again.StatusCode)

	t.Log("what is moved and what is cancelled keeps its id")
	later := time.Now().Add(60 * 24 * time.Hour).UTC().Truncate(time.Second)
	s.Own("PUT", "/organizer/events/"+moved, nodetest.Object{"startDate": later, "endDate": later.Add(2 * time.Hour)}).Is(200, "")
	s.Own("PUT", "/organizer/events/"+off+"/status", nodetest.Object{"status": "cancelled"}).Is(200, "")
	res, file = s.Get(path) //nolint:bodyclose // Get closes it
	require.Equal(t, 200, res.StatusCode)
	after := readProgram(t, file)
	require.Len(t, after, 4)
	require.Greater(t, after[moved].Revision, before[moved].Revision)
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	require.Equal(t, later.In(zone).Format("20060102T150405"), after[moved].Start.Value)
	require.Equal(t, "CONFIRMED", after[moved].Status)
	require.Equal(t, "CANCELLED", after[off].Status)
	require.Equal(t, before[kept], after[kept])

	t.Log("an organization that is none has no calendar")
	for _, none := range []string{"nobody", s.Org(), "%00", "%ff", strings.Repeat("a", 500)} {
		res, _ := s.Get("/by/" + none + "/calendar.ics") //nolint:bodyclose // Get closes it
		require.Equal(t, http.StatusNotFound, res.StatusCode, none)
	}
}

// listed is what a calendar shows of an event.
type listed struct {
	Summary, Status, URL, Changed string
	Revision                      string
	Start                         ics.IANAProperty
}

// readProgram reads a calendar file by the ids of its events.
func readProgram(t *testing.T, file string) map[string]listed {
	t.Helper()
	c, err := ics.ParseCalendar(strings.NewReader(file))
	require.NoError(t, err)
	got := make(map[string]listed)
	value := func(e *ics.VEvent, p ics.ComponentProperty) string {
		if v := e.GetProperty(p); v != nil {
			return v.Value
		}
		return ""
	}
	for _, e := range c.Events() {
		got[e.Id()] = listed{
			Summary: value(e, ics.ComponentPropertySummary), Status: value(e, ics.ComponentPropertyStatus), URL: value(e, ics.ComponentPropertyUrl),
			Changed: value(e, ics.ComponentPropertyLastModified), Revision: value(e, ics.ComponentPropertySequence), Start: *e.GetProperty(ics.ComponentPropertyDtStart),
		}
		require.NotEmpty(t, got[e.Id()].Changed)
	}
	return got
}
