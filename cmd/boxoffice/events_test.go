package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEventDefaults(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := eventBody()
	a := s.own("POST", "/organizer/events", body).is(201, "")
	want := with(body, object{
		"productType": "event", "status": "draft", "visibility": "public", "currency": "USD", "absorbFees": false, "orderWindowMinutes": 15,
		"subcategory": nil, "shortDesc": nil, "description": nil, "tags": []any{}, "capacity": nil, "doorOpenTime": nil,
		"venueName": nil, "venueAddress": nil, "venueCity": nil, "venueCountry": nil, "venueLat": nil, "venueLng": nil,
		"onlineLink": nil, "onlineLinkNote": nil, "returnPolicy": nil, "highlightVideoUrl": nil, "coverImage": nil, "coverVideo": nil,
		"gallery": []any{}, "branding": object{}, "seoData": object{}, "entities": []any{}, "schedule": []any{},
	})
	for name, v := range want {
		echoed(t, v, a.data(name), name)
	}
	require.Equal(t, eventKeys, a.keys(""))

	t.Log("null and absent on PUT")
	id := a.str("id")
	full := with(object{}, object{
		"subcategory": "a", "shortDesc": "b", "description": text(50), "tags": []string{"x"}, "capacity": 5, "doorOpenTime": body["startDate"],
		"venueName": "a", "venueAddress": "b", "venueCity": "c", "venueCountry": "DE", "venueLat": 1.5, "venueLng": 2.5, "onlineLink": uri(30),
		"onlineLinkNote": "n", "returnPolicy": "r", "highlightVideoUrl": "https://vimeo.com/1", "coverImage": uri(30), "coverVideo": uri(30),
		"gallery": []string{uri(30)}, "branding": object{"a": "b"}, "seoData": object{"c": "d"}, "entities": entity(nil), "visibility": "unlisted",
	})
	s.own("PUT", "/organizer/events/"+id, full).is(200, "")
	same := s.own("PUT", "/organizer/events/"+id, object{}).is(200, "")
	for name, v := range full {
		echoed(t, v, same.data(name), name)
		cleared := s.own("PUT", "/organizer/events/"+id, object{name: nil}).is(200, "")
		echoed(t, want[name], cleared.data(name), name)
	}
	for _, name := range words("title category startDate timezone venueType currency absorbFees orderWindowMinutes") {
		s.own("PUT", "/organizer/events/"+id, object{name: nil}).invalid(name, "null")
	}
}

var eventKeys = words(`id numericId organizationId slug title category productType subcategory shortDesc description tags status visibility
	startDate endDate timezone venueType capacity doorOpenTime venueName venueAddress venueCity venueCountry venueLat venueLng
	onlineLink onlineLinkNote returnPolicy highlightVideoUrl coverImage coverVideo gallery currency absorbFees branding seoData entities
	orderWindowMinutes velocity schedule createdAt updatedAt`)

// Characters are counted, whatever number of bytes they come in.
func TestLongDescriptions(t *testing.T) {
	t.Parallel()
	s := open(t)
	long := strings.Repeat("漢", 50_000)
	id := s.own("POST", "/organizer/events", with(eventBody(), object{"description": long})).is(201, "").str("id")
	escaped := `{"description":"` + strings.Repeat(`\ud83c\udf9f`, 50_000) + `"}`
	s.raw("PUT", "/organizer/events/"+id, "application/json", escaped, s.bearer()...).is(t, 200)
	s.own("PUT", "/organizer/events/"+id, object{"description": long + "x"}).invalid("description", "max_length")
}

func TestProductTypes(t *testing.T) {
	t.Parallel()
	s := open(t)
	for category, want := range map[string]string{
		"music": "event", "webinar": "event", "made up": "event", "reservations": "reservation", "online-course": "digital",
		"digital-product": "digital", "e-books": "digital", "downloadable-files": "digital", "online-service": "digital",
	} {
		body := with(eventBody(), object{"category": category, "endDate": absent})
		a := s.own("POST", "/organizer/events", body)
		if want == "event" {
			a.invalid("endDate", "required")
			continue
		}
		require.Equal(t, want, a.is(201, "").str("productType"))
		require.Nil(t, a.data("endDate"))
		require.Nil(t, s.own("POST", "/organizer/events", with(body, object{"endDate": nil})).is(201, "").data("endDate"))
	}
	t.Log("a dated digital product becomes always available")
	id := s.draft(object{"category": "e-books"})
	require.NotNil(t, s.own("PUT", "/organizer/events/"+id, object{}).data("endDate"))
	require.Nil(t, s.own("PUT", "/organizer/events/"+id, object{"endDate": nil}).is(200, "").data("endDate"))
	s.own("PUT", "/organizer/events/"+id, object{"category": "music"}).invalid("endDate", "required")

	t.Log("a reservation's dates and entities are none of the organizer's")
	event := s.draft(object{"category": "reservations", "entities": entity(nil)})
	own := s.own("PUT", "/organizer/events/"+event, object{"entities": entity(nil)}).is(200, "")
	require.NotContains(t, own.keys(""), "entities")
	page := s.own("GET", "/events/"+own.str("slug"), nil).is(200, "")
	require.Nil(t, page.data("startDate"))
	require.Nil(t, page.data("endDate"))
	require.Equal(t, false, page.data("bookingOpen"))
	require.NotContains(t, page.keys(""), "entities")
	list := s.own("GET", "/organizer/events?productType=reservation", nil).is(200, "")
	require.Equal(t, event, list.str("items.0.id"))
	far := time.Now().AddDate(7, 0, 0).UTC().Format(time.RFC3339)
	s.own("POST", "/organizer/events/"+event+"/tickets", with(typeBody(5, 10), object{"saleEnd": far})).is(201, "")
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.in(t).register("other@example.org")
	for _, tc := range []struct {
		visibility      string
		publish         bool
		listed, visible bool
	}{
		{"public", true, true, true},
		{"unlisted", true, false, true},
		{"private", true, false, false},
		{"public", false, false, false},
		{"unlisted", false, false, false},
	} {
		id := s.draft(object{"visibility": tc.visibility, "title": "See " + tc.visibility + fmt.Sprint(tc.publish)})
		s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(5, 10)).is(201, "")
		if tc.publish {
			s.own("POST", "/organizer/events/"+id+"/publish", nil).is(200, "")
		}
		slug := s.own("PUT", "/organizer/events/"+id, object{}).is(200, "").str("slug")
		for name, who := range map[string]func(string, string, any) answer{
			"guest": func(m, p string, b any) answer { return s.call(m, p, b) }, "other": other.own,
		} {
			page, types := who("GET", "/events/"+slug, nil), who("GET", "/events/"+id+"/tickets", nil)
			if tc.visible {
				page.is(200, "")
				types.is(200, "")
			} else {
				page.is(404, "EVENT_NOT_FOUND")
				types.is(404, "EVENT_NOT_FOUND")
			}
			listed := strings.Contains(fmt.Sprint(who("GET", "/events?limit=100", nil).is(200, "").body), id)
			require.Equal(t, tc.listed, listed, "%s sees %v", name, tc)
		}
		s.own("GET", "/events/"+slug, nil).is(200, "")
		s.own("GET", "/events/"+id+"/tickets", nil).is(200, "")
		if tc.visible { // and hidden from the next reader on
			s.own("PUT", "/organizer/events/"+id, object{"visibility": "private"}).is(200, "")
			s.call("GET", "/events/"+slug, nil).is(404, "EVENT_NOT_FOUND")
			s.call("GET", "/events/"+id+"/tickets", nil).is(404, "EVENT_NOT_FOUND")
		}
	}
}

// TestAudiences holds the golden sets of members of each audience's answers, and
// that what buyers pay for is in none of the public ones.
func TestAudiences(t *testing.T) {
	t.Parallel()
	s := open(t)
	const secret = "https://example.org/the-goods"
	hidden := object{
		"accessUrl": secret + "/tier", "accessNote": "PIN-tier", "presaleCode": "PIN-presale", "name": "Tier",
	}
	event, types := s.sell(object{
		"category": "e-books", "onlineLink": secret, "onlineLinkNote": "PIN-note",
		"branding": object{"accent": "PIN-branding", "courseType": "unified", "certificateTemplate": "cert-1", "requireIdCheck": true, "unifiedPdf": secret},
	}, with(typeBody(5, 10), hidden))
	own := s.own("PUT", "/organizer/events/"+event, object{}).is(200, "")
	require.Equal(t, secret, own.str("onlineLink"))
	require.Equal(t, "PIN-note", own.str("onlineLinkNote"))
	slug := own.str("slug")

	page := s.call("GET", "/events/"+slug, nil).is(200, "")
	public := slices.DeleteFunc(slices.Clone(eventKeys), func(k string) bool {
		return strings.HasPrefix(k, "onlineLink") || k == "organizationId" || k == "velocity"
	})
	public = words(strings.Join(public, " ") + " organizer ticketTypes")
	require.Equal(t, public, page.keys(""))
	echoed(t, object{"courseType": "unified", "certificateTemplate": "cert-1", "requireIdCheck": true}, page.data("branding"), "branding")
	require.Equal(t, words("id name slug"), page.keys("organizer"))
	typeKeys := words(`id name type saleStart saleEnd price currency quantityTotal available maxPerOrder maxPerCustomer transferable
		refundable refundDeadline refundWindowHours presaleRequired waitlistEnabled description digitalAccess seated sectionId sortOrder status`)
	require.Equal(t, typeKeys, page.keys("ticketTypes.0"))
	require.Equal(t, true, page.data("ticketTypes.0.digitalAccess"))
	list := s.call("GET", "/events/"+event+"/tickets", nil).is(200, "")
	require.Equal(t, typeKeys, list.keys("items.0"))
	ownKeys := words(strings.Join(typeKeys, " ") + " presaleCode accessUrl accessNote sold")
	require.Equal(t, ownKeys, s.own("GET", "/events/"+event+"/tickets", nil).is(200, "").keys("items.0"))
	require.Equal(t, ownKeys, s.own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], object{}).is(200, "").keys(""))
	cards := s.call("GET", "/events", nil).is(200, "")
	require.Equal(t, words(`id slug title shortDesc category productType status startDate endDate timezone venueName venueCity venueCountry
		coverImage currency lowestPrice`), cards.keys("items.0"))
	require.Equal(t, words("items nextCursor"), cards.keys(""))
	require.Equal(t, eventKeys, s.own("GET", "/organizer/events", nil).is(200, "").keys("items.0"))

	_, plain := s.sell(object{"onlineLink": "https://example.org/stream", "onlineLinkNote": "PIN-plain"}, with(typeBody(5, 10), hidden))
	plainSlug := s.own("GET", "/organizer/events", nil).is(200, "").str("items.0.slug")
	plainPage := s.call("GET", "/events/"+plainSlug, nil).is(200, "")
	require.Equal(t, "https://example.org/stream", plainPage.str("onlineLink"), "hidden for digital categories only")

	orderBody := orderBody("ada@example.org", plain[0], 1)
	orderBody["presaleCode"] = "PIN-presale"
	order := s.call("POST", "/orders", orderBody).is(201, "")
	orderKeys := words(`id orderNumber eventId status currency subtotal discount fees total promoCode buyer items tickets payments refunds
		expiresAt createdAt updatedAt completedAt cancelledAt reference`)
	require.Equal(t, words(strings.Join(orderKeys, " ")+" accessToken"), order.keys(""))
	require.Equal(t, words("ticketTypeId name quantity venueSeatIds unitPrice attendeeName attendeeEmail"), order.keys("items.0"))
	require.Equal(t, orderKeys, s.order(order.str("id"), order.str("accessToken")).keys(""))
	require.Equal(t, orderKeys, s.own("GET", "/orders/"+order.str("id"), nil).is(200, "").keys(""))
	for _, a := range []answer{page, list, cards, plainPage, order} {
		require.NotContains(t, encode(t, a.body), secret)
		require.NotContains(t, encode(t, a.body), "PIN-")
	}
}

// TestStatusMoves tries all moves between the eight statuses.
func TestStatusMoves(t *testing.T) {
	t.Parallel()
	s := open(t)
	statuses := strings.Fields("draft review published on_sale sold_out in_progress completed cancelled")
	allowed := map[string]string{
		"draft": "review published", "review": "draft published", "published": "draft on_sale in_progress cancelled",
		"on_sale": "draft published sold_out in_progress cancelled", "sold_out": "draft on_sale in_progress cancelled",
		"in_progress": "completed cancelled", "completed": "", "cancelled": "",
	}
	put := func(s *shop, id, status string) answer {
		return s.own("PUT", "/organizer/events/"+id+"/status", object{"status": status})
	}
	// A sale that has not begun keeps an event published; one that has puts it
	// on sale, and sold out, by itself.
	sale := map[string]object{"on_sale": typeBody(5, 1), "sold_out": typeBody(5, 1)}
	reach := func(s *shop, status string) string {
		body, ok := sale[status]
		if !ok {
			body = with(typeBody(5, 1), object{"saleStart": stamp(time.Hour)})
		}
		id := s.draft(nil)
		types := s.own("POST", "/organizer/events/"+id+"/tickets", body).is(201, "").str("id")
		now := func() string { return s.own("PUT", "/organizer/events/"+id, object{}).is(200, "").str("status") }
		for step := range strings.FieldsSeq(map[string]string{
			"review": "review", "published": "published", "on_sale": "published", "sold_out": "published",
			"in_progress": "published in_progress", "completed": "published in_progress completed", "cancelled": "published cancelled",
		}[status]) {
			require.Equal(s.t, step, put(s, id, step).is(200, "").str("status"))
		}
		if ok {
			s.becomes("on_sale", now)
		}
		if status == "sold_out" {
			s.place("ada@example.org", types, 1)
			s.becomes("sold_out", now)
		}
		return id
	}
	s = s.in(t)
	for _, from := range statuses {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			stays := reach(s, from)
			for _, to := range statuses {
				legal := strings.Fields(allowed[from])
				switch {
				case to == from:
					require.Equal(t, to, put(s, stays, to).is(200, "").str("status"))
				case slices.Contains(legal, to):
					require.Equal(t, to, put(s, reach(s, from), to).is(200, "").str("status"), "%s -> %s", from, to)
				default:
					put(s, stays, to).refused(409, "INVALID_STATUS_TRANSITION", object{"from": from, "to": to, "allowed": legal})
				}
			}
			put(s, stays, "paused").invalid("status", "enum")
			s.own("PUT", "/organizer/events/"+stays+"/status", object{}).invalid("status", "required")
		})
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	s := open(t)
	publish := func(id string) answer { return s.own("POST", "/organizer/events/"+id+"/publish", nil) }
	id := s.draft(nil)
	slug := s.own("PUT", "/organizer/events/"+id, object{}).str("slug")
	publish(id).invalid("ticketTypes", "required")
	s.own("PUT", "/organizer/events/"+id+"/status", object{"status": "published"}).invalid("ticketTypes", "required")
	s.own("PUT", "/organizer/events/"+id+"/status", object{"status": "review"}).is(200, "")
	publish(id).invalid("ticketTypes", "required")
	types := s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(0, 10)).is(201, "").str("id")
	require.Equal(t, "published", publish(id).is(200, "").str("status"))
	publish(id).is(200, "")
	s.call("GET", "/events/"+slug, nil).is(200, "")

	t.Log("unpublish keeps tickets and data, and stops the sale")
	order, token := s.place("ada@example.org", types, 2)
	require.Equal(t, "draft", s.own("POST", "/organizer/events/"+id+"/unpublish", nil).is(200, "").str("status"))
	s.own("POST", "/organizer/events/"+id+"/unpublish", nil).is(200, "")
	s.call("GET", "/events/"+slug, nil).is(404, "EVENT_NOT_FOUND")
	require.Equal(t, "completed", s.order(order, token).str("status"))
	require.Len(t, s.order(order, token).data("tickets"), 2)
	s.call("POST", "/orders", orderBody("ada@example.org", types, 1)).is(409, "NOT_ON_SALE")

	t.Log("a draft with tickets is cancelled, not removed")
	gone := s.own("DELETE", "/organizer/events/"+id, object{"reason": text(2000)}).is(200, "")
	require.Equal(t, "cancelled", gone.str("event.status"))
	require.Equal(t, true, gone.data("cancelled"))
	require.Equal(t, false, gone.data("deleted"))

	t.Log("a draft without any simply disappears")
	id = s.draft(nil)
	slug = s.own("PUT", "/organizer/events/"+id, object{}).str("slug")
	orphan := s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(0, 1)).is(201, "").str("id")
	s.own("DELETE", "/organizer/events/"+id, object{"reason": text(2001)}).invalid("reason", "max_length")
	gone = s.own("DELETE", "/organizer/events/"+id, nil).is(200, "")
	require.Equal(t, true, gone.data("deleted"))
	require.Nil(t, gone.data("event"))
	for _, path := range []string{"/events/" + slug, "/events/" + id + "/tickets", "/checkin/event/" + id + "/stats"} {
		s.own("GET", path, nil).is(404, "EVENT_NOT_FOUND")
	}
	s.call("POST", "/orders", orderBody("ada@example.org", orphan, 1)).is(404, "TICKET_TYPE_NOT_FOUND")
	s.own("PUT", "/organizer/events/"+id, object{}).is(404, "EVENT_NOT_FOUND")
	s.own("PUT", "/organizer/events/"+id+"/tickets/"+orphan, object{}).is(404, "EVENT_NOT_FOUND")
	s.own("DELETE", "/organizer/events/"+id, nil).is(404, "EVENT_NOT_FOUND")
	s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(0, 1)).is(404, "EVENT_NOT_FOUND")
	require.NotContains(t, encode(t, s.own("GET", "/organizer/events", nil).body), id)

	t.Log("a published one is cancelled, for good")
	id, _ = s.sell(nil, typeBody(0, 1))
	require.Equal(t, true, s.own("DELETE", "/organizer/events/"+id, nil).is(200, "").data("cancelled"))
	require.Equal(t, true, s.own("DELETE", "/organizer/events/"+id, nil).is(200, "").data("cancelled"))
	publish(id).is(409, "INVALID_STATUS_TRANSITION")
	s.own("POST", "/organizer/events/"+id+"/unpublish", nil).is(409, "INVALID_STATUS_TRANSITION")
	s.own("PUT", "/organizer/events/"+id, object{"title": "Again"}).is(409, "INVALID_STATUS_TRANSITION")
	s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(0, 1)).is(409, "INVALID_STATUS_TRANSITION")
}

// TestTenants makes sure that another organization's resources do not exist.
func TestTenants(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, types := s.sell(nil, typeBody(5, 10))
	other := s.register("other@example.org")
	n := fmt.Sprint(number(t, event))
	scan := object{"eventId": event, "qrData": "ABCDEF"}
	for _, id := range []string{event, n} {
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{"PUT", "/organizer/events/" + id, object{}},
			{"DELETE", "/organizer/events/" + id, nil},
			{"POST", "/organizer/events/" + id + "/publish", nil},
			{"POST", "/organizer/events/" + id + "/unpublish", nil},
			{"PUT", "/organizer/events/" + id + "/status", object{"status": "draft"}},
			{"POST", "/organizer/events/" + id + "/tickets", typeBody(5, 1)},
			{"PUT", "/organizer/events/" + id + "/tickets/" + types[0], object{}},
			{"GET", "/checkin/event/" + id + "/stats", nil},
			{"POST", "/checkin/scan", scan},
		} {
			other.own(c.method, c.path, c.body).is(404, "EVENT_NOT_FOUND")
			s.call(c.method, c.path, c.body).is(401, "UNAUTHORIZED")
		}
	}
	require.Empty(t, other.own("GET", "/organizer/events", nil).is(200, "").data("items"))
	org := s.own("GET", "/organizer/events", nil).str("items.0.organizationId")
	other.own("GET", "/organizer/events?orgId="+org, nil).is(404, "NOT_FOUND")
	other.own("POST", "/organizer/events?orgId="+org, eventBody()).is(404, "NOT_FOUND")
	other.own("POST", "/organizer/events", with(eventBody(), object{"orgId": org})).is(404, "NOT_FOUND")
	s.own("POST", "/organizer/events?orgId=99", with(eventBody(), object{"orgId": org})).invalid("orgId", "duplicate")
	s.own("POST", "/organizer/events?orgId="+org, with(eventBody(), object{"orgId": org})).is(201, "")

	t.Log("ids: the public one or the number, and nothing else")
	s.own("PUT", "/organizer/events/"+n, object{}).is(200, "")
	s.own("PUT", "/organizer/events/"+strings.ToUpper(event), object{}).is(200, "")
	s.call("GET", "/events/"+n+"/tickets", nil).is(200, "")
	for _, id := range []string{"0", "-1", "99999", "999999999999999999999", "x", event[:35] + "0", event[:35], "1.5", "0190b6c1-0000-7000-8000-000000000007"} {
		if id == event {
			continue
		}
		s.own("PUT", "/organizer/events/"+id, object{}).is(404, "EVENT_NOT_FOUND")
		s.call("GET", "/events/"+id+"/tickets", nil).is(404, "EVENT_NOT_FOUND")
	}
}

// TestEditsMeet sends two organizers' edits of different fields at once.
func TestEditsMeet(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := s.draft(nil)
	var wg sync.WaitGroup
	for _, name := range words("subcategory venueName venueCity returnPolicy") {
		wg.Go(func() { s.own("PUT", "/organizer/events/"+id, object{name: name}).is(200, "") })
	}
	wg.Wait()
	a := s.own("PUT", "/organizer/events/"+id, object{})
	for _, name := range words("subcategory venueName venueCity returnPolicy") {
		require.Equal(t, name, a.str(name))
	}
}

func TestCurrencyIsLocked(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := s.draft(nil)
	require.Equal(t, "NGN", s.own("PUT", "/organizer/events/"+id, object{"currency": "NGN"}).is(200, "").str("currency"))
	typ := s.own("POST", "/organizer/events/"+id+"/tickets", typeBody(5, 10)).is(201, "")
	require.Equal(t, "NGN", typ.str("currency"))
	s.own("PUT", "/organizer/events/"+id, object{"currency": "NGN"}).is(200, "")
	s.own("PUT", "/organizer/events/"+id, object{"currency": "USD"}).invalid("currency", "enum")
}

// TestClock has an event pass through its life by the clock alone.
func TestClock(t *testing.T) {
	t.Parallel()
	s := open(t)
	begun := time.Now()
	at := func(d time.Duration) string { return begun.Add(d).UTC().Format(time.RFC3339Nano) }
	id := s.draft(object{"startDate": at(12 * time.Second), "endDate": at(16 * time.Second)})
	path := "/organizer/events/" + id
	typ := s.own("POST", path+"/tickets", with(typeBody(0, 10), object{"saleStart": at(5 * time.Second), "saleEnd": at(9 * time.Second)})).is(201, "")
	door := s.own("POST", path+"/tickets", with(typeBody(0, 10), object{"saleStart": at(12 * time.Second), "saleEnd": at(16 * time.Second)})).is(201, "").str("id")
	require.Equal(t, "published", s.own("POST", path+"/publish", nil).is(200, "").str("status"))
	now := func() string { return s.own("GET", "/organizer/events", nil).str("items.0.status") }
	place := func(id string) answer { return s.call("POST", "/orders", orderBody("ada@example.org", id, 1)) }
	require.Equal(t, "not_started", place(typ.str("id")).is(409, "NOT_ON_SALE").get("error.details.reason"))
	s.becomes("on_sale", now)
	order := place(typ.str("id")).is(201, "")
	s.becomes("published", now)
	require.Equal(t, "ended", place(typ.str("id")).is(409, "NOT_ON_SALE").get("error.details.reason"))
	s.becomes("in_progress", now)
	place(door).is(201, "")
	s.own("PUT", path, object{"title": "Still editable", "startDate": at(-time.Hour)}).invalid("startDate", "minimum")
	require.Equal(t, "success", s.scan(id, order.str("tickets.0.qr"), "gate").str("status"))
	s.becomes("completed", now)
	require.Equal(t, "event_completed", place(door).is(409, "NOT_ON_SALE").get("error.details.reason"))
	require.Equal(t, "denied_duplicate", s.scan(id, order.str("tickets.0.qr"), "other gate").str("status"))
	s.own("PUT", path, object{"title": "Too late"}).is(409, "INVALID_STATUS_TRANSITION")
}
