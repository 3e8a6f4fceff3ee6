package wallet

import (
	"fmt"
	"slices"

	"boxoffice/engine"
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
}

// Freeze returns a copy that shares only what never changes.
func (s *State) Freeze() any {
	return &Frozen{
		Last: s.last, Entries: s.entries, Credited: s.credited, Voided: s.voided, Debited: s.debited, Paid: s.paid,
		Open: slices.Clone(s.open), Recent: slices.Clip(s.recent),
	}
}

// Thaw is the state of a decoded snapshot.
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok {
		return nil, fmt.Errorf("wallet: snapshot of %s is a %T", ref.Name(), frozen)
	}
	s := &State{
		ref: ref, last: f.Last, entries: f.Entries, credited: f.Credited, voided: f.Voided, debited: f.Debited, paid: f.Paid,
		open: f.Open, recent: f.Recent, known: make(map[EntryID]*movement, len(f.Open)+len(f.Recent)),
	}
	for _, m := range slices.Concat(s.recent, s.open) { // the last that became of each
		s.known[m.ID] = m
	}
	return s, nil
}
