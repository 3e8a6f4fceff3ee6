package places

import (
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// LineOfSeats returns what an order with seats (Order.TakesSeats) asks of the seat map.
func LineOfSeats(o *order.Order) keeper.Line {
	l := keeper.Line{Customer: o.Customer, Holder: o.Shopper.Holder, Principal: o.Shopper.Principal}
	for i := range o.Lines {
		for _, seat := range o.Lines[i].Seats {
			l.Seats, l.SeatTypes = append(l.Seats, seat), append(l.SeatTypes, o.Lines[i].Type)
		}
	}
	l.Quantity = int64(len(l.Seats))
	return l
}

// LineOfBookings returns what an order of reservations (Order.Books) asks of the calendar.
func LineOfBookings(o *order.Order) keeper.Line {
	l := keeper.Line{Customer: o.Customer}
	for i := range o.Lines {
		of := &o.Lines[i]
		l.Bookings = append(l.Bookings, keeper.Booking{Date: of.Visit.Date, Slot: of.Visit.Slot, Units: of.Quantity, Line: i})
		l.Quantity += of.Quantity
	}
	return l
}
