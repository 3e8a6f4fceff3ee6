package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// toldOf counts the facts of a type in the organization's feed.
func (s *shop) toldOf(kind string) int {
	s.t.Helper()
	items, _ := s.own("GET", "/organizer/facts?limit=100&types="+kind, nil).is(200, "").data("items").([]any)
	return len(items)
}

// TestNotSoldYet makes sure that nobody pays for what nobody delivers: events of
// some categories are written, but not published.
func TestNotSoldYet(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, category := range words("reservations online-course") {
		id := s.draft(object{"category": category, "endDate": absent})
		path := "/organizer/events/" + id
		s.own("POST", path+"/tickets", typeBody(5, 10)).is(201, "")
		refused := func(a answer, from string, allowed ...string) {
			a.refused(409, "INVALID_STATUS_TRANSITION", object{"from": from, "to": "published", "allowed": allowed, "reason": "category_not_sold_yet"})
		}
		refused(s.own("POST", path+"/publish", nil), "draft", "review")
		refused(s.own("PUT", path+"/status", object{"status": "published"}), "draft", "review")
		s.own("PUT", path+"/status", object{"status": "review"}).is(200, "")
		refused(s.own("POST", path+"/publish", nil), "review", "draft")
		require.Equal(t, "review", s.own("PUT", path, object{}).is(200, "").str("status"))
	}
}

// TestProductTypeLock changes categories before and after there is a ticket type.
func TestProductTypeLock(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := s.draft(nil)
	path := "/organizer/events/" + id
	put := func(category string) answer { return s.own("PUT", path, object{"category": category}) }
	for _, category := range words("e-books online-course reservations") {
		put(category).is(200, "")
	}
	s.own("PUT", path, eventBody()).is(200, "") // which has its dates again
	s.own("POST", path+"/tickets", typeBody(5, 10)).is(201, "")
	require.Equal(t, "tech", put("tech").is(200, "").str("category"))
	for _, category := range words("e-books online-course reservations") {
		put(category).refused(409, "PRODUCT_TYPE_LOCKED", object{"from": "tech", "to": category})
	}
	live, _ := s.sell(object{"category": "e-books"}, typeBody(5, 10))
	path = "/organizer/events/" + live
	put("digital-product").is(200, "")
	put("online-course").refused(409, "PRODUCT_TYPE_LOCKED", object{"from": "digital-product", "to": "online-course"})
	put("music").is(409, "PRODUCT_TYPE_LOCKED")
}

// TestFieldsNotYet sends the fields of the specification that are not built: they
// are refused by name, where unknown ones are ignored.
func TestFieldsNotYet(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := s.draft(nil)
	for _, name := range words("reservation courseType syllabus unifiedPdf unifiedVideo unifiedMaterials exam certificateTemplate") {
		s.own("POST", "/organizer/events", with(eventBody(), object{name: object{"mode": []int{1}}})).invalid(name, "unsupported")
		s.own("PUT", "/organizer/events/"+id, object{name: "x"}).invalid(name, "unsupported")
		s.own("PUT", "/organizer/events/"+id, object{name: nil}).is(200, "")
	}
	s.own("POST", "/organizer/events", with(eventBody(), object{"surprise": 1, "courseTypes": "x"})).is(201, "")
	types := "/organizer/events/" + id + "/tickets"
	s.own("POST", types, with(typeBody(5, 10), object{"sectionId": "s"})).invalid("sectionId", "unsupported")
	s.own("PUT", types+"/"+s.own("POST", types, with(typeBody(5, 10), object{"sectionId": nil})).is(201, "").str("id"), object{"sectionId": "s"}).invalid("sectionId", "unsupported")

	_, ids := s.onSale(typeBody(0, 10))
	body := orderBody("ada@example.org", ids[0], 1)
	s.call("POST", "/orders", with(body, object{"promoCode": "EARLY"})).invalid("promoCode", "unsupported")
	s.call("POST", "/orders", with(body, object{"promoCode": ""})).is(201, "")
	for _, name := range words("reservationDate reservationSlotId") {
		line := object{"ticketTypeId": ids[0], "quantity": 1, name: "2031-01-01"}
		s.call("POST", "/orders", with(body, object{"items": []object{line}})).invalid("items[0]."+name, "unsupported")
	}
	document := s.raw("GET", "/openapi.json", "", "").body
	for _, name := range words("unifiedPdf reservationSlotId NotYet") {
		require.NotContains(t, document, name)
	}
}

// TestEndedStaysReadable reads events that have ended as the public does.
func TestEndedStaysReadable(t *testing.T) {
	t.Parallel()
	s := open(t)
	draft := s.draft(nil)
	s.own("POST", "/organizer/events/"+draft+"/tickets", typeBody(0, 10)).is(201, "")
	unpublished, _ := s.sell(nil, typeBody(0, 10))
	s.own("POST", "/organizer/events/"+unpublished+"/unpublish", nil).is(200, "")
	completed, ids := s.sell(nil, typeBody(0, 10), typeBody(0, -1))
	order, token := s.place("ada@example.org", ids[0], 2)
	s.own("PUT", "/organizer/events/"+completed+"/status", object{"status": "in_progress"}).is(200, "")
	s.own("PUT", "/organizer/events/"+completed+"/status", object{"status": "completed"}).is(200, "")
	cancelled, _ := s.sell(nil, typeBody(5, 10), typeBody(5, -1))
	s.own("DELETE", "/organizer/events/"+cancelled, nil).is(200, "")
	private, _ := s.sell(object{"visibility": "private"}, typeBody(5, 10))
	s.own("DELETE", "/organizer/events/"+private, nil).is(200, "")

	names := func(id string) []string {
		own := s.own("GET", "/events/"+id, nil).is(200, "")
		return []string{own.str("slug"), id, own.str("numericId")}
	}
	for status, id := range map[string]string{"completed": completed, "cancelled": cancelled} {
		for _, name := range names(id) {
			page := s.call("GET", "/events/"+name, nil).is(200, "")
			require.Equal(t, status, page.str("status"))
			require.Equal(t, id, page.str("id"))
			for i := range 2 {
				require.Equal(t, "0", page.str(fmt.Sprintf("ticketTypes.%d.available", i)))
				require.Equal(t, "0", s.available(id, i))
			}
		}
		s.call("GET", "/public/events/"+id+"/seatmap", nil).is(404, "NO_SEATING")
		hold := s.call("POST", "/public/events/"+id+"/seats/hold", object{"holder": "shopper-1", "seatIds": []string{"A1"}})
		hold.refused(409, "NOT_ON_SALE", object{"reason": "event_" + status})
	}
	for _, id := range []string{draft, unpublished, private} {
		for _, name := range names(id) {
			s.call("GET", "/events/"+name, nil).is(404, "EVENT_NOT_FOUND")
		}
		s.call("GET", "/events/"+id+"/tickets", nil).is(404, "EVENT_NOT_FOUND")
	}
	s.call("GET", "/events/no-such-event", nil).is(404, "EVENT_NOT_FOUND")
	require.Empty(t, s.call("GET", "/events", nil).is(200, "").data("items"))
	s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 1)).is(409, "NOT_ON_SALE")
	require.Equal(t, "completed", s.order(order, token).str("status"))
}

// TestNothingChanges makes sure that what changes nothing tells nothing.
func TestNothingChanges(t *testing.T) {
	t.Parallel()
	s := open(t)
	full := with(eventBody(), object{
		"tags": []string{"x"}, "venueLat": 1.5, "gallery": []string{uri(30)}, "branding": object{"a": "b"}, "entities": entity(nil), "capacity": 50,
	})
	id, ids := s.sell(full, typeBody(0, 10))
	path := "/organizer/events/" + id
	status := func() string { return s.own("PUT", path, object{}).is(200, "").str("status") }
	s.becomes("on_sale", status)
	was := s.own("PUT", path, full).is(200, "")
	require.Equal(t, was.str("updatedAt"), s.own("PUT", path, object{}).is(200, "").str("updatedAt"))
	s.own("PUT", path, object{"subcategory": nil, "doorOpenTime": nil}).is(200, "")
	kind := s.own("PUT", path+"/tickets/"+ids[0], typeBody(0, 10)).is(200, "")
	require.Equal(t, "0.00", kind.str("price"))
	require.Equal(t, "on_sale", s.own("POST", path+"/publish", nil).is(200, "").str("status"))
	draft := s.draft(nil)
	s.own("POST", "/organizer/events/"+draft+"/unpublish", nil).is(200, "")

	s.own("PUT", path, object{"subcategory": "new"}).is(200, "") // the one change
	s.becomes("1", func() string { return fmt.Sprint(s.toldOf("event.updated")) })
	require.Equal(t, 1, s.toldOf("event.published"))
	s.own("DELETE", path, nil).is(200, "")
	s.own("DELETE", path, nil).is(200, "")
	s.own("PUT", path, object{"subcategory": "new"}).is(200, "")
	s.own("PUT", path, object{"subcategory": "newer"}).is(409, "INVALID_STATUS_TRANSITION")
	s.becomes("1", func() string { return fmt.Sprint(s.toldOf("event.cancelled")) })
}

// TestHostedFiles names files that the service hosts: their organization reads
// what it wrote, the public an address.
func TestHostedFiles(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := object{
		"coverImage": "/media/1", "coverVideo": "/media/2", "gallery": []string{"/media/3", uri(30)}, "onlineLink": "/media/6",
		"entities": entity(object{"imageUrl": "/media/4", "link": "/media/5"}),
	}
	id, _ := s.sell(body, typeBody(5, 10))
	own := s.own("PUT", "/organizer/events/"+id, object{}).is(200, "")
	for name, v := range body {
		echoed(t, v, own.data(name), name)
	}
	base := s.cfg.BaseURL
	for range 2 { // also when the page is cached
		page := s.call("GET", "/events/"+id, nil).is(200, "")
		require.Equal(t, base+"/media/1", page.str("coverImage"))
		require.Equal(t, base+"/media/2", page.str("coverVideo"))
		require.Equal(t, []any{base + "/media/3", uri(30)}, page.data("gallery"))
		require.Equal(t, base+"/media/4", page.str("entities.0.imageUrl"))
		require.Equal(t, base+"/media/5", page.str("entities.0.link"))
		require.Equal(t, base+"/media/6", page.str("onlineLink"))
	}
	require.Equal(t, base+"/media/1", s.call("GET", "/events", nil).str("items.0.coverImage"))
}

// TestLowestPrice follows a card's price through a sale.
func TestLowestPrice(t *testing.T) {
	t.Parallel()
	s := open(t)
	later := with(typeBody(3, 5), object{"saleStart": stamp(time.Hour)})
	_, ids := s.sell(object{"title": "priced"}, typeBody(0, 1), typeBody(7, 1), later, with(typeBody(1, 0), nil))
	price := func() string { return s.call("GET", "/events?q=priced", nil).str("items.0.lowestPrice") }
	s.becomes("0.00", price)
	s.place("ada@example.org", ids[0], 1)
	s.becomes("7.00", price)
	order, token := s.place("bob@example.org", ids[1], 1)
	s.becomes("3.00", price)
	s.call("POST", "/orders/"+order+"/cancel", object{"token": token}).is(200, "")
	s.becomes("7.00", price)
	s.sell(object{"title": "gone"}, typeBody(0, 0))
	s.becomes("<nil>", func() string { return s.call("GET", "/events?q=gone", nil).str("items.0.lowestPrice") })
}

// TestDigitalProducts completes one at its end, and holds the rules of others.
func TestDigitalProducts(t *testing.T) {
	t.Parallel()
	s := open(t)
	soon := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }
	s = s.in(t) // the organizer is registered before the clock counts
	id := s.draft(object{"category": "e-books", "startDate": soon(8 * time.Second), "endDate": soon(12 * time.Second)})
	s.own("POST", "/organizer/events/"+id+"/tickets", with(typeBody(0, 5), object{"saleEnd": soon(4 * time.Second)})).is(201, "")
	s.own("POST", "/organizer/events/"+id+"/publish", nil).is(200, "")
	endless, _ := s.sell(object{"category": "e-books", "endDate": nil, "onlineLink": "/media/9"}, typeBody(5, 10))

	t.Log("refunds")
	path := "/organizer/events/" + endless + "/tickets"
	year := 365 * 24 * time.Hour
	for _, ok := range []object{
		{"refundable": true, "refundDeadline": stamp(4 * year)},
		{"refundable": true, "refundWindowHours": 0},
		{"refundWindowHours": 8760, "refundDeadline": stamp(year)},
	} {
		a := s.own("POST", path, with(typeBody(5, 10), ok)).is(201, "")
		for name, v := range ok {
			echoed(t, v, a.data(name), name)
		}
		s.own("PUT", path+"/"+a.str("id"), ok).is(200, "")
		require.Nil(t, s.own("PUT", path+"/"+a.str("id"), object{"refundWindowHours": nil, "refundable": false}).is(200, "").data("refundWindowHours"))
	}
	s.own("POST", path, with(typeBody(5, 10), object{"refundDeadline": stamp(5*year + 72*time.Hour)})).refused(400, "INVALID_REFUND_DEADLINE", nil)
	s.own("POST", path, with(typeBody(5, 10), object{"refundable": true})).invalid("refundDeadline", "required")
	s.own("POST", path, with(typeBody(5, 10), object{"refundWindowHours": 8761})).invalid("refundWindowHours", "maximum")
	s.own("POST", path, with(typeBody(5, 10), object{"refundWindowHours": -1})).invalid("refundWindowHours", "minimum")
	show := s.draft(object{"onlineLink": "https://example.org/stream"})
	s.own("POST", "/organizer/events/"+show+"/tickets", with(typeBody(5, 10), object{"refundWindowHours": 5})).invalid("refundWindowHours", "unsupported")

	t.Log("who gets a link")
	access := func(event string, body object) any {
		return s.own("POST", "/organizer/events/"+event+"/tickets", body).is(201, "").data("digitalAccess")
	}
	require.Equal(t, true, access(endless, typeBody(5, 10)))
	require.Equal(t, false, access(show, typeBody(5, 10)))
	require.Equal(t, true, access(show, with(typeBody(5, 10), object{"accessUrl": "/media/3"})))
	types, _ := s.call("GET", "/events/"+endless, nil).is(200, "").data("ticketTypes").([]any)
	require.False(t, slices.ContainsFunc(types, func(v any) bool { return v.(object)["digitalAccess"] != true }))

	t.Log("the end")
	s.becomes("completed", func() string { return s.call("GET", "/events/"+id, nil).str("status") })
	s.becomes("1", func() string { return fmt.Sprint(s.toldOf("event.completed")) })
	require.Equal(t, "on_sale", s.call("GET", "/events/"+endless, nil).str("status"))
}

// TestSeatingMode sells a ticket type that no section is sold as: not where every
// ticket is a seat.
func TestSeatingMode(t *testing.T) {
	t.Parallel()
	h := seatedIn(open(t))
	venue := h.own("GET", h.organize+"seating", nil).is(200, "").str("map.venueMapId")
	standing := h.own("POST", h.organize+"tickets", typeBody(5, 10)).is(201, "").str("id")
	order := func() answer { return h.call("POST", "/orders", orderBody("ada@example.org", standing, 1)) }
	unmapped := func() {
		require.Equal(t, "unmapped", order().is(409, "NOT_ON_SALE").get("error.details.reason"))
	}
	seated := func() (out string) {
		items, _ := h.call("GET", "/events/"+h.event+"/tickets", nil).is(200, "").data("items").([]any)
		for _, i := range items {
			out += fmt.Sprint(i.(object)["seated"], " ")
		}
		return out
	}
	require.Equal(t, "true true false ", seated())
	unmapped()
	set := func(mode string) {
		require.Equal(t, mode, h.own("PUT", h.organize+"seating", object{"venueMapId": venue, "mode": mode}).is(200, "").str("mode"))
	}
	set("ga_mixed")
	order().is(201, "")
	set("reserved")
	unmapped()
	h.own("DELETE", h.organize+"seating", nil).is(200, "")
	order().is(201, "")
	h.becomes("false false false ", seated)
}
