package api

// ListDisputes asks for an organization's disputes.
type ListDisputes struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	Page
}

// Dispute is a payment that the buyer asked a bank, or the payment provider, to take back.
type Dispute struct {
	ID        string `json:"id" example:"du_1MtJUT2eZvKYlo2CNaw2HvEv" description:"The provider's name of the dispute."`
	Provider  string `json:"provider" enum:"stripe,mollie,paypal" example:"stripe" description:"The provider that tells of it."`
	OrderID   string `json:"orderId" format:"uuid" description:"The order that was paid."`
	Reference string `json:"reference" example:"SG-2F9CX9JAZBD-1" description:"The reference of the attempt to pay, which the provider shows too."`
	Amount    string `json:"amount" example:"26.25" description:"What the buyer wants back, as a decimal in its currency."`
	Currency  string `json:"currency" example:"EUR" description:"The currency of the amount, by ISO 4217."`
	Reason    string `json:"reason" example:"fraudulent" description:"The reason; if it is no common one, in the provider's words."`
	Status    string `json:"status" enum:"open,won,lost" example:"open" description:"open: nothing is decided yet, although the money may be gone; won: the money stays, or came back; lost: the buyer has it. One that is won or lost is never open again. Mollie tells of no loss: its chargeback is open until it is reversed."`
	OpenedAt  Time   `json:"openedAt" description:"When it was opened, as the provider says."`
	DueBy     Time   `json:"dueBy" description:"Until when it can be answered at the provider; null if that is not told."`
	ClosedAt  Time   `json:"closedAt" description:"When it was won or lost, or when we heard of it; null while it is open."`
}
