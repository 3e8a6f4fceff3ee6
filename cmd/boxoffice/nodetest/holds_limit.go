package nodetest

import (
	"fmt"
)

// SeatRoomy makes an event in a hall of 400 seats: eight rows of 50. Tests of limits need more
// seats than the small hall has.
func (h *House) SeatRoomy() {
	h.T.Helper()
	venue := h.Own("POST", VenuesPath, Object{
		"name": "Roomy hall", "canvas": Object{"width": 1000, "height": 800}, "focus": []int{500, 20},
		"sections": []Object{{"id": "floor", "name": "Floor", "rows": []Object{{
			"label": "A", "from": []int{100, 200}, "to": []int{900, 200}, "count": 50, "repeat": 8, "step": []int{0, 60},
		}}}},
	}).Is(201, "").Str("id")
	h.Own("POST", VenuesPath+"/"+venue+"/publish", nil).Is(200, "")
	h.Event = h.Draft(nil)
	h.Path, h.Organize = "/public/events/"+h.Event+"/", "/organizer/events/"+h.Event+"/"
	h.Stalls = h.Own("POST", h.Organize+"tickets", With(TypeBody(0, 1), Object{"type": "reserved"})).Is(201, "").Str("id")
	h.Own("PUT", h.Organize+"seating", Object{"venueMapId": venue}).Is(200, "")
	h.Own("PUT", h.Organize+"seating/pricing", Object{"mappings": []Object{{"venueSectionId": "floor", "ticketTypeId": h.Stalls}}}).Is(200, "")
	h.Own("POST", h.Organize+"publish", nil).Is(200, "")
	h.Becomes("400", func() string { return h.Left(h.Stalls) })
}

// RowOf returns the ids of the 50 seats of a row of that hall.
func RowOf(label string) []string {
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = fmt.Sprintf("floor-%s-%d", label, i+1)
	}
	return ids
}

// HoldFrom holds seats as a client at the given address, through a proxy that the node trusts.
func (h *House) HoldFrom(address, holder string, seats []string, headers ...string) Reply {
	h.T.Helper()
	return h.Raw("POST", h.Path+"seats/hold", "application/json", Encode(h.T, Object{"holder": holder, "seatIds": seats}), append(headers, "X-Forwarded-For", address)...)
}

// BestFrom holds the best free seats as a client at the given address.
func (h *House) BestFrom(address, holder string, quantity int, headers ...string) Reply {
	h.T.Helper()
	return h.Raw("POST", h.Path+"seats/best-available", "application/json", Encode(h.T, Object{"holder": holder, "quantity": quantity}), append(headers, "X-Forwarded-For", address)...)
}
