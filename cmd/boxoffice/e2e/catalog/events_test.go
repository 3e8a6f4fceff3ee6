package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestEventDefaults(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	body := nodetest.EventBody()
	a := s.Own("POST", "/organizer/events", body).Is(201, "")
	want := nodetest.With(body, nodetest.Object{
		"productType": "event", "status": "draft", "visibility": "public", "currency": "USD", "absorbFees": false, "offlineDoorCodes": false, "exits": false, "rescheduling": true, "extensions": true, "transferDays": nil, "orderWindowMinutes": 15,
		"subcategory": nil, "shortDesc": nil, "description": nil, "tags": []any{}, "capacity": nil, "doorOpenTime": nil,
		"venueName": nil, "venueAddress": nil, "venueCity": nil, "venueCountry": nil, "venueLat": nil, "venueLng": nil,
		"onlineLink": nil, "onlineLinkNote": nil, "returnPolicy": nil, "highlightVideoUrl": nil, "coverImage": nil, "coverVideo": nil,
		"gallery": []any{}, "branding": nodetest.Object{}, "seoData": nodetest.Object{}, "entities": []any{},
	})
	for name, v := range want {
		echoed(t, v, a.Data(name), name)
	}
	require.Equal(t, eventKeys, a.Keys(""))

	t.Log("null and absent on PUT")
	id := a.Str("id")
	full := nodetest.With(nodetest.Object{}, nodetest.Object{
		"subcategory": "a", "shortDesc": "b", "description": nodetest.Text(50), "tags": []string{"x"}, "capacity": 5, "doorOpenTime": body["startDate"],
		"venueName": "a", "venueAddress": "b", "venueCity": "c", "venueCountry": "DE", "venueLat": 1.5, "venueLng": 2.5, "onlineLink": nodetest.URI(30),
		"onlineLinkNote": "n", "returnPolicy": "r", "highlightVideoUrl": "https://vimeo.com/1", "coverImage": nodetest.URI(30), "coverVideo": nodetest.URI(30),
		"gallery": []string{nodetest.URI(30)}, "branding": nodetest.Object{"a": "b"}, "seoData": nodetest.Object{"c": "d"}, "entities": nodetest.Entity(nil), "visibility": "unlisted", "transferDays": 30, "insideLimit": 1200,
	})
	s.Own("PUT", "/organizer/events/"+id, full).Is(200, "")
	same := s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Is(200, "")
	for name, v := range full {
		echoed(t, v, same.Data(name), name)
		cleared := s.Own("PUT", "/organizer/events/"+id, nodetest.Object{name: nil}).Is(200, "")
		echoed(t, want[name], cleared.Data(name), name)
	}
	for _, name := range nodetest.Words("title category startDate timezone venueType currency absorbFees offlineDoorCodes exits rescheduling extensions orderWindowMinutes") {
		s.Own("PUT", "/organizer/events/"+id, nodetest.Object{name: nil}).Invalid(name, "null")
	}
}

var eventKeys = nodetest.Words(`id numericId organizationId slug title category productType subcategory shortDesc description tags status visibility
	startDate endDate timezone venueType capacity doorOpenTime venueName venueAddress venueCity venueCountry venueLat venueLng
	onlineLink onlineLinkNote returnPolicy highlightVideoUrl coverImage coverVideo gallery currency absorbFees offlineDoorCodes exits rescheduling extensions transferDays branding seoData entities
	orderWindowMinutes rotatingOnly velocity createdAt updatedAt`)

// Characters are counted, whatever number of bytes they come in.
func TestLongDescriptions(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	long := strings.Repeat("漢", 50_000)
	id := s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"description": long})).Is(201, "").Str("id")
	escaped := `{"description":"` + strings.Repeat(`\ud83c\udf9f`, 50_000) + `"}`
	s.Raw("PUT", "/organizer/events/"+id, "application/json", escaped, s.Bearer()...).Is(t, 200)
	s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"description": long + "x"}).Invalid("description", "max_length")
}

func TestProductTypes(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	for category, want := range map[string]string{
		"music": "event", "webinar": "event", "made up": "event", "reservations": "reservation", "online-course": "digital",
		"digital-product": "digital", "e-books": "digital", "downloadable-files": "digital", "online-service": "digital",
	} {
		body := nodetest.With(nodetest.EventBody(), nodetest.Object{"category": category, "endDate": nodetest.Absent})
		if category == "online-course" {
			body["unifiedVideo"] = nodetest.URI(30)
		}
		a := s.Own("POST", "/organizer/events", body)
		if want == "event" {
			a.Invalid("endDate", "required")
			continue
		}
		require.Equal(t, want, a.Is(201, "").Str("productType"))
		require.Nil(t, a.Data("endDate"))
		require.Nil(t, s.Own("POST", "/organizer/events", nodetest.With(body, nodetest.Object{"endDate": nil})).Is(201, "").Data("endDate"))
	}
	t.Log("a dated digital product becomes always available")
	id := s.Draft(nodetest.Object{"category": "e-books"})
	require.NotNil(t, s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Data("endDate"))
	require.Nil(t, s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"endDate": nil}).Is(200, "").Data("endDate"))
	s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"category": "music"}).Invalid("endDate", "required")

	t.Log("a reservation's dates and entities are none of the organizer's")
	event := s.Draft(nodetest.Object{"category": "reservations", "entities": nodetest.Entity(nil)})
	own := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"entities": nodetest.Entity(nil)}).Is(200, "")
	require.NotContains(t, own.Keys(""), "entities")
	page := s.Own("GET", "/events/"+own.Str("slug"), nil).Is(200, "")
	require.Nil(t, page.Data("startDate"))
	require.Nil(t, page.Data("endDate"))
	require.Equal(t, false, page.Data("bookingOpen"))
	require.NotContains(t, page.Keys(""), "entities")
	list := s.Own("GET", "/organizer/events?productType=reservation", nil).Is(200, "")
	require.Equal(t, event, list.Str("items.0.id"))
	far := time.Now().AddDate(7, 0, 0).UTC().Format(time.RFC3339)
	s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"saleEnd": far})).Is(201, "")
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	other := s.In(t).Register("other@example.org")
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
		id := s.Draft(nodetest.Object{"visibility": tc.visibility, "title": "See " + tc.visibility + fmt.Sprint(tc.publish)})
		s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(5, 10)).Is(201, "")
		if tc.publish {
			s.Own("POST", "/organizer/events/"+id+"/publish", nil).Is(200, "")
		}
		slug := s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Is(200, "").Str("slug")
		for name, who := range map[string]func(string, string, any) nodetest.Answer{
			"guest": func(m, p string, b any) nodetest.Answer { return s.Call(m, p, b) }, "other": other.Own,
		} {
			page, types := who("GET", "/events/"+slug, nil), who("GET", "/events/"+id+"/tickets", nil)
			if tc.visible {
				page.Is(200, "")
				types.Is(200, "")
			} else {
				page.Is(404, "EVENT_NOT_FOUND")
				types.Is(404, "EVENT_NOT_FOUND")
			}
			listed := strings.Contains(fmt.Sprint(who("GET", "/events?limit=100", nil).Is(200, "").Body), id)
			require.Equal(t, tc.listed, listed, "%s sees %v", name, tc)
		}
		s.Own("GET", "/events/"+slug, nil).Is(200, "")
		s.Own("GET", "/events/"+id+"/tickets", nil).Is(200, "")
		if tc.visible { // and hidden from the next reader on
			s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"visibility": "private"}).Is(200, "")
			s.Call("GET", "/events/"+slug, nil).Is(404, "EVENT_NOT_FOUND")
			s.Call("GET", "/events/"+id+"/tickets", nil).Is(404, "EVENT_NOT_FOUND")
		}
	}
}

// TestAudiences holds the golden sets of members of each audience's answers, and
// that what buyers pay for is in none of the public ones.
func TestAudiences(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const secret = "https://example.org/the-goods"
	hidden := nodetest.Object{
		"accessUrl": secret + "/tier", "accessNote": "PIN-tier", "presaleCode": "PIN-presale", "name": "Tier",
	}
	event, types := s.Sell(nodetest.Object{
		"category": "e-books", "onlineLink": secret, "onlineLinkNote": "PIN-note",
		"branding": nodetest.Object{"accent": "PIN-branding", "courseType": "unified", "certificateTemplate": "cert-1", "requireIdCheck": true, "unifiedPdf": secret},
	}, nodetest.With(nodetest.TypeBody(5, 10), hidden))
	own := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{}).Is(200, "")
	require.Equal(t, secret, own.Str("onlineLink"))
	require.Equal(t, "PIN-note", own.Str("onlineLinkNote"))
	slug := own.Str("slug")

	page := s.Call("GET", "/events/"+slug, nil).Is(200, "")
	public := slices.DeleteFunc(slices.Clone(eventKeys), func(k string) bool {
		return strings.HasPrefix(k, "onlineLink") || k == "organizationId" || k == "velocity" || k == "rotatingOnly"
	})
	public = nodetest.Words(strings.Join(public, " ") + " organizer page schedule sections ticketTypes lowestPrice lowestPriceTotal")
	require.Equal(t, public, page.Keys(""))
	echoed(t, nodetest.Object{"courseType": "unified", "certificateTemplate": "cert-1", "requireIdCheck": true}, page.Data("branding"), "branding")
	require.Equal(t, nodetest.Words("id name slug description website logoUrl socialLinks verified"), page.Keys("organizer"))
	typeKeys := nodetest.Words(`id name type saleStart saleEnd price priceTotal currency quantityTotal available maxPerOrder maxPerCustomer transferable
		refundable refundDeadline refundWindowHours presaleRequired waitlistEnabled description digitalAccess seated sectionId sortOrder status`)
	require.Equal(t, typeKeys, page.Keys("ticketTypes.0"))
	require.Equal(t, true, page.Data("ticketTypes.0.digitalAccess"))
	list := s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "")
	require.Equal(t, typeKeys, list.Keys("items.0"))
	ownKeys := nodetest.Words(strings.Join(typeKeys, " ") + " presaleCode accessUrl accessNote sold")
	require.Equal(t, ownKeys, s.Own("GET", "/events/"+event+"/tickets", nil).Is(200, "").Keys("items.0"))
	require.Equal(t, ownKeys, s.Own("PUT", "/organizer/events/"+event+"/tickets/"+types[0], nodetest.Object{}).Is(200, "").Keys(""))
	cards := s.Call("GET", "/events", nil).Is(200, "")
	require.Equal(t, nodetest.Words(`id slug title shortDesc category productType status startDate endDate timezone venueName venueCity venueCountry
		coverImage currency lowestPrice lowestPriceTotal highestPriceTotal`), cards.Keys("items.0"))
	require.Equal(t, nodetest.Words("items nextCursor"), cards.Keys(""))
	require.Equal(t, eventKeys, s.Own("GET", "/organizer/events", nil).Is(200, "").Keys("items.0"))

	_, plain := s.Sell(nodetest.Object{"onlineLink": "https://example.org/stream", "onlineLinkNote": "PIN-plain"}, nodetest.With(nodetest.TypeBody(5, 10), hidden))
	plainSlug := s.Own("GET", "/organizer/events", nil).Is(200, "").Str("items.0.slug")
	plainPage := s.Call("GET", "/events/"+plainSlug, nil).Is(200, "")
	require.Equal(t, "https://example.org/stream", plainPage.Str("onlineLink"), "hidden for digital categories only")

	orderBody := nodetest.OrderBody("ada@example.org", plain[0], 1)
	orderBody["presaleCode"] = "PIN-presale"
	order := s.Call("POST", "/orders", orderBody).Is(201, "")
	orderKeys := nodetest.Words(`id orderNumber eventId status currency subtotal discount fees total promoCode buyer items tickets payments refunds
		expiresAt createdAt updatedAt completedAt cancelledAt reference withdrawalWaivedAt`)
	require.Equal(t, nodetest.Words(strings.Join(orderKeys, " ")+" accessToken"), order.Keys(""))
	require.Equal(t, nodetest.Words("ticketTypeId name quantity venueSeatIds reservationDate reservationSlotId unitPrice attendeeName attendeeEmail"), order.Keys("items.0"))
	require.Equal(t, orderKeys, s.Order(order.Str("id"), order.Str("accessToken")).Keys(""))
	require.Equal(t, orderKeys, s.Own("GET", "/orders/"+order.Str("id"), nil).Is(200, "").Keys(""))
	for _, a := range []nodetest.Answer{page, list, cards, plainPage, order} {
		require.NotContains(t, nodetest.Encode(t, a.Body), secret)
		require.NotContains(t, nodetest.Encode(t, a.Body), "PIN-")
	}
}

// TestStatusMoves tries all moves between the eight statuses.
func TestStatusMoves(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	statuses := strings.Fields("draft review published on_sale sold_out in_progress completed cancelled")
	allowed := map[string]string{
		"draft": "review published", "review": "draft published", "published": "draft on_sale in_progress cancelled",
		"on_sale": "draft published sold_out in_progress cancelled", "sold_out": "draft on_sale in_progress cancelled",
		"in_progress": "completed cancelled", "completed": "", "cancelled": "",
	}
	put := func(s *nodetest.Shop, id, status string) nodetest.Answer {
		return s.Own("PUT", "/organizer/events/"+id+"/status", nodetest.Object{"status": status})
	}
	// A sale that has not begun keeps an event published; one that has puts it
	// on sale, and sold out, by itself.
	sale := map[string]nodetest.Object{"on_sale": nodetest.TypeBody(5, 1), "sold_out": nodetest.TypeBody(5, 1)}
	reach := func(s *nodetest.Shop, status string) string {
		body, ok := sale[status]
		if !ok {
			body = nodetest.With(nodetest.TypeBody(5, 1), nodetest.Object{"saleStart": nodetest.Stamp(time.Hour)})
		}
		id := s.Draft(nil)
		types := s.Own("POST", "/organizer/events/"+id+"/tickets", body).Is(201, "").Str("id")
		now := func() string {
			return s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Is(200, "").Str("status")
		}
		for step := range strings.FieldsSeq(map[string]string{
			"review": "review", "published": "published", "on_sale": "published", "sold_out": "published",
			"in_progress": "published in_progress", "completed": "published in_progress completed", "cancelled": "published cancelled",
		}[status]) {
			require.Equal(s.T, step, put(s, id, step).Is(200, "").Str("status"))
		}
		if ok {
			s.Becomes("on_sale", now)
		}
		if status == "sold_out" {
			s.Place("ada@example.org", types, 1)
			s.Becomes("sold_out", now)
		}
		return id
	}
	s = s.In(t)
	for _, from := range statuses {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			s := s.In(t)
			stays := reach(s, from)
			for _, to := range statuses {
				legal := strings.Fields(allowed[from])
				switch {
				case to == from:
					require.Equal(t, to, put(s, stays, to).Is(200, "").Str("status"))
				case slices.Contains(legal, to):
					require.Equal(t, to, put(s, reach(s, from), to).Is(200, "").Str("status"), "%s -> %s", from, to)
				default:
					put(s, stays, to).Refused(409, "INVALID_STATUS_TRANSITION", nodetest.Object{"from": from, "to": to, "allowed": legal})
				}
			}
			put(s, stays, "paused").Invalid("status", "enum")
			s.Own("PUT", "/organizer/events/"+stays+"/status", nodetest.Object{}).Invalid("status", "required")
		})
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	publish := func(id string) nodetest.Answer { return s.Own("POST", "/organizer/events/"+id+"/publish", nil) }
	id := s.Draft(nil)
	slug := s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Str("slug")
	publish(id).Invalid("ticketTypes", "required")
	s.Own("PUT", "/organizer/events/"+id+"/status", nodetest.Object{"status": "published"}).Invalid("ticketTypes", "required")
	s.Own("PUT", "/organizer/events/"+id+"/status", nodetest.Object{"status": "review"}).Is(200, "")
	publish(id).Invalid("ticketTypes", "required")
	types := s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(0, 10)).Is(201, "").Str("id")
	require.Equal(t, "published", publish(id).Is(200, "").Str("status"))
	publish(id).Is(200, "")
	s.Call("GET", "/events/"+slug, nil).Is(200, "")

	t.Log("unpublish keeps tickets and data, and stops the sale")
	order, token := s.Place("ada@example.org", types, 2)
	require.Equal(t, "draft", s.Own("POST", "/organizer/events/"+id+"/unpublish", nil).Is(200, "").Str("status"))
	s.Own("POST", "/organizer/events/"+id+"/unpublish", nil).Is(200, "")
	s.Call("GET", "/events/"+slug, nil).Is(404, "EVENT_NOT_FOUND")
	require.Equal(t, "completed", s.Order(order, token).Str("status"))
	require.Len(t, s.Order(order, token).Data("tickets"), 2)
	s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types, 1)).Is(409, "NOT_ON_SALE")

	t.Log("a draft with tickets is cancelled, not removed")
	gone := s.Own("DELETE", "/organizer/events/"+id, nodetest.Object{"reason": nodetest.Text(2000)}).Is(200, "")
	require.Equal(t, "cancelled", gone.Str("event.status"))
	require.Equal(t, true, gone.Data("cancelled"))
	require.Equal(t, false, gone.Data("deleted"))

	t.Log("a draft without any simply disappears")
	id = s.Draft(nil)
	slug = s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Str("slug")
	orphan := s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(0, 1)).Is(201, "").Str("id")
	s.Own("DELETE", "/organizer/events/"+id, nodetest.Object{"reason": nodetest.Text(2001)}).Invalid("reason", "max_length")
	gone = s.Own("DELETE", "/organizer/events/"+id, nil).Is(200, "")
	require.Equal(t, true, gone.Data("deleted"))
	require.Nil(t, gone.Data("event"))
	for _, path := range []string{"/events/" + slug, "/events/" + id + "/tickets", "/checkin/event/" + id + "/stats"} {
		s.Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
	}
	s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", orphan, 1)).Is(404, "TICKET_TYPE_NOT_FOUND")
	s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Is(404, "EVENT_NOT_FOUND")
	s.Own("PUT", "/organizer/events/"+id+"/tickets/"+orphan, nodetest.Object{}).Is(404, "EVENT_NOT_FOUND")
	s.Own("DELETE", "/organizer/events/"+id, nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(0, 1)).Is(404, "EVENT_NOT_FOUND")
	require.NotContains(t, nodetest.Encode(t, s.Own("GET", "/organizer/events", nil).Body), id)

	t.Log("a published one is cancelled, for good")
	id, _ = s.Sell(nil, nodetest.TypeBody(0, 1))
	require.Equal(t, true, s.Own("DELETE", "/organizer/events/"+id, nil).Is(200, "").Data("cancelled"))
	require.Equal(t, true, s.Own("DELETE", "/organizer/events/"+id, nil).Is(200, "").Data("cancelled"))
	publish(id).Is(409, "INVALID_STATUS_TRANSITION")
	s.Own("POST", "/organizer/events/"+id+"/unpublish", nil).Is(409, "INVALID_STATUS_TRANSITION")
	s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"title": "Again"}).Is(409, "INVALID_STATUS_TRANSITION")
	s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(0, 1)).Is(409, "INVALID_STATUS_TRANSITION")
}

// TestTenants makes sure that another organization's resources do not exist.
func TestTenants(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.Sell(nil, nodetest.TypeBody(5, 10))
	other := s.Register("other@example.org")
	n := fmt.Sprint(nodetest.Number(t, event))
	scan := nodetest.Object{"eventId": event, "qrData": "ABCDEF"}
	for _, id := range []string{event, n} {
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{"PUT", "/organizer/events/" + id, nodetest.Object{}},
			{"DELETE", "/organizer/events/" + id, nil},
			{"POST", "/organizer/events/" + id + "/publish", nil},
			{"POST", "/organizer/events/" + id + "/unpublish", nil},
			{"PUT", "/organizer/events/" + id + "/status", nodetest.Object{"status": "draft"}},
			{"POST", "/organizer/events/" + id + "/tickets", nodetest.TypeBody(5, 1)},
			{"PUT", "/organizer/events/" + id + "/tickets/" + types[0], nodetest.Object{}},
			{"GET", "/checkin/event/" + id + "/stats", nil},
			{"POST", "/checkin/scan", scan},
		} {
			other.Own(c.method, c.path, c.body).Is(404, "EVENT_NOT_FOUND")
			s.Call(c.method, c.path, c.body).Is(401, "UNAUTHORIZED")
		}
	}
	require.Empty(t, other.Own("GET", "/organizer/events", nil).Is(200, "").Data("items"))
	org := s.Own("GET", "/organizer/events", nil).Str("items.0.organizationId")
	other.Own("GET", "/organizer/events?orgId="+org, nil).Is(404, "NOT_FOUND")
	other.Own("POST", "/organizer/events?orgId="+org, nodetest.EventBody()).Is(404, "NOT_FOUND")
	other.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"orgId": org})).Is(404, "NOT_FOUND")
	s.Own("POST", "/organizer/events?orgId=99", nodetest.With(nodetest.EventBody(), nodetest.Object{"orgId": org})).Invalid("orgId", "duplicate")
	s.Own("POST", "/organizer/events?orgId="+org, nodetest.With(nodetest.EventBody(), nodetest.Object{"orgId": org})).Is(201, "")

	t.Log("ids: the public one or the number, and nothing else")
	s.Own("PUT", "/organizer/events/"+n, nodetest.Object{}).Is(200, "")
	s.Own("PUT", "/organizer/events/"+strings.ToUpper(event), nodetest.Object{}).Is(200, "")
	s.Call("GET", "/events/"+n+"/tickets", nil).Is(200, "")
	for _, id := range []string{"0", "-1", "99999", "999999999999999999999", "x", event[:35] + "0", event[:35], "1.5", "0190b6c1-0000-7000-8000-000000000007"} {
		if id == event {
			continue
		}
		s.Own("PUT", "/organizer/events/"+id, nodetest.Object{}).Is(404, "EVENT_NOT_FOUND")
		s.Call("GET", "/events/"+id+"/tickets", nil).Is(404, "EVENT_NOT_FOUND")
	}
}

// TestEditsMeet sends two organizers' edits of different fields at once.
func TestEditsMeet(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	id := s.Draft(nil)
	var wg sync.WaitGroup
	for _, name := range nodetest.Words("subcategory venueName venueCity returnPolicy") {
		wg.Go(func() { s.Own("PUT", "/organizer/events/"+id, nodetest.Object{name: name}).Is(200, "") })
	}
	wg.Wait()
	a := s.Own("PUT", "/organizer/events/"+id, nodetest.Object{})
	for _, name := range nodetest.Words("subcategory venueName venueCity returnPolicy") {
		require.Equal(t, name, a.Str(name))
	}
}

func TestCurrencyIsLocked(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	id := s.Draft(nil)
	require.Equal(t, "NGN", s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"currency": "NGN"}).Is(200, "").Str("currency"))
	typ := s.Own("POST", "/organizer/events/"+id+"/tickets", nodetest.TypeBody(5, 10)).Is(201, "")
	require.Equal(t, "NGN", typ.Str("currency"))
	s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"currency": "NGN"}).Is(200, "")
	s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"currency": "USD"}).Invalid("currency", "enum")
}

// TestClock has an event pass through its life by the clock alone. A machine that is too busy to see
// a stage of a few seconds gets longer ones.
func TestClock(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	for seconds := 1; !passesThroughItsLife(s, seconds); seconds *= 4 {
		require.Less(t, seconds, 60)
	}
}

// passesThroughItsLife has an event pass through its life, whose moments are so many seconds apart.
// It returns false if the test was late for a stage, which then proves nothing.
func passesThroughItsLife(s *nodetest.Shop, seconds int) bool {
	t := s.T
	begun := time.Now()
	moment := func(n int) time.Time { return begun.Add(time.Duration(n*seconds) * time.Second) }
	at := func(n int) string { return moment(n).UTC().Format(time.RFC3339Nano) }
	isLate := func(n int) bool { return time.Now().After(moment(n)) }
	id := s.Draft(nodetest.Object{"startDate": at(12), "endDate": at(16)})
	path := "/organizer/events/" + id
	typ := s.Own("POST", path+"/tickets", nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"saleStart": at(5), "saleEnd": at(9)})).Is(201, "")
	door := s.Own("POST", path+"/tickets", nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"saleStart": at(12), "saleEnd": at(16)})).Is(201, "").Str("id")
	published := s.Own("POST", path+"/publish", nil).Is(200, "").Str("status")
	becomes := func(want string, end int) bool {
		for s.Own("GET", path, nil).Str("status") != want {
			if isLate(end) {
				return false
			}
		}
		return true
	}
	place := func(id string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", id, 1))
	}
	early := place(typ.Str("id"))
	if isLate(5) {
		return false
	}
	require.Equal(t, "published", published)
	require.Equal(t, "not_started", early.Is(409, "NOT_ON_SALE").Get("error.details.reason"))
	if !becomes("on_sale", 9) {
		return false
	}
	order := place(typ.Str("id"))
	if isLate(9) {
		return false
	}
	order.Is(201, "")
	scan := func(gate string) string { // by a code of that moment: a rotating one is good for half a minute
		code := s.Order(order.Str("id"), order.Str("accessToken")).Is(200, "").Str("tickets.0.qr")
		return s.Scan(id, code, gate).Str("status")
	}
	if !becomes("published", 12) {
		return false
	}
	ended := place(typ.Str("id")).Is(409, "NOT_ON_SALE").Get("error.details.reason")
	if !becomes("in_progress", 16) {
		return false
	}
	inside := place(door)
	s.Own("PUT", path, nodetest.Object{"title": "Still editable", "startDate": begun.Add(-time.Hour).UTC().Format(time.RFC3339Nano)}).Invalid("startDate", "minimum")
	scanned := scan("gate")
	if isLate(16) {
		return false
	}
	require.Equal(t, "ended", ended)
	inside.Is(201, "")
	require.Equal(t, "success", scanned)
	require.True(t, becomes("completed", 76))
	require.Equal(t, "event_completed", place(door).Is(409, "NOT_ON_SALE").Get("error.details.reason"))
	require.Equal(t, "denied_duplicate", scan("other gate"))
	s.Own("PUT", path, nodetest.Object{"title": "Too late"}).Is(409, "INVALID_STATUS_TRANSITION")
	return true
}
