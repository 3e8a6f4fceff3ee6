package event

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Which keepers an order has. A line of it is kept by its ticket type; an order
// with seats has one line more for its keepers, behind the others: all its seats,
// which the event's seat map gives together or not at all.

// keeperOf is the keeper of an order's line.
func (s *State) keeperOf(o *Order, line int) engine.Ref {
	if line == len(o.Lines) {
		return engine.SeatmapRef(s.ref.Event)
	}
	return engine.InventoryRef(s.ref.Event, o.Lines[line].Type)
}

// lineOf is the line of an order that a keeper keeps, or -1.
func lineOf(o *Order, k engine.Ref) int {
	if k.Kind == engine.KindSeatmap {
		if o.seated() {
			return len(o.Lines)
		}
		return -1
	}
	for i := range o.Lines {
		if o.Lines[i].Type == k.ID {
			return i
		}
	}
	return -1
}

// allLines is the mask of the lines that an order's keepers keep.
func allLines(o *Order) uint32 {
	n := len(o.Lines)
	if o.seated() {
		n++
	}
	return uint32(1)<<n - 1
}

// seated says whether the order takes seats.
func (o *Order) seated() bool { return o.Shopper != nil }

// takesSeats says whether one of the lines does.
func takesSeats(lines []OrderLine) bool {
	return slices.ContainsFunc(lines, func(l OrderLine) bool { return len(l.Seats) > 0 })
}

// seats is what the order asks of the seat map.
func (o *Order) seats() keeper.Line {
	l := keeper.Line{Customer: o.Customer, Holder: o.Shopper.Holder, Principal: o.Shopper.Principal}
	for i := range o.Lines {
		for _, seat := range o.Lines[i].Seats {
			l.Seats, l.SeatTypes = append(l.Seats, seat), append(l.SeatTypes, o.Lines[i].Type)
		}
	}
	l.Quantity = int64(len(l.Seats))
	return l
}

// missSeats refuses lines of which one does not name a seat for each ticket of a
// seated type, names any for another, or names one that the order has already.
func (s *State) missSeats(lines []OrderLine) *engine.Refusal {
	var issues []Issue
	find := func(i int, code, message string) {
		issues = append(issues, Issue{Path: fmt.Sprintf("items[%d].venueSeatIds", i), Code: code, Message: message})
	}
	var named map[string]bool
	for i := range lines {
		l := &lines[i]
		n, seated := int64(len(l.Seats)), s.offers[l.Type].Seated
		switch {
		case !seated && n == 0:
		case !seated:
			find(i, "max_items", "must not be given: these tickets have no seats")
		case n == 0:
			find(i, "required", "is required: these tickets are sold by seat")
		case n < l.Quantity:
			find(i, "min_items", fmt.Sprintf("must name %d seats, one for each ticket", l.Quantity))
		case n > l.Quantity:
			find(i, "max_items", fmt.Sprintf("must name %d seats, one for each ticket", l.Quantity))
		}
		for _, seat := range l.Seats {
			if named[seat] {
				find(i, "duplicate", "names seat "+seat+", which the order has already")
				break
			}
			if named == nil {
				named = make(map[string]bool, n)
			}
			named[seat] = true
		}
	}
	if len(issues) == 0 {
		return nil
	}
	return engine.Refuse(engine.Validation, Issues{Issues: issues})
}
