package nodetest

// TwoSlots are the slots of a day that can be booked: Noon has two places, Night has any number, and
// Tea is paused.
var TwoSlots = []any{
	Object{"label": "Noon", "startTime": "12:00", "endTime": "13:00", "capacity": 2, "sortOrder": 2},
	Object{"label": "Night", "startTime": "22:00", "endTime": "02:00", "sortOrder": 1},
	Object{"label": "Tea", "startTime": "16:00", "endTime": "17:00", "status": "paused"},
}

// Bookable makes a reservation event with TwoSlots and refundable tickets, and puts it on sale. It
// returns the days that can be booked, too.
func (s *Shop) Bookable(price float64) (event, ticketType string, days Answer) {
	s.T.Helper()
	event, types := s.Sell(Object{
		"category": "reservations", "endDate": Absent, "timezone": "Pacific/Auckland",
		"reservation": Object{"mode": "date_time", "slots": TwoSlots, "maxAdvanceDays": 9, "dailyCapacity": 4, "maxPerCustomerPerDay": 3},
	}, With(TypeBody(price, 1000), Object{"maxPerOrder": 100, "maxPerCustomer": 1000, "refundable": true, "refundWindowHours": 24}))
	return event, types[0], s.Availability(event, "").Is(200, "")
}

// Availability asks which days of a reservation event can be booked. The query is empty or begins
// with a question mark.
func (s *Shop) Availability(event, query string) Answer {
	s.T.Helper()
	return s.Call("GET", "/public/events/by-id/"+event+"/availability"+query, nil)
}

// BookedBody returns the body of an order with a line for each booking. A line is for one ticket of
// the type unless it says otherwise.
func BookedBody(email, ticketType string, lines ...Object) Object {
	items := make([]Object, len(lines))
	for i, l := range lines {
		items[i] = With(Object{"ticketTypeId": ticketType, "quantity": 1}, l)
	}
	return Object{"guestEmail": email, "items": items}
}
