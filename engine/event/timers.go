package event

import (
	"boxoffice/engine"
	"boxoffice/engine/ledger"
)

// decideWake does everything that is due at a time, in unix milliseconds. The first wake of an activation has its
// epoch, and only tells the ledger that a new activation has begun.
func (s *State) decideWake(c engine.Wake, terms *ledger.Terms, now int64) engine.Decision {
	var d engine.Decision
	if c.Epoch > 0 {
		d.Facts = append(d.Facts, &ledger.Woken{Epoch: c.Epoch})
		return d
	}
	s.wakeClock(&d, terms, now)
	s.earned.Wake(&d, s.makeClearingTerms(), now)
	s.wakeLine(&d, terms, now)
	return d
}

// wakeClock wakes the ledger, and changes the event's status if a sale window or a date calls for
// that.
func (s *State) wakeClock(d *engine.Decision, terms *ledger.Terms, now int64) {
	elapsed := s.boundary != 0 && s.boundary <= now
	s.book.Wake(d, terms, elapsed, now)
	if elapsed { // Moved comes after the Elapsed of Wake: it may set the boundary to now, and Elapsed would overwrite that
		if to := s.dueStatus(now); to != s.status {
			d.Facts = append(d.Facts, &Moved{From: s.status, To: to, At: now})
		}
	}
}
