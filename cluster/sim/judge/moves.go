package judge

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// judgeRescheduled judges the move of a ticket to another date or slot. The ticket must be one that may move: sold,
// not used, not on offer to somebody, without another move that is under way, and its money not gone back. The
// calendar must already hold the new place under the serial of the move, because the ledger may promise nothing that
// is not set aside.
func (t *Truth) judgeRescheduled(ref engine.Ref, b *book, f *order.TicketRescheduled) error {
	sl, h := b.orders[f.ID], b.handOf(f.Ticket)
	if sl == nil || !sl.order.Sold() || b.orderOf(f.Ticket) != f.ID || h.gone || h.inside != nil || h.offer != nil || sl.order.Unsettled() != nil {
		return fmt.Errorf("ticket %d moves by %+v, and is %+v of %+v", f.Ticket, f, h, sl)
	}
	// The fact must name the place that the ticket has now: this is what the calendar will give back.
	from, _ := sl.order.Booking(f.Ticket)
	if f.From.Date != from.Date || f.From.Slot != from.Slot || f.From.Units != 1 {
		return fmt.Errorf("ticket %d leaves %+v, and has %+v", f.Ticket, f.From, from)
	}
	held := t.diaryOf(ref.Home).held[f.ID]
	if held == nil || held.Claim.Serial != f.Serial || len(held.Bookings) != 1 {
		return fmt.Errorf("ticket %d moves by %+v, and the calendar holds %+v", f.Ticket, f, held)
	}
	// Within is true exactly if the date stays the same. Then the date's capacity counts the ticket once all along.
	if to := held.Bookings[0]; to.Date != f.Visit.Date || to.Slot != f.Visit.Slot || to.Units != 1 || to.Within != f.From.Within || to.Within != (to.Date == from.Date) {
		return fmt.Errorf("ticket %d moves by %+v, and the calendar holds %+v", f.Ticket, f, to)
	}
	t.world.Reach("move", "granted")
	if f.From.Within {
		t.world.Reach("move", "within a date")
	}
	// The fold comes last: the checks above ask the order for the ticket's place before the move.
	sl.foldFact(f)
	return nil
}

// movedClaim is how the claim of a move ends in a diary, once the calendar has exchanged the old place for the new
// one.
const movedClaim = "moved"

// judgeRescheduleSettled judges the fact by which the ledger notes that the calendar has taken back a ticket's old
// place. It is the end of a move, so the calendar's own fact must come before it.
func (t *Truth) judgeRescheduleSettled(ref engine.Ref, b *book, f *order.RescheduleSettled) error {
	sl := b.orders[f.ID]
	claim := keeper.Claim{Order: f.ID, Serial: f.Serial}
	if sl == nil || sl.order.Unsettled() == nil || sl.order.Unsettled().Serial != f.Serial || t.diaryOf(ref.Home).ended[claim] != movedClaim {
		return fmt.Errorf("the ledger says %+v, but the calendar has not taken the old place back, or the order %+v waits for no such thing", f, sl)
	}
	sl.foldFact(f)
	return nil
}

// takeMoved judges the calendar's exchange of a ticket's old place for its new one. It may happen only while the
// ledger has the move as unsettled, and must give back the place that the ledger names.
func (t *Truth) takeMoved(ref engine.Ref, d *diary, f *calendar.Moved) error {
	h, sl := d.held[f.Claim.Order], t.bookOf(ref.Home).orders[f.Claim.Order]
	if h == nil || h.Claim != f.Claim || sl == nil || sl.order.Unsettled() == nil {
		return fmt.Errorf("%s has moved, its booking is %+v, its order %+v", enginetest.ClaimName(f.Claim), h, sl)
	}
	if r := sl.order.Unsettled(); r.Serial != f.Claim.Serial || r.From != f.Back || f.Customer != h.Customer {
		return fmt.Errorf("%s gives %+v back: %+v", enginetest.ClaimName(f.Claim), f.Back, r)
	}
	// Only the old place is given back. The new one was counted when it was reserved.
	d.countBookings([]keeper.Booking{f.Back}, f.Customer, -1)
	d.endClaim(f.Claim, movedClaim)
	return nil
}

// isMoved returns whether a ticket of an order has moved under this serial.
func isMoved(o *order.Order, serial keeper.Serial) bool {
	return slices.ContainsFunc(o.Rescheduled, func(r order.Rescheduled) bool { return r.Serial == serial })
}

// judgeBooked makes sure, once the world is quiet, that what is taken of an event's dates and slots is exactly what
// its live tickets are for.
func (t *Truth) judgeBooked(ref engine.Ref) error {
	b, d := t.bookOf(ref.Home), t.diaryOf(ref.Home)
	// A sold order's tickets take their dates, but for those whose money went back. A ticket counts where it is
	// now, and not where it was sold for.
	want := make(map[placeInTime]int64)
	for _, sl := range b.orders {
		o := sl.order
		if !o.Sold() {
			continue
		}
		for k := range uint32(o.Tickets()) {
			if of, ok := o.Booking(o.FirstTicket + k); ok && !b.handOf(o.FirstTicket+k).gone {
				want[placeInTime{of.Date, ""}]++
				if of.Slot != "" {
					want[placeInTime{of.Date, of.Slot}]++
				}
			}
		}
		if o.Unsettled() != nil {
			return fmt.Errorf("a ticket of %s has moved, and the calendar has not heard of it", enginetest.OrderName(o.ID))
		}
	}
	for p, n := range d.taken {
		if want[p] != n {
			return fmt.Errorf("%d units are booked of %s %q, tickets are for %d", n, p.date, p.slot, want[p])
		}
	}
	return nil
}
