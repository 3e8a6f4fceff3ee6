package rush

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
)

// These are the caps of every ticket type that buyers are after.
const (
	MaxPerOrder    = 4
	MaxPerCustomer = 6
)

// ticketPrice is what a paid ticket costs, in the sale's currency.
const ticketPrice = 2500

// Organizer is an account of the harness that puts events on sale by the public API.
type Organizer struct {
	svc          client.API
	from         *client.Source
	Email        string
	Password     string
	Organization string // number of the organization
	Bearer       string // access token, or API key
}

// SaleType is one ticket type to put on sale.
type SaleType struct {
	ID             string // set by OpenSale
	Name           string
	Quantity       int
	Free           bool
	MaxPerOrder    int
	MaxPerCustomer int
}

// Sale is an event on sale.
type Sale struct {
	EventID string
	Slug    string
	Types   []SaleType

	Starts time.Time
}

// Register opens an organizer's account.
func Register(ctx context.Context, svc client.API, from *client.Source) (*Organizer, error) {
	var session struct {
		AccessToken string `json:"accessToken"`
		User        struct {
			Organizations []struct {
				ID string `json:"id"`
			} `json:"organizations"`
		} `json:"user"`
	}
	o := &Organizer{svc: svc, from: from, Email: "organizer-" + uuid.NewString() + "@load.test", Password: uuid.NewString()}
	register := map[string]string{
		"email": o.Email, "password": o.Password,
		"firstName": "Load", "lastName": "Test", "organizationName": "Load Test",
	}
	a := o.sendUntilAnswered(ctx, "POST", "/auth/register", register, &session)
	err := setUpError("POST", "/auth/register", a)
	if a.Code == "EMAIL_TAKEN" { // by an earlier try, whose answer was lost: nobody else has the address
		err = o.Post(ctx, "/auth/login", map[string]string{"email": o.Email, "password": o.Password}, &session)
	}
	o.Bearer = session.AccessToken
	// A new account has one organization.
	for _, org := range session.User.Organizations {
		o.Organization = org.ID
	}
	return o, err
}

// UseKey makes an API key and uses it from then on, because an access token ends during a long run.
func (o *Organizer) UseKey(ctx context.Context) error {
	var key struct {
		Secret string `json:"secret"`
	}
	err := o.Post(ctx, "/organizer/integrations/org/"+url.PathEscape(o.Organization)+"/api-keys", map[string]string{
		"name": "Load test", "environment": "test",
	}, &key)
	if err == nil {
		o.Bearer = key.Secret
	}
	return err
}

// OpenSale publishes an event with ticket types that are on sale at once.
func (o *Organizer) OpenSale(ctx context.Context, types []SaleType) (*Sale, error) {
	// The event is far enough ahead that nothing about it ends during a run.
	start := time.Now().Add(30 * 24 * time.Hour).UTC().Truncate(time.Hour)
	var event struct {
		ID   string `json:"id"`
		Slug string `json:"slug"`
	}
	if err := o.Post(ctx, "/organizer/events", map[string]any{
		"title": "Load test on-sale", "category": "concerts", "venueType": "physical", "timezone": "Africa/Lagos",
		"startDate": start.Format(time.RFC3339), "endDate": start.Add(4 * time.Hour).Format(time.RFC3339),
		"currency": "NGN", "venueName": "Test Hall", "venueCity": "Lagos", "venueCountry": "NG",
	}, &event); err != nil {
		return nil, err
	}
	s := &Sale{EventID: event.ID, Slug: event.Slug, Starts: start}
	path := "/organizer/events/" + url.PathEscape(event.ID)
	for _, t := range types {
		var made TicketType
		if err := o.Post(ctx, path+"/tickets", t.Request(start), &made); err != nil {
			return nil, err
		}
		t.ID = made.ID
		s.Types = append(s.Types, t)
	}
	return s, o.Post(ctx, path+"/publish", nil, nil)
}

// Request returns the body of the request that puts the type on sale from now until a time.
func (t *SaleType) Request(until time.Time) map[string]any {
	kind, price := "general", ticketPrice
	if t.Free {
		kind, price = "free", 0
	}
	return map[string]any{
		"name": t.Name, "type": kind, "price": price, "quantityTotal": t.Quantity,
		"saleStart":   time.Now().Add(-time.Hour).UTC().Format(time.RFC3339),
		"saleEnd":     until.Format(time.RFC3339),
		"maxPerOrder": t.MaxPerOrder, "maxPerCustomer": t.MaxPerCustomer,
	}
}

// Post sends one request of the set-up and repeats it while it has no definite answer. Every answer
// but success is an error.
func (o *Organizer) Post(ctx context.Context, path string, body, out any) error {
	return o.Send(ctx, "POST", path, body, out)
}

// Send is Post with any method.
func (o *Organizer) Send(ctx context.Context, method, path string, body, out any) error {
	return setUpError(method, path, o.sendUntilAnswered(ctx, method, path, body, out))
}

// setUpError returns nil if a request of the set-up was carried out.
func setUpError(method, path string, a client.Answer) error {
	if a.OK() {
		return nil
	}
	return fmt.Errorf("set up: %s %s: %w", method, path, a.Err())
}

// sendUntilAnswered sends a request until it has a definite answer, and returns that. All tries have the same key.
func (o *Organizer) sendUntilAnswered(ctx context.Context, method, path string, body, out any) client.Answer {
	c := client.Call{Method: method, Path: path, Bearer: o.Bearer, Key: uuid.NewString()}
	if body != nil {
		c.Body = Encode(body)
	}
	for deadline := time.Now().Add(setUpTime); ; {
		a := o.svc.Do(ctx, o.from, c, out)
		if !a.Unsettled() || time.Now().After(deadline) || ctx.Err() != nil {
			return a
		}
		rig.Wait(ctx, max(a.RetryAfter, FirstPause))
	}
}

// setUpTime bounds how long one request of the set-up is repeated.
const setUpTime = 2 * time.Minute

// planTypes divides the tickets of a rush among its types. Every second type is free.
func planTypes(cfg *Config) []SaleType {
	var types []SaleType
	each := cfg.Tickets / cfg.Types
	for i := range cfg.Types {
		t := SaleType{
			Name: fmt.Sprintf("Tier %d", i+1), Quantity: each, Free: i%2 == 1,
			MaxPerOrder: MaxPerOrder, MaxPerCustomer: MaxPerCustomer,
		}
		// The first type gets what the division leaves over.
		if i == 0 {
			t.Quantity += cfg.Tickets - each*cfg.Types
		}
		types = append(types, t)
	}
	return types
}

// pickItems draws what a buyer wants: usually one line, sometimes two.
func pickItems(rng *rand.Rand, types []SaleType) []Item {
	lines := 1
	if len(types) > 1 && rng.IntN(10) == 0 {
		lines = 2
	}
	first := rng.IntN(len(types))
	var items []Item
	for i := range lines {
		t := types[(first+i)%len(types)]
		items = append(items, Item{TicketTypeID: t.ID, Quantity: 1 + rng.IntN(t.MaxPerOrder)})
	}
	return items
}

// LogIn opens another session, because a run may be longer than an access token lives.
func (o *Organizer) LogIn(ctx context.Context) error {
	var session struct {
		AccessToken string `json:"accessToken"`
	}
	err := o.Post(ctx, "/auth/login", map[string]string{"email": o.Email, "password": o.Password}, &session)
	if err == nil {
		o.Bearer = session.AccessToken
	}
	return err
}
