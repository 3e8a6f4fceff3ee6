package people

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestReports complains of an event, and has the organization and the platform answer.
func TestReports(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.AdminEmail, c.AdminPassword = "root@example.org", "correct horse" })
	root := s.As(s.Patient("POST", "/auth/login", nodetest.Object{"email": "root@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken"))
	event, _ := s.OnSale(nodetest.TypeBody(0, 100))
	bob := s.Buyer("bob@example.org")
	body := nodetest.Object{"category": "other", "description": "The door stayed shut.", "eventId": event, "evidenceUrls": []string{"https://example.org/a.png"}}
	report := func(changes nodetest.Object) nodetest.Answer {
		return bob.Own("POST", "/users/me/reports", nodetest.With(body, changes))
	}
	r := report(nil).Is(201, "")
	require.Equal(t, nodetest.Words("id category description subject evidenceUrls status resolution createdAt resolvedAt"), r.Keys(""))
	require.Equal(t, []any{"submitted", event, s.Org(), nil}, []any{r.Data("status"), r.Data("subject.eventId"), r.Data("subject.organizationId"), r.Data("resolution")})
	secret := report(nodetest.Object{"category": "fraud", "eventId": nodetest.Absent, "organizationId": s.Org()}).Is(201, "")
	require.Nil(t, secret.Data("subject.eventId"))
	slug := s.Own("GET", "/organizer/organizations/"+s.Org(), nil).Is(200, "").Str("organization.slug")
	require.Equal(t, s.Org(), report(nodetest.Object{"category": "harassment", "eventId": nodetest.Absent, "organizationId": slug}).Is(201, "").Str("subject.organizationId"))

	list := s.Own("GET", "/organizer/reports", nil).Is(200, "")
	require.Len(t, list.Data("items"), 1)
	require.Equal(t, []any{r.Str("id"), nil}, []any{list.Data("items.0.id"), list.Data("items.0.note")})
	require.NotContains(t, list.Keys("items.0"), "reporterEmail")
	all := root.Own("GET", "/admin/reports", nil).Is(200, "")
	require.Len(t, all.Data("items"), 2)
	require.Equal(t, []any{secret.Str("id"), "bob@example.org"}, []any{all.Data("items.1.id"), all.Data("items.1.reporterEmail")})
	answer := nodetest.Object{"resolution": "Paid back.", "note": "by hand"}
	s.Own("POST", "/organizer/reports/"+secret.Str("id")+"/resolve", answer).Is(404, "NOT_FOUND")
	root.Own("POST", "/admin/reports/"+r.Str("id")+"/resolve", answer).Refused(409, "CONFLICT", nodetest.Object{"status": "submitted"})
	done := s.Own("POST", "/organizer/reports/"+r.Str("id")+"/resolve", answer).Is(200, "")
	require.Equal(t, []any{"resolved", "Paid back.", "by hand"}, []any{done.Data("status"), done.Data("resolution"), done.Data("note")})
	s.Own("POST", "/organizer/reports/"+r.Str("id")+"/escalate", nil).Refused(409, "CONFLICT", nodetest.Object{"status": "resolved"})
	require.Equal(t, "dismissed", root.Own("POST", "/admin/reports/"+secret.Str("id")+"/resolve", nodetest.Object{"resolution": "dismissed"}).Is(200, "").Str("status"))
	root.Own("POST", "/admin/reports/"+uuid.NewString()+"/resolve", answer).Is(404, "NOT_FOUND")

	handed := report(nil).Is(201, "").Str("id")
	require.Equal(t, "escalated", s.Own("POST", "/organizer/reports/"+handed+"/escalate", nil).Is(200, "").Str("status"))
	s.Own("POST", "/organizer/reports/"+handed+"/resolve", answer).Refused(409, "CONFLICT", nodetest.Object{"status": "escalated"})
	require.Equal(t, handed, root.Own("GET", "/admin/reports?status=escalated", nil).Is(200, "").Str("items.0.id"))
	forgotten := report(nil).Is(201, "").Str("id")
	_, err := s.Pool().Exec(t.Context(), `UPDATE reports SET created_at = now() - interval '8 days' WHERE id = $1`, forgotten)
	require.NoError(t, err)
	s.Own("POST", "/organizer/reports/"+forgotten+"/resolve", answer).Refused(409, "CONFLICT", nodetest.Object{"status": "escalated"})
	require.Equal(t, "resolved", root.Own("POST", "/admin/reports/"+forgotten+"/resolve", answer).Is(200, "").Str("status"))
	require.Len(t, root.Own("GET", "/admin/reports", nil).Is(200, "").Data("items"), 4)

	for _, f := range []field{{"category", "x", "", "enum"}, {"description", nodetest.Text(19), "", "min_length"}, {"description", nodetest.Text(5001), "", "max_length"}, {"eventId", nodetest.Absent, "", "required"}} {
		report(nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	report(nodetest.Object{"eventId": uuid.NewString()}).Is(404, "EVENT_NOT_FOUND")
	report(nodetest.Object{"eventId": s.Draft(nil)}).Is(404, "EVENT_NOT_FOUND")
	t.Log("whoever knows a private event knows its id; its number can be guessed, and must not lead to the id")
	hidden := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"visibility": "private"}).Is(200, "").Str("numericId")
	report(nil).Is(201, "")
	report(nodetest.Object{"eventId": hidden}).Is(404, "EVENT_NOT_FOUND")
	report(nodetest.Object{"organizationId": "999999"}).Is(404, "NOT_FOUND")
	s.Register("kim@example.org").Own("POST", "/users/me/reports", body).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
}

// TestMessages has a buyer and an organizer write to each other.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1 })
	event, order := s.FreeTickets(nil, 1)
	id := order.Str("tickets.0.id")
	path := "/users/me/tickets/" + id + "/message"
	bob, eve := s.Buyer(order.Str("buyer.email")), s.Buyer("eve@example.org")
	body := nodetest.Object{"body": "Where is the door?", "attachmentUrls": []string{"https://example.org/a.png"}}
	eve.Own("POST", path, body).Is(404, "TICKET_NOT_FOUND")
	s.Call("POST", path, body).Is(401, "UNAUTHORIZED")
	require.Empty(t, bob.Own("GET", "/users/me/messages", nil).Is(200, "").Data("items"))
	m := bob.Own("POST", path, body).Is(201, "")
	require.Equal(t, nodetest.Words("id threadId ticketId from body attachmentUrls createdAt readAt"), m.Keys(""))
	require.Equal(t, []any{id, "buyer", "Where is the door?", []any{"https://example.org/a.png"}, nil}, []any{m.Data("ticketId"), m.Data("from"), m.Data("body"), m.Data("attachmentUrls"), m.Data("readAt")})

	list := s.Own("GET", "/organizer/messages?status=open&eventId="+event, nil).Is(200, "")
	require.Equal(t, []any{m.Str("threadId"), order.Str("buyer.email"), m.Str("id"), event}, []any{list.Data("items.0.id"), list.Data("items.0.buyer.email"), list.Data("items.0.messages.0.id"), list.Data("items.0.eventId")})
	reply := "/organizer/messages/" + m.Str("threadId") + "/reply"
	r := s.Own("POST", reply, nodetest.Object{"body": "Around the corner."}).Is(201, "")
	require.Equal(t, []any{"organizer", m.Str("threadId"), []any{}}, []any{r.Data("from"), r.Data("threadId"), r.Data("attachmentUrls")})
	require.Empty(t, s.Own("GET", "/organizer/messages?status=open", nil).Is(200, "").Data("items"))
	own := bob.Own("GET", "/users/me/messages", nil).Is(200, "")
	require.Equal(t, []any{"replied", "Where is the door?", "Around the corner."}, []any{own.Data("items.0.status"), own.Data("items.0.messages.0.body"), own.Data("items.0.messages.1.body")})
	require.NotNil(t, own.Data("items.0.messages.0.readAt"))
	require.NotContains(t, own.Keys("items.0"), "buyer")
	require.Empty(t, eve.Own("GET", "/users/me/messages", nil).Is(200, "").Data("items"))
	s.Own("POST", "/organizer/messages/"+uuid.NewString()+"/reply", body).Is(404, "NOT_FOUND")
	s.Register("kim@example.org").Own("POST", reply, body).Is(404, "NOT_FOUND")

	for _, f := range []field{{"body", "", "", "min_length"}, {"body", nodetest.Text(5001), "", "max_length"}, {"attachmentUrls", slices.Repeat([]string{"https://example.org/a"}, 6), "", "max_items"}} {
		bob.Own("POST", path, nodetest.With(body, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	s.Register("mia@example.org").Own("GET", "/users/me/messages", nil).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
	for range 9 {
		require.Equal(t, m.Str("threadId"), bob.Own("POST", path, body).Is(201, "").Str("threadId"))
	}
	bob.Own("POST", path, body).Is(429, "RATE_LIMITED")
}

// TestWriter says who may write about a ticket: its holder, and neither who attends nor
// who has passed it on.
func TestWriter(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(0, 100))
	line := nodetest.Object{"ticketTypeId": ids[0], "quantity": 1, "attendeeEmail": "kim@example.org", "attendeeName": "Kim"}
	order := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": []nodetest.Object{line}}).Is(201, "")
	path, body := "/users/me/tickets/"+order.Str("tickets.0.id")+"/message", nodetest.Object{"body": "Where is the door?"}
	ada, bob := s.Buyer("ada@example.org"), s.Buyer("bob@example.org")
	s.Buyer("kim@example.org").Own("POST", path, body).Is(404, "TICKET_NOT_FOUND")
	ada.Own("POST", path, body).Is(201, "")
	bob.Own("POST", path, body).Is(404, "TICKET_NOT_FOUND")
	began := time.Now()
	ada.Own("POST", "/tickets/"+order.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "bob@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	bob.Own("POST", path, body).Is(201, "")
	ada.Own("POST", path, body).Is(404, "TICKET_NOT_FOUND")
}
