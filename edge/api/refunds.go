package api

import (
	"time"

	"boxoffice/edge/route"
)

// AskRefund asks the organization for the money of one ticket that the caller holds.
type AskRefund struct {
	TicketID     string   `json:"ticketId" required:"true" format:"uuid" description:"The ticket whose money is asked for, by its UUID; one ticket a request."`
	Reason       string   `json:"reason" required:"true" minLength:"10" maxLength:"2000" example:"I am ill and can't come." description:"Why, in 10 characters or more; the organization reads it."`
	Message      string   `json:"message,omitzero" maxLength:"2000" description:"What else the organization should know."`
	EvidenceURLs []string `json:"evidenceUrls,omitzero" maxItems:"5" format:"uri" maxLength:"2048" description:"Addresses of what shows it, such as a doctor's note; 5 at most."`
}

// ListRefunds asks for the refunds of an organization's orders, the newest first.
type ListRefunds struct {
	OrgID   string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	EventID string `query:"eventId" maxLength:"128" description:"Only refunds of this event's orders, by its UUID or number."`
	Status  string `query:"status" enum:"requested,approved,denied,processing,processed,failed,cancelled" description:"Only refunds in this status."`
	Page
}

// ListOwnRefunds asks for the refunds that the caller has asked for, and for those that organizations have
// given for the caller's orders, the newest first.
type ListOwnRefunds struct{ Page }

// RefundID names a refund.
type RefundID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// ApproveRefund grants a refund that a ticket's holder has asked for, in whole or in part.
type ApproveRefund struct {
	RefundID
	Amount route.Opt[route.Money] `json:"amount,omitzero" minimum:"0" maximum:"10000000000" nullable:"false" description:"How much goes back, as a number, instead of what was asked for; at most what is left of the order."`
	Note   string                 `json:"note,omitzero" maxLength:"2000" description:"What the organization says of it: the refund's decisionNote."`
}

// DenyRefund declines a refund that a ticket's holder has asked for.
type DenyRefund struct {
	RefundID
	Reason string `json:"reason" required:"true" minLength:"1" maxLength:"2000" example:"The event takes place." description:"Why not: the refund's decisionNote."`
}

// CompleteRefund notes that a person has sent the money of a refund that no provider sends (Refund.Manual).
type CompleteRefund struct {
	RefundID
	ProviderRef string `json:"providerRef,omitzero" maxLength:"200" description:"The number of the transfer that moved the money."`
	Note        string `json:"note,omitzero" maxLength:"2000" description:"A remark of yours: it stands in the refund's decisionNote, after that of the decision."`
}

// RefundOrder refunds a whole order, some of its tickets, or an amount of money without ending a ticket. The
// buyer need not have asked for it.
type RefundOrder struct {
	ID        string                 `path:"id" format:"id" maxLength:"128"`
	Amount    route.Opt[route.Money] `json:"amount,omitzero" minimum:"0" maximum:"10000000000" nullable:"false" description:"How much goes back, as a number; at most what is left of the order, and 0 to end tickets without money. Without ticketIds, no ticket ends."`
	TicketIDs route.Opt[[]string]    `json:"ticketIds,omitzero" minItems:"1" maxItems:"2000" format:"uuid" nullable:"false" description:"The tickets to give back, by their UUIDs. Left out, with no amount: all that are left."`
	Reason    string                 `json:"reason" required:"true" minLength:"1" maxLength:"2000" example:"The line-up has changed." description:"Why; the buyer reads it."`
}

// ListOrders asks for an organization's orders, the newest first.
type ListOrders struct {
	OrgID     string    `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	EventID   string    `query:"eventId" maxLength:"128" description:"Only orders of this event, by its UUID or number."`
	Status    string    `query:"status" enum:"pending,processing,completed,failed,cancelled,expired,refunded,partially_refunded" description:"Only orders in this status."`
	Q         string    `query:"q" maxLength:"200" description:"Parts of the names or addresses of the buyer or an attendee, in any case and without regard to accents, the promo code, or a whole order number, ticket code, door code, or id of an order or ticket."`
	PromoCode string    `query:"promoCode" maxLength:"50" description:"Only orders placed with this promo code, in any case."`
	From      time.Time `query:"from" dateOnly:"start" description:"Only orders placed at this time or later; a date (2026-01-01) is the start of that day in UTC."`
	To        time.Time `query:"to" dateOnly:"end" description:"Only orders placed at this time or earlier; a date (2026-01-01) is the end of that day in UTC."`
	Page
}
