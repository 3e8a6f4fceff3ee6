package loadtest

import "encoding/json"

// The parts of the API's records that the harness reads and writes: small, so
// that they cost the generator little, and of its own, so that a field that the
// service renames by mistake is missed here. edge/api has the whole records.
type (
	order struct {
		ID          string   `json:"id"`
		OrderNumber string   `json:"orderNumber"`
		Status      string   `json:"status"`
		Currency    string   `json:"currency"`
		Total       string   `json:"total"`
		AccessToken string   `json:"accessToken"`
		Items       []item   `json:"items"`
		Tickets     []ticket `json:"tickets"`
		Payments    []struct {
			Reference string `json:"reference"`
		} `json:"payments"`
	}
	item struct {
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
	ticketType struct {
		ID            string `json:"id"`
		QuantityTotal int    `json:"quantityTotal"`
		Available     *int   `json:"available"` // nil when unlimited
	}
	ticketTypes struct {
		Items []ticketType `json:"items"`
	}
	payAt struct {
		AuthorizationURL string `json:"authorizationUrl"`
	}
)

// Order statuses that the harness knows.
const (
	pending        = "pending"
	processing     = "processing"
	completed      = "completed"
	cancelled      = "cancelled"
	expired        = "expired"
	failed         = "failed"
	refunded       = "refunded"
	partlyRefunded = "partially_refunded"
)

// placeOrder is the body of POST /orders.
type placeOrder struct {
	Items      []item `json:"items"`
	GuestEmail string `json:"guestEmail"`
	GuestName  string `json:"guestName"`
	Holder     string `json:"holder,omitempty"` // of seats
}

// encode is JSON of a request's body; the harness's own structs always encode.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
