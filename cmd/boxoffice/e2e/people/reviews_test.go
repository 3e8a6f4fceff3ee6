package people

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// visited is a ticket whose holder was let in.
func visited(s *nodetest.Shop, email string) (event string, order nodetest.Answer) {
	s.T.Helper()
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	order = s.Call("POST", "/orders", nodetest.OrderBody(email, ids[0], 2)).Is(201, "")
	require.Equal(s.T, "success", s.Scan(event, order.Str("tickets.0.qr"), "d1").Str("status"))
	return event, order
}

func reviewOf(order nodetest.Answer, i, email string, changes nodetest.Object) nodetest.Object {
	return nodetest.With(nodetest.Object{
		"ticketCode": order.Str("tickets." + i + ".code"), "email": email, "rating": 4, "body": "A splendid evening indeed", "authorName": "Gil",
	}, changes)
}

// TestReview reviews an event, has the organizer answer, and the platform hide it.
func TestReview(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, order := visited(s, "ada@example.org")
	reviews := "/community/events/" + event + "/reviews"
	empty := s.Call("GET", reviews, nil).Is(200, "")
	require.Equal(t, []any{[]any{}, nil, nil, 0.0}, []any{empty.Data("items"), empty.Data("nextCursor"), empty.Data("average"), empty.Data("count")})

	r := s.Call("POST", "/community/reviews", reviewOf(order, "0", "Ada@Example.org", nil)).Is(201, "")
	require.Equal(t, nodetest.Words("id ticketId rating body authorName reply createdAt"), r.Keys(""))
	require.Equal(t, []any{order.Str("tickets.0.id"), 4.0, "A splendid evening indeed", "Gil", nil}, []any{r.Data("ticketId"), r.Data("rating"), r.Data("body"), r.Data("authorName"), r.Data("reply")})
	s.Call("POST", "/community/reviews", reviewOf(order, "0", "ada@example.org", nil)).Is(409, "REVIEW_EXISTS")
	s.Call("POST", "/community/reviews", reviewOf(order, "1", "ada@example.org", nil)).Is(409, "NOT_CHECKED_IN")
	require.Equal(t, "success", s.Scan(event, order.Str("tickets.1.qr"), "d1").Str("status"))
	s.Call("POST", "/community/reviews", reviewOf(order, "1", "ada@example.org", nodetest.Object{"rating": 1, "authorName": nodetest.Absent})).Is(201, "")

	reply := "/community/reviews/" + r.Str("id") + "/reply"
	require.Equal(t, "Thank you!", s.Own("POST", reply, nodetest.Object{"body": "Thank you!"}).Is(200, "").Str("reply"))
	s.Call("POST", reply, nodetest.Object{"body": "Thank you!"}).Is(401, "UNAUTHORIZED")
	s.Own("POST", reply, nodetest.Object{"body": ""}).Invalid("body", "min_length")
	s.Own("POST", "/community/reviews/"+uuid.NewString()+"/reply", nodetest.Object{"body": "x"}).Is(404, "NOT_FOUND")

	list := s.Call("GET", reviews+"?limit=1", nil).Is(200, "")
	require.Equal(t, []any{2.0, 2.5, map[string]any{"1": 1.0, "2": 0.0, "3": 0.0, "4": 1.0, "5": 0.0}}, []any{list.Data("count"), list.Data("average"), list.Data("histogram")})
	require.Equal(t, []any{1.0, nil}, []any{list.Data("items.0.rating"), list.Data("items.0.authorName")})
	list = s.Call("GET", reviews+"?cursor="+list.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, []any{"Thank you!", nil}, []any{list.Data("items.0.reply"), list.Data("nextCursor")})
	s.Call("GET", "/community/events/"+s.Draft(nil)+"/reviews", nil).Is(404, "EVENT_NOT_FOUND")
	s.Call("GET", reviews+"?cursor=x", nil).Invalid("cursor", "format")

	s.Own("PUT", "/admin/reviews/"+r.Str("id"), nodetest.Object{"hidden": true}).Is(403, "FORBIDDEN")
}

// TestReviewsOfADraft takes an event with a review back to draft. The organizer's page, which everybody sees, then shows
// only the reviews of events that everybody sees.
func TestReviewsOfADraft(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	said := map[string]string{}
	for _, body := range []string{"A hall full of echoes", "A splendid evening indeed"} {
		event, order := visited(s, "ada@example.org")
		s.Call("POST", "/community/reviews", reviewOf(order, "0", "ada@example.org", nodetest.Object{"body": body})).Is(201, "")
		said[body] = event
	}
	page := "/by/" + s.Call("GET", "/events/"+said["A splendid evening indeed"], nil).Is(200, "").Str("organizer.slug")
	s.Own("PUT", "/organizer/events/"+said["A hall full of echoes"]+"/status", nodetest.Object{"status": "draft"}).Is(200, "")
	_, text := s.Get(page)
	require.Contains(t, text, "A splendid evening indeed")
	require.NotContains(t, text, "A hall full of echoes")
}

// TestReviewer says who may review: the holder and whom the order names for the ticket.
func TestReviewer(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100), nodetest.TypeBody(0, 100))
	line := nodetest.Object{"ticketTypeId": ids[0], "quantity": 1, "attendeeEmail": "kim@example.org", "attendeeName": "Kim"}
	order := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": []nodetest.Object{line, {"ticketTypeId": ids[1], "quantity": 1}}}).Is(201, "")
	began := time.Now()
	s.Call("POST", "/tickets/"+order.Str("tickets.1.id")+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "token": order.Str("accessToken")}).Is(201, "")
	claimed := s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	for _, qr := range []string{order.Str("tickets.0.qr"), claimed.Str("qr")} {
		require.Equal(t, "success", s.Scan(event, qr, "d1").Str("status"))
	}
	review := func(code, email string) nodetest.Answer {
		return s.Call("POST", "/community/reviews", nodetest.Object{"ticketCode": code, "email": email, "rating": 5, "body": "A splendid evening indeed"})
	}
	review(order.Str("tickets.0.code"), "eve@example.org").Is(404, "TICKET_NOT_FOUND")
	review(order.Str("tickets.0.code")[1:], "kim@example.org").Is(404, "TICKET_NOT_FOUND")
	review(order.Str("tickets.0.code"), "kim@example.org").Is(201, "")
	review(order.Str("tickets.0.code"), "ada@example.org").Is(409, "REVIEW_EXISTS")
	review(order.Str("tickets.1.code"), "ada@example.org").Is(404, "TICKET_NOT_FOUND")
	review(claimed.Str("code"), "ada@example.org").Is(404, "TICKET_NOT_FOUND")
	review(claimed.Str("code"), "bob@example.org").Is(201, "")
	for _, f := range []field{{"rating", 0, "", "minimum"}, {"rating", 6, "", "maximum"}, {"body", nodetest.Text(9), "", "min_length"}, {"body", nodetest.Text(2001), "", "max_length"}, {"authorName", nodetest.Text(121), "", "max_length"}, {"email", "x", "", "format"}} {
		s.Call("POST", "/community/reviews", nodetest.With(reviewOf(order, "0", "ada@example.org", nil), nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
}
