package orders

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestReschedule(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, days := s.Bookable(0)
	day := func(i string) string { return days.Str("days." + i + ".date") }
	night, noon := days.Str("days.0.slots.0.slotId"), days.Str("days.0.slots.1.slotId")
	left := func(date string) (all, ofNight, ofNoon any) {
		a := s.Availability(event, "?from="+date+"&to="+date).Is(200, "")
		return a.Data("days.0.remaining"), a.Data("days.0.slots.0.remaining"), a.Data("days.0.slots.1.remaining")
	}
	order := s.Call("POST", "/orders", nodetest.BookedBody("ada@example.org", typ, nodetest.Object{"reservationDate": day("3"), "reservationSlotId": noon, "quantity": 2})).Is(201, "")
	path := "/users/me/tickets/" + order.Str("tickets.0.id") + "/reschedule"
	to := func(date, slot string) nodetest.Object { return nodetest.Object{"date": date, "slotId": slot} }
	manifest := s.Own("GET", "/checkin/event/"+event+"/manifest", nil).Is(200, "")

	t.Log("its holder moves it, and nobody else")
	s.Call("POST", path, to(day("4"), noon)).Is(401, "UNAUTHORIZED")
	s.Buyer("bob@example.org").Own("POST", path, to(day("4"), noon)).Is(404, "TICKET_NOT_FOUND")
	ada := s.Buyer("ada@example.org")
	ada.MyTickets(2)
	moved := ada.Own("POST", path, to(day("4"), night)).Is(200, "")
	require.Equal(t, day("4"), moved.Str("reservation.date"))
	require.Equal(t, "Night", moved.Str("reservation.label"))
	require.NotEqual(t, order.Str("tickets.0.refundDeadline"), moved.Str("refundDeadline"), "24 hours before the new slot")
	require.Equal(t, order.Str("tickets.0.shortCode"), moved.Str("shortCode"), "its codes stay")
	all, _, ofNoon := left(day("3"))
	require.EqualValues(t, 3, all)
	require.EqualValues(t, 1, ofNoon)
	all, _, _ = left(day("4"))
	require.EqualValues(t, 3, all)

	t.Log("all who look see where it is")
	again := s.Call("GET", "/orders/"+order.Str("id")+"?token="+order.Str("accessToken"), nil).Is(200, "")
	require.Equal(t, day("4"), again.Str("tickets.0.reservation.date"))
	require.Equal(t, day("3"), again.Str("tickets.1.reservation.date"))
	require.Equal(t, day("3"), again.Str("items.0.reservationDate"), "an order's lines are what was ordered")
	require.Equal(t, day("4"), ada.MyTickets(2).Str("items.1.reservation.date"))
	var changed nodetest.Answer
	s.Becomes("1", func() string { // what a node tells gates is a second old at most
		changed = s.Own("GET", "/checkin/event/"+event+"/manifest?since="+manifest.Str("cursor"), nil).Is(200, "")
		return strconv.Itoa(len(changed.Data("tickets").([]any)))
	})
	require.NotEqual(t, manifest.Data("tickets.0.a"), changed.Data("tickets.0.a"))

	t.Log("a repeated request changes nothing")
	ada.Own("POST", path, to(day("4"), night)).Is(200, "")
	all, _, _ = left(day("4"))
	require.EqualValues(t, 3, all)

	t.Log("within a full date it takes another slot of it")
	s.Call("POST", "/orders", nodetest.BookedBody("cat@example.org", typ, nodetest.Object{"reservationDate": day("4"), "reservationSlotId": night, "quantity": 3})).Is(201, "")
	ada.Own("POST", path, to(day("4"), noon)).Is(200, "")
	all, _, ofNoon = left(day("4"))
	require.EqualValues(t, 0, all)
	require.EqualValues(t, 0, ofNoon)

	t.Log("what is refused")
	ada.Own("POST", path, nodetest.Object{"slotId": noon}).Invalid("date", "required")
	ada.Own("POST", path, to("tomorrow", noon)).Invalid("date", "format")
	ada.Own("POST", path, nodetest.Object{"date": day("5")}).Invalid("slotId", "required")
	ada.Own("POST", path, to(day("5"), "slot_nothing123")).Invalid("slotId", "enum")
	ada.Own("POST", path, to("2031-01-01", noon)).Refused(409, "DATE_UNAVAILABLE", nodetest.Object{"date": "2031-01-01", "slotId": noon, "reason": "too_far"})
	s.Call("POST", "/orders", nodetest.BookedBody("dan@example.org", typ, nodetest.Object{"reservationDate": day("6"), "reservationSlotId": noon, "quantity": 2})).Is(201, "")
	ada.Own("POST", path, to(day("6"), noon)).Refused(409, "SLOT_FULL", nodetest.Object{"date": day("6"), "slotId": noon, "requested": 1, "remaining": 0})
	ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": order.Str("tickets.1.id"), "reason": "I am ill and can't come."}).Is(201, "")
	ada.Own("POST", "/users/me/tickets/"+order.Str("tickets.1.id")+"/reschedule", to(day("5"), noon)).Refused(409, "RESCHEDULE_NOT_POSSIBLE", nodetest.Object{"reason": "already_requested"})
	soon := s.Call("POST", "/orders", nodetest.BookedBody("ada@example.org", typ, nodetest.Object{"reservationDate": day("0"), "reservationSlotId": noon})).Is(201, "")
	if soon.Data("tickets.0.refundEligible") == false {
		ada.Own("POST", "/users/me/tickets/"+soon.Str("tickets.0.id")+"/reschedule", to(day("5"), noon)).Refused(409, "RESCHEDULE_NOT_POSSIBLE", nodetest.Object{"reason": "too_late"})
	}
	_, bound := s.OnSale(nodetest.TypeBody(0, 10))
	plain := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", bound[0], 1)).Is(201, "")
	ada.Own("POST", "/users/me/tickets/"+plain.Str("tickets.0.id")+"/reschedule", to(day("5"), noon)).Is(400, "NOT_A_RESERVATION_EVENT")
}

// TestRescheduleReasons moves a ticket of each kind of terms, and one in each state that forbids it.
func TestRescheduleReasons(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	free := nodetest.TypeBody(0, 1000)
	event, types := s.Sell(nodetest.Object{
		"category": "reservations", "endDate": nodetest.Absent, "timezone": "Pacific/Auckland", "reservation": nodetest.Object{"mode": "date_only"},
	}, free,
		nodetest.With(free, nodetest.Object{"refundWindowHours": 24}),
		nodetest.With(free, nodetest.Object{"refundWindowHours": 8760}),
		nodetest.With(free, nodetest.Object{"refundable": true, "refundWindowHours": 8760}),
		nodetest.With(free, nodetest.Object{"refundDeadline": nodetest.Stamp(24 * time.Hour)}),
		nodetest.With(free, nodetest.Object{"refundable": true, "refundDeadline": nodetest.Stamp(24 * time.Hour)}),
	)
	days := s.Availability(event, "").Is(200, "")
	ada := s.Buyer("ada@example.org")
	ticket := func(typ string) string {
		o := s.Call("POST", "/orders", nodetest.BookedBody("ada@example.org", typ, nodetest.Object{"reservationDate": days.Str("days.5.date")})).Is(201, "")
		return o.Str("tickets.0.id")
	}
	move := func(id string) (a nodetest.Answer) {
		s.Becomes("decided", func() string { // until the calendar has acknowledged the order
			if a = ada.Own("POST", "/users/me/tickets/"+id+"/reschedule", nodetest.Object{"date": days.Str("days.7.date")}); a.Status == 503 {
				return "unavailable"
			}
			return "decided"
		})
		return a
	}
	refused := func(a nodetest.Answer, reason string) {
		a.Refused(409, "RESCHEDULE_NOT_POSSIBLE", nodetest.Object{"reason": reason})
	}
	for i, late := range []bool{false, false, true, true, false, false} {
		if a := move(ticket(types[i])); late {
			refused(a, "too_late")
		} else {
			a.Is(200, "")
		}
	}

	passed := ticket(types[0])
	ada.Own("POST", "/tickets/"+passed+"/transfer", nodetest.Object{"toEmail": "bob@example.org"}).Is(201, "")
	refused(move(passed), "pending_transfer")
	ada.Own("DELETE", "/tickets/"+passed+"/transfer", nil).Is(200, "")
	move(passed).Is(200, "")

	last := ticket(types[1])
	back := s.Call("POST", "/orders", nodetest.BookedBody("ada@example.org", types[5], nodetest.Object{"reservationDate": days.Str("days.5.date")})).Is(201, "")
	ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": back.Str("tickets.0.id"), "reason": "I can't come."}).Is(201, "")
	refused(move(back.Str("tickets.0.id")), "already_requested")

	off := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"rescheduling": false}).Is(200, "")
	require.Equal(t, false, off.Data("rescheduling"))
	refused(move(last), "off")
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	move(last).Is(409, "EVENT_CANCELLED")
}

// TestRescheduleRaces has many holders after the last places of a slot.
func TestRescheduleRaces(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, days := s.Bookable(0)
	night, noon := days.Str("days.0.slots.0.slotId"), days.Str("days.0.slots.1.slotId")
	target := days.Str("days.7.date")
	var paths []string
	buyers := make([]*nodetest.Shop, 0, 8)
	for i := range 8 {
		email := string(rune('a'+i)) + "@example.org"
		date := days.Str("days." + string(rune('2'+i/4)) + ".date")
		o := s.Call("POST", "/orders", nodetest.BookedBody(email, typ, nodetest.Object{"reservationDate": date, "reservationSlotId": night})).Is(201, "")
		paths, buyers = append(paths, "/users/me/tickets/"+o.Str("tickets.0.id")+"/reschedule"), append(buyers, s.Buyer(email))
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	got := map[int]int{}
	for i := range buyers {
		for range 2 { // each asks twice
			wait.Go(func() {
				a := buyers[i].Own("POST", paths[i], nodetest.Object{"date": target, "slotId": noon})
				mu.Lock()
				defer mu.Unlock()
				got[a.Status]++
			})
		}
	}
	wait.Wait()
	require.Equal(t, map[int]int{200: 4, 409: 12}, got, "two places, for two of the holders")
	a := s.Availability(event, "?from="+target+"&to="+target).Is(200, "")
	require.EqualValues(t, 2, a.Data("days.0.remaining"))
	require.EqualValues(t, 0, a.Data("days.0.slots.1.remaining"))
}
