package waitlist

import "boxoffice/engine"

// These are the commands to an event about its waitlist. A command that is refused is answered by a *engine.Refusal
// instead of the answer that its comment names.
type (
	// Join puts somebody in line. The caller has proven the address. An address waits only once for a ticket
	// type. The answer is a *Placed.
	Join struct {
		ID       engine.OrderID
		Type     int64 // number of the ticket type; 0 stands for any
		Quantity int64
		Email    string
		Name     string
		Customer uint64
		Client   uint64  // hash of the client's network; with 0 its entries are not counted
		Scale    float64 // multiplies MaxOfNetwork; 0 stands for 1
		// Unproven only asks whether the address might join: nobody has proven it yet, so nothing
		// changes, and the answer does not tell whether it waits already.
		Unproven bool
		Language string `cbor:",omitempty"` // language of the entry
	}
	// Leave takes an entry out of the line, together with its offer. The answer is a *Placed.
	Leave struct{ ID engine.OrderID }
	// Claim accepts an offer, which becomes an order that has to be paid. The answer is a *ledger.OrderReply.
	Claim struct{ ID engine.OrderID }
	// Call makes the line offer the oldest entries, at most Count of them, what is set aside, even if offers are
	// not made automatically. The answer is a *Called.
	Call struct{ Count int64 }
	// Set changes how offers are made. The answer is a *Settings.
	Set struct {
		Auto         *bool
		OfferMinutes *int64
	}
	// Of reads the entries of an address, by its hash. The answer is a *Page.
	Of struct{ Customer uint64 }
	// List reads at most Limit entries whose number is above After, in order. The answer is a *Page.
	List struct {
		After uint64
		Limit int
	}
)

// Key is the entry's id.
func (c Join) Key() engine.OrderID { return c.ID }

// Command makes the types above commands (engine.Command).
func (Join) Command()  {}
func (Leave) Command() {}
func (Claim) Command() {}
func (Call) Command()  {}
func (Set) Command()   {}
func (Of) Command()    {}
func (List) Command()  {}

// These are the replies.
type (
	// Placed is an entry and its place among the waiting entries, from 1; 0 if it does not wait.
	Placed struct {
		Entry    Entry
		Position int
	}
	// Page is a list of entries in the order of their numbers.
	Page struct{ Entries []Placed }
	// Called says how many entries a Call has called, which will be offered something.
	Called struct{ Offered int64 }
	// Settings say how offers are made.
	Settings struct {
		Auto         bool
		OfferMinutes int64
	}
)

// Closed is the detail of WAITLIST_CLOSED.
type Closed struct {
	Reason string `json:"reason"`
}

// These are the reasons why nobody may join a waitlist.
const (
	ClosedNotEnabled = "not_enabled"
	ClosedNotSoldOut = "not_sold_out"
	ClosedOver       = "event_over"
)

// Standing is the detail of the refusal to claim an entry that has no open offer. Status is the entry's status, or
// expired as soon as the time of its offer is over, even if the entry has not been ended yet.
type Standing struct {
	Status string `json:"status"`
}

// Messages are the messages about the line, which the event's kind lists.
var Messages = engine.Messages{
	Commands: []engine.Command{Join{}, Leave{}, Claim{}, Call{}, Set{}, Of{}, List{}},
	Replies:  []engine.Reply{&Placed{}, &Page{}, &Called{}, &Settings{}},
	Details:  []any{Closed{}, Standing{}},
}
