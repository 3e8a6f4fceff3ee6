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
)

// demoEmail is the account of the demo organization.
const demoEmail = "demo@example.org"

// demo is what a new private node has on sale, so that there is something to
// look at. It is made through the API, as any organizer would.
type demo struct {
	url      string // of the API
	token    string
	password string
	page     string // the event's address
}

// makeDemo makes the demo organization on a database without accounts, and
// returns nil on one with.
func makeDemo(ctx context.Context, url string) (*demo, error) {
	d := &demo{url: url, password: rand.Text()[:12]}
	var session struct{ AccessToken string }
	err := d.post(ctx, "/auth/register", map[string]any{
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
	day := func(n int) string { return time.Now().AddDate(0, 0, n).UTC().Format(time.RFC3339) }
	var event struct{ ID, Slug string }
	if err := d.post(ctx, "/organizer/events", map[string]any{
		"title": "Opening Night", "category": "concerts", "timezone": "UTC", "venueType": "physical", "venueName": "Demo Hall",
		"startDate": day(30), "endDate": day(31), "capacity": 2000,
	}, &event); err != nil {
		return nil, err
	}
	for _, t := range []map[string]any{
		{"name": "Stalls", "type": "general", "price": 35, "quantityTotal": 1500},
		{"name": "Students", "type": "free", "price": 0, "quantityTotal": 500, "maxPerCustomer": 1},
	} {
		t["saleStart"], t["saleEnd"] = day(-1), day(30)
		if err := d.post(ctx, "/organizer/events/"+event.ID+"/tickets", t, nil); err != nil {
			return nil, err
		}
	}
	d.page = url + "/events/" + event.Slug
	return d, d.post(ctx, "/organizer/events/"+event.ID+"/publish", nil, nil)
}

// demoRefusal is an answer other than success.
type demoRefusal struct {
	status int
	path   string
}

// Error names the request that was refused.
func (r *demoRefusal) Error() string { return fmt.Sprintf("demo: %s answered %d", r.path, r.status) }

// post sends a request and reads what stands under data.
func (d *demo) post(ctx context.Context, path string, body, data any) error {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+path, &b)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
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
		return &demoRefusal{res.StatusCode, path}
	}
	if data == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(&struct{ Data any }{data})
}
