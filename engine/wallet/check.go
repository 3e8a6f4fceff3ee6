package wallet

import (
	"errors"
	"fmt"
)

// Check returns the first broken invariant. Above all, the balance must be what the entries add up
// to.
func (s *State) Check() error {
	if err := s.books.Check(); err != nil {
		return fmt.Errorf("wallet: %w", err)
	}
	var pending int64
	for _, m := range s.open {
		if m.Kind != Pended || s.known[m.ID] != m {
			return fmt.Errorf("wallet: pending credit %s is not the one that is known", m.ID)
		}
		pending += m.Amount
	}
	earned, cleared, refunds := s.proceedsSums()
	switch sum := s.credited - s.voided - s.debited - pending + cleared; {
	case s.last.Balance < -refunds || s.last.Pending < -refunds: // money may go back that was paid out before
		return fmt.Errorf("wallet: balance %d, pending %d", s.last.Balance, s.last.Pending)
	case s.held != s.books.Quantity():
		return fmt.Errorf("wallet: %d reserved of %d, %d in the books", s.held, s.last.Balance, s.books.Quantity())
	case s.last.Pending != pending+earned:
		return fmt.Errorf("wallet: %d pending, open credits come to %d and events to %d", s.last.Pending, pending, earned)
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
