package tickets

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

// TestTicketTerms buys a ticket whose type changes afterwards: what the ticket was sold
// with stays, and where it is delivered is what the organizer says now.
func TestTicketTerms(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	eventID, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"transferable": false, "accessUrl": "https://example.org/a", "accessNote": "PIN 1"}))
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": nodetest.Lines(ids[0], 1)}).Is(201, "")
	require.Equal(t, []any{"event", false, false, nil, nil}, []any{
		o.Data("tickets.0.productType"), o.Data("tickets.0.transferable"), o.Data("tickets.0.refundable"), o.Data("tickets.0.refundDeadline"), o.Data("tickets.0.reservation"),
	})
	require.NotContains(t, o.Keys("tickets.0"), "accessUrl", "which may change until a repeat")
	s.Own("PUT", "/organizer/events/"+eventID+"/tickets/"+ids[0], nodetest.Object{"transferable": true, "accessUrl": "https://example.org/b"}).Is(200, "")
	read := s.Order(o.Str("id"), o.Str("accessToken"))
	require.Equal(t, []any{false, false, "https://example.org/b", "PIN 1"}, []any{
		read.Data("tickets.0.transferable"), read.Data("tickets.0.downloadable"), read.Data("tickets.0.accessUrl"), read.Data("tickets.0.accessNote"),
	})
}

// TestTransfer passes a ticket on: its old codes are dead at once, the new ones are the
// new holder's alone.
func TestTransfer(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, order := s.FreeTickets(nil, 1)
	id, token := order.Str("tickets.0.id"), order.Str("accessToken")
	path := "/tickets/" + id + "/transfer"
	const bob = "bob@example.org"
	body := nodetest.Object{"toEmail": bob, "toName": "Bob", "token": token}
	s.Call("POST", path, nodetest.With(body, nodetest.Object{"token": "x"})).Is(404, "TICKET_NOT_FOUND")
	s.Call("POST", path, nodetest.With(body, nodetest.Object{"token": nodetest.Absent})).Is(401, "UNAUTHORIZED")
	s.Call("POST", path, nodetest.With(body, nodetest.Object{"toEmail": order.Str("buyer.email")})).Invalid("toEmail", "duplicate")
	s.Call("DELETE", path+"?token="+token, nil).Is(409, "TRANSFER_NOT_PENDING")
	began := time.Now()
	a := s.Call("POST", path, body).Is(201, "")
	require.Equal(t, nodetest.Words("id ticketId fromEmail toEmail toName status createdAt expiresAt claimedAt"), a.Keys(""))
	require.Equal(t, []any{id, order.Str("buyer.email"), bob, "Bob", "pending", nil}, []any{a.Data("ticketId"), a.Data("fromEmail"), a.Data("toEmail"), a.Data("toName"), a.Data("status"), a.Data("claimedAt")})
	s.Call("POST", path, body).Refused(409, "TICKET_NOT_TRANSFERABLE", nodetest.Object{"reason": "pending"})
	first := s.ClaimToken(bob, began)
	require.Equal(t, "revoked", s.Call("DELETE", path+"?token="+token, nil).Is(200, "").Str("status"))
	s.Call("POST", "/tickets/transfers/"+first+"/claim", nil).Is(409, "TRANSFER_NOT_PENDING")
	s.Call("POST", "/tickets/transfers/"+first[1:]+"/claim", nil).Is(404, "TICKET_NOT_FOUND")

	began = time.Now()
	s.Call("POST", path, body).Is(201, "")
	claimed := s.Call("POST", "/tickets/transfers/"+s.ClaimToken(bob, began)+"/claim", nil).Is(200, "")
	require.Equal(t, []any{id, bob, "Bob"}, []any{claimed.Data("id"), claimed.Data("holder.email"), claimed.Data("holder.name")})
	for _, old := range []string{"qr", "shortCode"} {
		require.NotEqual(t, order.Str("tickets.0."+old), claimed.Str(old))
		denied := s.Scan(event, order.Str("tickets.0."+old), "d1")
		require.Equal(t, "denied_cancelled", denied.Str("status"), old)
	}
	read := s.Order(order.Str("id"), token)
	require.Nil(t, read.Data("tickets.0.holder"))
	require.NotContains(t, read.Keys("tickets.0"), "code", "the buyer has it no more")
	s.Call("POST", path, body).Is(404, "TICKET_NOT_FOUND")
	admitted := s.Scan(event, claimed.Str("shortCode"), "d2")
	require.Equal(t, []any{"success", "Bob", claimed.Str("code")}, []any{admitted.Data("status"), admitted.Data("holderName"), admitted.Data("ticketCode")})
}

// TestTransferRefused asks for what may not change hands.
func TestTransferRefused(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100), nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"transferable": false}))
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": nodetest.Lines(ids[0], 2, ids[1], 1)}).Is(201, "")
	body := nodetest.Object{"toEmail": "bob@example.org", "token": o.Str("accessToken")}
	offer := func(i string) nodetest.Answer {
		return s.Call("POST", "/tickets/"+o.Str("tickets."+i+".id")+"/transfer", body)
	}
	offer("2").Refused(409, "TICKET_NOT_TRANSFERABLE", nodetest.Object{"reason": "type"})
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.0.qr"), "d1").Str("status"))
	offer("0").Refused(409, "TICKET_NOT_TRANSFERABLE", nodetest.Object{"reason": "status"})
	began := time.Now()
	offer("1").Is(201, "")
	link := s.ClaimToken("bob@example.org", began)
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.1.qr"), "d1").Str("status"), "the sender's code admits, and that ends the transfer")
	s.Call("POST", "/tickets/transfers/"+link+"/claim", nil).Is(409, "TRANSFER_NOT_PENDING")
}

// TestProfile changes one's own account.
func TestProfile(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	bob := s.Buyer("bob@example.org")
	a := bob.Own("PUT", "/users/me", nodetest.Object{"fullName": "Bob van Dyke", "phone": "+31 20 1", "locale": "nl-NL"}).Is(200, "")
	require.Equal(t, []any{"Bob van Dyke", "+31 20 1", "nl-NL"}, []any{a.Data("fullName"), a.Data("phone"), a.Data("locale")})
	a = bob.Own("PUT", "/users/me", nodetest.Object{"phone": nil}).Is(200, "")
	require.Equal(t, []any{"Bob van Dyke", nil, "nl-NL"}, []any{a.Data("fullName"), a.Data("phone"), a.Data("locale")})
	require.Equal(t, a.Data(""), bob.Own("GET", "/users/me", nil).Is(200, "").Data(""))
	for _, f := range []field{{"locale", "x", "", "format"}, {"locale", "en_US", "", "format"}, {"phone", nodetest.Text(21), "", "max_length"}, {"fullName", nodetest.Text(201), "", "max_length"}} {
		bob.Own("PUT", "/users/me", nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	s.Call("PUT", "/users/me", nodetest.Object{}).Is(401, "UNAUTHORIZED")
}
