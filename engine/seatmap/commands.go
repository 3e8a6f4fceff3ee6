package seatmap

import "boxoffice/engine"

// These are the commands of a seat map besides a keeper's. A command whose Request was answered before gets the
// same answer again (decideOnce). Without a Request, an Extend that is repeated extends once more.
type (
	// Attach replaces the map, or changes how the same version is sold. It is answered by *Record. Another map, or
	// another version of the map, begins without prices, holds and blocks, and is refused as SEATS_SOLD while an
	// order has a seat.
	Attach struct {
		Layout   *Layout // must not be changed any more
		Mode     string  // Reserved or GAMixed; "" stands for Reserved
		HoldTime int64   // milliseconds that a selection is held; 0 stands for DefaultHold
	}
	// Detach removes the map with prices, holds and blocks. It is answered by *Record, or refused as SEATS_SOLD
	// while an order has a seat.
	Detach struct{}
	// Price replaces the whole pricing: a section that is not listed is not
	// for sale. It is answered by *Record.
	Price struct{ Sections []SectionPrice }
	// Hold replaces a holder's selection. It is answered by *Selection: the holder gets the seats
	// that are available, and the others have failed. It is refused as VELOCITY_LIMIT_EXCEEDED if
	// it would exceed the limit of its principal or network (velocity.go).
	Hold struct {
		Holder    string // names the selection; only the shopper knows it
		Principal uint64 // hash of the account, API key or address that asks; with 0 the limit on held seats does not apply
		Seats     []string
		Network   uint64         // keyed hash of the address that asks; with 0 its limit does not apply
		Scale     float64        // multiplies the limits on held seats; 0 stands for 1
		Request   engine.Request // the request's idempotency key and hash, remembered for 24 hours
	}
	// Release takes seats out of a holder's selection, or all seats if Seats is nil. It is answered
	// by *Released.
	Release struct {
		Holder  string
		Seats   []string
		Request engine.Request // the request's idempotency key and hash, remembered for 24 hours
	}
	// Extend gives a holder's selection the time of a hold once more. It is answered by *Selection,
	// or refused as EXTENSION_NOT_POSSIBLE.
	Extend struct {
		Holder  string
		Request engine.Request // the request's idempotency key and hash, remembered for 24 hours
	}
	// Block withholds seats from sale, even held ones, and then puts others back. It is answered by
	// *Blocking, or refused as SEAT_SOLD.
	Block struct{ Block, Unblock []string }
	// BestAvailable replaces a holder's selection by the best available seats. It is answered by
	// *Best, or refused as TICKET_SOLD_OUT or VELOCITY_LIMIT_EXCEEDED.
	BestAvailable struct {
		Holder     string
		Principal  uint64         // as in Hold
		Quantity   int            // 1 to MaxSelection
		Sections   []string       // ids of the sections to choose from; nil stands for all
		Type       int64          // number of the ticket type; 0 stands for any
		Accessible bool           // whether a wheelchair place must be among the seats
		Adjacent   bool           // whether the seats must be beside each other
		Network    uint64         // keyed hash of the address that asks, as in Hold
		Scale      float64        // multiplies the limits on held seats, as in Hold
		Request    engine.Request // the request's idempotency key and hash, remembered for 24 hours
	}
	// View reads the map with all its seats. It is answered by *Map.
	View struct{}
	// Get reads the map without its seats. It is answered by *Record.
	Get struct{}
)

// Command makes the types above commands (engine.Command).
func (Attach) Command()        {}
func (Detach) Command()        {}
func (Price) Command()         {}
func (Hold) Command()          {}
func (Release) Command()       {}
func (Extend) Command()        {}
func (Block) Command()         {}
func (BestAvailable) Command() {}
func (View) Command()          {}
func (Get) Command()           {}

// SectionPrice says which ticket type a section is sold as.
type SectionPrice struct {
	Section string // id of the section
	Type    int64
}

// Reason says why a seat has failed.
type Reason string

// The reasons.
const (
	Unknown    Reason = "unknown"          // not on the map
	NotForSale Reason = "not_for_sale"     // its section has no price
	Taken      Reason = "taken"            // held by another, or taken by an order
	Withheld   Reason = "blocked"          // withheld by the organizer
	Unattended Reason = "needs_wheelchair" // a companion seat beyond three to each wheelchair place of the selection
	SingleGap  Reason = "leaves_single"    // it leaves a single seat, which another choice in the row would not
)

// Selection answers Hold and Extend with the holder's whole selection. Extend has no failed seats.
type Selection struct {
	Held      []string
	Failed    []string
	Reasons   []Reason // one for each of Failed
	ExpiresAt int64    // unix milliseconds at which the selection ends; 0 if it has no seats
	Known     bool     // whether the request had this answer before
}

// Released answers Release with the seats that were taken out of the selection.
type Released struct {
	Seats []string
	Known bool // whether the request had this answer before
}

// Blocking answers Block with the numbers of seats that have changed.
type Blocking struct{ Blocked, Unblocked int }

// Best answers BestAvailable with the holder's new selection.
type Best struct {
	Held      []string
	Adjacent  bool  // whether all seats are beside each other in a row
	ExpiresAt int64 // unix milliseconds at which the selection ends
	Known     bool  // whether the request had this answer before
}

// Record describes a seat map, as its actor answers.
type Record struct {
	Ref       engine.Ref
	Attached  bool // whether the event has a seat map; if not, all other fields but Ref are zero
	Map       [16]byte
	Version   int32
	Mode      string
	HoldTime  int64 // milliseconds that a selection is held
	Prices    []SectionPrice
	Seats     int
	Available int
	Held      int
	Sold      int // including seats of unpaid orders
	Blocked   int
}

// Map is a seat map with all its seats, for clients that draw and watch it.
type Map struct {
	Record
	Layout   *Layout // shared, must not be changed; nil without a map
	States   []byte  // four seats to a byte, the first in the lowest bits
	Position uint64  // number of the last journaled fact in States; later facts change them (UpdateOf)
}

// State returns the state of a seat.
func (m *Map) State(seat int) Status { return Status(m.States[seat/4] >> (seat % 4 * 2) & 3) }

// The details of refusals (docs/rules.md, Errors).
type (
	// Seats is the detail of SEAT_TAKEN, SEAT_SOLD and SEATS_SOLD (the first 100 sold seats), and of the refusal
	// of an order's seats that the map does not have or sells as another type.
	Seats struct {
		SeatIDs []string `json:"seatIds"`
	}
	// Room is the detail of TICKET_SOLD_OUT for BestAvailable.
	Room struct {
		Requested int `json:"requested"`
		Available int `json:"available"` // seats that meet the request, not necessarily beside each other
	}
)
