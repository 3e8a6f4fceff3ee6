package inventory

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply takes a fact in.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Created:
		s.details, s.created, s.rev = f.Details, f.At, 1
	case *Updated:
		s.details = f.Details
		s.rev++
		s.sized = max(s.sized, f.Resize)
	case *keeper.ReservedFact:
		was := s.available()
		if old, replaced := s.book.Reserve(f); replaced {
			s.hold(old.Customer, -old.Quantity)
		}
		s.hold(f.Customer, f.Quantity)
		s.turned(was)
	case *keeper.CommittedFact:
		if h, open := s.book.End(f.Claim, f.Floor); open {
			s.held -= h.Quantity
			s.sold += h.Quantity
		}
	case *keeper.ReleasedFact:
		was := s.available()
		if h, open := s.book.End(f.Claim, f.Floor); open {
			s.hold(h.Customer, -h.Quantity)
		}
		s.turned(was)
	case *Offered:
		s.offer = f.At
	case *Seen:
		s.seen = max(s.seen, f.Revision)
	default:
		s.book.Apply(f)
	}
}

func (s *State) hold(customer uint64, n int64) {
	s.held += n
	s.buyers.add(customer, n)
}

// turned makes a new offer when the type has sold out or come back.
func (s *State) turned(was int64) {
	if (was == 0) != (s.available() == 0) {
		s.rev++
	}
}
