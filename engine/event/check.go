package event

import (
	"fmt"

	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// Check returns the first broken invariant, of the event itself or of one of its parts, or nil. Tests and the
// audit call it, and Thaw does for each snapshot.
func (s *State) Check() error {
	// An event that was not created, or was removed, must not have sold anything.
	if s.details == nil {
		if units := s.unitsTaken(); units != 0 {
			return fmt.Errorf("event: %d units alive without an event", units)
		}
		return nil
	}
	if err := s.book.Check(); err != nil {
		return err
	}
	var sold []*order.Order
	offered := 0
	// Each offered order must belong to an entry of the waitlist that has this offer, and each such entry must
	// have its order.
	for o := range s.book.Open() {
		if o.Sold() {
			sold = append(sold, o)
		}
		if o.Status != order.StatusOffered {
			continue
		}
		offered++
		if e := s.line.Find(o.ID); e == nil || e.Status != waitlist.StatusOffered {
			return fmt.Errorf("event: order %s is offered to nobody", o.ID)
		}
	}
	if n := s.line.Offered(); n != offered {
		return fmt.Errorf("event: %d orders are offered, to %d entries", offered, n)
	}
	// The organizer may lower the capacity below what is sold, so units are not compared with it.
	if err := s.tickets.Check(sold); err != nil {
		return err
	}
	return s.line.Check(s.offers)
}
