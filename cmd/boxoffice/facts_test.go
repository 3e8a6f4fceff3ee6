package main

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/webhook"
)

const factsPath = "/organizer/facts"

// feed reads the organization's facts to the end, from a cursor on.
func (s *shop) feed(after string, query string) (facts []object, cursor string) {
	s.t.Helper()
	for {
		a := s.own("GET", factsPath+"?limit=100&after="+url.QueryEscape(after)+query, nil).is(200, "")
		for _, f := range a.data("items").([]any) {
			facts = append(facts, f.(object))
		}
		after = a.str("cursor")
		if a.data("nextCursor") == nil {
			return facts, after
		}
		require.Equal(s.t, after, a.str("nextCursor"))
	}
}

// types counts facts by their types.
func types(facts []object) map[string]int {
	n := map[string]int{}
	for _, f := range facts {
		n[f["type"].(string)]++
	}
	return n
}

// tells waits until as many facts of each type have been told.
func (s *shop) tells(want map[string]int) []object {
	s.t.Helper()
	var facts []object
	require.EventuallyWithT(s.t, func(c *assert.CollectT) {
		facts, _ = s.feed("", "")
		require.Equal(c, want, types(facts))
	}, 20*time.Second, 50*time.Millisecond)
	return facts
}

// in is what a fact says at a path such as "data.order.id".
func said(f object, path string) any {
	var v any = f
	for k := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case object:
			v = at[k]
		case []any:
			v = at[int(k[0]-'0')]
		}
	}
	return v
}

// of are the facts of a type.
func of(facts []object, typ string) []object {
	return slices.DeleteFunc(slices.Clone(facts), func(f object) bool { return f["type"] != typ })
}

// untold are the members that payloads do not have: secrets, and what buyers pay
// for (docs/rules.md, Records).
var untold = regexp.MustCompile(`"(accessToken|accessUrl|accessNote|shortCode|presaleCode|onlineLink|onlineLinkNote|pin|doorCode|token)":`)

// valid holds a fact against the document, and looks for secrets.
func (s *shop) valid(f object) {
	s.t.Helper()
	doc, err := published()
	require.NoError(s.t, err)
	hook := doc.Webhooks[f["type"].(string)]
	require.NotNil(s.t, hook, "%v", f)
	require.NoError(s.t, hook.Post.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(f), "%v", f)
	require.Equal(s.t, words("created data id seq type"), slices.Sorted(maps.Keys(f)))
	row, _ := webhook.Find(f["type"].(string))
	require.Equal(s.t, slices.Sorted(slices.Values(row.Keys)), slices.Sorted(maps.Keys(f["data"].(object))))
	require.NotRegexp(s.t, untold, encode(s.t, f))
	require.NotContains(s.t, encode(s.t, f), "hidden-9b2c")
	require.Regexp(s.t, `^evt_[0-9a-z]{26}$`, f["id"])
	at, err := time.Parse(time.RFC3339, f["created"].(string))
	require.NoError(s.t, err)
	require.InDelta(s.t, time.Now().Unix(), at.Unix(), 60)
}

// TestFacts has everything happen that the world is told of.
func TestFacts(t *testing.T) {
	t.Parallel()
	s := open(t)
	secret := object{"accessUrl": "https://example.org/hidden-9b2c", "accessNote": "hidden-9b2c", "presaleCode": "hidden-9b2c"}
	event, ids := s.sell(object{"onlineLink": "https://example.org/hidden-9b2c", "onlineLinkNote": "hidden-9b2c"}, with(typeBody(25, 3), secret))
	s.own("PUT", "/organizer/events/"+event, object{"title": "Saturday Night"}).is(200, "")
	place := func(email string, quantity int) (id, token string) {
		o := s.call("POST", "/orders", with(orderBody(email, ids[0], quantity), object{"presaleCode": "hidden-9b2c"})).is(201, "")
		return o.str("id"), o.str("accessToken")
	}
	paid, paidToken := place("ada@example.org", 2)
	s.settle(s.checkout(paid, paidToken), "success")
	done := s.verify(paid, paidToken).is(200, "")
	gone, goneToken := place("gone@example.org", 1)
	pay := s.pay(gone, goneToken).is(200, "")
	s.settle(pay.str("authorizationUrl")+"?paysim=short=625", "success")
	require.Equal(t, "processing", s.verify(gone, goneToken).is(200, "").str("status"))
	s.call("POST", "/orders/"+gone+"/cancel", object{"token": goneToken}).is(200, "")
	s.window(event, 1500*time.Millisecond)
	expired, expiredToken := place("expired@example.org", 1)
	s.becomes("expired", s.status(expired, expiredToken))
	failed, failedToken := place("failed@example.org", 1)
	s.settle(s.shortWindow(failed, failedToken), "failed")
	require.Equal(t, "failed", s.verify(failed, failedToken).is(200, "").str("payments.0.status"))
	s.becomes("failed", s.status(failed, failedToken))
	s.window(event, 15*time.Minute)
	last, lastToken := place("last@example.org", 1)
	s.settle(s.checkout(last, lastToken), "success")
	require.Equal(t, "completed", s.verify(last, lastToken).is(200, "").str("status"))
	s.refunded(back{gone, goneToken, pay.str("reference"), 2000, "refunded"})
	for _, code := range []string{done.str("tickets.0.qr"), done.str("tickets.0.shortCode"), "v1.nonsense.1.x", "234567"} {
		s.scan(event, code, code[:6]).is(200, "")
	}
	over, _ := s.sell(nil, typeBody(0, -1))
	for _, status := range []string{"in_progress", "completed"} {
		s.own("PUT", "/organizer/events/"+over+"/status", object{"status": status}).is(200, "")
	}
	off, _ := s.sell(nil, typeBody(5, 1))
	s.own("DELETE", "/organizer/events/"+off, object{"reason": "rain"}).is(200, "")

	want := map[string]int{
		"event.created": 3, "event.updated": 3, "event.published": 3, "event.cancelled": 1, "event.completed": 1,
		"ticket_type.created": 3, "ticket_type.sold_out": 1, "order.created": 5, "order.completed": 2, "order.failed": 1, "order.cancelled": 1,
		"ticket.created": 3, "ticket.checked_in": 1, "ticket.checkin_denied": 3, "refund.processed": 1,
	}
	for _, row := range webhook.Catalogue {
		require.Equal(t, row.Active(), want[row.Name] > 0, "%s: does the story have it?", row.Name)
	}
	facts := s.tells(want)
	seen := map[string]bool{}
	for _, f := range facts {
		s.valid(f)
		require.False(t, seen[f["id"].(string)])
		seen[f["id"].(string)] = true
	}
	s.orderly(facts, paid)
	s.records(facts, event, done)

	t.Log("after a restart nothing is told again")
	s.restart()
	s.own("PUT", "/organizer/events/"+event, object{"title": "Sunday Night"}).is(200, "")
	want["event.updated"]++
	require.Equal(t, facts, s.tells(want)[:len(facts)])
}

// orderly looks at the order in which an order's facts were told.
func (s *shop) orderly(facts []object, id string) {
	s.t.Helper()
	var told []string
	var seq float64
	for _, f := range facts {
		if said(f, "data.order.id") == id || said(f, "data.ticket.orderId") == id {
			told = append(told, f["type"].(string))
			require.GreaterOrEqual(s.t, f["seq"].(float64), seq)
			seq = f["seq"].(float64)
		}
	}
	require.Equal(s.t, []string{"order.created", "order.completed", "ticket.created", "ticket.created", "ticket.checked_in", "ticket.checkin_denied"}, told)
}

// records compares payloads with what the API answers.
func (s *shop) records(facts []object, event string, paid answer) {
	s.t.Helper()
	created := of(facts, "event.created")[0]
	require.Equal(s.t, []any{event, "draft", "Friday Night"}, []any{said(created, "data.event.id"), said(created, "data.event.status"), said(created, "data.event.title")})
	require.Equal(s.t, "Saturday Night", said(of(facts, "event.updated")[0], "data.event.title"))
	require.Equal(s.t, "published", said(of(facts, "event.published")[0], "data.event.status"))
	require.Equal(s.t, "cancelled", said(of(facts, "event.cancelled")[0], "data.event.status"))
	require.Equal(s.t, "completed", said(of(facts, "event.completed")[0], "data.event.status"))
	soldOut := of(facts, "ticket_type.sold_out")[0]
	require.Equal(s.t, []any{event, 0.0, 3.0}, []any{said(soldOut, "data.ticketType.eventId"), said(soldOut, "data.ticketType.available"), said(soldOut, "data.ticketType.sold")})
	begun := of(facts, "order.created")[0]
	require.Equal(s.t, []any{"pending", nil}, []any{said(begun, "data.order.status"), said(begun, "data.order.completedAt")})
	require.Equal(s.t, "cancelled", said(of(facts, "order.cancelled")[0], "data.order.status"))
	require.Equal(s.t, "failed", said(of(facts, "order.failed")[0], "data.order.status"))

	completed := of(facts, "order.completed")[0]["data"].(object)
	order := maps.Clone(paid.body["data"].(object))
	tickets := order["tickets"].([]any)
	delete(order, "tickets")
	require.Equal(s.t, order, completed["order"])
	require.Len(s.t, tickets, 2)
	for i, ticket := range tickets {
		told := completed["tickets"].([]any)[i].(object)
		require.Regexp(s.t, `^v1\.`, told["qr"])
		require.Equal(s.t, told, said(of(facts, "ticket.created")[i], "data.ticket"))
		same := maps.Clone(ticket.(object))
		for _, ofThisAnswer := range []string{"qr", "qrExpiresAt", "shortCode", "refundable", "refundEligible"} {
			delete(same, ofThisAnswer)
		}
		told = maps.Clone(told)
		delete(told, "qr")
		delete(told, "qrExpiresAt")
		require.Equal(s.t, same, told)
	}
	admitted := of(facts, "ticket.checked_in")[0]
	require.Equal(s.t, []any{"checked_in", "North", "success", "North"}, []any{
		said(admitted, "data.ticket.status"), said(admitted, "data.ticket.gateName"), said(admitted, "data.checkin.status"), said(admitted, "data.checkin.gateName"),
	})
	denied := of(facts, "ticket.checkin_denied")
	require.Equal(s.t, []any{"denied_duplicate", said(admitted, "data.ticket.id")}, []any{said(denied[0], "data.checkin.status"), said(denied[0], "data.ticket.id")})
	require.Equal(s.t, []any{"denied_wrong_event", nil}, []any{said(denied[1], "data.checkin.status"), said(denied[1], "data.ticket")})
	back := of(facts, "refund.processed")[0]
	require.Equal(s.t, []any{"20.00", "USD", "processed"}, []any{said(back, "data.refund.amount"), said(back, "data.refund.currency"), said(back, "data.refund.status")})
}

// TestSeatsAreTold has the seats on the tickets.
func TestSeatsAreTold(t *testing.T) {
	t.Parallel()
	h := seated(t)
	o := h.buy("", h.stalls, "stalls-A-1", "stalls-A-2").is(201, "")
	h.settle(h.checkout(o.str("id"), o.str("accessToken")), "success")
	require.Equal(t, "completed", h.verify(o.str("id"), o.str("accessToken")).str("status"))
	var facts []object
	h.becomes("2", func() string {
		facts, _ = h.feed("", "&types=ticket.created")
		return fmt.Sprint(len(facts))
	})
	h.valid(facts[1])
	require.Equal(t, object{"id": "stalls-A-2", "label": "2", "row": "A", "section": "Stalls"}, said(facts[1], "data.ticket.seat"))
}

// TestFeed reads facts page by page, as who may and who may not.
func TestFeed(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(0, 100))
	for i := range 7 {
		s.place(fmt.Sprintf("%d@example.org", i), ids[0], 1)
	}
	want := map[string]int{"event.created": 1, "ticket_type.created": 1, "event.published": 1, "order.created": 7, "order.completed": 7, "ticket.created": 7}
	all := s.tells(want)
	s.catalogue()

	t.Log("by pages")
	var paged []object
	after := ""
	for {
		a := s.own("GET", factsPath+"?limit=5&after="+after, nil).is(200, "")
		for _, f := range a.data("items").([]any) {
			paged = append(paged, f.(object))
		}
		if after = a.str("cursor"); a.data("nextCursor") == nil {
			break
		}
	}
	require.Equal(t, all, paged)

	t.Log("from there on there is nothing, until something happens")
	more, at := s.feed(after, "")
	require.Empty(t, more)
	s.own("PUT", "/organizer/events/"+event, object{"title": "Sunday Night"}).is(200, "")
	s.becomes("1", func() string {
		more, _ = s.feed(at, "")
		return fmt.Sprint(len(more))
	})
	require.Equal(t, "event.updated", more[0]["type"])

	t.Log("by types")
	some, _ := s.feed("", "&types=order.completed,ticket_type.created")
	require.Equal(t, map[string]int{"order.completed": 7, "ticket_type.created": 1}, types(some))
	none, _ := s.feed("", "&types=payout.paid")
	require.Empty(t, none)

	t.Log("what is refused")
	s.own("GET", factsPath+"?types=order.completed,order.eaten", nil).invalid("types[1]", "enum")
	for _, cursor := range []string{"x", "AAAA", strings.Repeat("A", 21), after[:len(after)-1], "f_________8AAAAAAAAAAQ"} {
		s.own("GET", factsPath+"?after="+cursor, nil).invalid("after", "format")
	}
	s.own("GET", factsPath+"?limit=101", nil).invalid("limit", "maximum")
	s.own("GET", factsPath+"?orgId=999999", nil).is(404, "NOT_FOUND")
	s.call("GET", factsPath, nil).is(401, "UNAUTHORIZED")
	stranger := s.register("stranger@example.org")
	theirs, _ := stranger.feed("", "")
	require.Empty(t, theirs)
	s.as(s.key(object{"scopes": []string{"orders:read"}}).str("secret")).own("GET", factsPath, nil).is(403, "FORBIDDEN")
	byKey, _ := s.as(s.key(object{"scopes": []string{"webhooks:manage"}}).str("secret")).feed("", "")
	require.Equal(t, all, byKey[:len(all)])

	t.Log("a fact that was deleted unread is missed")
	_, err := s.pool.Exec(t.Context(), `UPDATE facts_pruned SET xid = (SELECT max(xid::text::bigint)::text::xid8 FROM facts), position = 1000000`)
	require.NoError(t, err)
	s.own("GET", factsPath+"?after="+after, nil).invalid("after", "minimum")
	again, _ := s.feed("", "")
	require.Len(t, again, len(all)+1)
}

// catalogue looks at what everybody may read.
func (s *shop) catalogue() {
	s.t.Helper()
	a := s.call("GET", "/webhooks/catalog", nil).is(200, "")
	require.Len(s.t, a.data("items"), 27)
	require.Equal(s.t, words("type description dataKeys active schema"), a.keys("items.0"))
	doc, err := published()
	require.NoError(s.t, err)
	active := 0
	for i := range 27 {
		item := "items." + fmt.Sprint(i)
		name := a.str(item + ".type")
		require.Equal(s.t, "#/webhooks/"+name, a.str(item+".schema"))
		require.Contains(s.t, doc.Webhooks, name)
		if a.data(item+".active") == true {
			active++
		}
	}
	require.Equal(s.t, 15, active)
}
