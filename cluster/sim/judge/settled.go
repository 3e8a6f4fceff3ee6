package judge

import (
	"errors"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// Settled judges the world once it is quiet: everything has come to its end. Refs are all actors.
func (t *Truth) Settled(shows []Show, refs []engine.Ref) error {
	for i := range shows {
		if err := t.settledBook(&shows[i]); err != nil {
			return fmt.Errorf("%s has not settled: %w", shows[i].Event.Name(), err)
		}
	}
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

// settledBook judges an event's orders and the stock they took.
func (t *Truth) settledBook(sh *Show) error {
	b := t.bookOf(sh.Event.ID)
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

// settledSeats judges a show's seats once the world is quiet: no hold is left,
// the seats that are taken belong to completed orders, and every ticket type
// has as many units as it has seats.
func (t *Truth) settledSeats(sh *Show) error {
	if sh.Seats.Kind == 0 {
		return nil
	}
	st, b := t.seatsOf(sh.Seats), t.bookOf(sh.Event.Home)
	if len(st.picks) > 0 || len(st.reserved) > 0 {
		return fmt.Errorf("%d selections and %d reservations are left", len(st.picks), len(st.reserved))
	}
	for i := range st.spots {
		if claim := st.spots[i].claim; claim.Serial != 0 {
			if sl := b.orders[claim.Order]; sl == nil || !sl.order.Sold() || sl.order.Serial != claim.Serial || t.goneSeats(sl.order)[st.seatID(int32(i))] {
				return fmt.Errorf("seat %s is of %s, which is %+v", st.seatID(int32(i)), enginetest.ClaimName(claim), sl)
			}
		}
	}
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Sold() {
			if err := st.checkSeatsOf(o, o.Serial, t.goneSeats(o)); err != nil {
				return err
			}
		}
	}
	for _, ref := range sh.Types {
		d := t.stockOf(ref).details
		if n, seated := st.size(ref.ID); seated != d.Seated || seated && n != d.Quantity {
			return fmt.Errorf("%s has %d seats (seated %t), and is %+v", ref.Name(), n, seated, d)
		}
	}
	state, err := t.world.Replay(sh.Seats)
	if err != nil {
		return err
	}
	m, ok := state.(*seatmap.State)
	if !ok {
		return fmt.Errorf("a %T", state)
	}
	m.Open(func(h keeper.Held) {
		err = errors.Join(err, fmt.Errorf("%s is still reserved", enginetest.ClaimName(h.Claim)))
	})
	m.Selections(func(holder string, _ int64, ids []string) {
		err = errors.Join(err, fmt.Errorf("%s still holds %v", holder, ids))
	})
	m.Sales(func(c keeper.Claim, ids []string) {
		for _, id := range ids {
			if i := slices.Index(st.layout.SeatIDs, id); i < 0 || st.spots[i].claim != c {
				err = errors.Join(err, fmt.Errorf("seat %s is of %s", id, enginetest.ClaimName(c)))
			}
		}
	})
	return err
}

// settledOffers makes sure that the ledger knows which ticket types are seated,
// unless it was removed and need not.
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

// settledDates makes sure that no date is held any more, and that the calendar's actor has
// the journal's counts.
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
	for p, n := range d.taken {
		if p.date >= rec.Today && has[p] != n {
			return fmt.Errorf("%s has %d units of %s %q, booked are %d", sh.Dates.Name(), has[p], p.date, p.slot, n)
		}
	}
	return nil
}
