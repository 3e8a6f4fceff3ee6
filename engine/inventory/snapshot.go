package inventory

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/paged"
)

// Frozen is the snapshot of a ticket type.
type Frozen struct {
	Details *Details             `cbor:"1,keyasint"`
	Created int64                `cbor:"2,keyasint"`
	Rev     uint64               `cbor:"3,keyasint"`
	Sold    int64                `cbor:"4,keyasint"`
	Held    int64                `cbor:"5,keyasint"`
	Book    keeper.FrozenBook    `cbor:"6,keyasint"`
	Buyers  paged.Column[uint64] `cbor:"7,keyasint"`
	Counts  paged.Column[int64]  `cbor:"8,keyasint"`
	Sized   uint64               `cbor:"9,keyasint,omitempty"`

	Awaited  bool   `cbor:"10,keyasint,omitempty"`
	AwaitRev uint64 `cbor:"11,keyasint,omitempty"`
}

// Freeze returns a copy for a snapshot. It shares with the state only what never changes.
func (s *State) Freeze() any {
	buyers, counts := s.buyers.Freeze()
	return &Frozen{
		Details: s.details, Created: s.created, Rev: s.rev, Sold: s.sold, Held: s.held,
		Book: s.book.Freeze(), Buyers: buyers, Counts: counts, Sized: s.sized,
		Awaited: s.awaited, AwaitRev: s.awaitRev,
	}
}

// Thaw returns the state that a decoded snapshot describes. Volatile state is lost: the ledger has seen no offer,
// and no reservation is confirmed.
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || len(f.Buyers) != len(f.Counts) {
		return nil, fmt.Errorf("inventory: snapshot of %s is a %T with columns of unequal length", ref.Name(), frozen)
	}
	return &State{
		ref: ref, details: f.Details, created: f.Created, rev: f.Rev, sold: f.Sold, held: f.Held, sized: f.Sized,
		awaited: f.Awaited, awaitRev: f.AwaitRev,
		book: keeper.Thaw(f.Book), buyers: keeper.ThawCustomers(f.Buyers, f.Counts),
	}, nil
}
