package security

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/route"
)

// request is one that its operation grants to whoever may ask for it.
type request struct {
	params     map[string]string // of the path
	query      string
	headers    []string          // that prove who sends the body
	body       nodetest.Object   // nil: it reads none
	raw        string            // the body, if it is no JSON
	file       *nodetest.Upload  // nil: it takes none
	ids        map[string]string // what members of the body name, and ?parameters of the query, by kind
	token      string            // of the order that it names
	person     string            // access token of who asks, where it is about themselves
	open       bool              // it shows something to everybody, and more to the organization
	market     bool              // everybody may ask it of a public event: another's is one that they do not see
	perishable bool              // its body is good for some minutes at most
	mailbox    bool              // it asks for a session whose address is proven
	absent     string            // the code of the 404 that everybody who may is answered: there is none of it yet
}

// requests make, for every operation, a request that is granted: a new one each
// time, of things that nothing else in the world needs. An endpoint without one
// fails the suite.
func (w *world) requests() map[string]func() request {
	all := map[string]func() request{}
	for _, some := range []map[string]func() request{
		w.authRequests(),
		w.orgRequests(),
		w.eventRequests(),
		w.programRequests(),
		w.promoRequests(),
		w.venueRequests(),
		w.seatRequests(),
		w.orderRequests(),
		w.refundRequests(),
		w.moneyRequests(),
		w.holderRequests(),
		w.gateRequests(),
		w.buyerRequests(),
		w.peopleRequests(),
		w.waitlistRequests(),
		w.roomRequests(),
		w.customerRequests(),
		w.analyticsRequests(),
		w.learningRequests(),
		w.factRequests(),
		w.webhookRequests(),
		w.mediaRequests(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// request makes one for an operation.
func (w *world) request(op *route.Op) request {
	w.T.Helper()
	make, ok := w.requests()[op.ID]
	require.True(w.T, ok, "%s has no request: give it one in suite_requests_test.go", op.ID)
	r := make()
	if r.person == "" && op.Auth.Has(route.User) && !op.Auth.Has(route.Member) {
		r.person = w.guest().Token
	}
	return r
}

// naming is a request of ids in the path alone: name, value pairs.
func naming(params ...string) request {
	r := request{params: map[string]string{}}
	for i := 0; i < len(params); i += 2 {
		r.params[params[i]] = params[i+1]
	}
	return r
}

func (r request) with(b nodetest.Object) request {
	r.body = b
	return r
}

// by is the request of a person about themselves.
func (r request) by(token string) request {
	r.person = token
	return r
}

// authRequests are those for which somebody proves who they are.
func (w *world) authRequests() map[string]func() request {
	const password = "correct horse"
	signedIn := func() request {
		return request{}.with(nodetest.Object{"refreshToken": w.person(w.email()).Str("refreshToken")})
	}
	protected := func() (p *nodetest.Shop, email, recovery string) {
		email = w.email()
		p, device := w.enrolled(email)
		a := p.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": device.Code(time.Now(), 0)}).Is(200, "")
		return p, email, a.Str("recoveryCodes.0")
	}
	return map[string]func() request{
		"register": func() request {
			return request{}.with(nodetest.Object{"email": w.email(), "password": password, "firstName": "Bob", "lastName": "Hill", "phone": "+49 30 1", "organizationName": "Bob's"})
		},
		"login": func() request { return request{}.with(nodetest.Object{"email": strangerEmail, "password": password}) },
		"verifyTwoFactor": func() request {
			_, email, recovery := protected()
			challenge := w.person(email).Str("challengeToken")
			r := request{}.with(nodetest.Object{"challengeToken": challenge, "code": recovery})
			r.perishable = true
			return r
		},
		"requestLoginCode": func() request { return request{}.with(nodetest.Object{"email": w.email(), "name": "Grace Hopper"}) },
		"exchangeLoginCode": func() request {
			email := w.email()
			r := request{}.with(nodetest.Object{"email": email, "code": w.loginKey(email)})
			r.perishable = true
			return r
		},
		"refreshTokens": signedIn,
		"logout":        signedIn,
		"logoutAll":     func() request { return request{}.by(w.guest().Token) },
		"listSessions":  func() request { return request{} },
		"enrollTwoFactor": func() request {
			return request{}.by(w.guest().Token)
		},
		"activateTwoFactor": func() request {
			p, device := w.enrolled(w.email())
			r := request{}.with(nodetest.Object{"code": device.Code(time.Now(), 0)}).by(p.Token)
			r.perishable = true
			return r
		},
		"disableTwoFactor": func() request {
			p, _, recovery := protected()
			return request{}.with(nodetest.Object{"code": recovery}).by(p.Token)
		},
		"forgotPassword": func() request { return request{}.with(nodetest.Object{"email": w.email()}) },
		"resetPassword": func() request {
			email := w.email()
			w.person(email)
			return request{}.with(nodetest.Object{"token": w.resetToken(email), "password": "another horse"})
		},
		"requestEmailConfirmation": func() request { return request{} },
		"confirmEmail": func() request {
			email := w.email()
			w.Register(email)
			return request{}.with(nodetest.Object{"token": w.confirmationToken(email), "password": password})
		},
		"getMe": func() request { return request{} },
		"updateMe": func() request {
			return request{}.with(nodetest.Object{"fullName": "Ada Obi", "phone": "+234 1", "locale": "en-NG"})
		},
	}
}

// ours asks for the organization's things by its number.
func (w *world) ours() request {
	return request{query: "orgId=" + w.orgID, ids: map[string]string{"?orgId": kindOrg}}
}

// enrolled is somebody new with an authenticator that is not active yet.
func (w *world) enrolled(email string) (*nodetest.Shop, nodetest.Authenticator) {
	w.T.Helper()
	p := w.As(w.person(email).Str("accessToken"))
	text := p.Own("POST", "/auth/2fa/enroll", nil).Is(200, "").Str("secret")
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	require.NoError(w.T, err)
	return p, nodetest.Authenticator{Secret: secret}
}

// orgRequests are those that manage the organization.
func (w *world) orgRequests() map[string]func() request {
	member := func() request {
		return naming("id", w.orgID, "userId", w.Invite(w.email(), route.RoleMember))
	}
	key := func() request { return naming("orgId", w.orgID, "keyId", w.Key(nil).Str("id")) }
	fields := nodetest.Object{"name": "Gate", "scopes": []string{"checkin:write"}, "ipAllowlist": []string{"127.0.0.0/8"}, "expiresAt": nodetest.Stamp(time.Hour)}
	credit := naming("orgId", w.orgID).with(nodetest.Object{"amount": 250, "currency": "USD", "note": "thanks", "reference": "wire 1"})
	return map[string]func() request{
		"getOrganization":           func() request { return naming("id", w.orgID) },
		"listWallets":               w.ours,
		"listWalletsOfOrganization": func() request { return naming("orgId", w.orgID) },
		"listWalletEntries": func() request {
			w.root.Own("POST", "/admin/wallets/"+w.orgID+"/credit", credit.body).Is(201, "")
			r := w.ours()
			r.params = map[string]string{"currency": "USD"}
			return r
		},
		"creditWallet": func() request { return credit },
		"drainNode":    func() request { return request{} },
		"updateOrganization": func() request {
			return naming("id", w.orgID).with(nodetest.Object{
				"name": "Hill Nights", "description": "d", "website": nodetest.URI(30), "contactEmail": "box@example.org", "contactPhone": "+49 30 1",
				"logoUrl": nodetest.URI(31), "socialLinks": nodetest.Object{}, "pageTheme": nodetest.Object{}, "embedOrigins": []string{"https://example.org"},
			})
		},
		"listMembers": func() request { return naming("id", w.orgID) },
		"addMember": func() request {
			return naming("id", w.orgID).with(nodetest.Object{"email": w.email(), "role": "member", "name": "Kim"})
		},
		"updateMember": func() request { return member().with(nodetest.Object{"role": "admin"}) },
		"removeMember": member,
		"createApiKey": func() request {
			return naming("orgId", w.orgID).with(nodetest.With(fields, nodetest.Object{"environment": "test"}))
		},
		"listApiKeys":  func() request { return naming("orgId", w.orgID) },
		"listRequests": w.loggedRequests,
		"getFailedRequest": func() request {
			return naming("orgId", w.orgID, "requestId", w.failedRequest(w.Shop, w.orgID, w.secret))
		},
		"getRequestMetrics": func() request { return naming("orgId", w.orgID) },
		"getLimits":         func() request { return naming("orgId", w.orgID) },
		"updateApiKey":      func() request { return key().with(nodetest.With(fields, nodetest.Object{"status": "active"})) },
		"revokeApiKey":      key,
		"rotateApiKey":      key,
		"limitApiKey": func() request {
			r := key().with(nodetest.Object{"strictPerMinute": 60})
			delete(r.params, "orgId")
			return r
		},
	}
}

// loggedRequests asks for those of a key that the log has some of.
func (w *world) loggedRequests() request {
	w.As(w.secret).Own("GET", "/organizer/events?limit=1", nil).Is(200, "")
	r := naming("orgId", w.orgID)
	r.query, r.ids = "keyId="+w.keyID, map[string]string{"?keyId": kindKey}
	require.Eventually(w.T, func() bool {
		page := w.Own("GET", "/organizer/integrations/org/"+w.orgID+"/requests?"+r.query, nil).Is(200, "")
		return len(page.Data("items").([]any)) > 0
	}, time.Minute, 20*time.Millisecond)
	return r
}

// failedRequest has a key send requests that fail, and returns the id of the first that is kept. Of an
// organization's, only some are kept in a minute, and the suite's attempts may have been these.
func (w *world) failedRequest(s *nodetest.Shop, org, secret string) (kept string) {
	program := w.As(secret)
	var sent []string
	require.Eventually(w.T, func() bool {
		for _, id := range sent {
			if s.Own("GET", "/organizer/integrations/org/"+org+"/requests/"+id, nil).Status == http.StatusOK {
				kept = id
				return true
			}
		}
		r := program.Raw("POST", "/organizer/events", "application/json", `{"title":5}`, program.Bearer()...).Is(w.T, 400)
		sent = append(sent[max(0, len(sent)-4):], r.Header.Get("X-Request-Id"))
		return false
	}, 3*time.Minute, time.Second)
	return kept
}

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

// orderRequests are those of buyers, and of gates.
func (w *world) orderRequests() map[string]func() request {
	pending := func(param string) request {
		id, token := w.Place(w.email(), w.paid, 1)
		r := naming(param, id)
		r.token = token
		return r
	}
	paid := func(param string) request {
		r := pending(param)
		w.Settle(w.Checkout(r.params[param], r.token), "success")
		w.Verify(r.params[param], r.token).Is(200, "")
		return r
	}
	linked := func() request {
		id, token := w.Place(w.email(), w.paid, 1)
		address := w.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{"token": token}).Is(200, "").Str("url")
		return naming("token", address[strings.LastIndex(address, "/")+1:])
	}
	scan := func() request {
		code := w.Call("POST", "/orders", nodetest.OrderBody(w.email(), w.free, 1)).Is(201, "").Str("tickets.0.code")
		return request{
			body: nodetest.Object{"eventId": w.eventID, "qrData": code, "gateName": "North", "deviceId": "d", "method": "nfc", "geoLat": 1.5, "geoLng": 2},
			ids:  map[string]string{"eventId": kindEvent},
		}
	}
	return map[string]func() request{
		"placeOrder": func() request {
			lines := []nodetest.Object{{"ticketTypeId": w.free, "quantity": 1, "attendeeName": "Ada", "attendeeEmail": "ada@example.org"}}
			return request{}.with(nodetest.With(nodetest.OrderBody(w.email(), w.free, 1), nodetest.Object{"items": lines, "guestName": "Ada", "presaleCode": "x"}))
		},
		"getOrder":        func() request { return paid("id") },
		"payOrder":        func() request { return pending("id").with(nodetest.Object{"provider": "paystack"}) },
		"extendOrder":     func() request { return pending("id").with(nodetest.Object{}) },
		"makePaymentLink": func() request { return pending("id").with(nodetest.Object{}) },
		"tellTransferSent": func() request {
			_, kinds := w.Sell( // money that is transferred takes days
				nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
				nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(9 * 24 * time.Hour)}))
			id, token := w.Place(w.email(), kinds[0], 1)
			w.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "transfer", "token": token}).Is(200, "")
			r := naming("id", id).with(nodetest.Object{})
			r.token = token
			return r
		},
		"getPaymentLink": linked,
		"payByLink":      func() request { return linked().with(nodetest.Object{"provider": "paystack", "email": w.email()}) },
		"verifyByLink":   linked,
		"cancelOrder":    func() request { return pending("id").with(nodetest.Object{}) },
		"verifyPayment": func() request {
			id, token := w.Place(w.email(), w.paid, 1)
			return request{body: nodetest.Object{"orderId": id}, ids: map[string]string{"orderId": kindOrder}, token: token}
		},
		"getPayment":     func() request { return paid("orderId") },
		"listCoins":      func() request { return request{} },
		"listPayMethods": func() request { return request{} },
		"receiveFlutterwaveNotice": func() request {
			r := request{}.with(nodetest.Object{})
			r.headers = []string{"Verif-Hash", node.SimKey}
			return r
		},
		"receiveStripeNotice": func() request {
			at := strconv.FormatInt(time.Now().Unix(), 10)
			mac := hmac.New(sha256.New, []byte(node.SimKey))
			mac.Write([]byte(at + ".{}"))
			r := request{perishable: true}.with(nodetest.Object{})
			r.headers = []string{"Stripe-Signature", "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))}
			return r
		},
		"receivePayPalNotice": func() request {
			const id, at = "69cd13f0-d67a-11e5-baa3-778b53f4ae55", "2026-11-28T00:00:00Z"
			r := request{}.with(nodetest.Object{})
			r.headers = []string{
				"Paypal-Auth-Algo", "SHA256withRSA", "Paypal-Cert-Url", "https://api.paypal.com/v1/notifications/certs/CERT-1", "Paypal-Transmission-Id", id,
				"Paypal-Transmission-Time", at, "Paypal-Transmission-Sig", paysim.PayPalSignature(node.SimPayPalKey, id, at, node.SimKey, []byte(`{}`)),
			}
			return r
		},
		"receiveMollieNotice": func() request {
			mac := hmac.New(sha256.New, []byte(node.SimKey))
			mac.Write([]byte("notice of none"))
			return request{query: "&reference=none&sig=" + hex.EncodeToString(mac.Sum(nil))}
		},
		"receiveNOWPaymentsNotice": func() request {
			mac := hmac.New(sha512.New, []byte(node.SimKey))
			mac.Write([]byte(`{}`))
			r := request{}.with(nodetest.Object{})
			r.headers = []string{"X-Nowpayments-Sig", hex.EncodeToString(mac.Sum(nil))}
			return r
		},
		"receivePaystackNotice": func() request {
			mac := hmac.New(sha512.New, []byte(node.SimKey))
			mac.Write([]byte(`{}`))
			r := request{}.with(nodetest.Object{})
			r.headers = []string{"X-Paystack-Signature", hex.EncodeToString(mac.Sum(nil))}
			return r
		},
		"scanTicket": scan,
		"getGateStats": func() request {
			w.Own("POST", "/checkin/scan", scan().body).Is(200, "")
			return naming("id", w.eventID)
		},
	}
}

// webhookRequests are those that manage what the world is told.
func (w *world) webhookRequests() map[string]func() request {
	endpoint := func() request { return naming("id", w.Webhook()) }
	fields := nodetest.Object{"url": nodetest.Silent, "events": []string{"order.failed", "event.completed"}, "name": "Books"}
	return map[string]func() request{
		"createWebhook": func() request {
			w.RoomForWebhooks()
			return request{body: nodetest.With(fields, nodetest.Object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"listWebhooks":        w.ours,
		"updateWebhook":       func() request { return endpoint().with(nodetest.With(fields, nodetest.Object{"status": "active"})) },
		"deleteWebhook":       endpoint,
		"testWebhook":         endpoint,
		"rotateWebhookSecret": endpoint,
		"listWebhookDeliveries": func() request {
			r := endpoint()
			w.Sent(r.params["id"])
			return r
		},
		"getWebhookDelivery":    func() request { return naming("id", w.Sent(w.Webhook())) },
		"replayWebhookDelivery": func() request { return naming("id", w.Sent(w.Webhook())) },
	}
}

// The kinds of things that requests name.
const (
	kindOrg         = "organization"
	kindEvent       = "event"
	kindSlug        = "slug"
	kindType        = "ticket type"
	kindOrder       = "order"
	kindTicket      = "ticket"
	kindOffer       = "offered ticket"
	kindKey         = "API key"
	kindEnrolment   = "enrolment of a gate"
	kindRequest     = "failed request"
	kindUser        = "user"
	kindCurrency    = "currency"
	kindVenue       = "venue map"
	kindMedia       = "file"
	kindVariant     = "size of an image"
	kindWebhook     = "webhook endpoint"
	kindDelivery    = "webhook delivery"
	kindSession     = "session"
	kindSection     = "section"
	kindPromo       = "promo code"
	kindDrawing     = "drawing"
	kindVersion     = "version"
	kindRefund      = "refund"
	kindGate        = "gate"
	kindReport      = "report"
	kindThread      = "thread"
	kindCustomer    = "customer"
	kindNote        = "note"
	kindReview      = "review"
	kindCourse      = "course"
	kindLesson      = "lesson"
	kindCertificate = "certificate"
	kindPayout      = "payout"
)

// kindsOfParams are what parameters name wherever they stand.
var kindsOfParams = map[string]string{
	"variant":      kindVariant,
	"orgId":        kindOrg,
	"keyId":        kindKey,
	"enrolmentId":  kindEnrolment,
	"requestId":    kindRequest,
	"userId":       kindUser,
	"ticketTypeId": kindType,
	"orderId":      kindOrder,
	"slug":         kindSlug,
	"currency":     kindCurrency,
	"sessionId":    kindSession,
	"sectionId":    kindSection,
	"version":      kindVersion,
	"token":        kindOffer,
	"gate":         kindGate,
	"ticketId":     kindTicket,
	"threadId":     kindThread,
	"key":          kindCustomer,
	"noteId":       kindNote,
}

// kindsInPaths are what parameters name behind a part of a path.
var kindsInPaths = map[string]string{
	"/by-id/":               kindEvent,
	"/certificates/":        kindCertificate,
	"/courses/":             kindCourse,
	"/lessons/":             kindLesson,
	"/media/":               kindMedia,
	"/deliveries/":          kindDelivery,
	"/event-customization/": kindEvent,
	"/event/":               kindEvent,
	"/events/":              kindEvent,
	"/orders/":              kindOrder,
	"/organizations/":       kindOrg,
	"/promo-codes/":         kindPromo,
	"/payouts/":             kindPayout,
	"/refunds/":             kindRefund,
	"/reports/":             kindReport,
	"/reviews/":             kindReview,
	"/tickets/":             kindTicket,
	"/venue-maps/":          kindDrawing,
	"/venues/":              kindVenue,
	"/webhooks/":            kindWebhook,
}

// kindOf is what a path parameter names.
func kindOf(t testing.TB, op *route.Op, param string) string {
	t.Helper()
	if kind, ok := kindsOfParams[param]; ok {
		return kind
	}
	for part, kind := range kindsInPaths {
		if strings.Contains(op.Path, part+"{"+param+"}") {
			return kind
		}
	}
	require.Fail(t, "what does the parameter name? say so in kindOf", "{%s} of %s", param, op.ID)
	return ""
}

// factRequests are those about what the world is told.
func (w *world) factRequests() map[string]func() request {
	return map[string]func() request{
		"listFacts": func() request {
			r := w.ours()
			r.query += "&types=event.created&limit=1"
			w.Becomes("true", func() string {
				return fmt.Sprint(len(w.Own("GET", nodetest.FactsPath+"?"+r.query, nil).Is(200, "").Data("items").([]any)) == 1)
			})
			return r
		},
		"listFactTypes": func() request { return request{} },
	}
}

func (w *world) mediaRequests() map[string]func() request {
	file := func() *nodetest.Upload {
		return &nodetest.Upload{Name: "notes.txt", Type: "text/plain", Body: []byte("hello"), Fields: map[string]string{"orgId": w.orgID}}
	}
	return map[string]func() request{
		"uploadFile": func() request { return request{file: file()} },
		"uploadImage": func() request {
			return request{file: &nodetest.Upload{Name: "cover.png", Type: "image/png", Body: nodetest.PNG(w.T, 40, 30), Fields: map[string]string{"orgId": w.orgID}}}
		},
		"getMediaVariant": func() request {
			image := nodetest.Upload{Name: "cover.png", Type: "image/png", Body: nodetest.PNG(w.T, 40, 30), Fields: map[string]string{"orgId": w.orgID}}
			made := w.Upload("/media/upload", image, w.Bearer()...)
			for made.Status == 429 { // an organization's images are made one after the other
				made = w.Upload("/media/upload", image, w.Bearer()...)
			}
			r := naming("id", numberOf(made), "variant", "web.webp")
			r.open = true
			return r
		},
		"getMedia": func() request {
			u := file()
			r := naming("id", numberOf(w.Upload("/media/upload-file", *u, w.Bearer()...)))
			r.open = true
			return r
		},
	}
}

// numberOf reads an uploaded file's number.
func numberOf(a nodetest.Answer) string {
	a.T.Helper()
	return strings.TrimPrefix(a.Is(201, "").Str("primaryUrl"), "/media/")
}
