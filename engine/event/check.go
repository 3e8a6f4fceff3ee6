package event

import (
	"fmt"

	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Check returns the first broken invariant.
func (s *State) Check() error {
	if s.details == nil {
		if s.live != 0 {
			return fmt.Errorf("event: %d units alive without an event", s.live)
		}
		return nil
	}
	issued, live := int64(0), int64(s.minted.len()-s.minted.ended)
	for o := range s.open.all() {
		switch {
		case o.Unpaid():
			live += o.Tickets()
		case o.Sold():
			issued += o.Tickets()
			if err := s.checkTickets(o); err != nil {
				return err
			}
		}
		if o.Status == order.StatusCompleted && !o.Sold() || o.Unpaid() && o.Sold() {
			return fmt.Errorf("event: order %s is %s with first ticket %d", o.ID, o.Status, o.FirstTicket)
		}
	}
	begun := int64(0)
	for _, p := range s.placing {
		begun += p.order.Tickets()
	}
	if begun != s.begun {
		return fmt.Errorf("event: %d units being placed, counted %d", begun, s.begun)
	}
	live += begun
	if live != s.live {
		return fmt.Errorf("event: %d units alive, counted %d", live, s.live)
	}
	if issued > int64(s.minted.len()) {
		return fmt.Errorf("event: %d tickets sold, %d minted", issued, s.minted.len())
	}
	// Capacity may be lowered below what is sold, so only the groups are checked.
	for g := range s.minted.groups() {
		if s.minted.size(g) == 0 {
			return fmt.Errorf("event: ticket group %d is empty", g)
		}
	}
	unused := 0
	for status := range s.minted.status.All() {
		if status == ticketIssued {
			unused++
		}
	}
	if unused != s.minted.unused {
		return fmt.Errorf("event: %d tickets unused, counted %d", unused, s.minted.unused)
	}
	if err := s.checkLine(); err != nil {
		return err
	}
	if err := s.checkTallies(); err != nil {
		return err
	}
	return s.checkFloor()
}

// checkTallies recounts what the velocity rules count, and compares.
func (s *State) checkTallies() error {
	var open, doing int64
	for o := range s.open.all() {
		if o.Unpaid() && isCounted(o) && o.Total > 0 {
			open++
		}
	}
	for _, p := range s.placing {
		if p.late == nil && isCounted(p.order) {
			doing++
		}
	}
	if err := s.made.checkCounts(open, doing); err != nil {
		return err
	}
	return s.tries.checkCounts(0, 0)
}

// checkTickets looks an order's tickets up by their serials, and checks that they are the order's.
func (s *State) checkTickets(o *order.Order) error {
	g := s.minted.groupOf(o.FirstTicket)
	for i := range o.Lines {
		if g+i >= s.minted.groups() || s.minted.order.At(g+i) != o.ID || int64(s.minted.size(g+i)) != o.Lines[i].Quantity {
			return fmt.Errorf("event: order %s lacks the tickets of line %d", o.ID, i)
		}
	}
	return nil
}

// checkFloor makes sure that no live serial lies below the floor. An activation whose successor
// sold something before this one had read the journal knows claims of a later epoch than its own.
// Its own serials are below those, which does no harm, because it is fenced and none of its serials
// becomes a fact.
func (s *State) checkFloor() error {
	overtaken := s.alive.Len() > 0 && s.alive.At(0).Serial.Epoch() > s.epoch
	if s.epoch == 0 || overtaken {
		return nil
	}
	floor := s.lowestAlive()
	below := func(n keeper.Serial) bool { return n < floor }
	for o := range s.open.all() {
		if below(o.Serial) {
			return fmt.Errorf("event: order %s lies below the floor", o.ID)
		}
	}
	for id, p := range s.placing {
		if below(p.order.Serial) {
			return fmt.Errorf("event: order %s is placed below the floor", id)
		}
	}
	return nil
}
