package main

import (
	"encoding/base32"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// request is one that its operation grants to whoever may ask for it.
type request struct {
	params     map[string]string // of the path
	query      string
	body       object            // nil: it reads none
	ids        map[string]string // what members of the body name, and ?parameters of the query, by kind
	token      string            // of the order that it names
	person     string            // access token of who asks, where it is about themselves
	open       bool              // it shows something to everybody, and more to the organization
	market     bool              // everybody may ask it of a public event: another's is one that they do not see
	perishable bool              // its body is good for some minutes at most
}

// requests make, for every operation, a request that is granted: a new one each
// time, of things that nothing else in the world needs. An endpoint without one
// fails the suite.
func (w *world) requests() map[string]func() request {
	all := map[string]func() request{}
	for _, some := range []map[string]func() request{w.authRequests(), w.orgRequests(), w.eventRequests(), w.venueRequests(), w.seatRequests(), w.orderRequests(), w.factRequests(), w.webhookRequests()} {
		maps.Copy(all, some)
	}
	return all
}

// request makes one for an operation.
func (w *world) request(op *route.Op) request {
	w.t.Helper()
	make, ok := w.requests()[op.ID]
	require.True(w.t, ok, "%s has no request: give it one in suite_requests_test.go", op.ID)
	r := make()
	if r.person == "" && op.Auth.Has(route.User) && !op.Auth.Has(route.Member) {
		r.person = w.guest().token
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

func (r request) with(b object) request {
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
	signedIn := func() request { return request{}.with(object{"refreshToken": w.person(w.email()).str("refreshToken")}) }
	protected := func() (p *shop, email, recovery string) {
		email = w.email()
		p, device := w.enrolled(email)
		a := p.own("POST", "/auth/2fa/activate", object{"code": device.code(time.Now(), 0)}).is(200, "")
		return p, email, a.str("recoveryCodes.0")
	}
	return map[string]func() request{
		"register": func() request {
			return request{}.with(object{"email": w.email(), "password": password, "firstName": "Bob", "lastName": "Hill", "phone": "+49 30 1", "organizationName": "Bob's"})
		},
		"login": func() request { return request{}.with(object{"email": strangerEmail, "password": password}) },
		"verifyTwoFactor": func() request {
			_, email, recovery := protected()
			challenge := w.person(email).str("challengeToken")
			r := request{}.with(object{"challengeToken": challenge, "code": recovery})
			r.perishable = true
			return r
		},
		"requestLoginCode": func() request { return request{}.with(object{"email": w.email(), "name": "Grace Hopper"}) },
		"exchangeLoginCode": func() request {
			email := w.email()
			r := request{}.with(object{"email": email, "code": w.loginKey(email)})
			r.perishable = true
			return r
		},
		"refreshTokens": signedIn,
		"logout":        signedIn,
		"logoutAll":     func() request { return request{}.by(w.guest().token) },
		"listSessions":  func() request { return request{} },
		"enrollTwoFactor": func() request {
			return request{}.by(w.guest().token)
		},
		"activateTwoFactor": func() request {
			p, device := w.enrolled(w.email())
			r := request{}.with(object{"code": device.code(time.Now(), 0)}).by(p.token)
			r.perishable = true
			return r
		},
		"disableTwoFactor": func() request {
			p, _, recovery := protected()
			return request{}.with(object{"code": recovery}).by(p.token)
		},
		"forgotPassword": func() request { return request{}.with(object{"email": w.email()}) },
		"resetPassword": func() request {
			email := w.email()
			w.person(email)
			return request{}.with(object{"token": w.resetToken(email), "password": "another horse"})
		},
		"requestEmailConfirmation": func() request { return request{} },
		"confirmEmail": func() request {
			email := w.email()
			w.register(email)
			return request{}.with(object{"token": w.confirmationToken(email), "password": password})
		},
		"getMe": func() request { return request{} },
	}
}

// ours asks for the organization's things by its number.
func (w *world) ours() request {
	return request{query: "orgId=" + w.orgID, ids: map[string]string{"?orgId": kindOrg}}
}

// enrolled is somebody new with an authenticator that is not active yet.
func (w *world) enrolled(email string) (*shop, authenticator) {
	w.t.Helper()
	p := w.as(w.person(email).str("accessToken"))
	text := p.own("POST", "/auth/2fa/enroll", nil).is(200, "").str("secret")
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	require.NoError(w.t, err)
	return p, authenticator{secret: secret}
}

// orgRequests are those that manage the organization.
func (w *world) orgRequests() map[string]func() request {
	member := func() request {
		return naming("id", w.orgID, "userId", w.invite(w.email(), route.RoleMember))
	}
	key := func() request { return naming("orgId", w.orgID, "keyId", w.key(nil).str("id")) }
	fields := object{"name": "Gate", "scopes": []string{"checkin:write"}, "ipAllowlist": []string{"127.0.0.0/8"}, "expiresAt": stamp(time.Hour)}
	credit := naming("orgId", w.orgID).with(object{"amount": 250, "currency": "USD", "note": "thanks", "reference": "wire 1"})
	return map[string]func() request{
		"getOrganization":           func() request { return naming("id", w.orgID) },
		"listWallets":               w.ours,
		"listWalletsOfOrganization": func() request { return naming("orgId", w.orgID) },
		"listWalletEntries": func() request {
			w.root.own("POST", "/admin/wallets/"+w.orgID+"/credit", credit.body).is(201, "")
			r := w.ours()
			r.params = map[string]string{"currency": "USD"}
			return r
		},
		"creditWallet": func() request { return credit },
		"drainNode":    func() request { return request{} },
		"listMembers":  func() request { return naming("id", w.orgID) },
		"addMember": func() request {
			return naming("id", w.orgID).with(object{"email": w.email(), "role": "member", "name": "Kim"})
		},
		"updateMember": func() request { return member().with(object{"role": "admin"}) },
		"removeMember": member,
		"createAPIKey": func() request { return naming("orgId", w.orgID).with(with(fields, object{"environment": "test"})) },
		"listAPIKeys":  func() request { return naming("orgId", w.orgID) },
		"updateAPIKey": func() request { return key().with(with(fields, object{"status": "active"})) },
		"revokeAPIKey": key,
		"rotateAPIKey": key,
		"limitAPIKey": func() request {
			r := key().with(object{"strictPerMinute": 60})
			delete(r.params, "orgId")
			return r
		},
	}
}

// fullEvent is an event's body with every optional field.
func fullEvent() object {
	return with(eventBody(), object{
		"subcategory": "a", "shortDesc": "b", "description": text(50), "tags": []string{"x"}, "capacity": 500, "doorOpenTime": stamp(23 * time.Hour),
		"venueName": "a", "venueAddress": "b", "venueCity": "c", "venueCountry": "DE", "venueLat": 1.5, "venueLng": 2.5,
		"onlineLink": uri(30), "onlineLinkNote": "PIN 1", "returnPolicy": "none", "highlightVideoUrl": "https://vimeo.com/1", "coverImage": uri(32), "coverVideo": uri(33),
		"gallery": []string{uri(30)}, "branding": object{"accent": "red", "requireIdCheck": true}, "seoData": object{"title": "t"},
		"velocity": object{"ordersPerBuyer": 1000, "ordersPerAddress": 1000, "openOrdersPerBuyer": 1000, "presaleTries": 1000, "paymentAttempts": 1000},
		"entities": entity(object{"role": "r", "imageUrl": uri(34), "bio": "b", "setTime": "22:00", "link": uri(35)}),
	})
}

func fullType() object {
	return with(typeBody(25, 100), object{
		"refundable": true, "refundDeadline": stamp(time.Hour), "presaleCode": "abc", "accessUrl": "/media/1", "accessNote": "PIN 2", "description": "d",
	})
}

// eventRequests are those around events and what they sell.
func (w *world) eventRequests() map[string]func() request {
	ours := w.ours()
	event := func() request { return naming("id", w.draft(nil)) }
	sold := func() (event, ticketType string) {
		event, types := w.sell(fullEvent(), fullType())
		return event, types[0]
	}
	return map[string]func() request{
		"discoverEvents": func() request { return request{} },
		"getEventPage": func() request {
			event, _ := sold()
			r := naming("slug", w.own("PUT", "/organizer/events/"+event, object{}).is(200, "").str("slug"))
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
		"createEvent": func() request {
			return request{body: with(fullEvent(), object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"updateEvent": func() request { return event().with(fullEvent()) },
		"publishEvent": func() request {
			r := event()
			w.own("POST", "/organizer/events/"+r.params["id"]+"/tickets", fullType()).is(201, "")
			return r
		},
		"unpublishEvent": func() request {
			event, _ := sold()
			return naming("id", event)
		},
		"setEventStatus":   func() request { return event().with(object{"status": "review"}) },
		"deleteEvent":      func() request { return event().with(object{"reason": "rain"}) },
		"createTicketType": func() request { return event().with(fullType()) },
		"updateTicketType": func() request {
			event, ticketType := sold()
			return naming("id", event, "ticketTypeId", ticketType).with(with(fullType(), object{"name": "Balcony"}))
		},
	}
}

// venueRequests are those around venue maps.
func (w *world) venueRequests() map[string]func() request {
	body := sampleMap(w.t, "theatre")
	draft := func() request { return naming("id", w.own("POST", venuesPath, body).is(201, "").str("id")) }
	published := func() request {
		r := draft()
		w.own("POST", venuesPath+"/"+r.params["id"]+"/publish", nil).is(200, "")
		return r
	}
	return map[string]func() request{
		"listVenues": func() request {
			published()
			return w.ours()
		},
		"createVenue": func() request {
			return request{body: with(body, object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"getVenue":     published,
		"updateVenue":  func() request { return published().with(with(body, object{"name": "Great hall"})) },
		"publishVenue": draft,
	}
}

// seatRequests are those around an event's seats.
func (w *world) seatRequests() map[string]func() request {
	const buyer = "suite-holder"
	withMap := func(event string) (string, string) {
		w.own("PUT", "/organizer/events/"+event+"/seating", object{"venueMapId": w.venueID}).is(200, "")
		return "id", event
	}
	seated := func(param string) (r request, ticketType string) {
		event, types := w.sell(nil, typeBody(25, 100))
		withMap(event)
		w.own("PUT", "/organizer/events/"+event+"/seating/pricing", object{
			"mappings": []object{{"venueSectionId": "stalls", "ticketTypeId": types[0]}},
		}).is(200, "")
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
		return r.with(object{"holder": buyer, "seatIds": []string{"stalls-A-1"}})
	}
	return map[string]func() request{
		"getSeatMap":   shown,
		"listSeats":    shown,
		"watchSeats":   shown,
		"holdSeats":    chosen,
		"releaseSeats": chosen,
		"holdBestSeats": func() request {
			r, ticketType := seated("id")
			r.market = true
			return r.with(object{"holder": buyer, "quantity": 1, "sectionIds": []string{"stalls"}, "ticketTypeId": ticketType, "accessible": false, "adjacent": true})
		},
		"getSeating": func() request {
			r, _ := seated("id")
			return r
		},
		"setSeating": func() request {
			r := naming("id", w.draft(nil)).with(object{"venueMapId": w.venueID, "version": 1, "mode": "ga_mixed", "holdTtlSeconds": 60})
			r.ids = map[string]string{"venueMapId": kindVenue}
			return r
		},
		"removeSeating": func() request { return naming(withMap(w.draft(nil))) },
		"priceSeating": func() request {
			event := w.draft(nil)
			ticketType := w.own("POST", "/organizer/events/"+event+"/tickets", typeBody(5, 5)).is(201, "").str("id")
			return naming(withMap(event)).with(object{"mappings": []object{{"venueSectionId": "circle", "ticketTypeId": ticketType}}})
		},
		"blockSeats": func() request {
			return naming(withMap(w.draft(nil))).with(object{"block": []string{"stalls-B-1"}, "unblock": []string{"stalls-B-2"}})
		},
	}
}

// orderRequests are those of buyers, and of gates.
func (w *world) orderRequests() map[string]func() request {
	pending := func(param string) request {
		id, token := w.place(w.email(), w.paid, 1)
		r := naming(param, id)
		r.token = token
		return r
	}
	paid := func(param string) request {
		r := pending(param)
		w.settle(w.checkout(r.params[param], r.token), "success")
		w.verify(r.params[param], r.token).is(200, "")
		return r
	}
	scan := func() request {
		code := w.call("POST", "/orders", orderBody(w.email(), w.free, 1)).is(201, "").str("tickets.0.code")
		return request{
			body: object{"eventId": w.eventID, "qrData": code, "gateName": "North", "deviceId": "d", "method": "nfc", "geoLat": 1.5, "geoLng": 2},
			ids:  map[string]string{"eventId": kindEvent},
		}
	}
	return map[string]func() request{
		"placeOrder": func() request {
			lines := []object{{"ticketTypeId": w.free, "quantity": 1, "attendeeName": "Ada", "attendeeEmail": "ada@example.org"}}
			return request{}.with(with(orderBody(w.email(), w.free, 1), object{"items": lines, "guestName": "Ada", "presaleCode": "x"}))
		},
		"getOrder":    func() request { return paid("id") },
		"payOrder":    func() request { return pending("id").with(object{"provider": "paystack"}) },
		"cancelOrder": func() request { return pending("id").with(object{}) },
		"verifyPayment": func() request {
			id, token := w.place(w.email(), w.paid, 1)
			return request{body: object{"orderId": id}, ids: map[string]string{"orderId": kindOrder}, token: token}
		},
		"getPayment": func() request { return paid("orderId") },
		"scanTicket": scan,
		"getGateStats": func() request {
			w.own("POST", "/checkin/scan", scan().body).is(200, "")
			return naming("id", w.eventID)
		},
	}
}

// webhookRequests are those that manage what the world is told.
func (w *world) webhookRequests() map[string]func() request {
	endpoint := func() request { return naming("id", w.webhook()) }
	fields := object{"url": silent, "events": []string{"order.failed", "event.completed"}, "name": "Books"}
	return map[string]func() request{
		"createWebhook": func() request {
			w.roomForWebhooks()
			return request{body: with(fields, object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"listWebhooks":        w.ours,
		"updateWebhook":       func() request { return endpoint().with(with(fields, object{"status": "active"})) },
		"deleteWebhook":       endpoint,
		"testWebhook":         endpoint,
		"rotateWebhookSecret": endpoint,
		"listWebhookDeliveries": func() request {
			r := endpoint()
			w.sent(r.params["id"])
			return r
		},
		"replayWebhookDelivery": func() request { return naming("id", w.sent(w.webhook())) },
	}
}

// The kinds of things that requests name.
const (
	kindOrg      = "organization"
	kindEvent    = "event"
	kindSlug     = "slug"
	kindType     = "ticket type"
	kindOrder    = "order"
	kindKey      = "API key"
	kindUser     = "user"
	kindCurrency = "currency"
	kindVenue    = "venue map"
	kindWebhook  = "webhook endpoint"
	kindDelivery = "webhook delivery"
)

// kindOf is what a path parameter names.
func kindOf(t testing.TB, op *route.Op, param string) string {
	t.Helper()
	if kind, ok := map[string]string{"orgId": kindOrg, "keyId": kindKey, "userId": kindUser, "ticketTypeId": kindType, "orderId": kindOrder, "slug": kindSlug, "currency": kindCurrency}[param]; ok {
		return kind
	}
	for part, kind := range map[string]string{"/organizations/": kindOrg, "/orders/": kindOrder, "/events/": kindEvent, "/event/": kindEvent, "/venues/": kindVenue, "/webhooks/": kindWebhook, "/deliveries/": kindDelivery} {
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
			w.becomes("true", func() string {
				return fmt.Sprint(len(w.own("GET", factsPath+"?"+r.query, nil).is(200, "").data("items").([]any)) == 1)
			})
			return r
		},
		"listFactTypes": func() request { return request{} },
	}
}
