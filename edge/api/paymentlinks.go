package api

// MakePaymentLink asks for the link with which anybody else can pay a buyer's order.
type MakePaymentLink struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *MakePaymentLink) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// PaymentLink is a link with which anybody can pay an order. It shows the payer what there is to pay for, but
// nothing about the buyer.
type PaymentLink struct {
	URL       string `json:"url" example:"https://tickets.example/pay/AAAAAAQAihucLT5PanuMjaKUXxKkZ0VrM1hEbmS3uWk" description:"The page on which anybody who has the address pays the order. It is always the same for an order."`
	ExpiresAt Time   `json:"expiresAt" description:"Until when the order waits to be paid, which an attempt or an extension of the buyer may move. The link pays for nothing after it."`
}

// GetPaymentLink asks what a payer may know of the order of a payment link.
type GetPaymentLink struct {
	Token string `path:"token" format:"id" maxLength:"100" description:"The last part of the link."`
}

// PayByLink opens an attempt to pay the order of a payment link.
type PayByLink struct {
	Token       string `path:"token" format:"id" maxLength:"100" description:"The last part of the link."`
	Provider    string `json:"provider" required:"true" enum:"nowpayments,paystack,flutterwave,stripe,mollie,paypal,transfer" example:"stripe" description:"With whom to pay: one of the order's methods."`
	PayCurrency string `json:"payCurrency,omitzero" maxLength:"20" description:"The coin to pay with, by its ticker of GET /payments/crypto/currencies; btc if left out. For nowpayments only."`
	Email       string `json:"email" required:"true" format:"email" maxLength:"254" example:"grace@example.org" description:"The payer's own address, which the provider is told for its receipt. It is not kept."`
}

// VerifyByLink asks the providers now whether the order of a payment link is paid.
type VerifyByLink struct {
	Token string `path:"token" format:"id" maxLength:"100" description:"The last part of the link."`
}

// LinkedOrder is the part of an order that the payer with a payment link may see. Amounts are decimals.
type LinkedOrder struct {
	Status    string          `json:"status" enum:"pending,processing,paid,failed,cancelled,expired" example:"pending" description:"pending can be paid; processing has money in flight; the others have ended, and paid says that there is nothing left to do."`
	Title     string          `json:"title" example:"Lagos Jazz Night" description:"What the event is called whose tickets it has."`
	Items     []LinkedLine    `json:"items" description:"The lines, in the order of the order."`
	Subtotal  string          `json:"subtotal" example:"50.00" description:"The lines added up, without discount and fees."`
	Discount  string          `json:"discount" example:"5.00" description:"What is taken off the subtotal; 0.00 for nothing."`
	Fees      string          `json:"fees" example:"2.25" description:"The checkout's fee on top; 0.00 for none."`
	Total     string          `json:"total" example:"47.25" description:"What is to be paid: subtotal - discount + fees."`
	Currency  string          `json:"currency" example:"NGN" description:"The currency of all amounts, by ISO 4217."`
	ExpiresAt Time            `json:"expiresAt" description:"Until when it waits to be paid; null once it has ended."`
	Methods   []PayMethod     `json:"methods" description:"The ways to pay it; empty once it has ended."`
	Payments  []LinkedPayment `json:"payments" description:"The attempts that a payer has opened and may go on with; empty once it has ended."`
}

// LinkedLine is a line of an order, without attendees and seats, as the payer with a payment link sees it.
type LinkedLine struct {
	Name      string `json:"name" example:"General admission" description:"What the ticket type was called when it was ordered."`
	Quantity  int64  `json:"quantity" description:"How many tickets the line has."`
	UnitPrice string `json:"unitPrice" example:"25.00" description:"The price of one ticket, without discount and fees."`
}

// LinkedPayment is an open attempt to pay, which the payer with a payment link may continue.
type LinkedPayment struct {
	Provider         string `json:"provider" example:"stripe" description:"Who takes the money: nowpayments, paystack, flutterwave, stripe, mollie, paypal or transfer."`
	Status           string `json:"status" enum:"pending,processing" description:"pending until the provider has seen money, processing while it is in flight."`
	AuthorizationURL string `json:"authorizationUrl,omitzero" example:"https://checkout.stripe.com/c/pay/cs_1" description:"The provider's page to pay on. Not for coins and transfers, which have an address."`
	Deposit
}
