package orders

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// echoed checks that a value has come back as it was sent.
func echoed(t testing.TB, sent, got any, what string) {
	t.Helper()
	require.JSONEq(t, nodetest.Encode(t, sent), nodetest.Encode(t, got), what)
}

func TestOrderFields(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	wide := nodetest.Object{"maxPerOrder": 1000, "maxPerCustomer": 1000}
	var types []nodetest.Object
	for range 21 {
		types = append(types, nodetest.With(nodetest.TypeBody(0, -1), wide))
	}
	_, ids := s.OnSale(types...)
	_, others := s.OnSale(nodetest.TypeBody(0, -1))
	line := func(changes nodetest.Object) nodetest.Object {
		return nodetest.With(nodetest.Lines(ids[0], 1)[0], changes)
	}
	var most []nodetest.Object
	for _, id := range ids {
		most = append(most, line(nodetest.Object{"ticketTypeId": id}))
	}
	for i, c := range []struct {
		changes    nodetest.Object
		path, code string
	}{
		{nodetest.Object{"items": most[:20]}, "", ""},
		{nodetest.Object{"items": most}, "items", "max_items"},
		{nodetest.Object{"items": []nodetest.Object{}}, "items", "min_items"},
		{nodetest.Object{"items": nodetest.Absent}, "items", "required"},
		{nodetest.Object{"items": nil}, "items", "required"},
		{nodetest.Object{"items": "x"}, "items", "type"},
		{nodetest.Object{"items": []any{"x"}}, "items[0]", "type"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": 100})}}, "", ""},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": 101})}}, "items[0].quantity", "maximum"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": 0})}}, "items[0].quantity", "minimum"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": -1})}}, "items[0].quantity", "minimum"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": 1.5})}}, "items[0].quantity", "type"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": "1"})}}, "items[0].quantity", "type"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"quantity": nodetest.Absent})}}, "items[0].quantity", "required"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"ticketTypeId": nodetest.Absent})}}, "items[0].ticketTypeId", "required"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"ticketTypeId": "1"})}}, "items[0].ticketTypeId", "format"},
		{nodetest.Object{"items": nodetest.Lines(ids[0], 1, ids[1], 1, ids[0], 2)}, "items[2].ticketTypeId", "format"},
		{nodetest.Object{"items": nodetest.Lines(ids[0], 1, strings.ToUpper(ids[0]), 2)}, "items[1].ticketTypeId", "format"},
		{nodetest.Object{"items": nodetest.Lines(ids[0], 1, others[0], 1)}, "items[1].ticketTypeId", "format"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"attendeeName": nodetest.Text(200), "attendeeEmail": "a@example.org"})}}, "", ""},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"attendeeName": nodetest.Text(201)})}}, "items[0].attendeeName", "max_length"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"attendeeEmail": "x"})}}, "items[0].attendeeEmail", "format"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"reservationDate": "2031-01-01"})}}, "items[0].reservationDate", "max_items"},
		{nodetest.Object{"items": []nodetest.Object{line(nodetest.Object{"reservationSlotId": "slot_abcdefghij"})}}, "items[0].reservationDate", "required"},
		{nodetest.Object{"guestEmail": nodetest.Absent}, "guestEmail", "required"},
		{nodetest.Object{"guestEmail": nil}, "guestEmail", "required"},
		{nodetest.Object{"guestEmail": "ada"}, "guestEmail", "format"},
		{nodetest.Object{"guestEmail": "ada@example.org\r\nBcc: x@example.org"}, "guestEmail", "format"},
		{nodetest.Object{"guestEmail": ""}, "guestEmail", "format"},
		{nodetest.Object{"guestName": nodetest.Text(200)}, "", ""},
		{nodetest.Object{"guestName": nodetest.Text(201)}, "guestName", "max_length"},
		{nodetest.Object{"guestName": nil}, "", ""},
		{nodetest.Object{"promoCode": nodetest.Text(51)}, "promoCode", "max_length"},
		{nodetest.Object{"presaleCode": nodetest.Text(51)}, "presaleCode", "max_length"},
		{nodetest.Object{"presaleCode": "needless"}, "", ""},
	} {
		a := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(fmt.Sprintf("ada%d@example.org", i), ids[0], 1), c.changes))
		if c.code == "" {
			a.Is(201, "")
		} else {
			a.Invalid(c.path, c.code)
		}
	}
	me := s.Own("GET", "/users/me", nil).Str("email")
	unsaid := s.Own("POST", "/orders", nodetest.With(nodetest.OrderBody("", ids[0], 1), nodetest.Object{"guestEmail": nodetest.Absent})).Is(201, "")
	require.Equal(t, me, unsaid.Str("buyer.email"), "of who is signed in")
	for _, id := range []string{"00000000-0001-8000-8000-0000000fffff", "00000000-0001-8001-8000-000000000001", "ffffffff-ffff-8000-bfff-ffffffffffff", "0190b6c1-0000-7000-8000-000000000007", "00000000-0000-8000-8000-000000000001"} {
		s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", id, 1)).Is(404, "TICKET_TYPE_NOT_FOUND")
	}
}

// TestFullEvent shows nothing left of any type of an event whose capacity is used up.
func TestFullEvent(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.Sell(nodetest.Object{"capacity": 3}, nodetest.TypeBody(25, 100), nodetest.TypeBody(30, 2), nodetest.With(nodetest.TypeBody(5, -1), nodetest.Object{"name": "Free for all"}))
	shown := func() string {
		a := s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "")
		status := s.Own("GET", "/organizer/events", nil).Str("items.0.status")
		return fmt.Sprint(status, " ", a.Data("items.0.available"), " ", a.Data("items.1.available"), " ", a.Data("items.2.available"))
	}
	s.Becomes("on_sale 3 2 <nil>", shown)
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	s.Becomes("on_sale 1 1 <nil>", shown)
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[2], 1)).Is(201, "")
	s.Becomes("sold_out 0 0 <nil>", shown)
	s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[1], 1)).Is(409, "TICKET_SOLD_OUT")
	s.Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
	s.Becomes("on_sale 2 2 <nil>", shown)
}

// TestOrderRecord checks an order's record, and its sums to the cent.
func TestOrderRecord(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(0.10, 100), nodetest.With(nodetest.TypeBody(0, -1), nodetest.Object{"name": "Free"}))
	body := nodetest.OrderBody("Ada@Example.org", ids[0], 2)
	body["guestName"] = "Ada"
	body["items"] = []nodetest.Object{
		{"ticketTypeId": ids[0], "quantity": 2, "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
		{"ticketTypeId": ids[1], "quantity": 3},
		{"ticketTypeId": ids[2], "quantity": 1},
	}
	a := s.Call("POST", "/orders", body).Is(201, "")
	for path, want := range map[string]any{
		"status": "pending", "currency": "USD", "subtotal": "50.30", "discount": "0.00", "fees": "2.53", "total": "52.83", "eventId": event,
		"promoCode": nil, "reference": nil, "completedAt": nil, "cancelledAt": nil, "withdrawalWaivedAt": nil, "tickets": []any{}, "payments": []any{}, "refunds": []any{},
		"buyer":   nodetest.Object{"email": "Ada@Example.org", "name": "Ada"},
		"items.0": nodetest.Object{"ticketTypeId": ids[0], "venueSeatIds": []any{}, "reservationDate": nil, "reservationSlotId": nil, "name": "Floor", "quantity": 2, "unitPrice": "25.00", "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
		"items.1": nodetest.Object{"ticketTypeId": ids[1], "venueSeatIds": []any{}, "reservationDate": nil, "reservationSlotId": nil, "name": "Floor", "quantity": 3, "unitPrice": "0.10", "attendeeName": nil, "attendeeEmail": nil},
		"items.2": nodetest.Object{"ticketTypeId": ids[2], "venueSeatIds": []any{}, "reservationDate": nil, "reservationSlotId": nil, "name": "Free", "quantity": 1, "unitPrice": "0.00", "attendeeName": nil, "attendeeEmail": nil},
	} {
		echoed(t, want, a.Data(path), path)
	}
	created, err := time.Parse(time.RFC3339, a.Str("createdAt"))
	require.NoError(t, err)
	expires, err := time.Parse(time.RFC3339, a.Str("expiresAt"))
	require.NoError(t, err)
	require.Equal(t, 15*time.Minute, expires.Sub(created))
	require.NotEmpty(t, a.Str("orderNumber"))
	for _, c := range []struct {
		price       any
		quantity    int
		absorb      bool
		fees, total string
	}{
		{0.09, 1, false, "0.00", "0.09"},
		{0.10, 1, false, "0.01", "0.11"},
		{0.29, 1, false, "0.01", "0.30"},
		{0.30, 1, false, "0.02", "0.32"},
		{0.30, 10, false, "0.20", "3.20"},
		{19.99, 3, false, "3.00", "62.97"},
		{1_000_000, 10, false, "500000.00", "10500000.00"},
		{19.99, 3, true, "0.00", "59.97"},
		{0.10, 1, true, "0.00", "0.10"},
	} {
		_, ids := s.Sell(nodetest.Object{"absorbFees": c.absorb}, nodetest.TypeBody(c.price, 10))
		a := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], c.quantity)).Is(201, "")
		require.Equal(t, c.fees, a.Str("fees"), "%+v", c)
		require.Equal(t, c.total, a.Str("total"), "%+v", c)
	}
}

func TestFreeOrder(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 10), nodetest.TypeBody(0, 10))
	body := nodetest.Object{"guestEmail": "ada@example.org", "guestName": "Ada", "items": []nodetest.Object{
		{"ticketTypeId": ids[0], "quantity": 2}, {"ticketTypeId": ids[1], "quantity": 1, "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
	}}
	a := s.Call("POST", "/orders", body).Is(201, "")
	require.Equal(t, "completed", a.Str("status"))
	require.Equal(t, "0.00", a.Str("fees"))
	require.NotNil(t, a.Data("completedAt"))
	tickets, _ := a.Data("tickets").([]any)
	require.Len(t, tickets, 3)
	require.Equal(t, nodetest.Words(`id code shortCode status orderId eventId ticketTypeId tierName holder productType reservation seat qr qrExpiresAt transferable refundable refundDeadline faceValue currency checkedInAt
		gateName issuedAt`), a.Keys("tickets.0"))
	seen := map[string]bool{}
	for i := range tickets {
		at := fmt.Sprintf("tickets.%d.", i)
		require.Equal(t, "issued", a.Str(at+"status"))
		require.Equal(t, event, a.Str(at+"eventId"))
		require.Equal(t, a.Str("id"), a.Str(at+"orderId"))
		for _, k := range nodetest.Words("id code shortCode qr") {
			require.False(t, seen[a.Str(at+k)])
			seen[a.Str(at+k)] = true
		}
		require.Len(t, a.Str(at+"shortCode"), 6)
	}
	require.Equal(t, nodetest.Object{"email": "ada@example.org", "name": "Ada"}, a.Data("tickets.0.holder"))
	require.Equal(t, nodetest.Object{"email": "bob@example.org", "name": "Bob"}, a.Data("tickets.2.holder"))
	require.Equal(t, ids[1], a.Str("tickets.2.ticketTypeId"))
	id, token := a.Str("id"), a.Str("accessToken")
	for range 2 { // also once the ledger has closed it
		s.Pay(id, token).Is(409, "NOTHING_TO_PAY")
		s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token}).Is(409, "NOTHING_TO_PAY")
		s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Refused(409, "ORDER_NOT_CANCELLABLE", nodetest.Object{"status": "completed", "reason": "only unpaid orders are cancelled"})
		require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))
		require.Len(t, s.Order(id, token).Data("tickets"), 3)
		s.Closed(id)
	}
}

func TestOrderAccess(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	_, another := s.Place("bob@example.org", ids[0], 1)
	other := s.Register(s.Email("other"))
	guest := func(method, path string, body any) nodetest.Answer { return s.Call(method, path, body) }
	missing := "00000000-0001-8000-8000-0000000fffff"
	// Every way in, with a place for the id and the token.
	ways := map[string]func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer{
		"read": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("GET", "/orders/"+id+"?token="+token, nil)
		},
		"payment": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("GET", "/payments/"+id+"?token="+token, nil)
		},
		"pay": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "paystack", "token": token})
		},
		"pay by query": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("POST", "/orders/"+id+"/pay?token="+token, nodetest.Object{"provider": "paystack"})
		},
		"verify": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("POST", "/payments/verify", nodetest.Object{"orderId": id, "token": token})
		},
		"verify by query": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("POST", "/payments/verify?token="+token, nodetest.Object{"orderId": id})
		},
		"cancel": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token})
		},
		"cancel by query": func(send func(string, string, any) nodetest.Answer, id, token string) nodetest.Answer {
			return send("POST", "/orders/"+id+"/cancel?token="+token, nil)
		},
	}
	for name, way := range ways {
		for _, wrong := range []string{another, "x", token[:len(token)-1], strings.ToUpper(token)} {
			way(guest, id, wrong).Is(404, "ORDER_NOT_FOUND")
			way(other.Own, id, wrong).Is(404, "ORDER_NOT_FOUND")
		}
		way(guest, id, "").Is(401, "UNAUTHORIZED")
		way(other.Own, id, "").Is(404, "ORDER_NOT_FOUND")
		way(guest, missing, token).Is(404, "ORDER_NOT_FOUND")
		way(s.Own, missing, "").Is(404, "ORDER_NOT_FOUND")
		if !strings.HasPrefix(name, "verify") { // whose body asks for a UUID
			way(guest, "x", token).Is(404, "ORDER_NOT_FOUND")
		}
		way(guest, id, strings.Repeat("x", 101)).Invalid("token", "max_length")
		if !strings.HasPrefix(name, "cancel") {
			way(guest, id, token).Is(200, "")
			way(s.Own, id, "").Is(200, "")
			way(s.Own, id, another).Is(200, "")
			way(other.Own, id, token).Is(200, "")
		}
	}
	s.Call("POST", "/orders/"+id+"/cancel?token="+token, nodetest.Object{"token": another}).Invalid("token", "duplicate")
	s.Call("POST", "/orders/"+id+"/pay?token="+another, nodetest.Object{"token": token}).Invalid("token", "duplicate")
	s.Call("POST", "/payments/verify?token="+another, nodetest.Object{"token": token, "orderId": id}).Invalid("token", "duplicate")
	s.Call("POST", "/orders/"+id+"/cancel?token="+token, nodetest.Object{"token": token}).Is(200, "")
	require.Equal(t, "cancelled", s.Order(id, token).Str("status"))
	require.NotContains(t, s.Order(id, token).Keys(""), "accessToken")
	require.Equal(t, id, s.Order(strings.ToUpper(id), token).Str("id"))
}

func TestCaps(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"maxPerOrder": 4, "maxPerCustomer": 6}), nodetest.TypeBody(0, 100))
	a := ids[0]
	place := func(email string, quantity int) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody(email, a, quantity))
	}
	place("ada@example.org", 5).Refused(400, "EXCEEDS_MAX_PER_ORDER", nodetest.Object{"ticketTypeId": a, "max": 4, "requested": 5})
	place("ada@example.org", 4).Is(201, "")
	place("ADA@Example.ORG", 3).Refused(409, "EXCEEDS_MAX_PER_CUSTOMER", nodetest.Object{"ticketTypeId": a, "max": 6, "alreadyHeld": 4, "requested": 3})
	place("ada@example.org", 2).Is(201, "")
	place("ada@example.org", 1).Refused(409, "EXCEEDS_MAX_PER_CUSTOMER", nodetest.Object{"ticketTypeId": a, "max": 6, "alreadyHeld": 6, "requested": 1})
	place("bob@example.org", 4).Is(201, "")

	t.Log("a refused line leaves nothing of the others")
	body := nodetest.Object{"guestEmail": "eve@example.org", "items": nodetest.Lines(ids[1], 5, a, 5)}
	s.Call("POST", "/orders", body).Is(400, "EXCEEDS_MAX_PER_ORDER")
	event := s.Own("GET", "/organizer/events", nil).Str("items.0.id")
	s.Becomes("100", func() string { return s.Available(event, 1) })
	s.Call("POST", "/orders", nodetest.Object{"guestEmail": "eve@example.org", "items": nodetest.Lines(ids[1], 10)}).Is(201, "")

	t.Log("what was cancelled does not count, what is pending does")
	_, paid := s.OnSale(nodetest.With(nodetest.TypeBody(5, 100), nodetest.Object{"maxPerCustomer": 2}))
	id, token := s.Place("ada@example.org", paid[0], 2)
	s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", paid[0], 1)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER")
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	s.Becomes("201", func() string {
		return fmt.Sprint(s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", paid[0], 2)).Status)
	})
}

func TestSoldOut(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 5), nodetest.TypeBody(0, -1))
	refused := func(a nodetest.Answer, id string, requested, available int) {
		a.Refused(409, "TICKET_SOLD_OUT", nodetest.Object{"ticketTypeId": id, "requested": requested, "available": available})
	}
	refused(s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 6)), ids[0], 6, 5)
	s.Place("ada@example.org", ids[0], 3)
	refused(s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 3)), ids[0], 3, 2)
	s.Place("bob@example.org", ids[0], 2)
	refused(s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[0], 1)), ids[0], 1, 0)
	require.Equal(t, "0", s.Available(event, 0))
	s.Place("eve@example.org", ids[1], 10)
	_, none := s.OnSale(nodetest.TypeBody(0, 0))
	refused(s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", none[0], 1)), none[0], 1, 0)

	t.Log("the event's capacity bounds all its types")
	_, ids = s.Sell(nodetest.Object{"capacity": 5}, nodetest.TypeBody(3, 100), nodetest.TypeBody(0, -1))
	id, token := s.Place("ada@example.org", ids[0], 3)
	refused(s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[1], 3)), ids[1], 3, 2)
	s.Place("bob@example.org", ids[1], 2)
	refused(s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[1], 1)), ids[1], 1, 0)
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	s.Call("POST", "/orders", nodetest.Object{"guestEmail": "eve@example.org", "items": nodetest.Lines(ids[0], 2, ids[1], 1)}).Is(201, "")
	capped := s.Own("GET", "/organizer/events", nil).Str("items.0.id")
	s.Own("PUT", "/organizer/events/"+capped, nodetest.Object{"capacity": 1}).Is(200, "")
	refused(s.Call("POST", "/orders", nodetest.OrderBody("kim@example.org", ids[1], 1)), ids[1], 1, 0)
	s.Own("PUT", "/organizer/events/"+capped, nodetest.Object{"capacity": nil}).Is(200, "")
	s.Place("kim@example.org", ids[1], 10)
}

// TestRush has more buyers than tickets at once: exactly the stock is sold.
func TestRush(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nodetest.Object{"capacity": 28}, nodetest.TypeBody(0, 25), nodetest.TypeBody(0, 25))
	var mu sync.Mutex
	codes := map[string]int{}
	var wg sync.WaitGroup
	for buyer := range 40 {
		wg.Go(func() {
			items := nodetest.Lines(ids[buyer%2], 1)
			if buyer%4 == 0 {
				items = nodetest.Lines(ids[0], 1, ids[1], 1)
			}
			a := s.Call("POST", "/orders", nodetest.Object{"guestEmail": fmt.Sprintf("b%d@example.org", buyer), "items": items})
			mu.Lock()
			defer mu.Unlock()
			if a.Status == 201 {
				codes["sold"] += len(a.Data("tickets").([]any))
			} else {
				a.Is(409, "TICKET_SOLD_OUT")
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, codes["sold"], 28)
	require.GreaterOrEqual(t, codes["sold"], 27, "all but what a pair could not take")
	require.Equal(t, fmt.Sprint(codes["sold"]), s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "").Str("ticketsIssued"))
}

func TestNotOnSale(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	early, late := nodetest.Stamp(time.Hour), nodetest.Stamp(-time.Hour)
	types := map[string]nodetest.Object{
		"not_started": {"saleStart": early}, "ended": {"saleStart": nodetest.Stamp(-2 * time.Hour), "saleEnd": late}, "hidden": {"status": "hidden"},
	}
	details := func(a nodetest.Answer, typ nodetest.Answer, reason string) {
		s.T.Helper()
		a.Refused(409, "NOT_ON_SALE", nodetest.Object{"ticketTypeId": typ.Data("id"), "saleStart": typ.Data("saleStart"), "saleEnd": typ.Data("saleEnd"), "reason": reason})
	}
	event, _ := s.OnSale(nodetest.TypeBody(5, 10))
	path := "/organizer/events/" + event + "/tickets"
	for reason, changes := range types {
		typ := s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 10), changes)).Is(201, "")
		details(s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", typ.Str("id"), 1)), typ, reason)
	}
	for status, steps := range map[string]string{"draft": "", "review": "review", "completed": "published in_progress completed", "cancelled": "published cancelled"} {
		id := s.Draft(nil)
		typ := s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(5, 10)).Is(201, "")
		for step := range strings.FieldsSeq(steps) {
			s.Own("PUT", "/organizer/events/"+id+"/status", nodetest.Object{"status": step}).Is(200, "")
		}
		details(s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", typ.Str("id"), 1)), typ, "event_"+status)
		s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", typ.Str("id")[:35]+"f", 1)).Is(404, "TICKET_TYPE_NOT_FOUND")
	}
	id, ids := s.OnSale(nodetest.TypeBody(0, 10))
	s.Own("PUT", "/organizer/events/"+id+"/status", nodetest.Object{"status": "in_progress"}).Is(200, "")
	s.Place("ada@example.org", ids[0], 1) // at the door
}

func TestPresale(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"presaleCode": "Sésame!"}), nodetest.TypeBody(0, 10))
	place := func(code any, items []nodetest.Object) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.With(nodetest.Object{"guestEmail": "ada@example.org", "items": items}, nodetest.Object{"presaleCode": code}))
	}
	one := nodetest.Lines(ids[0], 1)
	for _, code := range []any{nodetest.Absent, nil, "wrong", "sésame!", "Sésame", "Sésame!!", ""} {
		place(code, one).Refused(403, "PRESALE_CODE_REQUIRED", nodetest.Object{"ticketTypeId": ids[0]})
		place(code, nodetest.Lines(ids[1], 1, ids[0], 1)).Refused(403, "PRESALE_CODE_REQUIRED", nodetest.Object{"ticketTypeId": ids[0]})
	}
	place("Sésame!", one).Is(201, "")
	place("Sésame!", nodetest.Lines(ids[0], 1, ids[1], 1)).Is(201, "")
	place(nodetest.Absent, nodetest.Lines(ids[1], 1)).Is(201, "")
	require.Equal(t, "true", s.Call("GET", "/events/"+event+"/tickets", nil).Str("items.0.presaleRequired"))
	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+ids[0], nodetest.Object{"presaleCode": nil}).Is(200, "")
	place(nodetest.Absent, one).Is(201, "")
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(0, 100))
	key := uuid.NewString()
	place := func(key string, quantity int, headers ...string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], quantity), append(headers, "Idempotency-Key", key)...)
	}
	first := place(key, 1).Is(201, "")
	for _, same := range []string{key, strings.ToUpper(key)} {
		again := place(same, 1).Is(201, "")
		require.Equal(t, first.Body, again.Body)
	}
	place(key, 2).Refused(409, "IDEMPOTENCY_KEY_REUSED", nil)
	other := s.Register("other@example.org")
	require.NotEqual(t, first.Str("id"), place(key, 1, s.Bearer()...).Is(201, "").Str("id"), "another principal")
	require.NotEqual(t, first.Str("id"), place(key, 2, other.Bearer()...).Is(201, "").Str("id"))
	require.NotEqual(t, first.Str("id"), place(uuid.NewString(), 1).Is(201, "").Str("id"))
	require.NotEqual(t, s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[0], 1)).Str("id"), s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[0], 1)).Str("id"))
	for _, bad := range []string{"x", key[:35], "{" + key + "}", key + "0", strings.ReplaceAll(key, "-", "")} {
		place(bad, 1).Invalid("Idempotency-Key", "format")
		s.Call("POST", "/orders/x/cancel", nil, "Idempotency-Key", bad).Invalid("Idempotency-Key", "format")
		s.Call("GET", "/events", nil, "Idempotency-Key", bad).Is(200, "")
	}

	t.Log("a refusal is not remembered")
	key = uuid.NewString()
	place(key, 11).Is(400, "EXCEEDS_MAX_PER_ORDER")

	t.Log("an order that has ended is still the same")
	key = uuid.NewString()
	ended := place(key, 1).Is(201, "")
	s.Call("POST", "/orders/"+ended.Str("id")+"/cancel", nodetest.Object{"token": ended.Str("accessToken")}).Is(200, "")
	for range 2 {
		again := place(key, 1).Is(201, "")
		require.Equal(t, ended.Str("id"), again.Str("id"))
		require.Equal(t, ended.Str("accessToken"), again.Str("accessToken"))
		require.Equal(t, ended.Body, again.Body)
		place(key, 2).Refused(409, "IDEMPOTENCY_KEY_REUSED", nil)
		s.Closed(ended.Str("id"))
	}

	t.Log("the same request many times at once is one order")
	key = uuid.NewString()
	got := make([]string, 12)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			got[i] = s.Call("POST", "/orders", nodetest.OrderBody("zoe@example.org", ids[1], 1), "Idempotency-Key", key).Is(201, "").Str("id")
		})
	}
	wg.Wait()
	require.Len(t, slices.Compact(got), 1)
	event := s.Own("GET", "/organizer/events", nil).Str("items.0.id")
	require.Equal(t, "1", s.Own("GET", "/checkin/event/"+event+"/stats", nil).Str("ticketsIssued"))
}

func TestOrderExpires(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 3))
	s.Window(event, 3*time.Second)
	id, token := s.Place("ada@example.org", ids[0], 3)
	require.Equal(t, "0", s.Available(event, 0))
	s.Becomes("expired", s.Status(id, token))
	s.Becomes("3", func() string { return s.Available(event, 0) })
	a := s.Order(id, token)
	require.Nil(t, a.Data("expiresAt"))
	require.Nil(t, a.Data("cancelledAt"))
	for range 2 {
		s.Pay(id, token).Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "expired", "reason": "the order has ended"})
		s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token}).Is(409, "ORDER_NOT_PAYABLE")
		s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Refused(409, "ORDER_NOT_CANCELLABLE", nodetest.Object{"status": "expired", "reason": "only unpaid orders are cancelled"})
		require.Equal(t, "expired", s.Verify(id, token).Is(200, "").Str("status"))
		require.Equal(t, "expired", s.Call("GET", "/payments/"+id+"?token="+token, nil).Is(200, "").Str("status"))
		s.Closed(id)
	}
	s.Place("bob@example.org", ids[0], 3)
}

func TestCancelOrder(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 3))
	id, token := s.Place("ada@example.org", ids[0], 3)
	for range 2 {
		a := s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
		require.Equal(t, "cancelled", a.Str("status"))
		require.NotNil(t, a.Data("cancelledAt"))
		require.Nil(t, a.Data("expiresAt"))
		s.Pay(id, token).Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "cancelled", "reason": "the order has ended"})
		s.Closed(id)
	}
	s.Becomes("3", func() string { return s.Available(event, 0) })

	t.Log("cancelling the event gives back what is unpaid")
	id, token = s.Place("ada@example.org", ids[0], 3)
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	s.Becomes("cancelled", s.Status(id, token))
	s.Pay(id, token).Is(409, "ORDER_NOT_PAYABLE")
}

// TestRestart stops a node and starts another one on its database: all that was
// acknowledged is there, and what was asked before has the same answer.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 10), nodetest.TypeBody(25, 10))
	s.Window(event, 2*time.Second)
	key := uuid.NewString()
	place := func() nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2), "Idempotency-Key", key).Is(201, "")
	}
	free := place()
	pending, token := s.Place("bob@example.org", ids[1], 3)
	require.Equal(t, "success", s.Scan(event, free.Str("tickets.0.qr"), "gate").Str("status"))
	s.Restart()
	again := place()
	require.Equal(t, free.Str("id"), again.Str("id"))
	require.Equal(t, free.Str("accessToken"), again.Str("accessToken"))
	require.Equal(t, free.Str("tickets.1.code"), again.Str("tickets.1.code"))
	s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 3), "Idempotency-Key", key).Is(409, "IDEMPOTENCY_KEY_REUSED")
	require.Equal(t, "denied_duplicate", s.Scan(event, free.Str("tickets.0.qr"), "other gate").Str("status"))
	require.Equal(t, "success", s.Scan(event, free.Str("tickets.1.qr"), "gate").Str("status"))
	require.Equal(t, "8", s.Available(event, 0))
	require.Equal(t, "on_sale", s.Own("GET", "/organizer/events", nil).Str("items.0.status"))
	s.Becomes("expired", s.Status(pending, token))
	s.Becomes("10", func() string { return s.Available(event, 1) })
	s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 9)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER")
	other, _ := s.OnSale(nodetest.TypeBody(0, 1))
	require.NotEqual(t, event, other)
}
