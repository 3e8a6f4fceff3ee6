package ledger

import (
	"fmt"
	"math/bits"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// These are the keepers of an order. A ticket type keeps its lines, at the place of the first of
// them. After the lines come the keepers that the order as a whole may have, each at its own place:
// the seat map and the calendar, which each grant all that the order takes of them or nothing; the
// promo code that the order names; and the organization's wallet, which pays the fee of tickets
// that the organization issues. The fee depends on what the others grant, so the wallet is asked
// when all of them have granted (issue.go).
const (
	seatsPlace = iota
	promoPlace
	calendarPlace
	walletPlace
)

// MaxLines bounds the lines of an order, because its places have to fit into a set.
const MaxLines = 100

// places is a set of an order's places.
type places [2]uint64

// only returns the set of one place.
func only(place int) (p places) {
	p[place>>6] = 1 << (place & 63)
	return p
}

func (p places) has(place int) bool   { return p[place>>6]&(1<<(place&63)) != 0 }
func (p places) with(o places) places { return places{p[0] | o[0], p[1] | o[1]} }
func (p places) without(place int) places {
	o := only(place)
	return places{p[0] &^ o[0], p[1] &^ o[1]}
}
func (p places) empty() bool { return p == places{} }
func (p places) len() int    { return bits.OnesCount64(p[0]) + bits.OnesCount64(p[1]) }

// each calls f for every place of the set, in order.
func (p places) each(f func(place int)) {
	for w, word := range p {
		for ; word != 0; word &= word - 1 {
			f(w<<6 + bits.TrailingZeros64(word))
		}
	}
}

// keeperOf returns the keeper at one of an order's places.
func (b *Book) keeperOf(o *order.Order, place int) engine.Ref {
	switch place - len(o.Lines) {
	case seatsPlace:
		return engine.SeatmapRef(b.home)
	case promoPlace:
		return o.Promo.Ref
	case calendarPlace:
		return engine.CalendarRef(b.home)
	case walletPlace:
		return o.Issue.Wallet
	}
	return engine.InventoryRef(b.home, o.Lines[place].Type)
}

// placeOf returns the place at which an order has a keeper, or -1.
func placeOf(o *order.Order, k engine.Ref) int {
	switch k.Kind { //nolint:exhaustive // the other kinds keep nothing for orders
	case engine.KindSeatmap:
		if o.TakesSeats() {
			return len(o.Lines) + seatsPlace
		}
	case engine.KindPromo:
		if o.Promo != nil && o.Promo.Ref == k {
			return len(o.Lines) + promoPlace
		}
	case engine.KindCalendar:
		if o.Books() {
			return len(o.Lines) + calendarPlace
		}
	case engine.KindWallet:
		if o.TakesFee() && o.Issue.Wallet == k {
			return len(o.Lines) + walletPlace
		}
	case engine.KindInventory:
		return slices.IndexFunc(o.Lines, func(l order.Line) bool { return l.Type == k.ID })
	default:
	}
	return -1
}

// allPlaces returns the places at which an order has keepers.
func allPlaces(o *order.Order) places {
	var all places
	n := len(o.Lines)
	for i := range n {
		if firstOf(o, i) == i {
			all = all.with(only(i))
		}
	}
	if o.TakesSeats() {
		all = all.with(only(n + seatsPlace))
	}
	if o.Promo != nil {
		all = all.with(only(n + promoPlace))
	}
	if o.Books() {
		all = all.with(only(n + calendarPlace))
	}
	if o.TakesFee() {
		all = all.with(only(n + walletPlace))
	}
	return all
}

// firstOf returns the first line that has the same ticket type as a line.
func firstOf(o *order.Order, line int) int {
	for i := range line {
		if o.Lines[i].Type == o.Lines[line].Type {
			return i
		}
	}
	return line
}

// askedOf returns what an order that is being placed asks of the keeper at a place.
func (p *placing) askedOf(place int) keeper.Line {
	o := p.order
	var l keeper.Line
	switch place - len(o.Lines) {
	case seatsPlace:
		l = lineOfSeats(o)
	case promoPlace:
		l = keeper.Line{Quantity: 1, Customer: o.Customer}
	case calendarPlace:
		l = lineOfBookings(o)
	case walletPlace:
		l = keeper.Line{Quantity: o.Issue.Fee}
	default:
		of := &o.Lines[place]
		l = keeper.Line{Quantity: of.Quantity, Customer: o.Customer, PresaleCode: p.presale, Seated: len(of.Seats) > 0}
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

// lineOfSeats returns what an order asks of the seat map.
func lineOfSeats(o *order.Order) keeper.Line {
	l := keeper.Line{Customer: o.Customer, Holder: o.Shopper.Holder, Principal: o.Shopper.Principal}
	for i := range o.Lines {
		for _, seat := range o.Lines[i].Seats {
			l.Seats, l.SeatTypes = append(l.Seats, seat), append(l.SeatTypes, o.Lines[i].Type)
		}
	}
	l.Quantity = int64(len(l.Seats))
	return l
}

// lineOfBookings returns what an order asks of the calendar.
func lineOfBookings(o *order.Order) keeper.Line {
	l := keeper.Line{Customer: o.Customer}
	for i := range o.Lines {
		of := &o.Lines[i]
		l.Bookings = append(l.Bookings, keeper.Booking{Date: of.Visit.Date, Slot: of.Visit.Slot, Units: of.Quantity, Line: i})
		l.Quantity += of.Quantity
	}
	return l
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
// of another type names seats, or if a seat is named twice.
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
