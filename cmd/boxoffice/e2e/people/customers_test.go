package people

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/mailqueue"
)

// TestCustomers lists who has bought of an organization, and shows one of them.
func TestCustomers(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(0, 100))
	other, _ := s.OnSale(nodetest.TypeBody(0, 100))
	paid := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("Ada@example.org", ids[0], 2), nodetest.Object{"guestName": "Ada Obi"})).Is(201, "")
	s.Settle(s.Checkout(paid.Str("id"), paid.Str("accessToken")), "success")
	s.Verify(paid.Str("id"), paid.Str("accessToken")).Is(200, "")
	s.Customers("", 1)
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[1], 1)).Is(201, "")
	list := s.Customers("", 2)
	require.Equal(t, nodetest.Words("key email name totals tags firstOrderAt lastOrderAt"), list.Keys("items.1"))
	require.Equal(t, []any{"bob@example.org", "ada@example.org", "Ada Obi", 1.0, 2.0, "USD"}, []any{
		list.Data("items.0.email"), list.Data("items.1.email"), list.Data("items.1.name"), list.Data("items.1.totals.orders"), list.Data("items.1.totals.tickets"), list.Data("items.1.totals.spent.0.currency"),
	})
	key := list.Str("items.1.key")
	require.Regexp(t, `^[0-9A-Za-z]{22}$`, key)
	for filter, n := range map[string]int{
		"?q=OBI": 1, "?q=example.org": 2, "?q=%25": 0, "?eventId=" + event: 2, "?eventId=" + other: 0, "?tag=vip": 0, "?orgId=" + s.Org(): 2,
	} {
		require.Len(t, s.Own("GET", "/organizer/customers"+filter, nil).Is(200, "").Data("items"), n, filter)
	}
	for sort, first := range map[string]string{"recent": "bob@example.org", "oldest": "ada@example.org", "name": "bob@example.org"} {
		page := s.Own("GET", "/organizer/customers?limit=1&sort="+sort, nil).Is(200, "")
		rest := s.Own("GET", "/organizer/customers?limit=1&sort="+sort+"&cursor="+page.Str("nextCursor"), nil).Is(200, "")
		require.Equal(t, []any{first, nil}, []any{page.Data("items.0.email"), rest.Data("nextCursor")}, sort)
		require.NotEqual(t, first, rest.Data("items.0.email"))
	}
	one := s.Own("GET", "/organizer/customers/"+key, nil).Is(200, "")
	require.Equal(t, []any{"ada@example.org", paid.Str("id"), "completed", "issued", event}, []any{one.Data("email"), one.Data("orders.0.id"), one.Data("orders.0.status"), one.Data("tickets.0.status"), one.Data("tickets.0.eventId")})
	require.Equal(t, one.Data("orders.0.total"), one.Data("totals.spent.0.amount"))
	require.Len(t, one.Data("tickets"), 2)

	eve := s.Register(s.Email("eve"))
	require.Empty(t, eve.Own("GET", "/organizer/customers", nil).Is(200, "").Data("items"))
	eve.Own("GET", "/organizer/customers/"+key, nil).Is(404, "NOT_FOUND")
	eve.Own("GET", "/organizer/customers?orgId="+s.Org(), nil).Is(404, "NOT_FOUND")
	s.Own("GET", "/organizer/customers/"+url.PathEscape("ada@example.org"), nil).Is(404, "NOT_FOUND")
	require.Equal(t, 400, s.Own("GET", "/organizer/customers?q=%00", nil).Status)
	s.Own("GET", "/organizer/customers/%00", nil).Is(404, "NOT_FOUND")
	s.Own("GET", "/organizer/customers?sort=x", nil).Invalid("sort", "enum")
	s.Own("GET", "/organizer/customers?cursor=x", nil).Invalid("cursor", "format")
	s.Call("GET", "/organizer/customers", nil).Is(401, "UNAUTHORIZED")
}

// TestPassedOnCustomers counts both who bought a ticket and who holds it now.
func TestPassedOnCustomers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, o := s.FreeTickets(nil, 1)
	s.Customers("", 1)
	began := time.Now()
	s.Call("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "toName": "Bob", "token": o.Str("accessToken")}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	bob := s.Customers("?q=bob&eventId="+event, 1)
	require.Equal(t, []any{"Bob", 0.0, 1.0}, []any{bob.Data("items.0.name"), bob.Data("items.0.totals.orders"), bob.Data("items.0.totals.tickets")})
	buyer := s.Customers("?eventId="+event+"&q="+o.Str("buyer.email"), 1)
	require.Equal(t, []any{1.0, 0.0}, []any{buyer.Data("items.0.totals.orders"), buyer.Data("items.0.totals.tickets")})
	s.Own("POST", "/organizer/customers/"+buyer.Str("items.0.key")+"/tags", nodetest.Object{"tag": "vip"}).Is(409, "NO_TICKETS")
}

// TestCustomerNotes writes notes about a customer, and deletes one.
func TestCustomerNotes(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	s.FreeTickets(nil, 1)
	path := "/organizer/customers/" + s.Customers("", 1).Str("items.0.key") + "/notes"
	n := s.Own("POST", path, nodetest.Object{"body": "Prefers the aisle.", "orgId": s.Org()}).Is(201, "")
	require.Equal(t, nodetest.Words("id body author createdAt"), n.Keys(""))
	require.Equal(t, "Prefers the aisle.", n.Str("body"))
	last := s.Own("POST", path, nodetest.Object{"body": "Came late."}).Is(201, "")
	list := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, []any{last.Str("id"), n.Str("id")}, []any{list.Data("items.0.id"), list.Data("items.1.id")})
	require.Equal(t, last.Str("id"), s.Own("GET", strings.TrimSuffix(path, "/notes"), nil).Is(200, "").Str("notes.0.id"))
	require.Equal(t, nodetest.Object{"deleted": true}, s.Own("DELETE", path+"/"+n.Str("id")+"?orgId="+s.Org(), nil).Is(200, "").Get("data"))
	s.Own("DELETE", path+"/"+n.Str("id"), nodetest.Object{"orgId": s.Org()}).Is(404, "NOTE_NOT_FOUND")
	s.Own("DELETE", path+"/"+uuid.NewString(), nil).Is(404, "NOTE_NOT_FOUND")
	for _, f := range []field{{"body", "", "", "min_length"}, {"body", nodetest.Text(5001), "", "max_length"}, {"body", nodetest.Absent, "", "required"}} {
		s.Own("POST", path, nodetest.With(nodetest.Object{"body": "x"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	eve := s.Register(s.Email("eve"))
	eve.Own("POST", path, nodetest.Object{"body": "x"}).Is(404, "NOT_FOUND")
	eve.Own("DELETE", path+"/"+last.Str("id"), nil).Is(404, "NOT_FOUND")
	eve.Own("GET", path+"?orgId="+s.Org(), nil).Is(404, "NOT_FOUND")
}

// TestCustomerTags tags all that a customer holds, and takes the tag off.
func TestCustomerTags(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, _ := s.FreeTickets(nil, 2)
	attending(s, event, "", 2)
	path := "/organizer/customers/" + s.Customers("", 1).Str("items.0.key") + "/tags"
	require.Equal(t, nodetest.Object{"tag": "vip guest", "tickets": 2.0}, s.Own("POST", path, nodetest.Object{"tag": "  VIP Guest ", "orgId": s.Org()}).Is(201, "").Get("data"))
	s.Own("POST", path, nodetest.Object{"tag": "vip guest"}).Is(201, "")
	attending(s, event, "?tag=vip+guest", 2)
	require.Equal(t, []any{"vip guest"}, s.Customers("?tag=VIP+Guest", 1).Data("items.0.tags"))
	require.Equal(t, nodetest.Object{"tag": "vip guest", "removed": 2.0}, s.Own("DELETE", path, nodetest.Object{"tag": "vip guest"}).Is(200, "").Get("data"))
	require.Equal(t, 0.0, s.Own("DELETE", path, nodetest.Object{"tag": "vip guest"}).Is(200, "").Data("removed"))
	attending(s, event, "?tag=vip+guest", 0)
	for _, tag := range []string{"   ", nodetest.Text(61), "no/slash"} {
		s.Own("POST", path, nodetest.Object{"tag": tag}).Invalid("tag", "format")
		s.Own("DELETE", path, nodetest.Object{"tag": tag}).Invalid("tag", "format")
	}
	s.Own("POST", path, nodetest.Object{}).Invalid("tag", "required")
	s.Register(s.Email("eve")).Own("POST", path, nodetest.Object{"tag": "vip"}).Is(404, "NOT_FOUND")
}

// TestContactedTooOften lets nobody be flooded.
func TestContactedTooOften(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1 })
	s.FreeTickets(nil, 1)
	path := "/organizer/customers/" + s.Customers("", 1).Str("items.0.key") + "/contact"
	for i := range mailqueue.RecipientCap {
		a := s.Own("POST", path, nodetest.Object{"subject": "Your seat", "body": "It is in front."})
		if a.Status == 429 {
			require.GreaterOrEqual(t, i, mailqueue.RecipientCap-2) // the order's own confirmation is counted too
			return
		}
		a.Is(200, "")
	}
	s.Own("POST", path, nodetest.Object{"subject": "Your seat", "body": "It is in front."}).Is(429, "RATE_LIMITED")
}

// TestContactFails tells the organization at once that its mail did not go out.
func TestContactFails(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.SMTPURL, c.MailFrom = "smtp+plain://127.0.0.1:1", "tickets@example.org" })
	s.FreeTickets(nil, 1)
	path := "/organizer/customers/" + s.Customers("", 1).Str("items.0.key") + "/contact"
	s.Own("POST", path, nodetest.Object{"subject": "Your seat", "body": "It is in front."}).Is(502, "EMAIL_SEND_FAILED")
}

// TestContactCustomer sends a customer one mail.
func TestContactCustomer(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, o := s.FreeTickets(nil, 1)
	path := "/organizer/customers/" + s.Customers("", 1).Str("items.0.key") + "/contact"
	a := s.Own("POST", path, nodetest.Object{"subject": "Your seat", "body": "In <b>front</b> now.\n\nSee you!", "orgId": s.Org()}).Is(200, "")
	require.Equal(t, nodetest.Object{"to": o.Str("buyer.email"), "subject": "Your seat", "sent": true, "dev": true}, a.Get("data"))
	for _, f := range []field{{"subject", "", "", "min_length"}, {"subject", nodetest.Text(201), "", "max_length"}, {"body", "", "", "min_length"}, {"body", nodetest.Text(5001), "", "max_length"}} {
		s.Own("POST", path, nodetest.With(nodetest.Object{"subject": "x", "body": "x"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	s.Register(s.Email("eve")).Own("POST", path, nodetest.Object{"subject": "x", "body": "x"}).Is(404, "NOT_FOUND")
}
