package catalog

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// typeFields are the bounds of a ticket type's fields, as the OpenAPI document states them.
func typeFields() []field {
	all := []field{
		{"name", "", "", "min_length"},
		{"name", nodetest.Text(1), "", ""},
		{"name", nodetest.Text(200), "", ""},
		{"name", nodetest.Text(201), "", "max_length"},
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
		{"presaleCode", nodetest.Text(2), "", "min_length"},
		{"presaleCode", nodetest.Text(3), "", ""},
		{"presaleCode", nodetest.Text(50), "", ""},
		{"presaleCode", nodetest.Text(51), "", "max_length"},
		{"waitlistEnabled", true, "", ""},
		{"waitlistEnabled", "no", "", "type"},
		{"description", nodetest.Text(2000), "", ""},
		{"description", nodetest.Text(2001), "", "max_length"},
		{"accessUrl", nodetest.URI(2048), "", ""},
		{"accessUrl", nodetest.URI(2049), "", "max_length"},
		{"accessUrl", "/media/5", "", ""},
		{"accessUrl", "ftp://x.org", "", "format"},
		{"accessUrl", "/media/", "", "format"},
		{"accessNote", nodetest.Text(500), "", ""},
		{"accessNote", nodetest.Text(501), "", "max_length"},
		{"sortOrder", -5, "", ""},
		{"sortOrder", 5, "", ""},
		{"sortOrder", 1.5, "", "type"},
		{"status", "hidden", "", ""},
		{"status", "active", "", ""},
		{"status", "paused", "", "enum"},
	}
	for _, kind := range nodetest.Words("general reserved vip early_bird group multi_day season at_door upgrade") {
		all = append(all, field{"type", kind, "", ""})
	}
	return all
}

func TestTypeFields(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	s.OwnFiles(1, 5)
	event := s.Draft(nil)
	path := "/organizer/events/" + event + "/tickets"
	try(s, "POST", path, nodetest.TypeBody(25, 100), 201, typeFields())
	id := s.Own("POST", path, nodetest.TypeBody(25, 100)).Is(201, "").Str("id")
	try(s, "PUT", path+"/"+id, nodetest.Object{}, 200, typeFields())
	for _, name := range nodetest.Words("name type saleStart saleEnd") {
		s.Own("POST", path, nodetest.With(nodetest.TypeBody(1, 1), nodetest.Object{name: nodetest.Absent})).Invalid(name, "required")
		s.Own("POST", path, nodetest.With(nodetest.TypeBody(1, 1), nodetest.Object{name: nil})).Invalid(name, "required")
		s.Own("PUT", path+"/"+id, nodetest.Object{name: nil}).Invalid(name, "null")
	}
	for _, name := range nodetest.Words("price currency quantityTotal maxPerOrder maxPerCustomer transferable refundable waitlistEnabled sortOrder status") {
		s.Own("PUT", path+"/"+id, nodetest.Object{name: nil}).Invalid(name, "null")
	}
	for price, want := range map[any]string{0: "0.00", 0.01: "0.01", 25: "25.00", 19.9: "19.90", 1_000_000: "1000000.00", 1e2: "100.00"} {
		require.Equal(t, want, s.Own("POST", path, nodetest.With(nodetest.TypeBody(price, 1), nil)).Is(201, "").Str("price"))
	}

	t.Log("defaults, and null clears")
	body := nodetest.Object{"name": "A", "type": "general", "saleStart": nodetest.Stamp(-time.Hour), "saleEnd": nodetest.Stamp(time.Hour)}
	want := nodetest.With(body, nodetest.Object{
		"price": "0.00", "currency": "USD", "quantityTotal": -1, "available": nil, "maxPerOrder": 10, "maxPerCustomer": 10, "transferable": true,
		"refundable": false, "refundDeadline": nil, "presaleRequired": false, "presaleCode": nil, "waitlistEnabled": false, "description": nil,
		"accessUrl": nil, "accessNote": nil, "digitalAccess": false, "seated": false, "refundWindowHours": nil, "sectionId": nil, "sortOrder": 0, "status": "active", "sold": 0,
	})
	a := s.Own("POST", path, body).Is(201, "")
	for name, v := range want {
		echoed(t, v, a.Data(name), name)
	}
	full := nodetest.Object{"refundDeadline": nodetest.Stamp(time.Hour), "presaleCode": "abc", "description": "d", "accessUrl": "/media/1", "accessNote": "n"}
	one := path + "/" + a.Str("id")
	a = s.Own("PUT", one, full).Is(200, "")
	require.Equal(t, true, a.Data("presaleRequired"))
	require.Equal(t, true, a.Data("digitalAccess"))
	same := s.Own("PUT", one, nodetest.Object{}).Is(200, "")
	for name, v := range full {
		echoed(t, v, same.Data(name), name)
		require.Nil(t, s.Own("PUT", one, nodetest.Object{name: nil}).Is(200, "").Data(name), name)
	}
}

func TestTypeRules(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	body := nodetest.EventBody()
	event := s.Draft(body)
	path := "/organizer/events/" + event + "/tickets"
	start, end := body["startDate"].(string), body["endDate"].(string)
	after := func(at string) string {
		moment, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		return moment.Add(time.Second).Format(time.RFC3339)
	}
	id := s.Own("POST", path, nodetest.TypeBody(25, 100)).Is(201, "").Str("id")
	for _, c := range []struct {
		change nodetest.Object
		code   string
	}{
		{nodetest.Object{"saleEnd": end}, ""},
		{nodetest.Object{"saleEnd": after(end)}, "INVALID_SALE_WINDOW"},
		{nodetest.Object{"saleStart": end, "saleEnd": end}, "INVALID_SALE_WINDOW"},
		{nodetest.Object{"saleStart": after(start), "saleEnd": start}, "INVALID_SALE_WINDOW"},
		{nodetest.Object{"refundDeadline": start, "refundable": true}, ""},
		{nodetest.Object{"refundDeadline": start}, ""},
		{nodetest.Object{"refundDeadline": after(start), "refundable": true}, "INVALID_REFUND_DEADLINE"},
		{nodetest.Object{"refundDeadline": after(start)}, "INVALID_REFUND_DEADLINE"},
		{nodetest.Object{"type": "free", "price": 0}, ""},
	} {
		for _, a := range []nodetest.Answer{s.Own("POST", path, nodetest.With(nodetest.TypeBody(0, 5), c.change)), s.Own("PUT", path+"/"+id, c.change)} {
			if c.code == "" {
				require.Less(t, a.Status, 300, "%v %v", c.change, a.Body)
			} else {
				a.Refused(400, c.code, nil)
			}
		}
	}
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(1, 5), nodetest.Object{"type": "free"})).Invalid("price", "maximum")
	s.Own("PUT", path+"/"+id, nodetest.Object{"price": 1}).Invalid("price", "maximum")
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(1, 5), nodetest.Object{"refundable": true})).Invalid("refundDeadline", "required")
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(1, 5), nodetest.Object{"refundable": true, "refundDeadline": nil})).Invalid("refundDeadline", "required")

	t.Log("an event takes its types along, and their windows stay within it")
	moved := s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 5), nodetest.Object{"saleEnd": end, "refundDeadline": start})).Is(201, "").Str("id")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"startDate": nodetest.Stamp(time.Hour), "endDate": nodetest.Stamp(7 * time.Hour)}).Is(400, "INVALID_SALE_WINDOW")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"startDate": nodetest.Stamp(time.Hour), "endDate": nodetest.Stamp(8 * time.Hour), "shiftWindows": true}).Is(200, "")
	s.Own("PUT", path+"/"+moved, nodetest.Object{"accessNote": "ring twice", "refundable": true}).Is(200, "")
	s.Own("PUT", path+"/"+moved, nodetest.Object{"saleEnd": end}).Refused(400, "INVALID_SALE_WINDOW", nil)
	s.Own("PUT", path+"/"+moved, nodetest.Object{"refundDeadline": start}).Refused(400, "INVALID_REFUND_DEADLINE", nil)

	t.Log("a ticket type is found in its own event only")
	other := s.Draft(nil)
	s.Own("PUT", "/organizer/events/"+other+"/tickets/"+id, nodetest.Object{}).Is(404, "TICKET_TYPE_NOT_FOUND")
	for _, bad := range []string{"x", event, "99999", "0", "0190b6c1-0000-7000-8000-000000000007", id[:35] + "f"} {
		s.Own("PUT", path+"/"+bad, nodetest.Object{}).Is(404, "TICKET_TYPE_NOT_FOUND")
	}
}

func TestTypeOnceSold(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	s.OwnFiles(9)
	event, types := s.OnSale(nodetest.TypeBody(0, 10), nodetest.TypeBody(25, 10))
	path := "/organizer/events/" + event + "/tickets/"
	free, paid := path+types[0], path+types[1]
	s.Own("PUT", free, nodetest.Object{"price": 3, "type": "vip"}).Is(200, "")
	s.Own("PUT", free, nodetest.Object{"price": 0}).Is(200, "")
	s.Place("ada@example.org", types[0], 3)
	pending, token := s.Place("ada@example.org", types[1], 2)
	for _, p := range []string{free, paid} {
		s.Own("PUT", p, nodetest.Object{"price": 30}).Is(409, "TICKET_TYPE_LOCKED")
		s.Own("PUT", p, nodetest.Object{"type": "group"}).Is(409, "TICKET_TYPE_LOCKED")
	}
	s.Own("PUT", free, nodetest.Object{"quantityTotal": 2}).Invalid("quantityTotal", "minimum")
	s.Own("PUT", paid, nodetest.Object{"quantityTotal": 1}).Invalid("quantityTotal", "minimum")
	a := s.Own("PUT", free, nodetest.Object{"quantityTotal": 3}).Is(200, "")
	require.Equal(t, "0", a.Str("available"))
	require.Equal(t, "3", a.Str("sold"))
	require.Equal(t, "0", s.Available(event, 0))
	require.Nil(t, s.Own("PUT", free, nodetest.Object{"quantityTotal": -1}).Is(200, "").Data("available"))
	s.Own("PUT", free, nodetest.Object{"quantityTotal": 0}).Invalid("quantityTotal", "minimum")
	s.Own("PUT", free, nodetest.Object{"quantityTotal": 5}).Is(200, "")
	require.Equal(t, "2", s.Available(event, 0))
	s.Own("PUT", free, nodetest.Object{
		"accessUrl": "/media/9", "accessNote": "new", "transferable": false, "refundable": true, "refundDeadline": nodetest.Stamp(time.Hour),
		"name": "Renamed", "price": 0, "type": "vip", "maxPerOrder": 1, "saleEnd": nodetest.Stamp(2 * time.Hour), "description": "d",
	}).Is(200, "")

	t.Log("what was given back is not sold")
	s.Call("POST", "/orders/"+pending+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	s.Becomes("200", func() string { return fmt.Sprint(s.Own("PUT", paid, nodetest.Object{"price": 30}).Status) })
}

func TestAvailability(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, types := s.OnSale(nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"sortOrder": 2}), nodetest.With(nodetest.TypeBody(0, -1), nodetest.Object{"sortOrder": 1}), nodetest.With(nodetest.TypeBody(0, 5), nodetest.Object{"sortOrder": 3, "status": "hidden"}))
	list := s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "")
	require.Len(t, list.Data("items"), 2, "hidden types are not shown")
	require.Equal(t, types[1], list.Str("items.0.id"), "in the organizer's order")
	require.Nil(t, list.Data("items.0.available"))
	require.Len(t, s.Own("GET", "/events/"+event+"/tickets", nil).Is(200, "").Data("items"), 3)
	order, token := s.Place("ada@example.org", types[0], 4)
	require.Equal(t, "6", s.Available(event, 1), "what was sold is gone at once")
	require.Equal(t, "completed", s.Order(order, token).Str("status"))

	t.Log("an edit is there for the next reader")
	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], nodetest.Object{"status": "hidden"}).Is(200, "")
	require.Len(t, s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Data("items"), 1)
	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], nodetest.Object{"status": "active", "name": "Back"}).Is(200, "")
	require.Equal(t, "Back", s.Call("GET", "/events/"+event+"/tickets", nil).Str("items.1.name"))
}

// TestTypesAtOnce creates more ticket types than an event has, all at one moment: the
// event itself counts, so that exactly so many are made.
func TestTypesAtOnce(t *testing.T) {
	t.Parallel()
	const most, callers, each = 200, 15, 14
	s := nodetest.Open(t)
	path := "/organizer/events/" + s.Draft(nil) + "/tickets"
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				switch a := s.Own("POST", path, nodetest.TypeBody(1, 1)); a.Status {
				case 201:
					made.Add(1)
				case 409:
					assert.Equal(t, "CONFLICT", a.Get("error.code"))
					assert.EqualValues(t, most, a.Get("error.details.maxTicketTypes"))
					refused.Add(1)
				default:
					assert.Fail(t, "an answer of another kind", "%d %v", a.Status, a.Body)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, most, made.Load())
	require.EqualValues(t, callers*each-most, refused.Load())
	public := "/events/" + path[len("/organizer/events/"):]
	list := s.Own("GET", public, nil).Is(200, "")
	require.Len(t, list.Data("items"), most)
	require.Contains(t, list.Keys(""), "nextCursor")
	require.Nil(t, list.Data("nextCursor"), "all are on one page")

	t.Log("a restart forgets no place")
	s.Restart()
	s.Own("POST", path, nodetest.TypeBody(1, 1)).Is(409, "CONFLICT")
}

// TestTypeRace edits the quantity while it is bought: what is sold never exceeds
// what the last edit left.
func TestTypeRace(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.With(nodetest.TypeBody(0, 40), nodetest.Object{"maxPerCustomer": 1000}))
	var wg sync.WaitGroup
	for buyer := range 4 {
		wg.Go(func() {
			for range 10 {
				a := s.Call("POST", "/orders", nodetest.OrderBody(fmt.Sprintf("b%d@example.org", buyer), types[0], 1))
				require.Contains(t, []int{201, 409}, a.Status, "%v", a.Body)
			}
		})
	}
	wg.Go(func() {
		for q := 39; q >= 0; q -= 3 {
			a := s.Own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], nodetest.Object{"quantityTotal": q})
			if a.Status != 200 {
				require.True(t, strings.Contains(nodetest.Encode(t, a.Body), "quantityTotal"), "%v", a.Body)
			}
		}
	})
	wg.Wait()
	a := s.Own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], nodetest.Object{}).Is(200, "")
	require.LessOrEqual(t, a.Data("sold"), a.Data("quantityTotal"))
}
