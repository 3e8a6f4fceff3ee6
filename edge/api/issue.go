package api

import "boxoffice/edge/route"

// Issue makes a complete order at once on an organization's behalf, without a payment in this service. All
// its lines are of the event in the path.
type Issue struct {
	EventID   string          `path:"eventId" format:"id" maxLength:"128"`
	Items     []OrderItem     `json:"items" required:"true" minItems:"1" maxItems:"100" description:"The lines, 1 to 100, all of this event, with 500 tickets in all; several may be of one type."`
	Buyer     IssueBuyer      `json:"buyer,omitzero" description:"Whom the order is for; it may stay nameless."`
	Reference string          `json:"reference,omitzero" maxLength:"200" description:"Your own name of the order, kept with it."`
	SendEmail route.Opt[bool] `json:"sendEmail,omitzero" nullable:"false" description:"Whether the buyer and whom the lines name get their tickets by mail; they do unless it is false."`
}

// IssueBuyer is the person for whom an order is issued.
type IssueBuyer struct {
	Email string `json:"email,omitzero" format:"email" maxLength:"254" example:"ada@example.org" description:"The buyer's e-mail. Without it no account is made and the buyer gets no mail."`
	Name  string `json:"name,omitzero" format:"name" maxLength:"200" example:"Ada Obi" description:"The buyer's name."`
}

// Issued is the order that an organization has issued, with the fee for it.
type Issued struct {
	Order   Order    `json:"order" description:"The order, complete, with the access token that opens it."`
	Tickets []Ticket `json:"tickets" description:"The order's tickets, as in the order."`
	Fee     IssueFee `json:"fee" description:"What the organization's wallet has paid for it."`
}

// IssueFee is the fee that was taken from the organization's wallet for an issued order.
type IssueFee struct {
	Rate     float64 `json:"rate" example:"0.03" description:"The share of each ticket's face value, of those that cost something."`
	Amount   string  `json:"amount" example:"1.50" description:"The fee, rounded half up for each ticket and added up."`
	Currency string  `json:"currency" example:"NGN" description:"The fee's currency: the event's."`
}

// Resent says to which address an order's confirmation is mailed again.
type Resent struct {
	OrderID string `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order's id, a UUID."`
	Email   string `json:"email" example:"ada@example.org" description:"Where the mail goes: the buyer's address."`
}
