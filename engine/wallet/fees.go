package wallet

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// protocol returns the wallet's side of the reservation protocol with one ledger.
func (s *State) protocol(event int64) keeper.Protocol {
	return keeper.Protocol{Self: s.ref, Ledger: engine.EventRef(event), Book: s.books.Of(event), Goods: s}
}

// RefuseLine returns the reason why a fee can't be reserved, or nil. A fee that the same order has
// reserved under an earlier serial counts as available.
func (s *State) RefuseLine(l *keeper.Line, replaced keeper.Held, at int64) *engine.Refusal {
	if available := s.availableBalance() + replaced.Quantity; l.Quantity > available {
		return engine.Refuse(engine.InsufficientFunds, Funds{s.currencyCode(), engine.Decimal(l.Quantity, s.currencyCode()), engine.Decimal(available, s.currencyCode())})
	}
	if s.isFull(&Entry{Kind: Debited, At: at}) {
		return engine.Refuse(engine.Overloaded, nil)
	}
	return nil
}

// GrantLine returns the grant of a fee.
func (s *State) GrantLine(c keeper.Reserve) keeper.Granted {
	return keeper.Granted{Claim: c.Claim, Keeper: s.ref}
}

// ReserveLine adds the fact that sets a fee aside.
func (s *State) ReserveLine(d *engine.Decision, c keeper.Reserve, replaced keeper.Held, at int64) {
	d.Facts = append(d.Facts, &keeper.ReservedFact{
		Claim: c.Claim, Floor: c.Floor, At: at, Quantity: c.Line.Quantity, Left: s.availableBalance() + replaced.Quantity - c.Line.Quantity,
	})
}

// CommitLine adds the facts that end the reservation of a fee and debit it. The entry's id is the order's, so
// an order's fee is one movement.
func (s *State) CommitLine(d *engine.Decision, c keeper.Commit, h keeper.Held, at int64) {
	fee := Entry{
		ID: c.Order, Kind: Debited, Amount: h.Quantity, Reason: IssueFee, Reference: c.Order.String(), At: max(at, s.last.At),
	}
	d.Facts = append(d.Facts, &keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor})
	d.Facts = append(d.Facts, s.enterEntry(fee, fingerprintOf(&fee)).Facts...)
}

// ReleaseLine adds the fact that gives a reserved fee back.
func (s *State) ReleaseLine(d *engine.Decision, c keeper.Release, h keeper.Held, _ int64) {
	d.Facts = append(d.Facts, &keeper.ReleasedFact{Claim: c.Claim, Floor: c.Floor, Left: s.availableBalance() + h.Quantity})
}

// Held returns the sum of the fees that are reserved, for the audit.
func (s *State) Held() int64 { return s.held }

// Open calls f for every open reservation, for the audit.
func (s *State) Open(f func(keeper.Held)) { s.books.Each(f) }
