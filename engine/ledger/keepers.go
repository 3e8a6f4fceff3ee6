package ledger

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
)

// MaxLines is how many lines an order may have at most, because its places have to fit into a places.Set. The
// edge takes fewer.
const MaxLines = 100

// askedOf returns what an order that is being placed asks of the keeper at a place. A ticket type is asked once, at the
// place of its first line, for the quantity of all its lines.
func (p *placing) askedOf(place int) keeper.Line {
	o := p.order
	var l keeper.Line
	switch place - len(o.Lines) {
	case places.Seats:
		l = places.LineOfSeats(o)
	case places.Promo:
		l = keeper.Line{Quantity: 1, Customer: o.Customer}
	case places.Calendar:
		l = places.LineOfBookings(o)
	case places.Wallet:
		l = keeper.Line{Quantity: o.Issue.Fee}
	default:
		of := &o.Lines[place]
		l = keeper.Line{Quantity: of.Quantity, Customer: o.Customer, PresaleCode: p.presale, Seated: len(of.Seats) > 0}
		// A ticket type may have several lines, and its keeper reserves once for all of them. The first of them asks.
		for i := place + 1; i < len(o.Lines); i++ {
			if o.Lines[i].Type == of.Type {
				l.Quantity += o.Lines[i].Quantity
			}
		}
	}
	l.Late, l.Unbound, l.SetAside = p.late != nil, o.Issue != nil || p.offer, p.offer
	return l
}

// takesSeats reports whether one of the lines takes seats.
func takesSeats(lines []order.Line) bool {
	return slices.ContainsFunc(lines, func(l order.Line) bool { return len(l.Seats) > 0 })
}

// missDates refuses lines without a date if the event's tickets are for a date, and lines with a
// date if they are not.
func (b *Book) missDates(t *Terms, lines []order.Line) *engine.Refusal {
	takes := t.Dated
	var issues []keeper.Issue
	for i := range lines {
		path := fmt.Sprintf("items[%d].reservationDate", i)
		switch visit := lines[i].Visit; {
		case takes && visit == nil:
			issues = append(issues, keeper.Issue{Path: path, Code: "required", Message: "is required: these tickets are for a date"})
		case !takes && visit != nil:
			issues = append(issues, keeper.Issue{Path: path, Code: "max_items", Message: "must not be given: these tickets are for no date of their own"})
		}
	}
	if len(issues) == 0 {
		return nil
	}
	return engine.Refuse(engine.Validation, keeper.Issues{Issues: issues})
}

// missSeats refuses the lines if one of a seated type does not name a seat for each ticket, if one
// of another type names seats, or if a seat is named twice. The refusal names every line at fault. The map is not looked
// at, so the seats may not exist.
func (b *Book) missSeats(t *Terms, lines []order.Line) *engine.Refusal {
	var issues []keeper.Issue
	find := func(i int, code, message string) {
		issues = append(issues, keeper.Issue{Path: fmt.Sprintf("items[%d].venueSeatIds", i), Code: code, Message: message})
	}
	var named map[string]bool
	for i := range lines {
		l := &lines[i]
		n, seated := int64(len(l.Seats)), t.Offers[l.Type].Seated
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
	return engine.Refuse(engine.Validation, keeper.Issues{Issues: issues})
}
