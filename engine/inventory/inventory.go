// Package inventory is the kind of a ticket type: it owns the type's record and stock, and is a
// keeper of the reservation protocol (engine/keeper).
//
// Invariants: with finite stock that is not seats, sold plus reserved never exceeds the quantity; no customer
// buys more than the cap of that time, except that late money, offers of the waitlist and orders of the
// organization have no cap; price, type and currency do not change while a ticket is sold or reserved. Limits:
// one order reserves at most 100 units (edge), an inquiry asks about at most 512 reservations. As long as the
// ledger says that somebody waits for the type (keeper.Await), free units are set aside: they are sold only to
// orders that offer them to those who wait.
//
// A seated type is sized by the event's seat map (keeper.Resize), which also decides whether a seat
// is left. Here its units are counted for the caps and for what is available. Until the map's
// Resize arrives, they may briefly be more than the quantity.
package inventory

import (
	"errors"
	"fmt"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Unlimited is the quantity of a type without finite stock.
const Unlimited = -1

// Details is a ticket type's record. Times are unix milliseconds, 0 for none; money is in minor
// units.
type Details struct {
	Name            string `cbor:"1,keyasint"`
	Type            string `cbor:"2,keyasint"`
	SaleStart       int64  `cbor:"3,keyasint"`
	SaleEnd         int64  `cbor:"4,keyasint"`
	Price           int64  `cbor:"5,keyasint"`
	Currency        string `cbor:"6,keyasint"`
	Quantity        int64  `cbor:"7,keyasint"` // how many units there are, or Unlimited
	MaxPerOrder     int64  `cbor:"8,keyasint"`
	MaxPerCustomer  int64  `cbor:"9,keyasint"`
	Transferable    bool   `cbor:"10,keyasint,omitempty"`
	Refundable      bool   `cbor:"11,keyasint,omitempty"`
	RefundDeadline  int64  `cbor:"12,keyasint,omitempty"`
	PresaleCode     string `cbor:"13,keyasint,omitempty"`
	WaitlistEnabled bool   `cbor:"14,keyasint,omitempty"`
	Description     string `cbor:"15,keyasint,omitempty"`
	AccessURL       string `cbor:"16,keyasint,omitempty"`
	AccessNote      string `cbor:"17,keyasint,omitempty"`
	SectionID       string `cbor:"18,keyasint,omitempty"`
	SortOrder       int64  `cbor:"19,keyasint,omitempty"`
	Hidden          bool   `cbor:"20,keyasint,omitempty"`
	// Seated says that the tickets are seats: Quantity comes from the seat map, which also decides
	// whether any seats are left.
	Seated bool `cbor:"21,keyasint,omitempty"`
	// RefundHours bounds refunds in hours: after the purchase of a digital product, before the
	// booked time of a reservation; nil for no such bound. If there is a RefundDeadline too, the
	// earlier of the two applies.
	RefundHours *int64 `cbor:"22,keyasint,omitempty"`
	// SeatsOnly says that the event sells only seats: as long as no section of its map is sold as
	// this type, the type is not sold.
	SeatsOnly bool `cbor:"23,keyasint,omitempty"`
}

// Unmapped reports whether the type is not sold because it has no seats.
func (t *Details) Unmapped() bool { return t.SeatsOnly && !t.Seated }

// makeTerms returns the terms that a ticket is sold with; nil for the terms that most tickets have.
func (t *Details) makeTerms() *keeper.Terms {
	terms := keeper.Terms{Bound: !t.Transferable, Refundable: t.Refundable, RefundDeadline: t.RefundDeadline, RefundHours: t.RefundHours}
	if terms == (keeper.Terms{}) {
		return nil
	}
	return &terms
}

// equal reports whether two records have the same content.
func (t Details) equal(other Details) bool {
	a, b := t.RefundHours, other.RefundHours
	t.RefundHours, other.RefundHours = nil, nil
	return t == other && (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// State is a ticket type's memory.
type State struct {
	ref     engine.Ref
	details *Details // nil until created; replaced, never changed
	created int64    // unix milliseconds
	rev     uint64   // counts changes of the record and of the offer
	sized   uint64   // revision of the seat map's last Resize
	sold    int64    // units committed
	held    int64    // units reserved
	// awaited is set while somebody waits for the type, which is then sold only to people on the waitlist. awaitRev
	// is the revision of the ledger's last Await message, which has set or cleared awaited.
	awaited  bool
	awaitRev uint64
	book     keeper.Book
	buyers   keeper.Customers

	seen  uint64 // revision of the offer that the ledger has acknowledged (volatile)
	offer int64  // when the offer was last sent, unix milliseconds (volatile)
}

// New returns the empty state of a ticket type.
func New(ref engine.Ref) engine.State {
	return &State{ref: ref, book: keeper.NewBook(), buyers: keeper.NewCustomers()}
}

// Record describes a ticket type, as its actor answers.
type Record struct {
	Ref       engine.Ref
	Details   Details
	CreatedAt int64 // unix milliseconds
	Revision  uint64
	Sold      int64 // units sold or reserved for open orders
	Available int64 // units that may still be sold; negative if they are unlimited
	SetAside  int64 `cbor:",omitempty"` // units set aside for those who wait
}

// makeRecord returns the type's record as it is now. The type must exist.
func (s *State) makeRecord() *Record {
	return &Record{
		Ref: s.ref, Details: *s.details, CreatedAt: s.created, Revision: s.rev,
		Sold: s.takenUnits(), Available: s.unitsForSale(), SetAside: s.standingAt(s.freeUnits()).free,
	}
}

// takenUnits returns the number of units sold or reserved.
func (s *State) takenUnits() int64 { return s.sold + s.held }

// freeUnits returns the number of units neither sold nor reserved; Unlimited if stock is not finite.
func (s *State) freeUnits() int64 { return s.details.leftOf(s.takenUnits()) }

// unitsForSale returns the number of units left for sale; Unlimited if stock is not finite.
func (s *State) unitsForSale() int64 { return s.forSale(s.freeUnits()) }

// forSale returns how many of a given number of free units anybody may buy. It is none while free
// units are set aside for the waitlist.
func (s *State) forSale(free int64) int64 {
	if s.isGuarded() {
		return 0
	}
	return free
}

// isGuarded reports whether free units are set aside for the waitlist. A seated type has no waitlist.
func (s *State) isGuarded() bool { return s.awaited && !s.details.Seated }

// plenty is the number of free units that an offer names if there is no limit, because the waitlist calculates
// with a number.
const plenty = 1 << 31

// standing is what a type's offer says about its stock. If it changes, the ledger needs a new
// offer.
type standing struct {
	soldOut bool
	free    int64 // units that are set aside for the waitlist
}

// standingAt returns what the offer says if the given number of units is free. While units are set
// aside, the type is sold out for everybody else.
func (s *State) standingAt(free int64) standing {
	switch {
	case s.details == nil || !s.isGuarded():
		return standing{soldOut: free == 0}
	case free == Unlimited:
		return standing{soldOut: true, free: plenty}
	default:
		return standing{soldOut: true, free: free}
	}
}

// leftOf returns how many units are left if the given number is taken, or Unlimited. A type that
// has not been created has none.
func (t *Details) leftOf(taken int64) int64 {
	if t == nil {
		return 0
	}
	if t.Quantity == Unlimited {
		return Unlimited
	}
	return max(0, t.Quantity-taken)
}

// Next returns when the state wants its next Wake: to ask about reservations that nobody has confirmed, or to
// send its offer again. It returns the zero time for never.
func (s *State) Next() time.Time {
	due := s.book.Due()
	if s.details != nil && s.seen != s.rev {
		if again := s.offer + offerAgainMillis; due == 0 || again < due {
			due = again
		}
	}
	if due == 0 {
		return time.Time{}
	}
	return time.UnixMilli(due)
}

// Check returns the first broken invariant, or nil: the units held are those in the book, no more are taken than there
// are (unless they are seats), and the units of all buyers together are those taken.
func (s *State) Check() error {
	if s.details == nil {
		if s.sold != 0 || s.held != 0 || s.book.Len() != 0 {
			return errors.New("inventory: stock without a ticket type")
		}
		return nil
	}
	if err := s.book.Check(); err != nil {
		return err
	}
	if got := s.book.Quantity(); got != s.held {
		return fmt.Errorf("inventory: %d units held, %d in the book", s.held, got)
	}
	if q := s.details.Quantity; q != Unlimited && !s.details.Seated && s.takenUnits() > q {
		return fmt.Errorf("inventory: oversold: %d sold + %d held of %d", s.sold, s.held, q)
	}
	if sum := s.buyers.Sum(); sum != s.takenUnits() {
		return fmt.Errorf("inventory: buyers hold %d, stock says %d", sum, s.takenUnits())
	}
	return nil
}

// Sold returns the number of units sold, for the audit.
func (s *State) Sold() int64 { return s.sold }

// Open calls f for every open reservation, for the audit.
func (s *State) Open(f func(keeper.Held)) { s.book.Each(f) }

// Holds reports whether a claim has an open reservation of exactly this quantity, for the audit.
func (s *State) Holds(c keeper.Claim, quantity int64) bool {
	state, h := s.book.Look(c)
	return state == keeper.Open && h.Quantity == quantity
}
