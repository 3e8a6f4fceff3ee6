package outward

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// What a reader sees of a ticket: c its codes, d where it is delivered, h who holds it. "" is no
// ticket at all.
const (
	allOfIt  = "cdh"
	noneOfIt = "---"
	notThere = ""
)

// sight says what an answer shows of a ticket. What belongs together is there together.
func sight(t testing.TB, ticket nodetest.Object) string {
	t.Helper()
	if ticket == nil {
		return notThere
	}
	group := func(letter string, members string) string {
		found := 0
		for _, m := range nodetest.Words(members) {
			if _, ok := ticket[m]; ok {
				found++
			}
		}
		require.Contains(t, []int{0, len(nodetest.Words(members))}, found, "%s: %v", members, ticket)
		if found == 0 {
			return "-"
		}
		return letter
	}
	holder := "h"
	if ticket["holder"] == nil {
		holder = "-"
	}
	return group("c", "code shortCode qr qrExpiresAt") + group("d", "downloadable accessUrl accessNote") + holder
}

// ticketIn finds a ticket in an answer, wherever it stands.
func ticketIn(answer any, id string) nodetest.Object {
	switch at := answer.(type) {
	case nodetest.Object:
		if _, isTicket := at["tierName"]; isTicket && at["id"] == id {
			return at
		}
		for _, v := range at {
			if t := ticketIn(v, id); t != nil {
				return t
			}
		}
	case []any:
		for _, v := range at {
			if t := ticketIn(v, id); t != nil {
				return t
			}
		}
	}
	return nil
}

// watch is a reader at a row, with what they see of a ticket before and after it was passed on.
type watch struct {
	reader, row   string
	read          func() any
	before, after string
}

// TestWhoSeesWhat reads a ticket as each of its readers at each row, before it is passed on and
// after it, when its type is delivered elsewhere: a written matrix of who sees codes, delivery
// and holder.
func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const ada, bob = "ada@example.org", "bob@example.org"
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"accessUrl": "https://example.org/old-7f", "accessNote": "PIN-old"}))
	o := s.Call("POST", "/orders", nodetest.OrderBody(ada, ids[0], 2)).Is(201, "")
	ticket, kept, token := o.Str("tickets.0.id"), o.Str("tickets.1.id"), o.Str("accessToken")
	buyer, holder := s.Buyer(ada), s.Buyer(bob)
	watches := matrix(s, o.Str("id"), token, buyer, holder)

	for _, w := range watches {
		require.Equal(t, w.before, sight(t, ticketIn(w.read(), ticket)), "%s at %s", w.reader, w.row)
	}
	handOver(buyer, ticket, bob)
	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+ids[0], nodetest.Object{"accessUrl": "https://example.org/new-7f", "accessNote": "PIN-new"}).Is(200, "")
	require.Eventually(t, func() bool {
		return ticketIn(holder.Own("GET", "/users/me/tickets", nil).Is(200, "").Body, ticket) != nil
	}, 20*time.Second, 20*time.Millisecond)
	code := ticketIn(holder.Own("GET", "/users/me/tickets", nil).Body, ticket)["code"].(string)
	for _, w := range watches {
		at := w.reader + " at " + w.row
		answer := w.read()
		require.Equal(t, w.after, sight(t, ticketIn(answer, ticket)), at)
		if w.after == noneOfIt {
			of := nodetest.Encode(t, ticketIn(answer, ticket))
			for _, secret := range []string{bob, code, "new-7f", "PIN-new"} {
				require.NotContains(t, of, secret, at)
			}
		}
		if before := ticketIn(answer, kept); before != nil {
			require.Equal(t, w.before, sight(t, before), "%s: what was not passed on", at)
		}
		if strings.HasPrefix(w.after, "c") {
			require.Equal(t, code, ticketIn(answer, ticket)["code"], "%s: the code of who holds it", at)
		}
	}
	s.Call("GET", "/orders/"+o.Str("id"), nil, holder.Bearer()...).Is(404, "ORDER_NOT_FOUND")
	want := map[string]int{"ticket.created": 2, "order.completed": 1, "ticket.transferred": 1}
	for _, f := range s.AwaitFacts(want, slices.Collect(maps.Keys(want))...) {
		require.NotRegexp(t, untold, nodetest.Encode(t, f))
		require.NotContains(t, nodetest.Encode(t, f), code)
	}
}

// matrix is the table of readers and rows.
func matrix(s *nodetest.Shop, order, token string, buyer, holder *nodetest.Shop) []watch {
	row := func(of *nodetest.Shop, path string) func() any {
		return func() any { return of.Own("GET", path, nil).Is(200, "").Body }
	}
	export := func(of *nodetest.Shop, section string) func() any {
		return func() any {
			var got struct{ Data nodetest.Object }
			require.NoError(s.T, s.AwaitLists(s.T.Context()))
			r := of.Raw("GET", "/users/me/export", "", "", of.Bearer()...).Is(s.T, 200)
			require.NoError(s.T, json.Unmarshal([]byte(r.Body), &got))
			return got.Data[section]
		}
	}
	all := []watch{
		{"the buyer's token", "order", func() any { return s.Order(order, token).Body }, allOfIt, noneOfIt},
		{"the buyer", "order", row(buyer, "/orders/"+order), allOfIt, noneOfIt},
		{"the buyer", "wallet", row(buyer, "/users/me/tickets"), allOfIt, notThere},
		{"the buyer", "exported orders", export(buyer, "orders"), allOfIt, noneOfIt},
		{"the buyer", "exported tickets", export(buyer, "tickets"), allOfIt, notThere},
		{"the new holder", "wallet", row(holder, "/users/me/tickets"), notThere, allOfIt},
		{"the new holder", "exported orders", export(holder, "orders"), notThere, notThere},
		{"the new holder", "exported tickets", export(holder, "tickets"), notThere, allOfIt},
	}
	s.Org()
	for _, seller := range []struct {
		name, sees string
		shop       *nodetest.Shop
	}{
		{"the owner", allOfIt, s},
		{"a key of all scopes", allOfIt, s.As(s.Key(nil).Str("secret"))},
		{"a key that reads orders", "--h", s.Agent("orders:read")},
		{"a key that reads orders and ticket types", "-dh", s.Agent("orders:read", "tickets:read")},
		{"a key that reads orders and admits", "c-h", s.Agent("orders:read", "checkin:write")},
	} {
		tool := func(name string, arguments nodetest.Object) func() any {
			return func() any {
				require.NoError(s.T, s.AwaitLists(s.T.Context()))
				text, made, isError := seller.shop.Tool(name, arguments)
				require.False(s.T, isError, text)
				return made
			}
		}
		for row, read := range map[string]func() any{
			"order": row(seller.shop, "/orders/"+order), "own order": row(seller.shop, "/organizer/orders/"+order), "own orders": row(seller.shop, "/organizer/orders"),
			"tool for an order": tool("get_order", nodetest.Object{"id": order}), "tool for an own order": tool("get_own_order", nodetest.Object{"id": order}),
			"tool for own orders": tool("list_orders", nodetest.Object{}),
		} {
			all = append(all, watch{seller.name, row, read, seller.sees, seller.sees})
		}
	}
	return all
}

// TestPapersForWhoSeesCodes prints tickets for those alone who see their codes.
func TestPapersForWhoSeesCodes(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(0, 100))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	path := "/orders/" + o.Str("id") + "/tickets.pdf"
	pages := func(of *nodetest.Shop, query string) int {
		r := of.Raw("GET", path+query, "", "", of.Bearer()...).Is(t, 200)
		return strings.Count(r.Body, "/Type /Page\n")
	}
	token := "?token=" + o.Str("accessToken")
	guest := s.As("")
	read := func() int {
		return strings.Count(guest.Raw("GET", path+token, "", "").Is(t, 200).Body, "/Type /Page\n")
	}
	s.Org()
	admits, reads := s.Agent("orders:read", "checkin:write"), s.Agent("orders:read", "tickets:read")
	require.Equal(t, []int{2, 2, 2}, []int{read(), pages(s, ""), pages(admits, "")})
	passOn(s, o.Str("tickets.0.id"), "ada@example.org", "bob@example.org")
	require.Equal(t, []int{1, 2, 2}, []int{read(), pages(s, ""), pages(admits, "")})
	reads.Own("GET", path, nil).Refused(403, "FORBIDDEN", nodetest.Object{"required": []string{"orders:read", "checkin:write"}, "granted": []string{"tickets:read", "orders:read"}})
	passOn(s, o.Str("tickets.0.id"), "bob@example.org", "ada@example.org")
	require.Equal(t, 2, read(), "it is the buyer's again")
}

// TestDeliveryEndsWithTheTicket has a buyer pass the only ticket of a line on: page and mail of the
// order tell no more where the line is delivered.
func TestDeliveryEndsWithTheTicket(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"accessUrl": "https://example.org/old-7f", "accessNote": "PIN-old"}))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	page := func() string {
		return s.AtRoot().Raw("GET", "/orders/"+o.Str("id")+"?token="+o.Str("accessToken"), "", "").Body
	}
	require.Contains(t, page(), "old-7f")
	require.Contains(t, s.Mail(t, "ada@example.org", "order_confirmation", time.Time{}).Text, "old-7f")
	passOn(s, o.Str("tickets.0.id"), "ada@example.org", "bob@example.org")
	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+ids[0], nodetest.Object{"accessUrl": "https://example.org/new-7f", "accessNote": "PIN-new"}).Is(200, "")
	again := time.Now()
	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/resend", nil).Is(200, "")
	mailed := s.Mail(t, "ada@example.org", "order_confirmation", again)
	for _, text := range []string{page(), mailed.Text, mailed.HTML} {
		require.Contains(t, text, o.Str("orderNumber"))
		require.NotRegexp(t, `old-7f|new-7f|PIN-old|PIN-new|bob@example`, text)
	}
}

// TestKeysThatMakeOrders has API keys make orders at each row that does: what the answer shows of
// the tickets is what the key's scopes let it see, and the token that opens all comes with all alone.
func TestKeysThatMakeOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	s.Org()
	for _, c := range []struct {
		more  []string
		codes bool
		token bool
	}{
		{nil, false, false},
		{[]string{"tickets:read"}, false, false},
		{[]string{"checkin:write"}, true, false},
		{[]string{"checkin:write", "tickets:read"}, true, true},
	} {
		key := s.Agent(append([]string{"orders:write", "tickets:write"}, c.more...)...)
		for path, body := range map[string]nodetest.Object{
			"/orders":                     nodetest.OrderBody(uuid.NewString()+"@example.org", ids[0], 1),
			"/events/" + event + "/issue": nodetest.With(nodetest.IssueBody(ids[0], 1), nodetest.Object{"sendEmail": false}),
			"/organizer/growth/events/" + event + "/comps": {"ticketTypeId": ids[0], "recipients": []nodetest.Object{{"email": uuid.NewString() + "@example.org"}}},
		} {
			answer := key.Own("POST", path, body).Is(201, "")
			text := nodetest.Encode(t, answer.Body)
			require.Equal(t, c.codes, strings.Contains(text, `"shortCode"`), "%s %v", path, c.more)
			require.Equal(t, c.codes, strings.Contains(text, `"qr"`), "%s %v", path, c.more)
			if !strings.Contains(path, "comps") {
				require.Equal(t, c.token, strings.Contains(text, `"accessToken"`), "%s %v", path, c.more)
			}
		}
	}
}
