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

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

func text(n int) string { return strings.Repeat("ü", n) }

func uri(n int) string { return "https://example.org/" + strings.Repeat("a", n-20) }

func many[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }

func entity(changes object) []object {
	return []object{with(object{"kind": "dj", "name": "Ada"}, changes)}
}

// eventFields are the bounds of service-api.md, Event.
func eventFields(startDate any) []field {
	start, _ := time.Parse(time.RFC3339, startDate.(string))
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	all := []field{
		{"title", text(2), "", "min_length"}, {"title", text(3), "", ""}, {"title", text(200), "", ""}, {"title", text(201), "", "max_length"}, {"title", 7, "", "type"},
		{"category", "", "", "min_length"}, {"category", "anything goes", "", ""}, {"category", 7, "", "type"},
		{"startDate", at(time.Now().Add(-time.Minute)), "", "minimum"}, {"startDate", "tomorrow", "", "type"}, {"startDate", 1.5, "", "type"},
		{"endDate", at(start), "", "minimum"}, {"endDate", at(start.Add(-time.Second)), "", "minimum"}, {"endDate", at(start.Add(time.Second)), "", ""},
		{"endDate", at(start.AddDate(5, 0, 0)), "", ""}, {"endDate", at(start.AddDate(5, 0, 0).Add(time.Second)), "", "maximum"}, {"endDate", nil, "", "required"},
		{"timezone", "Mars/Base", "", "format"}, {"timezone", "Africa/Lagos", "", ""}, {"timezone", "", "", "format"},
		{"venueType", "moon", "", "enum"}, {"venueType", "online", "", ""}, {"venueType", "hybrid", "", ""},
		{"capacity", 0, "", "minimum"}, {"capacity", -1, "", "minimum"}, {"capacity", 1, "", ""}, {"capacity", 1_000_000, "", ""}, {"capacity", 1.5, "", "type"}, {"capacity", "5", "", "type"}, {"capacity", nil, "", ""},
		{"doorOpenTime", at(start), "", ""}, {"doorOpenTime", at(start.Add(time.Second)), "", "maximum"}, {"doorOpenTime", at(start.Add(-time.Hour)), "", ""},
		{"venueCountry", "DE", "", ""}, {"venueCountry", "Germany", "", "format"}, {"venueCountry", "XX", "", "format"},
		{"venueLat", 90, "", ""}, {"venueLat", -90, "", ""}, {"venueLat", 90.1, "", "maximum"}, {"venueLat", -90.1, "", "minimum"}, {"venueLat", 0, "", ""},
		{"venueLng", 180, "", ""}, {"venueLng", -180, "", ""}, {"venueLng", 180.1, "", "maximum"}, {"venueLng", -180.1, "", "minimum"},
		{"onlineLink", uri(2048), "", ""}, {"onlineLink", uri(2049), "", "max_length"}, {"onlineLink", "/media/17", "", ""}, {"onlineLink", "/media/x", "", "format"}, {"onlineLink", "/etc/passwd", "", "format"}, {"onlineLink", "javascript:alert(1)", "", "format"},
		{"highlightVideoUrl", "https://www.youtube.com/watch?v=x", "", ""}, {"highlightVideoUrl", "https://youtu.be/x", "", ""}, {"highlightVideoUrl", "https://vimeo.com/1", "", ""},
		{"highlightVideoUrl", "https://example.org/v", "", "format"}, {"highlightVideoUrl", "https://notyoutube.com/v", "", "format"}, {"highlightVideoUrl", "https://youtube.com.evil.org/v", "", "format"},
		{"tags", many(10, text(50)), "", ""}, {"tags", many(11, "a"), "", "max_items"}, {"tags", []string{text(51)}, "tags[0]", "max_length"}, {"tags", []any{"a", 7}, "tags[1]", "type"}, {"tags", "a", "", "type"},
		{"gallery", many(20, uri(30)), "", ""}, {"gallery", many(21, uri(30)), "", "max_items"}, {"gallery", []string{uri(2049)}, "gallery[0]", "max_length"}, {"gallery", []string{"x"}, "gallery[0]", "format"},
		{"visibility", "public", "", ""}, {"visibility", "unlisted", "", ""}, {"visibility", "private", "", ""}, {"visibility", "hidden", "", "enum"},
		{"currency", "USD", "", ""}, {"currency", "NGN", "", ""}, {"currency", "ZAR", "", ""}, {"currency", "EUR", "", "enum"},
		{"absorbFees", true, "", ""}, {"absorbFees", "yes", "", "type"},
		{"branding", object{"accent": "#fff", "deep": []any{1.5, nil}}, "", ""}, {"branding", []any{}, "", "type"}, {"branding", object{"x": strings.Repeat("a", 20_000)}, "", "max_length"},
		{"seoData", object{"title": "x"}, "", ""}, {"seoData", "x", "", "type"},
		{"entities", many(80, entity(nil)[0]), "", ""}, {"entities", many(81, entity(nil)[0]), "", "max_items"},
		{"entities", entity(object{"kind": "clown"}), "entities[0].kind", "enum"}, {"entities", entity(object{"kind": absent}), "entities[0].kind", "required"},
		{"entities", entity(object{"name": absent}), "entities[0].name", "required"}, {"entities", entity(object{"imageUrl": "x"}), "entities[0].imageUrl", "format"},
		{"entities", entity(object{"role": "a", "imageUrl": uri(30), "bio": "b", "setTime": "22:00", "link": uri(31)}), "", ""},
		{"orderWindowMinutes", 4, "", "minimum"}, {"orderWindowMinutes", 5, "", ""}, {"orderWindowMinutes", 60, "", ""}, {"orderWindowMinutes", 61, "", "maximum"},
	}
	for name, max := range map[string]int{
		"subcategory": 100, "shortDesc": 130, "description": 50_000, "onlineLinkNote": 2000, "returnPolicy": 5000,
		"venueName": 200, "venueAddress": 500, "venueCity": 100,
	} {
		all = append(all, field{name, text(max), "", ""}, field{name, text(max + 1), "", "max_length"}, field{name, 7, "", "type"})
	}
	for _, kind := range words("artist dj speaker host guest sponsor partner team feature") {
		all = append(all, field{"entities", entity(object{"kind": kind}), "", ""})
	}
	for _, name := range words("coverImage coverVideo") {
		all = append(all, field{name, uri(2048), "", ""}, field{name, uri(2049), "", "max_length"}, field{name, "x", "", "format"})
	}
	return append(all, field{"description", text(49), "", "min_length"}, field{"description", text(50), "", ""})
}

// try sends the cases, each as a change of a valid body.
func try(s *shop, method, path string, body object, status int, fields []field) {
	s.t.Helper()
	for _, f := range fields {
		a := s.own(method, path, with(body, object{f.name: f.value}))
		what := fmt.Sprintf("%s %.60v", f.name, f.value)
		if f.code == "" {
			require.Equal(s.t, status, a.status, "%s: %v", what, a.body)
			echoed(s.t, f.value, a.data(f.name), what)
			continue
		}
		path := f.path
		if path == "" {
			path = f.name
		}
		require.Equal(s.t, 400, a.status, "%s: %v", what, a.body)
		require.Equal(s.t, map[string]string{path: f.code}, a.issues(), what)
	}
}

// echoed checks that a value has come back as it was sent.
func echoed(t testing.TB, sent, got any, what string) {
	t.Helper()
	require.JSONEq(t, encode(t, sent), encode(t, got), what)
}

func TestEventFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := eventBody()
	fields := eventFields(body["startDate"])
	try(s, "POST", "/organizer/events", body, 201, fields)
	id := s.draft(body)
	try(s, "PUT", "/organizer/events/"+id, object{"startDate": body["startDate"]}, 200, fields)
	for _, name := range words("title category startDate timezone venueType endDate") {
		s.own("POST", "/organizer/events", with(eventBody(), object{name: absent})).invalid(name, "required")
		s.own("POST", "/organizer/events", with(eventBody(), object{name: nil})).invalid(name, "required")
	}
	all := s.own("POST", "/organizer/events", object{}).issues()
	require.Equal(t, map[string]string{"title": "required", "category": "required", "startDate": "required", "timezone": "required", "venueType": "required"}, all)

	t.Log("capacity is clamped")
	require.Equal(t, "1e+06", s.own("POST", "/organizer/events", with(eventBody(), object{"capacity": 1_000_001})).is(201, "").str("capacity"))
	require.Equal(t, "1e+06", s.own("PUT", "/organizer/events/"+id, object{"capacity": int64(1) << 60}).is(200, "").str("capacity"))

	t.Log("productType is derived, never written")
	a := s.own("POST", "/organizer/events", with(eventBody(), object{"productType": "digital", "status": "on_sale", "id": "x", "slug": "mine"})).is(201, "")
	require.Equal(t, "event", a.str("productType"))
	require.Equal(t, "draft", a.str("status"))
	require.NotEqual(t, "mine", a.str("slug"))
	a = s.own("PUT", "/organizer/events/"+id, object{"productType": "digital", "status": "on_sale"}).is(200, "")
	require.Equal(t, "event", a.str("productType"))
	require.Equal(t, "draft", a.str("status"))
}

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
	orderWindowMinutes schedule createdAt updatedAt`)

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
	event, _ := s.sell(object{"category": "reservations", "entities": entity(nil)}, typeBody(5, 10))
	own := s.own("PUT", "/organizer/events/"+event, object{"entities": entity(nil)}).is(200, "")
	require.NotContains(t, own.keys(""), "entities")
	page := s.call("GET", "/events/"+own.str("slug"), nil).is(200, "")
	require.Nil(t, page.data("startDate"))
	require.Nil(t, page.data("endDate"))
	require.Equal(t, true, page.data("bookingOpen"))
	require.NotContains(t, page.keys(""), "entities")
	card := s.call("GET", "/events?productType=reservation", nil).is(200, "")
	require.Equal(t, event, card.str("items.0.id"))
	require.Nil(t, card.data("items.0.startDate"))
	s.own("POST", "/organizer/events/"+event+"/unpublish", nil).is(200, "")
	require.Equal(t, "false", s.own("GET", "/events/"+own.str("slug"), nil).is(200, "").str("bookingOpen"))
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
		{"public", true, true, true}, {"unlisted", true, false, true}, {"private", true, false, false},
		{"public", false, false, false}, {"unlisted", false, false, false},
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
		"category": "online-course", "onlineLink": secret, "onlineLinkNote": "PIN-note",
		"branding": object{"accent": "PIN-branding", "courseType": "unified", "certificateTemplate": "cert-1", "requireIdCheck": true, "unifiedPdf": secret},
	}, with(typeBody(5, 10), hidden))
	own := s.own("PUT", "/organizer/events/"+event, object{}).is(200, "")
	require.Equal(t, secret, own.str("onlineLink"))
	require.Equal(t, "PIN-note", own.str("onlineLinkNote"))
	slug := own.str("slug")

	page := s.call("GET", "/events/"+slug, nil).is(200, "")
	public := slices.DeleteFunc(slices.Clone(eventKeys), func(k string) bool { return strings.HasPrefix(k, "onlineLink") || k == "organizationId" })
	public = words(strings.Join(public, " ") + " organizer ticketTypes")
	require.Equal(t, public, page.keys(""))
	echoed(t, object{"courseType": "unified", "certificateTemplate": "cert-1", "requireIdCheck": true}, page.data("branding"), "branding")
	require.Equal(t, words("id name slug"), page.keys("organizer"))
	typeKeys := words(`id name type saleStart saleEnd price currency quantityTotal available maxPerOrder maxPerCustomer transferable
		refundable refundDeadline presaleRequired waitlistEnabled description digitalAccess sectionId sortOrder status`)
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
	require.Equal(t, words("ticketTypeId name quantity unitPrice attendeeName attendeeEmail"), order.keys("items.0"))
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
		for _, step := range strings.Fields(map[string]string{
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
	s.own("DELETE", "/organizer/events/"+id, object{"reason": text(2001)}).invalid("reason", "max_length")
	gone = s.own("DELETE", "/organizer/events/"+id, nil).is(200, "")
	require.Equal(t, true, gone.data("deleted"))
	require.Nil(t, gone.data("event"))
	for _, path := range []string{"/events/" + slug, "/events/" + id + "/tickets", "/checkin/event/" + id + "/stats"} {
		s.own("GET", path, nil).is(404, "EVENT_NOT_FOUND")
	}
	s.own("PUT", "/organizer/events/"+id, object{}).is(404, "EVENT_NOT_FOUND")
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

// titles are the titles of a list, joined.
func titles(a answer) string {
	a.t.Helper()
	var out []string
	items, _ := a.is(200, "").data("items").([]any)
	for _, i := range items {
		out = append(out, i.(object)["title"].(string))
	}
	return strings.Join(out, " ")
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := open(t)
	hour := func(n int) string { return stamp(time.Duration(n) * time.Hour) }
	sell := func(title string, start, end any, changes object) {
		body := with(object{"title": title, "startDate": start, "endDate": end}, changes)
		s.sell(body, with(typeBody(5, 10), object{"saleStart": hour(-2), "saleEnd": hour(-1)}))
	}
	sell("one", hour(10), hour(12), object{"category": "music", "venueCity": "Berlin", "venueCountry": "DE", "venueName": "Der Keller", "shortDesc": "loud 100%"})
	sell("two", hour(20), hour(24), object{"category": "tech", "venueCity": "Lagos", "venueCountry": "NG", "venueName": "Dome"})
	sell("six", hour(30), hour(31), object{"category": "music", "visibility": "unlisted"})
	sell("book", hour(1), nil, object{"category": "e-books"})
	sell("course", hour(40), hour(50), object{"category": "online-course"})
	sell("table", hour(2), absent, object{"category": "reservations"})
	all := "book table one two course"
	esc := func(s string) string { return strings.NewReplacer(":", "%3A", "+", "%2B").Replace(s) }
	for query, want := range map[string]string{
		"": all, "sort=date": all, "sort=popularity": all, "sort=relevance": all, "limit=100": all, "course=false": all,
		"q=ONE": "one", "q=loud": "one", "q=100%25": "one", "q=%25": "one", "q=_": "", "q=%27%22%3B--": "", "q=t": "table two",
		"category=music": "one", "category=mus": "", "category=MUSIC": "",
		"productType=event": "one two", "productType=reservation": "table", "productType=digital": "book course",
		"course=true": "course", "course=true&productType=event": "",
		"city=BERL": "one", "city=ago": "two", "country=DE": "one", "country=NG": "two", "venue=keller": "one", "venue=d": "one two",
		"city=berlin&category=tech": "",
		// What runs between the two; what is always available stays.
		"date_from=" + esc(hour(13)):                               "book table two course",
		"date_from=" + esc(hour(60)):                               "book table",
		"date_to=" + esc(hour(15)):                                 "book table one",
		"date_from=" + esc(hour(11)) + "&date_to=" + esc(hour(19)): "book table one",
		"date_from=" + esc(hour(-99)):                              all,
	} {
		require.Equal(t, want, titles(s.call("GET", "/events?"+query, nil)), query)
	}
	for query, code := range map[string]string{
		"limit=0": "minimum", "limit=101": "maximum", "limit=x": "type", "limit=-1": "minimum", "limit=1.5": "type", "limit=99999999999999999999": "maximum",
		"productType=book": "enum", "course=maybe": "type", "country=Germany": "format", "sort=price": "enum", "date_from=yesterday": "type", "date_to=2026-01-01": "type",
		"q=" + strings.Repeat("a", 201): "max_length", "q=%ff": "format", "q=%00": "format", "city=%00": "format", "limit=5&limit=6": "duplicate",
	} {
		name, _, _ := strings.Cut(query, "=")
		s.call("GET", "/events?"+query, nil).invalid(name, code)
	}
	s.sell(object{"title": "now", "visibility": "public", "startDate": hour(70), "endDate": hour(71)}, typeBody(7, 1), typeBody(6, 1), with(typeBody(1, 1), object{"status": "hidden"}))
	require.Equal(t, "6.00", s.call("GET", "/events?q=now", nil).str("items.0.lowestPrice"))
	require.Equal(t, "5.00", s.call("GET", "/events?q=one", nil).str("items.0.lowestPrice"))

	t.Log("only what has not ended is listed, unless a date is asked for")
	ended := time.Now().Add(time.Second)
	sell("soon", ended.Add(-50*time.Millisecond).UTC().Format(time.RFC3339Nano), ended.UTC().Format(time.RFC3339Nano), object{"category": "e-books"})
	all += " now"
	s.becomes(all, func() string { return titles(s.call("GET", "/events", nil)) })
	require.Contains(t, titles(s.call("GET", "/events?date_from="+esc(hour(-1)), nil)), "soon")
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := open(t)
	const events = 7
	start := stamp(50 * time.Hour) // the same for all: numbers decide
	for i := range events {
		s.sell(object{"title": fmt.Sprintf("event %d", i), "startDate": start, "endDate": stamp(60 * time.Hour)}, typeBody(5, 10))
	}
	for path, want := range map[string][]int{"/events?": {0, 1, 2, 3, 4, 5, 6}, "/organizer/events?": {6, 5, 4, 3, 2, 1, 0}} {
		for _, limit := range []int{1, 3, 6, 7, 100} {
			var got []int
			for cursor := ""; ; {
				a := s.own("GET", fmt.Sprintf("%slimit=%d&cursor=%s", path, limit, cursor), nil).is(200, "")
				items, _ := a.data("items").([]any)
				require.LessOrEqual(t, len(items), limit)
				for _, i := range items {
					got = append(got, int(i.(object)["title"].(string)[6]-'0'))
				}
				next := a.data("nextCursor")
				require.Equal(t, len(got) == events, next == nil, "%s%d", path, limit)
				if next == nil {
					break
				}
				cursor = next.(string)
			}
			require.Equal(t, want, got, "%s%d", path, limit)
		}
		require.Len(t, s.own("GET", path, nil).is(200, "").data("items"), events, "20 by default")
	}
	_, other := s.own("GET", "/events?limit=1", nil).str("nextCursor"), s.own("GET", "/organizer/events?limit=1", nil).str("nextCursor")
	far := func(n int) string { return strings.Repeat("_", n) }
	for _, cursor := range []string{"x", "!!!!", other + "A", other, far(22), "f" + far(10) + strings.Repeat("A", 10) + "A", "gAAAAAAAAAAAAAAAAAAAAA", strings.Repeat("A", 500)} {
		s.call("GET", "/events?cursor="+cursor, nil).invalid("cursor", "format")
	}
	for _, cursor := range []string{"x", "AAAA", far(22)} {
		s.own("GET", "/organizer/events?cursor="+cursor, nil).invalid("cursor", "format")
	}
	s.call("GET", "/events?cursor="+strings.Repeat("A", 501), nil).invalid("cursor", "max_length")
}
