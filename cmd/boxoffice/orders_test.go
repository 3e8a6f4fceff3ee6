package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func lines(of ...any) []object {
	var out []object
	for i := 0; i < len(of); i += 2 {
		out = append(out, object{"ticketTypeId": of[i], "quantity": of[i+1]})
	}
	return out
}

func TestOrderFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	wide := object{"maxPerOrder": 1000, "maxPerCustomer": 1000}
	var types []object
	for range 21 {
		types = append(types, with(typeBody(0, -1), wide))
	}
	_, ids := s.onSale(types...)
	_, others := s.onSale(typeBody(0, -1))
	line := func(changes object) object { return with(lines(ids[0], 1)[0], changes) }
	var most []object
	for _, id := range ids {
		most = append(most, line(object{"ticketTypeId": id}))
	}
	for i, c := range []struct {
		changes    object
		path, code string
	}{
		{object{"items": most[:20]}, "", ""},
		{object{"items": most}, "items", "max_items"},
		{object{"items": []object{}}, "items", "min_items"},
		{object{"items": absent}, "items", "required"},
		{object{"items": nil}, "items", "required"},
		{object{"items": "x"}, "items", "type"},
		{object{"items": []any{"x"}}, "items[0]", "type"},
		{object{"items": []object{line(object{"quantity": 100})}}, "", ""},
		{object{"items": []object{line(object{"quantity": 101})}}, "items[0].quantity", "maximum"},
		{object{"items": []object{line(object{"quantity": 0})}}, "items[0].quantity", "minimum"},
		{object{"items": []object{line(object{"quantity": -1})}}, "items[0].quantity", "minimum"},
		{object{"items": []object{line(object{"quantity": 1.5})}}, "items[0].quantity", "type"},
		{object{"items": []object{line(object{"quantity": "1"})}}, "items[0].quantity", "type"},
		{object{"items": []object{line(object{"quantity": absent})}}, "items[0].quantity", "required"},
		{object{"items": []object{line(object{"ticketTypeId": absent})}}, "items[0].ticketTypeId", "required"},
		{object{"items": []object{line(object{"ticketTypeId": "1"})}}, "items[0].ticketTypeId", "format"},
		{object{"items": lines(ids[0], 1, ids[1], 1, ids[0], 2)}, "items[2].ticketTypeId", "format"},
		{object{"items": lines(ids[0], 1, strings.ToUpper(ids[0]), 2)}, "items[1].ticketTypeId", "format"},
		{object{"items": lines(ids[0], 1, others[0], 1)}, "items[1].ticketTypeId", "format"},
		{object{"items": []object{line(object{"attendeeName": text(200), "attendeeEmail": "a@example.org"})}}, "", ""},
		{object{"items": []object{line(object{"attendeeName": text(201)})}}, "items[0].attendeeName", "max_length"},
		{object{"items": []object{line(object{"attendeeEmail": "x"})}}, "items[0].attendeeEmail", "format"},
		{object{"guestEmail": absent}, "guestEmail", "required"},
		{object{"guestEmail": nil}, "guestEmail", "required"},
		{object{"guestEmail": "ada"}, "guestEmail", "format"},
		{object{"guestEmail": "ada@example.org\r\nBcc: x@example.org"}, "guestEmail", "format"},
		{object{"guestEmail": ""}, "guestEmail", "format"},
		{object{"guestName": text(200)}, "", ""},
		{object{"guestName": text(201)}, "guestName", "max_length"},
		{object{"guestName": nil}, "", ""},
		{object{"promoCode": text(5)}, "promoCode", "unsupported"},
		{object{"presaleCode": text(51)}, "presaleCode", "max_length"},
		{object{"presaleCode": "needless"}, "", ""},
	} {
		a := s.call("POST", "/orders", with(orderBody(fmt.Sprintf("ada%d@example.org", i), ids[0], 1), c.changes))
		if c.code == "" {
			a.is(201, "")
		} else {
			a.invalid(c.path, c.code)
		}
	}
	me := s.own("GET", "/users/me", nil).str("email")
	unsaid := s.own("POST", "/orders", with(orderBody("", ids[0], 1), object{"guestEmail": absent})).is(201, "")
	require.Equal(t, me, unsaid.str("buyer.email"), "of who is signed in")
	for _, id := range []string{"00000000-0001-8000-8000-0000000fffff", "00000000-0001-8001-8000-000000000001", "ffffffff-ffff-8000-bfff-ffffffffffff", "0190b6c1-0000-7000-8000-000000000007", "00000000-0000-8000-8000-000000000001"} {
		s.call("POST", "/orders", orderBody("ada@example.org", id, 1)).is(404, "TICKET_TYPE_NOT_FOUND")
	}
}

// TestFullEvent shows nothing left of any type of an event whose capacity is used up.
func TestFullEvent(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.sell(object{"capacity": 3}, typeBody(25, 100), typeBody(30, 2), with(typeBody(5, -1), object{"name": "Free for all"}))
	shown := func() string {
		a := s.call("GET", "/events/"+event+"/tickets", nil).is(200, "")
		status := s.own("GET", "/organizer/events", nil).str("items.0.status")
		return fmt.Sprint(status, " ", a.data("items.0.available"), " ", a.data("items.1.available"), " ", a.data("items.2.available"))
	}
	s.becomes("on_sale 3 2 <nil>", shown)
	o := s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 2)).is(201, "")
	s.becomes("on_sale 1 1 <nil>", shown)
	s.call("POST", "/orders", orderBody("bob@example.org", ids[2], 1)).is(201, "")
	s.becomes("sold_out 0 0 <nil>", shown)
	s.call("POST", "/orders", orderBody("eve@example.org", ids[1], 1)).is(409, "TICKET_SOLD_OUT")
	s.call("POST", "/orders/"+o.str("id")+"/cancel", object{"token": o.str("accessToken")}).is(200, "")
	s.becomes("on_sale 2 2 <nil>", shown)
}

// TestOrderRecord checks an order's record, and its sums to the cent.
func TestOrderRecord(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(25, 100), typeBody(0.10, 100), with(typeBody(0, -1), object{"name": "Free"}))
	body := orderBody("Ada@Example.org", ids[0], 2)
	body["guestName"] = "Ada"
	body["items"] = []object{
		{"ticketTypeId": ids[0], "quantity": 2, "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
		{"ticketTypeId": ids[1], "quantity": 3},
		{"ticketTypeId": ids[2], "quantity": 1},
	}
	a := s.call("POST", "/orders", body).is(201, "")
	for path, want := range map[string]any{
		"status": "pending", "currency": "USD", "subtotal": "50.30", "discount": "0.00", "fees": "2.53", "total": "52.83", "eventId": event,
		"promoCode": nil, "reference": nil, "completedAt": nil, "cancelledAt": nil, "tickets": []any{}, "payments": []any{}, "refunds": []any{},
		"buyer":   object{"email": "Ada@Example.org", "name": "Ada"},
		"items.0": object{"ticketTypeId": ids[0], "venueSeatIds": []any{}, "name": "Floor", "quantity": 2, "unitPrice": "25.00", "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
		"items.1": object{"ticketTypeId": ids[1], "venueSeatIds": []any{}, "name": "Floor", "quantity": 3, "unitPrice": "0.10", "attendeeName": nil, "attendeeEmail": nil},
		"items.2": object{"ticketTypeId": ids[2], "venueSeatIds": []any{}, "name": "Free", "quantity": 1, "unitPrice": "0.00", "attendeeName": nil, "attendeeEmail": nil},
	} {
		echoed(t, want, a.data(path), path)
	}
	created, err := time.Parse(time.RFC3339, a.str("createdAt"))
	require.NoError(t, err)
	expires, err := time.Parse(time.RFC3339, a.str("expiresAt"))
	require.NoError(t, err)
	require.Equal(t, 15*time.Minute, expires.Sub(created))
	require.NotEmpty(t, a.str("orderNumber"))
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
		_, ids := s.sell(object{"absorbFees": c.absorb}, typeBody(c.price, 10))
		a := s.call("POST", "/orders", orderBody("ada@example.org", ids[0], c.quantity)).is(201, "")
		require.Equal(t, c.fees, a.str("fees"), "%+v", c)
		require.Equal(t, c.total, a.str("total"), "%+v", c)
	}
}

func TestFreeOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(0, 10), typeBody(0, 10))
	body := object{"guestEmail": "ada@example.org", "guestName": "Ada", "items": []object{
		{"ticketTypeId": ids[0], "quantity": 2}, {"ticketTypeId": ids[1], "quantity": 1, "attendeeName": "Bob", "attendeeEmail": "bob@example.org"},
	}}
	a := s.call("POST", "/orders", body).is(201, "")
	require.Equal(t, "completed", a.str("status"))
	require.Equal(t, "0.00", a.str("fees"))
	require.NotNil(t, a.data("completedAt"))
	tickets, _ := a.data("tickets").([]any)
	require.Len(t, tickets, 3)
	require.Equal(t, words(`id code shortCode status orderId eventId ticketTypeId tierName holder seat qr qrExpiresAt faceValue currency checkedInAt
		gateName issuedAt`), a.keys("tickets.0"))
	seen := map[string]bool{}
	for i := range tickets {
		at := fmt.Sprintf("tickets.%d.", i)
		require.Equal(t, "issued", a.str(at+"status"))
		require.Equal(t, event, a.str(at+"eventId"))
		require.Equal(t, a.str("id"), a.str(at+"orderId"))
		for _, k := range words("id code shortCode qr") {
			require.False(t, seen[a.str(at+k)])
			seen[a.str(at+k)] = true
		}
		require.Len(t, a.str(at+"shortCode"), 6)
	}
	require.Equal(t, object{"email": "ada@example.org", "name": "Ada"}, a.data("tickets.0.holder"))
	require.Equal(t, object{"email": "bob@example.org", "name": "Bob"}, a.data("tickets.2.holder"))
	require.Equal(t, ids[1], a.str("tickets.2.ticketTypeId"))
	id, token := a.str("id"), a.str("accessToken")
	for range 2 { // also once the ledger has closed it
		s.pay(id, token).is(409, "NOTHING_TO_PAY")
		s.call("POST", "/orders/"+id+"/pay", object{"token": token}).is(409, "NOTHING_TO_PAY")
		s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).refused(409, "ORDER_NOT_CANCELLABLE", object{"status": "completed", "reason": "only unpaid orders are cancelled"})
		require.Equal(t, "completed", s.verify(id, token).is(200, "").str("status"))
		require.Len(t, s.order(id, token).data("tickets"), 3)
		s.closed(id)
	}
}

func TestOrderAccess(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100))
	id, token := s.place("ada@example.org", ids[0], 1)
	_, another := s.place("bob@example.org", ids[0], 1)
	other := s.register("other@example.org")
	guest := func(method, path string, body any) answer { return s.call(method, path, body) }
	missing := "00000000-0001-8000-8000-0000000fffff"
	// Every way in, with a place for the id and the token.
	ways := map[string]func(send func(string, string, any) answer, id, token string) answer{
		"read": func(send func(string, string, any) answer, id, token string) answer {
			return send("GET", "/orders/"+id+"?token="+token, nil)
		},
		"payment": func(send func(string, string, any) answer, id, token string) answer {
			return send("GET", "/payments/"+id+"?token="+token, nil)
		},
		"pay": func(send func(string, string, any) answer, id, token string) answer {
			return send("POST", "/orders/"+id+"/pay", object{"provider": "paystack", "token": token})
		},
		"pay by query": func(send func(string, string, any) answer, id, token string) answer {
			return send("POST", "/orders/"+id+"/pay?token="+token, object{"provider": "paystack"})
		},
		"verify": func(send func(string, string, any) answer, id, token string) answer {
			return send("POST", "/payments/verify", object{"orderId": id, "token": token})
		},
		"verify by query": func(send func(string, string, any) answer, id, token string) answer {
			return send("POST", "/payments/verify?token="+token, object{"orderId": id})
		},
		"cancel": func(send func(string, string, any) answer, id, token string) answer {
			return send("POST", "/orders/"+id+"/cancel", object{"token": token})
		},
		"cancel by query": func(send func(string, string, any) answer, id, token string) answer {
			return send("POST", "/orders/"+id+"/cancel?token="+token, nil)
		},
	}
	for name, way := range ways {
		for _, wrong := range []string{another, "x", token[:len(token)-1], strings.ToUpper(token)} {
			way(guest, id, wrong).is(404, "ORDER_NOT_FOUND")
			way(other.own, id, wrong).is(404, "ORDER_NOT_FOUND")
		}
		way(guest, id, "").is(401, "UNAUTHORIZED")
		way(other.own, id, "").is(404, "ORDER_NOT_FOUND")
		way(guest, missing, token).is(404, "ORDER_NOT_FOUND")
		way(s.own, missing, "").is(404, "ORDER_NOT_FOUND")
		if !strings.HasPrefix(name, "verify") { // whose body asks for a UUID
			way(guest, "x", token).is(404, "ORDER_NOT_FOUND")
		}
		way(guest, id, strings.Repeat("x", 101)).invalid("token", "max_length")
		if !strings.HasPrefix(name, "cancel") {
			way(guest, id, token).is(200, "")
			way(s.own, id, "").is(200, "")
			way(s.own, id, another).is(200, "")
			way(other.own, id, token).is(200, "")
		}
	}
	s.call("POST", "/orders/"+id+"/cancel?token="+token, object{"token": another}).invalid("token", "duplicate")
	s.call("POST", "/orders/"+id+"/pay?token="+another, object{"token": token}).invalid("token", "duplicate")
	s.call("POST", "/payments/verify?token="+another, object{"token": token, "orderId": id}).invalid("token", "duplicate")
	s.call("POST", "/orders/"+id+"/cancel?token="+token, object{"token": token}).is(200, "")
	require.Equal(t, "cancelled", s.order(id, token).str("status"))
	require.NotContains(t, s.order(id, token).keys(""), "accessToken")
	require.Equal(t, id, s.order(strings.ToUpper(id), token).str("id"))
}

func TestCaps(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(with(typeBody(0, 100), object{"maxPerOrder": 4, "maxPerCustomer": 6}), typeBody(0, 100))
	a := ids[0]
	place := func(email string, quantity int) answer {
		return s.call("POST", "/orders", orderBody(email, a, quantity))
	}
	place("ada@example.org", 5).refused(400, "EXCEEDS_MAX_PER_ORDER", object{"ticketTypeId": a, "max": 4, "requested": 5})
	place("ada@example.org", 4).is(201, "")
	place("ADA@Example.ORG", 3).refused(409, "EXCEEDS_MAX_PER_CUSTOMER", object{"ticketTypeId": a, "max": 6, "alreadyHeld": 4, "requested": 3})
	place("ada@example.org", 2).is(201, "")
	place("ada@example.org", 1).refused(409, "EXCEEDS_MAX_PER_CUSTOMER", object{"ticketTypeId": a, "max": 6, "alreadyHeld": 6, "requested": 1})
	place("bob@example.org", 4).is(201, "")

	t.Log("a refused line leaves nothing of the others")
	body := object{"guestEmail": "eve@example.org", "items": lines(ids[1], 5, a, 5)}
	s.call("POST", "/orders", body).is(400, "EXCEEDS_MAX_PER_ORDER")
	event := s.own("GET", "/organizer/events", nil).str("items.0.id")
	s.becomes("100", func() string { return s.available(event, 1) })
	s.call("POST", "/orders", object{"guestEmail": "eve@example.org", "items": lines(ids[1], 10)}).is(201, "")

	t.Log("what was cancelled does not count, what is pending does")
	_, paid := s.onSale(with(typeBody(5, 100), object{"maxPerCustomer": 2}))
	id, token := s.place("ada@example.org", paid[0], 2)
	s.call("POST", "/orders", orderBody("ada@example.org", paid[0], 1)).is(409, "EXCEEDS_MAX_PER_CUSTOMER")
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
	s.becomes("201", func() string {
		return fmt.Sprint(s.call("POST", "/orders", orderBody("ada@example.org", paid[0], 2)).status)
	})
}

func TestSoldOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(0, 5), typeBody(0, -1))
	refused := func(a answer, id string, requested, available int) {
		a.refused(409, "TICKET_SOLD_OUT", object{"ticketTypeId": id, "requested": requested, "available": available})
	}
	refused(s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 6)), ids[0], 6, 5)
	s.place("ada@example.org", ids[0], 3)
	refused(s.call("POST", "/orders", orderBody("bob@example.org", ids[0], 3)), ids[0], 3, 2)
	s.place("bob@example.org", ids[0], 2)
	refused(s.call("POST", "/orders", orderBody("eve@example.org", ids[0], 1)), ids[0], 1, 0)
	require.Equal(t, "0", s.available(event, 0))
	s.place("eve@example.org", ids[1], 10)
	_, none := s.onSale(typeBody(0, 0))
	refused(s.call("POST", "/orders", orderBody("eve@example.org", none[0], 1)), none[0], 1, 0)

	t.Log("the event's capacity bounds all its types")
	_, ids = s.sell(object{"capacity": 5}, typeBody(3, 100), typeBody(0, -1))
	id, token := s.place("ada@example.org", ids[0], 3)
	refused(s.call("POST", "/orders", orderBody("bob@example.org", ids[1], 3)), ids[1], 3, 2)
	s.place("bob@example.org", ids[1], 2)
	refused(s.call("POST", "/orders", orderBody("eve@example.org", ids[1], 1)), ids[1], 1, 0)
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
	s.call("POST", "/orders", object{"guestEmail": "eve@example.org", "items": lines(ids[0], 2, ids[1], 1)}).is(201, "")
	capped := s.own("GET", "/organizer/events", nil).str("items.0.id")
	s.own("PUT", "/organizer/events/"+capped, object{"capacity": 1}).is(200, "")
	refused(s.call("POST", "/orders", orderBody("kim@example.org", ids[1], 1)), ids[1], 1, 0)
	s.own("PUT", "/organizer/events/"+capped, object{"capacity": nil}).is(200, "")
	s.place("kim@example.org", ids[1], 10)
}

// TestRush has more buyers than tickets at once: exactly the stock is sold.
func TestRush(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.sell(object{"capacity": 28}, typeBody(0, 25), typeBody(0, 25))
	var mu sync.Mutex
	codes := map[string]int{}
	var wg sync.WaitGroup
	for buyer := range 40 {
		wg.Go(func() {
			items := lines(ids[buyer%2], 1)
			if buyer%4 == 0 {
				items = lines(ids[0], 1, ids[1], 1)
			}
			a := s.call("POST", "/orders", object{"guestEmail": fmt.Sprintf("b%d@example.org", buyer), "items": items})
			mu.Lock()
			defer mu.Unlock()
			if a.status == 201 {
				codes["sold"] += len(a.data("tickets").([]any))
			} else {
				a.is(409, "TICKET_SOLD_OUT")
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, codes["sold"], 28)
	require.GreaterOrEqual(t, codes["sold"], 27, "all but what a pair could not take")
	require.Equal(t, fmt.Sprint(codes["sold"]), s.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "").str("ticketsIssued"))
}

func TestNotOnSale(t *testing.T) {
	t.Parallel()
	s := open(t)
	early, late := stamp(time.Hour), stamp(-time.Hour)
	types := map[string]object{
		"not_started": {"saleStart": early}, "ended": {"saleStart": stamp(-2 * time.Hour), "saleEnd": late}, "hidden": {"status": "hidden"},
	}
	details := func(a answer, typ answer, reason string) {
		s.t.Helper()
		a.refused(409, "NOT_ON_SALE", object{"ticketTypeId": typ.data("id"), "saleStart": typ.data("saleStart"), "saleEnd": typ.data("saleEnd"), "reason": reason})
	}
	event, _ := s.onSale(typeBody(5, 10))
	path := "/organizer/events/" + event + "/tickets"
	for reason, changes := range types {
		typ := s.own("POST", path, with(typeBody(5, 10), changes)).is(201, "")
		details(s.call("POST", "/orders", orderBody("ada@example.org", typ.str("id"), 1)), typ, reason)
	}
	for status, steps := range map[string]string{"draft": "", "review": "review", "completed": "published in_progress completed", "cancelled": "published cancelled"} {
		id := s.draft(nil)
		typ := s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(5, 10)).is(201, "")
		for step := range strings.FieldsSeq(steps) {
			s.own("PUT", "/organizer/events/"+id+"/status", object{"status": step}).is(200, "")
		}
		details(s.call("POST", "/orders", orderBody("ada@example.org", typ.str("id"), 1)), typ, "event_"+status)
		s.call("POST", "/orders", orderBody("ada@example.org", typ.str("id")[:35]+"f", 1)).is(404, "TICKET_TYPE_NOT_FOUND")
	}
	id, ids := s.onSale(typeBody(0, 10))
	s.own("PUT", "/organizer/events/"+id+"/status", object{"status": "in_progress"}).is(200, "")
	s.place("ada@example.org", ids[0], 1) // at the door
}

func TestPresale(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(with(typeBody(0, 10), object{"presaleCode": "Sésame!"}), typeBody(0, 10))
	place := func(code any, items []object) answer {
		return s.call("POST", "/orders", with(object{"guestEmail": "ada@example.org", "items": items}, object{"presaleCode": code}))
	}
	one := lines(ids[0], 1)
	for _, code := range []any{absent, nil, "wrong", "sésame!", "Sésame", "Sésame!!", ""} {
		place(code, one).refused(403, "PRESALE_CODE_REQUIRED", object{"ticketTypeId": ids[0]})
		place(code, lines(ids[1], 1, ids[0], 1)).refused(403, "PRESALE_CODE_REQUIRED", object{"ticketTypeId": ids[0]})
	}
	place("Sésame!", one).is(201, "")
	place("Sésame!", lines(ids[0], 1, ids[1], 1)).is(201, "")
	place(absent, lines(ids[1], 1)).is(201, "")
	require.Equal(t, "true", s.call("GET", "/events/"+event+"/tickets", nil).str("items.0.presaleRequired"))
	s.own("PUT", "/organizer/events/"+event+"/tickets/"+ids[0], object{"presaleCode": nil}).is(200, "")
	place(absent, one).is(201, "")
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100), typeBody(0, 100))
	key := uuid.NewString()
	place := func(key string, quantity int, headers ...string) answer {
		return s.call("POST", "/orders", orderBody("ada@example.org", ids[0], quantity), append(headers, "Idempotency-Key", key)...)
	}
	first := place(key, 1).is(201, "")
	for _, same := range []string{key, strings.ToUpper(key)} {
		again := place(same, 1).is(201, "")
		require.Equal(t, first.body, again.body)
	}
	place(key, 2).refused(409, "IDEMPOTENCY_KEY_REUSED", nil)
	other := s.register("other@example.org")
	require.NotEqual(t, first.str("id"), place(key, 1, s.bearer()...).is(201, "").str("id"), "another principal")
	require.NotEqual(t, first.str("id"), place(key, 2, other.bearer()...).is(201, "").str("id"))
	require.NotEqual(t, first.str("id"), place(uuid.NewString(), 1).is(201, "").str("id"))
	require.NotEqual(t, s.call("POST", "/orders", orderBody("eve@example.org", ids[0], 1)).str("id"), s.call("POST", "/orders", orderBody("eve@example.org", ids[0], 1)).str("id"))
	for _, bad := range []string{"x", key[:35], "{" + key + "}", key + "0", strings.ReplaceAll(key, "-", "")} {
		place(bad, 1).invalid("Idempotency-Key", "format")
		s.call("POST", "/orders/x/cancel", nil, "Idempotency-Key", bad).invalid("Idempotency-Key", "format")
		s.call("GET", "/events", nil, "Idempotency-Key", bad).is(200, "")
	}

	t.Log("a refusal is not remembered")
	key = uuid.NewString()
	place(key, 11).is(400, "EXCEEDS_MAX_PER_ORDER")

	t.Log("an order that has ended is still the same")
	key = uuid.NewString()
	ended := place(key, 1).is(201, "")
	s.call("POST", "/orders/"+ended.str("id")+"/cancel", object{"token": ended.str("accessToken")}).is(200, "")
	for range 2 {
		again := place(key, 1).is(201, "")
		require.Equal(t, ended.str("id"), again.str("id"))
		require.Equal(t, ended.str("accessToken"), again.str("accessToken"))
		require.Equal(t, ended.body, again.body)
		place(key, 2).refused(409, "IDEMPOTENCY_KEY_REUSED", nil)
		s.closed(ended.str("id"))
	}

	t.Log("the same request many times at once is one order")
	key = uuid.NewString()
	got := make([]string, 12)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			got[i] = s.call("POST", "/orders", orderBody("zoe@example.org", ids[1], 1), "Idempotency-Key", key).is(201, "").str("id")
		})
	}
	wg.Wait()
	require.Len(t, slices.Compact(got), 1)
	event := s.own("GET", "/organizer/events", nil).str("items.0.id")
	require.Equal(t, "1", s.own("GET", "/checkin/event/"+event+"/stats", nil).str("ticketsIssued"))
}

func TestOrderExpires(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(25, 3))
	s.window(event, 300*time.Millisecond)
	id, token := s.place("ada@example.org", ids[0], 3)
	require.Equal(t, "0", s.available(event, 0))
	s.becomes("expired", s.status(id, token))
	s.becomes("3", func() string { return s.available(event, 0) })
	a := s.order(id, token)
	require.Nil(t, a.data("expiresAt"))
	require.Nil(t, a.data("cancelledAt"))
	for range 2 {
		s.pay(id, token).refused(409, "ORDER_NOT_PAYABLE", object{"status": "expired", "reason": "the order has ended"})
		s.call("POST", "/orders/"+id+"/pay", object{"token": token}).is(409, "ORDER_NOT_PAYABLE")
		s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).refused(409, "ORDER_NOT_CANCELLABLE", object{"status": "expired", "reason": "only unpaid orders are cancelled"})
		require.Equal(t, "expired", s.verify(id, token).is(200, "").str("status"))
		require.Equal(t, "expired", s.call("GET", "/payments/"+id+"?token="+token, nil).is(200, "").str("status"))
		s.closed(id)
	}
	s.place("bob@example.org", ids[0], 3)
}

func TestCancelOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(25, 3))
	id, token := s.place("ada@example.org", ids[0], 3)
	for range 2 {
		a := s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
		require.Equal(t, "cancelled", a.str("status"))
		require.NotNil(t, a.data("cancelledAt"))
		require.Nil(t, a.data("expiresAt"))
		s.pay(id, token).refused(409, "ORDER_NOT_PAYABLE", object{"status": "cancelled", "reason": "the order has ended"})
		s.closed(id)
	}
	s.becomes("3", func() string { return s.available(event, 0) })

	t.Log("cancelling the event gives back what is unpaid")
	id, token = s.place("ada@example.org", ids[0], 3)
	s.own("DELETE", "/organizer/events/"+event, nil).is(200, "")
	s.becomes("cancelled", s.status(id, token))
	s.pay(id, token).is(409, "ORDER_NOT_PAYABLE")
}

// TestRestart stops a node and starts another one on its database: all that was
// acknowledged is there, and what was asked before has the same answer.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(0, 10), typeBody(25, 10))
	s.window(event, 2*time.Second)
	key := uuid.NewString()
	place := func() answer {
		return s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 2), "Idempotency-Key", key).is(201, "")
	}
	free := place()
	pending, token := s.place("bob@example.org", ids[1], 3)
	require.Equal(t, "success", s.scan(event, free.str("tickets.0.qr"), "gate").str("status"))
	s.restart()
	again := place()
	require.Equal(t, free.str("id"), again.str("id"))
	require.Equal(t, free.str("accessToken"), again.str("accessToken"))
	require.Equal(t, free.str("tickets.1.code"), again.str("tickets.1.code"))
	s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 3), "Idempotency-Key", key).is(409, "IDEMPOTENCY_KEY_REUSED")
	require.Equal(t, "denied_duplicate", s.scan(event, free.str("tickets.0.qr"), "other gate").str("status"))
	require.Equal(t, "success", s.scan(event, free.str("tickets.1.qr"), "gate").str("status"))
	require.Equal(t, "8", s.available(event, 0))
	require.Equal(t, "on_sale", s.own("GET", "/organizer/events", nil).str("items.0.status"))
	s.becomes("expired", s.status(pending, token))
	s.becomes("10", func() string { return s.available(event, 1) })
	s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 9)).is(409, "EXCEEDS_MAX_PER_CUSTOMER")
	other, _ := s.onSale(typeBody(0, 1))
	require.NotEqual(t, event, other)
}
