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

// demoEmail is the account of the demo organization.
const demoEmail = "demo@example.org"

// demo is what a new private node has on sale, so that there is something to look at. It is made
// through the API, as any organizer would do it.
type demo struct {
	*apiClient
	password string
	event    string // address of an event's record in the API
	seats    string // path of the page with the seats of another event
}

// shows are what the demo organization has on sale, besides the seats of a theatre.
var shows = []fields{
	{
		"title": "Opening Night", "category": "concerts", "shortDesc": "Three bands, one floor, doors at seven.",
		"description": "The house opens with three bands on one night, and a floor without seats.\n\nThere is a bar, a cloakroom and a step-free way to the front left. Bring the code on your phone: it changes every half minute, so a picture of it does not admit.",
	},
	{
		"title": "Open Rehearsal", "category": "workshops", "shortDesc": "Sit in while the orchestra works. Free, but places are few.",
		"description": "Two hours in which the orchestra takes a symphony apart and puts it together again.\n\nNothing is played through, and much is played twice. Questions are welcome in the break.",
	},
	{
		"title": "The Tempest", "category": "theatre", "shortDesc": "A storm, an island, and all of Shakespeare's forgiveness.",
		"description": "Prospero has waited twelve years for this weather.\n\nA new production in two hours and a half, with one interval. Choose your seats on the map; they are kept for you while you look.",
	},
}

// makeDemo makes the demo organization on a database without accounts. It returns nil if the
// database has accounts, or if the disk is full.
func makeDemo(ctx context.Context, url string) (*demo, error) {
	d := &demo{apiClient: &apiClient{url: url}, password: rand.Text()[:12]}
	var session struct{ AccessToken string }
	err := d.send(ctx, http.MethodPost, "/auth/register", fields{
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
	slug, err := d.sell(ctx, shows[0], 30, nil,
		fields{"name": "Floor", "type": "general", "price": 35, "quantityTotal": 1500},
		fields{"name": "Students", "type": "free", "price": 0, "quantityTotal": 500, "maxPerCustomer": 1},
	)
	if err != nil {
		return nil, err
	}
	d.event = url + "/events/" + slug
	if _, err = d.sell(ctx, shows[1], 12, nil,
		fields{"name": "Listener", "type": "free", "price": 0, "quantityTotal": 60, "maxPerCustomer": 2},
	); err != nil {
		return nil, err
	}
	slug, err = d.sell(ctx, shows[2], 45, d.seat,
		fields{"name": "Stalls", "type": "reserved", "price": 50, "quantityTotal": 1}, // the seats say how many
		fields{"name": "Circle", "type": "reserved", "price": 25, "quantityTotal": 1},
	)
	d.seats = "/e/" + slug + "/seats"
	return d, err
}

// sell puts a show on sale that takes place in so many days. seat, if it is set, seats the show by
// its ticket types.
func (d *demo) sell(ctx context.Context, show fields, away int, seat func(ctx context.Context, event string, types []string) error, types ...fields) (slug string, err error) {
	evening := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, away).Add(19 * time.Hour)
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	about := maps.Clone(show)
	maps.Copy(about, fields{
		"timezone": "UTC", "venueType": "physical", "venueName": "Demo Hall", "venueCity": "Lagos", "venueCountry": "NG",
		"doorOpenTime": at(evening), "startDate": at(evening.Add(time.Hour)), "endDate": at(evening.Add(4 * time.Hour)), "capacity": 2000,
	})
	var event struct{ ID, Slug string }
	if err := d.send(ctx, http.MethodPost, "/organizer/events", about, &event); err != nil {
		return "", err
	}
	path := "/organizer/events/" + event.ID
	ids := make([]string, len(types))
	for i, t := range types {
		t["saleStart"], t["saleEnd"] = at(time.Now().UTC().AddDate(0, 0, -1)), at(evening)
		var ticketType struct{ ID string }
		if err := d.send(ctx, http.MethodPost, path+"/tickets", t, &ticketType); err != nil {
			return "", err
		}
		ids[i] = ticketType.ID
	}
	if seat != nil {
		if err := seat(ctx, path, ids); err != nil {
			return "", err
		}
	}
	return event.Slug, d.send(ctx, http.MethodPost, path+"/publish", nil, nil)
}

// seat seats an event in a theatre. The circle is sold as the second ticket type.
func (d *demo) seat(ctx context.Context, event string, types []string) error {
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
