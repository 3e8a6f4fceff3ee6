package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// reservation is a published reservation event in Auckland with a free ticket type.
func reservation(s *nodetest.Shop, block nodetest.Object) (event, ticketType string) {
	event, types := s.Sell(nodetest.Object{
		"category": "reservations", "endDate": nodetest.Absent, "timezone": "Pacific/Auckland", "reservation": block,
	}, nodetest.With(nodetest.TypeBody(0, 1000), nodetest.Object{"maxPerOrder": 100, "maxPerCustomer": 1000}))
	return event, types[0]
}

func TestReservationBlock(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	create := func(block any) nodetest.Answer {
		return s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"category": "reservations", "endDate": nodetest.Absent, "reservation": block}))
	}

	t.Log("the defaults")
	plain := create(nodetest.Absent).Is(201, "")
	require.Equal(t, nodetest.Object{
		"mode": "date_only", "dailyCapacity": -1.0, "maxPerCustomerPerDay": 10.0, "maxAdvanceDays": 30.0, "allowGroups": true, "allowMultiDay": false,
		"closedDates": []any{}, "closedWeekdays": []any{}, "slots": []any{},
	}, plain.Data("reservation"))
	path := "/organizer/events/" + plain.Str("id")

	t.Log("only what is sent changes, and slots keep their ids")
	changed := s.Own("PUT", path, nodetest.Object{"reservation": nodetest.Object{"mode": "date_time", "slots": nodetest.TwoSlots, "closedDates": []any{"2031-01-01"}, "closedWeekdays": []any{0, 6}}}).Is(200, "")
	require.Equal(t, "Tea", changed.Str("reservation.slots.0.label"))
	require.Equal(t, "paused", changed.Str("reservation.slots.0.status"))
	require.Equal(t, []any{"2031-01-01"}, changed.Data("reservation.closedDates"))
	require.EqualValues(t, 30, changed.Data("reservation.maxAdvanceDays"))
	night := changed.Str("reservation.slots.1.id")
	require.Regexp(t, `^slot_.{10}$`, night)
	again := s.Own("PUT", path, nodetest.Object{"reservation": nodetest.Object{"slots": nodetest.TwoSlots[:2]}}).Is(200, "")
	require.Equal(t, night, again.Str("reservation.slots.0.id"))
	require.Len(t, again.Data("reservation.slots"), 2)
	require.Equal(t, again.Data("reservation"), s.Own("GET", path, nil).Is(200, "").Data("reservation"))

	t.Log("what is refused")
	for name, c := range map[string]struct {
		value any
		code  string
	}{
		"mode": {"weekly", "enum"}, "dailyCapacity": {-2, "minimum"}, "maxPerCustomerPerDay": {0, "minimum"}, "maxAdvanceDays": {91, "maximum"},
		"allowGroups": {"no", "type"}, "closedDates[0]": {[]any{"2031-02-30"}, "format"}, "closedWeekdays[0]": {[]any{7}, "maximum"},
		"slots[0].label":     {[]any{nodetest.Object{"startTime": "12:00", "endTime": "13:00"}}, "required"},
		"slots[0].startTime": {[]any{nodetest.Object{"label": "x", "startTime": "24:00", "endTime": "13:00"}}, "format"},
		"slots[0].endTime":   {[]any{nodetest.Object{"label": "x", "startTime": "12:00", "endTime": "1:00"}}, "format"},
	} {
		field := fieldOf(name)
		create(nodetest.Object{field: c.value}).Invalid("reservation."+name, c.code)
	}
	create(nodetest.Object{"mode": "date_time"}).Invalid("reservation.slots", "required")
	s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"reservation": nodetest.Object{}})).Invalid("reservation", "unsupported")
}

// fieldOf is the field that a path begins with.
func fieldOf(path string) string {
	for i, c := range path {
		if c == '[' || c == '.' {
			return path[:i]
		}
	}
	return path
}

func TestBookings(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, typ := reservation(s, nodetest.Object{"dailyCapacity": 4, "maxAdvanceDays": 9, "mode": "date_time", "slots": nodetest.TwoSlots, "maxPerCustomerPerDay": 3})

	t.Log("the window begins tomorrow in the event's zone")
	zone, err := time.LoadLocation("Pacific/Auckland")
	require.NoError(t, err)
	today := time.Now().In(zone)
	free := s.Availability(event, "").Is(200, "")
	require.Equal(t, today.AddDate(0, 0, 1).Format("2006-01-02"), free.Str("windowStart"))
	require.Equal(t, today.AddDate(0, 0, 9).Format("2006-01-02"), free.Str("windowEnd"))
	require.Len(t, free.Data("days"), 9)
	require.Len(t, free.Data("days.0.slots"), 2, "paused slots can't be booked")
	require.Equal(t, "Night", free.Str("days.0.slots.0.label"))
	require.EqualValues(t, 4, free.Data("days.0.slots.0.remaining"), "the date's capacity binds")
	require.EqualValues(t, 2, free.Data("days.0.slots.1.remaining"))
	date, noon, night := free.Str("days.2.date"), free.Str("days.2.slots.1.slotId"), free.Str("days.2.slots.0.slotId")
	one := s.Availability(event, "?from="+date+"&to="+date).Is(200, "")
	require.Len(t, one.Data("days"), 1)
	require.Empty(t, s.Availability(event, "?to=2020-01-01").Is(200, "").Data("days"))
	s.Availability(event, "?from=soon").Invalid("from", "format")
	s.Availability(s.Draft(nil), "").Is(404, "EVENT_NOT_FOUND")
	dated, _ := s.Sell(nil, nodetest.TypeBody(5, 5))
	s.Availability(dated, "").Is(400, "NOT_A_RESERVATION_EVENT")

	t.Log("an order takes places, and shows them")
	line := nodetest.Object{"reservationDate": date, "reservationSlotId": noon, "quantity": 2}
	o := s.Call("POST", "/orders", nodetest.BookedBody("ada@example.org", typ, line)).Is(201, "")
	require.Equal(t, date, o.Str("items.0.reservationDate"))
	require.Equal(t, noon, o.Str("items.0.reservationSlotId"))
	day, err := time.ParseInLocation(time.DateOnly, date, zone)
	require.NoError(t, err)
	manifest := s.Own("GET", "/checkin/event/"+event+"/manifest", nil).Is(200, "")
	require.EqualValues(t, day.Unix(), manifest.Data("tickets.0.a"), "gates admit on the whole date")
	require.EqualValues(t, day.AddDate(0, 0, 1).Unix(), manifest.Data("tickets.0.b"))
	left := s.Availability(event, "?from="+date+"&to="+date).Is(200, "")
	require.EqualValues(t, 0, left.Data("days.0.slots.1.remaining"))
	require.EqualValues(t, 2, left.Data("days.0.slots.0.remaining"))
	require.EqualValues(t, 2, left.Data("days.0.remaining"))
	s.Call("POST", "/orders", nodetest.BookedBody("bob@example.org", typ, nodetest.With(line, nodetest.Object{"quantity": 1}))).
		Refused(409, "SLOT_FULL", nodetest.Object{"date": date, "slotId": noon, "requested": 1, "remaining": 0})
	s.Call("POST", "/orders", nodetest.BookedBody("ADA@example.org", typ, nodetest.Object{"reservationDate": date, "reservationSlotId": night, "quantity": 2})).
		Refused(409, "EXCEEDS_MAX_PER_CUSTOMER", nodetest.Object{"ticketTypeId": typ, "date": date, "max": 3, "alreadyHeld": 2, "requested": 2})

	t.Log("what is refused")
	invalid := func(path, code string, lines ...nodetest.Object) {
		t.Helper()
		s.Call("POST", "/orders", nodetest.BookedBody("cat@example.org", typ, lines...)).Invalid(path, code)
	}
	invalid("items[0].reservationDate", "required", nodetest.Object{})
	invalid("items[0].reservationDate", "format", nodetest.Object{"reservationDate": "tomorrow"})
	invalid("items[0].reservationSlotId", "required", nodetest.Object{"reservationDate": date})
	invalid("items[0].reservationSlotId", "enum", nodetest.Object{"reservationDate": date, "reservationSlotId": "slot_nothing123"})
	invalid("items[1].reservationDate", "enum", nodetest.Object{"reservationDate": date, "reservationSlotId": night},
		nodetest.Object{"reservationDate": free.Str("days.3.date"), "reservationSlotId": night})
	for reason, on := range map[string]time.Time{"past": today, "too_far": today.AddDate(0, 0, 10)} {
		s.Call("POST", "/orders", nodetest.BookedBody("cat@example.org", typ, nodetest.Object{"reservationDate": on.Format("2006-01-02"), "reservationSlotId": night})).
			Refused(409, "DATE_UNAVAILABLE", nodetest.Object{"date": on.Format("2006-01-02"), "slotId": night, "reason": reason})
	}
	_, plain := s.OnSale(nodetest.TypeBody(0, 10))
	s.Call("POST", "/orders", nodetest.BookedBody("cat@example.org", plain[0], nodetest.Object{"reservationDate": date})).Invalid("items[0].reservationDate", "max_items")

	t.Log("closing a date leaves its bookings standing")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"reservation": nodetest.Object{"closedDates": []any{date}}}).Is(200, "")
	closed := s.Availability(event, "?from="+date+"&to="+date).Is(200, "")
	require.Equal(t, true, closed.Data("days.0.closed"))
	require.EqualValues(t, 0, closed.Data("days.0.remaining"))
	s.Call("POST", "/orders", nodetest.BookedBody("cat@example.org", typ, nodetest.Object{"reservationDate": date, "reservationSlotId": night})).
		Refused(409, "DATE_UNAVAILABLE", nodetest.Object{"date": date, "slotId": night, "reason": "closed"})

	t.Log("the event's page")
	page := s.Call("GET", "/events/"+event, nil).Is(200, "")
	require.Equal(t, nodetest.Words("mode slots maxAdvanceDays"), page.Keys("reservation"))
	require.Nil(t, page.Data("startDate"))
	require.Equal(t, true, page.Data("bookingOpen"))
}

// TestDatesOfWhatIsOver reads the dates of a reservation event that was cancelled: nothing takes place on any of them.
func TestDatesOfWhatIsOver(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, _, days := s.Bookable(5)
	require.Equal(t, []any{4.0, false, false}, []any{days.Data("days.0.remaining"), days.Data("days.0.soldOut"), days.Data("days.0.closed")})
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	days = s.Availability(event, "").Is(200, "")
	require.Equal(t, []any{0.0, true, true}, []any{days.Data("days.0.remaining"), days.Data("days.0.soldOut"), days.Data("days.0.closed")})
	require.Equal(t, 0.0, days.Data("days.0.slots.0.remaining"))
}
