package route

import (
	"bytes"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A request and an answer in the shape of POST /orders.
type (
	placeOrder struct {
		Items      []line `json:"items" required:"true" minItems:"1" maxItems:"20"`
		GuestEmail string `json:"guestEmail" maxLength:"254" format:"email"`
		GuestName  string `json:"guestName" maxLength:"200"`
		PromoCode  string `json:"promoCode" maxLength:"50"`
		Presale    string `json:"presaleCode" maxLength:"50"`
	}
	line struct {
		TicketTypeID string   `json:"ticketTypeId" required:"true" format:"uuid"`
		Quantity     int      `json:"quantity" required:"true" minimum:"1" maximum:"100"`
		SeatIDs      []string `json:"venueSeatIds" maxItems:"100" maxLength:"80"`
		Date         string   `json:"reservationDate" format:"date"`
		Name         string   `json:"attendeeName" maxLength:"200"`
		Email        string   `json:"attendeeEmail" maxLength:"254" format:"email"`
	}
	order struct {
		ID          string      `json:"id"`
		Number      string      `json:"orderNumber"`
		Status      string      `json:"status"`
		Currency    string      `json:"currency"`
		Total       Money       `json:"total"`
		Items       []orderLine `json:"items"`
		ExpiresAt   time.Time   `json:"expiresAt"`
		AccessToken string      `json:"accessToken"`
	}
	orderLine struct {
		TicketTypeID string `json:"ticketTypeId"`
		Quantity     int    `json:"quantity"`
		UnitPrice    Money  `json:"unitPrice"`
	}
)

const orderBody = `{"items":[{"ticketTypeId":"0190b6c1-0000-8000-8000-000000000007","quantity":2,"attendeeName":"Ada Lovelace",` +
	`"attendeeEmail":"ada@example.org"}],"guestEmail":"ada@example.org","guestName":"Ada Lovelace","promoCode":"EARLY"}`

func placeAnOrder(c *Call, in *placeOrder) (*order, error) {
	o := &order{ID: "0190b6c1-0000-8000-8000-000000000009", Number: "B-1", Status: "pending", Currency: "EUR", ExpiresAt: c.Now, AccessToken: "0123456789abcdef"}
	for _, l := range in.Items {
		o.Items = append(o.Items, orderLine{l.TicketTypeID, l.Quantity, 12500})
		o.Total += Money(l.Quantity) * 12500
	}
	return o, nil
}

// nothing is a request without parameters.
type nothing struct{}

func (nothing) Param(string) (string, bool)  { return "", false }
func (nothing) Query(string) [][]byte        { return nil }
func (nothing) QueryNames() iter.Seq[string] { return func(func(string) bool) {} }
func (nothing) Header(string) []byte         { return nil }
func (nothing) Part(string) (string, bool)   { return "", false }

func BenchmarkOrder(b *testing.B) {
	op := &Op{Method: "POST", Status: 201, Handler: Handle(placeAnOrder)}
	body, now := []byte(orderBody), time.Now()
	buf := new(bytes.Buffer)
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		c := NewCall(b.Context(), op, now)
		c.Body = body
		require.NoError(b, op.Handler.Serve(c, nothing{}, buf))
		c.End()
	}
}
