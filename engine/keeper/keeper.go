// Package keeper is the reservation protocol between a ledger (the actor of an
// event, which runs orders) and the keepers of what an order takes: the stock
// of a ticket type, the seats of an event and, later, slots, promo uses and
// wallets.
//
//	ledger                          keeper
//	Reserve(order, serial)   ->     journals Reserved
//	                         <-     Granted, or Refused
//	Commit or Release        ->     journals Committed or Released
//	(repeated until)         <-     Closed
//	Confirmed, or Release    <->    Inquire, 30 s after an unconfirmed Reserve
//
// Presumed abort: a reservation never expires by itself. A keeper that has held
// one unconfirmed asks the ledger, and a ledger that does not know the order
// releases it.
//
// Every attempt to place an order has a serial that its ledger never uses
// again: the epoch of the ledger's activation above a counter. Serials make
// every message harmless when it is late, lost, repeated or reordered: a
// keeper remembers which serials have ended, down to the ledger's floor, below
// which nothing is alive; and a ledger that has lost its stream can't speak
// for serials of a later epoch than its own.
//
// Book is a keeper's memory of the protocol; each keeper kind embeds one.
package keeper

import "boxoffice/engine"

// InquireAfterMillis is how long a keeper holds a reservation unconfirmed
// before it asks the ledger.
const InquireAfterMillis = 30_000

// inquireGrain is how exact that is.
const inquireGrain = 5_000

// MaxInquire is how many reservations one Inquire asks about at most, and
// inquireRest how many milliseconds come between two when there are more: those
// of a rush fall due together, and buyers should not wait behind them.
const (
	MaxInquire  = 512
	inquireRest = 5
)

// Serial numbers the attempts to place an order: epoch<<32 | counter.
type Serial uint64

// NewSerial is the n-th serial of a ledger's activation.
func NewSerial(epoch int32, n uint32) Serial { return Serial(epoch)<<32 | Serial(n) }

// Epoch is the epoch of the ledger's activation that made the serial.
func (s Serial) Epoch() int32 { return int32(s >> 32) }

// Claim names one reservation.
type Claim struct {
	Order  engine.OrderID `cbor:"1,keyasint"`
	Serial Serial         `cbor:"2,keyasint"`
}

// Line is what an order asks of one keeper.
type Line struct {
	Quantity    int64  `cbor:"1,keyasint"`
	Customer    uint64 `cbor:"2,keyasint,omitempty"` // who the caps count for
	PresaleCode string `cbor:"3,keyasint,omitempty"`
	// Late marks money that arrived after the order's end: only stock is
	// judged, for the buyer has met the other rules before.
	Late bool `cbor:"4,keyasint,omitempty"`
	// Seats are the seats of all seated lines of an order, in the one line
	// that the seat map hears; SeatTypes are their ticket types, one each.
	Seats     []string `cbor:"5,keyasint,omitempty"`
	SeatTypes []int64  `cbor:"6,keyasint,omitempty"`
	// Holder is who may have held the seats. Without one, the seats that
	// the Principal holds count as free.
	Holder    string `cbor:"7,keyasint,omitempty"`
	Principal uint64 `cbor:"8,keyasint,omitempty"`
	// Seated says, to a ticket type, that the units are seats: whether there
	// are any left is for the seat map to judge.
	Seated bool `cbor:"9,keyasint,omitempty"`
	// Bookings are what all lines of an order take of the event's calendar, in the one
	// line that the calendar hears.
	Bookings []Booking `cbor:"10,keyasint,omitempty"`
	// Unbound says that the organization sells by itself: windows, codes and caps do not
	// bind it; what there is does.
	Unbound bool `cbor:"11,keyasint,omitempty"`
	// SetAside says that the units are for somebody who waits for them: of a type that
	// is awaited, they are sold to nobody else.
	SetAside bool `cbor:"12,keyasint,omitempty"`
}

// Unseated is the quantity of a ticket type that no seats are sold as any more.
const Unseated = -1

// Commands to a keeper.
type (
	// Reserve asks to set a line's goods aside. It is answered by Granted
	// or Refused.
	Reserve struct {
		Claim
		Floor Serial // serials below it have all ended; 0 says nothing
		Line  Line
		// Sole says that the ledger has nobody else to ask: on hearing Granted
		// it makes the order, in the same commit.
		Sole bool `cbor:",omitempty"`
	}
	// Commit makes a reservation a sale. It is answered by Closed.
	Commit struct {
		Claim
		Floor Serial
		// Back is the place that a ticket gives back for the one that is sold now; nil of
		// all other sales.
		Back *Booking `cbor:",omitempty"`
	}
	// Release gives a reservation back. It is answered by Closed.
	Release struct {
		Claim
		Floor Serial
	}
	// Confirmed says that the orders exist and that the ledger will end
	// them. It answers Inquire.
	Confirmed struct{ Claims []Claim }
	// OfferSeen acknowledges an Offer.
	OfferSeen struct{ Revision uint64 }
	// Await tells a ticket type whether somebody waits for its units: as long as that is so
	// it sells to nobody but them. It is repeated until AwaitSeen names its revision.
	Await struct {
		Revision uint64
		On       bool
	}
	// ResizeSeen acknowledges a Resize.
	ResizeSeen struct{ Revision uint64 }
	// Return gives back what was sold, after a refund. It is answered by Returned, also
	// when it is given back already. The claim is the refund's own, with a serial that it
	// alone has; of seats, which know to whom they were sold, it is the order's.
	Return struct {
		Claim
		Floor    Serial    `cbor:",omitempty"`
		Under    Serial    `cbor:",omitempty"` // the refund's serial, for the ledger
		Seats    []string  `cbor:",omitempty"`
		Quantity int64     `cbor:",omitempty"`
		Customer uint64    `cbor:",omitempty"`
		Bookings []Booking `cbor:",omitempty"`
	}
)

// Commands to a ledger.
type (
	// Granted says what a reserved line costs.
	Granted struct {
		Claim
		Keeper engine.Ref
		Price  int64  // per unit, minor units
		Name   string // of the ticket type
		// Discount is what a promo code gives; nil of the other keepers.
		Discount *Discount `cbor:",omitempty"`
		// Visits say when the tickets of a calendar's bookings admit, one each.
		Visits []Visit `cbor:",omitempty"`
		// Terms are a ticket type's; nil for those that most have.
		Terms *Terms `cbor:",omitempty"`
	}
	// Refused says why a line can't be reserved.
	Refused struct {
		Claim
		Keeper  engine.Ref
		Refusal *engine.Refusal
	}
	// Closed says that Commit or Release has been carried out.
	Closed struct {
		Claim
		Keeper engine.Ref
	}
	// Returned says that the goods of a Return are free again.
	Returned struct {
		Claim
		Keeper engine.Ref
		Under  Serial   `cbor:",omitempty"`
		Seats  []string `cbor:",omitempty"`
	}
	// AwaitSeen says that a ticket type has taken an Await in.
	AwaitSeen struct {
		Keeper   engine.Ref
		Revision uint64
	}
	// Inquire asks which of the reservations are still wanted.
	Inquire struct {
		Keeper engine.Ref
		Claims []Claim
	}
	// Offer tells the ledger what it needs to know of what is for sale. It
	// is repeated until OfferSeen names its revision. Revision 0 is from whoever
	// makes a ticket type: it asks for a place among those of the event.
	Offer struct {
		Keeper    engine.Ref `cbor:"1,keyasint"`
		Revision  uint64     `cbor:"2,keyasint"`
		SaleStart int64      `cbor:"3,keyasint"` // unix milliseconds
		SaleEnd   int64      `cbor:"4,keyasint"`
		Hidden    bool       `cbor:"5,keyasint,omitempty"`
		SoldOut   bool       `cbor:"6,keyasint,omitempty"`
		Paid      bool       `cbor:"7,keyasint,omitempty"` // has a price
		Seated    bool       `cbor:"8,keyasint,omitempty"` // its tickets are seats
		// Waitlist says that people may wait for its units.
		Waitlist bool `cbor:"9,keyasint,omitempty"`
		// Free are the units of an awaited type that are set aside and not offered yet.
		Free int64 `cbor:"10,keyasint,omitempty"`
	}
)

// Resize tells a ticket type how many seats there are to sell as it: those of
// its sections that are not blocked, and those sold as it already; or Unseated.
// Between keepers: a seat map repeats it until ResizeSeen names its revision,
// which no other Resize of the map has.
type Resize struct {
	Keeper   engine.Ref
	Revision uint64
	Quantity int64
}

// Command marks the messages as commands.
func (Reserve) Command()    {}
func (Commit) Command()     {}
func (Release) Command()    {}
func (Confirmed) Command()  {}
func (OfferSeen) Command()  {}
func (Granted) Command()    {}
func (Refused) Command()    {}
func (Closed) Command()     {}
func (Inquire) Command()    {}
func (Offer) Command()      {}
func (Await) Command()      {}
func (AwaitSeen) Command()  {}
func (Resize) Command()     {}
func (ResizeSeen) Command() {}
func (Return) Command()     {}
func (Returned) Command()   {}
