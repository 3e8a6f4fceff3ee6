package catalog

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestProductTypeLock changes categories before and after there is a ticket type.
func TestProductTypeLock(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	id := s.Draft(nil)
	path := "/organizer/events/" + id
	put := func(category string) nodetest.Answer {
		return s.Own("PUT", path, nodetest.Object{"category": category})
	}
	for _, category := range nodetest.Words("e-books online-course reservations") {
		put(category).Is(200, "")
	}
	s.Own("PUT", path, nodetest.EventBody()).Is(200, "") // which has its dates again
	s.Own("POST", path+"/tickets", nodetest.TypeBody(5, 10)).Is(201, "")
	require.Equal(t, "tech", put("tech").Is(200, "").Str("category"))
	for _, category := range nodetest.Words("e-books online-course reservations") {
		put(category).Refused(409, "PRODUCT_TYPE_LOCKED", nodetest.Object{"from": "tech", "to": category})
	}
	live, _ := s.Sell(nodetest.Object{"category": "e-books"}, nodetest.TypeBody(5, 10))
	path = "/organizer/events/" + live
	put("digital-product").Is(200, "")
	put("online-course").Refused(409, "PRODUCT_TYPE_LOCKED", nodetest.Object{"from": "digital-product", "to": "online-course"})
	put("music").Is(409, "PRODUCT_TYPE_LOCKED")
}

// TestEndedStaysReadable reads events that have ended as the public does.
func TestEndedStaysReadable(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	draft := s.Draft(nil)
	s.Own("POST", "/organizer/events/"+draft+"/tickets", nodetest.TypeBody(0, 10)).Is(201, "")
	unpublished, _ := s.Sell(nil, nodetest.TypeBody(0, 10))
	s.Own("POST", "/organizer/events/"+unpublished+"/unpublish", nil).Is(200, "")
	completed, ids := s.Sell(nil, nodetest.TypeBody(0, 10), nodetest.TypeBody(0, -1))
	order, token := s.Place("ada@example.org", ids[0], 2)
	s.Own("PUT", "/organizer/events/"+completed+"/status", nodetest.Object{"status": "in_progress"}).Is(200, "")
	s.Own("PUT", "/organizer/events/"+completed+"/status", nodetest.Object{"status": "completed"}).Is(200, "")
	cancelled, _ := s.Sell(nil, nodetest.TypeBody(5, 10), nodetest.TypeBody(5, -1))
	s.Own("DELETE", "/organizer/events/"+cancelled, nil).Is(200, "")
	private, _ := s.Sell(nodetest.Object{"visibility": "private"}, nodetest.TypeBody(5, 10))
	s.Own("DELETE", "/organizer/events/"+private, nil).Is(200, "")

	names := func(id string) []string {
		own := s.Own("GET", "/events/"+id, nil).Is(200, "")
		return []string{own.Str("slug"), id, own.Str("numericId")}
	}
	for status, id := range map[string]string{"completed": completed, "cancelled": cancelled} {
		for _, name := range names(id) {
			page := s.Call("GET", "/events/"+name, nil).Is(200, "")
			require.Equal(t, status, page.Str("status"))
			require.Equal(t, id, page.Str("id"))
			for i := range 2 {
				require.Equal(t, "0", page.Str(fmt.Sprintf("ticketTypes.%d.available", i)))
				require.Equal(t, "0", s.Available(id, i))
			}
		}
		s.Call("GET", "/public/events/"+id+"/seatmap", nil).Is(404, "NO_SEATING")
		hold := s.Call("POST", "/public/events/"+id+"/seats/hold", nodetest.Object{"holder": "shopper-1", "seatIds": []string{"A1"}})
		hold.Refused(409, "NOT_ON_SALE", nodetest.Object{"reason": "event_" + status})
	}
	for _, id := range []string{draft, unpublished, private} {
		for _, name := range names(id) {
			s.Call("GET", "/events/"+name, nil).Is(404, "EVENT_NOT_FOUND")
		}
		s.Call("GET", "/events/"+id+"/tickets", nil).Is(404, "EVENT_NOT_FOUND")
	}
	s.Call("GET", "/events/no-such-event", nil).Is(404, "EVENT_NOT_FOUND")
	require.Empty(t, s.Call("GET", "/events", nil).Is(200, "").Data("items"))
	s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(409, "NOT_ON_SALE")
	require.Equal(t, "completed", s.Order(order, token).Str("status"))
}

// TestNothingChanges makes sure that what changes nothing tells nothing.
func TestNothingChanges(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	full := nodetest.With(nodetest.EventBody(), nodetest.Object{
		"tags": []string{"x"}, "venueLat": 1.5, "gallery": []string{nodetest.URI(30)}, "branding": nodetest.Object{"a": "b"}, "entities": nodetest.Entity(nil), "capacity": 50,
	})
	id, ids := s.Sell(full, nodetest.TypeBody(0, 10))
	path := "/organizer/events/" + id
	status := func() string { return s.Own("PUT", path, nodetest.Object{}).Is(200, "").Str("status") }
	s.Becomes("on_sale", status)
	was := s.Own("PUT", path, full).Is(200, "")
	require.Equal(t, was.Str("updatedAt"), s.Own("PUT", path, nodetest.Object{}).Is(200, "").Str("updatedAt"))
	s.Own("PUT", path, nodetest.Object{"subcategory": nil, "doorOpenTime": nil}).Is(200, "")
	kind := s.Own("PUT", path+"/tickets/"+ids[0], nodetest.TypeBody(0, 10)).Is(200, "")
	require.Equal(t, "0.00", kind.Str("price"))
	require.Equal(t, "on_sale", s.Own("POST", path+"/publish", nil).Is(200, "").Str("status"))
	draft := s.Draft(nil)
	s.Own("POST", "/organizer/events/"+draft+"/unpublish", nil).Is(200, "")

	s.Own("PUT", path, nodetest.Object{"subcategory": "new"}).Is(200, "") // the one change
	s.Becomes("1", func() string { return fmt.Sprint(s.ToldOf("event.updated")) })
	require.Equal(t, 1, s.ToldOf("event.published"))
	s.Own("DELETE", path, nil).Is(200, "")
	s.Own("DELETE", path, nil).Is(200, "")
	s.Own("PUT", path, nodetest.Object{"subcategory": "new"}).Is(200, "")
	s.Own("PUT", path, nodetest.Object{"subcategory": "newer"}).Is(409, "INVALID_STATUS_TRANSITION")
	s.Becomes("1", func() string { return fmt.Sprint(s.ToldOf("event.cancelled")) })
}

// TestHostedFiles names files that the service hosts: their organization reads
// what it wrote, the public an address.
func TestHostedFiles(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.OwnFiles(1, 2, 3, 4, 5, 6)
	body := nodetest.Object{
		"coverImage": "/media/1", "coverVideo": "/media/2", "gallery": []string{"/media/3", nodetest.URI(30)}, "onlineLink": "/media/6",
		"entities": nodetest.Entity(nodetest.Object{"imageUrl": "/media/4", "link": "/media/5"}),
	}
	id, _ := s.Sell(body, nodetest.TypeBody(5, 10))
	own := s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Is(200, "")
	for name, v := range body {
		echoed(t, v, own.Data(name), name)
	}
	base := s.Config().BaseURL
	for range 2 { // also when the page is cached
		page := s.Call("GET", "/events/"+id, nil).Is(200, "")
		require.Equal(t, base+"/media/1", page.Str("coverImage"))
		require.Equal(t, base+"/media/2", page.Str("coverVideo"))
		require.Equal(t, []any{base + "/media/3", nodetest.URI(30)}, page.Data("gallery"))
		require.Equal(t, base+"/media/4", page.Str("entities.0.imageUrl"))
		require.Equal(t, base+"/media/5", page.Str("entities.0.link"))
		require.Equal(t, base+"/media/6", page.Str("onlineLink"))
	}
	require.Equal(t, base+"/media/1", s.Call("GET", "/events", nil).Str("items.0.coverImage"))
}

// TestLowestPrice follows a card's price through a sale.
func TestLowestPrice(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	later := nodetest.With(nodetest.TypeBody(3, 5), nodetest.Object{"saleStart": nodetest.Stamp(time.Hour)})
	_, ids := s.Sell(nodetest.Object{"title": "priced"}, nodetest.TypeBody(0, 1), nodetest.TypeBody(7, 1), later, nodetest.With(nodetest.TypeBody(1, 0), nil))
	price := func() string { return s.Call("GET", "/events?q=priced", nil).Str("items.0.lowestPrice") }
	s.Becomes("0.00", price)
	s.Place("ada@example.org", ids[0], 1)
	s.Becomes("7.00", price)
	order, token := s.Place("bob@example.org", ids[1], 1)
	s.Becomes("3.00", price)
	s.Call("POST", "/orders/"+order+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	s.Becomes("7.00", price)
	s.Sell(nodetest.Object{"title": "gone"}, nodetest.TypeBody(0, 0))
	s.Becomes("<nil>", func() string { return s.Call("GET", "/events?q=gone", nil).Str("items.0.lowestPrice") })
}

// TestDigitalProducts completes one at its end, and holds the rules of others.
func TestDigitalProducts(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.OwnFiles(3, 9)
	soon := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }
	s = s.In(t) // the organizer is registered before the clock counts
	id := s.Draft(nodetest.Object{"category": "e-books", "startDate": soon(8 * time.Second), "endDate": soon(12 * time.Second)})
	s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.With(nodetest.TypeBody(0, 5), nodetest.Object{"saleEnd": soon(4 * time.Second)})).Is(201, "")
	s.Own("POST", "/organizer/events/"+id+"/publish", nil).Is(200, "")
	endless, _ := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": "/media/9"}, nodetest.TypeBody(5, 10))

	t.Log("refunds")
	path := "/organizer/events/" + endless + "/tickets"
	year := 365 * 24 * time.Hour
	for _, ok := range []nodetest.Object{
		{"refundable": true, "refundDeadline": nodetest.Stamp(4 * year)},
		{"refundable": true, "refundWindowHours": 0},
		{"refundWindowHours": 8760, "refundDeadline": nodetest.Stamp(year)},
	} {
		a := s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 10), ok)).Is(201, "")
		for name, v := range ok {
			echoed(t, v, a.Data(name), name)
		}
		s.Own("PUT", path+"/"+a.Str("id"), ok).Is(200, "")
		require.Nil(t, s.Own("PUT", path+"/"+a.Str("id"), nodetest.Object{"refundWindowHours": nil, "refundable": false}).Is(200, "").Data("refundWindowHours"))
	}
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"refundDeadline": nodetest.Stamp(5*year + 72*time.Hour)})).Refused(400, "INVALID_REFUND_DEADLINE", nil)
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"refundable": true})).Invalid("refundDeadline", "required")
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"refundWindowHours": 8761})).Invalid("refundWindowHours", "maximum")
	s.Own("POST", path, nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"refundWindowHours": -1})).Invalid("refundWindowHours", "minimum")
	show := s.Draft(nodetest.Object{"onlineLink": "https://example.org/stream"})
	s.Own("POST", "/organizer/events/"+show+"/tickets", nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"refundWindowHours": 5})).Invalid("refundWindowHours", "unsupported")

	t.Log("who gets a link")
	access := func(event string, body nodetest.Object) any {
		return s.Own("POST", "/organizer/events/"+event+"/tickets", body).Is(201, "").Data("digitalAccess")
	}
	require.Equal(t, true, access(endless, nodetest.TypeBody(5, 10)))
	require.Equal(t, false, access(show, nodetest.TypeBody(5, 10)))
	require.Equal(t, true, access(show, nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"accessUrl": "/media/3"})))
	types, _ := s.Call("GET", "/events/"+endless, nil).Is(200, "").Data("ticketTypes").([]any)
	require.False(t, slices.ContainsFunc(types, func(v any) bool { return v.(nodetest.Object)["digitalAccess"] != true }))

	t.Log("the end")
	s.Becomes("completed", func() string { return s.Call("GET", "/events/"+id, nil).Str("status") })
	s.Becomes("1", func() string { return fmt.Sprint(s.ToldOf("event.completed")) })
	require.Equal(t, "on_sale", s.Call("GET", "/events/"+endless, nil).Str("status"))
}

// TestSeatingMode sells a ticket type that no section is sold as: not where every
// ticket is a seat.
func TestSeatingMode(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	venue := h.Own("GET", h.Organize+"seating", nil).Is(200, "").Str("map.venueMapId")
	standing := h.Own("POST", h.Organize+"tickets", nodetest.TypeBody(5, 10)).Is(201, "").Str("id")
	order := func() nodetest.Answer {
		return h.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", standing, 1))
	}
	unmapped := func() {
		require.Equal(t, "unmapped", order().Is(409, "NOT_ON_SALE").Get("error.details.reason"))
	}
	seated := func() (out string) {
		items, _ := h.Call("GET", "/events/"+h.Event+"/tickets", nil).Is(200, "").Data("items").([]any)
		for _, i := range items {
			out += fmt.Sprint(i.(nodetest.Object)["seated"], " ")
		}
		return out
	}
	require.Equal(t, "true true false ", seated())
	unmapped()
	set := func(mode string) {
		require.Equal(t, mode, h.Own("PUT", h.Organize+"seating", nodetest.Object{"venueMapId": venue, "mode": mode}).Is(200, "").Str("mode"))
	}
	set("ga_mixed")
	order().Is(201, "")
	set("reserved")
	unmapped()
	h.Own("DELETE", h.Organize+"seating", nil).Is(200, "")
	order().Is(201, "")
	h.Becomes("false false false ", seated)
}

// TestSeatingKnowsNewTypes gives an event seats while the read model is behind, so that it lacks a ticket type that was
// just made. That type too must be sold by seats only.
func TestSeatingKnowsNewTypes(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	venue := h.Own("GET", h.Organize+"seating", nil).Is(200, "").Str("map.venueMapId")
	set := func(mode string) nodetest.Answer {
		return h.Own("PUT", h.Organize+"seating", nodetest.Object{"venueMapId": venue, "mode": mode})
	}
	set("ga_mixed").Is(200, "")
	tx, err := h.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `LOCK TABLE ticket_types IN EXCLUSIVE MODE`) // it can be read, and not written
	require.NoError(t, err)
	standing := h.Own("POST", h.Organize+"tickets", nodetest.TypeBody(5, 10)).Is(201, "").Str("id")
	set("reserved").Is(503, "UNAVAILABLE")
	h.Own("PUT", h.Organize+"seating/pricing", nodetest.Object{"mappings": []nodetest.Object{{"venueSectionId": "stalls", "ticketTypeId": standing}}}).Is(503, "UNAVAILABLE")
	require.NoError(t, tx.Rollback(t.Context()))
	set("reserved").Is(200, "")
	r := h.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", standing, 1)).Is(409, "NOT_ON_SALE")
	require.Equal(t, "unmapped", r.Get("error.details.reason"))
}
