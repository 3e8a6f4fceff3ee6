package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// roomy is an event seated by eight rows of fifty, on a node whose limits are those
// of a deployment.
func roomy(t *testing.T) *house {
	t.Helper()
	h := &house{shop: guarded(t)}
	h.seatRoomy()
	return h
}

// seatRoomy makes the event and its seats.
func (h *house) seatRoomy() {
	h.t.Helper()
	venue := h.own("POST", venuesPath, object{
		"name": "Roomy hall", "canvas": object{"width": 1000, "height": 800}, "focus": []int{500, 20},
		"sections": []object{{"id": "floor", "name": "Floor", "rows": []object{{
			"label": "A", "from": []int{100, 200}, "to": []int{900, 200}, "count": 50, "repeat": 8, "step": []int{0, 60},
		}}}},
	}).is(201, "").str("id")
	h.own("POST", venuesPath+"/"+venue+"/publish", nil).is(200, "")
	h.event = h.draft(nil)
	h.path, h.organize = "/public/events/"+h.event+"/", "/organizer/events/"+h.event+"/"
	h.stalls = h.own("POST", h.organize+"tickets", with(typeBody(0, 1), object{"type": "reserved"})).is(201, "").str("id")
	h.own("PUT", h.organize+"seating", object{"venueMapId": venue}).is(200, "")
	h.own("PUT", h.organize+"seating/pricing", object{"mappings": []object{{"venueSectionId": "floor", "ticketTypeId": h.stalls}}}).is(200, "")
	h.own("POST", h.organize+"publish", nil).is(200, "")
	h.becomes("400", func() string { return h.left(h.stalls) })
}

// rowOf are the ids of the seats of a row.
func rowOf(label string) []string {
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = fmt.Sprintf("floor-%s-%d", label, i+1)
	}
	return ids
}

func (h *house) holdFrom(address, holder string, seats []string, headers ...string) reply {
	h.t.Helper()
	return h.raw("POST", h.path+"seats/hold", "application/json", encode(h.t, object{"holder": holder, "seatIds": seats}), append(headers, "X-Forwarded-For", address)...)
}

func (h *house) bestFrom(address, holder string, quantity int, headers ...string) reply {
	h.t.Helper()
	return h.raw("POST", h.path+"seats/best-available", "application/json", encode(h.t, object{"holder": holder, "quantity": quantity}), append(headers, "X-Forwarded-For", address)...)
}

// TestHeldSeatsPerPrincipal has one address, one account and one key hold seats under
// many names: a name is free, so it is not the name that is counted.
func TestHeldSeatsPerPrincipal(t *testing.T) {
	t.Parallel()
	h := roomy(t)
	const here, there, elsewhere = "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"
	h.holdFrom(here, "holder-1", rowOf("A")).is(t, 200)
	h.holdFrom(there, "holder-2", rowOf("B")).is(t, 200)
	h.holdFrom(here, "holder-3", rowOf("C")[:1]).tooFast(t, "held_seats", 100, 300)
	h.bestFrom(there, "holder-4", 1).tooFast(t, "held_seats", 100, 300)
	h.holdFrom(here, "holder-1", rowOf("A")).is(t, 200)

	t.Log("an account and a key count for themselves, wherever they ask from")
	other := h.register("other@example.org")
	h.holdFrom(here, "holder-5", rowOf("C"), other.bearer()...).is(t, 200)
	h.bestFrom(elsewhere, "holder-6", 50, other.bearer()...).is(t, 200)
	h.bestFrom(elsewhere, "holder-7", 1, other.bearer()...).tooFast(t, "held_seats", 100, 300)
	key := []string{"Authorization", "Bearer " + h.key(nil).str("secret")}
	h.bestFrom(here, "holder-8", 50, key...).is(t, 200)
	h.bestFrom(elsewhere, "holder-9", 50, key...).is(t, 200)
	h.bestFrom(here, "holder-10", 1, key...).tooFast(t, "held_seats", 100, 300)

	t.Log("what an order takes is no longer held, and a restart forgets nothing")
	h.restart()
	h.holdFrom(here, "holder-3", rowOf("H")[:1]).tooFast(t, "held_seats", 100, 300)
	body := orderBody("ada@example.org", h.stalls, 10)
	body["holder"], body["items"].([]object)[0]["venueSeatIds"] = "holder-1", rowOf("A")[:10]
	h.raw("POST", "/orders", "application/json", encode(t, body), "X-Forwarded-For", here).is(t, 201)
	require.Contains(t, h.bestFrom(here, "holder-3", 10).is(t, 200).body, "floor-")
	h.bestFrom(here, "holder-4", 1).tooFast(t, "held_seats", 100, 300)
}

// TestSeatHoldsPerNetwork has one network take seats and give them back again and
// again.
func TestSeatHoldsPerNetwork(t *testing.T) {
	t.Parallel()
	h := roomy(t)
	const here, there, elsewhere = "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"
	for i := range 6 {
		holder := fmt.Sprintf("holder-%d", i)
		h.holdFrom(here, holder, rowOf("A")).is(t, 200)
		h.call("DELETE", h.path+"seats/hold", object{"holder": holder}).is(200, "")
	}
	h.holdFrom(here, "holder-6", rowOf("A")[:1]).tooFast(t, "seat_holds", 300, 600)
	h.bestFrom(there, "holder-6", 1).tooFast(t, "seat_holds", 300, 600)
	h.bestFrom(here, "holder-6", 1, h.register("other@example.org").bearer()...).tooFast(t, "seat_holds", 300, 600)
	h.restart()
	h.bestFrom(here, "holder-6", 1).tooFast(t, "seat_holds", 300, 600)
	h.bestFrom(elsewhere, "holder-6", 1).is(t, 200)
	h.bestFrom(here, "holder-7", 1, h.bearer()...).is(t, 200) // whoever sells for the organization is no buyer
}
