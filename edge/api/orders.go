package api

import "boxoffice/edge/route"

// PlaceOrder asks for an order. All lines belong to one event.
type PlaceOrder struct {
	Items       []OrderItem `json:"items" required:"true" minItems:"1" maxItems:"20"`
	Holder      string      `json:"holder,omitzero" minLength:"8" maxLength:"80" description:"of the seats: takes what it holds; absent: what the buyer, or the address, holds"`
	GuestEmail  string      `json:"guestEmail,omitzero" format:"email" maxLength:"254" example:"ada@example.org"`
	GuestName   string      `json:"guestName,omitzero" maxLength:"200" example:"Ada Obi"`
	PresaleCode string      `json:"presaleCode,omitzero" maxLength:"50"`

	_ route.NotYet `name:"promoCode"`
}

// OrderItem is one line: some tickets of one type.
type OrderItem struct {
	TicketTypeID  string   `json:"ticketTypeId" required:"true" format:"uuid"`
	Quantity      int64    `json:"quantity" required:"true" minimum:"1" maximum:"100" example:"2"`
	AttendeeName  string   `json:"attendeeName,omitzero" maxLength:"200"`
	AttendeeEmail string   `json:"attendeeEmail,omitzero" format:"email" maxLength:"254"`
	VenueSeatIDs  []string `json:"venueSeatIds,omitzero" maxItems:"100" minLength:"1" maxLength:"40" description:"of a seated type: as many as the quantity"`

	_ route.NotYet `name:"reservationDate"`
	_ route.NotYet `name:"reservationSlotId"`
}

// OrderByToken names an order, with its guest token.
type OrderByToken struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Token string `query:"token" maxLength:"100"`
}

// PaymentByToken names an order in the payment routes.
type PaymentByToken struct {
	OrderID string `path:"orderId" format:"id" maxLength:"128"`
	Token   string `query:"token" maxLength:"100"`
}

// CancelOrder gives an unpaid order up.
type CancelOrder struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100"`
}

// PayOrder opens an attempt to pay.
type PayOrder struct {
	ID          string `path:"id" format:"id" maxLength:"128"`
	QueryToken  string `query:"token" maxLength:"100"`
	Provider    string `json:"provider,omitzero" enum:"nowpayments,paystack,flutterwave" example:"paystack" description:"left out: crypto where it is configured, else the first card provider that is"`
	PayCurrency string `json:"payCurrency,omitzero" maxLength:"20" description:"crypto ticker; for nowpayments only"`
	ReturnURL   string `json:"returnUrl,omitzero" maxLength:"2000" description:"https address that the provider leads the payer back to; left out: our page of the order" example:"https://shop.example/thanks"`
	Token       string `json:"token,omitzero" maxLength:"100"`
}

// VerifyPayment asks whether an order's charge has gone through.
type VerifyPayment struct {
	OrderID    string `json:"orderId" required:"true" format:"uuid"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100"`
}

// LimitOrder names the order whose token may be counted instead of the address.
func (in *OrderByToken) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token}
}

// LimitOrder names the order whose token may be counted instead of the address.
func (in *PaymentByToken) LimitOrder() (id string, tokens [2]string) {
	return in.OrderID, [2]string{in.Token}
}

// LimitOrder names the order whose token may be counted instead of the address.
func (in *CancelOrder) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// LimitOrder names the order whose token may be counted instead of the address.
func (in *PayOrder) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// LimitOrder names the order whose token may be counted instead of the address.
func (in *VerifyPayment) LimitOrder() (id string, tokens [2]string) {
	return in.OrderID, [2]string{in.Token, in.QueryToken}
}

// Order is an order's record. Amounts are decimals.
type Order struct {
	OrderRecord
	Tickets     []Ticket `json:"tickets"`
	AccessToken string   `json:"accessToken,omitzero" description:"on create only"`
}

// OrderRecord is an order's record without its tickets.
type OrderRecord struct {
	ID          string      `json:"id"`
	OrderNumber string      `json:"orderNumber"`
	EventID     string      `json:"eventId"`
	Status      string      `json:"status" enum:"pending,processing,completed,failed,cancelled,expired,refunded,partially_refunded"`
	Currency    string      `json:"currency"`
	Subtotal    string      `json:"subtotal"`
	Discount    string      `json:"discount"`
	Fees        string      `json:"fees"`
	Total       string      `json:"total"`
	PromoCode   *string     `json:"promoCode"`
	Buyer       Buyer       `json:"buyer"`
	Items       []OrderLine `json:"items"`
	Payments    []Payment   `json:"payments"`
	Refunds     []Refund    `json:"refunds"`
	ExpiresAt   Time        `json:"expiresAt"`
	CreatedAt   Time        `json:"createdAt"`
	UpdatedAt   Time        `json:"updatedAt"`
	CompletedAt Time        `json:"completedAt"`
	CancelledAt Time        `json:"cancelledAt"`
	Reference   *string     `json:"reference"`
}

// Buyer is who buys.
type Buyer struct {
	Email string  `json:"email"`
	Name  *string `json:"name"`
}

// OrderLine is one line of an order.
type OrderLine struct {
	TicketTypeID  string   `json:"ticketTypeId"`
	Name          string   `json:"name"`
	Quantity      int64    `json:"quantity"`
	VenueSeatIDs  []string `json:"venueSeatIds"`
	UnitPrice     string   `json:"unitPrice"`
	AttendeeName  *string  `json:"attendeeName"`
	AttendeeEmail *string  `json:"attendeeEmail"`
}

// Ticket is a ticket's record, with what admits its holder.
type Ticket struct {
	TicketRecord
	Code        string `json:"code"`
	ShortCode   string `json:"shortCode" description:"the door code"`
	QR          string `json:"qr" description:"rotates; ask again after qrExpiresAt"`
	QRExpiresAt Time   `json:"qrExpiresAt"`
	// Money back, as things stand; not in the answer that makes the order.
	Refundable     *bool `json:"refundable,omitzero" description:"its type is sold with a right to a refund, or the event was cancelled"`
	RefundEligible *bool `json:"refundEligible,omitzero" description:"a refund may be asked for now"`
	RefundDeadline Time  `json:"refundDeadline,omitzero" description:"left out when none binds"`
}

// TicketRecord is a ticket's record without what admits its holder.
type TicketRecord struct {
	ID           string      `json:"id"`
	Status       string      `json:"status" enum:"issued,checked_in,cancelled,refunded,expired"`
	OrderID      string      `json:"orderId"`
	EventID      string      `json:"eventId"`
	TicketTypeID string      `json:"ticketTypeId"`
	TierName     string      `json:"tierName"`
	Holder       Buyer       `json:"holder"`
	Seat         *TicketSeat `json:"seat"`
	FaceValue    string      `json:"faceValue"`
	Currency     string      `json:"currency"`
	CheckedInAt  Time        `json:"checkedInAt"`
	GateName     *string     `json:"gateName"`
	IssuedAt     Time        `json:"issuedAt"`
}

// TicketSeat is the seat that a ticket is for.
type TicketSeat struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Section string `json:"section"`
	Row     string `json:"row"`
}

// Payment is one attempt to pay.
type Payment struct {
	Reference string `json:"reference"`
	Provider  string `json:"provider"`
	Status    string `json:"status" enum:"pending,processing,succeeded,failed,expired,underpaid,cancelled,refunded"`
	Amount    string `json:"amount"`
	Received  string `json:"received"`
	CreatedAt Time   `json:"createdAt"`
}

// Refund is money that goes back.
type Refund struct {
	ID           string   `json:"id"`
	TicketID     *string  `json:"ticketId" description:"null when the money is not of one ticket"`
	OrderID      string   `json:"orderId"`
	Reference    string   `json:"reference" description:"of the payment"`
	Amount       string   `json:"amount"`
	Currency     string   `json:"currency"`
	Reason       string   `json:"reason"`
	Message      *string  `json:"message"`
	EvidenceURLs []string `json:"evidenceUrls"`
	Status       string   `json:"status" enum:"requested,approved,denied,processing,processed,failed,cancelled"`
	DecisionNote *string  `json:"decisionNote"`
	ProviderRef  *string  `json:"providerRef" description:"the provider's own number for the refund"`
	RequestedAt  Time     `json:"requestedAt"`
	DecidedAt    Time     `json:"decidedAt"`
	ProcessedAt  Time     `json:"processedAt"`
}

// PaymentStatus is an order's state of payment.
type PaymentStatus struct {
	OrderID  string    `json:"orderId"`
	Status   string    `json:"status"`
	Total    string    `json:"total"`
	Currency string    `json:"currency"`
	Payments []Payment `json:"payments"`
}

// PayAt is where a buyer pays.
type PayAt struct {
	OrderID          string `json:"orderId"`
	Provider         string `json:"provider"`
	Reference        string `json:"reference"`
	Status           string `json:"status"`
	AuthorizationURL string `json:"authorizationUrl,omitzero"`
	ExpiresAt        Time   `json:"expiresAt" description:"of the order, from now on"`
}
