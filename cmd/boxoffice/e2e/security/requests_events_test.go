package security

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"boxoffice/cmd/boxoffice/nodetest"
)

// fullEvent is an event's body with every optional field.
func fullEvent() nodetest.Object {
	return nodetest.With(nodetest.EventBody(), nodetest.Object{
		"subcategory": "a", "shortDesc": "b", "description": nodetest.Text(50), "tags": []string{"x"}, "capacity": 500, "doorOpenTime": nodetest.Stamp(23 * time.Hour),
		"venueName": "a", "venueAddress": "b", "venueCity": "c", "venueCountry": "DE", "venueLat": 1.5, "venueLng": 2.5,
		"onlineLink": nodetest.URI(30), "onlineLinkNote": "PIN 1", "returnPolicy": "none", "highlightVideoUrl": "https://vimeo.com/1", "coverImage": nodetest.URI(32), "coverVideo": nodetest.URI(33),
		"gallery": []string{nodetest.URI(30)}, "branding": nodetest.Object{"accent": "red", "requireIdCheck": true}, "seoData": nodetest.Object{"title": "t"}, "transferDays": 14, "exits": true, "insideLimit": 1200,
		"velocity": nodetest.Object{"ordersPerBuyer": 1000, "ordersPerAddress": 1000, "openOrdersPerBuyer": 1000, "presaleTries": 1000, "paymentAttempts": 1000},
		"entities": nodetest.Entity(nodetest.Object{"role": "r", "imageUrl": nodetest.URI(34), "bio": "b", "setTime": "22:00", "link": nodetest.URI(35)}),
	})
}

func fullType() nodetest.Object {
	return nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{
		"refundable": true, "refundDeadline": nodetest.Stamp(time.Hour), "presaleCode": "abc", "accessUrl": "https://example.org/book", "accessNote": "PIN 2", "description": "d",
	})
}

// eventRequests are those around events and what they sell.
func (w *world) eventRequests() map[string]func() request {
	ours := w.ours()
	event := func() request { return naming("id", w.Draft(nil)) }
	sold := func() (event, ticketType string) {
		event, types := w.Sell(fullEvent(), fullType())
		return event, types[0]
	}
	return map[string]func() request{
		"discoverEvents": func() request { return request{} },
		"searchEvents":   func() request { return request{query: "q=jazz"} },
		"getEventPage": func() request {
			event, _ := sold()
			r := naming("slug", w.Own("PUT", "/organizer/events/"+event, nodetest.Object{}).Is(200, "").Str("slug"))
			r.open = true
			return r
		},
		"listTicketTypes": func() request {
			event, _ := sold()
			r := naming("id", event)
			r.open = true
			return r
		},
		"listOwnEvents": func() request {
			sold()
			return ours
		},
		"getOwnEvent": func() request {
			event, _ := sold()
			return naming("id", event)
		},
		"createEvent": func() request {
			return request{body: nodetest.With(fullEvent(), nodetest.Object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"findDates": func() request {
			event, _ := w.Sell(nodetest.Object{"category": "reservations", "endDate": nodetest.Absent}, nodetest.TypeBody(0, 10))
			r := naming("eventId", event)
			r.open = true
			return r
		},
		"updateEvent": func() request { return event().with(fullEvent()) },
		"publishEvent": func() request {
			r := event()
			w.Own("POST", "/organizer/events/"+r.params["id"]+"/tickets", fullType()).Is(201, "")
			return r
		},
		"unpublishEvent": func() request {
			event, _ := sold()
			return naming("id", event)
		},
		"setEventStatus":   func() request { return event().with(nodetest.Object{"status": "review"}) },
		"deleteEvent":      func() request { return event().with(nodetest.Object{"reason": "rain"}) },
		"createTicketType": func() request { return event().with(fullType()) },
		"updateTicketType": func() request {
			event, ticketType := sold()
			return naming("id", event, "ticketTypeId", ticketType).with(nodetest.With(fullType(), nodetest.Object{"name": "Balcony"}))
		},
	}
}

// promoRequests are those around promo codes.
func (w *world) promoRequests() map[string]func() request {
	body := func() nodetest.Object {
		return nodetest.Object{
			"code": "CODE-" + uuid.NewString(), "discountType": "percentage", "discountValue": 10,
			"validFrom": "2020-01-01T00:00:00Z", "validUntil": "2031-06-20T00:00:00Z", "description": "d", "maxUses": 5, "maxUsesPerCustomer": 2,
			"minOrderValue": 1, "applicableTypes": []any{w.paid},
		}
	}
	code := func() request {
		return naming("id", w.Own("POST", "/organizer/promo-codes", body()).Is(201, "").Str("id"))
	}
	return map[string]func() request{
		"listPromoCodes": func() request {
			w.Own("POST", "/organizer/promo-codes", nodetest.With(body(), nodetest.Object{"eventId": w.eventID})).Is(201, "")
			r := w.ours()
			r.query += "&eventId=" + w.eventID
			r.ids["?eventId"] = kindEvent
			return r
		},
		"createPromoCode": func() request {
			return request{body: nodetest.With(body(), nodetest.Object{"orgId": w.orgID, "eventId": w.eventID}), ids: map[string]string{"orgId": kindOrg, "eventId": kindEvent}}
		},
		"updatePromoCode": func() request { return code().with(body()) },
		"deletePromoCode": code,
		"validatePromoCode": func() request {
			return request{}.with(nodetest.Object{"code": "SUMMER", "eventId": w.eventID, "ticketTypeIds": []any{w.paid}, "subtotal": 10, "items": []nodetest.Object{{"ticketTypeId": w.paid, "quantity": 2}}})
		},
	}
}

func sessionBody() nodetest.Object {
	return nodetest.Object{
		"sessionTitle": "Opening", "startTime": "2031-06-20T19:00:00Z", "endTime": "2031-06-20T20:00:00Z", "dayNumber": 1, "sessionDesc": "d",
		"speakerName": "Ada", "speakerBio": "b", "speakerAvatar": nodetest.URI(30), "locationDetail": "hall 1", "sortOrder": 1,
	}
}

func sectionBody() nodetest.Object {
	return nodetest.Object{"name": "Balcony", "capacity": 40, "description": "d", "sortOrder": 1, "mapCoordinates": nodetest.Object{"x": 1}}
}

// programRequests are those about what is told of an event beside its record.
func (w *world) programRequests() map[string]func() request {
	event := func() request { return naming("id", w.Draft(nil)) }
	row := func(path, name string, body nodetest.Object) request {
		r := event()
		r.params[name] = w.Own("POST", "/organizer/events/"+r.params["id"]+path, body).Is(201, "").Str("id")
		return r
	}
	return map[string]func() request{
		"listSchedule":          event,
		"createScheduleSession": func() request { return event().with(sessionBody()) },
		"updateScheduleSession": func() request { return row("/schedule", "sessionId", sessionBody()).with(sessionBody()) },
		"deleteScheduleSession": func() request { return row("/schedule", "sessionId", sessionBody()) },
		"listSections":          event,
		"createSection":         func() request { return event().with(sectionBody()) },
		"updateSection":         func() request { return row("/sections", "sectionId", sectionBody()).with(sectionBody()) },
		"deleteSection":         func() request { return row("/sections", "sectionId", sectionBody()) },
		"getCustomization":      event,
		"customize": func() request {
			return event().with(nodetest.Object{
				"faqs":          []any{nodetest.Object{"question": "q", "answer": "a"}},
				"layoutPattern": "split", "heroStyle": "solid", "primaryColor": "#123456", "secondaryColor": "#123456", "accentColor": "#123456",
				"backgroundColor": "#123456", "textColor": "#123456", "ctaLabel": "Come", "showOrganizer": true, "showSchedule": true, "showVenueMap": true,
				"showCountdown": true, "showSocialShare": true, "showPoweredBy": true, "socialLinks": nodetest.Object{"x": nodetest.URI(30)},
				"seoTitle": "t", "seoDescription": "d", "seoImage": nodetest.URI(31),
			})
		},
	}
}

// venueRequests are those around venue maps.
func (w *world) venueRequests() map[string]func() request {
	body := nodetest.SampleMap(w.T, "theatre")
	draft := func() request { return naming("id", w.Own("POST", nodetest.VenuesPath, body).Is(201, "").Str("id")) }
	published := func() request {
		r := draft()
		w.Own("POST", nodetest.VenuesPath+"/"+r.params["id"]+"/publish", nil).Is(200, "")
		return r
	}
	return map[string]func() request{
		"listVenues": func() request {
			published()
			return w.ours()
		},
		"createVenue": func() request {
			return request{body: nodetest.With(body, nodetest.Object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"getVenue":     published,
		"updateVenue":  func() request { return published().with(nodetest.With(body, nodetest.Object{"name": "Great hall"})) },
		"publishVenue": draft,
	}
}

// seatRequests are those around an event's seats.
func (w *world) seatRequests() map[string]func() request {
	const buyer = "suite-holder"
	withMap := func(event string) (string, string) {
		// A hold must not run out while the suite waits for a slow machine.
		w.Own("PUT", "/organizer/events/"+event+"/seating", nodetest.Object{"venueMapId": w.venueID, "holdTtlSeconds": 3600}).Is(200, "")
		return "id", event
	}
	seated := func(param string) (r request, ticketType string) {
		event, types := w.Sell(nil, nodetest.TypeBody(25, 100))
		withMap(event)
		w.Own("PUT", "/organizer/events/"+event+"/seating/pricing", nodetest.Object{
			"mappings": []nodetest.Object{{"venueSectionId": "stalls", "ticketTypeId": types[0]}},
		}).Is(200, "")
		return naming(param, event), types[0]
	}
	shown := func() request {
		r, _ := seated("eventId")
		r.open = true
		return r
	}
	chosen := func() request {
		r, _ := seated("eventId")
		r.market = true
		return r.with(nodetest.Object{"holder": buyer, "seatIds": []string{"stalls-A-1"}})
	}
	return map[string]func() request{
		"getDrawing":   func() request { return naming("id", w.venueID, "version", "1") },
		"getSeatMap":   shown,
		"listSeats":    shown,
		"watchSeats":   shown,
		"holdSeats":    chosen,
		"releaseSeats": chosen,
		"extendSeats": func() request {
			r, _ := seated("eventId")
			r.market = true
			hold := nodetest.Object{"holder": buyer, "seatIds": []string{"stalls-A-1"}}
			w.Becomes("200", func() string {
				return fmt.Sprint(w.Call("POST", "/public/events/"+r.params["eventId"]+"/seats/hold", hold).Status)
			})
			return r.with(nodetest.Object{"holder": buyer})
		},
		"holdBestSeats": func() request {
			r, ticketType := seated("id")
			r.market = true
			return r.with(nodetest.Object{"holder": buyer, "quantity": 1, "sectionIds": []string{"stalls"}, "ticketTypeId": ticketType, "accessible": false, "adjacent": true})
		},
		"getSeating": func() request {
			r, _ := seated("id")
			return r
		},
		"setSeating": func() request {
			r := naming("id", w.Draft(nil)).with(nodetest.Object{"venueMapId": w.venueID, "version": 1, "mode": "ga_mixed", "holdTtlSeconds": 60})
			r.ids = map[string]string{"venueMapId": kindVenue}
			return r
		},
		"removeSeating": func() request { return naming(withMap(w.Draft(nil))) },
		"priceSeating": func() request {
			event := w.Draft(nil)
			ticketType := w.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.TypeBody(5, 5)).Is(201, "").Str("id")
			return naming(withMap(event)).with(nodetest.Object{"mappings": []nodetest.Object{{"venueSectionId": "circle", "ticketTypeId": ticketType}}})
		},
		"blockSeats": func() request {
			return naming(withMap(w.Draft(nil))).with(nodetest.Object{"block": []string{"stalls-B-1"}, "unblock": []string{"stalls-B-2"}})
		},
	}
}
