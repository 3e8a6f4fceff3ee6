package server_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// A small route table with an operation of every sort.

type (
	placeOrder struct {
		Items      []line `json:"items" required:"true" minItems:"1" maxItems:"20"`
		GuestEmail string `json:"guestEmail" format:"email" example:"ada@example.org"`
		GuestName  string `json:"guestName" format:"name" maxLength:"200"`
		PromoCode  string `json:"promoCode" maxLength:"50"`
		Presale    string `json:"presaleCode" maxLength:"50"`
	}
	line struct {
		TicketTypeID string   `json:"ticketTypeId" required:"true" format:"uuid"`
		Quantity     int      `json:"quantity" required:"true" minimum:"1" maximum:"100"`
		SeatIDs      []string `json:"venueSeatIds" maxItems:"100" maxLength:"80"`
		Date         string   `json:"reservationDate" format:"date"`
		Name         string   `json:"attendeeName" format:"name" maxLength:"200"`
		Email        string   `json:"attendeeEmail" format:"email"`
	}
	order struct {
		ID          string      `json:"id"`
		Number      string      `json:"orderNumber"`
		Status      string      `json:"status"`
		Currency    string      `json:"currency"`
		Total       route.Money `json:"total"`
		Items       []orderLine `json:"items"`
		ExpiresAt   time.Time   `json:"expiresAt"`
		AccessToken string      `json:"accessToken"`
	}
	orderLine struct {
		TicketTypeID string      `json:"ticketTypeId"`
		Quantity     int         `json:"quantity"`
		UnitPrice    route.Money `json:"unitPrice"`
	}
	byID struct {
		ID string `path:"id" format:"id" maxLength:"128"`
	}
	patch struct {
		byID
		Title    route.Opt[string]      `json:"title" format:"name" minLength:"1" maxLength:"20" nullable:"false"`
		Price    route.Opt[route.Money] `json:"price" minimum:"0" maximum:"1000000"`
		Tags     route.Opt[[]string]    `json:"tags" maxItems:"2" maxLength:"5"`
		SaleEnd  *time.Time             `json:"saleEnd"`
		Position int64                  `json:"position" minimum:"0" maximum:"1000" default:"3"`
	}
	page struct {
		Limit  int      `query:"limit" minimum:"1" maximum:"100" default:"20"`
		Cursor string   `query:"cursor" maxLength:"200"`
		Status []string `query:"status" maxItems:"5" enum:"draft,on_sale"`
	}
	seen struct {
		Path        string `json:"path"`
		Client      string `json:"client"`
		Principal   string `json:"principal"`
		Kind        string `json:"kind"`
		Key         string `json:"key"`
		Hash        string `json:"hash"`
		HasDeadline bool   `json:"hasDeadline"`
	}
	text struct {
		Text string `json:"text" required:"true" maxLength:"500"`
	}
)

// self answers with JSON of its own.
type self struct{}

func (self) AppendJSON(b []byte) []byte { return append(b, `{"by":"hand"}`...) }

func place(c *route.Call, in *placeOrder) (*order, error) {
	o := &order{ID: "0190b6c1-0000-8000-8000-000000000009", Number: "B-1", Status: "pending", Currency: "EUR", ExpiresAt: c.Now, AccessToken: "0123456789abcdef"}
	for _, l := range in.Items {
		o.Items = append(o.Items, orderLine{l.TicketTypeID, l.Quantity, 12500})
		o.Total += route.Money(l.Quantity) * 12500
	}
	return o, nil
}

// look answers with the call itself.
func look(c *route.Call, in *byID) (seen, error) {
	_, deadline := c.Context.Deadline()
	return seen{
		Path: in.ID, Client: c.Client.String(), Principal: c.Principal.Email + c.Principal.Token, Kind: c.Principal.Kinds.String(),
		Key: c.IdempotencyKey, Hash: fmt.Sprintf("%x", c.BodyHash()), HasDeadline: deadline,
	}, nil
}

// fail fails in the way that the id names.
func fail(c *route.Call, in *byID) (route.None, error) {
	c.SetHeader("X-Not-Sent", "1")
	switch in.ID {
	case "panic":
		panic("a test's panic")
	case "soldout":
		return route.None{}, fmt.Errorf("wrapped: %w", engine.Refuse(engine.TicketSoldOut, map[string]int{"available": 1, "requested": 2}))
	case "deadline":
		<-c.Context.Done()
		return route.None{}, fmt.Errorf("ask: %w", c.Context.Err())
	case "nil":
		return route.None{}, (*engine.Refusal)(nil)
	case "unknown":
		return route.None{}, engine.Refuse("NO_SUCH_CODE", nil)
	case "details":
		return route.None{}, engine.Refuse(engine.Conflict, func() {})
	case "inflight":
		return route.None{}, engine.Refuse(engine.IdempotencyInFlight, nil)
	case "limited":
		return route.None{}, engine.Refuse(engine.RateLimited, nil)
	case "provider":
		return route.None{}, engine.Refuse(engine.ProviderMissing, nil)
	}
	return route.None{}, errors.New("a secret detail")
}

func table() []route.Op {
	return []route.Op{
		{
			Method: "POST", Path: "/api/v1/orders", ID: "createOrder", Summary: "Place an order", Tag: "orders",
			Auth: route.Public, Tier: route.TierStrict, Status: 201, Errors: []engine.Code{engine.TicketSoldOut, engine.EventNotFound},
			Idempotency: route.ByActor, Handler: route.Handle(place),
		},
		{
			Method: "GET", Path: "/api/v1/orders/{id}", ID: "getOrder", Summary: "Read an order", Tag: "orders",
			Auth: route.User | route.OrderToken, Tier: route.TierPublic, Status: 200, Errors: []engine.Code{engine.OrderNotFound}, Handler: route.Handle(look),
		},
		{
			Method: "POST", Path: "/api/v1/orders/{id}/pay", ID: "payOrder", Summary: "Pay an order", Tag: "orders",
			Auth: route.Public | route.User, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: []engine.Code{}, Handler: route.Handle(look),
		},
		{
			Method: "GET", Path: "/api/v1/events", ID: "listEvents", Summary: "List events", Tag: "events",
			Auth: route.Public, Tier: route.TierPublic, Status: 200, Errors: []engine.Code{},
			Handler: route.Handle(func(c *route.Call, in *page) (*page, error) {
				c.SetHeader("Cache-Control", "public, max-age=1")
				return in, nil
			}),
		},
		{
			Method: "PATCH", Path: "/api/v1/organizer/events/{id}", ID: "patchEvent", Summary: "Change an event", Tag: "events",
			Auth: route.User, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: []engine.Code{engine.InvalidTransition},
			Handler: route.Handle(func(_ *route.Call, in *patch) (*orderLine, error) {
				return &orderLine{TicketTypeID: in.Title.Value, UnitPrice: in.Price.Value, Quantity: int(in.Position)}, nil
			}),
		},
		{
			Method: "POST", Path: "/api/v1/echo", ID: "echo", Summary: "Echo a text", Tag: "tests", Auth: route.Public, Tier: route.TierPublic, Idempotency: route.Replay, Status: 200, Errors: []engine.Code{}, MaxBody: 2000,
			Handler: route.Handle(func(_ *route.Call, in *text) (*text, error) { return in, nil }),
		},
		{
			Method: "POST", Path: "/api/v1/import/{id}", ID: "importTexts", Summary: "Import", Tag: "tests", Auth: route.Public, Tier: route.TierPublic, Idempotency: route.Replay, Status: 200, Errors: []engine.Code{}, MaxBody: 1 << 20,
			Handler: route.Handle(func(_ *route.Call, in *struct {
				byID
				text
			},
			) (*text, error) {
				return &in.text, nil
			}),
		},
		{
			Method: "DELETE", Path: "/api/v1/fail/{id}", ID: "fail", Summary: "Fail", Tag: "tests", Auth: route.Public, Tier: route.TierPublic, Idempotency: route.Replay, Status: 204, Errors: []engine.Code{},
			Timeout: 20 * time.Millisecond, Handler: route.Handle(fail),
		},
		{
			Method: "GET", Path: "/api/v1/hand", ID: "byHand", Summary: "Answer by hand", Tag: "tests", Auth: route.Public, Tier: route.TierPublic, Status: 200, Errors: []engine.Code{},
			Handler: route.Handle(func(*route.Call, *route.None) (self, error) { return self{}, nil }),
		},
	}
}

// authenticate knows one user and any order token.
func authenticate(_ context.Context, c route.Credentials) (route.Principal, error) {
	switch {
	case c.Bearer == "ada":
		return route.Principal{Kinds: route.User, User: 1, Email: "ada", EmailProven: true}, nil
	case c.Bearer == "" && c.Token != "":
		return route.Principal{Kinds: route.OrderToken, Token: c.Token}, nil
	}
	return route.Principal{}, engine.Refuse(engine.Unauthorized, nil)
}

const orderBody = `{"items":[{"ticketTypeId":"0190b6c1-0000-8000-8000-000000000007","quantity":2,"attendeeName":"Ada Lovelace",` +
	`"attendeeEmail":"ada@example.org"}],"guestEmail":"ada@example.org","guestName":"Ada Lovelace","promoCode":"EARLY"}`
