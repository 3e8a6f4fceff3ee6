// Package promo is the kind of a promo code: it owns the code's terms and its uses, and is a keeper
// of the reservation protocol (engine/keeper).
//
// A use is reserved when an order is placed, consumed when the order is completed, and given back when the
// order ends unpaid or all its tickets have been refunded. The code grants its terms, and the ledger computes
// the discount from them (engine/order), because the code does not know prices. An organization-wide code
// serves the orders of many events. It has one book for each ledger, because serials and floors have a meaning
// only within one ledger.
//
// Invariants: no use is granted beyond MaxUses, or beyond MaxByCustomer of a known customer, as they are at
// that time, except to late money, which takes its use again. The edge and the ledgers of orders send it
// commands. It wakes to ask about reservations that no ledger has confirmed, and has no goroutine. Limits:
// 1,000,000 uses with a limit; one code belongs to one organization.
package promo

import (
	"fmt"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Details are a code's terms as its organizer sets them. Times are unix milliseconds.
type Details struct {
	keeper.Discount `cbor:"1,keyasint"`
	ValidFrom       int64  `cbor:"2,keyasint"`
	ValidUntil      int64  `cbor:"3,keyasint"`           // the first moment at which the code is no longer valid
	Event           int64  `cbor:"4,keyasint,omitempty"` // number of the only event that the code is for; 0 stands for all of the organization
	Description     string `cbor:"5,keyasint,omitempty"`
	MaxUses         int64  `cbor:"6,keyasint,omitempty"` // how often the code may be used in all; with 0 there is no limit
	MaxByCustomer   int64  `cbor:"7,keyasint,omitempty"` // how often one customer may use the code; with 0 there is no limit
}

// equal reports whether two records have the same content.
func (t *Details) equal(other *Details) bool {
	return slices.Equal(t.Types, other.Types) && t.Code == other.Code && t.Percentage == other.Percentage && t.Value == other.Value && t.MoreDecimals == other.MoreDecimals &&
		t.MinOrder == other.MinOrder && t.ValidFrom == other.ValidFrom && t.ValidUntil == other.ValidUntil && t.Event == other.Event &&
		t.Description == other.Description && t.MaxUses == other.MaxUses && t.MaxByCustomer == other.MaxByCustomer
}

// State is a code's memory.
type State struct {
	ref      engine.Ref
	details  *Details // nil until the code is created, and after it is removed; replaced, never changed
	created  int64    // unix milliseconds
	rev      uint64
	disabled bool
	redeemed bool  // whether a use was ever consumed: the code can't be renamed or removed then
	used     int64 // uses consumed
	held     int64 // uses reserved
	books    keeper.Books
	buyers   keeper.Customers // how many uses each customer has
}

// New returns the empty state of a code.
func New(ref engine.Ref) engine.State {
	return &State{ref: ref, books: keeper.NewBooks(), buyers: keeper.NewCustomers()}
}

// Record describes a code, as its actor answers.
type Record struct {
	Ref       engine.Ref
	Details   Details
	CreatedAt int64 // unix milliseconds
	Revision  uint64
	Disabled  bool
	Redeemed  bool
	Removed   bool  // set in the answer to the Delete that removed the code
	Used      int64 // uses consumed
	Held      int64 // uses reserved for open orders
}

func (s *State) makeRecord() *Record {
	return &Record{
		Ref: s.ref, Details: *s.details, CreatedAt: s.created, Revision: s.rev,
		Disabled: s.disabled, Redeemed: s.redeemed, Used: s.used, Held: s.held,
	}
}

// Next returns when the state wants its next Wake, to ask about reservations that nobody has confirmed. It
// returns the zero time for never.
func (s *State) Next() time.Time { return s.books.Next() }

// Check returns the first broken invariant, or nil: the uses held are those in the books, those held and used are the
// customers' together, and a code that was removed has none.
func (s *State) Check() error {
	if err := s.books.Check(); err != nil {
		return fmt.Errorf("promo: %w", err)
	}
	held := s.books.Quantity()
	switch bought := s.buyers.Sum(); {
	case held != s.held:
		return fmt.Errorf("promo: %d uses held, %d in the books", s.held, held)
	case bought != s.held+s.used:
		return fmt.Errorf("promo: customers have %d uses, %d are held and %d used", bought, s.held, s.used)
	case s.details == nil && bought != 0:
		return fmt.Errorf("promo: %d uses of a code that is not there", bought)
	}
	return nil
}

// Used returns the number of uses consumed, for the audit.
func (s *State) Used() int64 { return s.used }

// Open calls f for every open reservation, for the audit.
func (s *State) Open(f func(keeper.Held)) { s.books.Each(f) }

// Holds reports whether a reservation is open, for the audit.
func (s *State) Holds(c keeper.Claim) bool {
	state, _ := s.books.Of(c.Order.Event()).Look(c)
	return state == keeper.Open
}
