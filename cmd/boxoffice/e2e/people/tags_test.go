package people

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestTags tags tickets as soon as they are sold, all of a request or none.
func TestTags(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, o := s.FreeTickets(nil, 3)
	id := func(i string) string { return o.Str("tickets." + i + ".id") }
	body := nodetest.Object{"orgId": s.Org(), "ticketIds": []string{id("0"), id("1"), id("0")}, "tag": " Press "}
	require.Equal(t, nodetest.Object{"tag": "press", "tickets": 2.0}, s.Own("POST", "/organizer/growth/tags", body).Is(200, "").Get("data"))
	s.Own("POST", "/organizer/growth/tags", nodetest.With(body, nodetest.Object{"tag": "early"})).Is(200, "")
	a := attending(s, event, "?tag=press", 2)
	require.Equal(t, []any{"press", "early"}, a.Data("items.0.tags"))
	whole := s.Own("GET", "/organizer/orders/"+o.Str("id"), nil).Is(200, "")
	require.Equal(t, []any{[]any{"press", "early"}, []any{}}, []any{whole.Data("tickets.0.tags"), whole.Data("tickets.2.tags")})
	require.NotContains(t, s.Order(o.Str("id"), o.Str("accessToken")).Keys("tickets.0"), "tags", "which are the organization's")
	gone := nodetest.With(body, nodetest.Object{"ticketIds": []string{id("0"), id("2")}})
	require.Equal(t, nodetest.Object{"removed": 1.0}, s.Own("DELETE", "/organizer/growth/tags", gone).Is(200, "").Get("data"))
	attending(s, event, "?tag=press", 1)

	half := nodetest.With(body, nodetest.Object{"tag": "half", "ticketIds": []string{id("2"), uuid.NewString()}})
	s.Own("POST", "/organizer/growth/tags", half).Is(404, "TICKET_NOT_FOUND")
	s.Own("DELETE", "/organizer/growth/tags", half).Is(404, "TICKET_NOT_FOUND")
	for _, nobodys := range []string{"nonsense", ""} {
		half["ticketIds"] = []string{id("2"), nobodys}
		s.Own("POST", "/organizer/growth/tags", half).Is(404, "TICKET_NOT_FOUND")
		s.Own("DELETE", "/organizer/growth/tags", half).Is(404, "TICKET_NOT_FOUND")
	}
	attending(s, event, "?tag=half", 0)
	eve := s.Register(s.Email("eve"))
	eve.Own("POST", "/organizer/growth/tags", body).Is(404, "NOT_FOUND")
	eve.Own("POST", "/organizer/growth/tags", nodetest.With(body, nodetest.Object{"orgId": eve.Org()})).Is(404, "TICKET_NOT_FOUND")
	for _, f := range []field{
		{"tag", nodetest.Text(61), "", "format"},
		{"tag", "no/slash", "", "format"},
		{"tag", nodetest.Absent, "", "required"},
		{"orgId", nodetest.Absent, "", "required"},
		{"ticketIds", []string{}, "", "min_items"},
		{"ticketIds", slices.Repeat([]string{id("0")}, 501), "", "max_items"},
		{"ticketIds", nodetest.Absent, "", "required"},
	} {
		s.Own("POST", "/organizer/growth/tags", nodetest.With(body, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
}
