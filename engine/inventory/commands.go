package inventory

import "boxoffice/engine"

// These are the commands of a ticket type besides a keeper's.
type (
	// Create makes the type. The actor's number serves as the command's id: if the type exists, the command
	// changes nothing. It is answered by a *Record.
	Create struct{ Details Details }
	// Update replaces the record, if it is still at Revision. It is answered by
	// a *Record.
	Update struct {
		Details  Details
		Revision uint64
	}
	// Get reads the type. It is answered by *Record.
	Get struct{}
)

// Command makes the types above commands (engine.Command).
func (Create) Command() {}
func (Update) Command() {}
func (Get) Command()    {}

// The details of refusals (docs/rules.md, Errors).
type (
	// OrderCap is the detail of EXCEEDS_MAX_PER_ORDER.
	OrderCap struct {
		TicketTypeID string `json:"ticketTypeId"`
		Max          int64  `json:"max"`
		Requested    int64  `json:"requested"`
	}
	// CustomerCap is the detail of EXCEEDS_MAX_PER_CUSTOMER.
	CustomerCap struct {
		TicketTypeID string `json:"ticketTypeId"`
		Max          int64  `json:"max"`
		AlreadyHeld  int64  `json:"alreadyHeld"`
		Requested    int64  `json:"requested"`
	}
	// Floor is the detail of the refusal of a quantity below what is sold or reserved.
	Floor struct {
		QuantityTotal int64 `json:"quantityTotal"`
		Sold          int64 `json:"sold"`
	}
)

// TypeID returns the public id of the ticket type at ref.
func TypeID(ref engine.Ref) engine.TypeID { return engine.NumberedID(ref.Home, ref.ID) }
