package inventory

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply applies a fact to the state. Facts that change the stock raise the revision if the ledger
// must get a new offer.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Created:
		s.details, s.created, s.rev = f.Details, f.At, 1
	case *Updated:
		s.details = f.Details
		s.rev++
		s.sized = max(s.sized, f.Resize)
	case *Awaited:
		was := s.standingAt(s.freeUnits())
		s.awaited, s.awaitRev = f.On, f.Revision
		s.raiseRevision(was)
	case *keeper.ReservedFact:
		was := s.standingAt(s.freeUnits())
		if old, replaced := s.book.Reserve(f); replaced {
			s.holdUnits(old.Customer, -old.Quantity)
		}
		s.holdUnits(f.Customer, f.Quantity)
		s.raiseRevision(was)
	case *keeper.CommittedFact:
		if h, open := s.book.End(f.Claim, f.Floor); open {
			s.held -= h.Quantity
			s.sold += h.Quantity
		}
	case *keeper.ReleasedFact:
		was := s.standingAt(s.freeUnits())
		if h, open := s.book.End(f.Claim, f.Floor); open {
			s.holdUnits(h.Customer, -h.Quantity)
		}
		s.raiseRevision(was)
	case *keeper.ReturnedFact:
		was := s.standingAt(s.freeUnits())
		s.book.End(f.Claim, f.Floor)
		s.sold -= f.Quantity
		s.buyers.Add(f.Customer, -f.Quantity)
		s.raiseRevision(was)
	case *Offered:
		s.offer = f.At
	case *Seen:
		s.seen = max(s.seen, f.Revision)
	default:
		s.book.Apply(f)
	}
}

// holdUnits adds n units to what is reserved, and to what the customer has. n may be negative.
func (s *State) holdUnits(customer uint64, n int64) {
	s.held += n
	s.buyers.Add(customer, n)
}

// raiseRevision raises the revision if the type has sold out or come back since, or if more or less
// of it is set aside. A new revision means that the ledger gets a new offer. was is the standing before the fact.
func (s *State) raiseRevision(was standing) {
	if was != s.standingAt(s.freeUnits()) {
		s.rev++
	}
}
