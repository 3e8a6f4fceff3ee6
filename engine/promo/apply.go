package promo

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply applies a fact to the state. It keeps the uses in all and the uses of each customer in
// step.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Created:
		s.details, s.created, s.disabled = f.Details, f.At, false
		s.rev++
	case *Updated:
		s.details = f.Details
		s.rev++
	case *DisabledFact:
		s.disabled = true
		s.rev++
	case *Removed:
		s.details = nil
		s.rev++
	case *keeper.ReservedFact:
		if old, replaced := s.books.Reserve(f); replaced {
			s.addUses(old.Customer, -old.Quantity)
		}
		s.addUses(f.Customer, f.Quantity)
	case *keeper.CommittedFact:
		if h, open := s.books.End(f.Claim, f.Floor); open {
			s.held -= h.Quantity
			s.used += h.Quantity
			s.redeemed = true
		}
	case *keeper.ReleasedFact:
		if h, open := s.books.End(f.Claim, f.Floor); open {
			s.addUses(h.Customer, -h.Quantity)
		}
	case *keeper.ReturnedFact:
		s.books.End(f.Claim, f.Floor)
		s.used -= f.Quantity
		s.buyers.Add(f.Customer, -f.Quantity)
	default:
		s.books.Apply(f)
	}
}

// addUses adds n to the reserved uses and to the uses that a customer has. n may be negative.
func (s *State) addUses(customer uint64, n int64) {
	s.held += n
	s.buyers.Add(customer, n)
}
