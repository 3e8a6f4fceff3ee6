package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typeFields are the bounds of a ticket type's fields, as the OpenAPI document states them.
func typeFields() []field {
	all := []field{
		{"name", "", "", "min_length"},
		{"name", text(1), "", ""},
		{"name", text(200), "", ""},
		{"name", text(201), "", "max_length"},
		{"name", 7, "", "type"},
		{"type", "backstage", "", "enum"},
		{"type", "", "", "enum"},
		{"saleStart", "now", "", "type"},
		{"saleEnd", "2026-01-01", "", "type"},
		{"saleStart", "1970-01-01T00:00:00.001Z", "", ""},
		{"price", -0.01, "", "minimum"},
		{"price", 1_000_000.01, "", "maximum"},
		{"price", 0.001, "", "decimals"},
		{"price", "25", "", "type"},
		{"currency", "US", "", "format"},
		{"currency", "usd", "", "format"},
		{"currency", "XXX", "", "format"},
		{"currency", "EUR", "", "enum"},
		{"currency", "USD", "", ""},
		{"quantityTotal", -2, "", "minimum"},
		{"quantityTotal", -1, "", ""},
		{"quantityTotal", 0, "", ""},
		{"quantityTotal", 1, "", ""},
		{"quantityTotal", 1.5, "", "type"},
		{"maxPerOrder", 0, "", "minimum"},
		{"maxPerOrder", 1, "", ""},
		{"maxPerOrder", 1000, "", ""},
		{"maxPerOrder", 1001, "", "maximum"},
		{"maxPerCustomer", 0, "", "minimum"},
		{"maxPerCustomer", 1, "", ""},
		{"maxPerCustomer", 1000, "", ""},
		{"maxPerCustomer", 1001, "", "maximum"},
		{"transferable", false, "", ""},
		{"transferable", 1, "", "type"},
		{"refundable", true, "refundDeadline", "required"},
		{"presaleCode", text(2), "", "min_length"},
		{"presaleCode", text(3), "", ""},
		{"presaleCode", text(50), "", ""},
		{"presaleCode", text(51), "", "max_length"},
		{"waitlistEnabled", true, "", ""},
		{"waitlistEnabled", "no", "", "type"},
		{"description", text(2000), "", ""},
		{"description", text(2001), "", "max_length"},
		{"accessUrl", uri(2048), "", ""},
		{"accessUrl", uri(2049), "", "max_length"},
		{"accessUrl", "/media/5", "", ""},
		{"accessUrl", "ftp://x.org", "", "format"},
		{"accessUrl", "/media/", "", "format"},
		{"accessNote", text(500), "", ""},
		{"accessNote", text(501), "", "max_length"},
		{"sortOrder", -5, "", ""},
		{"sortOrder", 5, "", ""},
		{"sortOrder", 1.5, "", "type"},
		{"status", "hidden", "", ""},
		{"status", "active", "", ""},
		{"status", "paused", "", "enum"},
	}
	for _, kind := range words("general reserved vip early_bird group multi_day season at_door upgrade") {
		all = append(all, field{"type", kind, "", ""})
	}
	return all
}

func TestTypeFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	event := s.draft(nil)
	path := "/organizer/events/" + event + "/tickets"
	try(s, "POST", path, typeBody(25, 100), 201, typeFields())
	id := s.own("POST", path, typeBody(25, 100)).is(201, "").str("id")
	try(s, "PUT", path+"/"+id, object{}, 200, typeFields())
	for _, name := range words("name type saleStart saleEnd") {
		s.own("POST", path, with(typeBody(1, 1), object{name: absent})).invalid(name, "required")
		s.own("POST", path, with(typeBody(1, 1), object{name: nil})).invalid(name, "required")
		s.own("PUT", path+"/"+id, object{name: nil}).invalid(name, "null")
	}
	for _, name := range words("price currency quantityTotal maxPerOrder maxPerCustomer transferable refundable waitlistEnabled sortOrder status") {
		s.own("PUT", path+"/"+id, object{name: nil}).invalid(name, "null")
	}
	for price, want := range map[any]string{0: "0.00", 0.01: "0.01", 25: "25.00", 19.9: "19.90", 1_000_000: "1000000.00", 1e2: "100.00"} {
		require.Equal(t, want, s.own("POST", path, with(typeBody(price, 1), nil)).is(201, "").str("price"))
	}

	t.Log("defaults, and null clears")
	body := object{"name": "A", "type": "general", "saleStart": stamp(-time.Hour), "saleEnd": stamp(time.Hour)}
	want := with(body, object{
		"price": "0.00", "currency": "USD", "quantityTotal": -1, "available": nil, "maxPerOrder": 10, "maxPerCustomer": 10, "transferable": true,
		"refundable": false, "refundDeadline": nil, "presaleRequired": false, "presaleCode": nil, "waitlistEnabled": false, "description": nil,
		"accessUrl": nil, "accessNote": nil, "digitalAccess": false, "seated": false, "refundWindowHours": nil, "sectionId": nil, "sortOrder": 0, "status": "active", "sold": 0,
	})
	a := s.own("POST", path, body).is(201, "")
	for name, v := range want {
		echoed(t, v, a.data(name), name)
	}
	full := object{"refundDeadline": stamp(time.Hour), "presaleCode": "abc", "description": "d", "accessUrl": "/media/1", "accessNote": "n"}
	one := path + "/" + a.str("id")
	a = s.own("PUT", one, full).is(200, "")
	require.Equal(t, true, a.data("presaleRequired"))
	require.Equal(t, true, a.data("digitalAccess"))
	same := s.own("PUT", one, object{}).is(200, "")
	for name, v := range full {
		echoed(t, v, same.data(name), name)
		require.Nil(t, s.own("PUT", one, object{name: nil}).is(200, "").data(name), name)
	}
}

func TestTypeRules(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := eventBody()
	event := s.draft(body)
	path := "/organizer/events/" + event + "/tickets"
	start, end := body["startDate"].(string), body["endDate"].(string)
	after := func(at string) string {
		moment, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		return moment.Add(time.Second).Format(time.RFC3339)
	}
	id := s.own("POST", path, typeBody(25, 100)).is(201, "").str("id")
	for _, c := range []struct {
		change object
		code   string
	}{
		{object{"saleEnd": end}, ""},
		{object{"saleEnd": after(end)}, "INVALID_SALE_WINDOW"},
		{object{"saleStart": end, "saleEnd": end}, "INVALID_SALE_WINDOW"},
		{object{"saleStart": after(start), "saleEnd": start}, "INVALID_SALE_WINDOW"},
		{object{"refundDeadline": start, "refundable": true}, ""},
		{object{"refundDeadline": start}, ""},
		{object{"refundDeadline": after(start), "refundable": true}, "INVALID_REFUND_DEADLINE"},
		{object{"refundDeadline": after(start)}, "INVALID_REFUND_DEADLINE"},
		{object{"type": "free", "price": 0}, ""},
	} {
		for _, a := range []answer{s.own("POST", path, with(typeBody(0, 5), c.change)), s.own("PUT", path+"/"+id, c.change)} {
			if c.code == "" {
				require.Less(t, a.status, 300, "%v %v", c.change, a.body)
			} else {
				a.refused(400, c.code, nil)
			}
		}
	}
	s.own("POST", path, with(typeBody(1, 5), object{"type": "free"})).invalid("price", "maximum")
	s.own("PUT", path+"/"+id, object{"price": 1}).invalid("price", "maximum")
	s.own("POST", path, with(typeBody(1, 5), object{"refundable": true})).invalid("refundDeadline", "required")
	s.own("POST", path, with(typeBody(1, 5), object{"refundable": true, "refundDeadline": nil})).invalid("refundDeadline", "required")

	t.Log("an event that is moved keeps nothing else from being changed")
	moved := s.own("POST", path, with(typeBody(5, 5), object{"saleEnd": end, "refundDeadline": start})).is(201, "").str("id")
	s.own("PUT", "/organizer/events/"+event, object{"startDate": stamp(time.Hour), "endDate": stamp(2 * time.Hour)}).is(200, "")
	s.own("PUT", path+"/"+moved, object{"accessNote": "ring twice", "refundable": true}).is(200, "")
	s.own("PUT", path+"/"+moved, object{"saleEnd": end}).refused(400, "INVALID_SALE_WINDOW", nil)
	s.own("PUT", path+"/"+moved, object{"refundDeadline": start}).refused(400, "INVALID_REFUND_DEADLINE", nil)

	t.Log("a ticket type is found in its own event only")
	other := s.draft(nil)
	s.own("PUT", "/organizer/events/"+other+"/tickets/"+id, object{}).is(404, "TICKET_TYPE_NOT_FOUND")
	for _, bad := range []string{"x", event, "99999", "0", "0190b6c1-0000-7000-8000-000000000007", id[:35] + "f"} {
		s.own("PUT", path+"/"+bad, object{}).is(404, "TICKET_TYPE_NOT_FOUND")
	}
}

func TestTypeOnceSold(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, types := s.onSale(typeBody(0, 10), typeBody(25, 10))
	path := "/organizer/events/" + event + "/tickets/"
	free, paid := path+types[0], path+types[1]
	s.own("PUT", free, object{"price": 3, "type": "vip"}).is(200, "")
	s.own("PUT", free, object{"price": 0}).is(200, "")
	s.place("ada@example.org", types[0], 3)
	pending, token := s.place("ada@example.org", types[1], 2)
	for _, p := range []string{free, paid} {
		s.own("PUT", p, object{"price": 30}).is(409, "TICKET_TYPE_LOCKED")
		s.own("PUT", p, object{"type": "group"}).is(409, "TICKET_TYPE_LOCKED")
	}
	s.own("PUT", free, object{"quantityTotal": 2}).invalid("quantityTotal", "minimum")
	s.own("PUT", paid, object{"quantityTotal": 1}).invalid("quantityTotal", "minimum")
	a := s.own("PUT", free, object{"quantityTotal": 3}).is(200, "")
	require.Equal(t, "0", a.str("available"))
	require.Equal(t, "3", a.str("sold"))
	require.Equal(t, "0", s.available(event, 0))
	require.Nil(t, s.own("PUT", free, object{"quantityTotal": -1}).is(200, "").data("available"))
	s.own("PUT", free, object{"quantityTotal": 0}).invalid("quantityTotal", "minimum")
	s.own("PUT", free, object{"quantityTotal": 5}).is(200, "")
	require.Equal(t, "2", s.available(event, 0))
	s.own("PUT", free, object{
		"accessUrl": "/media/9", "accessNote": "new", "transferable": false, "refundable": true, "refundDeadline": stamp(time.Hour),
		"name": "Renamed", "price": 0, "type": "vip", "maxPerOrder": 1, "saleEnd": stamp(2 * time.Hour), "description": "d",
	}).is(200, "")

	t.Log("what was given back is not sold")
	s.call("POST", "/orders/"+pending+"/cancel", object{"token": token}).is(200, "")
	s.becomes("200", func() string { return fmt.Sprint(s.own("PUT", paid, object{"price": 30}).status) })
}

func TestAvailability(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, types := s.onSale(with(typeBody(0, 10), object{"sortOrder": 2}), with(typeBody(0, -1), object{"sortOrder": 1}), with(typeBody(0, 5), object{"sortOrder": 3, "status": "hidden"}))
	list := s.call("GET", "/events/"+event+"/tickets", nil).is(200, "")
	require.Len(t, list.data("items"), 2, "hidden types are not shown")
	require.Equal(t, types[1], list.str("items.0.id"), "in the organizer's order")
	require.Nil(t, list.data("items.0.available"))
	require.Len(t, s.own("GET", "/events/"+event+"/tickets", nil).is(200, "").data("items"), 3)
	order, token := s.place("ada@example.org", types[0], 4)
	require.Equal(t, "6", s.available(event, 1), "what was sold is gone at once")
	require.Equal(t, "completed", s.order(order, token).str("status"))

	t.Log("an edit is there for the next reader")
	s.own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], object{"status": "hidden"}).is(200, "")
	require.Len(t, s.call("GET", "/events/"+event+"/tickets", nil).is(200, "").data("items"), 1)
	s.own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], object{"status": "active", "name": "Back"}).is(200, "")
	require.Equal(t, "Back", s.call("GET", "/events/"+event+"/tickets", nil).str("items.1.name"))
}

// TestTypesAtOnce creates more ticket types than an event has, all at one moment: the
// event itself counts, so that exactly so many are made.
func TestTypesAtOnce(t *testing.T) {
	t.Parallel()
	const most, callers, each = 200, 15, 14
	s := open(t)
	path := "/organizer/events/" + s.draft(nil) + "/tickets"
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				switch a := s.own("POST", path, typeBody(1, 1)); a.status {
				case 201:
					made.Add(1)
				case 409:
					assert.Equal(t, "CONFLICT", a.get("error.code"))
					assert.EqualValues(t, most, a.get("error.details.maxTicketTypes"))
					refused.Add(1)
				default:
					assert.Fail(t, "an answer of another kind", "%d %v", a.status, a.body)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, most, made.Load())
	require.EqualValues(t, callers*each-most, refused.Load())
	public := "/events/" + path[len("/organizer/events/"):]
	list := s.own("GET", public, nil).is(200, "")
	require.Len(t, list.data("items"), most)
	require.Contains(t, list.keys(""), "nextCursor")
	require.Nil(t, list.data("nextCursor"), "all are on one page")

	t.Log("a restart forgets no place")
	s.restart()
	s.own("POST", path, typeBody(1, 1)).is(409, "CONFLICT")
}

// TestTypeRace edits the quantity while it is bought: what is sold never exceeds
// what the last edit left.
func TestTypeRace(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, types := s.onSale(with(typeBody(0, 40), object{"maxPerCustomer": 1000}))
	var wg sync.WaitGroup
	for buyer := range 4 {
		wg.Go(func() {
			for range 10 {
				a := s.call("POST", "/orders", orderBody(fmt.Sprintf("b%d@example.org", buyer), types[0], 1))
				require.Contains(t, []int{201, 409}, a.status, "%v", a.body)
			}
		})
	}
	wg.Go(func() {
		for q := 39; q >= 0; q -= 3 {
			a := s.own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], object{"quantityTotal": q})
			if a.status != 200 {
				require.True(t, strings.Contains(encode(t, a.body), "quantityTotal"), "%v", a.body)
			}
		}
	})
	wg.Wait()
	a := s.own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], object{}).is(200, "")
	require.LessOrEqual(t, a.data("sold"), a.data("quantityTotal"))
}
