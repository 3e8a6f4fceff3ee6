package outward

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/webhook"
)

const illness = "I am ill and can't come."

// refundable is a type whose tickets may be given back for an hour.
func refundable(price float64) nodetest.Object {
	return nodetest.With(nodetest.TypeBody(price, 2), nodetest.Object{"refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)})
}

// of are the facts of a type.
func of(facts []nodetest.Object, typ string) []nodetest.Object {
	return slices.DeleteFunc(slices.Clone(facts), func(f nodetest.Object) bool { return f["type"] != typ })
}

// untold are the members that payloads do not have: secrets, and what buyers pay
// for (docs/rules.md, Records).
var untold = regexp.MustCompile(`"(accessToken|accessUrl|accessNote|shortCode|presaleCode|onlineLink|onlineLinkNote|pin|doorCode|token)":`)

// valid holds a fact against the document, and looks for secrets.
func valid(s *nodetest.Shop, f nodetest.Object) {
	s.T.Helper()
	doc, err := nodetest.Published()
	require.NoError(s.T, err)
	hook := doc.Webhooks[f["type"].(string)]
	require.NotNil(s.T, hook, "%v", f)
	require.NoError(s.T, hook.Post.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(f), "%v", f)
	require.Equal(s.T, nodetest.Words("created data id seq type"), slices.Sorted(maps.Keys(f)))
	row, _ := webhook.Find(f["type"].(string))
	require.Equal(s.T, slices.Sorted(slices.Values(row.Keys)), slices.Sorted(maps.Keys(f["data"].(nodetest.Object))))
	require.NotRegexp(s.T, untold, nodetest.Encode(s.T, f))
	require.NotContains(s.T, nodetest.Encode(s.T, f), "hidden-9b2c")
	require.Regexp(s.T, `^evt_[0-9a-z]{26}$`, f["id"])
	at, err := time.Parse(time.RFC3339, f["created"].(string))
	require.NoError(s.T, err)
	require.InDelta(s.T, time.Now().Unix(), at.Unix(), 60)
}

// TestFacts makes everything happen that the world is told of: a type of the catalogue that
// does not happen here fails it. The feed has it all, and an endpoint that takes all types.
func TestFacts(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	hook, posts := mailroom(t, nil)
	signing := s.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": hook, "events": []string{"*"}}).Is(201, "").Str("secret")
	secret := nodetest.Object{"accessUrl": "https://example.org/hidden-9b2c", "accessNote": "hidden-9b2c", "presaleCode": "hidden-9b2c", "refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)}
	event, ids := s.Sell(nodetest.Object{"onlineLink": "https://example.org/hidden-9b2c", "onlineLinkNote": "hidden-9b2c"}, nodetest.With(nodetest.TypeBody(25, 3), secret))
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"title": "Saturday Night"}).Is(200, "")
	place := func(email string, quantity int) (id, token string) {
		o := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(email, ids[0], quantity), nodetest.Object{"presaleCode": "hidden-9b2c"})).Is(201, "")
		return o.Str("id"), o.Str("accessToken")
	}
	paid, paidToken := place("ada@example.org", 2)
	s.Settle(s.Checkout(paid, paidToken), "success")
	done := s.Verify(paid, paidToken).Is(200, "")
	gone, goneToken := place("gone@example.org", 1)
	pay := s.Pay(gone, goneToken).Is(200, "")
	s.Settle(pay.Str("authorizationUrl")+"?paysim=short=625", "success")
	require.Equal(t, "processing", s.Verify(gone, goneToken).Is(200, "").Str("status"))
	s.Call("POST", "/orders/"+gone+"/cancel", nodetest.Object{"token": goneToken}).Is(200, "")
	s.Window(event, 3*time.Second)
	expired, expiredToken := place("expired@example.org", 1)
	s.Becomes("expired", s.Status(expired, expiredToken))
	failed, failedToken := place("failed@example.org", 1)
	s.Settle(s.ShortCheckout(failed, failedToken), "failed")
	require.Equal(t, "failed", s.Verify(failed, failedToken).Is(200, "").Str("payments.0.status"))
	s.Becomes("failed", s.Status(failed, failedToken))
	s.Window(event, 15*time.Minute)
	last, lastToken := place("last@example.org", 1)
	s.Settle(s.Checkout(last, lastToken), "success")
	require.Equal(t, "completed", s.Verify(last, lastToken).Is(200, "").Str("status"))
	s.Refunded(nodetest.Refund{ID: gone, Token: goneToken, Reference: pay.Str("reference"), Amount: 2000, Status: "refunded"})
	for _, code := range []string{done.Str("tickets.0.qr"), done.Str("tickets.0.shortCode"), "v1.nonsense.1.x", "234567"} {
		s.Scan(event, code, code[:6]).Is(200, "")
	}
	passOn(s, done.Str("tickets.1.id"), "ada@example.org", "eve@example.org")
	decideRefunds(s, "last@example.org", s.Order(last, lastToken).Str("tickets.0.id"))
	speak(s, event, "eve@example.org", done.Str("tickets.1.id"))
	over, _ := s.Sell(nil, nodetest.TypeBody(0, -1))
	for _, status := range []string{"in_progress", "completed"} {
		s.Own("PUT", "/organizer/events/"+over+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	off, _ := s.Sell(nil, nodetest.TypeBody(5, 1))
	s.Own("DELETE", "/organizer/events/"+off, nodetest.Object{"reason": "rain"}).Is(200, "")
	actByAgent(s, event)

	want := map[string]int{
		"event.created": 3, "event.updated": 5, "event.published": 3, "event.cancelled": 1, "event.completed": 1,
		"ticket_type.created": 3, "ticket_type.sold_out": 1, "order.created": 5, "order.completed": 2, "order.failed": 1, "order.cancelled": 1,
		"ticket.created": 3, "ticket.checked_in": 1, "ticket.checkin_denied": 3, "refund.processed": 1,
		"report.submitted": 1, "report.resolved": 1, "message.received": 2, "attendee.tagged": 1,
		"ticket.transferred": 1, "refund.requested": 2, "refund.denied": 1, "refund.approved": 1,
		"agent.action": 1,
	}
	for _, row := range webhook.Catalogue {
		nobodysYet := strings.HasPrefix(row.Name, "payout.")
		require.Equal(t, !nobodysYet, want[row.Name] > 0, "%s: does the story have it?", row.Name)
		require.Equal(t, !nobodysYet, row.Active(), row.Name)
	}
	facts := s.AwaitFacts(want)
	seen := map[string]bool{}
	for _, f := range facts {
		valid(s, f)
		require.False(t, seen[f["id"].(string)])
		seen[f["id"].(string)] = true
	}
	orderly(s, facts, paid)
	records(s, facts, event, done)
	spoken(s, facts, done.Str("tickets.1.id"))
	checkAction(s, facts, event)
	awaitDeliveries(t, posts, signing, facts)

	t.Log("after a restart nothing is told again")
	s.Restart()
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"title": "Sunday Night"}).Is(200, "")
	want["event.updated"]++
	require.Equal(t, facts, s.AwaitFacts(want)[:len(facts)])
}

// passOn gives a ticket to somebody else.
func passOn(s *nodetest.Shop, ticket, from, to string) {
	s.T.Helper()
	handOver(s.Buyer(from), ticket, to)
}

// handOver passes a ticket of who is signed in on.
func handOver(s *nodetest.Shop, ticket, to string) {
	s.T.Helper()
	before := time.Now()
	s.Own("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": to}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken(to, before)+"/claim", nil).Is(200, "")
}

// speak has somebody report an event, write about a ticket twice, and be tagged; of a report
// of fraud the organization is not told.
func speak(s *nodetest.Shop, event, email, ticket string) {
	s.T.Helper()
	buyer := s.Buyer(email)
	report := nodetest.Object{"category": "other", "description": "The door stayed shut.", "eventId": event, "evidenceUrls": []string{}}
	id := buyer.Own("POST", "/users/me/reports", report).Is(201, "").Str("id")
	buyer.Own("POST", "/users/me/reports", nodetest.With(report, nodetest.Object{"category": "fraud"})).Is(201, "")
	s.Own("POST", "/organizer/reports/"+id+"/resolve", nodetest.Object{"resolution": "Opened it.", "note": "hidden-9b2c"}).Is(200, "")
	for range 2 {
		buyer.Own("POST", "/users/me/tickets/"+ticket+"/message", nodetest.Object{"body": "Where is the door?"}).Is(201, "")
	}
	tag := nodetest.Object{"orgId": s.Org(), "ticketIds": []string{ticket}, "tag": "Press"}
	for range 2 { // it has the tag already
		s.Own("POST", "/organizer/growth/tags", tag).Is(200, "")
	}
}

// spoken looks at what was told of it.
func spoken(s *nodetest.Shop, facts []nodetest.Object, ticket string) {
	s.T.Helper()
	submitted, resolved := of(facts, "report.submitted")[0], of(facts, "report.resolved")[0]
	require.Equal(s.T, []any{1.0, "submitted", 2.0, "resolved", "Opened it."}, []any{
		submitted["seq"], nodetest.ValueAt(submitted, "data.report.status"), resolved["seq"], nodetest.ValueAt(resolved, "data.report.status"), nodetest.ValueAt(resolved, "data.report.resolution"),
	})
	messages := of(facts, "message.received")
	require.Equal(s.T, []any{1.0, "Where is the door?", ticket, 2.0}, []any{messages[0]["seq"], nodetest.ValueAt(messages[0], "data.message.body"), nodetest.ValueAt(messages[0], "data.message.ticketId"), messages[1]["seq"]})
	tagged := of(facts, "attendee.tagged")[0]
	require.Equal(s.T, nodetest.Object{"ticketId": ticket, "ticketCode": nil, "email": "eve@example.org", "name": nodetest.ValueAt(tagged, "data.attendee.name"), "tags": []any{"press"}}, nodetest.ValueAt(tagged, "data.attendee"))
}

// decideRefunds has somebody ask for a ticket's money twice: the first request is denied,
// the second granted, for nothing.
func decideRefunds(s *nodetest.Shop, email, ticket string) {
	s.T.Helper()
	buyer := s.Buyer(email)
	ask := func() string {
		id := buyer.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": ticket, "reason": illness}).Is(201, "").Str("id")
		return "/organizer/refunds/" + id
	}
	s.Own("POST", ask()+"/deny", nodetest.Object{"reason": "no"}).Is(200, "")
	s.Own("POST", ask()+"/approve", nodetest.Object{"amount": 0}).Is(200, "")
}

// TestRefundFactsKeepTheirMoment has a refund be decided before anybody is told that it was
// asked for: what is told of the request is the request.
func TestRefundFactsKeepTheirMoment(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.With(refundable(25), nodetest.Object{"quantityTotal": 5}))
	o := s.BuyPaid("ada@example.org", ids[0], 5)
	ada := s.Buyer("ada@example.org")
	for i := range 5 {
		ask := func() string {
			body := nodetest.Object{"ticketId": o.Str(fmt.Sprintf("tickets.%d.id", i)), "reason": illness}
			return "/organizer/refunds/" + ada.Own("POST", "/users/me/refunds", body).Is(201, "").Str("id")
		}
		s.Own("POST", ask()+"/deny", nodetest.Object{"reason": "no"}).Is(200, "")
		s.Own("POST", ask()+"/approve", nodetest.Object{}).Is(200, "")
	}
	s.Becomes("10 requested, 5 denied, 5 approved", func() string {
		all, _ := s.Feed("", "")
		return fmt.Sprintf("%d requested, %d denied, %d approved", len(of(all, "refund.requested")), len(of(all, "refund.denied")), len(of(all, "refund.approved")))
	})
	all, _ := s.Feed("", "")
	for _, f := range of(all, "refund.requested") {
		require.Equal(t, []any{"requested", nil, nil, "25.00"}, []any{
			nodetest.ValueAt(f, "data.refund.status"), nodetest.ValueAt(f, "data.refund.decidedAt"), nodetest.ValueAt(f, "data.refund.decisionNote"), nodetest.ValueAt(f, "data.refund.amount"),
		})
	}
	for _, f := range of(all, "refund.approved") {
		require.Equal(t, "approved", nodetest.ValueAt(f, "data.refund.status"))
	}
}

// actByAgent changes an event by a tool of the interface for agents.
func actByAgent(s *nodetest.Shop, event string) {
	s.T.Helper()
	text, _, isError := s.Agent("events:write").Tool("update_event", nodetest.Object{"id": event, "title": "Saturday Late"})
	require.False(s.T, isError, text)
}

// checkAction looks at what was told of it.
func checkAction(s *nodetest.Shop, facts []nodetest.Object, event string) {
	s.T.Helper()
	action := of(facts, "agent.action")[0]
	require.Equal(s.T, nodetest.Object{
		"tool": "update_event", "method": "PUT", "path": "/api/v1/organizer/events/" + event, "statusCode": 200.0, "at": action["created"],
	}, action["data"])
}

// awaitDeliveries waits until an endpoint has been sent each of the facts as the feed has it,
// signed.
func awaitDeliveries(t testing.TB, posts chan *post, secret string, facts []nodetest.Object) {
	t.Helper()
	waited := make(map[string]nodetest.Object, len(facts))
	for _, f := range facts {
		waited[f["id"].(string)] = f
	}
	for len(waited) > 0 {
		select {
		case p := <-posts:
			require.True(t, p.signedBy(t, secret), p.body)
			require.Equal(t, p.Type, p.event)
			if f, ok := waited[p.ID]; ok { // a delivery may come twice
				require.JSONEq(t, nodetest.Encode(t, f), p.body)
				delete(waited, p.ID)
			}
		case <-time.After(time.Minute):
			require.Empty(t, waited, "these did not arrive")
		}
	}
}

// orderly looks at the order in which an order's facts were told.
func orderly(s *nodetest.Shop, facts []nodetest.Object, id string) {
	s.T.Helper()
	var told []string
	var seq float64
	for _, f := range facts {
		if nodetest.ValueAt(f, "data.order.id") == id || nodetest.ValueAt(f, "data.ticket.orderId") == id {
			told = append(told, f["type"].(string))
			require.GreaterOrEqual(s.T, f["seq"].(float64), seq)
			seq = f["seq"].(float64)
		}
	}
	require.Equal(s.T, []string{"order.created", "order.completed", "ticket.created", "ticket.created", "ticket.checked_in", "ticket.checkin_denied", "ticket.transferred"}, told)
}

// records compares payloads with what the API answers.
func records(s *nodetest.Shop, facts []nodetest.Object, event string, paid nodetest.Answer) {
	s.T.Helper()
	created := of(facts, "event.created")[0]
	require.Equal(s.T, []any{event, "draft", "Friday Night"}, []any{nodetest.ValueAt(created, "data.event.id"), nodetest.ValueAt(created, "data.event.status"), nodetest.ValueAt(created, "data.event.title")})
	require.Equal(s.T, "Saturday Night", nodetest.ValueAt(of(facts, "event.updated")[0], "data.event.title"))
	require.Equal(s.T, "published", nodetest.ValueAt(of(facts, "event.published")[0], "data.event.status"))
	require.Equal(s.T, "cancelled", nodetest.ValueAt(of(facts, "event.cancelled")[0], "data.event.status"))
	require.Equal(s.T, "completed", nodetest.ValueAt(of(facts, "event.completed")[0], "data.event.status"))
	soldOut := of(facts, "ticket_type.sold_out")[0]
	require.Equal(s.T, []any{event, 0.0, 3.0}, []any{nodetest.ValueAt(soldOut, "data.ticketType.eventId"), nodetest.ValueAt(soldOut, "data.ticketType.available"), nodetest.ValueAt(soldOut, "data.ticketType.sold")})
	begun := of(facts, "order.created")[0]
	require.Equal(s.T, []any{"pending", nil}, []any{nodetest.ValueAt(begun, "data.order.status"), nodetest.ValueAt(begun, "data.order.completedAt")})
	require.Equal(s.T, "cancelled", nodetest.ValueAt(of(facts, "order.cancelled")[0], "data.order.status"))
	require.Equal(s.T, "failed", nodetest.ValueAt(of(facts, "order.failed")[0], "data.order.status"))

	completed := of(facts, "order.completed")[0]["data"].(nodetest.Object)
	order := maps.Clone(paid.Body["data"].(nodetest.Object))
	tickets := order["tickets"].([]any)
	delete(order, "tickets")
	require.Equal(s.T, order, completed["order"])
	require.Len(s.T, tickets, 2)
	for i, ticket := range tickets {
		told := completed["tickets"].([]any)[i].(nodetest.Object)
		require.Regexp(s.T, `^v2\.`, told["qr"])
		require.Equal(s.T, told, nodetest.ValueAt(of(facts, "ticket.created")[i], "data.ticket"))
		same := maps.Clone(ticket.(nodetest.Object))
		for _, ofThisAnswer := range []string{"qr", "qrExpiresAt", "code", "shortCode", "refundEligible", "downloadable", "accessUrl", "accessNote", "printable"} {
			delete(same, ofThisAnswer)
		}
		told = maps.Clone(told)
		delete(told, "qr")
		delete(told, "qrExpiresAt")
		require.Equal(s.T, same, told)
	}
	admitted := of(facts, "ticket.checked_in")[0]
	require.Equal(s.T, []any{"checked_in", "North", "success", "North"}, []any{
		nodetest.ValueAt(admitted, "data.ticket.status"), nodetest.ValueAt(admitted, "data.ticket.gateName"), nodetest.ValueAt(admitted, "data.checkin.status"), nodetest.ValueAt(admitted, "data.checkin.gateName"),
	})
	denied := of(facts, "ticket.checkin_denied")
	require.Equal(s.T, []any{"denied_duplicate", "qr_scan", nodetest.ValueAt(admitted, "data.ticket.id")}, []any{
		nodetest.ValueAt(denied[0], "data.checkin.status"), nodetest.ValueAt(denied[0], "data.checkin.method"), nodetest.ValueAt(denied[0], "data.ticket.id"),
	})
	require.Equal(s.T, []any{"denied_wrong_event", nil}, []any{nodetest.ValueAt(denied[1], "data.checkin.status"), nodetest.ValueAt(denied[1], "data.ticket")})
	back := of(facts, "refund.processed")[0]
	require.Equal(s.T, []any{"20.00", "USD", "processed"}, []any{nodetest.ValueAt(back, "data.refund.amount"), nodetest.ValueAt(back, "data.refund.currency"), nodetest.ValueAt(back, "data.refund.status")})
}

// TestSeatsAreTold has the seats on the tickets.
func TestSeatsAreTold(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	o := h.Buy("", h.Stalls, "stalls-A-1", "stalls-A-2").Is(201, "")
	h.Settle(h.Checkout(o.Str("id"), o.Str("accessToken")), "success")
	require.Equal(t, "completed", h.Verify(o.Str("id"), o.Str("accessToken")).Str("status"))
	var facts []nodetest.Object
	h.Becomes("2", func() string {
		facts, _ = h.Feed("", "&types=ticket.created")
		return fmt.Sprint(len(facts))
	})
	valid(h.Shop, facts[1])
	require.Equal(t, nodetest.Object{"id": "stalls-A-2", "label": "2", "row": "A", "section": "Stalls"}, nodetest.ValueAt(facts[1], "data.ticket.seat"))
}

// TestFeed reads facts page by page, as who may and who may not.
func TestFeed(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	for i := range 7 {
		s.Place(fmt.Sprintf("%d@example.org", i), ids[0], 1)
	}
	want := map[string]int{"event.created": 1, "ticket_type.created": 1, "event.published": 1, "order.created": 7, "order.completed": 7, "ticket.created": 7}
	all := s.AwaitFacts(want)
	catalogue(s)

	t.Log("by pages")
	var paged []nodetest.Object
	after := ""
	for {
		a := s.Own("GET", nodetest.FactsPath+"?limit=5&after="+after, nil).Is(200, "")
		for _, f := range a.Data("items").([]any) {
			paged = append(paged, f.(nodetest.Object))
		}
		if after = a.Str("cursor"); a.Data("nextCursor") == nil {
			break
		}
	}
	require.Equal(t, all, paged)

	t.Log("from there on there is nothing, until something happens")
	more, at := s.Feed(after, "")
	require.Empty(t, more)
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"title": "Sunday Night"}).Is(200, "")
	s.Becomes("1", func() string {
		more, _ = s.Feed(at, "")
		return fmt.Sprint(len(more))
	})
	require.Equal(t, "event.updated", more[0]["type"])
	none, _ := s.Feed("now", "")
	require.Empty(t, none)

	t.Log("by types")
	some, _ := s.Feed("", "&types=order.completed,ticket_type.created")
	require.Equal(t, map[string]int{"order.completed": 7, "ticket_type.created": 1}, nodetest.FactTypes(some))
	none, _ = s.Feed("", "&types=payout.paid")
	require.Empty(t, none)

	t.Log("what is refused")
	s.Own("GET", nodetest.FactsPath+"?types=order.completed,order.eaten", nil).Invalid("types[1]", "enum")
	for _, cursor := range []string{"x", "AAAA", strings.Repeat("A", 21), after[:len(after)-1], "f_________8AAAAAAAAAAQ"} {
		s.Own("GET", nodetest.FactsPath+"?after="+cursor, nil).Invalid("after", "format")
	}
	s.Own("GET", nodetest.FactsPath+"?limit=101", nil).Invalid("limit", "maximum")
	s.Own("GET", nodetest.FactsPath+"?orgId=999999", nil).Is(404, "NOT_FOUND")
	s.Call("GET", nodetest.FactsPath, nil).Is(401, "UNAUTHORIZED")
	stranger := s.Register("stranger@example.org")
	theirs, _ := stranger.Feed("", "")
	require.Empty(t, theirs)
	s.As(s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret")).Own("GET", nodetest.FactsPath, nil).Is(403, "FORBIDDEN")
	byKey, _ := s.As(s.Key(nodetest.Object{"scopes": []string{"webhooks:manage"}}).Str("secret")).Feed("", "")
	require.Equal(t, all, byKey[:len(all)])

	t.Log("a fact that was deleted unread is missed")
	_, err := s.Pool().Exec(t.Context(), `UPDATE facts_pruned SET xid = (SELECT max(xid::text::bigint)::text::xid8 FROM facts), position = 1000000`)
	require.NoError(t, err)
	s.Own("GET", nodetest.FactsPath+"?after="+after, nil).Invalid("after", "minimum")
	again, _ := s.Feed("", "")
	require.Len(t, again, len(all)+1)
}

// catalogue looks at what everybody may read.
func catalogue(s *nodetest.Shop) {
	s.T.Helper()
	a := s.Call("GET", "/webhooks/catalog", nil).Is(200, "")
	require.Len(s.T, a.Data("items"), 27)
	require.Equal(s.T, nodetest.Words("type description dataKeys active schema"), a.Keys("items.0"))
	doc, err := nodetest.Published()
	require.NoError(s.T, err)
	active := 0
	for i := range 27 {
		item := "items." + fmt.Sprint(i)
		name := a.Str(item + ".type")
		require.Equal(s.T, "#/webhooks/"+name, a.Str(item+".schema"))
		require.Contains(s.T, doc.Webhooks, name)
		if a.Data(item+".active") == true {
			active++
		}
	}
	require.Equal(s.T, 24, active)
}
