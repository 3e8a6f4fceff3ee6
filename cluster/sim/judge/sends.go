package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// MayLeave returns an error if a message that leaves an actor says something that the journal does not have. The
// receiver acts on the message at once, so what it says must be durable before it leaves.
func (t *Truth) MayLeave(from engine.Ref, c engine.Command) error {
	// An order counts only under the serial that the claim names: the keeper's reservation may be of another attempt.
	orderOf := func(claim keeper.Claim) *order.Order {
		if sl := t.bookOf(from.Home).orders[claim.Order]; sl != nil && sl.order.Serial == claim.Serial {
			return sl.order
		}
		return nil
	}
	switch c := c.(type) {
	// A keeper says yes. It must have reserved, or the reservation must have ended since: the yes may be delayed.
	case keeper.Granted:
		if from.Kind == engine.KindSeatmap {
			return t.seats.CheckGranted(from, c.Claim)
		}
		if from.Kind == engine.KindCalendar {
			d := t.diaryOf(from.Home)
			if h := d.held[c.Order]; d.ended[c.Claim] == "" && (h == nil || h.Claim != c.Claim) {
				return fmt.Errorf("%s is granted and not reserved", enginetest.ClaimName(c.Claim))
			}
			return nil
		}
		st := t.stockOf(from)
		h := st.held[c.Order]
		if _, ended := st.ended[c.Claim]; !ended && (h == nil || h.Claim != c.Claim) {
			return fmt.Errorf("%s is granted and not reserved", enginetest.ClaimName(c.Claim))
		}
	// The ledger tells a keeper that its reservation is sold, or that a ticket has moved under it.
	case keeper.Commit:
		if sl := t.bookOf(from.Home).orders[c.Order]; c.Back != nil && sl != nil && isMoved(sl.order, c.Serial) {
			return nil
		}
		if o := orderOf(c.Claim); o == nil || !o.Sold() {
			return fmt.Errorf("order %s is not completed: %+v", enginetest.ClaimName(c.Claim), o)
		}
	// The ledger tells a keeper to give up its reservation. It must not need it any more.
	case keeper.Release:
		// Of a move that has been settled, a late question is moot.
		if sl := t.bookOf(from.Home).orders[c.Order]; sl != nil && sl.order.Unsettled() != nil && sl.order.Unsettled().Serial == c.Serial {
			return fmt.Errorf("%s is released, and a ticket has moved under it", enginetest.ClaimName(c.Claim))
		}
		o := orderOf(c.Claim) // a closed one is sold for good, and a late question about it moot
		if o != nil && (o.Unpaid() || o.Sold() && !t.bookOf(from.Home).orders[o.ID].closed) {
			return fmt.Errorf("order %s is %s", enginetest.ClaimName(c.Claim), o.Status)
		}
	// The ledger confirms to a keeper that reservations belong to orders which are still open.
	case keeper.Confirmed:
		for _, claim := range c.Claims {
			if t.bookOf(from.Home).orders[claim.Order] == nil {
				return fmt.Errorf("order %s is not in the journal", enginetest.ClaimName(claim))
			}
		}
	// A ticket type acknowledges a new number of seats, which makes the seat map stop repeating it.
	case keeper.ResizeSeen:
		if c.Revision > t.stockOf(from).sized {
			return fmt.Errorf("resize %d is not in the journal", c.Revision)
		}
	// A keeper acknowledges that a reservation is over. The ledger will forget it then.
	case keeper.Closed:
		if from.Kind == engine.KindSeatmap && t.seats.IsReserved(from, c.Claim) {
			return fmt.Errorf("%s is still reserved", enginetest.ClaimName(c.Claim))
		}
		if h := t.stockOf(from).held[c.Order]; h != nil && h.Claim == c.Claim {
			return fmt.Errorf("%s is still reserved", enginetest.ClaimName(c.Claim))
		}
	}
	return nil
}
