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

// diary is what is booked of a calendar, by the calendar's facts.
type diary struct {
	config *calendar.Config
	// held is the reservation of each order, until it is sold or ends otherwise.
	held map[engine.OrderID]*calendar.Reserved
	// ended says of each reservation that is no longer held how it ended: "sold", "released", "replaced", movedClaim,
	// or "returned". The same claim may never be reserved again.
	ended map[keeper.Claim]string
	// taken are the units that are reserved or sold, for each date and for each slot of a date.
	taken map[placeInTime]int64
	// visits are the units of a customer on a date, which may be MaxPerCustomer at most.
	visits map[visitor]int64
}

// placeInTime is one slot of a date. With an empty slot it is the date as a whole, which has a capacity of its own.
type placeInTime struct {
	date keeper.Day
	slot string
}

// visitor is one customer on one date, whom MaxPerCustomer limits.
type visitor struct {
	customer uint64
	date     keeper.Day
}

// diaryOf returns the diary of an event's calendar, by the number of the event.
func (t *Truth) diaryOf(number int64) *diary {
	d := t.diaries[number]
	if d == nil {
		d = &diary{
			held: make(map[engine.OrderID]*calendar.Reserved), ended: make(map[keeper.Claim]string),
			taken: make(map[placeInTime]int64), visits: make(map[visitor]int64),
		}
		t.diaries[number] = d
	}
	return d
}

// countBookings adds bookings to what is taken if sign is 1, and takes them off if it is -1. A booking that is Within
// belongs to a ticket that moves to another slot of the same date: the date and the customer have it already, and
// only the slot gains or loses a unit.
func (d *diary) countBookings(bookings []keeper.Booking, customer uint64, sign int64) {
	for _, b := range bookings {
		if b.Slot != "" {
			d.taken[placeInTime{b.Date, b.Slot}] += sign * b.Units
		}
		if !b.Within {
			d.taken[placeInTime{b.Date, ""}] += sign * b.Units
			d.visits[visitor{customer, b.Date}] += sign * b.Units
		}
	}
}

// takeDates judges a committed fact of a calendar and keeps it.
func (t *Truth) takeDates(ref engine.Ref, d *diary, f engine.Fact) error {
	switch f := f.(type) {
	case *calendar.Configured:
		d.config = f.Config
	case *calendar.Reserved:
		return t.takeBooked(ref, d, f)
	case *calendar.Moved:
		return t.takeMoved(ref, d, f)
	case *keeper.CommittedFact:
		// Dates may be sold only for an order that the ledger has sold under the same serial. Otherwise nobody has
		// paid for what the calendar gives away.
		sl := t.bookOf(ref.Home).orders[f.Claim.Order]
		if h := d.held[f.Claim.Order]; h == nil || h.Claim != f.Claim || sl == nil || !sl.order.Sold() || sl.order.Serial != f.Claim.Serial {
			return fmt.Errorf("%s is sold, its booking is %+v, its order %+v", enginetest.ClaimName(f.Claim), h, sl)
		}
		d.endClaim(f.Claim, "sold")
	case *keeper.ReleasedFact:
		h := d.held[f.Claim.Order]
		if h == nil || h.Claim != f.Claim {
			return fmt.Errorf("%s is released and not reserved", enginetest.ClaimName(f.Claim))
		}
		sl := t.bookOf(ref.Home).orders[f.Claim.Order]
		// An order that is unpaid or sold keeps its dates. So does a ticket that has moved: its new place is under
		// the serial of the move, and may not be let go.
		if sl != nil && (sl.order.Serial == f.Claim.Serial && (sl.order.Unpaid() || sl.order.Sold()) || isMoved(sl.order, f.Claim.Serial)) {
			return fmt.Errorf("%s is released, its order is %s", enginetest.ClaimName(f.Claim), sl.order.Status)
		}
		d.countBookings(h.Bookings, h.Customer, -1)
		d.endClaim(f.Claim, "released")
	case *keeper.ReturnedFact:
		if d.ended[f.Claim] == "returned" {
			return fmt.Errorf("%s gives back twice", enginetest.ClaimName(f.Claim))
		}
		// The fact says which bookings are given back. The refund says of how many tickets, and the two must agree.
		var units int64
		for _, b := range f.Bookings {
			units += b.Units
		}
		if n := t.backUnits(f.Claim); units == 0 || units != n {
			return fmt.Errorf("%s gives back %d, its refund has %d", enginetest.ClaimName(f.Claim), units, n)
		}
		d.ended[f.Claim] = "returned"
		d.countBookings(f.Bookings, f.Customer, -1)
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

// endClaim notes how a reservation ended. The note stays for ever, because the same claim may never be reserved
// again.
func (d *diary) endClaim(c keeper.Claim, how string) {
	delete(d.held, c.Order)
	d.ended[c] = how
}

// backUnits returns how many tickets a refund gives back. The claim names the refund by its order and serial. It
// counts only a refund that was approved.
func (t *Truth) backUnits(c keeper.Claim) (n int64) {
	if sl := t.bookOf(c.Order.Event()).orders[c.Order]; sl != nil {
		for i := range sl.order.Refunds {
			if r := &sl.order.Refunds[i]; r.Approved() && r.Ask.Serial == c.Serial {
				n += int64(len(r.Ask.Tickets))
			}
		}
	}
	return n
}

// takeBooked judges a reservation of dates and keeps it. By the calendar where the show is, each date must be open,
// and no date, slot or customer may have more units than fit. A later attempt of the same order replaces its
// reservation.
func (t *Truth) takeBooked(ref engine.Ref, d *diary, f *calendar.Reserved) error {
	if how, dead := d.ended[f.Claim]; dead {
		return fmt.Errorf("%s is reserved again after it was %s", enginetest.ClaimName(f.Claim), how)
	}
	if old := d.held[f.Claim.Order]; old != nil {
		if old.Claim.Serial >= f.Claim.Serial {
			return fmt.Errorf("%s replaces %s", enginetest.ClaimName(f.Claim), enginetest.ClaimName(old.Claim))
		}
		t.world.Reach("dates", "replaced")
		d.countBookings(old.Bookings, old.Customer, -1)
		d.endClaim(old.Claim, "replaced")
	}
	// The booking is counted before it is judged, so the counts below include it.
	d.held[f.Claim.Order] = f
	d.countBookings(f.Bookings, f.Customer, 1)
	b := t.bookOf(ref.Home)
	// The order may have ended already: then this reservation is for money that came late.
	sl := b.orders[f.Claim.Order]
	late := sl != nil && sl.ended
	today := t.world.DayAt(ref.Home, f.At)
	for _, k := range f.Bookings {
		i := slices.IndexFunc(d.config.Slots, func(s calendar.Slot) bool { return s.ID == k.Slot })
		ahead := int64(k.Date - today)
		// The bookings of late money are not held to the rules for new buyers, because this buyer was in time.
		switch {
		case late && (!sl.order.Sold() || sl.order.Serial > f.Claim.Serial): // for money that came late; of no use once it was taken under another serial
		case ahead < 1 || ahead > d.config.MaxAdvanceDays || slices.Contains(d.config.ClosedDates, k.Date):
			return fmt.Errorf("%s books %+v on %s: %+v", enginetest.ClaimName(f.Claim), k, today, d.config)
		case (d.config.Mode == calendar.DateTime) != (i >= 0) || i >= 0 && d.config.Slots[i].Paused:
			return fmt.Errorf("%s books slot %q: %+v", enginetest.ClaimName(f.Claim), k.Slot, d.config.Slots)
		case !k.Within && d.visits[visitor{f.Customer, k.Date}] > d.config.MaxPerCustomer:
			return fmt.Errorf("%s books %+v: customer %d has %d", enginetest.ClaimName(f.Claim), k, f.Customer, d.visits[visitor{f.Customer, k.Date}])
		}
		// The capacity is judged of late money too: nothing excuses that more people come than fit.
		if n := d.taken[placeInTime{k.Date, ""}]; d.config.DailyCapacity != calendar.NoCapacity && n > d.config.DailyCapacity && !k.Within {
			return fmt.Errorf("%s books %+v: the date has %d of %d", enginetest.ClaimName(f.Claim), k, n, d.config.DailyCapacity)
		}
		if i >= 0 {
			if n := d.taken[placeInTime{k.Date, k.Slot}]; n > d.config.Slots[i].Capacity {
				return fmt.Errorf("%s books %+v: the slot has %d of %d", enginetest.ClaimName(f.Claim), k, n, d.config.Slots[i].Capacity)
			}
		}
	}
	return t.aboveFloor(b, f.Claim, f.Floor)
}

// checkDatesOf returns an error unless the diary holds, under this serial, exactly one booking for each line of the
// order.
func (d *diary) checkDatesOf(o *order.Order, serial keeper.Serial) error {
	h := d.held[o.ID]
	if h == nil || h.Claim.Serial != serial || len(h.Bookings) != len(o.Lines) {
		return fmt.Errorf("order %s has no dates reserved: %+v", enginetest.OrderName(o.ID), h)
	}
	// A calendar keeps one booking for each line, in the order of the lines.
	for i := range o.Lines {
		if k, l := h.Bookings[i], &o.Lines[i]; l.Visit == nil || k.Date != l.Visit.Date || k.Slot != l.Visit.Slot || k.Units != l.Quantity {
			return fmt.Errorf("order %s has %+v for line %+v", enginetest.OrderName(o.ID), k, l)
		}
	}
	return nil
}

// judgeClosed returns an error unless the order's dates ended as the order did: sold if it was sold, and otherwise
// released.
func (d *diary) judgeClosed(o *order.Order) error {
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	if h := d.held[o.ID]; h != nil && h.Claim == claim {
		return fmt.Errorf("order %s is closed and its dates are reserved", enginetest.OrderName(o.ID))
	}
	if sold := d.ended[claim] == "sold"; sold != o.Sold() {
		return fmt.Errorf("order %s is closed as %s, its dates are %q", enginetest.OrderName(o.ID), o.Status, d.ended[claim])
	}
	return nil
}
