package people

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestNobodyWritesToTheErased: who was erased keeps a free ticket under a pseudonym, to which no mail goes. So no
// broadcast waits for it, and no organizer is told that a mail to it was sent.
func TestNobodyWritesToTheErased(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	person := s.Buyer("ada@example.org")
	person.Own("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 1)).Is(201, "")
	person.MyTickets(1)
	require.Equal(t, true, person.Own("DELETE", "/users/me", nil).Is(200, "").Data("erased"))
	path := "/organizer/growth/events/" + event + "/broadcast"
	require.Equal(t, 1.0, s.Own("POST", path, nodetest.Object{"subject": "Doors", "body": "Early."}).Is(200, "").Data("recipients"))
	s.Mailed()
	list := s.Own("GET", path+"s", nil).Is(200, "")
	require.Equal(t, []any{"sent", 1.0}, []any{list.Data("items.0.status"), list.Data("items.0.sent")})

	customers := s.Customers("?sort=oldest", 2)
	key := customers.Str("items.0.key")
	require.NotEqual(t, "bob@example.org", customers.Str("items.0.email"))
	s.Own("POST", "/organizer/customers/"+key+"/contact", nodetest.Object{"subject": "Your seat", "body": "In front."}).Is(409, "CONFLICT")
}

// TestBroadcast writes to those who attend an event, once each, and to none who has left.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	began := time.Now()
	var first string
	for _, email := range []string{"Ada@example.org", "bob@example.org", "eve@example.org", "ada@example.org"} {
		o := s.Call("POST", "/orders", nodetest.OrderBody(email, ids[0], 1)).Is(201, "")
		if first == "" {
			first = o.Str("tickets.0.id")
		}
	}
	path := "/organizer/growth/events/" + event + "/broadcast"
	html := `<p>Doors open <b>early</b>.<script>alert(1)</script> <a href="javascript:x">x</a><img src="https://evil.example/p.png"></p>`
	b := s.Own("POST", path, nodetest.Object{"subject": "Doors", "body": html}).Is(200, "")
	require.Equal(t, 3.0, b.Data("recipients"))
	m := s.Mail(t, "bob@example.org", "broadcast", began)
	require.Equal(t, "Doors", m.Subject)
	require.Contains(t, m.HTML, "<p>Doors open <b>early</b>. x</p>")
	require.Contains(t, m.Text, "Doors open early.")
	require.Regexp(t, `^<reply\+[0-9A-Za-z]{22}@`, m.Header.Get("Reply-To"))
	s.Mailed()
	require.Equal(t, []int{1, 1, 1}, []int{mails(s, "ada@example.org", "broadcast"), mails(s, "bob@example.org", "broadcast"), mails(s, "eve@example.org", "broadcast")})
	list := s.Own("GET", path+"s", nil).Is(200, "")
	require.Equal(t, []any{b.Data("broadcastId"), "sent", 3.0, 3.0, 0.0}, []any{list.Data("items.0.id"), list.Data("items.0.status"), list.Data("items.0.recipients"), list.Data("items.0.sent"), list.Data("items.0.unsubscribed")})

	unsubscribe(s, m)
	require.Equal(t, 2.0, s.Own("POST", path, nodetest.Object{"subject": "Again", "body": "plain & simple"}).Is(200, "").Data("recipients"))
	s.Own("POST", "/organizer/growth/tags", nodetest.Object{"orgId": s.Org(), "ticketIds": []string{first}, "tag": "vip"}).Is(200, "")
	require.Equal(t, 1.0, s.Own("POST", path, nodetest.Object{"subject": "You", "body": "x", "tagFilter": " VIP "}).Is(200, "").Data("recipients"))
	s.Mailed()
	require.Equal(t, []int{3, 1, 2}, []int{mails(s, "ada@example.org", "broadcast"), mails(s, "bob@example.org", "broadcast"), mails(s, "eve@example.org", "broadcast")})

	for _, f := range []field{
		{"subject", "", "", "min_length"},
		{"subject", nodetest.Text(201), "", "max_length"},
		{"body", nodetest.Absent, "", "required"},
		{"body", nodetest.Text(5001), "", "max_length"},
		{"body", "<script>alert(1)</script>", "", "format"},
		{"tagFilter", "a/b", "", "format"},
	} {
		s.Own("POST", path, nodetest.With(nodetest.Object{"subject": "x", "body": "x"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	eve := s.Register("kim@example.org")
	eve.Own("POST", path, nodetest.Object{"subject": "x", "body": "x"}).Is(404, "EVENT_NOT_FOUND")
	eve.Own("GET", path+"s", nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("POST", "/organizer/growth/events/"+uuid.NewString()+"/broadcast", nodetest.Object{"subject": "x", "body": "x"}).Is(404, "EVENT_NOT_FOUND")
}

// TestBroadcastsADay allows five in a day.
func TestBroadcastsADay(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.FreeTickets(nil, 1)
	path, body := "/organizer/growth/events/"+event+"/broadcast", nodetest.Object{"subject": "x", "body": "x"}
	for range 5 {
		s.Own("POST", path, body).Is(200, "")
	}
	s.Own("POST", path, body).Is(429, "RATE_LIMITED")
}
