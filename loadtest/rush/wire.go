package rush

import (
	"encoding/json"
	"time"
)

// These are the parts of the API's records that the harness reads and writes. They are small, so
// that they cost the generator little. They are not the types of edge/api, so that a field which
// the service renames by mistake is missed here.

type (
	// HoldSeats is the body of POST .../seats/hold, and of DELETE without seats.
	HoldSeats struct {
		Holder  string   `json:"holder"`
		SeatIDs []string `json:"seatIds,omitempty"`
	}
	// BestSeats is the body of POST .../seats/best-available.
	BestSeats struct {
		Holder       string `json:"holder"`
		Quantity     int    `json:"quantity"`
		TicketTypeID string `json:"ticketTypeId"`
		Adjacent     bool   `json:"adjacent"`
	}
	// Selection is what a shopper holds, and which seats it did not get, and why.
	Selection struct {
		Held      []string          `json:"held"`
		Failed    []string          `json:"failed"`
		Reasons   map[string]string `json:"reasons"`
		ExpiresAt time.Time         `json:"expiresAt"`
	}
)

type (
	// Order is as much of an order as the harness reads.
	Order struct {
		ID          string   `json:"id"`
		OrderNumber string   `json:"orderNumber"`
		Status      string   `json:"status"`
		Currency    string   `json:"currency"`
		Total       string   `json:"total"`
		AccessToken string   `json:"accessToken"`
		Items       []Item   `json:"items"`
		Tickets     []ticket `json:"tickets"`
		Payments    []struct {
			Reference string `json:"reference"`
		} `json:"payments"`
	}
	// Item is a line of an order.
	Item struct {
		TicketTypeID string   `json:"ticketTypeId"`
		Quantity     int      `json:"quantity"`
		VenueSeatIDs []string `json:"venueSeatIds,omitempty"`
	}
	ticket struct {
		ID           string `json:"id"`
		Code         string `json:"code"`
		ShortCode    string `json:"shortCode"`
		TicketTypeID string `json:"ticketTypeId"`
	}
	// TicketType is as much of a ticket type as the harness reads.
	TicketType struct {
		ID            string `json:"id"`
		QuantityTotal int    `json:"quantityTotal"`
		Available     *int   `json:"available"` // nil: there is no limit
	}
	ticketTypes struct {
		Items []TicketType `json:"items"`
	}
	payAt struct {
		AuthorizationURL string `json:"authorizationUrl"`
	}
)

// Order statuses that the harness knows.
const (
	Pending        = "pending"
	processing     = "processing"
	Completed      = "completed"
	Cancelled      = "cancelled"
	expired        = "expired"
	failed         = "failed"
	refunded       = "refunded"
	partlyRefunded = "partially_refunded"
)

// PlaceOrder is the body of POST /orders.
type PlaceOrder struct {
	Items      []Item `json:"items"`
	GuestEmail string `json:"guestEmail"`
	GuestName  string `json:"guestName"`
	Holder     string `json:"holder,omitempty"` // names the selection whose seats are ordered
}

// Encode returns the JSON of a request's body. It panics for what can't be encoded, which none of the harness's own
// structs is.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
