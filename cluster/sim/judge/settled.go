package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Settled judges the world once it is quiet, when everything has come to its end: nothing may be half done. Shows are
// all events, refs all actors.
func (t *Truth) Settled(shows []Show, refs []engine.Ref) error {
	for i := range shows {
		if err := t.settledBook(&shows[i]); err != nil {
			return fmt.Errorf("%s has not settled: %w", shows[i].Event.Name(), err)
		}
	}
	// A show does not name its waiting room, so the rooms are found among all actors.
	for _, ref := range refs {
		if ref.Kind == engine.KindQueue {
			if err := t.rooms.Settled(ref); err != nil {
				return err
			}
		}
	}
	if err := t.settledFees(shows); err != nil {
		return fmt.Errorf("fees have not settled: %w", err)
	}
	if err := t.settledCodes(shows, refs); err != nil {
		return fmt.Errorf("promo codes have not settled: %w", err)
	}
	return nil
}

// settledBook judges one event once the world is quiet. All its orders are ended and closed, and the state of each of
// its actors, replayed from the journal, agrees with the judge's counts.
func (t *Truth) settledBook(sh *Show) error {
	b := t.bookOf(sh.Event.ID)
	// A public event whose dates are over must have been completed by its timer. An event with a calendar has no date
	// at which it is over.
	if !b.removed && sh.Dates.Kind == 0 && b.status != event.StatusDraft && b.status != event.StatusCancelled && b.status != event.StatusCompleted {
		return fmt.Errorf("its dates are over and it is %s", b.status)
	}
	for _, id := range b.ids {
		switch sl := b.orders[id]; {
		case sl.order.Unpaid():
			return fmt.Errorf("order %s is %s", enginetest.OrderName(id), sl.order.Status)
		case !sl.closed:
			return fmt.Errorf("order %s is %s and not closed", enginetest.OrderName(id), sl.order.Status)
		}
	}
	state, err := t.world.Replay(sh.Event)
	if err != nil {
		return err
	}
	sales, ok := state.(*event.State)
	if !ok || int64(sales.Tickets()) != int64(len(b.tickets))-b.gone {
		return fmt.Errorf("the ledger has not the journal's %d live tickets", int64(len(b.tickets))-b.gone)
	}
	if err := b.settledGates(sales); err != nil {
		return err
	}
	if err := t.settledProceeds(sh); err != nil {
		return err
	}
	if err := t.settledOffers(sh, sales); err != nil {
		return err
	}
	if err := t.settledSeats(sh); err != nil {
		return err
	}
	if err := t.settledDates(sh); err != nil {
		return err
	}
	for _, ref := range sh.Types {
		state, err := t.world.Replay(ref)
		if err != nil {
			return err
		}
		stock, ok := state.(*inventory.State)
		if !ok {
			return fmt.Errorf("%s is a %T", ref.Name(), state)
		}
		if stock.Sold() != b.types[ref.ID] {
			return fmt.Errorf("%s has sold %d, tickets are %d", ref.Name(), stock.Sold(), b.types[ref.ID])
		}
		// Open lists what the stock still reserves. Every order is closed, so nothing may be left.
		stock.Open(func(h keeper.Held) {
			if err == nil {
				err = fmt.Errorf("%s still reserves %d for %s", ref.Name(), h.Quantity, enginetest.ClaimName(h.Claim))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settledSeats judges a show's seats once the world is quiet: each seat that is taken belongs to a completed order,
// and every seated ticket type has as many units as it has seats.
func (t *Truth) settledSeats(sh *Show) error {
	if sh.Seats.Kind == 0 {
		return nil
	}
	b := t.bookOf(sh.Event.Home)
	var sold []*order.Order
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Sold() {
			sold = append(sold, o)
		}
	}
	if err := t.seats.Settled(sh.Seats, sold); err != nil {
		return err
	}
	for _, ref := range sh.Types {
		d := t.stockOf(ref).details
		if n, seated := t.seats.Size(sh.Seats, ref.ID); seated != d.Seated || seated && n != d.Quantity {
			return fmt.Errorf("%s has %d seats (seated %t), and is %+v", ref.Name(), n, seated, d)
		}
	}
	return nil
}

// settledOffers makes sure, once the world is quiet, that the ledger knows of each ticket type whether it is sold by
// seat. An event that was removed has no details any more, and need not know.
func (t *Truth) settledOffers(sh *Show, state *event.State) error {
	f, ok := state.Freeze().(*event.Frozen)
	if !ok {
		return fmt.Errorf("a snapshot of another kind: %T", state.Freeze())
	}
	if f.Details == nil {
		return nil
	}
	for _, o := range f.Offers {
		if d := t.stockOf(o.Keeper).details; o.Seated != d.Seated {
			return fmt.Errorf("%s is offered as %+v, and is %+v", o.Keeper.Name(), o, d)
		}
	}
	return nil
}

// settledDates makes sure, once the world is quiet, that no booking is still reserved, and that the calendar's state
// counts what its facts say.
func (t *Truth) settledDates(sh *Show) error {
	if sh.Dates.Kind == 0 {
		return nil
	}
	d := t.diaryOf(sh.Event.ID)
	if len(d.held) > 0 {
		return fmt.Errorf("%d bookings are still reserved", len(d.held))
	}
	if err := t.judgeBooked(sh.Event); err != nil {
		return err
	}
	calendarState, _, _ := t.world.Owner(sh.Dates)
	rec, ok := calendarState.Decide(calendar.Get{Counts: true}, enginetest.Epoch).Reply.(*calendar.Record)
	if !ok {
		return nil // it was never configured
	}
	has := make(map[placeInTime]int64)
	for _, c := range rec.Taken {
		has[placeInTime{c.Date, c.Slot}] = c.Units
	}
	// Only dates from today on are compared: the calendar need not keep the counts of past ones.
	for p, n := range d.taken {
		if p.date >= rec.Today && has[p] != n {
			return fmt.Errorf("%s has %d units of %s %q, booked are %d", sh.Dates.Name(), has[p], p.date, p.slot, n)
		}
	}
	return nil
}
