package nodetest

import (
	"strings"
)

// Seat makes an event with seats and puts it on sale. Sections whose id begins with circle are sold
// as the ticket type gods, all others as stalls.
func (h *House) Seat(body, event, stalls, gods Object, circle string) {
	h.T.Helper()
	s := h.Shop
	venue := s.Own("POST", VenuesPath, body).Is(201, "").Str("id")
	s.Own("POST", VenuesPath+"/"+venue+"/publish", nil).Is(200, "")
	h.Event = s.Draft(event)
	h.Path, h.Organize = "/public/events/"+h.Event+"/", "/organizer/events/"+h.Event+"/"
	h.Stalls = s.Own("POST", h.Organize+"tickets", With(TypeBody(50, 1), With(Object{"type": "reserved"}, stalls))).Is(201, "").Str("id")
	h.Gods = s.Own("POST", h.Organize+"tickets", With(TypeBody(20, 1), With(Object{"type": "reserved"}, gods))).Is(201, "").Str("id")
	s.Own("PUT", h.Organize+"seating", Object{"venueMapId": venue}).Is(200, "")
	var mappings []Object
	for _, section := range body["sections"].([]any) {
		id, as := section.(Object)["id"].(string), h.Stalls
		if strings.HasPrefix(id, circle) {
			as = h.Gods
		}
		mappings = append(mappings, Object{"venueSectionId": id, "ticketTypeId": as})
	}
	s.Own("PUT", h.Organize+"seating/pricing", Object{"mappings": mappings}).Is(200, "")
	s.Own("POST", h.Organize+"publish", nil).Is(200, "")
}

// Page returns the address of the page that shows the event's seats to buyers.
func (h *House) Page() string {
	h.T.Helper()
	slug := ""
	for _, item := range h.Own("GET", "/organizer/events", nil).Is(200, "").Data("items").([]any) {
		if e := item.(Object); e["id"] == h.Event {
			slug = e["slug"].(string)
		}
	}
	return strings.TrimSuffix(h.URL, "/api/v1") + "/e/" + slug + "/seats"
}
