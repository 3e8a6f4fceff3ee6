package nodetest

// Hall is a small map: stalls of 4 rows of 10, and a balcony of 2 rows of 6, without places for wheelchairs.
func Hall() Object {
	return Object{
		"name": "Small hall", "canvas": Object{"width": 1000, "height": 800}, "focus": []int{500, 20},
		"sections": []Object{
			{"id": "stalls", "name": "Stalls", "rows": []Object{{
				"label": "A", "from": []int{100, 200}, "to": []int{900, 200}, "count": 10, "repeat": 4, "step": []int{0, 60},
			}}},
			{"id": "balcony", "name": "Balcony", "rows": []Object{{
				"label": "A", "from": []int{200, 600}, "to": []int{800, 600}, "count": 6, "repeat": 2, "step": []int{0, 60},
			}}},
		},
		"elements": []Object{{"type": "stage", "x": 300, "y": 10, "width": 400, "height": 80, "label": "Stage"}},
	}
}

// House is an event that is on sale with the seats of a hall, with what tests need to reach it.
type House struct {
	*Shop
	Event          string
	Stalls, Gods   string // ticket types
	Path, Organize string
}

// SeatedIn makes an event with the seats of Hall and puts it on sale. It waits until the seats show
// as available.
func SeatedIn(s *Shop) *House {
	s.T.Helper()
	h := &House{Shop: s}
	venue := s.Own("POST", "/organizer/venues", Hall()).Is(201, "").Str("id")
	s.Own("POST", "/organizer/venues/"+venue+"/publish", nil).Is(200, "")
	h.Event = s.Draft(nil)
	h.Path, h.Organize = "/public/events/"+h.Event+"/", "/organizer/events/"+h.Event+"/"
	h.Stalls = s.Own("POST", h.Organize+"tickets", With(TypeBody(50, 1), Object{"name": "Stalls", "type": "reserved"})).Is(201, "").Str("id")
	h.Gods = s.Own("POST", h.Organize+"tickets", With(TypeBody(20, 1), Object{"name": "Balcony", "type": "reserved"})).Is(201, "").Str("id")
	s.Own("PUT", h.Organize+"seating", Object{"venueMapId": venue}).Is(200, "")
	s.Own("PUT", h.Organize+"seating/pricing", Object{"mappings": []Object{
		{"venueSectionId": "stalls", "ticketTypeId": h.Stalls}, {"venueSectionId": "balcony", "ticketTypeId": h.Gods},
	}}).Is(200, "")
	s.Own("POST", h.Organize+"publish", nil).Is(200, "")
	s.Becomes("40", func() string { return h.Left(h.Stalls) })
	return h
}

// Left returns how many tickets of a type are available, or "none" if the event does not list the
// type.
func (h *House) Left(ticketType string) string {
	a := h.Call("GET", "/events/"+h.Event+"/tickets", nil).Is(200, "")
	for i, item := range a.Data("items").([]any) {
		if item.(Object)["id"] == ticketType {
			return a.Str("items." + string(rune('0'+i)) + ".available")
		}
	}
	return "none"
}

// Hold holds seats for a shopper, whom the secret word holder names.
func (h *House) Hold(holder string, seats ...string) Answer {
	return h.Call("POST", h.Path+"seats/hold", Object{"holder": holder, "seatIds": seats})
}

// Buy orders seats. An empty holder orders them without a hold.
func (h *House) Buy(holder, ticketType string, seats ...string) Answer {
	body := OrderBody("ada@example.org", ticketType, len(seats))
	body["items"].([]Object)[0]["venueSeatIds"] = seats
	if holder != "" {
		body["holder"] = holder
	}
	return h.Call("POST", "/orders", body)
}

// Seats returns the ids of the seats in a state such as held.
func (h *House) Seats(state string) []string {
	var ids []string
	for _, id := range h.Call("GET", h.Path+"seats", nil).Is(200, "").Data(state).([]any) {
		ids = append(ids, id.(string))
	}
	return ids
}

const (
	// AdaHolds and BobHolds are the secret words of two shoppers.
	AdaHolds = "holder-ada"
	BobHolds = "holder-bob"
)
