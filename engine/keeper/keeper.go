// Package keeper is the reservation protocol between a ledger (the actor of an event, which runs
// orders) and the keepers of what an order takes: the stock of a ticket type, the seats and the
// calendar of an event, the uses of a promo code and the money of a wallet.
//
//	ledger                          keeper
//	Reserve(order, serial)   ->     journals Reserved
//	                         <-     Granted, or Refused
//	Commit or Release        ->     journals Committed or Released
//	(repeated until)         <-     Closed
//	Confirmed, or Release    <->    Inquire, 30 s after an unconfirmed Reserve
//
// Presumed abort: a reservation never expires by itself. A keeper that holds an unconfirmed reservation asks
// the ledger, and a ledger that does not know the order releases it.
//
// Every attempt to place an order has a serial that its ledger never uses again: the epoch of the ledger's
// activation above a counter. Because of the serials, a message may be late, lost, repeated or reordered and
// does no harm. A keeper remembers which serials have ended, down to the ledger's floor; below the floor
// nothing is alive. A ledger that has lost its stream can't speak for serials of a later epoch than its own.
//
// Book is a keeper's memory of the protocol with one ledger. Keepers that serve the ledgers of many events have Books.
package keeper

import "boxoffice/engine"

// InquireAfterMillis is how long a keeper holds a reservation unconfirmed before it asks the ledger. The time
// is rounded up (inquireGrain).
const InquireAfterMillis = 30_000

// inquireGrain is what the times of inquiries are rounded up to, in milliseconds, so that many fall on one
// moment (inquireAt).
const inquireGrain = 5_000

// MaxInquire is how many reservations one Inquire asks about at most. inquireRest is how many
// milliseconds lie between two Inquires if there are more: the reservations of a rush fall due
// together, and buyers should not have to wait until all are asked about.
const (
	MaxInquire  = 512
	inquireRest = 5
)

// Serial numbers a ledger's attempts to place orders, to give tickets back and to reschedule them: epoch<<32 |
// counter.
type Serial uint64

// NewSerial returns the n-th serial of a ledger's activation.
func NewSerial(epoch int32, n uint32) Serial { return Serial(epoch)<<32 | Serial(n) }

// Epoch returns the epoch of the ledger's activation that made the serial.
func (s Serial) Epoch() int32 { return int32(s >> 32) }

// Claim names one reservation.
type Claim struct {
	Order  engine.OrderID `cbor:"1,keyasint"`
	Serial Serial         `cbor:"2,keyasint"`
}

// Line is what an order asks of one keeper.
type Line struct {
	Quantity    int64  `cbor:"1,keyasint"`
	Customer    uint64 `cbor:"2,keyasint,omitempty"` // hash of the customer whom the caps count
	PresaleCode string `cbor:"3,keyasint,omitempty"`
	// Late marks money that arrived after the order's end. Keepers then check no more than their stock, because
	// the order met the other rules when it was placed.
	Late bool `cbor:"4,keyasint,omitempty"`
	// Seats are the seats of all seated lines of an order, in the one line that the seat map gets.
	// SeatTypes has the ticket type of each.
	Seats     []string `cbor:"5,keyasint,omitempty"`
	SeatTypes []int64  `cbor:"6,keyasint,omitempty"`
	// Holder is the shopper who may hold the seats. Without a Holder, the seats that the Principal
	// holds count as free.
	Holder    string `cbor:"7,keyasint,omitempty"`
	Principal uint64 `cbor:"8,keyasint,omitempty"`
	// Seated says to a ticket type that the units are seats. The seat map then checks whether any are left.
	Seated bool `cbor:"9,keyasint,omitempty"`
	// Bookings are what all lines of an order take from the event's calendar, in the one line that
	// the calendar gets.
	Bookings []Booking `cbor:"10,keyasint,omitempty"`
	// Unbound says that the organization itself sells, or offers to somebody on the waitlist: windows, codes and
	// caps do not apply, but there must be enough stock.
	Unbound bool `cbor:"11,keyasint,omitempty"`
	// SetAside says that the units are for somebody on the waitlist. A type that people wait for
	// sells to nobody else.
	SetAside bool `cbor:"12,keyasint,omitempty"`
}

// Unseated is the Quantity of a Resize if no seats are sold as the ticket type any more.
const Unseated = -1

// Commands to a keeper.
type (
	// Reserve asks to set a line's goods aside. It is answered by Granted or Refused, or not at all if the
	// claim has ended already.
	Reserve struct {
		Claim
		Floor Serial // all serials below it have ended; 0 if the ledger does not say
		Line  Line
		// Sole says that the ledger asks no other keeper: when it gets Granted it makes the order,
		// in the same commit.
		Sole bool `cbor:",omitempty"`
	}
	// Commit makes a reservation a sale. It is answered by Closed, or not at all if the keeper knows of no such
	// reservation.
	Commit struct {
		Claim
		Floor Serial
		// Back is the place that a ticket gives back in exchange for the place that is sold now;
		// nil for all other sales.
		Back *Booking `cbor:",omitempty"`
	}
	// Release gives a reservation back. It is answered by Closed, or not at all if the keeper knows of no such
	// reservation: then the claim is barred.
	Release struct {
		Claim
		Floor Serial
	}
	// Confirmed says that the orders exist and that the ledger will end them. It answers Inquire about unpaid
	// orders; about all others, the ledger sends Commit or Release.
	Confirmed struct{ Claims []Claim }
	// OfferSeen acknowledges an Offer.
	OfferSeen struct{ Revision uint64 }
	// Await tells a ticket type whether somebody waits for its units. While somebody does, the type
	// sells only to the waitlist. It is repeated until AwaitSeen names its revision.
	Await struct {
		Revision uint64
		On       bool
	}
	// ResizeSeen acknowledges a Resize.
	ResizeSeen struct{ Revision uint64 }
	// Return gives back sold goods after a refund. It is answered by Returned, even if they were
	// given back before. The claim is the refund's own, with a serial of its own; for seats, which
	// know to whom they were sold, it is the order's.
	Return struct {
		Claim
		Floor    Serial    `cbor:",omitempty"`
		Under    Serial    `cbor:",omitempty"` // the refund's serial, which the answer repeats
		Seats    []string  `cbor:",omitempty"`
		Quantity int64     `cbor:",omitempty"`
		Customer uint64    `cbor:",omitempty"`
		Bookings []Booking `cbor:",omitempty"`
	}
)

// Commands to a ledger.
type (
	// Granted says that a line is reserved, and what it costs.
	Granted struct {
		Claim
		Keeper engine.Ref
		Price  int64  // price of one unit, minor units
		Name   string // name of the ticket type
		// Discount is what a promo code grants; nil from other keepers.
		Discount *Discount `cbor:",omitempty"`
		// Visits say when the tickets of a calendar's bookings admit, one visit for each booking.
		Visits []Visit `cbor:",omitempty"`
		// Terms are a ticket type's terms; nil for the terms that most types have.
		Terms *Terms `cbor:",omitempty"`
	}
	// Refused says why a line can't be reserved.
	Refused struct {
		Claim
		Keeper  engine.Ref
		Refusal *engine.Refusal
	}
	// Closed says that a Commit or Release has been carried out.
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
	// AwaitSeen acknowledges an Await.
	AwaitSeen struct {
		Keeper   engine.Ref
		Revision uint64
	}
	// Inquire asks which of the reservations are still wanted.
	Inquire struct {
		Keeper engine.Ref
		Claims []Claim
	}
	// Offer tells the ledger what it needs to know about a ticket type. It is repeated until
	// OfferSeen names its revision. Revision 0 comes from the code that makes a ticket type: it
	// asks for a place among the types of the event.
	Offer struct {
		Keeper    engine.Ref `cbor:"1,keyasint"`
		Revision  uint64     `cbor:"2,keyasint"`
		SaleStart int64      `cbor:"3,keyasint"` // unix milliseconds
		SaleEnd   int64      `cbor:"4,keyasint"`
		Hidden    bool       `cbor:"5,keyasint,omitempty"`
		SoldOut   bool       `cbor:"6,keyasint,omitempty"`
		Paid      bool       `cbor:"7,keyasint,omitempty"` // whether the ticket type has a price
		Seated    bool       `cbor:"8,keyasint,omitempty"` // whether the ticket type's tickets are seats
		// Waitlist says that people may join a waitlist for its units.
		Waitlist bool `cbor:"9,keyasint,omitempty"`
		// Free is how many units of an awaited type are set aside and not yet offered.
		Free int64 `cbor:"10,keyasint,omitempty"`
	}
)

// Resize tells a ticket type its quantity: the number of seats in its sections that are not blocked, plus those
// already sold as this type; or Unseated. It is a message between keepers: a seat map repeats it until
// ResizeSeen names its revision, which the map uses for no other Resize.
type Resize struct {
	Keeper   engine.Ref
	Revision uint64
	Quantity int64
}

// Command makes the types above commands (engine.Command).
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
