package api

import "boxoffice/edge/route"

// PlaceOrder places an order, which the buyer then has to pay, unless it costs nothing. All lines are of one
// event.
type PlaceOrder struct {
	Items           []OrderItem `json:"items" required:"true" minItems:"1" maxItems:"20" description:"The lines, 1 to 20, each of another ticket type, date or slot. All are of one event."`
	Holder          string      `json:"holder,omitzero" minLength:"8" maxLength:"80" description:"Whose held seats are bought: the holder of a seat hold. Without it, seats that the buyer's account or address holds are free to it."`
	GuestEmail      string      `json:"guestEmail,omitzero" format:"email" maxLength:"254" example:"ada@example.org" description:"Where the tickets go, and who the buyer is. Whoever is signed in may leave it out and buys by the account's address."`
	GuestName       string      `json:"guestName,omitzero" format:"name" maxLength:"200" example:"Ada Obi" description:"The buyer's name, for the tickets and the mail."`
	PresaleCode     string      `json:"presaleCode,omitzero" maxLength:"50" description:"The code that opens ticket types in presale."`
	PromoCode       string      `json:"promoCode,omitzero" maxLength:"50" description:"A promo code, in any case. It takes its discount off the lines that it is for, or the order is refused."`
	Waive           bool        `json:"waiveWithdrawal,omitzero" description:"Of digital products: true says that the buyer wants them at once and knows that the right to withdraw ends with that. Without effect on others."`
	Admission       string      `json:"admission,omitzero" maxLength:"200" description:"The admission of an event with a waiting room, if it is not sent as X-Queue-Admission."`
	AdmissionHeader string      `header:"X-Queue-Admission" maxLength:"200" description:"The admission of an event with a waiting room."`
}

// OrderItem is one line of an order that is to be placed: a number of tickets of one type.
type OrderItem struct {
	TicketTypeID      string   `json:"ticketTypeId" required:"true" format:"uuid" description:"The ticket type to buy, by its UUID. It names the event."`
	Quantity          int64    `json:"quantity" required:"true" minimum:"1" maximum:"100" example:"2" description:"How many tickets, 1 to 100; the type's maxPerOrder may be less."`
	AttendeeName      string   `json:"attendeeName,omitzero" format:"name" maxLength:"200" description:"Who attends with the line's tickets; the buyer if nobody is named."`
	AttendeeEmail     string   `json:"attendeeEmail,omitzero" format:"email" maxLength:"254" description:"The e-mail of whom the line's tickets are for; the buyer's if none is named."`
	VenueSeatIDs      []string `json:"venueSeatIds,omitzero" maxItems:"100" minLength:"1" maxLength:"40" description:"The seats of a seated type, by their ids on the event's map: as many as the quantity."`
	ReservationDate   string   `json:"reservationDate,omitzero" format:"date" description:"The date that is booked of a reservation event, on the clocks of its place."`
	ReservationSlotID string   `json:"reservationSlotId,omitzero" maxLength:"40" description:"The slot of that date, where the event has slots."`
}

// OrderByToken names an order. Token is the order's access token, for a buyer who is not signed in.
type OrderByToken struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Token string `query:"token" maxLength:"100"`
}

// ReadOrder asks for an order with its tickets.
type ReadOrder struct {
	OrderByToken
	Ahead int `query:"ahead" minimum:"0" maximum:"6" description:"For so many hours from now tickets have the QR payloads of each moment, as qrAhead: for a screen that will have no network."`
}

// PrintTickets asks for a PDF of an order's tickets, from one ticket on.
type PrintTickets struct {
	OrderByToken
	From int64 `query:"from" minimum:"0" maximum:"100000" description:"How many tickets to leave out, from the first: a file has 100 at most."`
}

// PaymentByToken names an order as OrderByToken does, for paths that name its id orderId.
type PaymentByToken struct {
	OrderID string `path:"orderId" format:"id" maxLength:"128"`
	Token   string `query:"token" maxLength:"100"`
}

// CancelOrder cancels an order that is not paid yet.
type CancelOrder struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
}

// ExtendOrder asks for more time to pay an order.
type ExtendOrder struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
}

// TellTransferSent notes that, as the buyer says, the bank transfer for an order is sent. It does not make
// the order paid.
type TellTransferSent struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *TellTransferSent) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// WithdrawOrder uses the buyer's right to withdraw from the purchase of a digital product within 14 days.
type WithdrawOrder struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
	Confirm    bool   `json:"confirm,omitzero" description:"true ends the tickets and sends the money back. Without it the answer says what would, and nothing happens."`
}

// Withdrawal says which tickets end and how much money goes back when a buyer withdraws from an order.
// Nothing happens before the buyer confirms it.
type Withdrawal struct {
	OrderID   string   `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order's id, a UUID."`
	Withdrawn bool     `json:"withdrawn" description:"Whether it was confirmed, and the tickets have ended."`
	TicketIDs []string `json:"ticketIds" description:"The tickets that end: all that are left and were not passed on."`
	Amount    string   `json:"amount" example:"47.25" description:"What goes back, fees included, as a decimal."`
	Currency  string   `json:"currency" example:"NGN" description:"The amount's currency, by ISO 4217."`
	Until     Time     `json:"until" description:"The last moment to withdraw, 14 days after the order's completion."`
	Refund    *Refund  `json:"refund" description:"The refund on its way; null until it is confirmed."`
}

// PayOrder opens an attempt to pay an order with one provider.
type PayOrder struct {
	ID          string `path:"id" format:"id" maxLength:"128"`
	QueryToken  string `query:"token" maxLength:"100"`
	Provider    string `json:"provider,omitzero" enum:"nowpayments,paystack,flutterwave,stripe,mollie,paypal,transfer" example:"paystack" description:"With whom to pay. Left out: crypto where it is configured, else the first card provider that is."`
	PayCurrency string `json:"payCurrency,omitzero" maxLength:"20" description:"The coin to pay with, by its ticker of GET /payments/crypto/currencies; btc if left out. For nowpayments only."`
	ReturnURL   string `json:"returnUrl,omitzero" maxLength:"2000" example:"https://shop.example/thanks" description:"The https address that the provider leads the payer back to; our page of the order if left out. The first one of an attempt counts."`
	Token       string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
}

// VerifyPayment asks the providers now whether an order's payment has gone through, instead of waiting for
// their notices.
type VerifyPayment struct {
	OrderID    string `json:"orderId" required:"true" format:"uuid" description:"The order's id, a UUID."`
	QueryToken string `query:"token" maxLength:"100"`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The order's access token, if neither the query nor the Authorization header has it."`
}

// PaystackNotice is a notice: a webhook request, here from Paystack. The type has only its header; the
// handler reads the body unparsed.
type PaystackNotice struct {
	Signature string `header:"X-Paystack-Signature" maxLength:"4096" description:"The hex HMAC-SHA512 of the body under the secret key."`
}

// NOWPaymentsNotice has the header of a notice from NOWPayments. The handler reads the body unparsed.
type NOWPaymentsNotice struct {
	Signature string `header:"X-Nowpayments-Sig" maxLength:"4096" description:"The hex HMAC-SHA512 of the body, its keys sorted, under the IPN secret."`
}

// FlutterwaveNotice has the header of a notice from Flutterwave. The notice is not signed; a shared secret
// proves its sender.
type FlutterwaveNotice struct {
	Hash string `header:"Verif-Hash" maxLength:"4096" description:"The secret hash that Flutterwave and this deployment share."`
}

// StripeNotice has the header of a notice from Stripe. The handler reads the body unparsed.
type StripeNotice struct {
	Signature string `header:"Stripe-Signature" maxLength:"4096" description:"The time, and hex HMAC-SHA256 over time and body under the endpoint's secret."`
}

// MollieNotice has the query of a notice from Mollie, whose body is a form with only the id of a payment.
// Mollie signs nothing, so the query proves the sender.
type MollieNotice struct {
	Reference string `query:"reference" maxLength:"64" description:"Our reference of the payment, as the address has it that the payment was made with."`
	Sig       string `query:"sig" maxLength:"64" description:"The hex HMAC-SHA256 of the reference under our key at Mollie: nobody else knows the address."`
}

// PayPalNotice has the headers of a notice from PayPal. All five are needed to check the signature, which
// PayPal does for us.
type PayPalNotice struct {
	Algorithm   string `header:"Paypal-Auth-Algo" maxLength:"100" description:"How it is signed."`
	Certificate string `header:"Paypal-Cert-Url" maxLength:"500" description:"Where the certificate is with which it is signed."`
	ID          string `header:"Paypal-Transmission-Id" maxLength:"100" description:"PayPal's name of this delivery."`
	Time        string `header:"Paypal-Transmission-Time" maxLength:"100" description:"When PayPal sent it."`
	Signature   string `header:"Paypal-Transmission-Sig" maxLength:"500" description:"The signature over the delivery, its time, our webhook and the body, which PayPal checks when we ask."`
}

// Received acknowledges a notice, so that the provider does not send it again.
type Received struct {
	Received bool `json:"received" description:"Always true: the notice is durable, and need not be sent again."`
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *OrderByToken) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token}
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *PaymentByToken) LimitOrder() (id string, tokens [2]string) {
	return in.OrderID, [2]string{in.Token}
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *CancelOrder) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *ExtendOrder) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *WithdrawOrder) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *PayOrder) LimitOrder() (id string, tokens [2]string) {
	return in.ID, [2]string{in.Token, in.QueryToken}
}

// LimitOrder returns the order's id and the access tokens that the request has. The rate limit counts a
// caller without other credentials by the order if one of the tokens opens it, and by the client's network
// otherwise.
func (in *VerifyPayment) LimitOrder() (id string, tokens [2]string) {
	return in.OrderID, [2]string{in.Token, in.QueryToken}
}

// Order is an order's record with its tickets. All amounts are decimals.
type Order struct {
	OrderRecord
	Tickets     []Ticket `json:"tickets" description:"The order's tickets once it is complete, in the order of its lines; empty before."`
	AccessToken string   `json:"accessToken,omitzero" example:"xKGKoLQ6DclPK6gQOmoww-c8fm7RtHca_fQWwmVU-wA" description:"Only in the answer that makes the order. Keep it: it opens the order without an account, to read, pay, verify and cancel it."`
}

// OrderRecord is an order's record without its tickets.
type OrderRecord struct {
	ID          string      `json:"id" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order's id, a UUID."`
	OrderNumber string      `json:"orderNumber" example:"SG-2F9CX9JAZBD-DGS9Z" description:"What people call the order, on tickets and in mails; the beginning of its payments' references."`
	EventID     string      `json:"eventId" description:"The event whose tickets it has, by its UUID."`
	Status      string      `json:"status" enum:"pending,processing,completed,failed,cancelled,expired,refunded,partially_refunded" example:"completed" description:"pending and processing are unpaid and hold what they take; completed has tickets; the refunded ones are so by money that has moved."`
	Currency    string      `json:"currency" example:"NGN" description:"The currency of all amounts, by ISO 4217: the event's."`
	Subtotal    string      `json:"subtotal" example:"50.00" description:"The tickets' prices added up, without discount and fees."`
	Discount    string      `json:"discount" example:"5.00" description:"What the promo code takes off the subtotal; 0.00 without one."`
	Fees        string      `json:"fees" example:"2.25" description:"The checkout's fee that the buyer pays on top; 0.00 if the organizer absorbs it."`
	Total       string      `json:"total" example:"47.25" description:"What the buyer pays: subtotal - discount + fees."`
	PromoCode   *string     `json:"promoCode" example:"EARLY-10" description:"The promo code that it was placed with; null without one."`
	Buyer       Buyer       `json:"buyer" description:"Who buys. An order that its organization issued may have no e-mail."`
	Items       []OrderLine `json:"items" description:"The lines as they were ordered. A ticket that was moved or passed on changes nothing here."`
	Payments    []Payment   `json:"payments" description:"All attempts to pay, the oldest first."`
	Refunds     []Refund    `json:"refunds" description:"All money that went or goes back, or was asked for, the oldest first."`
	ExpiresAt   Time        `json:"expiresAt" description:"Until when an unpaid order holds what it takes. Paying moves it once. Null once the order has ended."`
	CreatedAt   Time        `json:"createdAt" description:"When it was placed."`
	UpdatedAt   Time        `json:"updatedAt" description:"When anything of it changed last."`
	CompletedAt Time        `json:"completedAt" description:"When it was completed and its tickets made; null if it was not. It stays after a refund."`
	CancelledAt Time        `json:"cancelledAt" description:"When it was cancelled; null if it was not."`
	Reference   *string     `json:"reference" description:"The organization's own name of an order that it issued; null of others."`
	WaivedAt    Time        `json:"withdrawalWaivedAt" description:"When the buyer waived the right to withdraw; null if that was not done."`
}

// Buyer is the name and the address of a person: of a buyer, or of a ticket's holder.
type Buyer struct {
	Email string  `json:"email" example:"ada@example.org" description:"The e-mail address; empty if an organization sold to nobody in particular."`
	Name  *string `json:"name" example:"Ada Obi" description:"The name; null if none was given."`
}

// OrderLine is one line of an order, as it was ordered.
type OrderLine struct {
	TicketTypeID      string   `json:"ticketTypeId" example:"00000000-0400-8000-8000-000000000003" description:"The ticket type, by its UUID."`
	Name              string   `json:"name" example:"General admission" description:"What the ticket type was called when it was sold."`
	Quantity          int64    `json:"quantity" description:"How many tickets the line has."`
	VenueSeatIDs      []string `json:"venueSeatIds" description:"The ids of the seats, one for each ticket; empty of a type without seats."`
	UnitPrice         string   `json:"unitPrice" example:"25.00" description:"The price of one ticket, without discount and fees."`
	AttendeeName      *string  `json:"attendeeName" description:"Who attends with the line's tickets; null if only the buyer is named."`
	AttendeeEmail     *string  `json:"attendeeEmail" description:"The e-mail of who attends; null if only the buyer's is known."`
	ReservationDate   *string  `json:"reservationDate" example:"2031-06-21" description:"The date that was booked; null of what is no reservation."`
	ReservationSlotID *string  `json:"reservationSlotId" description:"The slot that was booked; null without one."`
}

// Ticket is a ticket's record with the codes that admit its holder and with its link to a digital product.
// Codes and link are left out for a person who has passed the ticket on, and for a member or an API key of
// the organization without the scopes to see them. The codes are also left out once the ticket no longer
// admits anybody.
type Ticket struct {
	TicketRecord
	Code        string   `json:"code,omitzero" example:"5MXKB63M7RXKTC3P4QHE" description:"The full code, for the desk at the gate. Whoever has it is let in: treat it as a secret."`
	ShortCode   string   `json:"shortCode,omitzero" example:"5MXKB6" description:"The door code: six characters to type at a gate."`
	QR          string   `json:"qr,omitzero" example:"v2.5MXKB63M7RXKTC3P4QHE.64658280.WRGEF25SPRIDPWOA" description:"What the ticket's QR code says. It changes every 30 seconds: ask again after qrExpiresAt."`
	QRExpiresAt Time     `json:"qrExpiresAt,omitzero" description:"Until when gates take that payload."`
	QRAhead     []string `json:"qrAhead,omitzero" description:"The payloads after qr, one for each 30 seconds from qrExpiresAt on, each taken by gates in its own time alone. Only where ahead asks for them, of an order of at most 10 tickets."`
	Tags        []string `json:"tags,omitzero" description:"The organization's own tags, where it reads its orders; nobody else sees them."`
	// The answer that makes an order lacks the next five fields, because their values may change at any time.
	RefundEligible *bool  `json:"refundEligible,omitzero" description:"Whether its money may be asked for now. Not in the answer that makes the order, as the next four."`
	Downloadable   *bool  `json:"downloadable,omitzero" description:"Whether a file that we host delivers it: see the ticket's download."`
	AccessURL      Hidden `json:"accessUrl,omitzero" example:"https://learn.example.org/room" description:"Where it is delivered; null when a file of ours does it, or nothing is delivered."`
	AccessNote     Hidden `json:"accessNote,omitzero" example:"PIN 4711" description:"What its holder needs there, such as a PIN; null when there is nothing to say."`
	Printable      *bool  `json:"printable,omitzero" description:"Whether the order's PDF has a code of it that gates take. Not where gates take only codes that change."`
}

// TicketRecord is a ticket's record without its codes and its link.
type TicketRecord struct {
	ID             string      `json:"id" example:"00000000-0400-84f4-a8e6-402f00000007" description:"The ticket's id, a UUID."`
	Status         string      `json:"status" enum:"issued,checked_in,cancelled,refunded,expired" description:"issued admits; expired is a ticket that was never used, and whose event or date is over."`
	OrderID        string      `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order that it belongs to, by its UUID, also after a transfer."`
	EventID        string      `json:"eventId" description:"The event that it is for, by its UUID."`
	TicketTypeID   string      `json:"ticketTypeId" example:"00000000-0400-8000-8000-000000000003" description:"Its ticket type, by its UUID."`
	TierName       string      `json:"tierName" example:"General admission" description:"What its type was called when it was sold."`
	ProductType    string      `json:"productType" enum:"event,reservation,digital" description:"What it is for: an event that one goes to, a booked date, or a digital product."`
	Holder         *Buyer      `json:"holder" description:"Who has it: after a transfer the new holder, before that the buyer or whom the order's line names. Null for whoever has passed it on."`
	Seat           *TicketSeat `json:"seat" description:"The seat that it is for; null without seats."`
	Reservation    *Booked     `json:"reservation" description:"The date that it is booked for; null of what is no reservation."`
	Transferable   bool        `json:"transferable" description:"Whether it was sold as one that may be passed on."`
	Refundable     bool        `json:"refundable" description:"Whether it was sold with a right to a refund, or the event was cancelled."`
	RefundDeadline Time        `json:"refundDeadline" description:"Until when its money may be asked for; null: until it is used."`
	FaceValue      string      `json:"faceValue" example:"22.50" description:"What was paid for it after the discount, without the checkout's fee."`
	Currency       string      `json:"currency" example:"NGN" description:"The currency of its face value, by ISO 4217."`
	CheckedInAt    Time        `json:"checkedInAt" description:"When a gate admitted it; null if none did."`
	GateName       *string     `json:"gateName" example:"North" description:"The gate that admitted it; null if none did, or it has no name."`
	IssuedAt       Time        `json:"issuedAt" description:"When it was made, as its order was completed."`
}

// Booked is the date, or the slot of a date, for which a ticket of a reservation is valid.
type Booked struct {
	Date      string  `json:"date" example:"2031-06-21" description:"The date on which it admits, on the clocks of the event's place."`
	SlotID    *string `json:"slotId" example:"slot_AAABXY_BJp" description:"The slot of that date, by its id; null of a whole date."`
	Label     *string `json:"label" example:"Morning" description:"What the slot was called when it was booked; null of a whole date."`
	StartTime Time    `json:"startTime" description:"When the slot begins; null of a whole date."`
	EndTime   Time    `json:"endTime" description:"When the slot ends; null of a whole date."`
}

// TicketSeat is the seat that a ticket is for.
type TicketSeat struct {
	ID      string `json:"id" example:"B-12" description:"The seat's id on the event's map."`
	Label   string `json:"label" example:"B-12" description:"What the seat is called."`
	Section string `json:"section" example:"Balcony" description:"The section that it is in."`
	Row     string `json:"row" example:"B" description:"The row that it is in."`
}

// Payment is one attempt to pay an order.
type Payment struct {
	Reference string `json:"reference" example:"SG-2F9CX9JAZBD-DGS9Z-1" description:"Our name of the attempt, under which the provider knows it."`
	Provider  string `json:"provider" example:"paystack" description:"Who takes the money: nowpayments, paystack, flutterwave, stripe, mollie, paypal or transfer."`
	Status    string `json:"status" enum:"pending,processing,succeeded,failed,expired,underpaid,cancelled,refunded" example:"succeeded" description:"pending until the provider has seen money, processing while it is in flight; underpaid is less than was asked for, which goes back."`
	Amount    string `json:"amount" example:"47.25" description:"What was asked for, as a decimal in the order's currency."`
	Received  string `json:"received" example:"47.25" description:"What the provider has taken of it; 0.00 until it says so."`
	CreatedAt Time   `json:"createdAt" description:"When the attempt was opened."`
	Deposit
}

// Deposit tells a buyer how many coins to send to which address or, in Transfer, which bank transfer to make.
// The amounts of coins are decimals.
type Deposit struct {
	PayAddress   string            `json:"payAddress,omitzero" description:"Where the coins go. This and the next six are of attempts to pay with coins alone."`
	PayAmount    string            `json:"payAmount,omitzero" example:"47.312204" description:"How many coins to send, as a decimal."`
	PayCurrency  string            `json:"payCurrency,omitzero" example:"usdttrc20" description:"The coin, by its ticker."`
	Network      string            `json:"network,omitzero" example:"trx" description:"The network that the coins must be sent on; on another they do not arrive."`
	PayinExtraID route.Opt[string] `json:"payinExtraId,omitzero" description:"The memo or tag that must go with the coins; null without one."`
	ValidUntil   Time              `json:"validUntil,omitzero" description:"Until when the rate holds, 20 minutes; pay again after it."`
	Arrived      string            `json:"arrived,omitzero" example:"0" description:"How many coins have come so far, as a decimal."`
	Transfer     *BankTransfer     `json:"transfer,omitzero" description:"The bank transfer to make; of attempts to pay by transfer alone."`
}

// BankTransfer has the details of the bank transfer that a buyer is to make.
type BankTransfer struct {
	Holder    string `json:"holder" example:"Kulturverein Nord e.V." description:"Whose account it is."`
	Account   string `json:"account" example:"DE89370400440532013000" description:"The account: its IBAN, or what else its bank calls it."`
	BIC       string `json:"bic,omitzero" example:"COBADEFFXXX" description:"The bank, by its BIC; left out if none is needed."`
	Amount    string `json:"amount" example:"47.25" description:"How much to transfer, as a decimal; what is less pays for nothing."`
	Currency  string `json:"currency" example:"EUR" description:"The currency, by ISO 4217."`
	Reference string `json:"reference" example:"RF18SG2F9CX9JAZBDDGS9Z" description:"What to write as the reference (ISO 11649), with or without blanks: the transfer is known by it alone."`
	QR        string `json:"qr,omitzero" description:"What a QR code says from which banking apps fill in the transfer (GiroCode, EPC069-12); of euros to an IBAN alone."`
	SentAt    Time   `json:"sentAt,omitzero" description:"When the buyer said that the money is sent; left out until then. It is a hint, and pays for nothing."`
	DueAt     Time   `json:"dueAt" description:"Until when the money has to be there, for the order waits no longer."`
}

// ListPayMethods asks which ways to pay there are, for a currency or an event.
type ListPayMethods struct {
	Currency string `query:"currency" format:"currency" example:"USD" description:"Only methods that take prices in this currency, by ISO 4217. Left out: all."`
	EventID  string `query:"eventId" maxLength:"128" description:"Only methods by which orders of this event can be paid, by its UUID or number: its organization may not be one that is paid by transfer."`
}

// PayMethod is a way to pay: a payment provider that this deployment is configured for, or bank transfer.
type PayMethod struct {
	Provider      string   `json:"provider" enum:"nowpayments,paystack,flutterwave,stripe,mollie,paypal,transfer" example:"stripe" description:"Who takes the money: the provider of an attempt to pay."`
	Kind          string   `json:"kind" enum:"card,crypto,transfer" example:"card" description:"card: one pays on the provider's page, by card or whatever else it offers; crypto: one sends coins to an address; transfer: one transfers money to a bank account."`
	Currencies    []string `json:"currencies" example:"[\"NGN\",\"USD\"]" description:"The currencies of prices that it takes, by ISO 4217."`
	WindowMinutes int64    `json:"windowMinutes" example:"30" description:"How many minutes the first attempt gives the buyer to pay."`
}

// Coin is a cryptocurrency, on one network, with which buyers can pay.
type Coin struct {
	Ticker          string `json:"ticker" example:"usdttrc20" description:"What names the coin on its network: the payCurrency of an attempt to pay."`
	Label           string `json:"label" example:"Tether USD (TRX)" description:"Its name for people, with the network where one has to tell."`
	Symbol          string `json:"symbol" example:"USDT" description:"Its sign, without the network."`
	Network         string `json:"network" example:"trx" description:"The network that it is sent on."`
	LogoURL         string `json:"logoUrl" description:"Its picture, at the provider."`
	RequiresExtraID bool   `json:"requiresExtraId" description:"Whether a memo or tag has to go with the coins."`
}

// Refund is money of an order that goes back to the buyer, or a request for it.
type Refund struct {
	ID           string   `json:"id" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d-r1" description:"The refund's id: its order's, -r and a number."`
	TicketID     *string  `json:"ticketId" description:"The ticket whose money it is; null when it is not of exactly one."`
	OrderID      string   `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order whose money it is, by its UUID."`
	Reference    string   `json:"reference" example:"SG-2F9CX9JAZBD-DGS9Z-1" description:"The payment that the money comes from, by its reference; empty until it is approved, and of what nobody paid here."`
	Amount       string   `json:"amount" example:"22.50" description:"What goes back, as a decimal."`
	Currency     string   `json:"currency" example:"NGN" description:"The amount's currency: the order's, or that in which the money came."`
	Reason       string   `json:"reason" example:"I am ill and can't come." description:"Why, as whoever asked put it. Of money that goes back by itself: late, underpaid, overpaid, twice, cancelled, currency or deposit."`
	Message      *string  `json:"message" description:"What else the buyer said; of coins that came to a used address, the provider's name of the deposit. Null without either."`
	EvidenceURLs []string `json:"evidenceUrls" description:"Addresses of what the buyer shows as evidence; empty without any."`
	Status       string   `json:"status" enum:"requested,approved,denied,processing,processed,failed,cancelled" example:"processed" description:"requested waits for the organization; approved and processing are on their way; processed has moved; failed is sent again by itself."`
	DecisionNote *string  `json:"decisionNote" description:"What the organization said when it decided, and when a person sent the money; null if nothing."`
	ProviderRef  *string  `json:"providerRef" description:"The provider's own number of the refund; null until it has one."`
	RequestedAt  Time     `json:"requestedAt" description:"When it was asked for, or the money was found to go back."`
	DecidedAt    Time     `json:"decidedAt" description:"When the organization approved or denied it; null until then, and of money that goes back by itself."`
	ProcessedAt  Time     `json:"processedAt" description:"When the money had moved; null until then."`
	Manual       bool     `json:"manual,omitzero" description:"true: no provider sends the money. A person does, and says so by its complete."`
}

// OrderPayments has the status of an order and all attempts to pay it.
type OrderPayments struct {
	OrderID  string    `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order's id, a UUID."`
	Status   string    `json:"status" example:"completed" description:"The order's status, as in the order."`
	Total    string    `json:"total" example:"47.25" description:"What the buyer pays, as a decimal."`
	Currency string    `json:"currency" example:"NGN" description:"The total's currency, by ISO 4217."`
	Payments []Payment `json:"payments" description:"All attempts to pay, the oldest first."`
}

// PayAt tells a buyer where to pay: the attempt that PayOrder opened, with the provider's page or a Deposit.
type PayAt struct {
	OrderID          string `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order's id, a UUID."`
	Provider         string `json:"provider" example:"paystack" description:"Who takes the money: nowpayments, paystack, flutterwave, stripe, mollie, paypal or transfer."`
	Reference        string `json:"reference" example:"SG-2F9CX9JAZBD-DGS9Z-1" description:"Our name of the attempt, under which the provider knows it."`
	Status           string `json:"status" example:"pending" description:"The attempt's status, as in the order's payments."`
	AuthorizationURL string `json:"authorizationUrl,omitzero" example:"https://checkout.paystack.com/3ni8kdavz62431k" description:"The provider's page to send the payer to. Not for coins, which have an address."`
	Deposit
	ExpiresAt Time `json:"expiresAt" description:"Until when the order now holds what it takes, which the attempt may have moved."`
}
