package keeper

import "boxoffice/engine"

// Messages are the protocol's messages, which belong to no kind.
var Messages = engine.Messages{
	Commands: []engine.Command{
		Reserve{},
		Commit{},
		Release{},
		Confirmed{},
		OfferSeen{},
		Granted{},
		Refused{},
		Closed{},
		Inquire{},
		Offer{},
		Await{},
		AwaitSeen{},
		Resize{},
		ResizeSeen{},
		Return{},
		Returned{},
		Proceeds{},
		ProceedsSeen{},
	},
	Details: []any{OutOfStock{}, NotOnSale{}, OfType{}, BadCode{}, NotExtendable{}, DateClosed{}, DateFull{}, DateCap{}, Issues{}},
}

// These are the details of refusals that ledgers and keepers share (docs/rules.md, Errors).
type (
	// OutOfStock is the detail of TICKET_SOLD_OUT, for a ticket type that has too few units left or
	// an event without capacity for them.
	OutOfStock struct {
		TicketTypeID string `json:"ticketTypeId"`
		Requested    int64  `json:"requested"`
		Available    int64  `json:"available"`
	}
	// NotOnSale is the detail of NOT_ON_SALE. The times are RFC 3339.
	NotOnSale struct {
		TicketTypeID string `json:"ticketTypeId"`
		SaleStart    string `json:"saleStart"`
		SaleEnd      string `json:"saleEnd"`
		// Reason is not_started, ended, hidden or unmapped, or, for the event as a whole, event_
		// followed by its status.
		Reason string `json:"reason"`
	}
	// BadCode is the detail of PROMO_CODE_INVALID.
	BadCode struct {
		Reason string `json:"reason"`
	}
	// OfType is the detail of a refusal that only names the ticket type.
	OfType struct {
		TicketTypeID string `json:"ticketTypeId"`
	}
)
