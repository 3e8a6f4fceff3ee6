package seatmap

import "boxoffice/engine"

// The commands of a seat map besides the keeper's. Each may be sent again: what
// is so already takes no fact, and has the same answer.
type (
	// Attach puts a map in the place of the one there is, or changes how the
	// same version is sold. Another map, and another version, begins without
	// prices, holds and blocks, and is refused as SEATS_SOLD while a seat is
	// taken. It is answered by *Record.
	Attach struct {
		Layout   *Layout // never changed again
		Mode     string  // Reserved when empty
		HoldTime int64   // milliseconds; DefaultHold when 0
	}
	// Detach removes the map with prices, holds and blocks. It is answered by
	// *Record, or refused as SEATS_SOLD.
	Detach struct{}
	// Price replaces the whole pricing: a section that is not listed is not
	// for sale. It is answered by *Record.
	Price struct{ Sections []SectionPrice }
	// Hold replaces a holder's selection. It is answered by *Selection: the
	// seats that he can't have have failed, the others are his. It is refused
	// as VELOCITY_LIMIT_EXCEEDED when its principal or network has too many.
	Hold struct {
		Holder    string // names the selection, and is known to the shopper alone
		Principal uint64 // the account, API key or address that asks; 0: no limit counts it
		Seats     []string
		Network   uint64         // a keyed hash of the address that asks; 0: no limit counts it
		Scale     float64        // multiplies the limits of what is held; 0: 1
		Request   engine.Request // known for 24 hours
	}
	// Release takes seats out of a holder's selection: all with Seats nil. It
	// is answered by *Released.
	Release struct {
		Holder  string
		Seats   []string
		Request engine.Request // known for 24 hours
	}
	// Block withholds seats from sale, also held ones, and then puts others
	// back. It is answered by *Blocking, or refused as SEAT_SOLD.
	Block struct{ Block, Unblock []string }
	// BestAvailable replaces a holder's selection by the best seats there
	// are. It is answered by *Best, or refused as TICKET_SOLD_OUT or
	// VELOCITY_LIMIT_EXCEEDED.
	BestAvailable struct {
		Holder     string
		Principal  uint64
		Quantity   int            // 1 to MaxSelection
		Sections   []string       // ids; nil: any
		Type       int64          // the ticket type; 0: any
		Accessible bool           // with a wheelchair place
		Adjacent   bool           // only beside each other
		Network    uint64         // as Hold's
		Scale      float64        // as Hold's
		Request    engine.Request // known for 24 hours
	}
	// View is answered by *Map.
	View struct{}
	// Get is answered by *Record.
	Get struct{}
)

// Command marks the commands.
func (Attach) Command()        {}
func (Detach) Command()        {}
func (Price) Command()         {}
func (Hold) Command()          {}
func (Release) Command()       {}
func (Block) Command()         {}
func (BestAvailable) Command() {}
func (View) Command()          {}
func (Get) Command()           {}

// SectionPrice says which ticket type a section is sold as.
type SectionPrice struct {
	Section string // id
	Type    int64
}

// Reason is why a seat has failed.
type Reason string

// The reasons.
const (
	Unknown    Reason = "unknown"          // not on the map
	NotForSale Reason = "not_for_sale"     // its section has no price
	Taken      Reason = "taken"            // held by another, or sold
	Withheld   Reason = "blocked"          // by the organizer
	Unattended Reason = "needs_wheelchair" // a companion's, without a wheelchair place or the fourth to one
	SingleGap  Reason = "leaves_single"    // the row has as many seats that leave no single one
)

// Selection answers Hold: all that the holder has now.
type Selection struct {
	Held      []string
	Failed    []string
	Reasons   []Reason // of Failed, one each
	ExpiresAt int64    // unix milliseconds; 0 without seats
	Known     bool     // to a request that had this answer before
}

// Released answers Release.
type Released struct {
	Seats []string
	Known bool // to a request that had this answer before
}

// Blocking answers Block: how many seats have changed.
type Blocking struct{ Blocked, Unblocked int }

// Best answers BestAvailable.
type Best struct {
	Held      []string
	Adjacent  bool // all beside each other in a row
	ExpiresAt int64
	Known     bool // to a request that had this answer before
}

// Record is a seat map as its actor answers for it.
type Record struct {
	Ref       engine.Ref
	Attached  bool // the rest is zero without
	Map       [16]byte
	Version   int32
	Mode      string
	HoldTime  int64 // milliseconds
	Prices    []SectionPrice
	Seats     int
	Available int
	Held      int
	Sold      int // or taken by unpaid orders
	Blocked   int
}

// Map is a seat map with all its seats, for those who draw and watch it.
type Map struct {
	Record
	Layout   *Layout // shared: not to be changed
	States   []byte  // four seats to a byte, the first in the lowest bits
	Position uint64  // in the stream: the facts after it change the states, see UpdateOf
}

// State is the state of a seat.
func (m *Map) State(seat int) Status { return Status(m.States[seat/4] >> (seat % 4 * 2) & 3) }

// The details of refusals (docs/rules.md, Errors).
type (
	// Seats is the detail of SEAT_TAKEN, SEAT_SOLD, SEATS_SOLD (the first
	// 100 of them) and of seats that can't be meant.
	Seats struct {
		SeatIDs []string `json:"seatIds"`
	}
	// Room is the detail of TICKET_SOLD_OUT where seats are sought.
	Room struct {
		Requested int `json:"requested"`
		Available int `json:"available"` // such seats, if not beside each other
	}
)
