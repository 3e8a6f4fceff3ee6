package tickets

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestMyTickets lists what two people hold, before and after a ticket is passed on.
func TestMyTickets(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"accessUrl": "https://example.org/a", "accessNote": "PIN 1"}))
	ada, bob := s.Buyer("ada@example.org"), s.Buyer("bob@example.org")
	ada.Own("GET", "/users/me/tickets", nil).Is(200, "")
	lines := nodetest.Lines(ids[0], 2)
	lines[0]["attendeeEmail"] = "eve@example.org"
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "Ada@example.org", "items": lines}).Is(201, "")
	require.Len(t, o.Data("tickets"), 2)
	a := ada.MyTickets(2)
	require.Equal(t, []any{o.Data("tickets.1.id"), o.Data("tickets.0.id"), nil}, []any{a.Data("items.0.id"), a.Data("items.1.id"), a.Data("nextCursor")}, "the newest first")
	require.Equal(t, []any{"event", event, "issued", ids[0], o.Data("tickets.1.code"), false, "https://example.org/a", "PIN 1"}, []any{
		a.Data("items.0.productType"), a.Data("items.0.event.id"), a.Data("items.0.status"), a.Data("items.0.tier.id"), a.Data("items.0.code"),
		a.Data("items.0.downloadable"), a.Data("items.0.accessUrl"), a.Data("items.0.accessNote"),
	})
	require.Equal(t, nodetest.Words("id slug title status startDate endDate timezone venueType venueName venueCity coverImage"), a.Keys("items.0.event"))
	first := ada.Own("GET", "/users/me/tickets?limit=1", nil).Is(200, "")
	second := ada.Own("GET", "/users/me/tickets?limit=1&cursor="+first.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, []any{o.Data("tickets.0.id"), nil}, []any{second.Data("items.0.id"), second.Data("nextCursor")})

	id, began := o.Str("tickets.0.id"), time.Now()
	ada.Own("POST", "/tickets/"+id+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "toName": "Bob"}).Is(201, "")
	claimed := s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	left := ada.Own("GET", "/users/me/tickets", nil).Is(200, "")
	require.Equal(t, []any{o.Data("tickets.1.id")}, []any{left.Data("items.0.id")})
	require.Len(t, left.Data("items"), 1, "what is passed on is gone at once")
	got := bob.MyTickets(1)
	require.Equal(t, []any{id, claimed.Data("code"), "Bob"}, []any{got.Data("items.0.id"), got.Data("items.0.code"), got.Data("items.0.holder.name")})
}

// TestMyTicketsRefused asks for tickets without the right to.
func TestMyTicketsRefused(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Call("GET", "/users/me/tickets", nil).Is(401, "UNAUTHORIZED")
	s.Register("unproven@example.org").Own("GET", "/users/me/tickets", nil).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
	bob := s.Buyer("bob@example.org")
	bob.Own("GET", "/users/me/tickets?cursor=x", nil).Invalid("cursor", "format")
	bob.Own("GET", "/users/me/tickets?limit=101", nil).Invalid("limit", "maximum")
}

// TestExport has a buyer take away all that there is of them, in one document.
func TestExport(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, 2000), nodetest.Object{"maxPerOrder": 100, "maxPerCustomer": 1000}))
	const orders = 53 // more than a page, each of two tickets
	for range orders {
		s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	}
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 1)).Is(201, "")
	ada := s.Buyer("ada@example.org")
	var got struct {
		Data struct {
			Profile struct{ Email, FullName string }
			Orders  []struct {
				ID    string
				Buyer struct{ Email string }
				Items []struct{ Quantity int }
			}
			Tickets []struct{ ID, Code string }
			Refunds []any
			Reports []struct{ ID string }
			Threads []struct{ Messages []struct{ Body string } }
		}
	}
	var reports []string
	for range 51 { // more than a page
		body := nodetest.Object{"category": "fraud", "description": "The door stayed shut.", "organizationId": s.Org(), "evidenceUrls": []string{}}
		reports = append([]string{ada.Own("POST", "/users/me/reports", body).Is(201, "").Str("id")}, reports...)
	}
	held := ada.Own("GET", "/users/me/tickets?limit=6", nil).Is(200, "")
	for i := range 6 { // as well
		path := "/users/me/tickets/" + held.Str("items."+strconv.Itoa(i)+".id") + "/message"
		ada.Own("POST", path, nodetest.Object{"body": strconv.Itoa(i)}).Is(201, "")
	}
	ada.Becomes("106", func() string {
		r := ada.Raw("GET", "/users/me/export", "", "", ada.Bearer()...)
		require.Equal(t, []any{200, "application/json", "attachment; filename=boxoffice-export.json"}, []any{r.Status, r.Header.Get("Content-Type"), r.Header.Get("Content-Disposition")})
		require.NoError(t, json.Unmarshal([]byte(r.Body), &got))
		return strconv.Itoa(len(got.Data.Tickets))
	})
	require.Equal(t, []any{"ada@example.org", "Grace Hopper"}, []any{got.Data.Profile.Email, got.Data.Profile.FullName})
	require.Len(t, got.Data.Orders, orders)
	for _, o := range got.Data.Orders {
		require.Equal(t, []any{"ada@example.org", 2}, []any{o.Buyer.Email, o.Items[0].Quantity})
	}
	require.NotEmpty(t, got.Data.Tickets[0].Code)
	require.Len(t, got.Data.Reports, len(reports))
	for i, r := range got.Data.Reports {
		require.Equal(t, reports[i], r.ID)
	}
	require.Len(t, got.Data.Threads, 6)
	require.Equal(t, "5", got.Data.Threads[0].Messages[0].Body)
	s.Call("GET", "/users/me/export", nil).Is(401, "UNAUTHORIZED")
	s.Register("unproven@example.org").Own("GET", "/users/me/export", nil).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
}
