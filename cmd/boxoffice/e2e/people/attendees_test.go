package people

import (
	"encoding/csv"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// attending waits until an event has so many attendees of a filter, and lists them.
func attending(s *nodetest.Shop, event, filter string, n int) nodetest.Answer {
	s.T.Helper()
	var a nodetest.Answer
	s.Becomes(strconv.Itoa(n), func() string {
		a = s.Own("GET", "/organizer/events/"+event+"/attendees"+filter, nil).Is(200, "")
		return strconv.Itoa(len(a.Data("items").([]any)))
	})
	return a
}

// TestAttendees lists who attends an event, by all that one can ask for.
func TestAttendees(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100), nodetest.TypeBody(0, 100))
	lines := nodetest.Lines(ids[0], 2, ids[1], 1)
	lines[0]["attendeeName"], lines[0]["attendeeEmail"] = "Eve Stone", "eve@example.org"
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "guestName": "Ada Obi", "items": lines}).Is(201, "")
	a := attending(s, event, "", 3)
	require.Equal(t, []any{o.Data("tickets.2.id"), o.Data("tickets.2.id"), ids[1], "Ada Obi", "ada@example.org", "issued", []any{}, nil}, []any{
		a.Data("items.0.id"), a.Data("items.0.ticketId"), a.Data("items.0.ticketTypeId"), a.Data("items.0.name"), a.Data("items.0.email"), a.Data("items.0.status"), a.Data("items.0.tags"), a.Data("items.0.checkedInAt"),
	})
	require.Equal(t, []any{"Eve Stone", "eve@example.org", "ada@example.org"}, []any{a.Data("items.1.name"), a.Data("items.1.email"), a.Data("items.1.holder.email")})
	require.NotContains(t, a.Keys("items.0"), "code")
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.0.qr"), "d1").Str("status"))
	attending(s, event, "?status=checked_in", 1)
	now := url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	for filter, n := range map[string]int{
		"?q=EVE": 2, "?q=obi": 3, "?q=%25": 0, "?status=issued": 2, "?status=refunded": 0, "?ticketTypeId=" + ids[1]: 1, "?tag=press": 0,
		"?checkedIn=true": 1, "?checkedIn=false": 2, "?updatedSince=2020-01-01T00:00:00Z": 3, "?updatedSince=" + now: 0, "?q=eve&checkedIn=false": 1,
	} {
		require.Len(t, s.Own("GET", "/organizer/events/"+event+"/attendees"+filter, nil).Is(200, "").Data("items"), n, filter)
	}
	page := attending(s, event, "?limit=2", 2)
	rest := attending(s, event, "?limit=2&cursor="+page.Str("nextCursor"), 1)
	require.Equal(t, []any{o.Data("tickets.0.id"), "checked_in", nil}, []any{rest.Data("items.0.id"), rest.Data("items.0.status"), rest.Data("nextCursor")})
}

// TestEditAttendee changes who attends with a ticket, until it changes hands.
func TestEditAttendee(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, o := s.FreeTickets(nil, 1)
	attending(s, event, "", 1)
	id, path := o.Str("tickets.0.id"), "/organizer/events/"+event+"/attendees/"+o.Str("tickets.0.id")
	a := s.Own("PUT", path, nodetest.Object{"name": "New Name", "email": "new@example.org"}).Is(200, "")
	require.Equal(t, []any{"New Name", "new@example.org", o.Data("buyer.email")}, []any{a.Data("name"), a.Data("email"), a.Data("holder.email")})
	require.Equal(t, a.Data(""), s.Own("GET", path, nil).Is(200, "").Data(""))
	a = s.Own("PUT", path, nodetest.Object{"name": nil}).Is(200, "")
	require.Equal(t, []any{nil, "new@example.org"}, []any{a.Data("name"), a.Data("email")})
	for _, f := range []field{{"email", "x", "", "format"}, {"email", nil, "", "null"}, {"name", nodetest.Text(201), "", "max_length"}} {
		s.Own("PUT", path, nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	began := time.Now()
	s.Call("POST", "/tickets/"+id+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "toName": "Bob", "token": o.Str("accessToken")}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	a = attending(s, event, "?q=bob", 1)
	require.Equal(t, []any{"Bob", "bob@example.org", "bob@example.org"}, []any{a.Data("items.0.name"), a.Data("items.0.email"), a.Data("items.0.holder.email")})
}

// TestAttendeesRefused asks for attendees who are not there, or not the caller's.
func TestAttendeesRefused(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, o := s.FreeTickets(nil, 1)
	path := "/organizer/events/" + event + "/attendees"
	other := s.Register(s.Email("other"))
	other.Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
	other.Own("GET", path+"/"+o.Str("tickets.0.id"), nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("GET", path+"/"+o.Str("id"), nil).Is(404, "TICKET_NOT_FOUND")
	s.Own("PUT", path+"/"+o.Str("id"), nodetest.Object{"name": "x"}).Is(404, "TICKET_NOT_FOUND")
	s.Own("GET", path+"?ticketTypeId="+o.Str("id"), nil).Is(404, "TICKET_TYPE_NOT_FOUND")
	s.Own("GET", path+"?status=x", nil).Invalid("status", "enum")
	s.Own("GET", path+"?cursor=x", nil).Invalid("cursor", "format")
	s.Call("GET", path, nil).Is(401, "UNAUTHORIZED")
}

// TestAttendeesFile writes attendees into a file, whose cells no spreadsheet calculates.
func TestAttendeesFile(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, 2000), nodetest.Object{"maxPerOrder": 100, "maxPerCustomer": 1000}))
	for i, name := range []string{"=1+1", "+1", "-1", "@x", "plain, \"quoted\""} {
		lines := nodetest.Lines(ids[0], 1)
		lines[0]["attendeeName"] = name
		s.Call("POST", "/orders", nodetest.Object{"guestEmail": "a" + strconv.Itoa(i) + "@example.org", "items": lines}).Is(201, "")
	}
	for range 5 { // more than a page
		s.Call("POST", "/orders", nodetest.Object{"guestEmail": "many@example.org", "items": nodetest.Lines(ids[0], 100)}).Is(201, "")
	}
	path := "/organizer/events/" + event + "/attendees.csv"
	var rows [][]string
	s.Becomes("506", func() string {
		r := s.Raw("GET", path, "", "", s.Bearer()...)
		require.Equal(t, []any{200, "text/csv; charset=utf-8", "attachment; filename=attendees.csv"}, []any{r.Status, r.Header.Get("Content-Type"), r.Header.Get("Content-Disposition")})
		var err error
		require.Equal(t, "\ufeffticketId", strings.SplitN(r.Body, ",", 2)[0], "spreadsheets know by the mark that it is UTF-8")
		rows, err = csv.NewReader(strings.NewReader(strings.TrimPrefix(r.Body, "\ufeff"))).ReadAll()
		require.NoError(t, err)
		return strconv.Itoa(len(rows))
	})
	require.Equal(t, []string{"ticketId", "name", "email"}, []string{rows[0][0], rows[0][4], rows[0][5]})
	var names []string
	for _, row := range rows[501:] {
		names = append(names, row[4])
	}
	require.Equal(t, []string{"plain, \"quoted\"", "'@x", "'-1", "'+1", "'=1+1"}, names)
	r := s.Raw("GET", path+"?q=quoted", "", "", s.Bearer()...)
	require.Equal(t, 2, strings.Count(r.Body, "\r\n"))
	s.Register(s.Email("other")).Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("GET", path+"?status=x", nil).Invalid("status", "enum")
}
