package event

import (
	"boxoffice/engine/order"
)

// These are the commands to an event. A command that is refused is answered by a *engine.Refusal instead of the
// answer that its comment names.
type (
	// Create makes the event, as a draft. The actor's number serves as the command's id: if the event exists,
	// the command changes nothing. The answer is a *Record.
	Create struct{ Details Details }
	// Update replaces the record, if it is still at Revision. The answer is a *Record.
	Update struct {
		Details  Details
		Revision uint64
	}
	// Move changes the status. The answer is a *Record.
	Move struct {
		To     string
		Reason string
		// Live says that any status in which the event is live satisfies the command. So publishing
		// an event that is already on sale changes nothing.
		Live bool
	}
	// Delete removes a draft, or an event under review, that has sold nothing. It is refused for a completed event,
	// and cancels any other. The answer is a *Record.
	Delete struct{ Reason string }
	// Get reads the event. The answer is a *Record.
	Get struct{}
	// GetType asks whether the event has a ticket type. The answer is a *TypeReply.
	GetType struct{ Type int64 }

	// Erase replaces somebody's name and address by a pseudonym. The person leaves the waitlist, and pending
	// transfers of tickets to or from the person are revoked. The answer is a *Record.
	Erase struct {
		Customer  uint64         // order.CustomerOf the person's address
		Pseudonym string         // what replaces the address (order.Pseudonym)
		Orders    []*order.Order // the read model's records of all orders that name the person
	}
	// Touch says that something has changed that the event's record does not contain, such as its schedule. It
	// makes the fact event.updated with the same record, unless the event has ended. The answer is a *Record.
	Touch struct{}
)

// Command makes the types above commands (engine.Command).
func (Create) Command()  {}
func (Update) Command()  {}
func (Move) Command()    {}
func (Delete) Command()  {}
func (Get) Command()     {}
func (GetType) Command() {}
func (Touch) Command()   {}
func (Erase) Command()   {}

// Record describes an event, as its actor answers. It is a copy and may be kept.
type Record struct {
	Number    int64
	Details   *Details
	Status    string
	CreatedAt int64 // unix milliseconds
	UpdatedAt int64
	Revision  uint64
	Types     int   // how many ticket types the event has
	Sold      bool  // at least one ticket was issued
	Room      int64 // units that the event's capacity still admits, or NoCapacity; only Get fills it
}

// TypeReply tells whether the event has a ticket type.
type TypeReply struct{ Has bool }

// The details of refusals (docs/rules.md, Errors).
type (
	// Transition is the detail of INVALID_STATUS_TRANSITION.
	Transition struct {
		From    string   `json:"from"`
		To      string   `json:"to"`
		Allowed []string `json:"allowed"`
	}
	// Category is the detail of PRODUCT_TYPE_LOCKED.
	Category struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
)
