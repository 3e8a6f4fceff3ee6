package wallet

import (
	"errors"
	"fmt"
)

// Check returns the first broken invariant.
func (s *State) Check() error {
	var pending int64
	for _, m := range s.open {
		if m.Kind != Pended || s.known[m.ID] != m {
			return fmt.Errorf("wallet: pending credit %s is not the one that is known", m.ID)
		}
		pending += m.Amount
	}
	switch sum := s.credited - s.voided - s.debited - pending; {
	case s.last.Balance < 0 || s.last.Pending < 0:
		return fmt.Errorf("wallet: balance %d, pending %d", s.last.Balance, s.last.Pending)
	case s.last.Pending != pending:
		return fmt.Errorf("wallet: %d pending, open credits come to %d", s.last.Pending, pending)
	case s.last.Balance != sum:
		return fmt.Errorf("wallet: balance %d, the ledger comes to %d", s.last.Balance, sum)
	case s.paid < 0 || s.paid > s.debited:
		return fmt.Errorf("wallet: %d paid out of %d debited", s.paid, s.debited)
	case s.last.Number != s.entries:
		return fmt.Errorf("wallet: %d entries, the last is number %d", s.entries, s.last.Number)
	case len(s.known) > len(s.open)+len(s.recent):
		return errors.New("wallet: movements are known that are neither recent nor pending")
	}
	return nil
}
