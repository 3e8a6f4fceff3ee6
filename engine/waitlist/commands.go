package waitlist

import "boxoffice/engine"

// Commands to an event about its line. Each is answered by the record that its comment
// names, or by a *engine.Refusal.
type (
	// Join puts somebody in line. The same address waits once for the same ticket type.
	// *Placed.
	Join struct {
		ID       engine.OrderID
		Type     int64 // number of the ticket type; 0: any
		Quantity int64
		Email    string
		Name     string
		Customer uint64
	}
	// Leave takes an entry out of the line, with what it was offered. *Placed.
	Leave struct{ ID engine.OrderID }
	// Claim takes what was offered: an order that is to be paid. *event.OrderReply.
	Claim struct{ ID engine.OrderID }
	// Call offers what is set aside to so many more, whether offers go out by themselves or
	// not. *Called.
	Call struct{ Count int64 }
	// Set changes how offers are made. *Settings.
	Set struct {
		Auto         *bool
		OfferMinutes *int64
	}
	// Of reads the entries of an address, by its hash. *Page.
	Of struct{ Customer uint64 }
	// List reads entries after a number. *Page.
	List struct {
		After uint64
		Limit int
	}
)

// Key is the entry's id.
func (c Join) Key() engine.OrderID { return c.ID }

// Command marks the commands.
func (Join) Command()  {}
func (Leave) Command() {}
func (Claim) Command() {}
func (Call) Command()  {}
func (Set) Command()   {}
func (Of) Command()    {}
func (List) Command()  {}

// Replies.
type (
	// Placed is an entry and its place among those who wait, from 1; 0 when it does not.
	Placed struct {
		Entry    Entry
		Position int
	}
	// Page is a part of the line.
	Page struct{ Entries []Placed }
	// Called says to how many something is offered.
	Called struct{ Offered int64 }
	// Settings are how offers are made.
	Settings struct {
		Auto         bool
		OfferMinutes int64
	}
)

// Closed is the detail of WAITLIST_CLOSED.
type Closed struct {
	Reason string `json:"reason"`
}

// Why nobody may wait.
const (
	ClosedNotEnabled = "not_enabled"
	ClosedNotSoldOut = "not_sold_out"
	ClosedOver       = "event_over"
)

// Standing is the detail of a refusal to claim what is not offered, or not any more.
type Standing struct {
	Status string `json:"status"`
}

// Messages are those about the line, for the list of the event's.
var Messages = engine.Messages{
	Commands: []engine.Command{Join{}, Leave{}, Claim{}, Call{}, Set{}, Of{}, List{}},
	Replies:  []engine.Reply{&Placed{}, &Page{}, &Called{}, &Settings{}},
	Details:  []any{Closed{}, Standing{}},
}
