package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hall is a small map: a stalls of 4 rows of 10, with a wheelchair place and its
// companion's seat, and a balcony of 2 rows of 6.
func hall() object {
	return object{
		"name": "Small hall", "canvas": object{"width": 1000, "height": 800}, "focus": []int{500, 20},
		"sections": []object{
			{"id": "stalls", "name": "Stalls", "rows": []object{{
				"label": "A", "from": []int{100, 200}, "to": []int{900, 200}, "count": 10, "repeat": 4, "step": []int{0, 60},
			}}},
			{"id": "balcony", "name": "Balcony", "rows": []object{{
				"label": "A", "from": []int{200, 600}, "to": []int{800, 600}, "count": 6, "repeat": 2, "step": []int{0, 60},
			}}},
		},
		"elements": []object{{"type": "stage", "x": 300, "y": 10, "width": 400, "height": 80, "label": "Stage"}},
	}
}

// house is an event on sale that is seated by the hall: the stalls cost 50.
type house struct {
	*shop
	event          string
	stalls, gods   string // ticket types
	path, organize string
}

func seated(t *testing.T) *house {
	t.Helper()
	return seatedIn(open(t))
}

func seatedIn(s *shop) *house {
	s.t.Helper()
	h := &house{shop: s}
	venue := s.own("POST", "/organizer/venues", hall()).is(201, "").str("id")
	s.own("POST", "/organizer/venues/"+venue+"/publish", nil).is(200, "")
	h.event = s.draft(nil)
	h.path, h.organize = "/public/events/"+h.event+"/", "/organizer/events/"+h.event+"/"
	h.stalls = s.own("POST", h.organize+"tickets", with(typeBody(50, 1), object{"name": "Stalls", "type": "reserved"})).is(201, "").str("id")
	h.gods = s.own("POST", h.organize+"tickets", with(typeBody(20, 1), object{"name": "Balcony", "type": "reserved"})).is(201, "").str("id")
	s.own("PUT", h.organize+"seating", object{"venueMapId": venue}).is(200, "")
	s.own("PUT", h.organize+"seating/pricing", object{"mappings": []object{
		{"venueSectionId": "stalls", "ticketTypeId": h.stalls}, {"venueSectionId": "balcony", "ticketTypeId": h.gods},
	}}).is(200, "")
	s.own("POST", h.organize+"publish", nil).is(200, "")
	s.becomes("40", func() string { return h.left(h.stalls) })
	return h
}

// left is what is available of a ticket type.
func (h *house) left(ticketType string) string {
	a := h.call("GET", "/events/"+h.event+"/tickets", nil).is(200, "")
	for i, item := range a.data("items").([]any) {
		if item.(object)["id"] == ticketType {
			return a.str("items." + string(rune('0'+i)) + ".available")
		}
	}
	return "none"
}

func (h *house) hold(holder string, seats ...string) answer {
	return h.call("POST", h.path+"seats/hold", object{"holder": holder, "seatIds": seats})
}

func (h *house) buy(holder, ticketType string, seats ...string) answer {
	body := orderBody("ada@example.org", ticketType, len(seats))
	body["items"].([]object)[0]["venueSeatIds"] = seats
	if holder != "" {
		body["holder"] = holder
	}
	return h.call("POST", "/orders", body)
}

// seats are the ids in a state.
func (h *house) seats(state string) []string {
	var ids []string
	for _, id := range h.call("GET", h.path+"seats", nil).is(200, "").data(state).([]any) {
		ids = append(ids, id.(string))
	}
	return ids
}

const (
	adaHolds = "holder-ada"
	bobHolds = "holder-bob"
)

// TestSeatsAreBought is the way of a seat: held, refused to others, ordered,
// sold.
func TestSeatsAreBought(t *testing.T) {
	t.Parallel()
	h := seated(t)
	m := h.call("GET", h.path+"seatmap", nil).is(200, "")
	require.Len(t, m.data("seats"), 52)
	require.Equal(t, "50.00", m.str("sections.0.price"))
	require.Equal(t, "stage", m.str("elements.0.type"))

	held := h.hold(adaHolds, "stalls-A-1", "stalls-A-2", "nowhere-1").is(200, "")
	require.Equal(t, []any{"stalls-A-1", "stalls-A-2"}, held.data("held"))
	require.Equal(t, []any{"nowhere-1"}, held.data("failed"))
	require.Equal(t, []any{"stalls-A-2"}, h.hold(bobHolds, "stalls-A-2", "stalls-A-3", "stalls-A-4").is(200, "").data("failed"))
	h.becomes("[stalls-A-1 stalls-A-2 stalls-A-3 stalls-A-4]", func() string { return strings.Join([]string{"[" + strings.Join(h.seats("held"), " ") + "]"}, "") })

	h.buy(bobHolds, h.stalls, "stalls-A-1").refused(409, "SEAT_TAKEN", object{"seatIds": []any{"stalls-A-1"}})
	o := h.buy(adaHolds, h.stalls, "stalls-A-1", "stalls-A-2").is(201, "")
	require.Equal(t, "105.00", o.str("total"))
	require.Equal(t, []any{"stalls-A-1", "stalls-A-2"}, o.data("items.0.venueSeatIds"))
	h.becomes("38", func() string { return h.left(h.stalls) })
	require.True(t, slices.Contains(h.seats("sold"), "stalls-A-1"), "seats of a pending order are sold to the public")

	id, token := o.str("id"), o.str("accessToken")
	pay := h.pay(id, token)
	h.settle(pay.str("authorizationUrl"), "success")
	done := h.verify(id, token)
	require.Equal(t, "completed", done.str("status"))
	require.Equal(t, "stalls-A-1", done.str("tickets.0.seat.id"))
	require.Equal(t, "Stalls", done.str("tickets.0.seat.section"))
	require.Equal(t, "2", done.str("tickets.1.seat.label"))
	h.own("DELETE", h.organize+"seating", nil).is(409, "SEATS_SOLD")
	h.own("POST", h.organize+"seating/blocks", object{"block": []string{"stalls-A-1"}}).refused(409, "SEAT_SOLD", object{"seatIds": []any{"stalls-A-1"}})
	h.restart()
	require.True(t, slices.Contains(h.seats("sold"), "stalls-A-2"), "after a restart too")
}

// TestCancelledSeatsComeBack to the public, and to the type's stock.
func TestCancelledSeatsComeBack(t *testing.T) {
	t.Parallel()
	h := seated(t)
	o := h.buy("", h.gods, "balcony-A-1", "balcony-A-2").is(201, "")
	h.becomes("10", func() string { return h.left(h.gods) })
	h.call("POST", "/orders/"+o.str("id")+"/cancel", object{"token": o.str("accessToken")}).is(200, "")
	h.becomes("12", func() string { return h.left(h.gods) })
	h.becomes("0", func() string { return string(rune('0' + len(h.seats("sold")))) })
	h.buy("", h.gods, "balcony-A-2", "balcony-A-1").is(201, "")
}

// TestLiveSeats sees a snapshot, and then what others do.
func TestLiveSeats(t *testing.T) {
	t.Parallel()
	h := seated(t)
	h.hold(adaHolds, "stalls-B-1", "stalls-B-2").is(200, "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", h.url+h.path+"seats/live", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	require.NotEmpty(t, res.Header.Get("X-Request-Id"))
	lines := bufio.NewScanner(res.Body)
	next := func(name string) (data map[string][]string) {
		event := ""
		for lines.Scan() {
			if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = e
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && event == name {
				require.NoError(t, json.Unmarshal([]byte(text), &data))
				return data
			}
		}
		require.NoError(t, lines.Err())
		return nil
	}
	require.Equal(t, map[string][]string{"sold": {}, "blocked": {}, "held": {"stalls-B-1", "stalls-B-2"}}, next("snapshot"))
	h.hold(bobHolds, "stalls-C-1", "stalls-C-2").is(200, "")
	require.Equal(t, map[string][]string{"held": {"stalls-C-1", "stalls-C-2"}}, next("seat_update"))
	require.Equal(t, "2", h.call("DELETE", h.path+"seats/hold", object{"holder": adaHolds}).is(200, "").str("released"))
	require.Equal(t, map[string][]string{"released": {"stalls-B-1", "stalls-B-2"}}, next("seat_update"))
	h.own("POST", h.organize+"seating/blocks", object{"block": []string{"stalls-D-5"}}).is(200, "")
	require.Equal(t, map[string][]string{"blocked": {"stalls-D-5"}}, next("seat_update"))
	h.becomes("39", func() string { return h.left(h.stalls) })
	h.own("POST", h.organize+"seating/blocks", object{"unblock": []string{"stalls-D-5"}}).is(200, "")
	require.Equal(t, map[string][]string{"unblocked": {"stalls-D-5"}}, next("seat_update"))
	h.buy(bobHolds, h.stalls, "stalls-C-1", "stalls-C-2").is(201, "")
	require.Equal(t, map[string][]string{"sold": {"stalls-C-1", "stalls-C-2"}}, next("seat_update"))
}

// TestBestSeats are beside each other, before the stage.
func TestBestSeats(t *testing.T) {
	t.Parallel()
	h := seated(t)
	best := h.call("POST", h.path+"seats/best-available", object{"holder": adaHolds, "quantity": 4, "adjacent": true}).is(200, "")
	require.Equal(t, true, best.data("adjacent"))
	require.Equal(t, []any{"stalls-A-4", "stalls-A-5", "stalls-A-6", "stalls-A-7"}, best.data("held"))
	h.call("POST", h.path+"seats/best-available", object{"holder": bobHolds, "quantity": 11, "adjacent": true}).is(409, "TICKET_SOLD_OUT")
}

// TestSeatingIsRefused goes through the tables of errors of the specification.
func TestSeatingIsRefused(t *testing.T) {
	t.Parallel()
	h := seated(t)
	plain, types := h.onSale(typeBody(10, 10))
	none, own := "/public/events/"+plain+"/", "/organizer/events/"+plain+"/"
	h.call("GET", none+"seatmap", nil).is(404, "NO_SEATING")
	h.call("GET", none+"seats", nil).is(404, "NO_SEATING")
	h.call("GET", none+"seats/live", nil).is(404, "NO_SEATING")
	h.call("POST", none+"seats/hold", object{"holder": adaHolds, "seatIds": []string{"x"}}).is(409, "NO_SEATING")
	require.Equal(t, false, h.own("GET", own+"seating", nil).is(200, "").data("enabled"))
	h.own("PUT", own+"seating/pricing", object{"mappings": []object{}}).is(409, "NO_SEATING")
	h.own("POST", own+"seating/blocks", object{"block": []string{"x"}}).is(409, "NO_SEATING")

	draft := h.own("POST", "/organizer/venues", with(hall(), object{"name": "Draft"})).is(201, "").str("id")
	h.own("PUT", h.organize+"seating", object{"venueMapId": draft}).is(409, "MAP_NOT_PUBLISHED")
	h.own("PUT", h.organize+"seating", object{"venueMapId": draft, "holdTtlSeconds": 59}).invalid("holdTtlSeconds", "minimum")
	h.own("PUT", h.organize+"seating", object{"venueMapId": draft, "holdTtlSeconds": 3601}).invalid("holdTtlSeconds", "maximum")
	mapping := func(section, ticketType string) object {
		return object{"mappings": []object{{"venueSectionId": section, "ticketTypeId": ticketType}}}
	}
	h.own("PUT", h.organize+"seating/pricing", mapping("stalls", types[0])).is(400, "VALIDATION_ERROR")
	h.own("PUT", h.organize+"seating/pricing", mapping("nowhere", h.stalls)).is(400, "VALIDATION_ERROR")

	h.hold("short", "stalls-A-1").invalid("holder", "min_length")
	h.hold(strings.Repeat("h", 81), "stalls-A-1").invalid("holder", "max_length")
	h.hold(adaHolds, slices.Repeat([]string{"stalls-A-1"}, 51)...).invalid("seatIds", "max_items")
	h.own("POST", h.organize+"seating/blocks", object{"block": slices.Repeat([]string{"x"}, 5001)}).invalid("block", "max_items")
	h.buy("", h.stalls, "balcony-A-1").invalid("items[0].venueSeatIds", "enum")
	h.buy("", h.stalls, "nowhere-1").invalid("items[0].venueSeatIds", "enum")
	h.buy("", h.stalls, "stalls-A-1", "stalls-A-1").invalid("items[0].venueSeatIds", "duplicate")
	h.call("POST", "/orders", orderBody("ada@example.org", h.stalls, 1)).invalid("items[0].venueSeatIds", "required")
	h.call("POST", "/orders", orderBody("ada@example.org", types[0], 1)).is(201, "")
}

// TestStadium seats an event by a map of 70,000, which is there again after a
// restart, and streams.
func TestStadium(t *testing.T) {
	t.Parallel()
	s := open(t)
	venue := s.own("POST", venuesPath, sampleMap(t, "stadium")).is(201, "").str("id")
	s.own("POST", venuesPath+"/"+venue+"/publish", nil).is(200, "")
	event, types := s.sell(nil, typeBody(25, 100))
	own, public := "/organizer/events/"+event+"/", "/public/events/"+event+"/"
	seating := s.own("PUT", own+"seating", object{"venueMapId": venue}).is(200, "")
	require.Equal(t, "70000", seating.str("counts.total"))
	section, seat := seating.str("map.sections.0.id"), seating.str("map.seats.0.id")
	s.own("PUT", own+"seating/pricing", object{"mappings": []object{{"venueSectionId": section, "ticketTypeId": types[0]}}}).is(200, "")
	require.Equal(t, []any{seat}, s.call("POST", public+"seats/hold", object{"holder": "holder-ada", "seatIds": []string{seat}}).is(200, "").data("held"))
	s.restart()
	began := time.Now()
	require.Equal(t, []any{seat}, s.call("GET", public+"seats", nil).is(200, "").data("held"))
	t.Logf("the first answer about 70,000 seats after a restart took %s", time.Since(began).Round(time.Millisecond))
	require.Len(t, s.call("GET", public+"seatmap", nil).is(200, "").data("seats"), 70_000)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+public+"seats/live", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
	}
	require.Equal(t, `data: {"sold":[],"blocked":[],"held":["`+seat+`"]}`, lines.Text())
}
