package orders

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// funded opens a shop whose wallet has some dollars.
func funded(t *testing.T, dollars any) *nodetest.Shop {
	t.Helper()
	s, root := nodetest.OpenWithAdmin(t)
	root.Own("POST", "/admin/wallets/"+s.Org()+"/credit", nodetest.Object{"amount": dollars, "currency": "USD"}).Is(201, "")
	return s
}

func dollars(s *nodetest.Shop) string {
	s.T.Helper()
	return s.Own("GET", "/organizer/wallets", nil).Is(200, "").Balances()["USD"]
}

// TestIssue has the organization make an order, whose fee its wallet pays.
func TestIssue(t *testing.T) {
	t.Parallel()
	s := funded(t, 10)
	start := time.Now()
	event, types := s.OnSale(nodetest.With(nodetest.TypeBody(33.5, 10), nodetest.Object{
		"maxPerOrder": 1, "maxPerCustomer": 1, "presaleCode": "HUSH", "saleStart": nodetest.Stamp(time.Hour), "isHidden": true,
	}), nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"name": "Free"}))
	path := "/events/" + event + "/issue"
	body := nodetest.Object{
		"items": []nodetest.Object{
			{"ticketTypeId": types[0], "quantity": 2, "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
			{"ticketTypeId": types[0], "quantity": 1},
			{"ticketTypeId": types[1], "quantity": 1},
		},
		"buyer": nodetest.Object{"email": "ann@example.org", "name": "Ann"}, "reference": "REF-1",
	}
	a := s.Own("POST", path, body).Is(201, "")
	require.Equal(t, nodetest.Words("order tickets fee"), a.Keys(""))
	for at, want := range map[string]any{
		"order.status": "completed", "order.reference": "REF-1", "order.subtotal": "100.50", "order.fees": "0.00", "order.total": "100.50",
		"order.buyer.email": "ann@example.org", "fee.rate": 0.03, "fee.amount": "3.03", "fee.currency": "USD", // 1.005 and half a cent up, three times
	} {
		require.Equal(t, want, a.Data(at), at)
	}
	require.Len(t, a.Data("tickets"), 4)
	require.Equal(t, "bob@example.org", a.Str("tickets.0.holder.email"))
	require.Equal(t, "6.97 0.00", dollars(s), "who reads next sees it")
	entry := s.Own("GET", "/organizer/wallets/USD/entries?limit=1", nil).Is(200, "")
	require.Equal(t, "issue_fee", entry.Str("items.0.reason"))
	require.Equal(t, "issue_fee 3.03", entry.Str("items.0.kind")+" "+entry.Str("items.0.amount"))
	require.Equal(t, a.Str("order.id"), entry.Str("items.0.reference"))

	t.Log("both get mail, the token opens the order, and it is in the lists")
	require.Contains(t, s.Mail(t, "ann@example.org", "order_confirmation", start).Text, a.Str("order.orderNumber"))
	s.Mail(t, "bob@example.org", "attendee_tickets", start)
	read := s.Call("GET", "/orders/"+a.Str("order.id")+"?token="+a.Str("order.accessToken"), nil).Is(200, "")
	require.Equal(t, "REF-1", read.Str("reference"))
	s.Call("POST", "/orders/"+a.Str("order.id")+"/pay", nodetest.Object{"token": a.Str("order.accessToken")}).Is(409, "ALREADY_PAID")
	require.Equal(t, a.Str("order.id"), s.Own("GET", "/organizer/orders", nil).Is(200, "").Str("items.0.id"))
	s.Becomes("1", func() string { return fmt.Sprint(s.ToldOf("order.completed")) })

	t.Log("free tickets do not touch the wallet; nobody in particular has no mail")
	a = s.Own("POST", path, nodetest.IssueBody(types[1], 1, 1)).Is(201, "")
	require.Equal(t, "0.00", a.Str("fee.amount"))
	require.Empty(t, a.Str("order.buyer.email"))
	require.NotEmpty(t, a.Str("order.accessToken"))
	require.Equal(t, "6.97 0.00", dollars(s))
}

// TestIssueRefused has all that refuses, and nothing that it leaves behind.
func TestIssueRefused(t *testing.T) {
	t.Parallel()
	s := funded(t, 2)
	event, types := s.OnSale(nodetest.TypeBody(50, 3), nodetest.With(nodetest.TypeBody(0, 1000), nodetest.Object{"name": "Free"}))
	path := "/events/" + event + "/issue"
	s.Own("POST", path, nodetest.IssueBody(types[0], 2)).Refused(402, "INSUFFICIENT_FUNDS", nodetest.Object{"currency": "USD", "required": "3.00", "available": "2.00"})
	s.Own("POST", path, nodetest.IssueBody(types[0], 4)).Refused(409, "TICKET_SOLD_OUT", nodetest.Object{"ticketTypeId": types[0], "requested": 4, "available": 3})
	s.Own("POST", path, nodetest.Object{"items": []nodetest.Object{}}).Invalid("items", "min_items")
	s.Own("POST", path, nodetest.IssueBody(types[0], slices.Repeat([]int{1}, 101)...)).Invalid("items", "max_items")
	s.Own("POST", path, nodetest.IssueBody(types[0], 0)).Invalid("items[0].quantity", "minimum")
	s.Own("POST", path, nodetest.IssueBody(types[0], 101)).Invalid("items[0].quantity", "maximum")
	s.Own("POST", path, nodetest.IssueBody(types[1], 100, 100, 100, 100, 100, 1)).Invalid("items", "maximum")
	s.Own("POST", path, nodetest.IssueBody(uuid.NewString(), 1)).Is(404, "TICKET_TYPE_NOT_FOUND")
	body := nodetest.IssueBody(types[1], 1)
	s.Own("POST", path, nodetest.With(body, nodetest.Object{"reference": nodetest.Text(201)})).Invalid("reference", "max_length")
	s.Own("POST", path, nodetest.With(body, nodetest.Object{"buyer": nodetest.Object{"email": "x"}})).Invalid("buyer.email", "format")
	other, foreign := s.OnSale(nodetest.TypeBody(0, 5))
	s.Own("POST", path, nodetest.IssueBody(foreign[0], 1)).Is(404, "TICKET_TYPE_NOT_FOUND")

	t.Log("who may")
	s.Call("POST", path, body).Is(401, "UNAUTHORIZED")
	s.Register("eve@example.org").Own("POST", path, body).Is(404, "EVENT_NOT_FOUND")
	for _, scopes := range [][]string{{"tickets:write"}, {"orders:write"}} {
		s.As(s.Key(nodetest.Object{"scopes": scopes}).Str("secret")).Own("POST", path, body).
			Refused(403, "FORBIDDEN", nodetest.Object{"required": []string{"tickets:write", "orders:write"}, "granted": scopes})
	}
	s.As(s.Key(nodetest.Object{"scopes": []string{"orders:write", "tickets:write"}}).Str("secret")).Own("POST", path, body).Is(201, "")

	t.Log("a draft and a cancelled event are not live")
	draft := s.Draft(nil)
	unsold := s.Own("POST", "/organizer/events/"+draft+"/tickets", nodetest.TypeBody(0, 5)).Is(201, "").Str("id")
	require.Equal(t, "event_draft", s.Own("POST", "/events/"+draft+"/issue", nodetest.IssueBody(unsold, 1)).Is(409, "NOT_ON_SALE").Get("error.details.reason"))
	s.Own("DELETE", "/organizer/events/"+other, nil).Is(200, "")
	s.Own("POST", "/events/"+other+"/issue", nodetest.IssueBody(foreign[0], 1)).Is(409, "NOT_ON_SALE")
	require.Equal(t, "2.00 0.00", dollars(s))
	require.Equal(t, "1.50", s.Own("POST", path, nodetest.IssueBody(types[0], 1)).Is(201, "").Str("fee.amount"))
}

// TestIssueMost makes the largest order there is: a hundred lines, of types enough that no
// word of a machine has a bit for each.
func TestIssueMost(t *testing.T) {
	t.Parallel()
	s := funded(t, 100)
	var bodies []nodetest.Object
	for i := range 70 {
		bodies = append(bodies, nodetest.With(nodetest.TypeBody(1, 10), nodetest.Object{"name": fmt.Sprint("Type ", i)}))
	}
	event, types := s.OnSale(bodies...)
	var items []nodetest.Object
	for i := range 100 {
		items = append(items, nodetest.Object{"ticketTypeId": types[i%len(types)], "quantity": 5, "attendeeName": fmt.Sprint("Guest ", i)})
	}
	a := s.Own("POST", "/events/"+event+"/issue", nodetest.Object{"items": items}).Is(201, "")
	require.Len(t, a.Data("tickets"), 500)
	require.Equal(t, "15.00", a.Str("fee.amount"))
	s.Becomes("85.00 0.00", func() string { return dollars(s) }) // a read waits for its writer for two seconds at most
	s.Own("POST", "/events/"+event+"/issue", nodetest.IssueBody(types[0], 1)).Is(409, "TICKET_SOLD_OUT")
}

// TestIssueAgain repeats a request that was answered, and some at the same time.
func TestIssueAgain(t *testing.T) {
	t.Parallel()
	s := funded(t, 10)
	event, types := s.OnSale(nodetest.TypeBody(20, 100))
	path, retry := "/events/"+event+"/issue", append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	first := s.Call("POST", path, nodetest.IssueBody(types[0], 2), retry...).Is(201, "")
	require.Equal(t, first.Body, s.Call("POST", path, nodetest.IssueBody(types[0], 2), retry...).Is(201, "").Body)
	s.Call("POST", path, nodetest.IssueBody(types[0], 3), retry...).Is(409, "IDEMPOTENCY_KEY_REUSED")
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
	require.NoError(t, err)
	again := s.Call("POST", path, nodetest.IssueBody(types[0], 2), retry...).Is(201, "")
	require.Equal(t, first.Data("order"), again.Data("order"))
	s.Restart()
	require.Equal(t, "8.80 0.00", dollars(s))

	t.Log("the wallet pays for as many as it can")
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := make(map[int]int)
	for range 20 {
		wg.Go(func() {
			r := s.Raw("POST", path, "application/json", nodetest.Encode(t, nodetest.IssueBody(types[0], 1)), s.Bearer()...)
			mu.Lock()
			defer mu.Unlock()
			got[r.Status]++
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{201: 14, 402: 6}, got)
	require.Equal(t, "0.40 0.00", dollars(s))
	s.Becomes("84", func() string { return s.Available(event, 0) }) // what the refused ones had taken comes back
}

// TestIssuePlaces issues tickets for seats and for a date.
func TestIssuePlaces(t *testing.T) {
	t.Parallel()
	s := funded(t, 10)
	h := nodetest.SeatedIn(s)
	path := "/events/" + h.Event + "/issue"
	s.Own("POST", path, nodetest.IssueBody(h.Stalls, 1)).Invalid("items[0].venueSeatIds", "required")
	const seat = "stalls-A-1"
	item := nodetest.Object{"ticketTypeId": h.Stalls, "quantity": 1, "venueSeatIds": []string{seat}}
	a := s.Own("POST", path, nodetest.Object{"items": []nodetest.Object{item}}).Is(201, "")
	require.Equal(t, seat, a.Str("tickets.0.seat.id"))
	require.Equal(t, "1.50", a.Str("fee.amount"))
	s.Own("POST", path, nodetest.Object{"items": []nodetest.Object{item}}).Refused(409, "SEAT_TAKEN", nodetest.Object{"seatIds": []string{seat}})

	event, free := reservation(s, nodetest.Object{"mode": "date_time", "slots": nodetest.TwoSlots, "maxPerCustomerPerDay": 1})
	noon := s.Own("GET", "/organizer/events/"+event, nil).Is(200, "").Str("reservation.slots.2.id")
	date := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	booked := func(n int) nodetest.Object {
		return nodetest.Object{"items": []nodetest.Object{{"ticketTypeId": free, "quantity": n, "reservationDate": date, "reservationSlotId": noon}}}
	}
	path = "/events/" + event + "/issue"
	s.Own("POST", path, nodetest.IssueBody(free, 1)).Invalid("items[0].reservationDate", "required")
	require.Equal(t, date, s.Own("POST", path, booked(2)).Is(201, "").Str("tickets.1.reservation.date"))
	s.Own("POST", path, booked(1)).Refused(409, "SLOT_FULL", nodetest.Object{"date": date, "slotId": noon, "requested": 1, "remaining": 0})
}

// TestIssueQuietly makes an order that nobody is told of.
func TestIssueQuietly(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.TypeBody(0, 5))
	body := nodetest.With(nodetest.IssueBody(types[0], 1), nodetest.Object{"buyer": nodetest.Object{"email": "quiet@example.org"}, "sendEmail": false})
	s.Own("POST", "/events/"+event+"/issue", body).Is(201, "")
	s.Own("POST", "/events/"+event+"/issue", nodetest.With(body, nodetest.Object{"buyer": nodetest.Object{"email": "loud@example.org"}, "sendEmail": true})).Is(201, "")
	s.Mail(t, "loud@example.org", "order_confirmation", time.Time{}) // written after the other would have been
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	for _, m := range list {
		require.NotEqual(t, "quiet@example.org", m.To)
	}
}
