package api

import "boxoffice/edge/route"

// MarkPaid notes by hand that money for an order has come by bank transfer.
type MarkPaid struct {
	ID        string      `path:"id" format:"id" maxLength:"128"`
	Amount    route.Money `json:"amount" required:"true" minimum:"0.001" maximum:"10000000000" example:"47.25" description:"How much came, as a number in the order's currency."`
	Reference string      `json:"reference,omitzero" maxLength:"200" description:"What the payer wrote, for the record."`
	Note      string      `json:"note,omitzero" maxLength:"2000" description:"A remark of yours, for the record."`
}

// ImportStatement imports a bank's statement, whose file is the request's body.
type ImportStatement struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
}

// ImportedStatement counts the lines of a statement, by what came of them.
type ImportedStatement struct {
	Lines         int `json:"lines" description:"How many lines of the statement are money that came in."`
	Repeated      int `json:"repeated" description:"How many of them were known already, from a statement before or by hand, and are booked once."`
	Matched       int `json:"matched" description:"How many are for orders that have got what they ask for, and no more."`
	Underpaid     int `json:"underpaid" description:"How many are for orders that have got less than they ask for, and wait for the rest."`
	Overpaid      int `json:"overpaid" description:"How many are for orders that have got more than they ask for; the surplus is a refund of the order."`
	OtherCurrency int `json:"otherCurrency" description:"How many are in another currency than the order that they name; they pay for nothing."`
	Unknown       int `json:"unknown" description:"How many name no order of the organization that waits for a transfer, or several, or one for which 20 came already."`
}

// ListReceipts asks for bank transfers that did not fit an order: too little or too much money, another
// currency, or no order.
type ListReceipts struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	Page
}

// Receipt is money that came by bank transfer and does not fit an order.
type Receipt struct {
	ID        string  `json:"id" example:"1207" description:"The receipt's number."`
	State     string  `json:"state" enum:"underpaid,overpaid,currency,unknown" example:"underpaid" description:"Why it did not fit: less or more than its order asks for came in all, it is in another currency, or it names no order of the organization, or one for which 20 came already."`
	OrderID   *string `json:"orderId" example:"00000000-0400-8a1b-9c2d-3e4f5a6b7c8d" description:"The order that it names, a UUID; null if it names none."`
	Amount    string  `json:"amount" example:"40.00" description:"How much came, as a decimal in its currency."`
	Currency  string  `json:"currency" example:"EUR" description:"The currency in which it came, by ISO 4217."`
	Asked     string  `json:"asked,omitzero" example:"47.25" description:"What the order asks for, as a decimal; left out without an order of the currency."`
	Received  string  `json:"received,omitzero" example:"40.00" description:"What came for the order in all, as a decimal; left out without an order of the currency."`
	Day       string  `json:"day" format:"date" example:"2027-03-01" description:"The day on which the bank booked it, or a person marked it."`
	Source    string  `json:"source" enum:"hand,statement" example:"statement" description:"statement: a bank's line; hand: a person marked the order as paid, and no line was found for it yet."`
	Payer     string  `json:"payer,omitzero" example:"Ada Obi" description:"Who paid, as the bank says."`
	Reference string  `json:"reference,omitzero" example:"Order SG-2F9CX9JAZBD" description:"What the payer wrote."`
	Note      string  `json:"note,omitzero" description:"The remark of the person who marked it."`
	ToldBy    string  `json:"toldBy" example:"user/42" description:"Who told it: a user or an API key, by number."`
	ToldAt    Time    `json:"toldAt" description:"When it was told."`
}
