package wallet

import "boxoffice/engine"

// Apply takes a fact in. The balance is what the entry says, the sums are added
// up beside it: Check compares them.
func (s *State) Apply(f engine.Fact) {
	e, ok := f.(*Entered)
	if !ok {
		return
	}
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
	case Cleared: // is credited already
	}
	s.last = e.Entry.stamp()
	s.entries++
	s.remember(e)
}
