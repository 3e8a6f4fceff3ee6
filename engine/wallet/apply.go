package wallet

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply applies a fact to the state. The balance is taken over from the entry, and the sums are
// added up separately, so that Check can compare the two.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Entered:
		s.applyEntered(f)
	case *Told:
		s.applyTold(f)
	case *keeper.ReservedFact:
		if old, replaced := s.books.Reserve(f); replaced {
			s.held -= old.Quantity
		}
		s.held += f.Quantity
	case *keeper.CommittedFact:
		s.endFee(f.Claim, f.Floor)
	case *keeper.ReleasedFact:
		s.endFee(f.Claim, f.Floor)
	default:
		s.books.Apply(f)
	}
}

// endFee ends the reservation of a fee, whether the fee was debited or released.
func (s *State) endFee(c keeper.Claim, floor keeper.Serial) {
	if h, open := s.books.End(c, floor); open {
		s.held -= h.Quantity
	}
}

// applyEntered adds an entry to the sums, and remembers its movement. A cleared credit was added when it was credited
// as pending.
func (s *State) applyEntered(e *Entered) {
	switch e.Entry.Kind {
	case Credited, Pended:
		s.credited += e.Entry.Amount
	case Voided:
		s.voided += e.Entry.Amount
	case Debited:
		s.debited += e.Entry.Amount
		if e.Entry.PaysOut() {
			s.paid += e.Entry.Amount
		}
	case Cleared: // was added when it was credited
	case Sold, Refunded, Clearing: // come in other facts
	}
	s.last = e.Entry.stampOf()
	s.entries++
	s.rememberEntry(e)
}
