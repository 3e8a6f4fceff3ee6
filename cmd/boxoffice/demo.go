package main

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"time"

	"boxoffice/edge/venuemap"
)

// demoEmail is the address of the demo organization's account.
const demoEmail = "demo@example.org"

// demo is what a new private node has on sale, so that somebody who tries the program has something
// to look at. It is made through the API, as any organizer would do it.
type demo struct {
	*apiClient
	password string // the password of the demo account, which is drawn and printed once
	event    string // the address of an event's record in the API
	seats    string // the path of the page with the seats of another event
}

// makeDemo makes the demo organization in a database that does not have it. It returns nil if the account exists, or
// if the node answers 503 for a minute, as it does while its disk is full.
func makeDemo(ctx context.Context, url string) (*demo, error) {
	d := &demo{apiClient: &apiClient{url: url}, password: rand.Text()[:12]}
	var session struct{ AccessToken string }
	err := d.send(ctx, http.MethodPost, "/auth/register", fields{
		// Registering comes first: of several starts, and of several nodes, only one gets the
		// address.
		"email": demoEmail, "password": d.password, "organizationName": "Demo Hall",
	}, &session)
	var refused *apiRefusal
	if errors.As(err, &refused) && (refused.status == http.StatusConflict || refused.status == http.StatusServiceUnavailable) {
		return nil, nil //nolint:nilnil // there is one already, or no room for one
	}
	if err != nil {
		return nil, err
	}
	d.bearer = session.AccessToken
	// The shows come one after another. An error ends the making, and what is on sale by then stays.
	for i := range shows {
		slug, err := d.putOnSale(ctx, &shows[i])
		if err != nil {
			return nil, err
		}
		if shows[i].kind == standing {
			d.event = url + "/events/" + slug
		}
		if shows[i].kind == seated {
			d.seats = "/e/" + slug + "/seats"
		}
	}
	return d, nil
}

// putOnSale puts a show on sale by the steps that an organizer takes. It then does what the show's
// kind demands: it sells the show out or cancels it.
func (d *demo) putOnSale(ctx context.Context, s *show) (slug string, err error) {
	body, saleEnd := s.describe(time.Now())
	// The file comes before the event, whose record names its address.
	if s.kind == file {
		book, err := d.upload(ctx, "/media/upload-file", "programme.txt", programme)
		if err != nil {
			return "", err
		}
		body["onlineLink"] = book
	}
	var event struct{ ID, Slug string }
	if err := d.send(ctx, http.MethodPost, "/organizer/events", body, &event); err != nil {
		return "", err
	}
	path := "/organizer/events/" + event.ID
	ids := make([]string, len(s.types))
	for i, t := range s.types {
		t = maps.Clone(t)
		// The sale must have begun by now, or nobody could try to buy.
		t["saleStart"], t["saleEnd"] = formatMoment(time.Now().AddDate(0, 0, -1)), formatMoment(saleEnd)
		var ticketType struct{ ID string }
		if err := d.send(ctx, http.MethodPost, path+"/tickets", t, &ticketType); err != nil {
			return "", err
		}
		ids[i] = ticketType.ID
	}
	// The seats come before publishing, so that the event is never on sale without them.
	if s.kind == seated {
		if err := d.seatEvent(ctx, path, ids); err != nil {
			return "", err
		}
	}
	if err := d.send(ctx, http.MethodPost, path+"/publish", nil, nil); err != nil {
		return "", err
	}
	// The only order takes all tickets. It needs no account, so it is sent without the organizer's
	// credential.
	if s.kind == soldOut {
		err = (&apiClient{url: d.url}).send(ctx, http.MethodPost, "/orders", fields{
			"guestEmail": "first@example.org", "items": []fields{{"ticketTypeId": ids[0], "quantity": s.types[0]["quantityTotal"]}},
		}, nil)
	}
	if s.kind == cancelled {
		err = d.send(ctx, http.MethodDelete, path, fields{"reason": "The singer has lost her voice. She will be well, and back in spring."}, nil)
	}
	return event.Slug, err
}

// seatEvent places the seats of a sample theatre in an event. The section called circle is sold as
// the second ticket type, and all other sections as the first.
func (d *demo) seatEvent(ctx context.Context, event string, types []string) error {
	theatre := venuemap.Theatre()
	var venue struct{ ID string }
	if err := d.send(ctx, http.MethodPost, "/organizer/venues", theatre, &venue); err != nil {
		return err
	}
	if err := d.send(ctx, http.MethodPost, "/organizer/venues/"+venue.ID+"/publish", nil, nil); err != nil {
		return err
	}
	if err := d.send(ctx, http.MethodPut, event+"/seating", fields{"venueMapId": venue.ID}, nil); err != nil {
		return err
	}
	mappings := make([]fields, len(theatre.Sections))
	for i, s := range theatre.Sections {
		as := types[0]
		if s.ID == "circle" {
			as = types[1]
		}
		mappings[i] = fields{"venueSectionId": s.ID, "ticketTypeId": as}
	}
	return d.send(ctx, http.MethodPut, event+"/seating/pricing", fields{"mappings": mappings}, nil)
}
