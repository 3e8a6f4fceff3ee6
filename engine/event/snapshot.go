package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/waitlist"
)

// Frozen is the snapshot of an event. The ledger and the tickets have several structs in it, which
// share one space of keys.
type Frozen struct {
	Details *Details       `cbor:"1,keyasint"`
	Status  string         `cbor:"2,keyasint"`
	Created int64          `cbor:"3,keyasint"`
	Updated int64          `cbor:"4,keyasint"`
	Rev     uint64         `cbor:"5,keyasint"`
	Offers  []keeper.Offer `cbor:"6,keyasint"`

	ledger.FrozenOrders
	admission.Frozen
	ledger.FrozenBuyers
	admission.FrozenScans

	Earned *proceeds.Frozen `cbor:"80,keyasint,omitempty"`
	Line   *waitlist.Frozen `cbor:"90,keyasint,omitempty"`
}

// Freeze returns a copy of the state for a snapshot. It shares the pages of orders and tickets, which grow with
// the sale, so it takes no time that buyers would notice.
func (s *State) Freeze() any {
	f := &Frozen{
		Details: s.details, Status: s.status, Created: s.created, Updated: s.updated, Rev: s.rev,
		Offers: s.sortedOffers(), Earned: s.earned.Freeze(), Line: s.line.Freeze(),
	}
	f.FrozenOrders, f.FrozenBuyers = s.book.Freeze()
	f.Frozen, f.FrozenScans = s.tickets.Freeze()
	return f
}

// sortedOffers returns the offers in a fixed order, so that equal states have equal snapshots.
func (s *State) sortedOffers() []keeper.Offer {
	return slices.SortedFunc(maps.Values(s.offers), func(a, b keeper.Offer) int {
		return cmp.Compare(a.Keeper.ID, b.Keeper.ID)
	})
}

// Thaw returns the state that a decoded snapshot describes. It returns an error if the snapshot
// does not fit together, or if the state that it gives breaks an invariant.
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok {
		return nil, fmt.Errorf("event: snapshot of %s is a %T", ref.Name(), frozen)
	}
	s, _ := New(ref).(*State)
	s.details, s.status, s.created, s.updated, s.rev = f.Details, f.Status, f.Created, f.Updated, f.Rev
	for _, o := range f.Offers {
		s.offers[o.Keeper.ID] = o
	}
	var err error
	if s.tickets, err = admission.Thaw(&f.Frozen, &f.FrozenScans); err != nil {
		return nil, fmt.Errorf("event: snapshot of %s: %w", ref.Name(), err)
	}
	s.earned = proceeds.Thaw(f.Earned)
	s.line = waitlist.Thaw(f.Line)
	if err := s.book.Thaw(&f.FrozenOrders, &f.FrozenBuyers); err != nil {
		return nil, fmt.Errorf("event: snapshot of %s: %w", ref.Name(), err)
	}
	// A snapshot does not contain which orders still have to end, so they are listed again.
	if s.status == StatusCancelled {
		s.book.EndAll()
	}
	s.judgeAgain(f.Updated)
	return s, s.Check()
}
