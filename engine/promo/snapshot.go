package promo

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/paged"
)

// Frozen is the snapshot of a code. Its books are ordered by event.
type Frozen struct {
	Details  *Details             `cbor:"1,keyasint"`
	Created  int64                `cbor:"2,keyasint"`
	Rev      uint64               `cbor:"3,keyasint"`
	Disabled bool                 `cbor:"4,keyasint,omitempty"`
	Redeemed bool                 `cbor:"5,keyasint,omitempty"`
	Used     int64                `cbor:"6,keyasint"`
	Held     int64                `cbor:"7,keyasint"`
	Events   []int64              `cbor:"8,keyasint"`
	Books    []keeper.FrozenBook  `cbor:"9,keyasint"`
	Buyers   paged.Column[uint64] `cbor:"10,keyasint"`
	Counts   paged.Column[int64]  `cbor:"11,keyasint"`
}

// Freeze returns a copy for a snapshot. It shares with the state only what never changes.
func (s *State) Freeze() any {
	f := &Frozen{
		Details: s.details, Created: s.created, Rev: s.rev, Disabled: s.disabled, Redeemed: s.redeemed, Used: s.used, Held: s.held,
	}
	f.Events, f.Books = s.books.Freeze()
	f.Buyers, f.Counts = s.buyers.Freeze()
	return f
}

// Thaw returns the state that a decoded snapshot describes, or an error if its lists don't fit or the state breaks an
// invariant (Check).
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || len(f.Events) != len(f.Books) || len(f.Buyers) != len(f.Counts) {
		return nil, fmt.Errorf("promo: snapshot of %s is a %T with lists of unequal length", ref.Name(), frozen)
	}
	s, _ := New(ref).(*State)
	s.details, s.created, s.rev, s.disabled, s.redeemed, s.used, s.held = f.Details, f.Created, f.Rev, f.Disabled, f.Redeemed, f.Used, f.Held
	s.books = keeper.ThawBooks(f.Events, f.Books)
	s.buyers = keeper.ThawCustomers(f.Buyers, f.Counts)
	return s, s.Check()
}
