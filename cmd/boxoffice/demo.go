package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/venuemap"
)

// demoEmail is the account of the demo organization.
const demoEmail = "demo@example.org"

// demo is what a new private node has on sale, so that there is something to
// look at. It is made through the API, as any organizer would.
type demo struct {
	url      string // of the API
	token    string
	password string
	event    string // address of an event's record
	seats    string // and of the seats of another, as a path of the node
}

// makeDemo makes the demo organization on a database without accounts, and
// returns nil on one with.
func makeDemo(ctx context.Context, url string) (*demo, error) {
	d := &demo{url: url, password: rand.Text()[:12]}
	var session struct{ AccessToken string }
	err := d.send(ctx, http.MethodPost, "/auth/register", fields{
		"email": demoEmail, "password": d.password, "organizationName": "Demo Hall",
	}, &session)
	var refused *demoRefusal
	if errors.As(err, &refused) && refused.status == http.StatusConflict {
		return nil, nil //nolint:nilnil // there is one already
	}
	if err != nil {
		return nil, err
	}
	d.token = session.AccessToken
	slug, err := d.sell(ctx, "Opening Night", nil,
		fields{"name": "Floor", "type": "general", "price": 35, "quantityTotal": 1500},
		fields{"name": "Students", "type": "free", "price": 0, "quantityTotal": 500, "maxPerCustomer": 1},
	)
	if err != nil {
		return nil, err
	}
	d.event = url + "/events/" + slug
	slug, err = d.sell(ctx, "The Tempest", d.seat,
		fields{"name": "Stalls", "type": "reserved", "price": 50, "quantityTotal": 1}, // the seats say how many
		fields{"name": "Circle", "type": "reserved", "price": 25, "quantityTotal": 1},
	)
	d.seats = "/e/" + slug + "/seats"
	return d, err
}

// sell puts an event on sale. seat, if there is one, seats it by its ticket types.
func (d *demo) sell(ctx context.Context, title string, seat func(ctx context.Context, event string, types []string) error, types ...fields) (slug string, err error) {
	day := func(n int) string { return time.Now().AddDate(0, 0, n).UTC().Format(time.RFC3339) }
	var event struct{ ID, Slug string }
	if err := d.send(ctx, http.MethodPost, "/organizer/events", fields{
		"title": title, "category": "concerts", "timezone": "UTC", "venueType": "physical", "venueName": "Demo Hall",
		"startDate": day(30), "endDate": day(31), "capacity": 2000,
	}, &event); err != nil {
		return "", err
	}
	path := "/organizer/events/" + event.ID
	ids := make([]string, len(types))
	for i, t := range types {
		t["saleStart"], t["saleEnd"] = day(-1), day(30)
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

// seat seats an event in a theatre, of which the circle is the second ticket type.
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

// demoRefusal is an answer other than success.
type demoRefusal struct {
	status int
	path   string
}

// Error names the request that was refused.
func (r *demoRefusal) Error() string { return fmt.Sprintf("demo: %s answered %d", r.path, r.status) }

// fields are a request's body.
type fields = map[string]any

// demoPatience is for how long the demo repeats a request that is answered 503: a
// machine that has much else to do is slow at hashing its password.
const demoPatience = time.Minute

// send sends a request, again while the node has no time for it, and reads what stands
// under data.
func (d *demo) send(ctx context.Context, method, path string, body, data any) error {
	key, until := uuid.NewString(), time.Now().Add(demoPatience)
	for {
		err := d.sendOnce(ctx, key, method, path, body, data)
		var refused *demoRefusal
		if !errors.As(err, &refused) || refused.status != http.StatusServiceUnavailable || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return err
		}
	}
}

func (d *demo) sendOnce(ctx context.Context, key, method, path string, body, data any) error {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, d.url+path, &b)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	req.Header.Set("Idempotency-Key", key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.token != "" {
		req.Header.Set("Authorization", "Bearer "+d.token)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // it has been read
	if res.StatusCode >= http.StatusMultipleChoices {
		return &demoRefusal{res.StatusCode, method + " " + path}
	}
	if data == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(&struct{ Data any }{data})
}
