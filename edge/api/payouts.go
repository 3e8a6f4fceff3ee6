package api

// ListPayouts asks for an organization's payouts. There are none yet.
type ListPayouts struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	Page
}

// GetPayout asks for one of an organization's payouts.
type GetPayout struct {
	ID    string `path:"id" format:"id" maxLength:"128" description:"The payout's id."`
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
}

// Payout is a transfer of money from an organization's wallet to its bank account. The service makes none
// yet.
type Payout struct {
	ID           string  `json:"id" description:"The payout's id."`
	OrgID        string  `json:"orgId" description:"The organization's number."`
	Currency     string  `json:"currency" format:"currency" description:"The currency of its amounts, by ISO 4217."`
	Amount       string  `json:"amount" description:"What is sent, as a decimal."`
	Fee          string  `json:"fee" description:"What the transfer costs, as a decimal."`
	Status       string  `json:"status" enum:"scheduled,processing,paid,failed,cancelled" description:"How far the transfer has come."`
	Destination  string  `json:"destination" description:"The account that it goes to, masked."`
	ScheduledFor Time    `json:"scheduledFor" description:"When it is to be sent."`
	PaidAt       Time    `json:"paidAt" description:"When it was paid; null until then."`
	FailureCode  *string `json:"failureCode" description:"Why it failed; null unless it did."`
}
