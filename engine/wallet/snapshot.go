package wallet

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Frozen is the snapshot of a wallet.
type Frozen struct {
	Last     stamp       `cbor:"1,keyasint"`
	Entries  int64       `cbor:"2,keyasint"`
	Credited int64       `cbor:"3,keyasint"`
	Voided   int64       `cbor:"4,keyasint"`
	Debited  int64       `cbor:"5,keyasint"`
	Paid     int64       `cbor:"6,keyasint"`
	Open     []*movement `cbor:"7,keyasint"`
	Recent   []*movement `cbor:"8,keyasint"`

	Events []int64             `cbor:"9,keyasint,omitempty"` // numbers of the events whose ledgers have books
	Books  []keeper.FrozenBook `cbor:"10,keyasint,omitempty"`

	Proceeds []keeper.Proceeds `cbor:"11,keyasint,omitempty"`
}

// Freeze returns a copy for a snapshot. It shares with the state only what never changes.
func (s *State) Freeze() any {
	f := &Frozen{
		Last: s.last, Entries: s.entries, Credited: s.credited, Voided: s.voided, Debited: s.debited, Paid: s.paid,
		Open: slices.Clone(s.open), Recent: slices.Clip(s.recent),
	}
	f.Events, f.Books = s.books.Freeze()
	f.Proceeds = s.Proceeds()
	return f
}

// Thaw returns the state that a decoded snapshot describes, or an error if its lists don't fit. It does not check the
// sums (Check).
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || len(f.Events) != len(f.Books) {
		return nil, fmt.Errorf("wallet: snapshot of %s is a %T with lists of unequal length", ref.Name(), frozen)
	}
	s := &State{
		ref: ref, last: f.Last, entries: f.Entries, credited: f.Credited, voided: f.Voided, debited: f.Debited, paid: f.Paid,
		open: f.Open, recent: f.Recent, known: make(map[EntryID]*movement, len(f.Open)+len(f.Recent)),
		books: keeper.ThawBooks(f.Events, f.Books), proceeds: make(map[int64]keeper.Proceeds, len(f.Proceeds)),
	}
	s.held = s.books.Quantity()
	for _, p := range f.Proceeds {
		s.proceeds[p.Event] = p
	}
	for _, m := range slices.Concat(s.recent, s.open) { // the latest version of each comes last
		s.known[m.ID] = m
	}
	return s, nil
}
