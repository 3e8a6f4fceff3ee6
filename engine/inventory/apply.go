package inventory

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply applies a fact to the state.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Created:
		s.details, s.created, s.rev = f.Details, f.At, 1
	case *Updated:
		s.details = f.Details
		s.rev++
		s.sized = max(s.sized, f.Resize)
	case *Awaited:
		was := s.standing(s.free())
		s.awaited, s.awaitRev = f.On, f.Revision
		s.turned(was)
	case *keeper.ReservedFact:
		was := s.standing(s.free())
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
		was := s.standing(s.free())
		if h, open := s.book.End(f.Claim, f.Floor); open {
			s.hold(h.Customer, -h.Quantity)
		}
		s.turned(was)
	case *keeper.ReturnedFact:
		was := s.standing(s.free())
		s.book.End(f.Claim, f.Floor)
		s.sold -= f.Quantity
		s.buyers.Add(f.Customer, -f.Quantity)
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
	s.buyers.Add(customer, n)
}

// turned raises the revision, and so makes a new offer, if the type has sold out or come back, or
// if more or less of it is set aside.
func (s *State) turned(was standing) {
	if was != s.standing(s.free()) {
		s.rev++
	}
}
